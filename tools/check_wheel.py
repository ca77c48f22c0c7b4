"""Install the newest wheel of a folder in a fresh environment, and run the Python program of README.md there.

Usage: python tools/check_wheel.py target/wheels
"""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = "122166"


def main(folder: Path) -> None:
    """Check the newest wheel. Raises SystemExit if there is none, or if the program prints another result."""
    wheels = sorted(folder.glob("solinas-*.whl"), key=lambda path: path.stat().st_mtime)
    if not wheels:
        raise SystemExit(f"{folder}: there is no wheel here; run `make wheel`")
    program = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    if program is None:
        raise SystemExit("README.md: there is no Python program")
    with tempfile.TemporaryDirectory() as home:
        venv.create(Path(home, "venv"), with_pip=True)
        python = Path(home, "venv", "bin", "python")
        # Install the wheel without its dependencies, because it needs no other package.
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", wheels[-1].resolve()], check=True)
        Path(home, "program.py").write_text(program[1])
        # With -I, Python ignores the package in this repository and the packages of the user.
        command = [python, "-I", "program.py"]
        output = subprocess.run(command, cwd=home, capture_output=True, text=True, check=True).stdout
    if EXPECTED not in output.split():
        raise SystemExit(f"{wheels[-1].name}: the program printed {output!r} instead of {EXPECTED}")
    print(f"{wheels[-1].name}: the program of README.md printed {EXPECTED} in a fresh environment")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
