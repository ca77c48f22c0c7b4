"""The demonstrations run at small sizes, and their results are those of plain Python."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def start(script, *args):
    command = [sys.executable, EXAMPLES / script, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def output(script, *args):
    run = start(script, *args)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_rounds_of_aes_are_those_of_the_standards_and_of_a_library():
    assert "right on 10 vectors" in output("aes_transcipher/transcipher.py", "--check")


def test_a_server_decrypts_blocks_of_one_round_of_aes():
    shown = output("aes_transcipher/transcipher.py", "--rounds", "1", "--random")
    assert "400 bootstraps a block, depth 5" in shown
    assert "every byte is equal to the client's" in shown


def test_the_bootstraps_of_aes_are_counted():
    shown = output("aes_transcipher/gates.py")
    assert "4576 bootstraps a block, 464 a round" in shown
    assert "19392 bootstraps a block" in shown


def test_digits_of_pi_are_those_of_another_formula():
    shown = output("pi/pi.py", "1000", "--check")
    assert shown.startswith("3.14159265358979323846")
    assert "every digit is equal to that of Machin's formula" in shown
    assert output("pi/pi.py", "0") == "3\n"


@pytest.mark.parametrize("args", [["--rows", "4", "--seed", "13"], ["--rows", "2", "--seed", "8", "--above"]])
def test_the_answer_of_a_private_query_is_that_of_plain_python(args):
    assert "every answer is equal to plain Python's" in output("private_query/query.py", *args)


@pytest.mark.parametrize("args", [["--bits", "16", "--accounts", "5", "--steps", "3"], ["--bits", "7"]])
def test_balances_after_transfers_are_those_of_plain_python(args):
    shown = output("confidential_transfer/transfer.py", *args)
    assert "every balance is equal to plain Python's" in shown
    assert "the total has not changed" in shown


@pytest.mark.parametrize(
    ("script", "args", "message"),
    [
        ("aes_transcipher/transcipher.py", ["--blocks", "0"], "--blocks is 0: give a positive number"),
        ("private_query/query.py", ["--rows", "-1"], "--rows is -1: give a positive number"),
        ("private_query/query.py", ["--rows", "1", "--server", "http://127.0.0.1:1"], "the token is missing"),
        ("pi/pi.py", ["-1"], "-1 digits: give a number from 0"),
        ("confidential_transfer/transfer.py", ["--bits", "300"], "--bits is 300: give a number from 2 to 256"),
    ],
)
def test_mistakes_are_explained(script, args, message, monkeypatch):
    monkeypatch.delenv("SOLINAS_TOKEN", raising=False)
    run = start(script, *args)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr
