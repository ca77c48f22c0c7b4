"""The scripts of tools/security, with the estimator replaced, and the table of claims."""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest

FOLDER = Path(__file__).parents[2] / "tools" / "security"
README = (FOLDER / "README.md").read_text()
BLOCK = README.split("```sh\n")[1].split("```")[0].replace("\\\n", " ")
COMMANDS = re.findall(r"^venv/bin/python (estimate_\S+\.py .*)$", BLOCK, re.MULTILINE)


@pytest.fixture
def estimator(monkeypatch):
    """Replace the estimator and Sage, which the tests do not install."""
    for name in ("sage", "sage.all", "estimator", "estimator.lwe_dual", "estimator.lwe_primal", "estimator.util"):
        monkeypatch.setitem(sys.modules, name, MagicMock())
    bases = {"ND": ("NoiseDistribution",), "lwe_dual": ("MATZOV",)}
    for module, names in bases.items():
        for name in names:
            setattr(getattr(sys.modules["estimator"], module), name, type(name, (), {"C_mul": 1, "C_add": 1}))
    sys.modules["estimator.lwe_dual"].MATZOV = type("MATZOV", (), {"C_mul": 1, "C_add": 1})
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    sys.modules.pop("attacks", None)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_readme_are_understood(command, estimator):
    script, *arguments = shlex.split(command, comments=True)
    module = runpy.run_path(str(FOLDER / script))
    args = module["parse"](arguments)
    points = getattr(args, "point", None) or getattr(args, "n", None)
    assert args.job
    assert points or arguments[0] in ("fit", "table")
    assert all(attack in module["ATTACKS"] for attack in getattr(args, "attacks", ()))


def test_lists_with_unknown_values_are_refused(estimator, capsys):
    parse = runpy.run_path(str(FOLDER / "estimate_tfhe.py"))["parse"]
    with pytest.raises(SystemExit):
        parse(["confirm", "--attacks", "usvp,guess", "759,32,14.5,3"])
    assert "'guess' is not one of usvp, bdd" in capsys.readouterr().err


def test_the_table_of_claims_is_that_of_the_data_and_every_cost_is_enough():
    check = subprocess.run(
        [sys.executable, FOLDER / "claims.py", "--check"], capture_output=True, text=True, check=False
    )
    assert check.returncode == 0, check.stderr
