"""Operators refuse operands of a wrong type. An operator never gives a bool of Python for them."""

import operator

import numpy as np
import pytest

import solinas as sl

COMPARISONS = (operator.eq, operator.ne)
OPERATORS = (*COMPARISONS, operator.lt, operator.le, operator.gt, operator.ge, operator.add, operator.sub, operator.mul)
WRONG = (3j, "3", None, object(), np.str_("3"), np.complex128(3), np.array(3j), np.datetime64("2020"), sl.text("3"))
FRACTIONS = (3.0, np.float64(3), np.array(3.0), np.longdouble(3), np.array(3, dtype=np.longdouble))


def refused(operation, *operands):
    for arguments in (operands, operands[::-1]):
        with pytest.raises(sl.TypeMismatchError):
            operation(*arguments)


@pytest.mark.parametrize("kind", [sl.U8, sl.int_(5), sl.mod(257), sl.fixed(16, 8), sl.Bool], ids=lambda kind: kind.name)
def test_plain_values_refuse_operands_of_other_types(kind):
    wrong = WRONG if issubclass(kind, sl.Fixed) else (*WRONG, *FRACTIONS)
    for operand in wrong:
        for operation in COMPARISONS if kind is sl.Bool else OPERATORS:
            if not (operation is operator.mul and isinstance(operand, str)):
                refused(operation, kind(1), operand)
    for operand in (True, np.True_):
        if kind is not sl.Bool:
            refused(operator.eq, kind(1), operand)


def test_encrypted_values_and_arrays_refuse_operands_of_other_types(integers):
    client, _ = integers
    x, flag = client.encrypt(sl.u8(3)), client.encrypt(True)
    xs = client.encrypt([1, 2, 3], sl.U8)
    for value in (x, x + 1, flag, xs, xs * 2, xs[0]):
        for operand in (*WRONG, *FRACTIONS, np.array([1.5, 2, 3])):
            for operation in COMPARISONS:
                refused(operation, value, operand)
    refused(operator.eq, x, [3])
    for operation in OPERATORS[2:]:
        refused(operation, xs, 3.0)
    assert isinstance(x == np.int64(3), sl.Bool)
    assert isinstance(np.array(3) != x, sl.Bool)
    assert (xs == x).shape == (x == xs).shape == (xs == [1, 2, 3]).shape == (np.array([1, 2, 3]) == xs).shape == (3,)


@pytest.mark.parametrize("operand", [3.0, "3", None])
def test_parameters_of_programs_refuse_operands_of_other_types(operand):
    with pytest.raises(sl.TypeMismatchError, match=r"== does not take a \(u8\) and"):

        @sl.program
        def selected(a: sl.U8):
            return sl.select(a == operand, a, 0)

    with pytest.raises(sl.TypeMismatchError, match=r"!= does not take a\[0\] \(u8\) and"):

        @sl.program
        def different(a: sl.Array[sl.U8, 3]):
            return a != operand


def test_values_without_an_order_say_so():
    for value, message in ((sl.bool_(True), r"cast it, as in \.cast\(sl\.U8\)"), (sl.mod(257)(1), "modulo a number")):
        for operation in OPERATORS[2:6]:
            with pytest.raises(sl.TypeMismatchError, match=message):
                operation(value, value)


def test_membership_repetition_and_sums_of_plain_values_are_those_of_python():
    x = sl.u8(3)
    assert x in [1, 3]
    assert [1, 3].index(x) == 1
    assert ([0] * x, x * "ab", sum([x, x])) == ([0, 0, 0], "ababab", 6)


def test_the_remedy_for_two_types_is_an_expression_of_python():
    for kind, expression in (
        (sl.fixed(16, 8), "sl.fixed(16, 8)"),
        (sl.fixed(12, 3), "sl.fixed(12, 3)"),
        (sl.U16, "sl.U16"),
        (sl.int_(5), "sl.int_(5)"),
    ):
        with pytest.raises(sl.TypeMismatchError) as error:
            kind(1) + sl.uint(3)(1)
        assert str(error.value).endswith(f"as in .cast({expression})")
        assert eval(expression) is kind
