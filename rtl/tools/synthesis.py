"""Synthesis of single modules with Yosys: area in NAND2 equivalents of the OSU018 cells, and logic depth.

Depth counts levels of two-input gates on the longest path between registers. Adders are the prefix adders of Yosys
(Brent-Kung), in the area as well as in the depth.
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources(name):
    """The paths that a list of sources names, without repetition."""
    found = []
    for line in (ROOT / name).read_text().splitlines():
        more = sources(line[3:]) if line.startswith("-f ") else [ROOT / line]
        found += [path for path in more if path not in found]
    return found


def library():
    """The cell library, beside the tools."""
    path = Path(os.environ.get("LIBERTY") or Path(sys.prefix) / "osu018_stdcells.lib")
    if not path.exists():
        sys.exit(f"error: there is no cell library {path}; run tools/install_rtl_tools.sh")
    return path


def nand2(path):
    """The area of the smallest NAND gate with two inputs in a library, such as NAND2X1 of OSU018."""
    cells = re.findall(r"\bcell *\( *\"?(\w*nand2\w*)\"? *\).*?\barea *: *([0-9.]+)", path.read_text(), re.S | re.I)
    if not cells:
        sys.exit(f"error: the library {path} has no cell whose name contains nand2")
    return min(float(area) for _, area in cells)


def read(design, files, top, parameters=(), blackboxes=()):
    """Reads a module. Modules in `blackboxes` stay empty."""
    from pyosys import libyosys as yosys

    options = [f"-G {name}={value}" for name, value in parameters]
    options += [f"--blackboxed-module {name}" for name in blackboxes]
    text = " ".join(str(path) for path in sources(files))
    yosys.run_pass(f"read_slang --top {top} {' '.join(options)} {text}", design)


def quiet(design, command):
    from pyosys import libyosys as yosys

    yosys.run_pass(f"tee -q -o /dev/null {command}", design)


def report(design, command):
    """The output of a pass."""
    import tempfile

    from pyosys import libyosys as yosys

    with tempfile.NamedTemporaryFile("r", suffix=".txt") as file:
        yosys.run_pass(f"tee -q -o {file.name} {command}", design)
        return file.read()


def area(files, top, parameters=(), blackboxes=()):
    """NAND2 equivalents of a module, without its blackboxes."""
    from pyosys import libyosys as yosys

    design = yosys.Design()
    read(design, files, top, parameters, blackboxes)
    cells = library()
    # The default script of abc takes hours for a product of 32 bits, and trades the prefix adders for area.
    gates = f"abc -liberty {cells} -script +strash;&get,-n;&nf;&put;"
    for command in ("synth -flatten -booth -noabc", f"dfflibmap -liberty {cells}", gates, "opt_clean -purge"):
        quiet(design, command)
    text = report(design, f"stat -liberty {cells}")
    found = re.findall(r"Chip area for (?:top )?module.*?: *([0-9.eE+]+)", text)
    return float(found[-1]) / nand2(cells) if found else 0.0


def depth(files, top, parameters=(), blackboxes=()):
    """Levels of two-input gates between registers."""
    from pyosys import libyosys as yosys

    design = yosys.Design()
    read(design, files, top, parameters, blackboxes)
    # The default script of abc trades depth for area; this one keeps the prefix adders, as that of the area does.
    gates = "abc -g AND,NAND,OR,NOR,XOR,XNOR,ANDNOT,ORNOT -script +strash;balance;map;"
    # Ports of blackboxes become ports of the design: a path ends at them.
    for command in ("synth -flatten -booth -noabc", "expose -evert", gates, "opt_clean -purge"):
        quiet(design, command)
    return int(re.search(r"length=(\d+)", report(design, "ltp -noff")).group(1))


if __name__ == "__main__":
    # synthesis.py area|depth FILES TOP [NAME=VALUE ...] [-BLACKBOX ...]
    what, files, top, *rest = sys.argv[1:]
    parameters = [item.split("=") for item in rest if "=" in item]
    blackboxes = [item[1:] for item in rest if item.startswith("-")]
    print(f"RESULT {(area if what == 'area' else depth)(files, top, parameters, blackboxes)}")
