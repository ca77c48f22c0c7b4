"""Functions on values and arrays: `select`, `minimum`, `maximum`, `lookup`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast, overload

from solinas._elementwise import Elementwise
from solinas._errors import RangeError, TypeMismatchError
from solinas._integers import IntegerFunctions
from solinas._shapes import public_array
from solinas._types import Modular, Ordered
from solinas._values import Bool, Value, _apply, _integer, is_bool

V = TypeVar("V", bound=Value)


@overload
def select(condition: Bool | bool, a: V, b: V | int) -> V: ...
@overload
def select(condition: Bool | bool, a: int, b: V) -> V: ...
def select(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` if `condition` is true, else `b`. It replaces `if` for encrypted values; both are computed.

    `a` and `b` must have one type, and one of them may be a Python integer. Arrays broadcast, and the selection is made
    element by element. Raises TypeMismatchError if the types differ or the condition is not a bool.
    """
    if any(isinstance(x, Elementwise) for x in (condition, a, b)):
        return _elementwise(select, condition, a, b)
    a, b = (Bool(bool(x)) if is_bool(x) else x for x in (a, b))
    if isinstance(a, Value):
        other = a._coerce(b, "select")
        pair = None if other is None else (a, other)
    elif isinstance(b, Value):
        other = b._coerce(a, "select")
        pair = None if other is None else (other, b)
    else:
        remedy = f"write one as sl.u32({a!r})" if _integer(a) is not None else "give two values of one type"
        raise TypeMismatchError(f"select({a!r}, {b!r}): neither has a type; {remedy}")
    if pair is None:
        raise TypeMismatchError(f"select does not take {a!r} and {b!r}: give values of one type")
    if is_bool(condition):
        chosen, other = pair if condition else pair[::-1]
        if not _is_public(chosen) or _is_public(other):
            return chosen
        # The result depends on the encrypted value, so that a server can compute it.
        if isinstance(chosen, Modular):
            return chosen + (cast(Any, other) - other)
        condition = Bool(bool(condition))
    if not isinstance(condition, Bool):
        what = condition._describe() if isinstance(condition, Value) else repr(condition)
        raise TypeMismatchError(f"the condition of select must be a bool, got {what}: compare it, as in x != 0")
    label = f"select({condition._text()}, {pair[0]._text()}, {pair[1]._text()})"
    return _apply("select", [condition, *pair], type(pair[0]), label)


def _is_public(value: Value) -> bool:
    """Return whether a value is plain, or stands for the elements of a public array."""
    return value.is_plain or value._expr.is_public


N = TypeVar("N", bound=IntegerFunctions[Any])
I = TypeVar("I", bound=Ordered)  # noqa: E741


def minimum(a: I, b: I | int, *more: I | int) -> I:
    """Return the smallest of two or more values of one type. Arrays broadcast, element by element."""
    return cast(I, _extreme("min", a, b, more))


def maximum(a: I, b: I | int, *more: I | int) -> I:
    """Return the largest of two or more values of one type. Arrays broadcast, element by element."""
    return cast(I, _extreme("max", a, b, more))


def isqrt(x: N) -> N:
    """Return the square root of an integer, or of each element of an array, rounded down. A negative one gives 0."""
    if not isinstance(x, IntegerFunctions):
        raise TypeMismatchError(f"isqrt takes a value or an array of an integer type, got {x!r}: write sl.u32(...)")
    return x.isqrt()


def _extreme(op: str, a: Any, b: Any, more: tuple[Any, ...]) -> Any:
    result = a
    for other in (b, *more):
        if isinstance(result, Elementwise) or isinstance(other, Elementwise):
            result = _elementwise(lambda x, y: _extreme(op, x, y, ()), result, other)
            continue
        left, right = (result, other) if isinstance(result, Value) else (other, result)
        if not isinstance(left, Ordered):
            raise TypeMismatchError(f"{op}imum takes integers, got {left!r} and {right!r}: cast a bool first")
        value = left._binary(op, f"{op}imum", right, type(left))
        if value is NotImplemented:
            raise TypeMismatchError(f"{op}imum does not take {left._describe()} and {right!r}: give values of one type")
        result = value
    return result


@overload
def lookup(table: Sequence[int] | Callable[[int], int], index: Value, to: type[V]) -> V: ...
@overload
def lookup(table: Sequence[int] | Callable[[int], int], index: V, to: None = None) -> V: ...
def lookup(table: Any, index: Any, to: Any = None) -> Any:
    """Return `table[index]`. The index is an unsigned integer of at most 8 bits, a bool, or an array of these.

    The table needs one entry for each possible index. It may be a function, which is then called once with each index.
    The result has type `to`, which defaults to the type of the index. An array is looked up element by element.
    Raises RangeError if an entry does not fit the type of the result, TypeMismatchError for another index or size.
    """
    if isinstance(index, Elementwise):
        return _elementwise(lambda x: lookup(table, x, to), index)
    if not isinstance(index, Value) or index.signed or index.width > 8:  # noqa: PLR2004
        what = index._describe() if isinstance(index, Value) else repr(index)
        raise TypeMismatchError(f"lookup takes an unsigned index or bool of at most 8 bits, got {what}: cast it first")
    size = 1 << index.width
    if hasattr(table, "__array__") and not isinstance(table, Elementwise):
        table = public_array(table).tolist()
    entries = [table(i) for i in range(size)] if callable(table) else list(table)
    if len(entries) != size:
        raise TypeMismatchError(
            f"lookup by {index._describe()} needs a table of {size} entries, one for each possible index, got "
            f"{len(entries)}"
        )
    result = type(index) if to is None else to
    try:
        bits = [_entry(result, entry) for entry in entries]
    except RangeError as error:
        raise RangeError(f"lookup table: {error}, or give another type, as in lookup(table, x, sl.U16)") from None
    return _apply("lookup", [index], result, f"lookup({index._text()})", bits)


def _entry(kind: type[Value], entry: Any) -> int:
    """Return the bits of one entry of a table. A bool stands for 0 or 1."""
    number = kind._parsed(entry)
    if number is None:
        raise TypeMismatchError(f"lookup table: {entry!r} is not a value of {kind.name}")
    return kind.encode(number)


def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function to each element of the operands, of which at least one is an array."""
    array = next(operand for operand in operands if isinstance(operand, Elementwise))
    return array._elementwise(function, *operands)
