"""The ciphertext of an encrypted value or array: its key, its noise and its files."""

from __future__ import annotations

from typing import Any, Self

from solinas import _core
from solinas._core import Expr
from solinas._errors import TypeMismatchError
from solinas._files import PathLike
from solinas._html import table
from solinas._protocols import NumpyProtocols


class Ciphertext(NumpyProtocols):
    """The common part of encrypted values and encrypted arrays.

    Each type is one class for its plain, encrypted and recorded values. A value has a ciphertext if a client encrypted
    it or a server computed it. The attributes and methods of this class raise TypeMismatchError for other values.
    """

    __slots__ = ()

    _data: Any

    @classmethod
    def _of_expr(cls, expr: Expr) -> Any:
        """Return the value or array of an expression."""
        from solinas._arrays import EncryptedArray
        from solinas._types import type_named

        return type_named(expr.type)._make(expr) if expr.shape is None else EncryptedArray._make(expr)

    @classmethod
    def _of_core(cls, core: _core.Ciphertext, type: str) -> Any:
        """Return the value or array of a ciphertext that holds a type."""
        return Ciphertext._of_expr(Expr.ciphertext(core, type))

    @property
    def is_computed(self) -> bool:
        """Whether the value has a ciphertext. A recorded value gets one when a server runs it."""
        return isinstance(self._data, Expr) and self._data.is_known

    @property
    def _computed(self) -> _core.Ciphertext:
        """The ciphertext. Raises TypeMismatchError if there is none."""
        data = self._data
        if not isinstance(data, Expr) or data.is_traced:
            raise TypeMismatchError(f"{self!r} is not encrypted: encrypt it first, as in client.encrypt(...)")
        if (known := data.settle()) is None:
            raise TypeMismatchError(f"{self!r} is recorded and not computed: run it first, as in server.run(x)")
        return known

    @property
    def key_id(self) -> str:
        """The name of the key pair that the ciphertext belongs to, in hexadecimal."""
        return self._computed.key_id

    @property
    def params(self) -> str:
        """The name of the parameter set."""
        return self._computed.params_name

    @property
    def form(self) -> str:
        """The encoding: `bits` (one bit in a block), `radix` (two bits in a block) or `slots` (many in one)."""
        return self._computed.form

    @property
    def margin(self) -> float | None:
        """The noise budget: the bits by which the noise may still grow.

        None under scheme `"tfhe"`, which removes the noise in every operation.
        """
        condition = self._computed.condition
        return condition[0] if condition else None

    @property
    def products_left(self) -> int | None:
        """The number of products in sequence that the ciphertext allows (schemes `"bgv"`, `"ntru"`, `"lwe"`).

        None under schemes that do not count products.
        """
        condition = self._computed.condition
        return condition[1] if condition else None

    def save(self, path: PathLike) -> None:
        """Write the ciphertext to a file. It replaces a ciphertext there. Raises FileError if it cannot."""
        self._computed.save(path)

    @classmethod
    def load(cls, path: PathLike) -> Self:
        """Read a ciphertext from a file.

        `sl.Ciphertext.load` reads any type, `sl.U32.load` or `sl.EncryptedArray.load` that type alone. Raises
        FormatError if any byte is damaged, TypeMismatchError for another type.
        """
        return cls._checked(_core.Ciphertext.load(path), str(path))

    def to_bytes(self) -> bytes:
        """Return the ciphertext as bytes, in the format of `save`."""
        return self._computed.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a ciphertext from bytes, in the format of `save`. Raises as `load` does."""
        return cls._checked(_core.Ciphertext.from_bytes(data), "these bytes")

    @classmethod
    def _checked(cls, core: _core.Ciphertext, place: str) -> Self:
        value = cls._of_core(core, core.type_name)
        if not isinstance(value, cls):
            name = getattr(cls, "name", "") or cls.__name__
            raise TypeMismatchError(f"{place}: this is {value!r}, not {name}: read it with sl.Ciphertext")
        return value

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _unpickled, (self.to_bytes(), self._data.type)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def _repr_html_(self) -> str | None:
        if not self.is_computed:
            return None
        rows: dict[str, object] = {"type": self._data.type}
        if self._computed.shape is not None:
            rows["shape"] = tuple(self._computed.shape)
        rows |= {"parameters": self.params, "key": self.key_id[:8]}
        if self.products_left is not None:
            rows["products left"] = self.products_left
        return table("encrypted value" if self._computed.shape is None else "encrypted array", rows)

    def _state(self) -> str:
        """Return the key of the ciphertext, or that there is none, for `repr`."""
        return f"key {self.key_id[:8]}" if self.is_computed else "not computed"


def _unpickled(data: bytes, type: str) -> Any:
    """Return the value or array whose ciphertext is in these bytes and holds a type."""
    return Ciphertext._of_core(_core.Ciphertext.from_bytes(data), type)
