"""The types that numpy gives to results. An operation that would need another type here is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solinas._errors import TypeMismatchError
from solinas._protocols import NumpyProtocols
from solinas._shapes import NdArray, public_array
from solinas._types import Modular, type_named
from solinas._values import Value, dtype_name


def element_type(a: Any) -> Any:
    """Return the type of a value, or of the elements of an array."""
    return a._kind if isinstance(a, NdArray) else type(a)


def is_ours(x: Any) -> bool:
    """Return whether an operand is a value or an array of this package."""
    return isinstance(x, NumpyProtocols)


def is_public(x: Any) -> bool:
    """Return whether an operand is an array or a scalar of numpy, or converts to one."""
    return not isinstance(x, (NdArray, Value)) and hasattr(x, "__array__")


def check_dtypes(what: str, operands: Sequence[Any], *, weak: bool = True) -> None:
    """Raise TypeMismatchError if numpy would compute with these operands in another type than this package.

    If `weak` is true, Python integers take the type of the other operands, as in numpy's operators.
    """
    import numpy as np

    ours = [x for x in operands if isinstance(x, (NdArray, Value))]
    if not ours or any(issubclass(element_type(x), Modular) for x in ours):
        return
    dtype: Any = np.dtype(dtype_name(element_type(ours[0])))
    for operand in operands:
        if operand is None or (weak and isinstance(operand, int)):
            continue
        if isinstance(operand, (NdArray, Value)):
            other: Any = np.dtype(dtype_name(element_type(operand)))
        else:
            other = (public_array(operand) if is_public(operand) else np.asarray(operand)).dtype
        if np.result_type(dtype, other) != dtype:
            raise TypeMismatchError(
                f"{what} of {dtype} and {other} has the type {np.result_type(dtype, other)} in numpy: convert the "
                f"public operand, as in np.array([...], dtype=np.{dtype}), cast the encrypted one, or write an "
                "operator with Python integers, which take the type of the encrypted ones"
            )


def check_public(operands: Sequence[Any]) -> None:
    """Raise TypeMismatchError if numpy's operator gives a public operand another type than this package."""
    if any(map(is_public, operands)):
        check_dtypes("the operator", [x for x in operands if isinstance(x, (NdArray, Value)) or is_public(x)])


def typed(value: Any, beside: Any) -> Any:
    """Return the left operand of a shift in the type that numpy gives it beside the amounts.

    Raises TypeMismatchError if numpy does not shift such operands.
    """
    import numpy as np

    from solinas._arrays import from_elements

    if isinstance(value, (NdArray, Value)):
        return value
    if isinstance(value, int):
        return element_type(beside)(value)
    values = public_array(value) if is_public(value) else np.asarray(value)
    dtype = np.result_type(values.dtype, np.dtype(dtype_name(element_type(beside))))
    if dtype.kind not in "iu":
        raise TypeMismatchError(f"a shift takes integers, got {values.dtype}: convert them, as in x.astype(np.uint8)")
    kind: Any = type_named(f"{dtype.kind}{8 * dtype.itemsize}")
    return from_elements([kind(int(item)) for item in values.ravel().tolist()], values.shape)
