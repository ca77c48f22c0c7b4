"""Keys: their generation, the client's key, and the server's key with its operations."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NoReturn, TypeVar, overload

from solinas import _core
from solinas._bound import BoundArray, Input
from solinas._cipher import Ciphertext, Encrypted, EncryptedArray
from solinas._circuit import Circuit
from solinas._data import decode, encode, infer, shorten
from solinas._errors import KeyMismatchError, RangeError, ShapeError, TypeMismatchError, WeakKeyWarning
from solinas._files import PathLike
from solinas._html import table
from solinas._job import Job, progress_callback
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
    """Generate a key pair: the client's secret key, and the server's key, which only computes.

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
    - `threads`: the largest number of threads of the server. Defaults to the number of processors.
    - `memory`: the largest size of the server's tables in bytes (scheme `"gh"`). Defaults to `SOLINAS_MEMORY_MIB`, or
      to three quarters of the free memory.
    - `progress`: True for a progress bar of tqdm, or a function of the parts done and the total.

    Some parameter sets:

    - `"slots128-16384-8"` (the default of `"bgv"`): vectors of 16384 integers modulo 65537, 8 products in sequence.
    - `"bits128-8192-6"` (`"bgv"`): bits, 6 products in sequence.
    - `"boot128-16384-8"` (`"bgv"`): bits with bootstrapping, for circuits of any depth.
    - `"secure-16384-2"`, `"tight-512-12"` (`"ntru"`): dimension 16384 or 512, with 2 or 12 products in sequence.
    - `"slots-8192-3"` (`"ntru"`): vectors of integers modulo a prime.
    - `"boot-1024"` (`"ntru"`): bootstrapping.
    - `"leveled-secure-1"` (the default of `"lwe"`): bits, one product.
    - `"leveled-64-9"` (`"lwe"`, for research): bits, 9 products in sequence.

    Raises ParameterError for an unknown set or a set that needs `research=True`, RangeError if a number is out of
    range.
    """
    if insecure_seed is not None and not 0 <= insecure_seed < 1 << 64:
        raise RangeError(f"insecure_seed {insecure_seed} is out of range: give an integer from 0 to 2^64 - 1")
    limits = _threads(threads), _memory(memory)
    with progress_callback(progress, "keys") as watch:
        client, server = _core.keygen(scheme, params, rotations, research, insecure_seed, checkpoint, limits, watch)
    # The caller chose the parameters, so these keys never warn.
    return ClientKey._wrap(client, None), ServerKey._wrap(server, None)


def _threads(threads: int | None) -> int | None:
    if threads is not None and threads < 1:
        raise RangeError(f"threads is {threads}: give a positive number, or None for the number of processors")
    return threads


def _memory(memory: int | None) -> int | None:
    if memory is not None and not 0 <= memory < 1 << 64:
        raise RangeError(f"memory is {memory}: give a number of bytes from 0 to 2^64 - 1, or None for the default")
    return memory


def _warn(weakness: str | None, callers: int) -> None:
    """Warn of a weak key. The warning names the line that is `callers` calls above this one."""
    if weakness is not None:
        message = f"{weakness}; to silence this warning, load the key with research=True"
        warnings.warn(message, WeakKeyWarning, stacklevel=callers + 1)


def params() -> list[_core.ParamsInfo]:
    """Return every parameter set, the default first."""
    return _core.params()


def _encrypted(key: _core.ClientKey | _core.ServerKey, value: Any, to: Any) -> Any:
    """Encrypt plain data with a client or server key. `to` is the type, or None to infer it from the data."""
    kind = infer(value) if to is None else to
    if not (isinstance(kind, type) and issubclass(kind, Value) and kind.width):
        raise TypeMismatchError(f"cannot tell the type of {shorten(value)}: write sl.u32(...) or encrypt(..., sl.U32)")
    shape, items = flatten(value)
    if shape is not None and not items:
        raise ShapeError("an encrypted array needs at least one element")
    bits = [encode(kind, item) for item in items]
    return Ciphertext._wrap(key.encrypt(kind.name, None if shape is None else list(shape), bits))


class ClientKey:
    """The secret key of a client. It encrypts and decrypts, and never leaves the client."""

    __slots__ = ("_inner", "_weakness")
    _inner: _core.ClientKey
    _weakness: str | None

    def __init__(self) -> None:
        raise TypeError("a client key cannot be constructed: call sl.keygen or ClientKey.load")

    @classmethod
    def _wrap(cls, core: _core.ClientKey, weakness: str | None) -> ClientKey:
        key = cls.__new__(cls)
        key._inner = core
        key._weakness = weakness
        return key

    @property
    def key_id(self) -> str:
        """The name of the key pair, in hexadecimal. Both keys have the same name."""
        return self._inner.key_id

    @property
    def params(self) -> _core.ParamsInfo:
        """The parameter set of the key."""
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
        """Encrypt a value or an array.

        The data is a typed value, a bool, a numpy scalar or array, a Python integer, or nested lists of these. Python
        integers need the type `to`: `encrypt(sl.u32(5))`, `encrypt(5, sl.U32)`, `encrypt([1, 2], sl.U16)`,
        `encrypt(np.array([1, 2], dtype=np.uint16))`. A bool has the type `sl.Bool`. The result has the shape of the
        data.

        Raises TypeMismatchError if the type is unknown or does not suit the data, RangeError if a value does not fit,
        and ShapeError for an empty array. A loaded key that is weak issues a `WeakKeyWarning`.
        """
        _warn(self._weakness, 2)
        return _encrypted(self._inner, value, to)

    def decrypt(self, value: Any) -> Any:
        """Decrypt a value, an array or a tuple of these, also if they are bound to a server.

        Returns an int or bool for a value, a numpy array (nested lists without numpy) for an array, a tuple for a
        tuple. Raises KeyMismatchError for the ciphertext of another key, NoiseError if it has too much noise.
        """
        if isinstance(value, tuple):
            return tuple(self.decrypt(item) for item in value)
        if isinstance(value, BoundArray) or (isinstance(value, Value) and not value.is_plain):
            value = value.encrypted
        if not isinstance(value, Ciphertext):
            hint = "; call its result() first" if isinstance(value, Job) else ""
            raise TypeMismatchError(f"decrypt takes encrypted values, got {shorten(value)}{hint}")
        shape = value.shape if isinstance(value, EncryptedArray) else None
        return decode(value.type, shape, self._inner.decrypt(value._inner))

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the key to a file that only its owner may read. Keep it secret. Raises FileError if the file exists."""
        self._inner.save(path, overwrite)

    @classmethod
    def load(cls, path: PathLike, *, research: bool = False) -> ClientKey:
        """Read a key from a file. Raises FormatError if it is damaged. `research=True` silences WeakKeyWarning."""
        core = _core.ClientKey.load(path)
        return cls._wrap(core, None if research else core.weakness())

    def to_bytes(self) -> bytes:
        """Return the key as bytes, in the format of `save`. The bytes are secret."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes, *, research: bool = False) -> ClientKey:
        """Read a key from bytes, as `load` does from a file."""
        core = _core.ClientKey.from_bytes(data)
        return cls._wrap(core, None if research else core.weakness())

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
        return f"<client key {self.key_id[:8]}, {self._inner.params.name}, secret>"

    def _repr_html_(self) -> str:
        return table(
            "client key",
            {"key": self.key_id[:8], "parameters": self._inner.params.name, "content": "secret, not shown"},
        )


def _ciphertexts(inputs: Sequence[Any]) -> list[_core.Ciphertext]:
    """Return the ciphertexts of the inputs of a circuit."""
    cores = []
    for item in inputs:
        value = item.encrypted if isinstance(item, (Value, BoundArray)) else item
        if not isinstance(value, Ciphertext):
            raise TypeMismatchError(f"a circuit takes encrypted values, got {shorten(item)}")
        cores.append(value._inner)
    return cores


def _circuit_output(outputs: list[_core.Ciphertext]) -> Any:
    """Return the output of a circuit, or a tuple if it has several."""
    values = tuple(Ciphertext._wrap(output) for output in outputs)
    return values[0] if len(values) == 1 else values


class ServerKey:
    """A server: the public evaluation key and the threads that compute with it. It never sees an encrypted value."""

    __slots__ = ("_inner", "_weakness")
    _inner: _core.ServerKey
    _weakness: str | None

    def __init__(self) -> None:
        raise TypeError("a server key cannot be constructed: call sl.keygen or ServerKey.load")

    @classmethod
    def _wrap(cls, core: _core.ServerKey, weakness: str | None) -> ServerKey:
        key = cls.__new__(cls)
        key._inner = core
        key._weakness = weakness
        return key

    @property
    def key_id(self) -> str:
        """The name of the key pair, in hexadecimal. Both keys have the same name."""
        return self._inner.key_id

    @property
    def params(self) -> _core.ParamsInfo:
        """The parameter set of the key."""
        return self._inner.params

    @property
    def threads(self) -> int:
        """The number of threads that the server computes with."""
        return self._inner.threads()

    @property
    def memory_bytes(self) -> int:
        """The size in memory of the key, prepared for computation, in bytes."""
        return self._inner.memory_bytes()

    def run(self, program: Program[..., Any] | Circuit, /, *args: Any, **kwargs: Any) -> Job[Any]:
        """Start a program or a circuit in the background and return the job. `Job.result` waits for the result.

        Each argument is encrypted or plain; the server sees plain ones. At least one must be encrypted. If a parameter
        is a single value and the argument is an array, the program runs element by element. Shapes broadcast, and a
        single value applies to every element. With integers modulo a number, a result that depends only on single
        values and sums is a single value.

        Raises TypeMismatchError, ShapeError or RangeError if an argument does not suit its parameter, and
        KeyMismatchError if it belongs to another key.
        """
        if isinstance(program, Circuit):
            if kwargs:
                raise TypeMismatchError("a circuit takes its inputs by position: leave the names out")
            cores = _ciphertexts(args)
            self._check(cores)
            return Job(self._inner.run_circuit(program._inner, cores), _circuit_output)
        if not isinstance(program, Program):
            raise TypeMismatchError(f"run takes a function decorated with @sl.program, got {shorten(program)}")
        inputs = program._encrypted_inputs(args, kwargs)
        self._check([item for item in inputs if isinstance(item, _core.Ciphertext)])
        return Job(self._inner.run(program._inner, inputs), program._output_form)

    def run_circuit(self, circuit: Circuit | PathLike, *inputs: Ciphertext[Any]) -> Job[Any]:
        """Start a circuit in the background, with one encrypted input for each port, and return the job.

        `circuit` is a `Circuit`, or the path or text of a Bristol, BLIF or Yosys JSON file. An input is an integer of
        the port's width, or an array of bools whose last axis holds the port's bits (see `sl.bits`). A port of more
        than 128 bits takes and returns arrays of bools only. The result is one encrypted value, or a tuple if the
        circuit has several outputs.
        """
        if not isinstance(circuit, Circuit):
            # A text in any of the formats has a line break. A path is assumed to have none.
            circuit = Circuit(circuit) if isinstance(circuit, str) and "\n" in circuit else Circuit.load(circuit)
        cores = _ciphertexts(inputs)
        self._check(cores)
        return Job(self._inner.run_circuit(circuit._inner, cores), _circuit_output)

    def _check(self, inputs: Sequence[_core.Ciphertext]) -> None:
        """Check the keys of inputs. If this key is weak, warn the caller of the public method that calls this."""
        _warn(self._weakness, 3)
        for item in inputs:
            if item.key_id != self.key_id:
                raise KeyMismatchError(
                    f"the ciphertext belongs to key {item.key_id[:8]}, this server to key {self.key_id[:8]}; "
                    "use the keys of one call of sl.keygen"
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
        """Encrypt as `ClientKey.encrypt` does, with the public key in the server key. Scheme `"tfhe"` has none."""
        _warn(self._weakness, 2)
        return _encrypted(self._inner, value, to)

    @overload
    def bind(self, value: Encrypted[V]) -> V: ...
    @overload
    def bind(self, value: EncryptedArray[V]) -> BoundArray[V]: ...
    @overload
    def bind(self, value: Ciphertext[V]) -> Any: ...
    def bind(self, value: Any) -> Any:
        """Bind an encrypted value or array to this server, where its operators then run at once: `server.bind(a) + 1`.

        The attribute `encrypted` of the result is the ciphertext.
        """
        if not isinstance(value, Ciphertext):
            raise TypeMismatchError(f"bind takes an encrypted value, got {shorten(value)}")
        self._check([value._inner])
        if isinstance(value, EncryptedArray):
            return BoundArray._wrap(self, value._inner)
        return value.type._make(self, value._inner, "the bound value")

    # `server(x)` is short for `server.bind(x)`.
    __call__ = bind

    def _apply(self, op: str, args: Sequence[Value], to: type[V], table: list[int] | None, by: int) -> V:
        """Run one operation on bound values. Their operators call it."""
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
        """Run a graph and wait for its outputs. The operators of bound values and arrays call it."""
        return self._inner.run(program, inputs).result()

    def convert(self, value: Ciphertext[V], form: Literal["bits", "radix"]) -> Job[Any]:
        """Start a conversion to another encoding: `bits` (one bit in a block) or `radix` (two bits), under `"tfhe"`."""
        self._check([value._inner])
        return Job(self._inner.convert(value._inner, form), lambda outputs: Ciphertext._wrap(outputs[0]))

    def estimate(self, program: Program[..., Any] | Circuit, elements: int = 1) -> _core.Estimate:
        """Predict the cost of running a program on `elements` fresh values: its operations, depth and seconds.

        The first call measures the speed of the server. The operations are bootstraps under scheme tfhe, and
        recryptions and products under gh. Under ntru, bgv and lwe they are products, rotations of slots if the program
        combines elements, and bootstraps if the parameter set has them. If the program combines elements and `elements`
        is 1, the estimate assumes a full ciphertext.
        """
        if isinstance(program, Circuit):
            if elements != 1:
                raise TypeMismatchError("estimate of a circuit does not take `elements`: leave it out")
            return self._inner.estimate_circuit(program._inner)
        if not isinstance(program, Program):
            raise TypeMismatchError(f"estimate takes a function decorated with @sl.program, got {shorten(program)}")
        if elements < 1:
            raise RangeError(f"elements is {elements}: give a positive number")
        return self._inner.estimate(program._inner, elements)

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Write the key to a file. Raises FileError if the file exists, unless `overwrite` is True."""
        self._inner.save(path, overwrite)

    @classmethod
    def load(
        cls, path: PathLike, *, threads: int | None = None, memory: int | None = None, research: bool = False
    ) -> ServerKey:
        """Read a key from a file. Raises FormatError if it is damaged. `research=True` silences WeakKeyWarning."""
        core = _core.ServerKey.load(path, _threads(threads), _memory(memory))
        return cls._wrap(core, None if research else core.weakness())

    def to_bytes(self) -> bytes:
        """Return the key as bytes, in the format of `save`."""
        return self._inner.to_bytes()

    @classmethod
    def from_bytes(
        cls, data: bytes, *, threads: int | None = None, memory: int | None = None, research: bool = False
    ) -> ServerKey:
        """Read a key from bytes, as `load` does from a file."""
        core = _core.ServerKey.from_bytes(data, _threads(threads), _memory(memory))
        return cls._wrap(core, None if research else core.weakness())

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return partial(ServerKey.from_bytes, research=self._weakness is None), (self.to_bytes(),)

    def __repr__(self) -> str:
        return f"<server key {self.key_id[:8]}, {self._inner.params.name}>"

    def _repr_html_(self) -> str:
        return table("server key", {"key": self.key_id[:8], "parameters": self._inner.params.name})
