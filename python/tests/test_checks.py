"""The documentation's examples run; types, stubs and style are in order."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = {
    "mypy": ["mypy"],
    "stubtest": ["mypy.stubtest", "solinas", "--mypy-config-file", "pyproject.toml"],
    "ruff": ["ruff", "check", ".", "../examples"],
    "format": ["ruff", "format", "--check", ".", "../examples"],
}


def test_examples_of_the_documentation():
    page = ROOT.parent / "docs" / "book" / "python.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert (failed, tried > 20) == (0, True)


@pytest.mark.parametrize("check", CHECKS)
def test_static_checks(check):
    done = subprocess.run([sys.executable, "-m", *CHECKS[check]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
