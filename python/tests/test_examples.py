"""The examples run and exit with status 0."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_statistics_and_scores_of_patients_are_those_of_numpy():
    script = EXAMPLES / "breast_cancer" / "risk.py"
    run = subprocess.run([sys.executable, script, "--columns", "2"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "every result is equal to numpy's" in run.stdout
