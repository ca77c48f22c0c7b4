"""Run the Python program of the README and compare what it prints with the text after `# -> `.

The server takes its device from SOLINAS_DEVICE.
"""

import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def main() -> int:
    """Return 0 if the program prints what the README says."""
    program = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    if program is None:
        print(f"{README} has no program in Python")
        return 1
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(program[1], {})  # noqa: S102
    expected = re.findall(r"# -> (.*)", program[1])
    print("README:", printed.getvalue().split(), "expected", expected)
    return 0 if printed.getvalue().split() == expected else 1


if __name__ == "__main__":
    sys.exit(main())
