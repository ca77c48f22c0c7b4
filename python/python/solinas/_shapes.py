"""Shapes of arrays, and which elements make up another, as numpy has it. A place is an index row by row."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from solinas._errors import ElementError, ShapeError, TypeMismatchError
from solinas._protocols import NumpyProtocols
from solinas._values import Value, dtype_name

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = tuple[int, ...]


def numpy_or_none() -> Any:
    """Give numpy, or None where it is not installed."""
    try:
        import numpy as np
    except ImportError:
        return None
    return np


def flatten(data: Any) -> tuple[Shape | None, list[Any]]:
    """Shape (None of a single value) and elements, row by row, of nested lists and arrays, those of numpy too."""
    if isinstance(data, NdArray):
        return data.shape, data._elements()
    if hasattr(data, "__array__") and hasattr(data, "shape"):
        shape = tuple(int(size) for size in data.shape)
        # A series of pandas becomes an array first.
        values = data.__array__()
        return (shape, list(values.ravel().tolist())) if shape else (None, [values.item()])
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


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """Give the shape that arrays of those shapes have together: sizes of 1 stretch, missing dimensions come first."""
    ndim = max(map(len, shapes), default=0)
    result = []
    for sizes in zip(*((1,) * (ndim - len(shape)) + shape for shape in shapes), strict=True):
        size = max(sizes) if 0 not in sizes else 0
        if any(s not in {1, size} for s in sizes):
            shown = " and ".join(str(shape) for shape in shapes)
            raise ShapeError(f"arrays of shapes {shown} do not go together: give arrays of one shape, or reshape them")
        result.append(size)
    return tuple(result)


def stretched(shape: Shape, to: Shape) -> list[int]:
    """Places of the elements of an array of `shape` as one of shape `to`, to which it broadcasts."""
    places = [0]
    shape = (1,) * (len(to) - len(shape)) + shape
    for size, wanted in zip(shape, to, strict=True):
        places = [place * size + (i if size > 1 else 0) for place in places for i in range(wanted)]
    return places


def lines(shape: Shape, axis: int, what: str) -> tuple[list[list[int]], Shape]:
    """Places of the elements along an axis, for each of the other indices, and the shape of these."""
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"{what}: an array of {len(shape)} dimensions has no axis {axis}")
    axis %= len(shape)
    size, inner = shape[axis], math.prod(shape[axis + 1 :])
    outer = range(math.prod(shape[:axis]))
    places = [[(o * size + k) * inner + i for k in range(size)] for o in outer for i in range(inner)]
    return places, shape[:axis] + shape[axis + 1 :]


def reshaped(shape: Shape, sizes: Sequence[Any]) -> Shape:
    """Give the shape that `reshape(*sizes)` asks for, one size of which may be -1."""
    wanted = [int(s) for part in sizes for s in (part if isinstance(part, Sequence) else (part,))]
    count = math.prod(shape)
    if wanted.count(-1) == 1:
        rest = -math.prod(wanted)
        wanted[wanted.index(-1)] = count // rest if rest > 0 and count % rest == 0 else 0
    if min(wanted, default=0) < 0 or math.prod(wanted) != count:
        raise ShapeError(f"an array of shape {shape} cannot be reshaped to {tuple(wanted)}")
    return tuple(wanted)


def index_places(shape: Shape, key: Any) -> tuple[list[int], Shape]:
    """Places and shape of `array[key]` as of numpy: integers, slices, `...`, None, masks and lists of indices."""
    keys = key if isinstance(key, tuple) else (key,)
    for k in keys:
        if isinstance(k, (bool, NdArray)) or hasattr(k, "_context") or hasattr(k, "_inner"):
            raise TypeMismatchError(
                f"an array is indexed by public integers, slices, masks and lists of integers, got {k!r}. Where the "
                "mask is encrypted write sl.select(mask, x, 0)"
            )
    if all(isinstance(k, slice) or k is Ellipsis or _is_index(k) for k in keys):
        return _basic_places(shape, list(keys))
    np = numpy_or_none()
    if np is None:
        raise TypeMismatchError(f"without numpy an array is indexed by integers, slices and ..., got {key!r}")
    try:
        chosen = np.arange(math.prod(shape)).reshape(shape)[key]
    except IndexError as error:
        kind = TypeMismatchError if "only integers" in str(error) else ElementError
        raise kind(f"this index does not suit an array of shape {shape}: {error}") from None
    return chosen.ravel().tolist(), chosen.shape


def _is_index(key: Any) -> bool:
    return hasattr(key, "__index__") and getattr(key, "shape", ()) == ()


def _basic_places(shape: Shape, keys: list[Any]) -> tuple[list[int], Shape]:
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
            number = k.__index__()
            if not -size <= number < size:
                raise ElementError(f"there is no element {number}: this dimension has {size}")
            chosen = [number % size]
        places = [place * size + c for place in places for c in chosen]
    return places, tuple(result)


class NdArray(NumpyProtocols, ABC):
    """What arrays of every kind share: a shape, and parts of themselves, as numpy's arrays have them."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    @abstractmethod
    def shape(self) -> Shape:
        """Sizes, outermost first."""

    def _elements(self) -> list[Any]:
        """Give the elements, row by row."""
        raise TypeMismatchError(f"{self!r} cannot be among plain values: give it alone, as one operand or argument")

    @abstractmethod
    def _take(self, places: list[int], shape: Shape) -> Any:
        """Give the elements at those places in that shape; of shape `()` the element alone."""

    @property
    @abstractmethod
    def _kind(self) -> type[Value]:
        """Type of the elements."""

    @property
    def dtype(self) -> Any:
        """The numpy dtype that holds the elements; its name where numpy is not installed."""
        np, name = numpy_or_none(), dtype_name(self._kind)
        return name if np is None else np.dtype(name)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:  # noqa: N802
        """The array with its dimensions in the opposite order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> Any:
        """Give the array with its dimensions in another order, by default the opposite one."""
        order = tuple(int(a) for part in axes for a in (part if isinstance(part, Sequence) else (part,)))
        order = order or tuple(reversed(range(self.ndim)))
        if sorted(a % max(self.ndim, 1) for a in order) != list(range(self.ndim)):
            raise ShapeError(f"{order} is no order of the {self.ndim} dimensions")
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(self.ndim)]
        places = [0]
        for axis in order:
            places = [place + i * steps[axis] for place in places for i in range(self.shape[axis])]
        return self._part(places, tuple(self.shape[axis] for axis in order))

    def reshape(self, *shape: int | Sequence[int]) -> Any:
        """Give the same elements in another shape, one size of which may be -1."""
        return self._part(list(range(self.size)), reshaped(self.shape, shape))

    def ravel(self) -> Any:
        """Give the elements row by row."""
        return self.reshape(self.size)

    flatten = ravel

    def _part(self, places: list[int], shape: Shape) -> Any:
        if not places:
            raise ShapeError("this part of the array has no element; an array of such values needs at least one")
        return self._take(places, shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Give an element or a part, by what numpy takes: integers, slices, `...`, None, masks and lists of indices."""
        return self._part(*index_places(self.shape, key))
