"""Encrypted values and arrays, as clients and servers pass them on."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, Generic, NoReturn, TypeVar

from solinas import _core
from solinas._data import Shape, index_places
from solinas._errors import ShapeError, TypeMismatchError
from solinas._values import NO_BOOL, Value, type_named

T_co = TypeVar("T_co", bound=Value, covariant=True)

PathLike = str | os.PathLike[str]

NO_SERVER = (
    "an encrypted value alone cannot compute: bind it to a server, as in server.bind(x) + 1, or run a function under "
    "@sl.program with server.run"
)


def _refuse(self: object, *_: object) -> NoReturn:
    raise TypeMismatchError(NO_SERVER)


class Ciphertext(Generic[T_co]):
    """An encrypted value (`Encrypted`) or array (`EncryptedArray`), without the key it belongs to."""

    __slots__ = ("_inner",)
    __array_ufunc__ = None
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
    __neg__ = __invert__ = __abs__ = _refuse


class Encrypted(Ciphertext[T_co]):
    """An encrypted scalar."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<encrypted {self._inner.type_name}, key {self.key_id[:8]}>"


class EncryptedArray(Ciphertext[T_co]):
    """An encrypted array, of a shape like numpy's."""

    __slots__ = ()

    @property
    def shape(self) -> Shape:
        """Sizes, outermost first."""
        return tuple(self._inner.shape or ())

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Give an element or a part, by integers, slices and `...`."""
        places, shape = index_places(self.shape, key)
        if not places:
            raise ShapeError("this part of the array has no element; an encrypted array needs at least one")
        # An integer in a dimension removes it.
        scalar = not shape
        return Ciphertext._wrap(self._inner.take(places, None if scalar else list(shape)))

    def reshape(self, *shape: int | Sequence[int]) -> EncryptedArray[T_co]:
        """Give the same elements in another shape, one size of which may be -1."""
        sizes = [int(s) for part in shape for s in (part if isinstance(part, Sequence) else (part,))]
        if sizes.count(-1) == 1:
            rest = -math.prod(sizes)
            sizes[sizes.index(-1)] = self.size // rest if rest > 0 and self.size % rest == 0 else 0
        if not sizes or min(sizes) < 0 or math.prod(sizes) != self.size:
            raise ShapeError(f"an array of shape {self.shape} cannot be reshaped to {shape}")
        result: EncryptedArray[T_co] = EncryptedArray.__new__(EncryptedArray)
        result._inner = self._inner.reshape(sizes)
        return result

    def ravel(self) -> EncryptedArray[T_co]:
        """Give the elements row by row."""
        return self.reshape(self.size)

    @staticmethod
    def stack(items: Sequence[Encrypted[T_co]]) -> EncryptedArray[T_co]:
        """Give the array of encrypted scalars of one type and key."""
        if not items or not all(isinstance(item, Encrypted) for item in items):
            raise TypeMismatchError("stack takes a list of encrypted scalars, at least one")
        result: EncryptedArray[T_co] = EncryptedArray.__new__(EncryptedArray)
        result._inner = _core.Ciphertext.stack([item._inner for item in items], [len(items)])
        return result

    def __repr__(self) -> str:
        return f"<encrypted array of {self._inner.type_name}, shape {self.shape}, key {self.key_id[:8]}>"
