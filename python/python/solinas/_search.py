"""Binary search of an encrypted value in a public table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

from solinas._elementwise import Elementwise
from solinas._errors import RangeError, TypeMismatchError
from solinas._functions import lookup, select
from solinas._shapes import public_array
from solinas._sorting import counter
from solinas._types import Ordered, int_, uint
from solinas._values import Bool, Value, _apply

# The largest number of bits of the index of a table lookup.
LOOKUP = 8
# The largest number of thresholds that are compared one by one instead of by a binary search.
COUNTED = 4


def searchsorted(table: Sequence[Any], x: Any, side: Literal["left", "right"] = "left") -> Any:
    """Return the index at which x would be inserted in a public ascending table, as `np.searchsorted` does.

    The index is the number of entries below x. With `side="right"` it is the number of entries that are at most x. Its
    type is `u8` for a table of up to 255 entries, and `u16` or wider for a longer table. x is an integer or a
    fixed-point number of any width, or an array of these. An array gives an array of the same shape.

    An x of at most 8 bits takes one table lookup for a table of any length. For a wider x, a table of up to 4 different
    entries takes one comparison for each entry, side by side. A table of n different entries, n above 4, takes a binary
    search of ceil(log2(n + 1)) comparisons, one after the other. Each comparison takes the table entry that the earlier
    ones select.

    Raises RangeError if the table is not ascending, if an entry is not finite, or if `side` is neither `"left"` nor
    `"right"`. Raises TypeMismatchError if the table is not a list, a tuple or an array of numbers, or if x is not a
    number with an order.
    """
    if isinstance(x, Elementwise):
        return x._elementwise(lambda element: searchsorted(table, element, side), x)
    if not isinstance(x, Ordered):
        what = x._describe() if isinstance(x, Value) else repr(x)
        raise TypeMismatchError(f"searchsorted takes an integer or a fixed-point number, got {what}: cast it first")
    if side not in {"left", "right"}:
        raise RangeError(f"searchsorted: side is {side!r}: give 'left' or 'right'")
    plain = public_array(table).tolist() if hasattr(table, "__array__") else table
    refused = TypeMismatchError(f"searchsorted takes a public list of numbers as its table, got {table!r}")
    if not isinstance(plain, Sequence):
        raise refused
    try:
        numbers = [Fraction(*entry.as_integer_ratio()) for entry in plain]
    except (AttributeError, TypeError):
        raise refused from None
    except (OverflowError, ValueError):
        raise RangeError("searchsorted takes a table of finite numbers: leave infinities and NaN out") from None
    if any(later < earlier for earlier, later in itertools.pairwise(numbers)):
        raise RangeError("searchsorted takes an ascending table: sort it first")
    kind, scale = counter(len(numbers)), 1 << x.fraction
    # An entry is counted if the stored integer of x is at least its threshold.
    bounds = [math.ceil(n * scale) if side == "right" else math.floor(n * scale) + 1 for n in numbers]
    units = _apply("cast", [x], (int_ if x.signed else uint)(x.width), x._text())
    if x.width <= LOOKUP:
        index = units.cast(uint(x.width))
        return lookup(lambda i: sum(bound <= units.decode(i) for bound in bounds), index, kind)
    low = units.MIN
    thresholds = sorted({bound for bound in bounds if low < bound <= units.MAX})
    counts = [sum(bound <= at for bound in bounds) for at in (low, *thresholds)]
    if len(thresholds) <= COUNTED:
        return _counted(units, thresholds, counts, kind)
    return _searched(units, thresholds, counts, kind)


def _counted(x: Any, thresholds: Sequence[int], counts: Sequence[int], kind: Any) -> Any:
    """Return the count behind the last threshold that x reaches, by a comparison with each."""
    steps = zip(thresholds, counts, counts[1:], strict=False)
    parts = [select(x >= threshold, kind(after - before), 0) for threshold, before, after in steps]
    return _apply("sum", [kind(counts[0]), *parts], kind, "searchsorted") if parts else (x.cast(kind) & 0) + counts[0]


def _searched(x: Any, thresholds: Sequence[int], counts: Sequence[int], kind: Any) -> Any:
    """Return the count behind the last threshold that x reaches, by a binary search."""
    depth = len(thresholds).bit_length()
    # Copies of the last threshold fill the table of thresholds, and copies of the last count fill the table of counts.
    missing = (1 << depth) - len(counts)
    thresholds = [*thresholds, *[thresholds[-1]] * missing]
    counts = [*counts, *[counts[-1]] * missing]
    bits: list[Any] = []
    for step in reversed(range(depth)):
        middles = thresholds[(1 << step) - 1 :: 2 << step]
        bits.append(x >= _entry(middles, bits, type(x)))
    return _entry(counts, bits, kind)


def _entry(table: Sequence[int], bits: Sequence[Bool], kind: Any) -> Any:
    """Return the entry of a table of 2^len(bits) entries at an index, whose highest bit comes first."""
    if not bits:
        return kind(table[0])
    if len(bits) > LOOKUP:
        half = len(table) // 2
        return select(bits[0], _entry(table[half:], bits[1:], kind), _entry(table[:half], bits[1:], kind))
    count, index = len(bits), uint(len(bits))
    # The lookup takes the bits from low to high, as they come: each one is placed without a carry.
    joined = bits[0].cast(index)
    for place, bit in enumerate(bits[1:], start=1):
        joined = joined | (bit.cast(index) << place)
    order = [int(f"{i:0{count}b}"[::-1], 2) for i in range(len(table))]
    return lookup([table[i] for i in order], joined, kind)
