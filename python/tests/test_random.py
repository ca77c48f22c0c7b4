"""Encrypted random values that a server makes from a public seed."""

from typing import Any

import pytest

import solinas as sl


@pytest.fixture(scope="module")
def pair() -> tuple[sl.ClientKey, sl.Server]:
    client, server_key = sl.keygen("tfhe", params="integers-toy", research=True, insecure_seed=5)
    return client, sl.Server(server_key)


def test_random_values_are_those_of_the_seed(pair: tuple[sl.ClientKey, sl.Server]) -> None:
    client, server = pair
    one = server.random(sl.U8, seed="draw 1")
    assert isinstance(one, sl.U8)
    row = server.random(sl.u8, 3, seed=b"draw 1")
    table = server.random(sl.U8, (2, 3), seed="draw 1")
    values = client.decrypt(table)
    assert values.shape == (2, 3)
    assert client.decrypt(one) == values[0][0]
    assert client.decrypt(row).tolist() == values[0].tolist()
    assert table.to_bytes() == server.random(sl.U8, [2, 3], seed="draw 1").to_bytes()
    assert client.decrypt(server.random(sl.U8, (2, 3), seed="draw 2")).tolist() != values.tolist()
    assert client.decrypt(server.run(row + 1)).tolist() == (values[0] + 1).tolist()
    assert client.decrypt(server.random(sl.Bool, seed="coin")) in (True, False)
    assert -4 <= client.decrypt(server.random(sl.int_(3), seed="small")) < 4
    seen: list[tuple[int, int]] = []
    server.random(sl.U8, 2, seed="watched", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (8, 8)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((5,), sl.TypeMismatchError, "a type such as sl.U32"),
        ((sl.U8, 0), sl.ShapeError, "one positive number"),
        ((sl.U8, ()), sl.ShapeError, "one positive number"),
        ((sl.U8, (2, -1)), sl.ShapeError, "one positive number"),
        ((sl.mod(257),), sl.TypeMismatchError, "holds bools and integers such as u8, not mod257"),
    ],
)
def test_wrong_requests_are_refused(
    pair: tuple[sl.ClientKey, sl.Server], arguments: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pair[1].random(*arguments, seed="s")


def test_bad_seeds_and_other_schemes_are_refused(pair: tuple[sl.ClientKey, sl.Server]) -> None:
    _, server = pair
    with pytest.raises(sl.ParameterError, match="the seed is empty"):
        server.random(sl.U8, seed="")
    number: Any = 5
    with pytest.raises(sl.TypeMismatchError, match="give a text or bytes"):
        server.random(sl.U8, seed=number)
    _, key = sl.keygen("bgv", params="bits-64-12", research=True, insecure_seed=1)
    with pytest.raises(sl.ParameterError, match="only those of scheme tfhe do"):
        sl.Server(key).random(sl.Bool, seed="s")
