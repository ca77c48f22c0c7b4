"""The named functions of integers beside Python's integers."""

import math
import random

import numpy as np
import pytest

import solinas as sl

KINDS = [sl.U8, sl.I8, sl.uint(5), sl.int_(3), sl.U32, sl.I64]


def samples(kind):
    choose = random.Random(kind.width)
    corners = {kind.MIN, kind.MIN + 1, kind.MAX - 1, kind.MAX, 0, 1, 2} | ({-1, -2} if kind.signed else set())
    pairs = [(a, b) for a in corners for b in corners]
    return pairs + [tuple(choose.randint(kind.MIN, kind.MAX) for _ in range(2)) for _ in range(100)]


def wrapped(kind, value):
    return kind.decode(value & ((1 << kind.width) - 1))


def nearest(kind, value):
    return min(max(value, kind.MIN), kind.MAX)


def of_one(kind, a):
    bits = a & ((1 << kind.width) - 1)
    return [
        wrapped(kind, bits.bit_count()),
        wrapped(kind, (bits & -bits).bit_length() - 1 if bits else kind.width),
        wrapped(kind, a.bit_length() - 1 if a > 0 else -1),
        math.isqrt(a) if a > 0 else 0,
        wrapped(kind, kind.width - bits.bit_length()),
    ]


def of_two(kind, a, b):
    results = []
    for exact in (a + b, a - b, a * b):
        fits = kind.MIN <= exact <= kind.MAX
        results += [wrapped(kind, exact), not fits, exact if fits else 0, fits, nearest(kind, exact)]
    if not b:
        return [*results, *[wrapped(kind, -1), a] * 2]
    floor, remainder = a // b, a % b
    euclid = a % abs(b)
    return [*results, wrapped(kind, floor), remainder, wrapped(kind, (a - euclid) // b), euclid]


def traced(kind):
    @sl.program
    def one(a: kind):
        return a.count_ones(), a.trailing_zeros(), a.ilog2(), sl.isqrt(a), a.leading_zeros()

    @sl.program
    def two(a: kind, b: kind):
        pairs = (
            (*a.overflowing_add(b), *a.checked_add(b), a.saturating_add(b)),
            (*a.overflowing_sub(b), *a.checked_sub(b), a.saturating_sub(b)),
            (*a.overflowing_mul(b), *a.checked_mul(b), a.saturating_mul(b)),
        )
        return *pairs[0], *pairs[1], *pairs[2], a.floor_div(b), a.floor_mod(b), a.div_euclid(b), a.rem_euclid(b)

    return one, two


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_functions_are_those_of_python(kind):
    one, two = traced(kind)
    pairs = samples(kind)
    columns = [[pair[side] for pair in pairs] for side in (0, 1)]
    singles, doubles = one.simulate(columns[0]), two.simulate(*columns)
    for i, (a, b) in enumerate(pairs):
        assert [int(result[i]) for result in singles] == of_one(kind, a), a
        assert [int(result[i]) for result in doubles] == of_two(kind, a, b), (a, b)
    a, b = pairs[-1]
    assert [int(x) for x in one(kind(a))] == of_one(kind, a)
    assert [int(x) for x in two(kind(a), kind(b))] == of_two(kind, a, b)
    assert kind(a).floor_mod(3).name == kind.name


def test_arrays_take_the_functions_element_by_element(quick):
    client, server = quick
    x = np.array([[-128, 127, 0], [5, -7, 100]], dtype=np.int8)
    y = np.array([3, -3, 127], dtype=np.int8)
    a, b = client.encrypt(x), client.encrypt(y)
    pairs = [(int(p), int(q)) for p, q in zip(x.ravel(), np.broadcast_to(y, x.shape).ravel(), strict=True)]
    total, overflows = a.overflowing_add(b)
    value, fits = a.checked_mul(y)
    results = client.decrypt(
        server.run(total, overflows, value, fits, a.floor_div(b), a.rem_euclid(-3), a.count_ones())
    )
    rows = [of_two(sl.I8, p, q) for p, q in pairs]
    wanted = [[row[k] for row in rows] for k in (0, 1, 12, 13, 15)]
    wanted += [[p % 3 for p, _ in pairs], [of_one(sl.I8, p)[0] for p, _ in pairs]]
    assert [result.ravel().tolist() for result in results] == wanted
    functions = (np.floor_divide, np.remainder, np.fmod, lambda *args: np.divmod(*args)[0])
    for function in functions:
        for divisor in (y, np.int8(-7)):
            got = client.decrypt(server.run(function(a, divisor)))
            assert got.tolist() == function(x, divisor).tolist()
        for divisor in (b, np.int8(0)):
            with pytest.raises(sl.TypeMismatchError, match="floor_div"):
                function(a, divisor)
    counted = np.bitwise_count(client.encrypt(x.astype(np.uint8)))
    assert client.decrypt(server.run(counted)).tolist() == np.bitwise_count(x.astype(np.uint8)).tolist()
    with pytest.raises(sl.TypeMismatchError, match="unsigned"):
        np.bitwise_count(a)


def test_functions_refuse_other_operands():
    for call in (
        lambda: sl.u8(1).floor_div(sl.u16(1)),
        lambda: sl.u8(1).saturating_add(None),
        lambda: sl.u8(1).overflowing_add("a"),
        lambda: sl.Array([sl.bool_(True)]).count_ones(),
        lambda: sl.Array([sl.fixed(8, 4)(1)]).isqrt(),
        lambda: sl.isqrt(5),
        lambda: sl.isqrt(sl.fixed(8, 4)(1)),
    ):
        with pytest.raises(sl.TypeMismatchError):
            call()
    with pytest.raises(sl.RangeError):
        sl.u8(1).saturating_add(256)


def test_counts_wrap_in_signed_types_of_1_and_2_bits_alone():
    for width in range(1, 5):
        for kind, wraps in ((sl.uint(width), False), (sl.int_(width), width < 3)):
            counts = [int(kind(kind.MIN).leading_zeros()), int(kind(0).leading_zeros())]
            assert counts == [width if kind.MIN == 0 else 0, width - (wraps << width)]


def test_functions_run_on_a_server(keys):
    client, server = keys
    kind = sl.int_(5)
    one, two = traced(kind)
    a, b = client.encrypt(kind(-13)), client.encrypt(kind(6))
    singles, doubles = client.decrypt(server.run(one(b), two(a, b)))
    assert [int(x) for x in singles] == of_one(kind, 6)
    assert [int(x) for x in doubles] == of_two(kind, -13, 6)
