"""`simulate`, plain values and Python integers agree for every operation and width."""

import functools
import operator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solinas as sl

TYPES = [make(width) for make in (sl.uint, sl.int_) for width in (*range(1, 129), 255, 256, 2048)]


def wrap(kind, value):
    return kind.decode(value & ((1 << kind.width) - 1))


def div(kind, a, b):
    if b == 0:
        return wrap(kind, -1)
    quotient = abs(a) // abs(b)
    return wrap(kind, -quotient if (a < 0) != (b < 0) else quotient)


def rem(kind, a, b):
    if b == 0:
        return a
    remainder = abs(a) % abs(b)
    return -remainder if a < 0 else remainder


def rotate(kind, a, by):
    width, bits = kind.width, a & ((1 << kind.width) - 1)
    return wrap(kind, bits << (by % width) | bits >> (width - by % width))


BINARY = {
    "add": (operator.add, lambda k, a, b: wrap(k, a + b)),
    "sub": (operator.sub, lambda k, a, b: wrap(k, a - b)),
    "mul": (operator.mul, lambda k, a, b: wrap(k, a * b)),
    "div": (operator.floordiv, div),
    "rem": (operator.mod, rem),
    "and": (operator.and_, lambda k, a, b: a & b),
    "or": (operator.or_, lambda k, a, b: a | b),
    "xor": (operator.xor, lambda k, a, b: a ^ b),
    "min": (sl.minimum, lambda k, a, b: min(a, b)),
    "max": (sl.maximum, lambda k, a, b: max(a, b)),
    "eq": (operator.eq, lambda k, a, b: a == b),
    "ne": (operator.ne, lambda k, a, b: a != b),
    "lt": (operator.lt, lambda k, a, b: a < b),
    "le": (operator.le, lambda k, a, b: a <= b),
    "gt": (operator.gt, lambda k, a, b: a > b),
    "ge": (operator.ge, lambda k, a, b: a >= b),
}
UNARY = {
    "neg": (operator.neg, lambda k, a: wrap(k, -a)),
    "not": (operator.invert, lambda k, a: wrap(k, ~a)),
    "abs": (abs, lambda k, a: wrap(k, abs(a))),
    "leading_zeros": (
        lambda x: x.leading_zeros(),
        lambda k, a: wrap(k, k.width - (a & ((1 << k.width) - 1)).bit_length()),
    ),
}
SHIFTS = {
    "shl": (operator.lshift, lambda k, a, by: wrap(k, a << by)),
    "shr": (operator.rshift, lambda k, a, by: a >> by),
    "rotate_left": (lambda x, by: x.rotate_left(by), rotate),
    "rotate_right": (lambda x, by: x.rotate_right(by), lambda k, a, by: rotate(k, a, -by)),
}


def numbers(kind):
    corners = [n for n in (0, 1, -1, kind.MIN, kind.MAX, kind.MAX - 1) if kind.MIN <= n <= kind.MAX]
    return st.sampled_from(corners) | st.integers(kind.MIN, kind.MAX)


@functools.cache
def binary_program(op, kind):
    def f(a, b):
        return BINARY[op][0](a, b)

    f.__annotations__ = {"a": kind, "b": kind}
    return sl.program(f)


def cases(data, operations):
    kind = data.draw(st.sampled_from(TYPES))
    op = data.draw(st.sampled_from(sorted(operations)))
    return kind, *operations[op], op


@settings(max_examples=1500, deadline=None)
@given(st.data())
def test_binary_operations_match_python(data):
    kind, apply, model, op = cases(data, BINARY)
    a, b = data.draw(numbers(kind)), data.draw(numbers(kind))
    want = model(kind, a, b)
    assert binary_program(op, kind).simulate(a, b) == want
    plain = apply(kind(a), kind(b))
    assert int(plain) == want
    assert int(apply(kind(a), b)) == want
    if op not in {"min", "max"}:
        assert int(apply(a, kind(b))) == want


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_unary_operations_match_python(data):
    kind, apply, model, _ = cases(data, UNARY)
    a = data.draw(numbers(kind))
    assert int(apply(kind(a))) == model(kind, a)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_shifts_match_python(data):
    kind, apply, model, _ = cases(data, SHIFTS)
    a, by = data.draw(numbers(kind)), data.draw(st.integers(0, 300))
    assert int(apply(kind(a), by)) == model(kind, a, by)
    amount = sl.u16(by)
    assert int(apply(kind(a), amount)) == model(kind, a, by)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_casts_match_python(data):
    kind, to = data.draw(st.sampled_from(TYPES)), data.draw(st.sampled_from(TYPES))
    a = data.draw(numbers(kind))
    assert int(kind(a).cast(to)) == wrap(to, a)
    assert type(kind(a).cast(to)) is to


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_lookup_and_select_match_python(data):
    kind = data.draw(st.sampled_from([sl.uint(width) for width in range(1, 9)]))
    table = data.draw(st.lists(st.integers(-500, 500), min_size=kind.MAX + 1, max_size=kind.MAX + 1))
    index, other = data.draw(numbers(kind)), data.draw(numbers(kind))
    assert int(sl.lookup(table, kind(index), sl.I16)) == table[index]
    assert int(sl.lookup(lambda i: i ^ 1, kind(index))) == index ^ 1
    assert int(sl.select(kind(index) > other, index, kind(other))) == max(index, other)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 65535), min_size=1, max_size=9))
def test_array_reductions_match_python(values):
    @sl.program
    def f(xs: sl.Array[sl.U16, len(values)]):
        return xs.sum(), xs.max(), xs.min(), xs.argmax(), xs.argmin(), (xs == 7).any(), (xs > 7).all()

    largest, smallest = max(values), min(values)
    assert f.simulate(values) == (
        sum(values) % 65536,
        largest,
        smallest,
        values.index(largest),
        values.index(smallest),
        7 in values,
        all(v > 7 for v in values),
    )


def test_bools():
    t, f = sl.bool_(True), sl.bool_(False)
    assert [bool(x) for x in (t & f, t | f, t ^ True, ~t, t == f, t != 0)] == [False, True, False, False, False, True]
    assert repr(t) == "bool(True)"
    assert int(t.cast(sl.u8)) == 1


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_every_type_knows_its_range(kind):
    assert kind(kind.MIN).__index__() == kind.MIN
    assert int(kind(kind.MAX)) == kind.MAX
    for value in (kind.MIN - 1, kind.MAX + 1):
        with pytest.raises(sl.RangeError, match=f"{value} is out of range for {kind.name}"):
            kind(value)


@pytest.mark.parametrize("kind", [sl.U8, sl.I8, sl.uint(5), sl.I64], ids=lambda kind: kind.name)
def test_widening_sums_and_absolute_differences_are_exact(kind):
    values = [kind.MIN, kind.MAX, kind.MAX, 1, kind.MIN]

    @sl.program
    def traced(x: sl.Array[kind, 5]):
        return x.widening_sum(), x.abs_diff(1), x.abs_diff([kind.MAX, kind.MAX, 0, 1, kind.MIN]), (x > 0).widening_sum()

    total, one, other, positive = traced.simulate(values)
    assert (total, positive) == (sum(values), sum(value > 0 for value in values))
    assert list(one) == [abs(value - 1) for value in values]
    assert list(other) == [kind.MAX - kind.MIN, 0, kind.MAX, 0, 0]
    pairs = sl.Array([kind(v) for v in values[:4]]).reshape(2, 2)
    assert [int(x) for x in pairs.widening_sum(axis=0)._elements()] == [values[0] + values[2], values[1] + values[3]]
    assert pairs.widening_sum(axis=0)._kind.width == kind.width + 1
    assert type(kind(1).abs_diff(3)) is sl.uint(kind.width)
