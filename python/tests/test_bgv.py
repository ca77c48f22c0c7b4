"""Scheme BGV end to end: vectors in slots, and bits with levels."""

import random

import numpy as np
import pytest

import solinas as sl
from conftest import pair

P = 65537
Residue = sl.mod(P)


@sl.program
def polynomial(a: Residue, b: Residue) -> Residue:
    return (a - b) * (a * b + 5) - 3 * a


@sl.program
def mix(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a ^ b, a + b)


@pytest.fixture(scope="module")
def slots():
    return pair("bgv", params="slots-128-3", research=True, insecure_seed=1)


@pytest.fixture(scope="module")
def bits():
    return pair("bgv", params="bits-64-9", research=True, insecure_seed=1)


def test_vectors_run_programs_and_operators(slots):
    client, server = slots
    draw = random.Random(1)
    values = [draw.randrange(P) for _ in range(300)]
    a, b = client.encrypt(values, Residue), client.encrypt(Residue(65536))
    assert (a.form, a.type, a.shape, a.products_left) == ("slots", Residue, (300,), 3)
    want = [(x + 1) * (5 - x) - 3 * x for x in values]
    result = server.run(polynomial(a, b))
    assert client.decrypt(result).tolist() == [x % P for x in want]
    assert polynomial.simulate(values[0], 65536) == want[0] % P
    assert result.products_left == 1
    assert result.margin > 0
    assert client.decrypt(server.run(5 - a * 2)).tolist() == [(5 - 2 * x) % P for x in values]
    estimate = server.estimate(polynomial, elements=300)
    assert (estimate.bootstraps, estimate.products, estimate.depth) == (0, 6, 2)
    assert polynomial.cost("slots-128-3", scheme="bgv").products == 2


@pytest.mark.parametrize(
    "reshape",
    [
        lambda x: x.reshape(3, 2),
        lambda x: x.ravel(),
        lambda x: x[None],
        lambda x: x[..., None],
        lambda x: np.expand_dims(x, 1),
        lambda x: x.reshape(6).reshape(1, 6, 1),
    ],
)
def test_slots_are_reshaped_before_they_are_computed_and_after(slots, reshape):
    client, server = slots
    values = np.arange(6).reshape(2, 3)
    x = client.encrypt(values, Residue)
    want = reshape(values + 1).tolist()
    assert client.decrypt(server.run(reshape(x + 1))).tolist() == want
    assert client.decrypt(server.run(reshape(x) + 1)).tolist() == want
    assert client.decrypt(reshape(server.run(x + 1))).tolist() == want


@sl.program
def minus(a: Residue) -> Residue:
    return a * -2 + -1


def test_errors_name_what_vectors_of_slots_have(slots):
    client, _ = slots
    x = client.encrypt([1, 2, 3], Residue)
    for method in ("max", "min", "argmax", "argmin"):
        with pytest.raises(sl.TypeMismatchError, match=r"cannot be compared.*sl\.U32"):
            getattr(x, method)()
    matrix = np.array([[1, 2, 3], [4, 5, 6]])
    for product in (lambda: matrix @ x, lambda: x @ matrix.T, lambda: np.dot(matrix, x + 0)):
        with pytest.raises(sl.TypeMismatchError, match=r"\[x\.dot\(row\) for row in matrix\]"):
            product()
    table = client.encrypt(matrix, Residue)
    for total in (lambda: table.sum(axis=0), lambda: np.sum(table + 0, axis=1), lambda: table.prod(axis=0)):
        with pytest.raises(sl.TypeMismatchError, match=r"\[row\.sum\(\) for row in rows\]"):
            total()
    with pytest.raises(sl.TypeMismatchError, match=r"row\.rotate\(-shift\)"):
        np.roll(table, 1, axis=0)
    with pytest.raises(sl.TypeMismatchError, match="give all of them one exponent"):
        x ** [1, 2, 3]
    with pytest.raises(sl.ShapeError, match="empty array"):
        x + []


def test_rolls_selections_and_rows_are_computed(slots):
    client, server = slots
    matrix, vector = np.array([[1, 2, 3], [4, 5, 6]]), np.array([7, 8, 9])
    table, x = client.encrypt(matrix, Residue), client.encrypt(vector, Residue)
    results = server.run(
        np.roll(x, 1),
        np.roll(table + 1, -2),
        [x.dot(row) for row in matrix],
        sl.select(True, [1, 2, 3], x),
        x ** [2, 2, 2],
    )
    for got, want in zip(
        client.decrypt(results),
        (np.roll(vector, 1), np.roll(matrix + 1, -2), matrix @ vector, [1, 2, 3], vector**2),
        strict=True,
    ):
        assert np.array_equal(got, want)


def test_negative_numbers_are_counted_from_the_modulus(slots):
    client, server = slots
    values = [-1, 1 - P, 0, 5]
    x = client.encrypt(values, Residue)
    assert client.decrypt(x).tolist() == [v % P for v in values] == [P - 1, 1, 0, 5]
    want = [(-2 * v - 1) % P for v in values]
    assert client.decrypt(server.run(minus(x))).tolist() == want == minus.simulate(values).tolist()
    assert client.decrypt(server.run(x - -3)).tolist() == [(v + 3) % P for v in values]
    assert repr(Residue(-1)) == f"mod{P}({P - 1})"
    for value in (P, -P, 2 * P):
        with pytest.raises(sl.RangeError, match=r"0 to 65536, or from -65536 to -1"):
            client.encrypt(value, Residue)
        with pytest.raises(sl.RangeError, match="out of range for mod65537"):
            x + value


def test_bools_are_no_numbers(slots, bits):
    for key, kind in ((slots[0], Residue), (bits[0], sl.U8)):
        for value in (True, [1, True], np.array([True, False]), np.True_):
            with pytest.raises(sl.TypeMismatchError, match=r"a bool, but .* is a type of numbers"):
                key.encrypt(value, kind)
    with pytest.raises(sl.TypeMismatchError, match="a bool"):
        polynomial.simulate(True, 2)
    assert bits[0].decrypt(bits[0].encrypt([1, True], sl.Bool)).tolist() == [True, True]


def test_estimates_are_of_programs(slots):
    for what in (None, "f", lambda x: x):
        with pytest.raises(sl.TypeMismatchError, match="estimate takes a function decorated with @sl.program"):
            slots[1].estimate(what)


@sl.program
def statistics(x: Residue, weight: Residue) -> tuple[Residue, Residue, Residue]:
    return x.dot(weight), x.sum(), x.rotate(2) - x


def test_programs_go_across_elements(slots):
    client, server = slots
    for count in (5, 128, 200):
        values, weights = [7 * i * i % P for i in range(count)], [i % 10 for i in range(count)]
        outputs = server.run(statistics(client.encrypt(values, Residue), client.encrypt(weights, Residue)))
        dot, total, moved = client.decrypt(outputs)
        assert (dot, total) == (sum(x * w for x, w in zip(values, weights, strict=True)) % P, sum(values) % P)
        assert moved.tolist() == [(values[(i + 2) % count] - x) % P for i, x in enumerate(values)]
    estimate = server.estimate(statistics, elements=128)
    assert estimate.rotations > 7


def test_levels_are_used_up_before_anything_runs(slots):
    client, server = slots
    x = client.encrypt([3, 65535], Residue)
    values = [3, 65535]
    for left in (2, 1, 0):
        x = server.run(x * x)
        values = [v * v % P for v in values]
        assert client.decrypt(x).tolist() == values
        assert x.products_left == left
    with pytest.raises(sl.NoiseError, match="allow 0 of the 3; encrypt its inputs again"):
        server.run(x * x)


def test_integers_of_bits(bits):
    client, server = bits
    a, b = client.encrypt([200, 7, 31], sl.U8), client.encrypt(sl.u8(9))
    assert client.decrypt(server.run(mix(a, b))).tolist() == [200 ^ 9, 16, 31 ^ 9]
    with pytest.raises(sl.NoiseError, match="products in a row"):
        server.run(sl.program(divide)(a, b))


def divide(a: sl.U8, b: sl.U8) -> sl.U8:
    return a // b


def test_a_key_that_bootstraps_runs_deep_circuits(tmp_path):
    client, server = pair("bgv", params="boot-64-2", research=True, insecure_seed=1)
    a, b = client.encrypt(sl.u8(200)), client.encrypt(sl.u8(13))
    deep = sl.program(divide)
    assert server.estimate(deep).bootstraps > 0
    assert client.decrypt(server.run(deep(a, b))) == 15
    server.key.save(tmp_path / "server.key")
    again = sl.Server(sl.ServerKey.load(tmp_path / "server.key", research=True), threads=1)
    assert client.decrypt(again.run(deep(a, b))) == 15
    secure = next(p for p in sl.params() if p.name == "boot128-16384-8")
    assert (secure.recommended, secure.bootstraps, secure.depth) == (True, True, 8)


def test_files_and_parameters(slots, bits, tmp_path):
    client, server = slots
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    client.encrypt([1, 2, 65536], Residue).save(tmp_path / "x.ct")
    again = sl.Server(sl.ServerKey.load(tmp_path / "server.key", research=True), threads=1)
    product = again.run(sl.EncryptedArray.load(tmp_path / "x.ct") * 2)
    assert sl.ClientKey.load(tmp_path / "client.key").decrypt(product).tolist() == [2, 4, 65535]
    assert (client.params.depth, client.params.plaintext_modulus, client.params.slots) == (3, P, 128)
    default = next(p for p in sl.params() if p.name == "slots128-16384-7")
    assert (default.recommended, default.slots, default.depth, default.classical_bits) == (True, 16384, 7, 128)
    assert default.log2_failure == -128
    with pytest.raises(sl.ParameterError, match="research"):
        sl.keygen("bgv", params="slots-128-3")
    with pytest.raises(sl.ParameterError, match="no BGV parameter set"):
        sl.keygen("bgv", params="none")
    with pytest.raises(sl.ParameterError, match="scheme bgv"):
        sl.keygen(params="slots128-8192-3")
    with pytest.raises(sl.KeyMismatchError):
        sl.keygen("bgv", params="slots-128-3", research=True, insecure_seed=2)[0].decrypt(client.encrypt(Residue(1)))
    with pytest.raises(sl.TypeMismatchError, match="holds mod65537, not u8"):
        client.encrypt(sl.u8(1))
    with pytest.raises(sl.TypeMismatchError):
        bits[0].encrypt(Residue(1))
    damaged = bytearray((tmp_path / "server.key").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(sl.FormatError, match="damaged"):
        sl.ServerKey.from_bytes(bytes(damaged))


def test_key_generation_stops_when_told():
    calls = []

    def stop(done, total):
        calls.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sl.keygen("bgv", progress=stop)
    assert calls
