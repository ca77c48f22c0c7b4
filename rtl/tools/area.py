"""Areas and depths of the designs beside the papers. Usage: area.py [--json FILE] [--jobs N] [--liberty FILE].

Each leaf is synthesized alone; a block is the sum of its leaves, its glue (the block with the leaves left out) and its
memories. Memories cost what the paper states: 1.86 NAND2 equivalents a bit of SRAM, 0.27 a bit of ROM (wang2014 5.4).
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SRAM, ROM = 1.86, 0.27
TOOL = Path(__file__).with_name("synthesis.py")

# Leaves: name and parameters, list of sources, blackboxes.
LEAVES = {
    "sol_mulrot": ("common/files.f", []),
    "sol_dft16": ("common/files.f", []),
    "sol_kernel_d": ("common/files.f", []),
    "sol_kernel_s": ("common/files.f", []),
    "sol_carry": ("common/files.f", []),
    "sol_norm": ("common/files.f", []),
    "sol_sto_carry": ("stored/files.f", ["-sol_bank"]),
    "sol_sto_carry HOLD=0": ("stored/files.f", ["-sol_bank"]),
    "sol_sto_twiddles": ("stored/files.f", ["-sol_sto_rom"]),
    "sol_sto_constants": ("stored/files.f", []),
    "sol_gh_sum": ("gh/files.f", []),
    "sol_gh_sink": ("gh/files.f", []),
    "sol_gh_compare": ("gh/files.f", []),
    "sol_gh_candidates": ("gh/files.f", []),
    "sol_gh_registers": ("gh/files.f", ["-sol_bank"]),
    "sol_gh_sequencer": ("gh/files.f", []),
}
# Modules of the RSA exponentiator with digits of W bits: name, parameters and blackboxes, number of instances.
def rsa_leaves(bits, w):
    leaves = [
        ("sol_mulrot", ["SUBTRACT=1"], 8),
        ("sol_mulrot", [], 8),
        ("sol_rsa_kernel", [], 2),
        ("sol_rsa_inverse", [], 1),
        ("sol_rsa_twist", [f"W={w + 2}"], 1),
        ("sol_rsa_untwist", [], 1),
        ("sol_rsa_twiddle", [], 1),
        ("sol_rsa_twiddle", ["INVERSE=1"], 1),
        ("sol_rsa_carry", [f"W={w}"], 1),
        ("sol_rsa_words", ["-sol_bank"], 1),
        ("sol_rsa_digits", [f"W={w + 2}", "-sol_bank"], 1),
        ("sol_rsa_spectra", ["-sol_bank"], 1),
    ]
    names = {f"-{name}" for name, _, _ in leaves}
    return leaves + [("sol_rsa", [f"BITS={bits}", "-sol_bank", *sorted(names)], 1)]


def rsa(bits, w, pool, paper):
    """The table of an RSA exponentiator, and the depths of its modules."""
    leaves = rsa_leaves(bits, w)
    jobs = [[pool.submit(run, what, name, "rsa/files.f", options) for what in ("area", "depth")] for name, options, _ in leaves]
    results = [[job.result() for job in pair] for pair in jobs]
    digits = 512
    exponents = 64 * (192 if bits == 8192 else 384)
    rows = [
        ("SRAM: 16 powers of the window", SRAM * 16 * digits * (w + 2)),
        ("SRAM: 4 arrays of words, spectra of N' and N", SRAM * 6 * digits * 64),
        ("SRAM: running number, modulus, exponents", SRAM * (digits * (2 * w + 2) + exponents)),
    ]
    for (name, options, count), (area, _) in zip(leaves, results):
        kind = " ".join(option for option in options if "=" in option)
        rows.append((f"{count} {name} {kind}".strip(), count * area))
    figures = table(f"RSA exponentiator of {bits} bits{paper}", rows)
    return figures, {f"{name} {' '.join(o for o in options if '=' in o)}".strip(): int(depth) for (name, options, _), (_, depth) in zip(leaves, results)}


MULTIPLIER_LEAVES = ["sol_mulrot", "sol_kernel_d", "sol_kernel_s", "sol_carry", "sol_bank", "sol_twiddle", "sol_mul_turn"]
STORED_LEAVES = ["sol_mulrot", "sol_kernel_d", "sol_kernel_s", "sol_sto_carry", "sol_sto_twiddles", "sol_sto_constants", "sol_bank", "sol_mul_turn"]
GLUE = {
    "sol_multiplier": ("multiplier/files.f", [f"-{leaf}" for leaf in MULTIPLIER_LEAVES]),
    "sol_stored KERNELS=1": ("stored/files.f", [f"-{leaf}" for leaf in STORED_LEAVES]),
    "sol_stored KERNELS=2": ("stored/files.f", [f"-{leaf}" for leaf in STORED_LEAVES]),
}
# Levels of two-input gates between registers that a module may have.
DEPTH = 60


def run(what, name, files, options):
    command = [sys.executable, str(TOOL), what, files, *name.split(), *options]
    output = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in output.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        sys.exit(f"error: {' '.join(command)} failed:\n{output.stdout[-2000:]}{output.stderr[-2000:]}")
    return float(lines[-1].split()[1])


def table(title, rows):
    total = sum(area for _, area in rows)
    print(f"\n{title}: {total / 1e6:.2f}M NAND2 equivalents")
    for name, area in rows:
        print(f"  {name:<66}{area / 1e6:9.3f}M")
    return {"total": total, "rows": dict(rows)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", help="also write the figures to this file")
    arguments.add_argument("--jobs", type=int, default=2, help="modules that are synthesized at a time")
    arguments.add_argument("--liberty", help="cell library; the default is that of OSU018, beside the tools")
    arguments = arguments.parse_args()
    if arguments.liberty:
        os.environ["LIBERTY"] = str(Path(arguments.liberty).resolve())
    modules = {**LEAVES, **GLUE}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = {(what, name): pool.submit(run, what, name, files, options) for name, (files, options) in modules.items() for what in ("area", "depth")}
        results = {key: job.result() for key, job in jobs.items()}
    area = {name: results["area", name] for name in modules}
    depth = {name: int(results["depth", name]) for name in modules}
    print(f"{'module':<28}{'NAND2':>12}{'levels':>8}")
    for name in modules:
        print(f"{name:<28}{area[name]:12.0f}{depth[name]:8d}")
    banks, turn = 6 * 16 * 1024 * 64, 2 * 3 * 32 * 384
    multiplier = table(
        "Multiplier of 786,432 bits, two fresh operands (wang2014: 20.6M)",
        [
            ("SRAM: 6 half arrays of 16 banks of 1024 words", SRAM * banks),
            ("SRAM: corner turn, 3 groups of 32 beats for each operand", SRAM * turn),
            ("ROM: 2 sets of 16 ports of 1024 twiddle factors", ROM * 2 * 16 * 1024 * 64),
            ("2 kernels D", 2 * area["sol_kernel_d"]),
            ("kernel S", area["sol_kernel_s"]),
            ("32 multipliers with rotation", 32 * area["sol_mulrot"]),
            ("16 carry lanes", 16 * area["sol_carry"]),
            ("control, addresses, networks, segment carries, delays", area["sol_multiplier"]),
        ],
    )
    def stored_table(kernels, title):
        held, carry = (64, "sol_sto_carry") if kernels == 1 else (0, "sol_sto_carry HOLD=0")
        rows = [
            ("SRAM: 4 half arrays of 16 banks of 1024 words", SRAM * 4 * 16 * 1024 * 64),
            ("SRAM: corner turn, 3 groups of 32 beats", SRAM * kernels * turn / 2),
            ("SRAM: carry lanes", SRAM * 16 * 4 * (held + 41)),
            ("ROM: 1024 twiddle factors in 32 rows", ROM * kernels * 1024 * 64),
            ("kernels D", kernels * area["sol_kernel_d"]),
            ("kernel S", area["sol_kernel_s"]),
            ("32 multipliers with rotation", 32 * area["sol_mulrot"]),
            ("16 carry lanes", 16 * area[carry]),
            ("selection of twiddle factors", kernels * area["sol_sto_twiddles"] + area["sol_sto_constants"]),
            ("control, addresses, networks, delays", area[f"sol_stored KERNELS={kernels}"]),
        ]
        return table(title, rows)

    stored = stored_table(1, "Multiplier of 786,432 bits by stored transforms")
    stored_two_kernels = stored_table(2, "Multiplier of 786,432 bits by stored transforms, two kernels")
    stores = 1024 * 64 + 1024 * 16 + 512 * 5
    units = [name for name in LEAVES if name.startswith("sol_gh_")]
    gh = table(
        "Accelerator for Gentry and Halevi's scheme (doroz2015: multiplier 26.7M, other units 1.2M)",
        [("multiplier", multiplier["total"]), ("SRAM: programs, lists, candidates", SRAM * stores)] + [(name, area[name]) for name in units],
    )
    with ThreadPoolExecutor(arguments.jobs) as pool:
        rsa_8192, rsa_depth = rsa(8192, 17, pool, " (wang2014: 5.3M)")
        rsa_12288, rsa_12288_depth = rsa(12288, 25, pool, "")
    depth |= rsa_depth | rsa_12288_depth
    deep = [name for name in depth if depth[name] > DEPTH]
    if deep:
        print(f"\nmore than {DEPTH} levels between registers: {', '.join(deep)}")
    if arguments.json:
        figures = {
            "area": area,
            "depth": depth,
            "multiplier": multiplier,
            "stored": stored,
            "stored_two_kernels": stored_two_kernels,
            "gh": gh,
            "rsa_8192": rsa_8192,
            "rsa_12288": rsa_12288,
        }
        Path(arguments.json).write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
