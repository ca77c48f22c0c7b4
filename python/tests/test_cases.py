"""The cases that numpy wrote (`tests/cases`), as programs of this package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import solinas as sl
from solinas._server import Recorded

CASES = [
    case
    for file in sorted((Path(__file__).resolve().parents[2] / "tests" / "cases").glob("*.json"))
    for case in json.loads(file.read_text())
]
# Every eleventh case of a few elements runs under keys; plain values run all.
FEW, STEP = 12, 11


def array(described: dict[str, Any]) -> Any:
    kind = described["type"]
    dtype = "bool" if kind == "bool" else f"{'u' if kind[0] == 'u' else ''}int{kind[1:] if kind[0] in 'ui' else 64}"
    return np.array(described["values"], dtype).reshape(described["shape"])


def loaded(case: dict[str, Any]) -> tuple[sl.Program[..., Any], list[Any]]:
    program = sl.Program._from_json(json.dumps(case["program"]), case["name"])
    inputs = [array(given) for given in case["inputs"]]
    return program, [value if value.shape else value.item() for value in inputs]


def check(case: dict[str, Any], results: Any) -> None:
    results = list(results) if isinstance(results, tuple) else [results]
    for got, wanted in zip(results, map(array, case["outputs"]), strict=True):
        assert np.shape(got) == wanted.shape
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases_give_what_numpy_gives(case: dict[str, Any]) -> None:
    program, inputs = loaded(case)
    if "error" in case:
        with pytest.raises(sl.SolinasError):
            program.simulate(*inputs)
        return
    check(case, program.simulate(*inputs))
    again = sl.Program._from_json(program._to_json(), "what was written")
    assert repr(again) == repr(program)
    check(case, again.simulate(*inputs))


def is_small(case: dict[str, Any]) -> bool:
    arrays = [*case["inputs"], *case.get("outputs", [])]
    sizes = [int(np.prod(described["shape"])) for described in arrays]
    return "error" not in case and min(sizes) > 0 and max(sizes) <= FEW and "mod" not in json.dumps(case["program"])


SMALL = [case for case in CASES if is_small(case)][::STEP]


def encrypted(client: sl.ClientKey, case: dict[str, Any]) -> Any:
    """Return the recorded call of a case on encrypted inputs."""
    program, inputs = loaded(case)
    pairs = zip(program.parameters, inputs, strict=True)
    return program(*(client.encrypt(value, parameter.element) for parameter, value in pairs))


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["name"])
def test_cases_run_under_keys(integers: Any, case: dict[str, Any]) -> None:
    client, server = integers
    check(case, client.decrypt(server.run(encrypted(client, case))))


@pytest.mark.parametrize(
    "move",
    [
        np.transpose,
        lambda x: x[::-1],
        lambda x: x[:, 1:3],
        lambda x: x[1],
        lambda x: x.reshape(4, 3),
        lambda x: np.broadcast_to(x[0], (2, 4)),
        lambda x: np.flip(x, axis=1),
        lambda x: np.swapaxes(x.reshape(2, 2, 3), 0, 2),
        lambda x: np.moveaxis(x.reshape(2, 2, 3), 0, -1),
    ],
)
def test_regular_moves_have_no_list_of_indices(integers: Any, move: Any) -> None:
    client, server = integers
    plain = np.arange(12, dtype=np.uint8).reshape(3, 4)
    moved = move(client.encrypt(plain, sl.U8)) | 16
    assert "take" not in Recorded((moved,), client.key_id, False).program.to_json()
    assert np.array_equal(client.decrypt(server.run(moved)), move(plain) | 16)
