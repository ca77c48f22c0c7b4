"""Runs the benches of rtl/bench in Verilator and in Icarus, on the same vectors, and compares.

Usage: simulators.py [--quick] [--vectors FOLDER] [--work FOLDER] [--jobs N] [BENCH ...]. `cargo xtask vectors` writes the vectors.
The end is an error if a bench finds a wrong output, if a bench does not notice a changed vector, or if the tools are missing.
Icarus does not know checks of parameters at elaboration: their lines are left out for it.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import synthesis

ROOT = synthesis.ROOT
BENCHES = {
    "sol_norm": "common",
    "sol_canon": "common",
    "sol_fold192": "common",
    "sol_mulrot": "common",
    "sol_dft16": "common",
    "sol_kernel_d": "common",
    "sol_kernel_s": "common",
    "sol_carry": "common",
    "sol_twiddle": "common",
    "sol_bank": "common",
    "sol_xnet": "common",
    "sol_mul_loader": "multiplier",
    "sol_mul_twiddles": "multiplier",
    "sol_mul_unload": "multiplier",
    "sol_sto_carry": "stored",
    "sol_sto_carry_together": "stored",
    "sol_sto_twiddles": "stored",
    "sol_sto_constants": "stored",
    "sol_rsa_dft8": "rsa",
    "sol_rsa_kernel": "rsa",
    "sol_rsa_inverse": "rsa",
    "sol_rsa_twist": "rsa",
    "sol_rsa_untwist": "rsa",
    "sol_rsa_twiddle": "rsa",
    "sol_rsa_local": "rsa",
    "sol_rsa_carry": "rsa",
    "sol_rsa_window": "rsa",
    "sol_rsa_exponent": "rsa",
    "sol_gh_sum": "gh",
    "sol_gh_sink": "gh",
    "sol_gh_compare": "gh",
    "sol_gh_candidates": "gh",
}
# Benches of sources that Icarus 11 cannot read, and the reason. They run in Verilator alone.
UNREADABLE = {}
# Benches that run in Verilator in a quick run. Its compilation takes longer than all benches take in Icarus.
QUICK = ["sol_mulrot"]
# The bench that must notice a changed vector.
CONTROL = "sol_canon"
ELABORATION_CHECK = re.compile(r"^\s*if .*: g_check\w* \$fatal\(.*$", re.MULTILINE)
# The package of Verilator for Python leaves the option of precompiled headers empty.
MAKE = ["CFG_CXXFLAGS_PCH_I=-include", "OPT_FAST=-O0", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"]


def verilator():
    """The folder of Verilator: VERILATOR_ROOT, or the package beside this Python."""
    own = os.environ.get("VERILATOR_ROOT")
    found = [Path(own)] if own else sorted(Path(sys.prefix).glob("lib/python*/site-packages/verilator"))
    if not found:
        sys.exit("error: there is no Verilator; run tools/install_rtl_tools.sh, or set VERILATOR_ROOT")
    return found[0]


def call(command, where, **more):
    """Runs a command. Returns whether it succeeded, and its output."""
    done = subprocess.run([str(part) for part in command], cwd=where, capture_output=True, text=True, **more)
    return done.returncode == 0, done.stdout + done.stderr


def modules(top):
    """The files of a module in rtl/bench and of the modules that it names. Its own file comes last."""
    path = ROOT / f"bench/{top}.sv"
    named = sorted(set(re.findall(r"\bbench_\w+", path.read_text())) - {top})
    return list(dict.fromkeys([*(inner for name in named for inner in modules(name)), path]))


def files(name):
    """The sources of a bench, packages first. The file of the bench comes last."""
    return [*synthesis.sources(f"{BENCHES[name]}/files.f"), *modules(f"bench_{name}")]


class Verilator:
    name = "Verilator"

    def __init__(self, work):
        self.work, self.root = work / "verilator", verilator()
        self.work.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, "VERILATOR_ROOT": str(self.root)}
        _, output = call(["perl", self.root / "bin/verilator", "--version"], work, env=self.environment)
        self.version = f"Verilator {output.removeprefix('Verilator').strip()}"

    def build(self, name, count):
        """An executable of a bench. One that was built of the same sources is kept."""
        text = "".join(path.read_text() for path in files(name)) + f"{count} {self.version} {MAKE}"
        key, top = hashlib.sha256(text.encode()).hexdigest(), f"bench_{name}"
        program, stamp = self.work / f"V{top}", self.work / f"{top}.key"
        if not (program.exists() and stamp.exists() and stamp.read_text() == key):
            command = ["perl", self.root / "bin/verilator", "--cc", "--exe", "--main", "--timing", "-O3", "-Wno-PINMISSING"]
            command += ["--timescale", "1ns/1ns", "-CFLAGS", "-std=c++20 -fcoroutines", "--Mdir", self.work, "--prefix", f"V{top}", "--top-module", top]
            done, output = call([*command, f"-GCOUNT={count}", *files(name)], self.work, env=self.environment)
            if done:
                make = ["make", "-s", "-f", f"V{top}.mk", *MAKE, f"V{top}"]
                done, output = call(make, self.work, env=self.environment)
            if not done:
                return None, output
            stamp.write_text(key)
        return [program], ""


class Icarus:
    name = "Icarus"

    def __init__(self, work):
        self.work = work / "icarus"
        if shutil.which("iverilog") is None:
            sys.exit("error: there is no Icarus; run tools/install_rtl_tools.sh (Debian: apt-get install iverilog)")
        shutil.rmtree(self.work, ignore_errors=True)
        for folder in ("common", "multiplier", "stored", "rsa", "gh", "bench"):
            (self.work / folder).mkdir(parents=True)
            for path in (ROOT / folder).glob("*.sv"):
                (self.work / folder / path.name).write_text(ELABORATION_CHECK.sub("", path.read_text()))
        self.version = call(["iverilog", "-V"], work)[1].splitlines()[0]

    def build(self, name, count, first=None):
        """A program of a bench. Modules in the folder `first` replace those of the design."""
        top = f"bench_{name}"
        program = self.work / (f"{top}.vvp" if first is None else f"{first}/{top}.vvp")
        paths = [self.work / path.relative_to(ROOT) for path in files(name)]
        # Icarus cannot read all packages, so it gets only the needed ones.
        text = "".join(path.read_text() for path in paths if path.stem == name or path.parent.name == "bench")
        packages = [path for path in paths if path.stem == "sol_pkg" or path.stem.endswith("_pkg") and f"{path.stem}::" in text]
        # Only the modules that the bench needs are read.
        folders = ([] if first is None else ["-y", first]) + [part for path in sorted({path.parent for path in paths}) for part in ("-y", path)]
        command = ["iverilog", "-g2012", "-Y", ".sv", *folders, "-s", top, f"-P{top}.COUNT={count}", "-o", program]
        done, output = call([*command, *packages, paths[-1]], self.work)
        return (["vvp", "-n", program], "") if done else (None, output)


def run(simulator, name, path):
    """The outputs that were compared, or None and the reason."""
    count = len(path.read_text().splitlines())
    program, output = simulator.build(name, count)
    if program is None:
        return None, output
    done, output = call([*program, f"+vectors={path.resolve()}"], simulator.work)
    found = re.search(r"PASSED (\d+)", output)
    return (int(found.group(1)), "") if done and found else (None, output)


def notices(simulator, vectors, work):
    """Whether a bench ends with an error on a changed vector."""
    lines = (vectors / f"{CONTROL}.hex").read_text().splitlines()
    middle = len(lines) // 2
    lines[middle] = lines[middle][:-1] + ("1" if lines[middle][-1] == "0" else "0")
    changed = work / "changed.hex"
    changed.write_text("\n".join(lines) + "\n")
    program, output = simulator.build(CONTROL, len(lines))
    if program is None:
        sys.exit(f"error: {simulator.name} cannot build the bench of {CONTROL}:\n{output[:1500]}")
    done, output = call([*program, f"+vectors={changed.resolve()}"], simulator.work)
    return not done and "FAILED: 1 of" in output


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--vectors", type=Path, default=Path("target/vectors"))
    arguments.add_argument("--work", type=Path, default=Path("target/benches"), help="folder for what is built")
    arguments.add_argument("--quick", action="store_true", help=f"in Verilator, only {', '.join(QUICK)}")
    arguments.add_argument("--jobs", type=int, default=2, help="benches that are built at a time")
    arguments.add_argument("bench", nargs="*", help="leaves; defaults to all")
    arguments = arguments.parse_args()
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    names = arguments.bench or list(BENCHES)
    for name in names:
        if name not in BENCHES:
            sys.exit(f"error: there is no bench {name}; the benches are {', '.join(BENCHES)}")
        if not (arguments.vectors / f"{name}.hex").exists():
            sys.exit(f"error: there are no vectors {arguments.vectors}/{name}.hex; run cargo xtask vectors")
    simulators = [Verilator(work), Icarus(work)]
    for simulator in simulators:
        # The first build also makes the libraries of the simulator, which the others share.
        if not notices(simulator, arguments.vectors, work):
            sys.exit(f"error: in {simulator.name}, the bench of {CONTROL} does not notice a changed vector")
        print(f"{simulator.version.strip()}: notices a changed vector")
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = {}
        for name in names:
            for simulator in simulators:
                skipped = name in UNREADABLE if simulator.name == "Icarus" else arguments.quick and name not in QUICK
                if not skipped:
                    jobs[name, simulator.name] = pool.submit(run, simulator, name, arguments.vectors / f"{name}.hex")
        results = {key: job.result() for key, job in jobs.items()}
    print(f"\n{'bench':<18}{'vectors':>9}" + "".join(f"{simulator.name:>16}" for simulator in simulators))
    failed = []
    for name in names:
        count = len((arguments.vectors / f"{name}.hex").read_text().splitlines())
        cells = []
        for simulator in simulators:
            passed, output = results.get((name, simulator.name), (None, None))
            cells.append("not run" if output is None else "FAILED" if passed is None else f"{passed} right")
            if output:
                failed.append(f"{name} in {simulator.name}:\n{output[:1500]}")
        print(f"{name:<18}{count:>9}" + "".join(f"{cell:>16}" for cell in cells))
    for name in sorted(set(names) & set(UNREADABLE)):
        print(f"Icarus does not read the bench of {name}: {UNREADABLE[name]}")
    if failed:
        sys.exit("error: " + "\n".join(failed))


if __name__ == "__main__":
    main()
