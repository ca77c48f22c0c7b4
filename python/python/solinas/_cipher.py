"""Encrypted values and arrays, as clients and servers pass them on."""

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
    "an encrypted value alone cannot compute: bind it to a server, as in server.bind(x) + 1, or run a function under "
    "@sl.program with server.run"
)


def _refuse(self: object, *_: object) -> NoReturn:
    raise TypeMismatchError(NO_SERVER)


class Ciphertext(NumpyProtocols, Generic[T_co]):
    """An encrypted value (`Encrypted`) or array (`EncryptedArray`), without the key it belongs to."""

    __slots__ = ("_inner",)
    __hash__ = None  # type: ignore[assignment]

    _inner: _core.Ciphertext

    def __init__(self) -> None:
        raise TypeError("ciphertexts come from ClientKey.encrypt, from a server or from Ciphertext.load")

    @staticmethod
    def _wrap(core: _core.Ciphertext) -> Ciphertext[Any]:
        cls = Encrypted if core.shape is None else EncryptedArray
        ciphertext: Ciphertext[Any] = cls.__new__(cls)
        ciphertext._inner = core
        return ciphertext

    @property
    def type(self) -> type[T_co]:
        """Type of the value, or of each element."""
        return type_named(self._inner.type_name)  # type: ignore[return-value]

    @property
    def key_id(self) -> str:
        """Name of the key it belongs to."""
        return self._inner.key_id

    @property
    def params(self) -> str:
        """Name of its parameter set."""
        return self._inner.params_name

    @property
    def form(self) -> str:
        """How the values lie: `bits` (one in each block), `radix` (two), or `slots` (many in one)."""
        return self._inner.form

    @property
    def margin(self) -> float | None:
        """Bits by which its noise may still grow; None where operations do not wear it out (scheme `"tfhe"`)."""
        condition = self._inner.condition
        return condition[0] if condition else None

    @property
    def products_left(self) -> int | None:
        """Products in a row that it allows (schemes `"bgv"`, `"ntru"`, `"lwe"`); None where nothing counts them."""
        condition = self._inner.condition
        return condition[1] if condition else None

    def save(self, path: PathLike) -> None:
        """Write it to a file, replacing an older ciphertext there."""
        self._inner.save(path)

    @staticmethod
    def load(path: PathLike) -> Ciphertext[Any]:
        """Read it from a file; every byte is checked."""
        return Ciphertext._wrap(_core.Ciphertext.load(path))

    def to_bytes(self) -> bytes:
        """Give the bytes of its file."""
        return self._inner.to_bytes()

    @staticmethod
    def from_bytes(data: bytes) -> Ciphertext[Any]:
        """Read it from the bytes of a file."""
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


def take(core: _core.Ciphertext, places: list[int], shape: Shape) -> _core.Ciphertext:
    """Elements at those places in that shape; of shape `()` the element alone."""
    if shape and places == list(range(math.prod(core.shape or ()))):
        return core.reshape(list(shape))
    return core.take(places, list(shape) or None)


class Encrypted(Ciphertext[T_co]):
    """An encrypted scalar."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<encrypted {self._inner.type_name}, key {self.key_id[:8]}>"


class EncryptedArray(NdArray, Ciphertext[T_co]):
    """An encrypted array, of a shape like numpy's. What only moves its elements needs no server."""

    __slots__ = ()

    @property
    def _kind(self) -> Any:
        return self.type

    @property
    def shape(self) -> Shape:
        """Sizes, outermost first."""
        return tuple(self._inner.shape or ())

    def _take(self, places: list[int], shape: Shape) -> Any:
        return Ciphertext._wrap(take(self._inner, places, shape))

    @staticmethod
    def stack(items: Sequence[Ciphertext[T_co]]) -> EncryptedArray[T_co]:
        """Give the array of encrypted scalars of one type and key, and of the elements of arrays, row by row."""
        if not items or not all(isinstance(item, Ciphertext) for item in items):
            raise TypeMismatchError("stack takes a list of encrypted values, at least one")
        size = sum(math.prod(item._inner.shape or ()) for item in items)
        result: EncryptedArray[T_co] = EncryptedArray.__new__(EncryptedArray)
        result._inner = _core.Ciphertext.stack([item._inner for item in items], [size])
        return result

    def __repr__(self) -> str:
        return f"<encrypted array of {self._inner.type_name}, shape {self.shape}, key {self.key_id[:8]}>"


def stacked(columns: list[_core.Ciphertext], inner: Shape) -> Ciphertext[Any]:
    """Give the array whose last dimensions are those columns."""
    outer = tuple(columns[0].shape or ())
    if not outer:
        return Ciphertext._wrap(_core.Ciphertext.stack(columns, list(inner)))
    items = [column.take([i], None) for i in range(math.prod(outer)) for column in columns]
    return Ciphertext._wrap(_core.Ciphertext.stack(items, [*outer, *inner]))
