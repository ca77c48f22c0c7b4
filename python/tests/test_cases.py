"""The cases that numpy wrote (`tests/cases`), as programs of this package on plain values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solinas as sl

CASES = Path(__file__).resolve().parents[2] / "tests" / "cases"


def array(described: dict[str, Any]) -> Any:
    kind = described["type"]
    dtype = "bool" if kind == "bool" else f"{'u' if kind[0] == 'u' else ''}int{kind[1:] if kind[0] in 'ui' else 64}"
    return np.array(described["values"], dtype).reshape(described["shape"])


def computed(case: dict[str, Any]) -> list[Any]:
    program = sl.Program._from_json(json.dumps(case["program"]), case["name"])
    inputs = [array(given) for given in case["inputs"]]
    results = program.simulate(*(value if value.shape else value.item() for value in inputs))
    return list(results) if isinstance(results, tuple) else [results]


def says(case: dict[str, Any]) -> bool:
    """Return whether the package gives what the case says."""
    if "error" in case:
        with pytest.raises(sl.SolinasError):
            computed(case)
        return True
    try:
        results = computed(case)
    except (sl.SolinasError, TypeError):
        return False
    wanted = [array(output) for output in case["outputs"]]
    return len(results) == len(wanted) and all(map(np.array_equal, results, wanted))


def test_cases_give_what_numpy_gives_but_for_those_that_are_listed() -> None:
    cases = [case for file in sorted(CASES.glob("*.json")) for case in json.loads(file.read_text())]
    listed = (CASES / "not_yet" / "python.txt").read_text().splitlines()
    assert [case["name"] for case in cases if not says(case)] == listed
