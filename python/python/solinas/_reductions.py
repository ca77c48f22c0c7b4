"""Sums, products, extremes and matrix products of arrays."""

from __future__ import annotations

import builtins
import inspect
import itertools
import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Self, TypeVar, cast, overload

from solinas._elementwise import Elementwise
from solinas._errors import ShapeError, TypeMismatchError
from solinas._functions import maximum, minimum, select
from solinas._integers import IntegerFunctions
from solinas._promotion import check_public
from solinas._shapes import NdArray, Shape, axes_of, axis_indices, flatten, public_integer
from solinas._sorting import argsort, counter, sort
from solinas._types import Int, Integer, Modular, Ordered, UInt, int_, uint
from solinas._values import Bool, Value, _apply

T = TypeVar("T", bound=Value)

Axis = int | Sequence[int] | None

# What combines two elements, by the name of a reduction. A sum adds all elements at once.
COMBINED = {"prod": operator.mul, "min": minimum, "max": maximum, "and": operator.and_, "or": operator.or_}
# The name of a reduction, or a function of two elements.
How = str | Callable[[Any, Any], Any]


class Reductions(IntegerFunctions[Any], Elementwise, Generic[T]):
    """An array with numpy's methods that combine elements."""

    __slots__ = ()

    @staticmethod
    @abstractmethod
    def _from_elements(items: Sequence[Any], shape: Shape) -> Any:
        """Return an array of these elements, row by row. For shape `()` return the single element."""

    def _named(self, op: str, *others: Any, to_bool: bool = False) -> Any:
        if not issubclass(self._kind, Integer):
            raise TypeMismatchError(f".{op} takes integers, got an array of {self._kind.name}")
        return self._elementwise(lambda x, *rest: x._named(op, *rest, to_bool=to_bool), self, *others)

    def __iter__(self) -> Iterator[T]:
        return cast(Iterator[T], super().__iter__())

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int | UInt) -> T: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """Return an element or a part of the array.

        A public index has any form that numpy accepts. An encrypted index selects along the first axis. A negative one
        counts from the end. One that is out of bounds selects the last element.
        """
        if isinstance(index, Value) and not index.is_plain:
            return self._at(index)
        return super().__getitem__(int(index) if isinstance(index, Value) else index)

    def _at(self, index: Value) -> Any:
        if isinstance(index, Int):
            size = self.shape[0]
            # The sum fits, whatever the width of the index.
            wide = int_(max(index.width, size.bit_length() + 1))
            number = index.cast(wide)
            return self._at(select(number < 0, number + size, number).cast(uint(wide.width)))
        if not isinstance(index, UInt):
            raise TypeMismatchError(f"an encrypted index must be an integer, got {index._describe()}")
        if issubclass(self._kind, Modular):
            raise TypeMismatchError(
                f"an array of {self._kind.name} cannot be indexed by an encrypted value: give a public index"
            )
        elements, columns = self._elements(), math.prod(self.shape[1:])
        chosen = [
            _apply("index", [index, *elements[column::columns]], self._kind, f"array[{index._text()}]")
            for column in range(columns)
        ]
        return self._from_elements(chosen, self.shape[1:])

    # Reductions. One of an encrypted array is an operation of its program; others combine elements in a balanced tree.

    def _along(self, what: str, how: How, axis: Axis, keepdims: bool, *, numbered: bool = False) -> Any:
        """Reduce the elements along one axis, several axes, or all axes (None).

        If `numbered` is true, `how` takes and returns pairs of an element and its index in the row, and the result has
        the indices.
        """
        axes = [public_integer(a, f"{what}: axis") for a in axes_of(axis, self.ndim)]
        if len({a % self.ndim for a in axes}) != len(axes) or not axes:
            raise ShapeError(f"{what}: {axis!r} does not name different axes of an array of {self.ndim} dimensions")
        kept = [axis_indices(self.shape, a, what) and a % self.ndim for a in axes]
        if self._is_packed:
            raise TypeMismatchError(
                f"an array of {self._kind.name} shares ciphertexts among its elements: {what} along an axis takes rows "
                "that were encrypted each by itself, as in [row.sum() for row in rows]; x.sum() adds all elements"
            )
        rest = [a for a in range(self.ndim) if a not in kept]
        array = self.transpose(rest + kept) if rest else self
        count = math.prod(self.shape[a] for a in kept)
        index = counter(count - 1) if numbered else None
        shape = tuple(1 if a in kept else size for a, size in enumerate(self.shape) if keepdims or a not in kept)
        if count > 1:
            return array._folded(how, len(kept), shape, index)
        only = array.reshape(shape)
        # The index of the only element depends on the element, so that a server can compute it.
        return only.cast(index) & 0 if numbered else only

    def _folded(self, how: How, axes: int, shape: Shape, index: Any) -> Any:
        """Combine the elements along the last axes, and return the results in this shape.

        If there is a type of an `index`, elements are pairs with their indices, and the results are the indices.
        """
        items, count = self._elements(), math.prod(self.shape[self.ndim - axes :])
        if index is not None:
            items = [(item, index(place % count)) for place, item in enumerate(items)]
        values = [combined(how, items[at : at + count]) for at in range(0, len(items), count)]
        return self._from_elements(values if index is None else [place for _, place in values], shape)

    def _integers(self, what: str) -> None:
        if issubclass(self._kind, Modular):
            raise TypeMismatchError(
                f"{what} takes integers, got an array of {self._kind.name}: integers modulo a number cannot be "
                "compared; encrypt them as integers such as sl.U32, under a key that holds bits"
            )
        if not issubclass(self._kind, Ordered):
            raise TypeMismatchError(
                f"{what} takes integers, got an array of {self._kind.name}: cast the elements first"
            )

    def reduce(self, function: Callable[[T, T], T], axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Combine the elements along one axis, several axes, or all axes (the default), by a function of two values.

        The function is a program or a Python function. It takes two elements and returns a value of their type, and it
        is associative: f(f(a, b), c) is f(a, f(b, c)). The order of the elements is kept. Raises TypeMismatchError if
        the function does not take two values, or if its result has another type.
        """
        _check_takes_two(function)

        def combine(a: Any, b: Any) -> Any:
            joined = function(a, b)
            if type(joined) is not self._kind:
                got = getattr(joined, "name", type(joined).__name__)
                raise TypeMismatchError(
                    f"reduce takes a function of two {self._kind.name} that returns {self._kind.name}, got {got}: "
                    "cast its result, or the elements before"
                )
            return joined

        return self._along("reduce", combine, axis, keepdims)

    @overload
    def sum(self, axis: None = None) -> T: ...
    @overload
    def sum(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def sum(self, axis: int | Sequence[int]) -> Any: ...
    def sum(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Add the elements along one axis, several axes, or all axes (the default).

        A sum wraps in the type of the elements: if it may not fit, cast them to a wider type first. The sum of bools is
        the number of true elements, as `u8`, or as `u16` or `u32` in longer arrays.
        """
        if self._is_packed and not keepdims and (axis is None or (self.ndim == 1 and axis in (0, -1))):
            return self._elementwise(lambda x: x.sum(), self)
        if self._kind is Bool:
            return self.cast(counter(self.size)).sum(axis, keepdims=keepdims)
        if not issubclass(self._kind, Modular):
            self._integers("sum")
        return self._along("sum", "sum", axis, keepdims)

    def widening_sum(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Add the elements along one axis, several axes, or all axes (the default), in a type that holds every sum.

        The type has ceil(log2(n)) more bits than the elements for a sum of n elements, as in `u18` for four `u16`. The
        sum of bools is the number of true elements. Raises RangeError if there is no type of so many bits.
        """
        if self._kind is Bool:
            return self.sum(axis, keepdims=keepdims)
        self._integers("widening_sum")
        axes = [public_integer(a, "widening_sum: axis") for a in axes_of(axis, self.ndim)]
        bits = (math.prod(self.shape[a] for a in axes if -self.ndim <= a < self.ndim) - 1).bit_length()
        return self.cast(widened(self._kind, bits)).sum(axis, keepdims=keepdims)

    @overload
    def prod(self, axis: None = None) -> T: ...
    @overload
    def prod(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def prod(self, axis: int | Sequence[int]) -> Any: ...
    def prod(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Multiply the elements along one axis, several axes, or all axes (the default).

        A product wraps in the type of the elements: if it may not fit, cast them to a wider type first.
        """
        if not issubclass(self._kind, Modular):
            self._integers("prod")
        return self._along("prod", operator.mul if self._kind.fraction else "prod", axis, keepdims)

    @overload
    def max(self, axis: None = None) -> T: ...
    @overload
    def max(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def max(self, axis: int | Sequence[int]) -> Any: ...
    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the largest element along one axis, several axes, or all axes (the default)."""
        self._integers("max")
        return self._along("max", "max", axis, keepdims)

    @overload
    def min(self, axis: None = None) -> T: ...
    @overload
    def min(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def min(self, axis: int | Sequence[int]) -> Any: ...
    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the smallest element along one axis, several axes, or all axes (the default)."""
        self._integers("min")
        return self._along("min", "min", axis, keepdims)

    @overload
    def argmax(self, axis: None = None) -> UInt: ...
    @overload
    def argmax(self, axis: int | None = None, *, keepdims: bool) -> Any: ...
    @overload
    def argmax(self, axis: int) -> Any: ...
    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index of the largest element along an axis, or row by row in the whole array (the default).

        If several elements are equal, the index is that of the first. Its type is `u8`, or `u16` or `u32` in longer
        arrays.
        """
        return self._best("argmax", operator.gt, axis, keepdims)

    @overload
    def argmin(self, axis: None = None) -> UInt: ...
    @overload
    def argmin(self, axis: int | None = None, *, keepdims: bool) -> Any: ...
    @overload
    def argmin(self, axis: int) -> Any: ...
    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index of the smallest element along an axis, or row by row in the whole array (the default).

        If several elements are equal, the index is that of the first. Its type is `u8`, or `u16` or `u32` in longer
        arrays.
        """
        return self._best("argmin", operator.lt, axis, keepdims)

    def _best(self, what: str, better: Callable[[Any, Any], Any], axis: int | None, keepdims: bool) -> Any:
        self._integers(what)
        axis = None if axis is None else public_integer(axis, f"{what}: axis")

        def winner(a: tuple[T, UInt], b: tuple[T, UInt]) -> tuple[T, UInt]:
            second = better(b[0], a[0])
            return select(second, b[0], a[0]), select(second, b[1], a[1])

        return self._along(what, winner, axis, keepdims, numbered=True)

    @overload
    def any(self, axis: None = None) -> Bool: ...
    @overload
    def any(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def any(self, axis: int | Sequence[int]) -> Any: ...
    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether any bool is true, along one axis, several axes, or all axes (the default)."""
        return self._logic("any", "or", axis, keepdims)

    @overload
    def all(self, axis: None = None) -> Bool: ...
    @overload
    def all(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def all(self, axis: int | Sequence[int]) -> Any: ...
    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether every bool is true, along one axis, several axes, or all axes (the default)."""
        return self._logic("all", "and", axis, keepdims)

    def _logic(self, what: str, how: str, axis: Axis, keepdims: bool) -> Any:
        if self._kind is not Bool:
            raise TypeMismatchError(
                f"{what} takes bools, got an array of {self._kind.name}: compare first, as in array != 0"
            )
        return self._along(what, how, axis, keepdims)

    def cumsum(self, axis: int | None = None) -> Self:
        """Return the running sums along an axis, or of all elements row by row if no axis is given. Sums wrap."""
        array = self.ravel() if axis is None else self
        indices, _ = axis_indices(array.shape, 0 if axis is None else axis, "cumsum")
        sums = array._elements()
        for line in indices:
            for before, index in itertools.pairwise(line):
                sums[index] = sums[before] + sums[index]
        return cast(Self, self._from_elements(sums, array.shape))

    def cast(self, to: builtins.type[Any]) -> Any:
        """Cast every element to another type."""
        return self._elementwise(lambda x: x.cast(to), self)

    def view(self, to: builtins.type[Any]) -> Any:
        """Return the stored integers as elements of another type that is stored as the same integer."""
        return self._elementwise(lambda x: x.view(to), self)

    def sort(self, axis: int | None = -1) -> Self:
        """Return the elements in ascending order along an axis, as `sl.sort` does. The array itself does not change."""
        return sort(self, axis=axis)

    def argsort(self, axis: int | None = -1) -> Any:
        """Return the indices that sort the array along an axis, as `sl.argsort` does."""
        return argsort(self, axis)

    def select(self, a: Any, b: Any) -> Any:
        """Return `a` where this array of bools is true, else `b`, element by element, as `sl.select` does."""
        return self._elementwise(select, self, a, b)

    # Products of vectors and matrices.

    def dot(self, other: Any) -> Any:
        """Return the dot product of two vectors or the product of two matrices, as `@` does.

        The other operand may be public. A single value multiplies every element.
        """
        if isinstance(other, NdArray) or flatten(other)[0]:
            return self @ other
        # In slots the products with a single value are added too, as in a program.
        return self._elementwise(lambda x: x.dot(other), self) if self._is_packed else self * other

    def __matmul__(self, other: Any) -> Any:
        check_public((self, other))
        return self._matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        check_public((self, other))
        return self._matmul(other, self)

    def _matmul(self, a: Any, b: Any) -> Any:
        shapes = [x.shape if isinstance(x, NdArray) else flatten(x)[0] for x in (a, b)]
        left, right = shapes
        if self._is_packed and left == right and len(left or ()) == 1:
            return self._elementwise(lambda x, y: x.dot(y), a, b)
        if self._is_packed:
            raise TypeMismatchError(
                f"an array of {self._kind.name} shares ciphertexts among its elements, so that @ takes two vectors of "
                "one length: multiply each row by itself, as in [x.dot(row) for row in matrix]"
            )
        if not issubclass(self._kind, Modular):
            self._integers("@")
        if len(left or ()) not in {1, 2} or len(right or ()) not in {1, 2}:
            raise ShapeError(
                f"@ takes vectors and matrices, got shapes {left} and {right}: multiply one part at a time"
            )
        assert left is not None
        assert right is not None
        size, width = left[-1], math.prod(right[1:])
        if right[0] != size:
            raise ShapeError(f"@ does not take shapes {left} and {right}: {size} and {right[0]} must be equal")
        (_, rows), (_, columns) = flatten(a), flatten(b)
        products = [
            total([x * y for x, y in zip(rows[at : at + size], columns[column::width], strict=True)])
            for at in range(0, len(rows), size)
            for column in range(width)
        ]
        return self._from_elements(products, left[:-1] + right[1:])


def combined(how: How, row: list[Any]) -> Any:
    """Combine the elements of a row."""
    if how == "sum":
        return total(row)
    combine = COMBINED[how] if isinstance(how, str) else how
    while len(row) > 1:
        pairs = [combine(a, b) for a, b in zip(row[::2], row[1::2], strict=False)]
        row = pairs + (row[-1:] if len(row) % 2 else [])
    return row[0]


def _check_takes_two(function: Any) -> None:
    """Check that a function takes two values, as far as Python knows its signature. Raises TypeMismatchError."""
    if not callable(function):
        raise TypeMismatchError(f"reduce takes a function of two values, got {function!r}")
    try:
        signature = inspect.signature(function)
    except ValueError:
        # Some functions that are written in C have no signature.
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise TypeMismatchError(
            f"reduce takes a function of two values, got one that takes {signature}: {error}"
        ) from None


def widened(kind: Any, bits: int) -> Any:
    """Return the type of an integer or a fixed-point number with more bits before the point."""
    if kind.name.startswith("fixed"):
        from solinas._fixed import fixed

        return fixed(kind.width + bits, kind.fraction)
    return (int_ if kind.signed else uint)(kind.width + bits)


def total(items: list[Any]) -> Any:
    """Return the sum of values of one type, or of arrays of them, element by element."""
    if any(isinstance(item, Elementwise) for item in items):
        array = next(item for item in items if isinstance(item, Elementwise))
        return array._elementwise(lambda *values: total(list(values)), *items)
    return _apply("sum", items, type(items[0]), "array.sum()")
