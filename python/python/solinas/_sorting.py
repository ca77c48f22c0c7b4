"""Sorting networks: `sort`, `argsort`, `top_k`, `median`. The pairs that are compared do not depend on the values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast, overload

from solinas._errors import RangeError, ShapeError, TypeMismatchError
from solinas._functions import select
from solinas._shapes import NdArray, Shape, axis_indices, public_integer
from solinas._types import MAX_WIDTH, Ordered, int_, uint

A = TypeVar("A", bound=NdArray)

# A comparator (i, j) puts the smaller of the elements i and j at i, and the larger at j.
Layer = list[tuple[int, int]]


def network(size: int) -> list[Layer]:
    """Return Batcher's odd-even merge network for `size` elements (Knuth, TAOCP volume 3, algorithm 5.2.2M).

    The comparators of a layer share no elements. There are t (t + 1) / 2 layers for t = ceil(log2(size)).
    """
    layers: list[Layer] = []
    top = 1 << (size - 1).bit_length() >> 1
    block = top
    while block:
        distance, half, place = block, top, 0
        while True:
            layers.append([(i, i + distance) for i in range(size - distance) if i & block == place])
            if half == block:
                break
            distance, half, place = half - block, half >> 1, block
        block >>= 1
    return layers


def selection(size: int, k: int) -> list[Layer]:
    """Return a network that puts the `k` largest of `size` elements at the first places, in descending order.

    Blocks of `width` elements are sorted, where `width` is the least power of two that is at least k. Then pairs of
    blocks are merged, and each merge keeps the larger half. A merge compares the elements of one block with the
    elements of the other block in reverse order. The larger element of each pair is one of the `width` largest, and
    these elements form a bitonic sequence (Knuth, TAOCP volume 3, section 5.3.4).
    """
    width = 1 << (k - 1).bit_length()
    blocks = range(0, size, width)
    layers = [
        [(at + high, at + low) for at in blocks for low, high in layer if at + high < size] for layer in network(width)
    ]
    step = width
    while step < size:
        starts = range(0, size - step, 2 * step)
        pairs = [(at + step + width - 1 - place, at + place) for at in starts for place in range(width)]
        layers.append([pair for pair in pairs if pair[0] < size])
        distance = width // 2
        while distance:
            places = [place for place in range(width) if not place & distance]
            layers.append([(at + place + distance, at + place) for at in starts for place in places])
            distance //= 2
        step *= 2
    return [layer for layer in layers if layer]


def needed_layers(layers: Sequence[Layer], wanted: Iterable[int]) -> list[tuple[Layer, set[int]]]:
    """Return the comparators on which the elements at the `wanted` places of the result depend, layer by layer.

    The set beside a layer has the places whose elements are needed after it.
    """
    needed, kept = set(wanted), list[tuple[Layer, set[int]]]()
    for layer in reversed(layers):
        used = [pair for pair in layer if not needed.isdisjoint(pair)]
        if used:
            kept.append((used, needed))
        needed = needed.union(*used)
    return kept[::-1]


@overload
def sort(keys: A, /, *, axis: int | None = -1) -> A: ...
@overload
def sort(keys: Any, /, *values: Any, axis: int | None = -1) -> Any: ...
def sort(keys: Any, /, *values: Any, axis: int | None = -1) -> Any:
    """Return the keys in ascending order along an axis, and each array of `values` in the order of the keys.

    `keys` is an array of integers or fixed-point numbers. Each of `values` has the shape of the keys and any element
    type. Without `values` the result is one array, else a tuple of arrays. The results have the shape of the keys.
    `axis=None` sorts all elements as one row and returns vectors. Values whose keys are equal come in any order.

    The server runs Batcher's odd-even merge network. For a row of n elements and t = ceil(log2(n)), the network has
    t (t + 1) / 2 layers and about n t^2 / 4 comparisons. Each layer is one small program for all of its comparisons,
    so no program grows with the array. Each comparison also takes two selections for the keys, and two selections for
    each array of `values`.

    Raises TypeMismatchError if the keys are not integers or fixed-point numbers, or if the axis is not an integer.
    Raises ShapeError if the shapes differ or the axis does not exist.
    """
    rows = _Rows("sort", [keys, *values], axis)
    results = rows.sorted(network(rows.size), range(rows.size)).arrays(range(rows.size))
    return tuple(results) if values else results[0]


def argsort(array: Any, axis: int | None = -1) -> Any:
    """Return the indices that sort an array along an axis. Equal elements keep their order.

    The indices have the type `u8` in rows of up to 256 elements, and `u16` or `u32` in longer rows. The cost is that
    of `sort` for wider elements: each element is joined with its index, which takes ceil(log2(n)) bits in a row of n
    elements, rounded up to an even number. Raises as `sort` does, and RangeError if the joined elements are too wide.
    """
    rows = _Rows("argsort", [array], axis)
    (row,) = rows.columns
    kind = row._kind
    # An index has whole blocks of two bits, so the shift moves blocks and costs nothing. A single element has one too.
    bits = max((rows.size - 1).bit_length() + 1 & ~1, 2)
    if kind.width + bits > MAX_WIDTH:
        raise RangeError(
            f"argsort sorts pairs of an element and its index, and pairs of {kind.width} + {bits} bits are too wide: "
            f"the sum is at most {MAX_WIDTH}; sort the array with its indices, as in sl.sort(x, indices)"
        )
    held = int_ if kind.signed else uint
    wide = held(kind.width + bits)
    indices = [index for _ in range(rows.count) for index in range(rows.size)]
    rows.columns = [(row.view(held(kind.width)).cast(wide) << bits) | indices]
    (ordered,) = rows.sorted(network(rows.size), range(rows.size)).arrays(range(rows.size))
    return ordered.cast(uint(bits)).cast(counter(rows.size - 1))


def top_k(keys: Any, k: int, *values: Any, axis: int | None = -1) -> Any:
    """Return the `k` largest keys along an axis in descending order, and the elements of each of `values` beside them.

    The arguments and the result are as for `sort`, but the results have k elements along the axis. The number of
    comparisons grows with n log2(k)^2 for a row of n elements. `k=1` takes n - 1 comparisons, each with one selection.
    Raises as `sort` does, and RangeError unless k is from 1 to the size of the axis.
    """
    rows = _Rows("top_k", [keys, *values], axis)
    k = public_integer(k, "top_k: k")
    if not 1 <= k <= rows.size:
        raise RangeError(f"top_k: k is {k}: give a number from 1 to {rows.size}, the size of the axis")
    results = rows.sorted(selection(rows.size, k), range(k)).arrays(range(k))
    return tuple(results) if values else results[0]


def median(array: Any, axis: int | None = None) -> Any:
    """Return the median along an axis, or of all elements (the default).

    For an even number of elements, the result is the lower one of the middle two. It is always one of the elements.
    Raises as `sort` does.
    """
    rows = _Rows("median", [array], axis)
    middle = (rows.size - 1) // 2
    (result,) = rows.sorted(network(rows.size), [middle]).arrays([middle])
    return result.reshape(rows.outer) if rows.outer else result[(0,) * result.ndim]


def counter(largest: int) -> Any:
    """Return the narrowest of u8, u16, u32 and u64 that holds a number."""
    return uint(next(width for width in (8, 16, 32, 64) if largest < 1 << width))


class _Rows:
    """Arrays of one shape, rearranged so that the axis is the last one: rows of `size` elements, one after the other.

    The first array holds the keys. `outer` is the shape without the axis, and `count` the number of rows.
    """

    def __init__(self, what: str, arrays: Sequence[Any], axis: int | None) -> None:
        from solinas._arrays import typed_array

        columns = [typed_array(array, what) for array in arrays]
        shape = columns[0].shape
        for other in columns[1:]:
            if other.shape != shape:
                raise ShapeError(f"{what} takes arrays of one shape, got {shape} and {other.shape}")
        if not issubclass(columns[0]._kind, Ordered):
            raise TypeMismatchError(
                f"{what} takes integers, got an array of {columns[0]._kind.name}: cast the elements first"
            )
        self.shape, self.axis = shape, axis
        if axis is None:
            self.order, self.outer = list(range(len(shape))), cast(Shape, ())
        else:
            _, self.outer = axis_indices(shape, axis, what)
            self.axis = int(axis) % len(shape)
            self.order = [place for place in range(len(shape)) if place != self.axis] + [self.axis]
        self.count = math.prod(self.outer)
        self.size = math.prod(shape) // self.count
        self.columns = [column.transpose(self.order).ravel() for column in columns]

    def sorted(self, layers: Sequence[Layer], wanted: Iterable[int]) -> _Rows:
        """Apply a network to the keys of every row, as far as the elements at the `wanted` places depend on it."""
        for layer, needed in needed_layers(layers, wanted):
            self._exchange(layer, needed)
        return self

    def _exchange(self, layer: Layer, needed: set[int]) -> None:
        """Apply the comparators of one layer to every row. Only elements at the places `needed` are kept."""
        lows = [k for k, (low, _) in enumerate(layer) if low in needed]
        highs = [k for k, (_, high) in enumerate(layer) if high in needed]
        others = sorted(needed.difference(*layer))
        # The index of the element of each place after the parts are joined. A part holds one piece of every row.
        at, start = [0] * (self.size * self.count), 0
        for places in ([layer[k][0] for k in lows], [layer[k][1] for k in highs], others):
            for row in range(self.count):
                for i, place in enumerate(places):
                    at[row * self.size + place] = start + row * len(places) + i
            start += self.count * len(places)
        swap: Any = None
        for number, column in enumerate(self.columns):
            a, b = (self._part(column, self.size, [pair[side] for pair in layer]) for side in (0, 1))
            swap = b < a if swap is None else swap
            parts = [
                select(*(self._part(x, len(layer), chosen) for x in (swap, first, second)))
                for chosen, first, second in ((lows, b, a), (highs, a, b))
                if chosen
            ]
            if others:
                parts.append(self._part(column, self.size, others))
            self.columns[number] = pool(parts)._take(at, (len(at),))

    def _part(self, column: Any, size: int, places: Sequence[int]) -> Any:
        """Return the elements at some places of each row, in rows of `size` elements."""
        indices = [row * size + place for row in range(self.count) for place in places]
        return column._take(indices, (len(indices),))

    def arrays(self, places: Sequence[int]) -> list[Any]:
        """Return the elements at these places of each row, as arrays in their first order of axes."""
        results = []
        for column in self.columns:
            kept = self._part(column, self.size, places).reshape(*self.outer, len(places))
            back = [self.order.index(place) for place in range(len(self.order))]
            results.append(kept if self.axis is None else kept.transpose(back))
        return results


def pool(sources: Sequence[NdArray]) -> Any:
    """Return one vector of the elements of all arrays, row by row."""
    from solinas._rearrange import pool

    return pool(sources)
