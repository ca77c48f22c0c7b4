"""Arrays: of separate values (`Array`), and of values in one ciphertext or one expression (`EncryptedArray`)."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, get_args

from solinas._ciphertext import Ciphertext
from solinas._core import Expr
from solinas._data import encode, infer, shorten
from solinas._errors import ShapeError, TypeMismatchError
from solinas._expression import broadcast_to, take
from solinas._fixed import COMPARISONS, bounds
from solinas._reductions import How, Reductions
from solinas._shapes import Shape, broadcast, broadcast_indices, flatten, nest
from solinas._types import MAX_WIDTH, SHIFTS, U8, U16, Modular, type_named
from solinas._values import Bool, Value

T = TypeVar("T", bound=Value)
N = TypeVar("N", bound=int)


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


def from_elements(items: Sequence[Any], shape: Shape) -> Any:
    """Return an array of these elements, row by row. For shape `()` return the single element.

    If an element is encrypted, the result is an EncryptedArray.
    """
    if not shape:
        return items[0]
    exprs = [item._data for item in items if not item.is_plain]
    if exprs and not any(expr.is_traced for expr in exprs):
        return EncryptedArray._make(Expr.stack([item._expr for item in items], shape))
    array: Array[Any, Any] = Array.__new__(Array)
    array._items, array._shape = tuple(items), shape
    return array


def as_array(value: Any) -> Any:
    """Return an array of the values in a nested list or an array, if they are typed; else return the argument."""
    if isinstance(value, (EncryptedArray, Value)):
        return value
    shape, items = flatten(value)
    if shape is None or not items or not any(isinstance(item, Value) and not item.is_plain for item in items):
        return value
    kind = next(type(item) for item in items if isinstance(item, Value) and not item.is_plain)
    made = [item if isinstance(item, Value) else kind._make(encode(kind, item)) for item in items]
    for item in made:
        if item.name != kind.name:
            raise TypeMismatchError(f"the elements of an array must have one type, got {kind.name} and {item.name}")
    return from_elements(made, shape)


def typed_array(value: Any, what: str) -> Any:
    """Return an array, a nested list of typed values or a numpy array as an array of this package.

    Raises TypeMismatchError, which names the caller `what`, if it is none.
    """
    array = as_array(value)
    shape, items = (None, []) if isinstance(array, Reductions) else flatten(array)
    if shape and (kind := infer(array)):
        return from_elements([item if isinstance(item, Value) else kind(item) for item in items], shape)
    if not isinstance(array, Reductions):
        raise TypeMismatchError(f"{what} takes an array, got {shorten(value)}: make one with sl.Array([...])")
    return array


def elementwise(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function of single values to each element of the operands, broadcast to one shape."""
    if any(isinstance(operand, EncryptedArray) for operand in operands):
        return _recorded(function, operands)
    parts = [flatten(operand) for operand in operands]
    shape = broadcast([own or () for own, _ in parts])
    columns = [[items[index] for index in broadcast_indices(own or (), shape)] for own, items in parts]
    results = [function(*row) for row in zip(*columns, strict=True)]
    return from_elements(results, shape)


def _recorded(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Record a function of the elements of encrypted arrays as operations on whole arrays."""
    given = [_array_expr(operand) for operand in operands]
    shape = broadcast([each[0] if isinstance(each, tuple) else each.shape or () for each in given if each is not None])
    kinds = [type_named(each.type) for each in given if isinstance(each, Expr)]
    kinds += [type(operand) for operand in operands if isinstance(operand, Value)]
    kind: type[Value] = next((kind for kind in kinds if kind is not Bool), Bool)
    if function in SHIFTS:
        # Every amount of the width or more gives the same shift.
        kind, most = (U8, U8.MAX) if kind.width <= U8.MAX else (U16, MAX_WIDTH)
        given = [_amounts(each, most) if isinstance(each, tuple) else each for each in given]
    whole = None
    if kind.fraction and function in COMPARISONS.values():
        given, whole = _bounds(function, given, kind)
    parts = [_public_expr(each, kind) if isinstance(each, tuple) else each for each in given]
    # A value whose expression is an array stands for each of its elements.
    arguments = [
        operand if part is None else type_named(part.type)._make(broadcast_to(part, shape))
        for operand, part in zip(operands, parts, strict=True)
    ]
    result = function(*arguments)
    if whole is not None:
        equal = Bool._make(broadcast_to(_public_expr(whole, Bool), shape))
        result = result & equal if function is operator.eq else result | ~equal
    return tuple(map(_wrapped, result)) if isinstance(result, tuple) else _wrapped(result)


def _wrapped(result: Value | EncryptedArray[Any]) -> Any:
    """Return the array of a value that stands for each of its elements. A call of a program is an array already."""
    if isinstance(result, EncryptedArray):
        return result
    if result.is_plain:
        raise TypeMismatchError(
            f"the function returns {result!r}, which is public and the same for all elements: return a value that is "
            "computed from its arguments"
        )
    return Ciphertext._of_expr(result._data)


def _bounds(function: Any, given: Sequence[Any], kind: Any) -> tuple[list[Any], tuple[Shape, list[Any]] | None]:
    """Return the operands of a comparison of fixed-point numbers with the bounds of public numbers in place of these.

    The second result tells which numbers are values of the type, if that matters for the comparison.
    """
    result, whole = list(given), None
    for place, each in enumerate(given):
        if isinstance(each, tuple) and not any(isinstance(item, (Value, bool)) for item in each[1]):
            shape, items = each
            numbers = [kind._number(item) for item in items]
            if None in numbers:
                continue
            values, exact = bounds(kind, function, numbers)
            result[place] = (shape, values)
            if not all(exact) and function in {operator.eq, operator.ne}:
                whole = (shape, exact)
    return result, whole


def _amounts(array: tuple[Shape, list[Any]], most: int) -> tuple[Shape, list[Any]]:
    """Return the public amounts of a shift, of which none is above `most`."""
    shape, items = array
    return shape, [min(item, most) if type(item) is int else item for item in items]


def _array_expr(operand: Any) -> Expr | tuple[Shape, list[Any]] | None:
    """Return the expression of an encrypted array, shape and elements of a public one, or None for a single value."""
    if isinstance(operand, EncryptedArray):
        return operand._data
    if isinstance(operand, Value):
        return None
    shape, items = flatten(operand)
    if shape is None:
        return None
    array = as_array(operand)
    return array._data if isinstance(array, EncryptedArray) else (shape, items)


def _public_expr(array: tuple[Shape, list[Any]], kind: type[Value]) -> Expr:
    """Return public values as an expression. Typed values and bools keep their type; integers take the type `kind`."""
    shape, items = array
    if isinstance(items[0], Value):
        kind = type(items[0])
    elif isinstance(items[0], bool):
        kind = Bool
    return Expr.public([encode(kind, item, "an element of the array") for item in items], kind.name, shape)


def _function(function: Callable[..., Any], kinds: Sequence[type[Value]]) -> Any:
    """Return the program of a function of two elements, which are single values or tuples of values of these types.

    Returns None for a function that uses encrypted values or calls circuits.
    """
    sides = [[Expr.parameter(f"{side}{i}", kind.name) for i, kind in enumerate(kinds)] for side in "ab"]
    pairs = [tuple(kind._make(expr) for kind, expr in zip(kinds, exprs, strict=True)) for exprs in sides]
    joined = function(*pairs) if len(kinds) > 1 else (function(pairs[0][0], pairs[1][0]),)
    inputs, outputs = [*sides[0], *sides[1]], [value._expr for value in joined]
    if Expr.foreign(inputs, outputs) is not None:
        return None
    return Expr.freeze(inputs, outputs, [f"y{i}" for i in range(len(outputs))])[1]


class Array(Reductions[T], Generic[T, N]):
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
        return ArrayType(self._kind, *self._shape)

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
        return from_elements([self._items[index] for index in indices], shape)

    @staticmethod
    def _from_elements(items: Sequence[Any], shape: Shape) -> Any:
        return from_elements(items, shape)

    @staticmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        return elementwise(function, *operands)

    def __repr__(self) -> str:
        return f"Array({nest(self._shape, self._items)!r})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not all(item.is_plain for item in self._items):
            return super().__array__()
        import numpy as np

        return np.array([item.decode(item._data) for item in self._items], dtype or self.dtype).reshape(self._shape)

    if TYPE_CHECKING:
        # The types of comparisons; the base class declares them as Any.
        __hash__ = None  # type: ignore[assignment]

        def __lt__(self, other: Any) -> Array[Bool, N]: ...
        def __le__(self, other: Any) -> Array[Bool, N]: ...
        def __gt__(self, other: Any) -> Array[Bool, N]: ...
        def __ge__(self, other: Any) -> Array[Bool, N]: ...
        def __eq__(self, other: object) -> Array[Bool, N]: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Array[Bool, N]: ...  # type: ignore[override]


class EncryptedArray(Reductions[T], Ciphertext):
    """An encrypted array, or an operation on encrypted arrays that a server has not computed yet.

    It has the operators, methods and indexing of numpy's arrays, and numpy's functions take it. Operators and methods
    record an operation; `Server.run` computes what is recorded. The other operand is an encrypted array, a public array
    or a single value. Shapes broadcast. Indexing, `reshape` and other methods that only move elements need no server.

    One ciphertext holds many integers modulo a number. Arrays of them have operators, `sum`, `dot` and `rotate`, but
    their elements cannot be separated.
    """

    __slots__ = ("_data",)

    _data: Expr

    def __init__(self) -> None:
        raise TypeError("an encrypted array cannot be constructed: call ClientKey.encrypt or EncryptedArray.stack")

    @classmethod
    def _make(cls, expr: Expr) -> Self:
        array = cls.__new__(cls)
        array._data = expr
        return array

    @property
    def type(self) -> builtins.type[T]:
        """The type of each element."""
        return type_named(self._data.type)  # type: ignore[return-value]

    @property
    def shape(self) -> Shape:
        """The size of each dimension, outermost first."""
        return self._data.shape or ()

    @property
    def _kind(self) -> builtins.type[Value]:
        return self.type

    @property
    def _is_packed(self) -> bool:
        return self._data.type.startswith("mod")

    def _elements(self) -> list[Any]:
        kind = self.type
        return [kind._make(take(self._data, [index], ())) for index in range(self.size)]

    def _take(self, indices: list[int], shape: Shape) -> Any:
        return self._of_expr(take(self._data, indices, shape))

    @staticmethod
    def _from_elements(items: Sequence[Any], shape: Shape) -> Any:
        return from_elements(items, shape)

    @staticmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        return elementwise(function, *operands)

    def _folded(self, how: How, axes: int, shape: Shape, index: Any) -> Any:
        arrays, kinds = [self._data], [self.type]
        if index is not None:
            count = math.prod(self.shape[self.ndim - axes :])
            arrays.append(Expr.public(list(range(count)) * (self.size // count), index.name, self.shape))
            kinds.append(index)
        recorded = how if isinstance(how, str) else _function(how, kinds)
        if recorded is None:
            return super()._folded(how, axes, shape, index)
        combined = Expr.reduce(recorded, arrays, axes)
        return self._of_expr(take(combined, list(range(math.prod(shape))), shape))

    @staticmethod
    def stack(items: Sequence[Any]) -> EncryptedArray[Any]:
        """Return one vector of encrypted values and of the elements of encrypted arrays, row by row.

        The items must have one type and one key.
        """
        exprs = []
        for item in items:
            for part in item._elements() if isinstance(item, Array) else [item]:
                if not isinstance(part, (Value, EncryptedArray)):
                    raise TypeMismatchError(f"stack takes encrypted values and arrays, got {item!r}")
                exprs.append(part._data if isinstance(part, EncryptedArray) else part._expr)
        if not exprs or all(isinstance(item, Value) and item.is_plain for item in items):
            raise TypeMismatchError("stack takes a list of one or more encrypted values")
        for expr in exprs:
            if expr.type != exprs[0].type:
                raise TypeMismatchError(f"stack takes values of one type, got {exprs[0].type} and {expr.type}")
        return EncryptedArray._make(Expr.stack(exprs, (sum(math.prod(expr.shape or ()) for expr in exprs),)))

    def rotate(self, by: int) -> Self:
        """Rotate the elements `by` positions to the left, as `np.roll(x, -by)` does.

        Raises TypeMismatchError unless the elements are integers modulo a number.
        """
        if not issubclass(self.type, Modular):
            raise TypeMismatchError(
                f"rotate takes integers modulo a number (scheme bgv or ntru), got {self!r}: write np.roll(x, -by)"
            )
        rotated: Self = elementwise(lambda x: x.rotate(by), self)
        return rotated

    def __repr__(self) -> str:
        return f"<encrypted array of {self._data.type}, shape {self.shape}, {self._state()}>"

    if TYPE_CHECKING:
        __hash__ = None  # type: ignore[assignment]

        def __lt__(self, other: Any) -> EncryptedArray[Bool]: ...
        def __le__(self, other: Any) -> EncryptedArray[Bool]: ...
        def __gt__(self, other: Any) -> EncryptedArray[Bool]: ...
        def __ge__(self, other: Any) -> EncryptedArray[Bool]: ...
        def __eq__(self, other: object) -> EncryptedArray[Bool]: ...  # type: ignore[override]
        def __ne__(self, other: object) -> EncryptedArray[Bool]: ...  # type: ignore[override]
