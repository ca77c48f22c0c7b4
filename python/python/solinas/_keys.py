"""Keys, servers and jobs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NoReturn, TypeVar, overload

from solinas import _core
from solinas._bound import BoundArray, Input
from solinas._cipher import Ciphertext, Encrypted, EncryptedArray
from solinas._circuit import Circuit
from solinas._data import decode, encode, infer, short
from solinas._errors import KeyMismatchError, RangeError, ShapeError, TypeMismatchError, WeakKeyWarning
from solinas._files import PathLike
from solinas._html import table
from solinas._job import Job, watching
from solinas._program import Program
from solinas._shapes import flatten
from solinas._values import Value

V = TypeVar("V", bound=Value)


def keygen(
    scheme: str = "tfhe",
    *,
    params: str | None = None,
    rotations: bool = False,
    research: bool = False,
    insecure_seed: int | None = None,
    checkpoint: PathLike | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: bool | Callable[[int, int], object] = False,
) -> tuple[ClientKey, ServerKey]:
    """Make a pair of keys: the client's secret one, and the server's, which only computes.

    `params` names a parameter set (see `sl.params()`; `"gates"` and `"integers"`, the default, are short for the
    recommended ones); sets for research alone, as are all of scheme `"gh"` (Gentry-Halevi) and most of schemes `"ntru"`
    and `"lwe"`, need `research=True`. Sets of scheme `"ntru"` say dimension and products in a row: `"secure-16384-2"`,
    `"tight-512-12"`, of vectors of integers modulo a prime `"slots-8192-3"`, and those that bootstrap `"boot-1024"`;
    those of scheme `"bgv"` security, dimension and products in a row: `"slots128-16384-8"`, its default, of vectors of
    16384 integers modulo 65537, `"bits128-8192-6"` of bits, `"boot128-16384-8"` of bits that are bootstrapped, for
    circuits of any depth; those of scheme `"lwe"` hold bits: `"leveled-secure-1"`, its default, allows one product,
    `"leveled-64-9"`, for research, nine in a row.
    `rotations=True` gives the server's key what rotates slots, for `rotate`, `sum` and `dot` across the elements of
    arrays (scheme `"ntru"`, with `research=True`; keys of `"bgv"` have it).
    `threads` limits the server's threads, `memory` the bytes of its tables (scheme `"gh"`; by default
    `SOLINAS_MEMORY_MIB`, or three quarters of what is free).
    `progress` is True for a bar of tqdm, which has to be installed, or a function that gets parts done and parts in
    all.
    `checkpoint` is a secret file that keeps what is done of a long generation (scheme `"gh"`): the same call goes on
    from there, or gives the same keys again. Remove it when both keys are saved. Without it a generation that is
    cancelled is lost.
    `insecure_seed` makes the keys reproducible and worthless as secrets: for tests alone.
    """
    if insecure_seed is not None and not 0 <= insecure_seed < 1 << 64:
        raise RangeError(f"insecure_seed {insecure_seed} is out of range: give an integer from 0 to 2^64 - 1")
    limits = _threads(threads), _memory(memory)
    with watching(progress, "keys") as watch:
        client, server = _core.keygen(scheme, params, rotations, research, insecure_seed, checkpoint, limits, watch)
    # The caller that made the keys knows what they are.
    return ClientKey._wrap(client, None), ServerKey._wrap(server, None)


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise RangeError(f"threads is {threads}: give a positive number, or None for all of the machine's")
    return threads


def _memory(memory: int | None) -> int | None:
    if memory is not None and not 0 <= memory < 1 << 64:
        raise RangeError(f"memory is {memory}: give a number of bytes, or None for what is free")
    return memory


def _warn(weakness: str | None, callers: int) -> None:
    """Warn of a weak key, at the line that many calls above this one."""
    if weakness is not None:
        message = f"{weakness}; load it with research=True to say that you know"
        warnings.warn(message, WeakKeyWarning, stacklevel=callers + 1)


def params() -> list[_core.ParamsInfo]:
    """Give every parameter set, the default first."""
    return _core.params()


def _encrypted(key: _core.ClientKey | _core.ServerKey, value: Any, to: Any) -> Any:
    """Encrypt with what a key has for it."""
    kind = infer(value) if to is None else to
    if not (isinstance(kind, type) and issubclass(kind, Value) and kind.width):
        raise TypeMismatchError(
            f"the type to encrypt {short(value)} as is not known: write sl.u32(...) or encrypt(..., sl.U32)"
        )
    shape, items = flatten(value)
    if shape is not None and not items:
        raise ShapeError("an encrypted array needs at least one element")
    bits = [encode(kind, item) for item in items]
    return Ciphertext._wrap(key.encrypt(kind.name, None if shape is None else list(shape), bits))


class ClientKey:
    """The secret key: encrypts and decrypts. It stays with the client."""

    __slots__ = ("_inner", "_weakness")
    _inner: _core.ClientKey
    _weakness: str | None

    def __init__(self) -> None:
        raise TypeError("a client key comes from sl.keygen or ClientKey.load")

    @classmethod
    def _wrap(cls, core: _core.ClientKey, weakness: str | None) -> ClientKey:
        key = cls.__new__(cls)
        key._inner = core
        key._weakness = weakness
        return key

    @property
    def key_id(self) -> str:
        """Name of the pair of keys."""
        return self._inner.key_id

    @property
    def params(self) -> _core.ParamsInfo:
        """Parameter set."""
        return self._inner.params

    @overload
    def encrypt(self, value: V, to: None = None) -> Encrypted[V]: ...
    @overload
    def encrypt(self, value: Sequence[V], to: None = None) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: int, to: type[V]) -> Encrypted[V]: ...
    @overload
    def encrypt(self, value: Sequence[Any], to: type[V]) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: Any, to: type[Value] | None = None) -> Any: ...
    def encrypt(self, value: Any, to: Any = None) -> Any:
        """Encrypt a typed value, a numpy array, or Python integers (also nested lists of them) with their type.

        `encrypt(sl.u32(5))`, `encrypt(5, sl.U32)`, `encrypt(np.array([1, 2], dtype=np.uint16))`,
        `encrypt([1, 2], sl.U16)`. A bool is no number: `encrypt(True)` is of type `sl.Bool`. A loaded key that is for
        research alone, or made from a chosen seed, gives a `WeakKeyWarning`.
        """
        _warn(self._weakness, 2)
        return _encrypted(self._inner, value, to)

    def decrypt(self, value: Any) -> Any:
        """Give the int or bool of a scalar, the numpy array (or nested lists) of an array, the tuple of a tuple."""
        if isinstance(value, tuple):
            return tuple(self.decrypt(item) for item in value)
        if isinstance(value, BoundArray) or (isinstance(value, Value) and not value.is_plain):
            value = value.encrypted
        if not isinstance(value, Ciphertext):
            hint = "; call its result() first" if isinstance(value, Job) else ""
            raise TypeMismatchError(f"decrypt takes encrypted values, got {short(value)}{hint}")
        shape = value.shape if isinstance(value, EncryptedArray) else None
        return decode(value.type, shape, self._inner.decrypt(value._inner))

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write it to a file that its owner alone may read; keep that file secret."""
        self._inner.save(path, overwrite)

    @classmethod
    def load(cls, path: PathLike, *, research: bool = False) -> ClientKey:
        """Read it from a file; every byte is checked. `research=True` silences `WeakKeyWarning`."""
        core = _core.ClientKey.load(path)
        return cls._wrap(core, None if research else core.weakness())

    def to_bytes(self) -> bytes:
        """Give the bytes of its file: the secret itself."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes, *, research: bool = False) -> ClientKey:
        """Read it from the bytes of a file, as `load` does."""
        core = _core.ClientKey.from_bytes(data)
        return cls._wrap(core, None if research else core.weakness())

    def __reduce__(self) -> NoReturn:
        raise TypeMismatchError(
            "a client key is not pickled: pickles travel to other processes and machines, and whoever has this one "
            "decrypts everything. Send ciphertexts and the server key; store this key with save()"
        )

    def __copy__(self) -> ClientKey:
        return self

    def __deepcopy__(self, memo: object) -> ClientKey:
        return self

    def __repr__(self) -> str:
        return f"<client key {self.key_id[:8]}, {self._inner.params.name}, secret>"

    def _repr_html_(self) -> str:
        return table(
            "client key",
            {"key": self.key_id[:8], "parameters": self._inner.params.name, "content": "secret, not shown"},
        )


def _ciphertexts(inputs: Sequence[Any]) -> list[_core.Ciphertext]:
    """Give the ciphertexts of the inputs of a circuit."""
    cores = []
    for item in inputs:
        value = item.encrypted if isinstance(item, (Value, BoundArray)) else item
        if not isinstance(value, Ciphertext):
            raise TypeMismatchError(f"a circuit takes encrypted values, got {short(item)}")
        cores.append(value._inner)
    return cores


def _circuit_output(outputs: list[_core.Ciphertext]) -> Any:
    """Give the output of a circuit, or the tuple where there are more."""
    values = tuple(Ciphertext._wrap(output) for output in outputs)
    return values[0] if len(values) == 1 else values


class ServerKey:
    """The public evaluation key and the threads that work with it: a server, which sees no plain value."""

    __slots__ = ("_inner", "_weakness")
    _inner: _core.ServerKey
    _weakness: str | None

    def __init__(self) -> None:
        raise TypeError("a server key comes from sl.keygen or ServerKey.load")

    @classmethod
    def _wrap(cls, core: _core.ServerKey, weakness: str | None) -> ServerKey:
        key = cls.__new__(cls)
        key._inner = core
        key._weakness = weakness
        return key

    @property
    def key_id(self) -> str:
        """Name of the pair of keys."""
        return self._inner.key_id

    @property
    def params(self) -> _core.ParamsInfo:
        """Parameter set."""
        return self._inner.params

    @property
    def threads(self) -> int:
        """Number of threads it works on."""
        return self._inner.threads()

    @property
    def memory_bytes(self) -> int:
        """Bytes of the key made ready for work."""
        return self._inner.memory_bytes()

    def run(self, program: Program[..., Any] | Circuit, /, *args: Any, **kwargs: Any) -> Job[Any]:
        """Start a program in the background.

        Arguments are encrypted values, or plain ones, which the server then sees. Arrays where the program takes single
        values run element by element; their shapes broadcast, and scalars go with every element. Of integers modulo
        a number, a result that only single values and sums go into is a single value.
        """
        if isinstance(program, Circuit):
            if kwargs:
                raise TypeMismatchError("a circuit takes its inputs in order: leave the names out")
            cores = _ciphertexts(args)
            self._check(cores)
            return Job(self._inner.run_circuit(program._inner, cores), _circuit_output)
        if not isinstance(program, Program):
            raise TypeMismatchError(f"run takes a function under @sl.program, got {short(program)}")
        inputs = program._encrypted_inputs(args, kwargs)
        self._check([item for item in inputs if isinstance(item, _core.Ciphertext)])
        return Job(self._inner.run(program._inner, inputs), program._output_form)

    def run_circuit(self, circuit: Circuit | PathLike, *inputs: Ciphertext[Any]) -> Job[Any]:
        """Start a circuit, or its file or text in Bristol, BLIF or Yosys JSON, on an encrypted value for each input.

        An input is an integer of the port's width, or an array of bools whose last axis has the port's bits (see
        `sl.bits`), which alone serves ports of more than 128 bits. The result is one encrypted value, or a tuple where
        the circuit has more outputs; an output of more than 128 bits is an array of bools.
        """
        if not isinstance(circuit, Circuit):
            # Every format has a line break; no sensible path has.
            circuit = Circuit(circuit) if isinstance(circuit, str) and "\n" in circuit else Circuit.load(circuit)
        cores = _ciphertexts(inputs)
        self._check(cores)
        return Job(self._inner.run_circuit(circuit._inner, cores), _circuit_output)

    def _check(self, inputs: Sequence[_core.Ciphertext]) -> None:
        """Check the inputs of the public method that calls this, and warn its caller of a weak key."""
        _warn(self._weakness, 3)
        for item in inputs:
            if item.key_id != self.key_id:
                raise KeyMismatchError(
                    f"the ciphertext belongs to key {item.key_id[:8]}, this server to key {self.key_id[:8]}; "
                    "use what one sl.keygen made"
                )

    @overload
    def encrypt(self, value: V, to: None = None) -> Encrypted[V]: ...
    @overload
    def encrypt(self, value: Sequence[V], to: None = None) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: int, to: type[V]) -> Encrypted[V]: ...
    @overload
    def encrypt(self, value: Sequence[Any], to: type[V]) -> EncryptedArray[V]: ...
    @overload
    def encrypt(self, value: Any, to: type[Value] | None = None) -> Any: ...
    def encrypt(self, value: Any, to: Any = None) -> Any:
        """Encrypt as `ClientKey.encrypt` does, with the public key that is part of this one (not under `"tfhe"`)."""
        _warn(self._weakness, 2)
        return _encrypted(self._inner, value, to)

    @overload
    def bind(self, value: Encrypted[V]) -> V: ...
    @overload
    def bind(self, value: EncryptedArray[V]) -> BoundArray[V]: ...
    @overload
    def bind(self, value: Ciphertext[V]) -> Any: ...
    def bind(self, value: Any) -> Any:
        """Give the value or array with operators that run on this server at once: `server.bind(a) + 1`.

        `.encrypted` gives the ciphertext back.
        """
        if not isinstance(value, Ciphertext):
            raise TypeMismatchError(f"bind takes an encrypted value, got {short(value)}")
        self._check([value._inner])
        if isinstance(value, EncryptedArray):
            return BoundArray._wrap(self, value._inner)
        return value.type._make(self, value._inner, "the bound value")

    # Short for `bind`.
    __call__ = bind

    def _apply(self, op: str, args: Sequence[Value], to: type[V], table: list[int] | None, by: int) -> V:
        """Carry out one operation on bound values, for their operators."""
        graph = _core.Graph()
        nodes: list[int] = []
        inputs: list[Input] = []
        for i, arg in enumerate(args):
            if arg.is_plain:
                nodes.append(graph.constant(arg._data, arg.name))
            else:
                nodes.append(graph.input(f"operand {i}", arg.name))
                inputs.append(arg._data)
        graph.output("result", graph.apply(op, nodes, to.name, table, by))
        (output,) = self._run_core(graph.finish(), inputs)
        return to._make(self, output)

    def _run_core(self, program: _core.Program, inputs: list[Input]) -> list[_core.Ciphertext]:
        """Run a graph and wait, for operators on bound values."""
        return self._inner.run(program, inputs).result()

    def convert(self, value: Ciphertext[V], form: Literal["bits", "radix"]) -> Job[Any]:
        """Start a conversion to another form: `bits` (one in each block) or `radix` (two)."""
        self._check([value._inner])
        return Job(self._inner.convert(value._inner, form), lambda outputs: Ciphertext._wrap(outputs[0]))

    def estimate(self, program: Program[..., Any] | Circuit, elements: int = 1) -> _core.Estimate:
        """Give bootstraps, depth and seconds of a program on this server, which measures its speed first.

        Under scheme gh recrypts and products stand for bootstraps; under schemes ntru, bgv and lwe there are products,
        rotations of slots where the program goes across elements (of a full polynomial, if `elements` is 1), and
        bootstraps where the parameter set has them.
        """
        if isinstance(program, Circuit):
            if elements != 1:
                raise TypeMismatchError("the estimate of a circuit is of one element: leave `elements` out")
            return self._inner.estimate_circuit(program._inner)
        if not isinstance(program, Program):
            raise TypeMismatchError(f"estimate takes a function under @sl.program, got {short(program)}")
        if elements < 1:
            raise RangeError(f"elements is {elements}: give a positive number")
        return self._inner.estimate(program._inner, elements)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write it to a file."""
        self._inner.save(path, overwrite)

    @classmethod
    def load(
        cls, path: PathLike, *, threads: int | None = None, memory: int | None = None, research: bool = False
    ) -> ServerKey:
        """Read it from a file; every byte is checked. `research=True` silences `WeakKeyWarning`."""
        core = _core.ServerKey.load(path, _threads(threads), _memory(memory))
        return cls._wrap(core, None if research else core.weakness())

    def to_bytes(self) -> bytes:
        """Give the bytes of its file."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(
        cls, data: bytes, *, threads: int | None = None, memory: int | None = None, research: bool = False
    ) -> ServerKey:
        """Read it from the bytes of a file, as `load` does."""
        core = _core.ServerKey.from_bytes(data, _threads(threads), _memory(memory))
        return cls._wrap(core, None if research else core.weakness())

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return partial(ServerKey.from_bytes, research=self._weakness is None), (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<server key {self.key_id[:8]}, {self._inner.params.name}>"

    def _repr_html_(self) -> str:
        return table("server key", {"key": self.key_id[:8], "parameters": self._inner.params.name})
