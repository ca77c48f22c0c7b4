"""Fixed-point numbers beside exact rational arithmetic."""

import copy
import math
import operator
import pickle
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import solinas as sl

F = sl.fixed(16, 8)
# A type without fraction bits, one without integer bits, a small one, and one that is wider than a float.
TYPES = [F, sl.fixed(8, 0), sl.fixed(8, 8), sl.fixed(5, 3), sl.fixed(72, 40)]


class Price(sl.Fixed, width=16, fraction=8):
    """A type with a name."""


def units(kind, number):
    """Return the integer that a type stores for a number that wraps."""
    scaled = Fraction(number) * (1 << kind.fraction)
    assert scaled.denominator == 1
    half = 1 << (kind.width - 1)
    return (int(scaled) + half) % (2 * half) - half


def wrapped(kind, stored):
    half = 1 << (kind.width - 1)
    return Fraction((stored + half) % (2 * half) - half, 1 << kind.fraction)


def samples(kind, count, seed):
    """Return pairs of numbers: the corners of the type and random ones."""
    choose, half = random.Random(seed), 1 << (kind.width - 1)
    corners = [Fraction(n, 1 << kind.fraction) for n in (-half, half - 1, 0, 1, -1, half // 2, -half // 2)]
    pairs = [(a, b) for a in corners for b in corners]
    for _ in range(count):
        pairs.append(tuple(Fraction(choose.randrange(-half, half), 1 << kind.fraction) for _ in range(2)))
    return pairs


def truncated(a, b):
    return math.trunc(Fraction(a) / Fraction(b))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_arithmetic_is_rational_arithmetic_rounded_as_stated(kind):
    scale = 1 << kind.fraction

    @sl.program
    def traced(a: kind, b: kind):
        return a + b, a - b, a * b, a / b, -a, a < b, a >= b, a == b, sl.minimum(a, b), sl.select(a > b, a, b)

    pairs = samples(kind, 60, seed=kind.width)
    columns = [[pair[side] for pair in pairs] for side in (0, 1)]
    results = traced.simulate(*columns)
    for i, (a, b) in enumerate(pairs):
        got = [Fraction(result[i]) if k not in {5, 6, 7} else bool(result[i]) for k, result in enumerate(results)]
        zero = wrapped(kind, -1)
        assert got == [
            wrapped(kind, (a + b) * scale),
            wrapped(kind, (a - b) * scale),
            wrapped(kind, math.floor(a * b * scale + Fraction(1, 2))),
            wrapped(kind, truncated(a * scale, b)) if b else zero,
            wrapped(kind, -a * scale),
            a < b,
            a >= b,
            a == b,
            min(a, b),
            max(a, b),
        ], (a, b)
        plain = kind(a) * kind(b), kind(a) / kind(b), kind(a) - kind(b)
        assert [Fraction(x.decode(x._data)) for x in plain] == [got[2], got[3], got[1]]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_rounding_is_that_of_python(kind):
    half = 1 << (kind.width - 1)
    whole = sl.int_(kind.width)
    for a, _ in samples(kind, 60, seed=1 + kind.width):
        x = kind(a)
        for function in (math.floor, math.ceil, round, math.trunc):
            got = function(x)
            assert isinstance(got, sl.Int)
            assert (got.name, int(got)) == (whole.name, (function(a) + half) % (2 * half) - half)
        assert int(x.cast(whole)) == math.floor(a)


def test_conversion_rounds_to_nearest_even():
    for value in (
        0.1,
        -0.1,
        1.5,
        Fraction(1, 3),
        Decimal("2.71828"),
        7,
        np.float32(0.7),
        np.int8(-3),
        "0.1",
        "1/3",
        "-2e-3",
    ):
        exact = Fraction(value) if isinstance(value, (str, int, Fraction, Decimal)) else Fraction(float(value))
        assert F(value)._data == round(exact * 256) % 65536
    # Ties: 1/512 is between 0 and 1/256, and 3/512 between 1/256 and 2/256.
    assert [float(F(Fraction(n, 512))) for n in (1, 3, -1, -3)] == [0, 2 / 256, 0, -2 / 256]
    assert (F.MIN, F.MAX) == (-128, 128 - 1 / 256)
    for value in (128, -128.01, 127.999, float("inf"), float("nan"), 10**400):
        with pytest.raises(sl.RangeError):
            F(value)
    for value in (None, [1], 1j, "one", "1/0"):
        with pytest.raises(sl.TypeMismatchError):
            F(value)


def test_public_integers_multiply_and_divide_exactly():
    small = sl.fixed(8, 7)
    assert float(small(0.25) * 3) == 0.75
    assert float(3 * small(0.25)) == 0.75
    assert float(small(0.75) / 3) == 0.25
    assert float(F(10) / 3) == math.trunc(2560 / 3) / 256
    assert float(1 / F(3)) == math.trunc(65536 / 768) / 256
    assert float(F(1.5) ** 3) == 3.375

    @sl.program
    def third(x: F) -> F:
        return x / 3

    @sl.program
    def divided(x: F, y: F) -> F:
        return x / y

    assert third.cost().bootstraps < divided.cost().bootstraps


def test_casts_shift_and_round_down():
    assert [int(F(x).cast(sl.I8)) for x in (1.9, -1.9, 127.5, -128)] == [1, -2, 127, -128]
    assert float(sl.u8(200).cast(sl.fixed(24, 4))) == 200
    assert float(sl.bool_(True).cast(F)) == 1
    assert float(F(1.75).cast(sl.fixed(16, 1))) == 1.5
    assert float(F(-1.75).cast(sl.fixed(40, 20))) == -1.75
    assert int(F(1.5).view(sl.I16)) == 384
    assert float(sl.i16(-384).view(F)) == -1.5
    with pytest.raises(sl.TypeMismatchError, match="stored as i16"):
        F(1).view(sl.U16)


def test_types_do_not_mix_and_operations_of_integers_are_refused():
    for operation in (
        lambda: F(1) + sl.fixed(16, 9)(1),
        lambda: F(1) + sl.i16(1),
        lambda: F(1) & 1,
        lambda: ~F(1),
        lambda: F(1) // 2,
        lambda: F(1) << 1,
        lambda: F(1) % 2,
        lambda: int.__index__(F(1)),
        lambda: sl.i16(1) / 2,
        lambda: round(F(1), 2),
    ):
        with pytest.raises(TypeError):
            operation()
    assert float(F(1) + Price(2)) == 3
    for width, fraction in ((0, 0), (8, 9), (8, -1), (sl._types.MAX_WIDTH, 1)):
        with pytest.raises(sl.RangeError):
            sl.fixed(width, fraction)


def test_values_print_copy_and_pickle():
    x = F(-1.25)
    assert repr(x) == "fixed16.8(-1.25)"
    assert f"{x:.1f}" == "-1.2"
    assert repr(sl.fixed(72, 40)("1/3")).startswith("fixed72.40(366503875925/1099511627776)")
    for again in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (again.name, float(again)) == (x.name, -1.25)
    assert (float(x), int(x), bool(x)) == (-1.25, -1, True)
    assert sl.fixed(16, 8) is F


def test_programs_take_return_and_store_fixed_point_numbers(tmp_path):
    @sl.program
    def scaled(x: sl.Array[F, 3], *, factor: F = 0.5) -> sl.Array[F, 3]:
        return x * factor + [1, 0.25, -1]

    wide = sl.fixed(72, 40)

    @sl.program
    def shifted(x: wide, by: wide = "1/3") -> wide:
        return x + by

    scaled.save(tmp_path / "scaled.json")
    shifted.save(tmp_path / "shifted.json")
    for program in (scaled, sl.Program.load(tmp_path / "scaled.json"), pickle.loads(pickle.dumps(scaled))):
        assert program.simulate([1, 2, 3]).tolist() == [1.5, 1.25, 0.5]
        assert program.simulate([1, 2, 3], factor=-1).tolist() == [0, -1.75, -4]
        assert program.simulate(np.array([[1.5, 2, 3]])).dtype == np.float64
    for program in (shifted, sl.Program.load(tmp_path / "shifted.json")):
        assert program.simulate("2/3") == 1
    assert repr(scaled).startswith("<program scaled(x: Array[fixed16.8, 3], factor: fixed16.8 = 0.5)")
    assert scaled.draw().startswith("<svg")


def test_lookups_give_fixed_point_numbers():
    @sl.program
    def root(i: sl.U8) -> F:
        return sl.lookup(math.sqrt, i, F)

    assert int(sl.lookup(lambda i: i > 2, sl.u8(3))) == 1
    with pytest.raises(sl.TypeMismatchError, match="not a value of u8"):
        sl.lookup(lambda i: i / 2, sl.u8(3))
    assert root.simulate([0, 2, 255]).tolist() == [
        0,
        round(math.sqrt(2) * 256) / 256,
        round(math.sqrt(255) * 256) / 256,
    ]


def test_arrays_of_fixed_point_numbers(quick):
    client, server = quick
    x, y = np.array([[1.5, -2.25, 100.0], [0.25, -0.5, 3.0]]), np.array([0.5, -1.5, 0.125])
    a, b = client.encrypt(x, F), client.encrypt(y, F)
    assert (a.dtype, repr(a)[:39]) == (np.float64, "<encrypted array of fixed16.8, shape (2")
    results = {
        "+": (a + b, x + y),
        "public": (1 - a, 1 - x),
        "*": (a * b, x * y),
        "list": (a * [2, 0.5, 1], x * [2, 0.5, 1]),
        "/": (a / 2.0, x / 2),
        "divide": (np.divide(1, b), np.trunc(256 / y) / 256),
        "<": (a < b, x < y),
        "sum": (a.sum(axis=1), x.sum(axis=1)),
        "max": (np.max(a), np.max(x)),
        "@": (a @ b, x @ y),
        "where": (np.where(a > 0, a, 0.5), np.where(x > 0, x, 0.5)),
        "clip": (np.clip(a, -1.0, 1.5), np.clip(x, -1.0, 1.5)),
        "sort": (np.sort(a, axis=0), np.sort(x, axis=0)),
        "argsort": (np.argsort(a, axis=1), np.argsort(x, axis=1)),
        "median": (np.median(b), np.median(y)),
        "floor": (np.floor(a), np.floor(x)),
        "ceil": (np.ceil(a), np.ceil(x)),
        "trunc": (np.trunc(a), np.trunc(x)),
        "rint": (np.rint(a), np.rint(x)),
        "abs": (abs(a), abs(x)),
        "search": (np.searchsorted([-1.5, 0.1, 0.25, 3], a), np.searchsorted([-1.5, 0.1, 0.25, 3], x)),
        "cast": (a.cast(sl.I8), np.floor(x)),
        "view": (a.view(sl.I16), x * 256),
        "stack": (np.stack([b, b])[::-1].T, np.stack([y, y]).T),
    }
    computed = server.run([got for got, _ in results.values()])
    for (name, (_, want)), got in zip(results.items(), computed, strict=True):
        assert np.asarray(client.decrypt(got)).tolist() == np.asarray(want).tolist(), name
    for function in (np.sum, np.cumsum, np.sqrt, lambda a: a // 1):
        with pytest.raises(TypeError):
            function(a)


def test_wide_numbers_decrypt_to_fractions(integers):
    client, _ = integers
    wide = sl.fixed(72, 40)
    value = Fraction((1 << 71) - 1, 1 << 40)
    assert client.decrypt(client.encrypt(wide(value))) == value
    assert client.decrypt(client.encrypt([value, -1], wide)).tolist() == [value, -1]


def test_fixed_point_numbers_run_on_a_server(keys):
    client, server = keys
    small = sl.fixed(6, 3)
    a, b = client.encrypt(small(1.625)), client.encrypt([-1.5, 0.375], small)

    @sl.program
    def both(x: small, y: small):
        return x * y, x + y

    product, total, pair = client.decrypt(server.run(a * 1.25, round(a), both(b, a)))
    assert product == math.floor(1.625 * 1.25 * 8 + 0.5) / 8
    assert total == 2
    assert [part.tolist() for part in pair] == [
        [math.floor(1.625 * y * 8 + 0.5) / 8 for y in (-1.5, 0.375)],
        [0.125, 2],
    ]


def test_files_hold_the_stored_integer(integers, tmp_path):
    client, server = integers
    a = client.encrypt(F(-1.25))
    assert repr(a).startswith("<encrypted fixed16.8, key ")
    a.save(tmp_path / "a.ct")
    assert client.decrypt(F.load(tmp_path / "a.ct")) == -1.25
    assert client.decrypt(sl.I16.load(tmp_path / "a.ct")) == -320
    assert client.decrypt(sl.Ciphertext.load(tmp_path / "a.ct").view(F)) == -1.25
    with pytest.raises(sl.TypeMismatchError):
        sl.fixed(17, 8).load(tmp_path / "a.ct")
    row = client.encrypt([0.5, -0.25], F)
    row.save(tmp_path / "row.ct")
    assert client.decrypt(sl.EncryptedArray.load(tmp_path / "row.ct").view(F)).tolist() == [0.5, -0.25]
    with pytest.raises(sl.TypeMismatchError):
        F.load(tmp_path / "row.ct")
    for value, want in ((a, -1.25), (row, [0.5, -0.25]), (row[1], -0.25)):
        again = client.decrypt(pickle.loads(pickle.dumps(value)))
        assert np.asarray(again).tolist() == want
    compact = server.compact(server.run(a - 1))
    assert client.decrypt(compact) == -2.25


def comparing(kind, symbols, number):
    def compared(x):
        return tuple(op(x, number) for op in symbols)

    compared.__annotations__ = {"x": kind}
    return compared


@pytest.mark.parametrize("numbers", [[19.5, 19.501, -0.001], [F.MIN, F.MAX, 0], [0.0, -0.0, Fraction(1, 3)]])
def test_comparisons_take_public_numbers_as_they_are(quick, numbers):
    client, server = quick
    held = [Fraction(n) for n in (19.5, 19.50390625, F.MIN, F.MAX, 0, -1 / 256, 1 / 256, 85 / 256)]
    symbols = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    kind = sl.Array[F, len(held)]
    encrypted, plain = client.encrypt(held, F), sl.Array([F(n) for n in held])
    for number in numbers:
        want = [[op(n, number) for n in held] for op in symbols]
        columns = [[number] * len(held)] if number in held else [[number] * len(held), [number, *held[1:]]]
        assert [row.tolist() for row in sl.program(comparing(kind, symbols, number)).simulate(held)] == want
        assert [[bool(b) for b in op(plain, number)] for op in symbols] == want
        assert [row.tolist() for row in client.decrypt(server.run([op(encrypted, number) for op in symbols]))] == want
        assert [client.decrypt(server.run(op(encrypted[0], number))) for op in symbols] == [row[0] for row in want]
        for column in columns:
            want = [[bool(op(n, c)) for n, c in zip(held, column, strict=True)] for op in symbols]
            results = server.run([op(encrypted, column) for op in symbols])
            assert [row.tolist() for row in client.decrypt(results)] == want
            mirrored = (operator.gt, operator.ge, operator.lt, operator.le, operator.eq, operator.ne)
            results = server.run([op(np.array(column, float), encrypted) for op in mirrored])
            floats = [[bool(op(n, float(c))) for n, c in zip(held, column, strict=True)] for op in symbols]
            assert [row.tolist() for row in client.decrypt(results)] == floats
    for number in (128, -128.5, 127.999, math.nan, math.inf):
        for compare in symbols:
            with pytest.raises(sl.RangeError):
                compare(F(1), number)
            with pytest.raises(sl.RangeError):
                compare(encrypted, [number] * len(held))
