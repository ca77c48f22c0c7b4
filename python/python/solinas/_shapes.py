"""Shapes and indexing of arrays, as in numpy. A flat index counts the elements of an array row by row."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from solinas._errors import ElementError, ShapeError, TypeMismatchError
from solinas._protocols import NumpyProtocols

if TYPE_CHECKING:
    from collections.abc import Iterator

    from solinas._values import Value

Shape = tuple[int, ...]

# The kinds of numpy's dtypes of dates and times, and of records.
DATES, RECORDS = "mM", "V"


def numpy_or_none() -> Any:
    """Return the module numpy, or None if it is not installed."""
    try:
        import numpy as np
    except ImportError:
        return None
    return np


def flatten(data: Any) -> tuple[Shape | None, list[Any]]:
    """Return the shape and the elements, row by row, of an array, a numpy array or nested lists.

    The shape of a single value is None. Raises ShapeError if rows of a nested list differ in shape, TypeMismatchError
    for an array that holds more than its elements say.
    """
    if isinstance(data, NdArray):
        return data.shape, data._elements()
    if hasattr(data, "__array__") and hasattr(data, "shape"):
        values = public_array(data)
        shape = tuple(int(size) for size in values.shape)
        return (shape, list(values.ravel().tolist())) if shape else (None, [values.item()])
    if isinstance(data, (list, tuple)):
        parts = [flatten(item) for item in data]
        inner = parts[0][0] if parts else None
        if any(shape != inner for shape, _ in parts):
            raise ShapeError("a nested list needs rows of one length")
        return (len(parts), *(inner or ())), [value for _, values in parts for value in values]
    return None, [data]


def public_array(data: Any) -> Any:
    """Return the numpy array of an array, a numpy scalar, a pandas series or another object that converts to one.

    Raises TypeMismatchError if the elements alone would not say the same: for masks, matrices, records and dates.
    """
    import numpy as np

    kind = type(data)
    if isinstance(data, np.ma.MaskedArray):
        raise TypeMismatchError(
            "a masked array would lose its mask: fill the masked elements, as in x.filled(0), or leave them out, as in "
            "x.compressed()"
        )
    if isinstance(data, np.ndarray) and kind not in {np.ndarray, np.memmap}:
        raise TypeMismatchError(
            f"an array of the class {kind.__name__} has rules of its own: convert it, as in np.array(x)"
        )
    values = data.__array__()
    if values.dtype.kind in DATES:
        raise TypeMismatchError(
            f"dates and times ({values.dtype}) are no numbers here: convert them, as in x.astype(np.int64)"
        )
    if values.dtype.kind == "f" and getattr(getattr(data, "dtype", None), "kind", "f") in "biu":
        # pandas gives floats for a column of integers with missing values.
        raise TypeMismatchError("a value is missing: fill it, as in x.fillna(0), or leave its row out")
    if values.dtype.kind == RECORDS:
        raise TypeMismatchError(f"records ({values.dtype}) are no numbers: give one field, as in x['name']")
    return values


def nest(shape: Shape, values: Sequence[Any]) -> Any:
    """Return nested lists of this shape from the elements, row by row."""
    if not shape:
        return values[0]
    step = math.prod(shape[1:])
    return [nest(shape[1:], values[i * step : (i + 1) * step]) for i in range(shape[0])]


def broadcast(shapes: Sequence[Shape], *, empty: bool = False) -> Shape:
    """Return the shape that these shapes broadcast to. Raises ShapeError if they do not.

    Missing leading dimensions count as 1, and a size of 1 stretches to any size. Raises ShapeError for an empty array,
    unless `empty` allows it.
    """
    if not empty and any(0 in shape for shape in shapes):
        raise ShapeError("an operand is an empty array: operations need arrays of at least one element")
    ndim = max(map(len, shapes), default=0)
    result = []
    for sizes in zip(*((1,) * (ndim - len(shape)) + shape for shape in shapes), strict=True):
        size = next((s for s in sizes if s != 1), 1)
        if any(s not in {1, size} for s in sizes):
            shown = " and ".join(str(shape) for shape in shapes)
            raise ShapeError(f"arrays of shapes {shown} cannot be broadcast: give arrays of one shape, or reshape them")
        result.append(size)
    return tuple(result)


def broadcast_indices(shape: Shape, to: Shape) -> list[int]:
    """Return, for each element of shape `to`, the flat index in an array of `shape` that broadcasts to it."""
    indices = [0]
    shape = (1,) * (len(to) - len(shape)) + shape
    for size, wanted in zip(shape, to, strict=True):
        indices = [index * size + (i if size > 1 else 0) for index in indices for i in range(wanted)]
    return indices


def public_integer(value: Any, what: str) -> int:
    """Return a public integer, which messages call `what`. Raises TypeMismatchError for anything else."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise TypeMismatchError(f"{what} is {value!r}: give a public integer")


def axes_of(axis: Any, ndim: int) -> Sequence[Any]:
    """Return the axes that the argument of a reduction names. None stands for all of them."""
    return range(ndim) if axis is None else axis if isinstance(axis, Sequence) else [axis]


def axis_indices(shape: Shape, axis: int, what: str) -> tuple[list[list[int]], Shape]:
    """Return the flat indices along an axis, one list for each choice of the other indices, and the shape of these.

    Raises ShapeError for an axis that does not exist, TypeMismatchError for one that is not an integer. `what` names
    the operation in the message.
    """
    axis = public_integer(axis, f"{what}: axis")
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"{what}: an array of {len(shape)} dimensions has no axis {axis}")
    axis %= len(shape)
    size, inner = shape[axis], math.prod(shape[axis + 1 :])
    outer = range(math.prod(shape[:axis]))
    indices = [[(o * size + k) * inner + i for k in range(size)] for o in outer for i in range(inner)]
    return indices, shape[:axis] + shape[axis + 1 :]


def reshaped(shape: Shape, sizes: Sequence[Any]) -> Shape:
    """Return the shape that `reshape(*sizes)` asks for. One size may be -1, which stands for the rest."""
    parts = [s for part in sizes for s in (part if isinstance(part, Sequence) else (part,))]
    wanted = [public_integer(s, "a size of reshape") for s in parts]
    count = math.prod(shape)
    if wanted.count(-1) == 1:
        rest = -math.prod(wanted)
        wanted[wanted.index(-1)] = count // rest if rest > 0 and count % rest == 0 else 0
    if min(wanted, default=0) < 0 or math.prod(wanted) != count:
        raise ShapeError(f"an array of shape {shape} cannot be reshaped to {tuple(wanted)}")
    return tuple(wanted)


def resolve_index(shape: Shape, key: Any) -> tuple[list[int], Shape]:
    """Return the flat indices and the shape of `array[key]`.

    A key has any form that numpy accepts: integers, slices, `...`, None, masks and lists of indices. Without numpy only
    integers, slices and `...` are supported. Raises TypeMismatchError for an encrypted key, ElementError for an index
    out of bounds.
    """
    keys = key if isinstance(key, tuple) else (key,)
    for k in keys:
        if isinstance(k, (bool, NumpyProtocols)):
            raise TypeMismatchError(
                f"an index must be a public integer, slice, mask or list of integers, got {k!r}. For an encrypted "
                "mask write sl.select(mask, x, 0)"
            )
    if all(isinstance(k, slice) or k is Ellipsis or _is_index(k) for k in keys):
        return _resolve_basic_index(shape, list(keys))
    np = numpy_or_none()
    if np is None:
        raise TypeMismatchError(
            f"without numpy an index must be an integer, a slice or ..., got {key!r}: install numpy"
        )
    try:
        chosen = np.arange(math.prod(shape)).reshape(shape)[key]
    except IndexError as error:
        kind = TypeMismatchError if "only integers" in str(error) else ElementError
        raise kind(f"an array of shape {shape} does not take this index: {error}") from None
    return chosen.ravel().tolist(), chosen.shape


def _is_index(key: Any) -> bool:
    return hasattr(key, "__index__") and getattr(key, "shape", ()) == ()


def _resolve_basic_index(shape: Shape, keys: list[Any]) -> tuple[list[int], Shape]:
    if any(k is Ellipsis for k in keys):
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (len(shape) - len(keys) + 1)
    if len(keys) > len(shape):
        raise ShapeError(f"an array of {len(shape)} dimensions does not take {len(keys)} indices")
    keys += [slice(None)] * (len(shape) - len(keys))
    indices, result = [0], []
    for size, k in zip(shape, keys, strict=True):
        if isinstance(k, slice):
            chosen = list(range(*k.indices(size)))
            result.append(len(chosen))
        else:
            number = k.__index__()
            if not -size <= number < size:
                raise ElementError(f"there is no element {number}: this dimension has {size} elements")
            chosen = [number % size]
        indices = [index * size + c for index in indices for c in chosen]
    return indices, tuple(result)


class NdArray(NumpyProtocols, ABC):
    """The base class of arrays: a shape, reshaping and indexing, as in numpy."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """The size of each dimension, outermost first."""

    @abstractmethod
    def _elements(self) -> list[Any]:
        """Return the elements, row by row. Raises TypeMismatchError if they share ciphertexts."""

    @abstractmethod
    def _take(self, indices: list[int], shape: Shape) -> Any:
        """Return the elements at these flat indices as an array of this shape. For shape `()` return the element."""

    @property
    @abstractmethod
    def _kind(self) -> type[Value]:
        """The type of the elements."""

    @property
    def dtype(self) -> Any:
        """The smallest numpy dtype that holds the elements, or its name if numpy is not installed."""
        from solinas._values import dtype_name

        np, name = numpy_or_none(), dtype_name(self._kind)
        return name if np is None else np.dtype(name)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:  # noqa: N802
        """The array with its dimensions in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its dimensions in the order of `axes`, by default in reverse order."""
        parts = [a for part in axes for a in (part if isinstance(part, Sequence) else (part,))]
        order = tuple(public_integer(a, "an axis of transpose") for a in parts) or tuple(reversed(range(self.ndim)))
        if sorted(a % max(self.ndim, 1) for a in order) != list(range(self.ndim)):
            raise ShapeError(f"{order} is not an order of the {self.ndim} dimensions: name each dimension once")
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim)]
        indices = [0]
        for axis in order:
            indices = [index + i * steps[axis] for index in indices for i in range(self.shape[axis])]
        return self._part(indices, tuple(self.shape[axis] for axis in order))

    def reshape(self, *shape: int | Sequence[int]) -> Any:
        """Return the same elements in another shape. One size may be -1. Raises ShapeError if they do not fit."""
        return self._part(list(range(self.size)), reshaped(self.shape, shape))

    def ravel(self) -> Any:
        """Return the elements row by row, as an array of one dimension."""
        return self.reshape(self.size)

    flatten = ravel

    def _part(self, indices: list[int], shape: Shape) -> Any:
        if not indices:
            raise ShapeError("this part of the array is empty, but an array needs at least one element")
        return self._take(indices, shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Return an element or a part. The key is an integer, slice, `...`, None, mask or list of indices."""
        return self._part(*resolve_index(self.shape, key))
