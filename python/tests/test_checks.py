"""The examples in the documentation run, and the static checks (mypy, stubtest, ruff) pass."""

import contextlib
import doctest
import io
import linecache
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHECKS = {
    "mypy": ["mypy"],
    "stubtest": ["mypy.stubtest", "solinas", "--mypy-config-file", "pyproject.toml"],
    "ruff": ["ruff", "check", ".", "../examples", "../bench"],
    "format": ["ruff", "format", "--check", ".", "../examples", "../bench"],
}


PAGES = [ROOT.parent / "README.md", ROOT / "README.md", *sorted((ROOT.parent / "docs" / "book").rglob("*.md"))]


def python_blocks(page):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return [block for block in blocks if not block.startswith("# Not run by the tests: ")]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_blocks(page)], ids=lambda page: f"{page.parent.name}-{page.stem}"
)
def test_examples_of_the_documentation(page):
    """The blocks run in order and print what they show, after `>>>` prompts or in comments `# -> TEXT`."""
    if any(block.startswith(">>> ") for block in python_blocks(page)):
        failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
        assert (failed, tried > 20) == (0, True)
        return
    names = {}
    for number, block in enumerate(python_blocks(page)):
        name = f"{page.name}, block {number}"
        linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(block, name, "exec"), names)
        wanted = re.findall(r"# -> (.*)$", block, re.MULTILINE)
        assert not wanted or printed.getvalue().splitlines() == wanted, name


@pytest.mark.parametrize("check", CHECKS)
def test_static_checks(check):
    done = subprocess.run([sys.executable, "-m", *CHECKS[check]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_test_that_is_left_out_says_so_in_one_way():
    """`left_out` prints why, and fails where `SOLINAS_REQUIRE` has the name. Other ways pass in silence."""
    ways = re.compile(r"importorskip|skipif|pytest\.skip|mark\.skip|\bSkipTest\b|unittest\.skip")
    folders = [ROOT / "tests", ROOT.parent / "examples", ROOT.parent / "bench", ROOT.parent / "tools"]
    found = {
        f"{path.relative_to(ROOT.parent)}: {line.strip()}"
        for folder in folders
        for path in folder.rglob("*.py")
        if path != Path(__file__)
        for line in path.read_text().splitlines()
        if ways.search(line)
    }
    assert found == {'python/tests/conftest.py: pytest.skip(f"{name}: {why}", allow_module_level=True)'}
