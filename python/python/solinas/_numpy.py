"""numpy's functions on arrays of this package. Each agrees with numpy on the plain values, or raises an error."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from solinas._elementwise import Elementwise
from solinas._errors import RangeError, ShapeError, TypeMismatchError
from solinas._fixed import Fixed
from solinas._functions import maximum, minimum, select
from solinas._promotion import check_dtypes, element_type, is_ours, is_public, typed
from solinas._rearrange import REARRANGING, rearrange
from solinas._refusals import DIVISION, REMEDIES, answered, instead
from solinas._search import searchsorted
from solinas._shapes import NdArray, axes_of, axis_indices, flatten, public_array, public_integer
from solinas._sorting import argsort, median, sort
from solinas._types import U8, Int, Integer, Modular, UInt, int_, uint
from solinas._values import Bool, Value

NO_ARRAY = (
    "an encrypted or recorded value does not convert to a numpy array, because its content is not known here. Use its "
    "operators and methods, such as sum, dot, max and reshape, or decrypt it first, as in client.decrypt(x)"
)
WIDEST = 64
# The type of numpy's indices.
INDEX = int_(WIDEST)
# The codes of the dtypes longdouble and clongdouble, whose values stay values of numpy.
LONG_DOUBLES = frozenset("gG")


def array_function(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Apply a function of numpy to arguments among which are values or arrays of this package."""
    name = function.__name__
    if name in REARRANGING and function.__module__ == "numpy":
        return rearrange(function, args, kwargs)
    ours = FUNCTIONS.get(name) if function.__module__ == "numpy" else None
    if ours is None:
        raise TypeMismatchError(
            f"{function.__module__}.{name} does not take encrypted or recorded values{instead(name, KNOWN)}"
        )
    values = [arg for arg in args if isinstance(arg, Value)]
    if values and not any(isinstance(arg, NdArray) for arg in args):
        modular = any(isinstance(value, Modular) for value in values)
        if name not in (MODULAR_FUNCTIONS if modular else VALUE_FUNCTIONS):
            raise TypeMismatchError(f"numpy.{name} takes arrays, got {values[0]!r}: make an array with sl.Array")
    takes = inspect.signature(ours)
    kwargs = {key: value for key, value in kwargs.items() if value is not None or key not in UNSET}
    try:
        takes.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeMismatchError(f"numpy.{name} with encrypted or recorded values takes {takes}: {error}") from None
    return answered(f"numpy.{name}", ours, *args, **kwargs)


def array_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Apply a ufunc of numpy. numpy calls this for its operators, too."""
    import numpy as np

    name: str = ufunc.__name__
    if getattr(np, name, None) is not ufunc:
        raise TypeMismatchError(
            f"{name}, which is not a ufunc of numpy itself, does not take encrypted or recorded values"
            + instead(name, KNOWN)
        )
    if method == "reduce" and name in REDUCTIONS:
        return array_function(getattr(np, REDUCTIONS[name]), inputs, {"axis": 0} | kwargs)
    ours = OPERATORS.get(name)
    if ours is None or method not in {"__call__", "outer"} or kwargs:
        what = f"numpy.{name}" if method == "__call__" else f"numpy.{name}.{method}"
        extra = f" with {', '.join(kwargs)}" if kwargs and ours is not None else ""
        remedy = REMEDIES.get(name) or instead(name, KNOWN)
        raise TypeMismatchError(f"{what}{extra} does not take encrypted or recorded values{remedy}")
    if name in SHIFTS and method == "__call__" and not is_ours(inputs[0]):
        inputs = (typed(*inputs), inputs[1])
    elif name not in COMPARISONS:
        check_dtypes(f"numpy.{name}", inputs, weak=method == "__call__")
    if method == "outer":
        return _outer(ours, *inputs)
    if not any(isinstance(x, NdArray) for x in inputs) and any(flatten(x)[0] for x in inputs):
        raise TypeMismatchError(
            f"numpy.{name} does not take a single value and a numpy array: convert the array, as in "
            "sl.Array([sl.u8(1), sl.u8(2)])"
        )
    return answered(f"numpy.{name}", ours, *map(_plain, inputs))


def _promoted(a: Any, count: int, product: bool = False) -> tuple[Any, Any]:
    """Return the values in a type that holds a sum or product of `count` of them, and the type of numpy's result.

    The second is None for integers modulo a number, which need no wider type.
    """
    kind = element_type(a)
    if issubclass(kind, Modular):
        return a, None
    if issubclass(kind, Fixed):
        raise TypeMismatchError("numpy adds floats: use the methods sum, prod and cumsum, which wrap in the type")
    if kind is Bool:
        width, to = (1 if product else count.bit_length() + 1), int_(WIDEST)
        return a.cast(int_(max(2, min(width, WIDEST)))), to
    if kind.width > WIDEST:
        raise TypeMismatchError(
            f"numpy does not have integers of {kind.width} bits: use the methods sum, prod and cumsum, which wrap"
        )
    make = int_ if issubclass(kind, Int) else uint
    width = kind.width * count if product else kind.width + (count - 1).bit_length()
    return a.cast(make(min(width, WIDEST))), make(WIDEST)


def _reduced_count(a: Any, axis: Any) -> int:
    """Return how many elements a reduction combines into one. An axis that does not exist counts as 1."""
    if not isinstance(a, NdArray):
        return 1
    result = 1
    for each in (public_integer(named, "axis") for named in axes_of(axis, a.ndim)):
        result *= a.shape[each] if -a.ndim <= each < a.ndim else 1
    return result


def _reduced(name: str, *, promotes: bool = False) -> Callable[..., Any]:
    def reduction(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        to = None
        if promotes:
            a, to = _promoted(a, _reduced_count(a, axis), name == "prod")
        if isinstance(a, Value) and not isinstance(a, Modular):
            # numpy takes these axes of a single value, too.
            if axis not in (None, (), 0, -1):
                raise ShapeError(f"{name}: a single value has no axis {axis!r}")
            return a if to is None else a.cast(to)
        options = ({} if axis is None else {"axis": axis}) | ({"keepdims": True} if keepdims else {})
        result = getattr(a, name)(**options)
        if name in {"argmax", "argmin"}:
            return result.cast(INDEX)
        return result if to is None else result.cast(to)

    return reduction


def _cumsum(a: Any, axis: int | None = None) -> Any:
    a, to = _promoted(a, _reduced_count(a, axis))
    result = a.cumsum(axis)
    return result if to is None else result.cast(to)


def _dot(a: Any, b: Any) -> Any:
    # numpy's products take Python integers for int64.
    check_dtypes("a product in numpy", [a, b], weak=False)
    a, b = _plain(a), _plain(b)
    if isinstance(a, Modular) and isinstance(b, Modular):
        # In a program, each value stands for an array that the program runs on.
        return a.dot(b)
    return a * b if None in {_shape(a), _shape(b)} else a @ b


def _shape(x: Any) -> tuple[int, ...] | None:
    """Return the shape of an array or of nested lists, or None for a single value."""
    return x.shape if isinstance(x, NdArray) else flatten(x)[0]


def _plain(x: Any) -> Any:
    """Convert numpy's arrays and scalars to lists and numbers, whose operators do not call this module again.

    Raises TypeMismatchError for a dtype that Python does not have.
    """
    if not is_public(x):
        return x
    values = public_array(x)
    if values.dtype.char in LONG_DOUBLES:
        raise TypeMismatchError(
            f"Python has no numbers of dtype {values.dtype}: convert the operand, as in x.astype(np.float64)"
        )
    return values.tolist()


def _inner(a: Any, b: Any) -> Any:
    import numpy as np

    shapes = [_shape(_plain(x)) or () for x in (a, b)]
    return _dot(a, np.transpose(b) if shapes[0] and len(shapes[1]) > 1 else b)


def _vdot(a: Any, b: Any) -> Any:
    import numpy as np

    if isinstance(a, Value) and isinstance(b, Value):
        return _dot(a, b)
    check_dtypes("a product in numpy", [a, b], weak=False)
    return _dot(np.ravel(a), np.ravel(b))


def _outer(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    import numpy as np

    return function(_plain(np.reshape(a, (*np.shape(a), *[1] * len(np.shape(b))))), _plain(b))


def _flat_outer(a: Any, b: Any) -> Any:
    import numpy as np

    check_dtypes("numpy.outer", [a, b], weak=False)
    return _plain(np.reshape(a, (-1, 1))) * _plain(np.ravel(b))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise TypeMismatchError("numpy.clip takes the bounds by place or as min and max: give them once")
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if element_type(a) is Bool:
        raise TypeMismatchError(f"numpy.clip takes integers, got {a!r}: cast the bools first")
    check_dtypes("numpy.clip", [a, low, high])
    low, high = _plain(low), _plain(high)
    a = a if low is None else maximum(a, low)
    return a if high is None else minimum(a, high)


def _where(condition: Any, x: Any, y: Any) -> Any:
    check_dtypes("numpy.where", [x, y])
    return select(*map(_plain, (condition, x, y)))


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    if n < 0:
        raise RangeError(f"numpy.diff: n is {n}: give a number of 0 or more")
    axis_indices(a.shape, axis, "numpy.diff")
    for _ in range(n):
        later, earlier = [slice(None)] * a.ndim, [slice(None)] * a.ndim
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        a = a[tuple(later)] - a[tuple(earlier)]
    return a


def _trace(a: Any) -> Any:
    import numpy as np

    return np.sum(np.diagonal(a), axis=-1)


def _count_nonzero(a: Any, axis: Any = None) -> Any:
    import numpy as np

    return np.sum(a if element_type(a) is Bool else a != 0, axis=axis)


def _bools(function: Callable[..., Any]) -> Callable[..., Any]:
    def logical(*operands: Any) -> Any:
        for operand in operands:
            if is_ours(operand) and element_type(operand) is not Bool:
                raise TypeMismatchError(
                    f"numpy's logical functions take bools, got {operand!r}: compare it, as in x != 0"
                )
        return function(*operands)

    return logical


def _division(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a division that raises TypeMismatchError unless the divisor is public and not 0, so that numpy agrees."""

    def division(a: Any, b: Any) -> Any:
        import numpy as np

        if is_ours(b) or not issubclass(element_type(a), Integer) or not np.all(np.asarray(b) != 0):
            raise TypeMismatchError(f"numpy's division does not take {a!r} and {b!r}{DIVISION}")
        return function(a, _plain(b))

    return division


def _power(a: Any, b: Any) -> Any:
    return a**b


def _sort(a: Any, axis: int | None = -1, *, kind: Any = None, stable: Any = None) -> Any:
    _check_sort(kind, stable)
    return sort(a, axis=axis)


def _argsort(a: Any, axis: int | None = -1, *, kind: Any = None, stable: Any = None) -> Any:
    _check_sort(kind, stable)
    return argsort(a, axis).cast(INDEX)


def _check_sort(kind: Any, stable: Any) -> None:
    """Let numpy check the names of its methods, which do not matter here."""
    import numpy as np

    np.sort(np.zeros(1), kind=kind, stable=stable)


def _median(a: Any, axis: int | None = None) -> Any:
    if _reduced_count(a, axis) % 2 == 0:
        raise TypeMismatchError(
            "numpy.median of an even number of elements is the mean of the middle two: use sl.median, which is the "
            "lower of them"
        )
    return median(a, axis)


def _searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    return searchsorted(_plain(a), v, side).cast(INDEX)


def _rounding(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def rounded(a: Any) -> Any:
        if not issubclass(element_type(a), Fixed):
            raise TypeMismatchError(f"numpy's rounding takes fixed-point numbers, got {a!r}, which holds integers")
        return a._elementwise(function, a) if isinstance(a, Elementwise) else function(a)

    return rounded


def _bit_count(a: Any) -> Any:
    if not issubclass(element_type(a), UInt):
        raise TypeMismatchError(f"numpy.bitwise_count counts the bits of the magnitude: cast {a!r} to an unsigned type")
    return a.count_ones().cast(U8)


def _positive(a: Any) -> Any:
    if element_type(a) is Bool:
        raise TypeMismatchError(f"numpy.positive takes numbers, got {a!r}: leave it out")
    return +a


SHAPES: dict[str, Callable[..., Any]] = {
    "shape": lambda a: getattr(a, "shape", ()),
    "ndim": lambda a: getattr(a, "ndim", 0),
    "size": lambda a: getattr(a, "size", 1),
}
FUNCTIONS: dict[str, Any] = {
    "sum": _reduced("sum", promotes=True),
    "prod": _reduced("prod", promotes=True),
    "max": _reduced("max"),
    "amax": _reduced("max"),
    "min": _reduced("min"),
    "amin": _reduced("min"),
    "argmax": _reduced("argmax"),
    "argmin": _reduced("argmin"),
    "any": _reduced("any"),
    "all": _reduced("all"),
    "cumsum": _cumsum,
    "dot": _dot,
    "inner": _inner,
    "vdot": _vdot,
    "outer": _flat_outer,
    "where": _where,
    "clip": _clip,
    "diff": _diff,
    "trace": _trace,
    "count_nonzero": _count_nonzero,
    "sort": _sort,
    "argsort": _argsort,
    "median": _median,
    "searchsorted": _searchsorted,
} | SHAPES
OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "matmul": operator.matmul,
    "floor_divide": _division(lambda a, b: a.floor_div(b)),
    "remainder": _division(lambda a, b: a.floor_mod(b)),
    "divmod": _division(lambda a, b: (a.floor_div(b), a.floor_mod(b))),
    "fmod": _division(operator.mod),
    "power": _power,
    "divide": operator.truediv,
    "floor": _rounding(math.floor),
    "ceil": _rounding(math.ceil),
    "trunc": _rounding(math.trunc),
    "rint": _rounding(round),
    "bitwise_count": _bit_count,
    "square": lambda a: a * a,
    "negative": operator.neg,
    "positive": _positive,
    "absolute": abs,
    "invert": operator.invert,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "logical_and": _bools(operator.and_),
    "logical_or": _bools(operator.or_),
    "logical_xor": _bools(operator.xor),
    "logical_not": _bools(operator.invert),
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "maximum": maximum,
    "minimum": minimum,
    "fmax": maximum,
    "fmin": minimum,
}
KNOWN = {*REARRANGING, *FUNCTIONS, *OPERATORS}
# Functions that accept single values, and functions that accept integers modulo a number, which stand for whole arrays.
VALUE_FUNCTIONS = {
    "sum",
    "prod",
    "max",
    "amax",
    "min",
    "amin",
    "dot",
    "inner",
    "vdot",
    "where",
    "clip",
    "shape",
    "ndim",
    "size",
}
MODULAR_FUNCTIONS = {"sum", "dot", "inner", "vdot"}
# Arguments of numpy for which None is the same as leaving them out.
UNSET = {"out", "dtype", "order", "sorter", "kind", "stable"}
SHIFTS = {"left_shift", "right_shift"}
COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_or": "any",
    "logical_and": "all",
}
