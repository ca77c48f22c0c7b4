"""Arrays of values in programs. Tracing a program unrolls each array operation into operations on elements."""

from __future__ import annotations

import builtins
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, cast, get_args, overload

from solinas._errors import ShapeError, TypeMismatchError
from solinas._functions import maximum, minimum, select
from solinas._integers import Integer, Modular, UInt, uint
from solinas._operators import Elementwise
from solinas._shapes import NdArray, Shape, axis_indices, broadcast, broadcast_indices, flatten, nest, resolve_index
from solinas._values import Bool, Value, _apply

T = TypeVar("T", bound=Value)
N = TypeVar("N", bound=int)

Axis = int | Sequence[int] | None


class ArrayType:
    """The type of an array: an element type and a shape."""

    __slots__ = ("element", "shape")

    def __init__(self, element: type[Value], *shape: int) -> None:
        self.element = element
        self.shape = shape

    @property
    def length(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ArrayType):
            return NotImplemented
        return (self.element.name, self.shape) == (other.element.name, other.shape)

    def __hash__(self) -> int:
        return hash((self.element.name, self.shape))

    def __repr__(self) -> str:
        return f"Array[{', '.join([self.element.name, *map(str, self.shape)])}]"


class Array(Elementwise, Generic[T, N]):
    """An array of values of one type, with a fixed shape.

    `sl.Array[sl.U16, 8]` annotates a vector of eight elements. `sl.Array[sl.U16, 2, 3]` annotates a matrix of two rows
    and three columns. Operators work element by element and broadcast as in numpy. The other operand is an array, which
    may be public, or a single value. Static type checkers need the length as `Literal[8]`, which is valid at run time
    too.
    """

    __slots__ = ("_items", "_shape")

    _items: tuple[T, ...]
    _shape: Shape

    def __init__(self, items: Sequence[T] | Sequence[Array[T, Any]]) -> None:
        shape, values = flatten(list(items))
        if not values:
            raise ShapeError("an array needs at least one element")
        first = values[0]
        for item in values:
            if not isinstance(item, Value) or not isinstance(first, Value) or item.name != first.name:
                raise TypeMismatchError(
                    f"the elements of an array must have one type, got {first!r} and {item!r}: cast one of them"
                )
        self._items, self._shape = tuple(values), shape or ()

    @classmethod
    def _from_elements(cls, items: Sequence[Any], shape: Shape) -> Any:
        """Return an array of these elements, row by row. For shape `()` return the single element."""
        if not shape:
            return items[0]
        array = cls.__new__(cls)
        array._items, array._shape = tuple(items), shape
        return array

    def __class_getitem__(cls, parameters: Any) -> Any:
        match parameters:
            case (element, *lengths) if lengths:
                pass
            case _:
                raise TypeMismatchError(
                    "an array type needs an element type and a length: write it as sl.Array[sl.U16, 8]"
                )
        if any(isinstance(parameter, TypeVar) for parameter in parameters):
            return super().__class_getitem__(parameters)  # type: ignore[misc]
        if not (isinstance(element, type) and issubclass(element, Value) and element.width):
            raise TypeMismatchError(
                f"Array[{element!r}, ..]: the first parameter must be an element type such as sl.U16"
            )
        sizes = [literal[0] if (literal := get_args(length)) else length for length in lengths]
        for size in sizes:
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise TypeMismatchError(f"Array[{element.name}, {size!r}]: the length must be a positive integer")
        return ArrayType(element, *sizes)

    @property
    def type(self) -> ArrayType:
        """The type of the array."""
        return ArrayType(type(self._items[0]), *self._shape)

    @property
    def shape(self) -> Shape:
        """The size of each dimension, outermost first."""
        return self._shape

    @property
    def _kind(self) -> builtins.type[Value]:
        return type(self._items[0])

    def _elements(self) -> list[Any]:
        return list(self._items)

    def _take(self, indices: list[int], shape: Shape) -> Any:
        return self._from_elements([self._items[index] for index in indices], shape)

    def __iter__(self) -> Iterator[T]:
        return cast(Iterator[T], super().__iter__())

    @overload
    def __getitem__(self, index: slice) -> Array[T, Any]: ...
    @overload
    def __getitem__(self, index: int | UInt) -> T: ...
    @overload
    def __getitem__(self, index: Any) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        """Return an element or a part of the array.

        A public index has any form that numpy accepts. An encrypted index is unsigned and selects along the first axis;
        if it is past the end, it selects the last element.
        """
        if isinstance(index, Value) and not index.is_plain:
            return self._at(index)
        return self._part(*resolve_index(self._shape, int(index) if isinstance(index, Value) else index))

    def _at(self, index: Value) -> Any:
        if not isinstance(index, UInt):
            raise TypeMismatchError(
                f"an encrypted index must be unsigned, got {index._describe()}: cast it, as in .cast(sl.U8)"
            )
        if self.ndim != 1:
            rows = [self[row] for row in range(len(self))]
            columns = zip(*(cast("Array[Any, Any]", row)._items for row in rows), strict=True)
            return self._from_elements([Array(column)._at(index) for column in columns], self._shape[1:])
        element = type(self._items[0])
        if issubclass(element, Modular):
            raise TypeMismatchError(f"{self.type!r} cannot be indexed by an encrypted value: give a public index")
        return _apply("index", [index, *self._items], element, f"array[{index._text()}]")

    def __repr__(self) -> str:
        return f"Array({nest(self._shape, self._items)!r})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not all(item.is_plain for item in self._items):
            return super().__array__()
        import numpy as np

        return np.array([item.decode(item._data) for item in self._items], dtype or self.dtype).reshape(self._shape)

    # Reductions. Each combines the elements in a balanced tree.

    @staticmethod
    def _reduce(combine: Callable[[Any, Any], Any], items: Sequence[Any]) -> Any:
        row = list(items)
        while len(row) > 1:
            pairs = [combine(a, b) for a, b in zip(row[::2], row[1::2], strict=False)]
            row = pairs + (row[-1:] if len(row) % 2 else [])
        return row[0]

    def _along(self, what: str, reduce: Callable[[list[Any]], Any], axis: Axis, keepdims: bool) -> Any:
        """Reduce the elements along one axis, several axes, or all axes (None)."""
        axes = list(range(self.ndim)) if axis is None else list(axis) if isinstance(axis, Sequence) else [axis]
        if len({a % self.ndim for a in axes}) != len(axes) or not axes:
            raise ShapeError(f"{what}: {axis!r} does not name different axes of an array of {self.ndim} dimensions")
        kept = [axis_indices(self._shape, a, what) and a % self.ndim for a in axes]
        rest = [a for a in range(self.ndim) if a not in kept]
        moved: Array[Any, Any] = self.transpose(rest + kept) if rest else self
        count = math.prod(self._shape[a] for a in kept)
        values = [reduce(list(moved._items[i : i + count])) for i in range(0, self.size, count)]
        sizes = tuple(1 if a in kept else size for a, size in enumerate(self._shape))
        return self._from_elements(values, sizes if keepdims else tuple(self._shape[a] for a in rest))

    def _integers(self, what: str) -> None:
        if not isinstance(self._items[0], Integer):
            raise TypeMismatchError(f"{what} takes integers, got an {self.type!r}: cast the elements first")

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
        if isinstance(self._items[0], Bool):
            return self.cast(_counter(self.size)).sum(axis, keepdims=keepdims)
        if not isinstance(self._items[0], Modular):
            self._integers("sum")
        return self._along("sum", _total, axis, keepdims)

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
        if not isinstance(self._items[0], Modular):
            self._integers("prod")
        return self._along("prod", lambda row: self._reduce(operator.mul, row), axis, keepdims)

    @overload
    def max(self, axis: None = None) -> T: ...
    @overload
    def max(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def max(self, axis: int | Sequence[int]) -> Any: ...
    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the largest element along one axis, several axes, or all axes (the default)."""
        self._integers("max")
        return self._along("max", lambda row: self._reduce(maximum, row), axis, keepdims)

    @overload
    def min(self, axis: None = None) -> T: ...
    @overload
    def min(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def min(self, axis: int | Sequence[int]) -> Any: ...
    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the smallest element along one axis, several axes, or all axes (the default)."""
        self._integers("min")
        return self._along("min", lambda row: self._reduce(minimum, row), axis, keepdims)

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

        def winner(a: tuple[T, UInt], b: tuple[T, UInt]) -> tuple[T, UInt]:
            second = better(b[0], a[0])
            return select(second, b[0], a[0]), select(second, b[1], a[1])

        def best(row: list[Any]) -> UInt:
            index = _counter(len(row) - 1)
            return cast(UInt, self._reduce(winner, [(item, index(i)) for i, item in enumerate(row)])[1])

        return self._along(what, best, axis, keepdims)

    @overload
    def any(self, axis: None = None) -> Bool: ...
    @overload
    def any(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def any(self, axis: int | Sequence[int]) -> Any: ...
    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether any bool is true, along one axis, several axes, or all axes (the default)."""
        return self._logic("any", operator.or_, axis, keepdims)

    @overload
    def all(self, axis: None = None) -> Bool: ...
    @overload
    def all(self, axis: Axis = None, *, keepdims: bool) -> Any: ...
    @overload
    def all(self, axis: int | Sequence[int]) -> Any: ...
    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether every bool is true, along one axis, several axes, or all axes (the default)."""
        return self._logic("all", operator.and_, axis, keepdims)

    def _logic(self, what: str, combine: Callable[[Any, Any], Any], axis: Axis, keepdims: bool) -> Any:
        if not isinstance(self._items[0], Bool):
            raise TypeMismatchError(f"{what} takes bools, got an {self.type!r}: compare first, as in array != 0")
        return self._along(what, lambda row: self._reduce(combine, row), axis, keepdims)

    def cumsum(self, axis: int | None = None) -> Self:
        """Return the running sums along an axis, or of all elements row by row if no axis is given. Sums wrap."""
        array: Any = self.ravel() if axis is None else self
        indices, _ = axis_indices(array.shape, 0 if axis is None else axis, "cumsum")
        sums = list(array._items)
        for line in indices:
            for before, index in itertools.pairwise(line):
                sums[index] = sums[before] + sums[index]
        return cast(Self, self._from_elements(sums, array.shape))

    def cast(self, to: builtins.type[Any]) -> Array[Any, N]:
        """Cast every element to another type."""
        return cast("Array[Any, N]", self._from_elements([item.cast(to) for item in self._items], self._shape))

    # Products of vectors and matrices.

    def dot(self, other: Any) -> Any:
        """Return the dot product of two vectors or the product of two matrices, as `@` does.

        The other operand may be public. A single value multiplies every element.
        """
        return self @ other if isinstance(other, NdArray) or flatten(other)[0] else self * other

    def __matmul__(self, other: Any) -> Any:
        return self._matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._matmul(other, self)

    @staticmethod
    def _matmul(a: Any, b: Any) -> Any:
        if any(isinstance(x, NdArray) and not isinstance(x, Array) for x in (a, b)):
            return NotImplemented
        (left, rows), (right, columns) = flatten(a), flatten(b)
        for x in (a, b):
            if isinstance(x, Array) and not isinstance(x._items[0], Modular):
                x._integers("@")
        if len(left or ()) not in {1, 2} or len(right or ()) not in {1, 2}:
            raise ShapeError(
                f"@ takes vectors and matrices, got shapes {left} and {right}: multiply one part at a time"
            )
        assert left is not None
        assert right is not None
        size, width = left[-1], math.prod(right[1:])
        if right[0] != size:
            raise ShapeError(f"@ does not take shapes {left} and {right}: {size} and {right[0]} must be equal")
        products = [
            _total([x * y for x, y in zip(rows[at : at + size], columns[column::width], strict=True)])
            for at in range(0, len(rows), size)
            for column in range(width)
        ]
        return Array._from_elements(products, left[:-1] + right[1:])

    if TYPE_CHECKING:
        # The result types of the operators; the base class declares them as Any.
        __hash__ = None

        def __add__(self, other: Any) -> Array[T, N]: ...
        def __radd__(self, other: Any) -> Array[T, N]: ...
        def __sub__(self, other: Any) -> Array[T, N]: ...
        def __rsub__(self, other: Any) -> Array[T, N]: ...
        def __mul__(self, other: Any) -> Array[T, N]: ...
        def __rmul__(self, other: Any) -> Array[T, N]: ...
        def __floordiv__(self, other: Any) -> Array[T, N]: ...
        def __rfloordiv__(self, other: Any) -> Array[T, N]: ...
        def __mod__(self, other: Any) -> Array[T, N]: ...
        def __rmod__(self, other: Any) -> Array[T, N]: ...
        def __and__(self, other: Any) -> Array[T, N]: ...
        def __rand__(self, other: Any) -> Array[T, N]: ...
        def __or__(self, other: Any) -> Array[T, N]: ...
        def __ror__(self, other: Any) -> Array[T, N]: ...
        def __xor__(self, other: Any) -> Array[T, N]: ...
        def __rxor__(self, other: Any) -> Array[T, N]: ...
        def __lshift__(self, amount: Any) -> Array[T, N]: ...
        def __rshift__(self, amount: Any) -> Array[T, N]: ...
        def __pow__(self, exponent: Any) -> Array[T, N]: ...
        def __lt__(self, other: Any) -> Array[Bool, N]: ...
        def __le__(self, other: Any) -> Array[Bool, N]: ...
        def __gt__(self, other: Any) -> Array[Bool, N]: ...
        def __ge__(self, other: Any) -> Array[Bool, N]: ...
        def __eq__(self, other: object) -> Array[Bool, N]: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Array[Bool, N]: ...  # type: ignore[override]
        def __neg__(self) -> Array[T, N]: ...
        def __pos__(self) -> Array[T, N]: ...
        def __invert__(self) -> Array[T, N]: ...
        def __abs__(self) -> Array[T, N]: ...

    @staticmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        if any(isinstance(operand, NdArray) and not isinstance(operand, Array) for operand in operands):
            return NotImplemented
        parts = [flatten(operand) for operand in operands]
        shape = broadcast([own or () for own, _ in parts])
        columns = [[items[index] for index in broadcast_indices(own or (), shape)] for own, items in parts]
        return cast(
            "Array[Any, Any]", Array._from_elements([function(*row) for row in zip(*columns, strict=True)], shape)
        )


def _total(items: list[Any]) -> Any:
    """Return the sum of values of one type."""
    return _apply("sum", items, type(items[0]), "array.sum()")


def _counter(largest: int) -> type[UInt]:
    """Return the narrowest of u8, u16, u32 and u64 that holds a number."""
    return uint(next(width for width in (8, 16, 32, 64) if largest < 1 << width))
