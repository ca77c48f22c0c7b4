"""Plain data in and out: Python numbers, nested lists, numpy arrays where numpy is installed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from solinas._errors import ElementError, ShapeError, TypeMismatchError
from solinas._values import Bool, Value, _integer, spelling, type_named

Shape = tuple[int, ...]

MACHINE_WIDTHS = (8, 16, 32, 64)


def numpy_or_none() -> Any:
    """Give numpy, or None where it is not installed."""
    try:
        import numpy as np
    except ImportError:
        return None
    return np


def flatten(data: Any) -> tuple[Shape | None, list[Any]]:
    """Shape (None of a scalar) and elements, row by row."""
    if hasattr(data, "__array__") and hasattr(data, "shape"):
        shape = tuple(int(size) for size in data.shape)
        return (shape, list(data.ravel().tolist())) if shape else (None, [data.item()])
    if isinstance(data, (list, tuple)):
        parts = [flatten(item) for item in data]
        inner = parts[0][0] if parts else None
        if any(shape != inner for shape, _ in parts):
            raise ShapeError("a nested list needs rows of one length")
        return (len(parts), *(inner or ())), [value for _, values in parts for value in values]
    return None, [data]


def nest(shape: Shape, values: Sequence[Any]) -> Any:
    """Give nested lists of a shape."""
    if not shape:
        return values[0]
    step = math.prod(shape[1:])
    return [nest(shape[1:], values[i * step : (i + 1) * step]) for i in range(shape[0])]


def infer(data: Any) -> type[Value] | None:
    """Give the type that data carries: of a typed value, a numpy scalar or array, a bool; None for Python integers."""
    if isinstance(data, Value):
        return type(data)
    if isinstance(data, bool):
        return Bool
    dtype = getattr(data, "dtype", None)
    if dtype is not None:
        kind, width = dtype.kind, 8 * dtype.itemsize
        match kind:
            case "b":
                return Bool
            case "u" | "i":
                return type_named(f"{kind}{width}")
            case "O":
                return None
        raise TypeMismatchError(f"numpy arrays of {dtype} cannot be encrypted: convert to an integer or bool dtype")
    if isinstance(data, (list, tuple)):
        kinds = {infer(item) for item in data}
        if len(kinds) == 1:
            return kinds.pop()
    return None


def encode(cls: type[Value], value: Any, what: str = "the value") -> int:
    """Bits of one plain element; errors name `what`."""
    if isinstance(value, Value):
        if not value.is_plain:
            raise TypeMismatchError(f"{what} is {value!r}, which is not plain: give an integer")
        if value.name != cls.name:
            raise TypeMismatchError(
                f"{what} is {value!r}, but {cls.name} is needed: cast it, as in .cast({spelling(cls)})"
            )
    if cls is not Bool and type(value).__name__ in {"bool", "bool_"}:
        raise TypeMismatchError(
            f"{what} is {bool(value)}, a bool, and {cls.name} is a type of numbers: give int(...), or use sl.Bool"
        )
    number = _integer(value)
    if number is None:
        raise TypeMismatchError(f"{what} is {value!r}, not a value of {cls.name}: give an integer")
    return cls.encode(number)


def decode(cls: type[Value], shape: Shape | None, bits: Sequence[int]) -> Any:
    """Python's int or bool of a scalar; a numpy array of an array, nested lists where numpy is not installed."""
    values: list[Any] = [bool(b) for b in bits] if cls.width == 1 and cls is Bool else [cls.decode(b) for b in bits]
    if shape is None:
        return values[0]
    np = numpy_or_none()
    return nest(shape, values) if np is None else np.array(values, dtype=dtype_name(cls)).reshape(shape)


def dtype_name(cls: type[Value]) -> str:
    """Name of the smallest numpy dtype that holds a type; `object` beyond 64 bits."""
    if cls is Bool:
        return "bool"
    width = next((width for width in MACHINE_WIDTHS if cls.width <= width), None)
    if width is None:
        return "object"
    return f"int{width}" if cls.signed else f"uint{width}"


def common_shape(shapes: Sequence[tuple[str, Shape | None]]) -> Shape | None:
    """Give the one shape of arrays that go with scalars; None where all are scalars."""
    arrays = [(name, shape) for name, shape in shapes if shape is not None]
    for name, shape in arrays[1:]:
        if shape != arrays[0][1]:
            raise ShapeError(
                f"{arrays[0][0]} has shape {arrays[0][1]} and {name} has shape {shape}: "
                "elementwise work needs arrays of one shape, or scalars"
            )
    return arrays[0][1] if arrays else None


def index_places(shape: Shape, key: Any) -> tuple[list[int], Shape]:
    """Flat places and shape of `array[key]`, for integers, slices and `...` as numpy has them."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(k is Ellipsis for k in keys):
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (len(shape) - len(keys) + 1)
    if len(keys) > len(shape):
        raise ShapeError(f"{len(keys)} indices for an array of {len(shape)} dimensions")
    keys += [slice(None)] * (len(shape) - len(keys))
    places, result = [0], []
    for size, k in zip(shape, keys, strict=True):
        if isinstance(k, slice):
            chosen = list(range(*k.indices(size)))
            result.append(len(chosen))
        else:
            number = None if isinstance(k, (bool, Value)) else _integer(k)
            if number is None:
                raise TypeMismatchError(f"an encrypted array is indexed by integers, slices and ..., got {k!r}")
            if not -size <= number < size:
                raise ElementError(f"there is no element {number}: this dimension has {size}")
            chosen = [number % size]
        places = [place * size + c for place in places for c in chosen]
    return places, tuple(result)
