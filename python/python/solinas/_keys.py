"""Keys: their generation, the client's key, the public key, and the server's key."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, NoReturn, Self, TypeVar, overload

from solinas import _core
from solinas._arrays import EncryptedArray
from solinas._ciphertext import Ciphertext
from solinas._core import stored
from solinas._data import decode, encode, infer, rebuilt, shorten
from solinas._errors import ParameterError, RangeError, ShapeError, TypeMismatchError, WeakKeyWarning
from solinas._files import PathLike
from solinas._html import table
from solinas._job import Job, progress_callback
from solinas._params import ParamsInfo
from solinas._shapes import flatten
from solinas._text import Bytes
from solinas._values import Value

V = TypeVar("V", bound=Value)
S = TypeVar("S", bound=Bytes)

# The scheme whose key generation has checkpoints, and whose servers keep tables beside the key.
GENTRY_HALEVI = "gh"


def keygen(
    scheme: str = "tfhe",
    *,
    params: str | None = None,
    rotations: bool = False,
    research: bool = False,
    insecure_seed: int | None = None,
    checkpoint: PathLike | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> tuple[ClientKey, ServerKey]:
    """Generate a key pair: the client's secret key, and the key with which a server computes.

    - `scheme`: `"tfhe"`, `"bgv"`, `"ntru"`, `"lwe"` or `"gh"` (Gentry-Halevi).
    - `params`: the name of a parameter set, from `sl.params()`. Defaults to the default set of the scheme. Under scheme
      `"tfhe"`, `"gates"` and `"integers"` (the default) stand for the recommended sets.
    - `rotations`: whether the server's key can rotate slots, which `rotate`, `sum` and `dot` of arrays need. It applies
      to scheme `"ntru"` and requires `research=True`. Keys of scheme `"bgv"` can always rotate.
    - `research`: must be True for a set that is for research only. All sets of `"gh"` and most sets of `"ntru"` and
      `"lwe"` are.
    - `insecure_seed`: makes the keys reproducible and insecure, from 0 to 2^64 - 1. Use it in tests only.
    - `checkpoint`: a file that stores the progress of a long generation (scheme `"gh"`). The file is secret. A later
      call with the same arguments continues from it, or returns the same keys again. Delete it after both keys are
      saved. Without a checkpoint, a cancelled generation is lost.
    - `progress`: True for a progress bar of tqdm, or a function of the parts done and the total.

    Some parameter sets:

    - `"slots128-16384-7"` (the default of `"bgv"`): vectors of 16384 integers modulo 65537, 7 products in sequence.
    - `"bits128-8192-6"` (`"bgv"`): bits, 6 products in sequence.
    - `"boot128-16384-8"` (`"bgv"`): bits with bootstrapping, for circuits of any depth.
    - `"secure-16384-2"`, `"tight-512-12"` (`"ntru"`): dimension 16384 or 512, with 2 or 12 products in sequence.
    - `"slots-8192-3"` (`"ntru"`): vectors of integers modulo a prime.
    - `"boot-1024"` (`"ntru"`): bootstrapping.
    - `"leveled-secure-1"` (the default of `"lwe"`): bits, one product.
    - `"leveled-64-9"` (`"lwe"`, for research): bits, 9 products in sequence.

    Raises ParameterError for an unknown set, a set that needs `research=True` or a checkpoint under another scheme than
    `"gh"`, RangeError if a number is out of range.
    """
    if insecure_seed is not None and not 0 <= insecure_seed < 1 << 64:
        raise RangeError(f"insecure_seed {insecure_seed} is out of range: give an integer from 0 to 2^64 - 1")
    if checkpoint is not None and scheme != GENTRY_HALEVI:
        raise ParameterError(f"checkpoint applies to scheme {GENTRY_HALEVI} only, got scheme {scheme}: leave it out")
    with progress_callback(progress, "keys") as watch:
        client, server = _core.keygen(scheme, params, rotations, research, insecure_seed, checkpoint, watch)
    # The caller chose the parameters, so these keys never warn.
    return ClientKey._wrap(client, None), ServerKey._wrap(server, None)


def warn_of_weakness(weakness: str | None, callers: int) -> None:
    """Warn of a weak key. The warning names the line that is `callers` calls above this one."""
    if weakness is not None:
        message = f"{weakness}; to silence this warning, load the key with research=True"
        warnings.warn(message, WeakKeyWarning, stacklevel=callers + 1)


def _encrypted(key: _core.ClientKey | _core.PublicKey | _core.ServerKey, value: Any, to: Any) -> Any:
    """Encrypt plain data with a key. `to` is the type, or None to infer it from the data."""
    if isinstance(value, Bytes):
        return value._with(_encrypted(key, value.array, to))
    kind = infer(value) if to is None else to
    if not (isinstance(kind, type) and issubclass(kind, Value) and kind.width):
        raise TypeMismatchError(f"cannot tell the type of {shorten(value)}: write sl.u32(...) or encrypt(..., sl.U32)")
    shape, items = flatten(value)
    if shape is not None and not items:
        raise ShapeError("an encrypted array needs at least one element")
    bits = [encode(kind, item) for item in items]
    core = key.encrypt(stored(kind.name), None if shape is None else list(shape), bits)
    return Ciphertext._of_core(core, kind.name)


class _Key:
    """The common part of all keys: their identity, encryption and files."""

    __slots__ = ("_inner", "_weakness")
    _type: ClassVar[Any]
    _kind: ClassVar[str]
    _made_by: ClassVar[str]
    _inner: Any
    _weakness: str | None

    def __init__(self) -> None:
        raise TypeError(f"a {self._kind} cannot be constructed: call {self._made_by} or {type(self).__name__}.load")

    @classmethod
    def _wrap(cls, core: Any, weakness: str | None) -> Self:
        key = cls.__new__(cls)
        key._inner = core
        key._weakness = weakness
        return key

    @property
    def key_id(self) -> str:
        """The name of the key pair, in hexadecimal. All keys of a pair have the same name."""
        name: str = self._inner.key_id
        return name

    @property
    def params(self) -> ParamsInfo:
        """The parameter set of the key."""
        return ParamsInfo._from(self._inner.params)

    @overload
    def encrypt(self, value: V, to: None = None) -> V: ...
    @overload
    def encrypt(self, value: S, to: None = None) -> S: ...
    @overload
    def encrypt(self, value: Sequence[V], to: None = None) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: int, to: type[V]) -> V: ...
    @overload
    def encrypt(self, value: Sequence[Any], to: type[V]) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: Any, to: type[Value] | None = None) -> Any: ...
    def encrypt(self, value: Any, to: Any = None) -> Any:
        """Encrypt a value or an array.

        The data is a typed value, a bool, a numpy scalar or array, a Python integer, or nested lists of these. Python
        integers need the type `to`: `encrypt(sl.u32(5))`, `encrypt(5, sl.U32)`, `encrypt([1, 2], sl.U16)`,
        `encrypt(np.array([1, 2], dtype=np.uint16))`. A bool has the type `sl.Bool`. The result has the shape of the
        data.

        A server key encrypts with the public key in it. Server keys of scheme `"tfhe"` hold none: use
        `ClientKey.public_key`. With a public key, an array takes fewer bytes an element than single values.

        Raises TypeMismatchError if the type is unknown or does not suit the data, RangeError if a value does not fit,
        and ShapeError for an empty array. A loaded key that is weak issues a `WeakKeyWarning`. Raises ParameterError if
        the parameter set is for research only and the key was loaded without `research=True`.
        """
        warn_of_weakness(self._weakness, 2)
        return _encrypted(self._inner, value, to)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the key to a file. Raises FileError if the file exists, unless `overwrite` is True.

        Only its owner may read the file of a client key. Keep it secret.
        """
        self._inner.save(path, overwrite)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the key pair, 8 groups of 4 characters. It binds the parameters and the whole public key.

        The owner tells it to all who encrypt. None for a server key of scheme `"tfhe"` from an early development
        version.
        """
        text: str | None = self._inner.fingerprint
        return text

    @classmethod
    def load(cls, path: PathLike, *, research: bool = False) -> Self:
        """Read a key from a file. Raises FormatError if it is damaged.

        `research=True` lets the key encrypt under a parameter set for research only, and silences WeakKeyWarning.
        """
        core = cls._type.load(path, research)
        return cls._wrap(core, None if research else core.weakness())

    def to_bytes(self) -> bytes:
        """Return the key as bytes, in the format of `save`. The bytes of a client key are secret."""
        data: bytes = self._inner.to_bytes()
        return data

    @classmethod
    def from_bytes(cls, data: bytes, *, research: bool = False) -> Self:
        """Read a key from bytes, as `load` does from a file."""
        core = cls._type.from_bytes(data, research)
        return cls._wrap(core, None if research else core.weakness())

    def __repr__(self) -> str:
        return f"<{self._kind} {self.key_id[:8]}, {self.params.name}>"

    def _repr_html_(self) -> str:
        return table(self._kind, {"key": self.key_id[:8], "parameters": self.params.name})


class _SharedKey(_Key):
    """A key that others may have, and that can be pickled."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return partial(type(self).from_bytes, research=self._weakness is None), (self.to_bytes(),)


class ClientKey(_Key):
    """The secret key of a client. It encrypts and decrypts, and never leaves the client."""

    __slots__ = ()
    _type = _core.ClientKey
    _kind = "client key"
    _made_by = "sl.keygen"
    _inner: _core.ClientKey

    @classmethod
    def load(cls, path: PathLike, *, research: bool = False, exposed: bool = False) -> Self:
        """Read a key from a file. Raises FormatError if it is damaged, and FileError if others can read the file.

        `research=True` lets the key encrypt under a parameter set for research only, and silences WeakKeyWarning.
        `exposed=True` accepts a file that other users of the machine can read.
        """
        core = cls._type.load(path, research, exposed)
        return cls._wrap(core, None if research else core.weakness())

    def public_key(self) -> PublicKey:
        """Return the public key, with which anyone encrypts. Every call returns the same key.

        Only scheme `"tfhe"` has public keys of their own. In the other schemes the server key encrypts, and this method
        raises ParameterError.
        """
        return PublicKey._wrap(self._inner.public_key(), self._weakness)

    def decrypt(self, value: Any) -> Any:
        """Decrypt a value, an array, or a tuple or list of these.

        Returns an int or bool for a value, a numpy array (nested lists without numpy) for an array, a tuple for a
        tuple. A string gives a str or bytes, and an array of strings nested lists of them. A fixed-point number gives a
        float if its type has at most 53 bits, else a `Fraction`; both are exact.

        Raises KeyMismatchError for the ciphertext of another key, NoiseError if it has too much noise, and
        TypeMismatchError for a recorded value that no server has computed.
        """
        if isinstance(value, (tuple, list)):
            return rebuilt(value, [self.decrypt(part) for part in value])
        if isinstance(value, Bytes):
            return value._decoded([int(byte) for byte in flatten(self.decrypt(value.array))[1]])
        if not isinstance(value, (Value, EncryptedArray)):
            hint = "; call its result() first" if isinstance(value, Job) else ""
            raise TypeMismatchError(f"decrypt takes encrypted values, got {shorten(value)}{hint}")
        kind = value.type if isinstance(value, EncryptedArray) else type(value)
        core = value._computed
        return decode(kind, None if core.shape is None else tuple(core.shape), self._inner.decrypt(core))

    def __reduce__(self) -> NoReturn:
        raise TypeMismatchError(
            "a client key cannot be pickled, because a pickle may leave the client and the key decrypts everything. "
            "Send ciphertexts and the server key; store this key with save()"
        )

    def __copy__(self) -> ClientKey:
        return self

    def __deepcopy__(self, memo: object) -> ClientKey:
        return self

    def __repr__(self) -> str:
        return f"<client key {self.key_id[:8]}, {self.params.name}, secret>"

    def _repr_html_(self) -> str:
        return table(
            "client key",
            {"key": self.key_id[:8], "parameters": self.params.name, "content": "secret, not shown"},
        )


class PublicKey(_SharedKey):
    """The public key of scheme `"tfhe"`: anyone encrypts with it, and only the client key decrypts."""

    __slots__ = ()
    _type = _core.PublicKey
    _kind = "public key"
    _made_by = "ClientKey.public_key"
    _inner: _core.PublicKey

    @classmethod
    def load(cls, path: PathLike, *, research: bool = False, fingerprint: str | None = None) -> Self:
        """Read a key from a file. Raises FormatError if it is damaged.

        `fingerprint` is the one that the owner of the key told, on another way than that of the file: 8 groups of 4
        characters, or the whole id of 64 hexadecimal digits. Raises KeyMismatchError if the key has another one, and
        ParameterError for a text that is no fingerprint. `research=True` lets the key encrypt under a parameter set for
        research only, and silences WeakKeyWarning.
        """
        return cls._recognised(cls._type.load(path, research), research, fingerprint)

    @classmethod
    def from_bytes(cls, data: bytes, *, research: bool = False, fingerprint: str | None = None) -> Self:
        """Read a key from bytes, as `load` does from a file."""
        return cls._recognised(cls._type.from_bytes(data, research), research, fingerprint)

    @classmethod
    def _recognised(cls, core: _core.PublicKey, research: bool, fingerprint: str | None) -> Self:
        if fingerprint is not None:
            core.check_fingerprint(fingerprint)
        elif not core.id_binds_key():
            message = f"the id of this key does not bind it: compare its fingerprint {core.fingerprint}"
            warnings.warn(message, WeakKeyWarning, stacklevel=3)
        return cls._wrap(core, None if research else core.weakness())


class ServerKey(_SharedKey):
    """The public evaluation key, which decrypts nothing. It is data: `sl.Server(server_key)` computes with it."""

    __slots__ = ()
    _type = _core.ServerKey
    _kind = "server key"
    _made_by = "sl.keygen"
    _inner: _core.ServerKey

    def run(self, *_: Any, **__: Any) -> NoReturn:
        """Raise TypeMismatchError, because a server key is data and does not compute."""
        raise TypeMismatchError(
            "a server key does not compute: make a server, as in server = sl.Server(server_key), then call server.run"
        )

    start = run
    estimate = run
