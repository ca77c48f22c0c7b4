"""Conversion of plain data: Python numbers, nested lists, and numpy arrays if numpy is installed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from solinas._errors import TypeMismatchError
from solinas._shapes import NdArray, Shape, nest, numpy_or_none, public_array
from solinas._types import type_named
from solinas._values import Bool, Value, dtype_name, is_bool, type_expression

# The classes of the values that stand for a missing one in Python and pandas.
MISSING = {"NoneType", "NAType", "NaTType"}


def infer(data: Any) -> type[Value] | None:
    """Return the type of a typed value, a bool, a numpy scalar or an array; None for Python integers.

    A nested list has the type of its items if they agree. Raises TypeMismatchError for a dtype that is not an integer.
    """
    if isinstance(data, Value):
        return type(data)
    if isinstance(data, bool):
        return Bool
    if isinstance(data, NdArray):
        return type(data[(0,) * data.ndim])
    dtype = getattr(data, "dtype", None)
    if dtype is None and hasattr(data, "__array__"):
        dtype = public_array(data).dtype
    if dtype is not None:
        kind, width = dtype.kind, 8 * dtype.itemsize
        match kind:
            case "b":
                return Bool
            case "u" | "i":
                return type_named(f"{kind}{width}")
            case "O":
                return None
        raise TypeMismatchError(
            f"numpy arrays of {dtype} cannot be encrypted: convert them to an integer or bool dtype"
        )
    if isinstance(data, (list, tuple)):
        kinds = {infer(item) for item in data}
        if len(kinds) == 1:
            return kinds.pop()
    return None


def encode(cls: type[Value], value: Any, what: str = "the value") -> int:
    """Return the bits of one plain value as an element of type `cls`.

    `what` names the value in messages. Raises RangeError if the value does not fit, TypeMismatchError for another type.
    """
    if isinstance(value, Value):
        if not value.is_plain:
            raise TypeMismatchError(f"{what} is {value!r}, which is not a plain value: give an integer")
        if value.name != cls.name:
            raise TypeMismatchError(
                f"{what} is {value!r}, but {cls.name} is needed: cast it, as in .cast({type_expression(cls)})"
            )
        return int(value._data)
    if cls is not Bool and is_bool(value):
        raise TypeMismatchError(
            f"{what} is {bool(value)}, a bool, but {cls.name} is a type of numbers: give int(...), or use sl.Bool"
        )
    number = cls._parsed(value)
    if number is None and (type(value).__name__ in MISSING or (isinstance(value, float) and math.isnan(value))):
        raise TypeMismatchError(f"{what} is missing ({value!r}): fill it, as in x.fillna(0), or leave its row out")
    if number is None:
        raise TypeMismatchError(f"{what} is {value!r}, which is not a value of {cls.name}: give an integer")
    return cls.encode(number)


def decode(cls: type[Value], shape: Shape | None, bits: Sequence[int]) -> Any:
    """Return an int or bool for a scalar (shape None), else a numpy array, or nested lists if numpy is missing."""
    values: list[Any] = [bool(b) for b in bits] if cls.width == 1 and cls is Bool else [cls.decode(b) for b in bits]
    if shape is None:
        return values[0]
    np = numpy_or_none()
    return nest(shape, values) if np is None else np.array(values, dtype=dtype_name(cls)).reshape(shape)


def rebuilt(structure: Any, parts: list[Any]) -> Any:
    """Return parts in a list or tuple of the kind of another one. A named tuple keeps its names."""
    if isinstance(structure, list):
        return parts
    make = getattr(type(structure), "_make", None)
    return tuple(parts) if make is None else make(parts)


def shorten(value: object) -> str:
    """Return the representation of a value for a message, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."  # noqa: PLR2004
