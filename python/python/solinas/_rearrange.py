"""numpy's functions that only select and move elements. They run in numpy on the flat indices of the elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from solinas._data import rebuilt
from solinas._elementwise import Elementwise
from solinas._errors import TypeMismatchError
from solinas._promotion import is_ours
from solinas._refusals import answered
from solinas._shapes import NdArray, public_integer

# The number of leading arguments that are data; -1 stands for all arguments.
REARRANGING = {name: 1 for name in (
    "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "moveaxis", "rollaxis", "swapaxes", "squeeze",
    "expand_dims", "broadcast_to", "repeat", "tile", "flip", "fliplr", "flipud", "roll", "rot90", "take", "diagonal",
    "delete", "array_split", "split", "hsplit", "vsplit", "dsplit", "unstack", "concatenate", "concat", "stack",
    "vstack", "hstack", "dstack", "column_stack", "take_along_axis", "copy",
)} | {"append": 2, "broadcast_arrays": -1, "atleast_1d": -1, "atleast_2d": -1, "atleast_3d": -1}  # fmt: skip
# The number of positional arguments of functions that take more of them in numpy, for an output.
POSITIONAL = {"concatenate": 2, "concat": 2, "stack": 2, "take": 3}


def _check_options(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Raise TypeMismatchError for arguments of a function that do more than move elements."""
    if not args:
        raise TypeMismatchError(f"numpy.{name} takes the encrypted array as its first argument, without a name")
    unknown = [key for key in ("dtype", "out", "casting", "subok", "like") if kwargs.get(key) is not None]
    if unknown or len(args) > POSITIONAL.get(name, len(args)):
        what = ", ".join(unknown) or "arguments for an output"
        raise TypeMismatchError(
            f"numpy.{name} does not take {what} with encrypted or recorded values: leave it out, and cast the elements "
            "with x.cast(sl.U16)"
        )
    orders = [*args[1:], kwargs.get("order")]
    if name in {"reshape", "ravel"} and any(isinstance(order, str) and order in "AKak" for order in orders):
        raise TypeMismatchError(
            f"numpy.{name} in the order of the memory, which encrypted and recorded arrays lack: give order 'C' or 'F'"
        )


def rearrange(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    import numpy as np

    _check_options(function.__name__, args, kwargs)
    if function.__name__ == "roll" and isinstance(args[0], Elementwise) and args[0]._is_packed:
        return _rolled(*args, **kwargs)
    count = REARRANGING[function.__name__]
    count = len(args) if count < 0 else count
    sources: list[Any] = []
    start = 0

    def places(data: Any) -> Any:
        nonlocal start
        if isinstance(data, (list, tuple)):
            return rebuilt(data, [places(part) for part in data])
        if not is_ours(data) or any(is_ours(x) for x in kwargs.values()):
            raise TypeMismatchError(
                f"numpy.{function.__name__} does not take encrypted and public arrays together, or encrypted indices: "
                "give arrays of one kind, and public indices and sizes"
            )
        shape = getattr(data, "shape", ())
        size = int(np.prod(shape))
        sources.append(data)
        start += size
        return np.arange(start - size, start).reshape(shape)

    data = [places(arg) for arg in args[:count]]
    if not sources or any(is_ours(arg) for arg in args[count:]):
        places(None)
    chosen = answered(f"numpy.{function.__name__}", function, *data, *args[count:], **kwargs)

    def part(result: Any) -> Any:
        if isinstance(result, (list, tuple)):
            return rebuilt(result, [part(each) for each in result])
        return pool(sources)._part(np.asarray(result).ravel().tolist(), np.shape(result))

    return part(chosen)


def pool(sources: Sequence[Any]) -> Any:
    """Return one vector of the elements of all sources, row by row."""
    from solinas._arrays import Array, EncryptedArray, from_elements

    if len(sources) == 1 and isinstance(sources[0], NdArray):
        return sources[0].ravel()
    if any(isinstance(x, EncryptedArray) for x in sources):
        return EncryptedArray.stack(sources)
    items = [item for x in sources for item in (x._elements() if isinstance(x, Array) else [x])]
    for item in items:
        if item.name != items[0].name:
            raise TypeMismatchError(
                f"the elements of an array must have one type, got {items[0].name} and {item.name}: cast one of them"
            )
    return from_elements(items, (len(items),))


def _rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    """Roll an array whose elements share ciphertexts, as one row."""
    if axis is not None and not (a.ndim == 1 and axis in (0, -1)):
        raise TypeMismatchError(
            f"an array of {a._kind.name} shares ciphertexts among its elements, so that it rolls as one row: leave "
            "axis out, or encrypt each row by itself and write row.rotate(-shift)"
        )
    return a.rotate(-public_integer(shift, "roll: shift"))
