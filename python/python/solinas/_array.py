"""Arrays of fixed length inside programs: a list of values, unrolled when the program is traced."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast, get_args, overload

from solinas._errors import ElementError, ShapeError, TypeMismatchError
from solinas._values import NO_BOOL, Bool, Integer, Modular, UInt, Value, _apply, maximum, minimum, select, uint

T = TypeVar("T", bound=Value)
N = TypeVar("N", bound=int)


@dataclass(frozen=True)
class ArrayType:
    """Type of the arrays of `length` elements of one type."""

    element: type[Value]
    length: int

    def __repr__(self) -> str:
        return f"Array[{self.element.name}, {self.length}]"


class Array(Generic[T, N]):
    """A fixed number of values of one type. `sl.Array[sl.U16, 8]` is the annotation of an array of eight.

    Operators work element by element, with another array of the same length or with a single value. Static type
    checkers want the length as `Literal[8]`, which works too.
    """

    __slots__ = ("_items",)
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    _items: tuple[T, ...]

    def __init__(self, items: Sequence[T]) -> None:
        self._items = tuple(items)
        if not self._items:
            raise ShapeError("an array needs at least one element")
        first = self._items[0]
        for item in self._items:
            if not isinstance(item, Value) or item.name != first.name:
                raise TypeMismatchError(f"the elements of an array have one type: got {first!r} and {item!r}")

    def __class_getitem__(cls, parameters: Any) -> Any:
        match parameters:
            case (element, length):
                pass
            case _:
                raise TypeMismatchError("write the type of an array as sl.Array[sl.U16, 8]: element type and length")
        if isinstance(length, TypeVar) or isinstance(element, TypeVar):
            return super().__class_getitem__(parameters)  # type: ignore[misc]
        literal = get_args(length)
        length = literal[0] if literal else length
        if not (isinstance(element, type) and issubclass(element, Value) and element.width):
            raise TypeMismatchError(f"Array[{element!r}, ..]: the elements' type must be one such as sl.U16")
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise TypeMismatchError(f"Array[{element.name}, {length!r}]: the length must be a positive integer")
        return ArrayType(element, length)

    @property
    def type(self) -> ArrayType:
        """Type of the array."""
        return ArrayType(type(self._items[0]), len(self._items))

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, index: slice) -> Array[T, Any]: ...
    @overload
    def __getitem__(self, index: int | UInt) -> T: ...
    def __getitem__(self, index: Any) -> Any:
        """Give an element, a slice, or the element at an encrypted unsigned index (the last one beyond the end)."""
        if isinstance(index, slice):
            return Array(self._items[index])
        if isinstance(index, Value) and not index.is_plain:
            return self._at(index)
        try:
            return self._items[operator.index(index)]
        except IndexError:
            raise ElementError(f"there is no element {index}: the array has {len(self)}") from None

    def _at(self, index: Value) -> T:
        if not isinstance(index, UInt):
            raise TypeMismatchError(f"an index is unsigned, got {index._describe()}: cast it, as in .cast(sl.U8)")
        element = type(self._items[0])
        if issubclass(element, Modular):
            raise TypeMismatchError(f"an {self.type!r} has no encrypted index: its elements are no bits to select")
        return _apply("index", [index, *self._items], element, f"array[{index._text()}]")

    def __repr__(self) -> str:
        return f"Array({list(self._items)!r})"

    def __bool__(self) -> bool:
        raise TypeMismatchError(NO_BOOL.format(what=f"an {self.type!r}") + "; for the length write len(array) > 0")

    def __contains__(self, value: object) -> bool:
        raise TypeMismatchError("`in` gives a plain bool, which nobody but the client knows: write (array == x).any()")

    # Reductions, as balanced trees.

    def _reduce(self, combine: Callable[[Any, Any], Any], items: Sequence[Any] | None = None) -> Any:
        row = list(self._items if items is None else items)
        while len(row) > 1:
            pairs = [combine(a, b) for a, b in zip(row[::2], row[1::2], strict=False)]
            row = pairs + (row[-1:] if len(row) % 2 else [])
        return row[0]

    def _integers(self, what: str) -> None:
        if not isinstance(self._items[0], Integer):
            raise TypeMismatchError(f"{what} takes integers, got an {self.type!r}: cast the elements first")

    def sum(self) -> T:
        """Add up the elements, wrapping; cast them first where the sum may not fit."""
        if not isinstance(self._items[0], Modular):
            self._integers("sum")
        return _apply("sum", self._items, type(self._items[0]), "array.sum()")

    def max(self) -> T:
        """Give the largest element."""
        self._integers("max")
        return cast(T, self._reduce(maximum))

    def min(self) -> T:
        """Give the smallest element."""
        self._integers("min")
        return cast(T, self._reduce(minimum))

    def argmax(self) -> UInt:
        """Give the index of the largest element, the first of equal ones, as u8 (u16, u32 where longer)."""
        return self._best("argmax", operator.gt)

    def argmin(self) -> UInt:
        """Give the index of the smallest element, the first of equal ones, as u8 (u16, u32 where longer)."""
        return self._best("argmin", operator.lt)

    def _best(self, what: str, better: Callable[[Any, Any], Any]) -> UInt:
        self._integers(what)
        index = uint(next(width for width in (8, 16, 32) if len(self) <= 1 << width))

        def winner(a: tuple[T, UInt], b: tuple[T, UInt]) -> tuple[T, UInt]:
            second = better(b[0], a[0])
            return select(second, b[0], a[0]), select(second, b[1], a[1])

        return cast(UInt, self._reduce(winner, [(item, index(i)) for i, item in enumerate(self._items)])[1])

    def any(self) -> Bool:
        """Tell whether some element of an array of bools holds."""
        return self._logic("any", operator.or_)

    def all(self) -> Bool:
        """Tell whether every element of an array of bools holds."""
        return self._logic("all", operator.and_)

    def _logic(self, what: str, combine: Callable[[Any, Any], Any]) -> Bool:
        if not isinstance(self._items[0], Bool):
            raise TypeMismatchError(f"{what} takes bools, got an {self.type!r}: compare first, as in array != 0")
        return cast(Bool, self._reduce(combine))

    def cast(self, to: builtins.type[Any]) -> Array[Any, N]:
        """Cast every element."""
        return Array([item.cast(to) for item in self._items])

    # Element by element.

    @staticmethod
    def _column(value: Any, length: int) -> Sequence[Any]:
        if isinstance(value, (Array, list, tuple)) or hasattr(value, "__array__"):
            if len(value) != length:
                raise ShapeError(f"arrays of {length} and {len(value)} elements do not go together")
            return list(value)
        return [value] * length

    @staticmethod
    def _zip2(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Array[Any, Any]:
        length = len(a) if isinstance(a, Array) else len(b)
        return Array([function(x, y) for x, y in zip(Array._column(a, length), Array._column(b, length), strict=True)])

    @staticmethod
    def _zip3(function: Callable[[Any, Any, Any], Any], a: Any, b: Any, c: Any) -> Array[Any, Any]:
        length = next(len(x) for x in (a, b, c) if isinstance(x, Array))
        columns = (Array._column(x, length) for x in (a, b, c))
        return Array([function(*row) for row in zip(*columns, strict=True)])

    def __add__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.add, self, other)

    def __radd__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.add, other, self)

    def __sub__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.sub, other, self)

    def __mul__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.mod, other, self)

    def __and__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.and_, self, other)

    def __rand__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.and_, other, self)

    def __or__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.or_, self, other)

    def __ror__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.or_, other, self)

    def __xor__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.xor, self, other)

    def __rxor__(self, other: Any) -> Array[T, N]:
        return Array._zip2(operator.xor, other, self)

    def __lshift__(self, amount: Any) -> Array[T, N]:
        return Array._zip2(operator.lshift, self, amount)

    def __rshift__(self, amount: Any) -> Array[T, N]:
        return Array._zip2(operator.rshift, self, amount)

    def __lt__(self, other: Any) -> Array[Bool, N]:
        return Array._zip2(operator.lt, self, other)

    def __le__(self, other: Any) -> Array[Bool, N]:
        return Array._zip2(operator.le, self, other)

    def __gt__(self, other: Any) -> Array[Bool, N]:
        return Array._zip2(operator.gt, self, other)

    def __ge__(self, other: Any) -> Array[Bool, N]:
        return Array._zip2(operator.ge, self, other)

    def __eq__(self, other: object) -> Array[Bool, N]:  # type: ignore[override]
        return Array._zip2(operator.eq, self, other)

    def __ne__(self, other: object) -> Array[Bool, N]:  # type: ignore[override]
        return Array._zip2(operator.ne, self, other)

    def __neg__(self) -> Array[T, N]:
        return self._map(operator.neg)

    def __invert__(self) -> Array[T, N]:
        return self._map(operator.invert)

    def __abs__(self) -> Array[T, N]:
        return self._map(abs)

    def _map(self, function: Callable[[Any], Any]) -> Array[T, N]:
        return Array([function(item) for item in self._items])
