"""Encrypted values and arrays, which clients and servers exchange."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Generic, NoReturn, TypeVar

from solinas import _core
from solinas._errors import TypeMismatchError
from solinas._files import PathLike
from solinas._html import table
from solinas._integers import type_named
from solinas._protocols import NumpyProtocols
from solinas._shapes import NdArray, Shape
from solinas._values import NO_BOOL, Value

T_co = TypeVar("T_co", bound=Value, covariant=True)

NO_SERVER = (
    "an encrypted value has no operators of its own: bind it to a server, as in server.bind(x) + 1, or run a function "
    "decorated with @sl.program by server.run"
)


def _refuse(self: object, *_: object) -> NoReturn:
    raise TypeMismatchError(NO_SERVER)


class Ciphertext(NumpyProtocols, Generic[T_co]):
    """An encrypted value (`Encrypted`) or array (`EncryptedArray`). It holds the name of its key, not the key."""

    __slots__ = ("_inner",)
    __hash__ = None  # type: ignore[assignment]

    _inner: _core.Ciphertext

    def __init__(self) -> None:
        raise TypeError("a ciphertext cannot be constructed: call ClientKey.encrypt, ServerKey.run or Ciphertext.load")

    @staticmethod
    def _wrap(core: _core.Ciphertext) -> Ciphertext[Any]:
        cls = Encrypted if core.shape is None else EncryptedArray
        ciphertext: Ciphertext[Any] = cls.__new__(cls)
        ciphertext._inner = core
        return ciphertext

    @property
    def type(self) -> type[T_co]:
        """The type of the value, or of each element."""
        return type_named(self._inner.type_name)  # type: ignore[return-value]

    @property
    def key_id(self) -> str:
        """The name of the key pair that the ciphertext belongs to, in hexadecimal."""
        return self._inner.key_id

    @property
    def params(self) -> str:
        """The name of the parameter set."""
        return self._inner.params_name

    @property
    def form(self) -> str:
        """The encoding: `bits` (one bit in a block), `radix` (two bits in a block) or `slots` (many in one)."""
        return self._inner.form

    @property
    def margin(self) -> float | None:
        """The noise budget: the bits by which the noise may still grow.

        None under scheme `"tfhe"`, which removes the noise in every operation.
        """
        condition = self._inner.condition
        return condition[0] if condition else None

    @property
    def products_left(self) -> int | None:
        """The number of products in sequence that the ciphertext allows (schemes `"bgv"`, `"ntru"`, `"lwe"`).

        None under schemes that do not count products.
        """
        condition = self._inner.condition
        return condition[1] if condition else None

    def save(self, path: PathLike) -> None:
        """Write the ciphertext to a file. It replaces a ciphertext there. Raises FileError if it cannot."""
        self._inner.save(path)

    @staticmethod
    def load(path: PathLike) -> Ciphertext[Any]:
        """Read a ciphertext from a file. Raises FormatError if any byte is damaged."""
        return Ciphertext._wrap(_core.Ciphertext.load(path))

    def to_bytes(self) -> bytes:
        """Return the ciphertext as bytes, in the format of `save`."""
        return self._inner.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Ciphertext[Any]:
        """Read a ciphertext from bytes, in the format of `save`. Raises FormatError if any byte is damaged."""
        return Ciphertext._wrap(_core.Ciphertext.from_bytes(data))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Ciphertext.from_bytes, (self.to_bytes(),)

    def __bool__(self) -> bool:
        raise TypeMismatchError(NO_BOOL.format(what="an encrypted value"))

    def __index__(self) -> int:
        raise TypeMismatchError("an encrypted value is not a Python integer: decrypt it with the client key first")

    def __eq__(self, other: object) -> NoReturn:
        raise TypeMismatchError(NO_SERVER)

    def __ne__(self, other: object) -> NoReturn:
        raise TypeMismatchError(NO_SERVER)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _refuse
    __lshift__ = __rshift__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __neg__ = __pos__ = __invert__ = __abs__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _refuse
    __matmul__ = __rmatmul__ = __truediv__ = __rtruediv__ = _refuse

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"type": self._inner.type_name}
        if self._inner.shape is not None:
            rows["shape"] = tuple(self._inner.shape)
        rows |= {"parameters": self.params, "key": self.key_id[:8]}
        if self.products_left is not None:
            rows["products left"] = self.products_left
        return table("encrypted array" if self._inner.shape is not None else "encrypted value", rows)


def take(core: _core.Ciphertext, indices: list[int], shape: Shape) -> _core.Ciphertext:
    """Return the elements at these flat indices as an array of this shape. For shape `()` return a scalar."""
    if shape and indices == list(range(math.prod(core.shape or ()))):
        return core.reshape(list(shape))
    return core.take(indices, list(shape) or None)


class Encrypted(Ciphertext[T_co]):
    """An encrypted single value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<encrypted {self._inner.type_name}, key {self.key_id[:8]}>"


class EncryptedArray(NdArray, Ciphertext[T_co]):
    """An encrypted array with a shape as in numpy.

    Methods that only move elements, such as `reshape` and indexing, need no server.
    """

    __slots__ = ()

    @property
    def _kind(self) -> Any:
        return self.type

    @property
    def shape(self) -> Shape:
        """The size of each dimension, outermost first."""
        return tuple(self._inner.shape or ())

    def _take(self, indices: list[int], shape: Shape) -> Any:
        return Ciphertext._wrap(take(self._inner, indices, shape))

    @staticmethod
    def stack(items: Sequence[Ciphertext[T_co]]) -> EncryptedArray[T_co]:
        """Return one vector of encrypted values and of the elements of encrypted arrays, row by row.

        The items must have one type and one key.
        """
        if not items or not all(isinstance(item, Ciphertext) for item in items):
            raise TypeMismatchError("stack takes a list of one or more encrypted values")
        size = sum(math.prod(item._inner.shape or ()) for item in items)
        result: EncryptedArray[T_co] = EncryptedArray.__new__(EncryptedArray)
        result._inner = _core.Ciphertext.stack([item._inner for item in items], [size])
        return result

    def __repr__(self) -> str:
        return f"<encrypted array of {self._inner.type_name}, shape {self.shape}, key {self.key_id[:8]}>"


def stacked(columns: list[_core.Ciphertext], inner: Shape) -> Ciphertext[Any]:
    """Stack arrays of one shape along new last dimensions, of shape `inner`."""
    outer = tuple(columns[0].shape or ())
    if not outer:
        return Ciphertext._wrap(_core.Ciphertext.stack(columns, list(inner)))
    items = [column.take([i], None) for i in range(math.prod(outer)) for column in columns]
    return Ciphertext._wrap(_core.Ciphertext.stack(items, [*outer, *inner]))
