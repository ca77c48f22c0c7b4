"""The server, which computes recorded values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NoReturn, TypeVar, overload

from solinas import _core
from solinas._arrays import Array, EncryptedArray, from_elements
from solinas._ciphertext import Ciphertext
from solinas._circuit import Circuit
from solinas._core import Expr, Input, stored
from solinas._data import rebuilt, shorten
from solinas._errors import KeyMismatchError, ParameterError, RangeError, ShapeError, TypeMismatchError
from solinas._expression import record
from solinas._html import table
from solinas._job import Job, Progress
from solinas._keys import GENTRY_HALEVI, ServerKey, warn_of_weakness
from solinas._params import Estimate, ParamsInfo
from solinas._plan import Plan, checked
from solinas._program import Program
from solinas._text import Bytes
from solinas._values import Value

C = TypeVar("C", bound=Ciphertext)
V = TypeVar("V", bound=Value)
X = TypeVar("X")


class Server:
    """A server key in memory, and threads that compute with it. It holds no secret."""

    __slots__ = ("_inner", "_key")
    _inner: _core.Server
    _key: ServerKey

    def __init__(
        self,
        key: ServerKey,
        *,
        threads: int | None = None,
        memory: int | None = None,
        device: str | None = None,
        model: str | None = None,
    ) -> None:
        """Load a server key into memory and start threads.

        - `threads`: the number of threads. Defaults to the number of processors.
        - `memory`: a limit in bytes, from 0 to 2^64 - 1. Under scheme `"gh"`, it limits the size of the tables. It
          defaults to `SOLINAS_MEMORY_MIB`, or to three quarters of the free memory. With `device`, it limits the bytes
          that the server takes on each device, and defaults to the free memory of the device. A key of another scheme
          without `device` takes no `memory`.
        - `device`: the device that computes. It is `"cpu"`, `"cuda:N"` for GPU number N, `"cuda:0,cuda:1"` or
          `"cuda:all"` for several GPUs, `"auto"` for the faster one of a GPU and the processor, or `"emulated"` for an
          interpreter of the GPU's kernels, which is slow and for tests. All devices give the same results. Defaults to
          `SOLINAS_DEVICE`, or to `"cpu"`. `sl.gpus()` lists the GPUs.
        - `model`: the rule that chooses plans (scheme `"tfhe"`). It is `"fewest"` for the fewest bootstraps,
          `"shallow"` for the lowest depth, or `"threads-N"` for the plan that ends first on N threads. Defaults to
          `"threads-N"` with the number of threads of the server. Servers with one rule compute the same bytes on every
          machine.

        Raises RangeError if a number is out of range. Raises ParameterError if there is too little memory, if the
        device or the model does not exist, or if `memory` limits nothing.
        """
        if not isinstance(key, ServerKey):
            raise TypeMismatchError(
                f"a server needs a server key, got {shorten(key)}: give the second key of sl.keygen"
            )
        if threads is not None and threads < 1:
            raise RangeError(f"threads is {threads}: give a positive number, or None for the number of processors")
        if memory is not None and not 0 <= memory < 1 << 64:
            raise RangeError(f"memory is {memory}: give a number of bytes from 0 to 2^64 - 1, or None for the default")
        if memory is not None and device is None and key.params.scheme != GENTRY_HALEVI:
            raise ParameterError(
                f"memory applies to keys of scheme {GENTRY_HALEVI} only, and this key is of scheme "
                f"{key.params.scheme}: leave it out, or name a device"
            )
        self._inner = _core.Server(key._inner, threads, memory, device, model)
        self._key = key

    @property
    def key(self) -> ServerKey:
        """The server key."""
        return self._key

    @property
    def key_id(self) -> str:
        """The name of the key pair, in hexadecimal."""
        return self._key.key_id

    @property
    def params(self) -> ParamsInfo:
        """The parameter set of the key."""
        return self._key.params

    @property
    def threads(self) -> int:
        """The number of threads that the server computes with."""
        return self._inner.threads

    @property
    def device(self) -> str:
        """The device that computes. `"auto"` has become `"cpu"`, or a GPU that shares the work with the processor."""
        return self._inner.device

    @property
    def model(self) -> str:
        """The rule by which the server chooses plans: `fewest`, `shallow` or `threads-N`."""
        return self._inner.model

    @property
    def device_failure(self) -> str | None:
        """The error of the GPU after which a server on `"auto"` computed on the processor, or None.

        The results do not depend on this error.
        """
        return self._inner.device_failure

    @property
    def memory_bytes(self) -> int:
        """The size of the key in memory, in bytes."""
        return self._inner.memory_bytes

    @overload
    def run(
        self,
        value: X,
        /,
        *,
        plan: Plan | None = None,
        progress: Progress = False,
        private_program: bool = False,
        auditable: bool = False,
    ) -> X: ...
    @overload
    def run(
        self,
        *values: Any,
        plan: Plan | None = None,
        progress: Progress = False,
        private_program: bool = False,
        auditable: bool = False,
    ) -> tuple[Any, ...]: ...
    def run(
        self,
        *values: Any,
        plan: Plan | None = None,
        progress: Progress = False,
        private_program: bool = False,
        auditable: bool = False,
    ) -> Any:
        """Compute recorded values and wait for them.

        A value is encrypted or recorded, an array, or a tuple or list of these. The results have the same structure.
        Several values give a tuple. Independent operations run in parallel, so pass all values that can be computed
        together in one call. A value keeps its result: an operation that it shares with other values is not computed
        again.

        `plan` is the plan to compute by, from `Server.plan`. `progress` is True for a progress bar of tqdm, or a
        function of the steps done and the total. Ctrl-C cancels the computation.

        With `private_program`, the holder of the client key learns nothing about the program and its constants from
        the results but their values, types and shapes, and the time (scheme `"tfhe"`). Each 2-bit block of a result
        takes 9 more bootstraps. With `auditable`, the results name the plan that made them. Anybody who holds a result
        can then try programs and constants until one has that plan.

        Raises KeyMismatchError for values of another key, TypeMismatchError for values that are not encrypted,
        NoiseError if there are more products in sequence than the key allows, CircuitError for a plan of other work,
        and ParameterError for a private program under another scheme, and for one that is to be auditable.
        """
        warn_of_weakness(self._key._weakness, 2)
        return self._start(values, plan, private_program, auditable).result(progress=progress)

    @overload
    def start(
        self, value: X, /, *, plan: Plan | None = None, private_program: bool = False, auditable: bool = False
    ) -> Job[X]: ...
    @overload
    def start(
        self, *values: Any, plan: Plan | None = None, private_program: bool = False, auditable: bool = False
    ) -> Job[tuple[Any, ...]]: ...
    def start(
        self, *values: Any, plan: Plan | None = None, private_program: bool = False, auditable: bool = False
    ) -> Job[Any]:
        """Start the computation of recorded values in the background, as `run` computes them, and return the job."""
        warn_of_weakness(self._key._weakness, 2)
        return self._start(values, plan, private_program, auditable)

    def _start(self, values: tuple[Any, ...], plan: Plan | None, private_program: bool, auditable: bool) -> Job[Any]:
        check_disclosure(private_program, auditable)
        work = Recorded(values, self.key_id, private_program)
        pinned = None if plan is None else checked(plan)
        job = self._inner.start(work.inputs, work.program, pinned, auditable, private_program)
        return Job(job, work.restored)

    def map_reduce(
        self,
        function: Callable[..., Any],
        how: str | Callable[[Any, Any], Any],
        *values: Any,
        progress: Progress = False,
        private_program: bool = False,
    ) -> Any:
        """Apply a function to arrays, combine the elements of its result, and wait for the value.

        `how` is `"sum"`, `"min"`, `"max"`, `"any"` or `"all"`, or an associative function of two values that returns
        one of their type. This computes `function(*values).sum()`, `.min()` and so on, or `.reduce(how)`.
        `private_program` is that of `run`. Raises what `run` raises, RangeError for an unknown name, and
        TypeMismatchError if the result of the function is no array.
        """
        return self.run(reduced(function, how, values), progress=progress, private_program=private_program)

    def convert(self, value: C, form: Literal["bits", "radix"]) -> C:
        """Convert a ciphertext to another encoding: `bits` (one bit in a block) or `radix` (two bits in a block).

        Only scheme `"tfhe"` has two encodings. `run` converts its inputs, so this saves time only if many runs use a
        value.
        """
        warn_of_weakness(self._key._weakness, 2)
        converted: C = Ciphertext._of_core(self._inner.convert(value._computed, form), value._data.type)
        return converted

    def compact(self, value: C) -> C:
        """Return the compact form of a computed value or array, which takes a fraction of the bytes.

        The compact form can be decrypted but not computed with. Only scheme `"tfhe"` has compact forms. Raises
        ParameterError under another scheme.
        """
        compact: C = Ciphertext._of_core(self._inner.compact(value._computed), value._data.type)
        return compact

    @overload
    def random(self, to: type[V], shape: None = None, *, seed: str | bytes, progress: Progress = False) -> V: ...
    @overload
    def random(
        self, to: type[V], shape: int | Sequence[int], *, seed: str | bytes, progress: Progress = False
    ) -> EncryptedArray[V]: ...
    def random(self, to: type[Any], shape: Any = None, *, seed: str | bytes, progress: Progress = False) -> Any:
        """Return an encrypted random value of the type `to`, or an array of that shape, made from a public seed.

        All bits are uniform and independent, and they are secret without the client key. `seed` is a string or bytes.
        The same seed, type and key give the same values, so take each seed once. Other types and keys with the same
        seed have independent values. An array begins with the values of each shorter one. The client can compute the
        values of any seed. It must not choose the seed if it must not predict the values.

        `progress` is True for a progress bar of tqdm, or a function of the steps done and the total. Ctrl-C cancels
        the computation.

        Raises ParameterError under another scheme than `"tfhe"` and for an empty seed, TypeMismatchError if `to` or
        `seed` has the wrong type, and ShapeError if a size is not positive.
        """
        if not (isinstance(to, type) and issubclass(to, Value) and to.width):
            raise TypeMismatchError(f"random takes a type such as sl.U32, got {shorten(to)}")
        if not isinstance(seed, (str, bytes)):
            raise TypeMismatchError(f"seed is {shorten(seed)}: give a text or bytes")
        sizes = None if shape is None else [shape] if isinstance(shape, int) else [int(size) for size in shape]
        if sizes is not None and (not sizes or min(sizes) < 1):
            raise ShapeError(f"shape is {shorten(shape)}: give one positive number or several, or None for one value")
        warn_of_weakness(self._key._weakness, 2)
        job = self._inner.random(stored(to.name), sizes, seed.encode() if isinstance(seed, str) else seed)
        return Job(job, lambda results: Ciphertext._of_core(results[0], to.name)).result(progress=progress)

    def plan(self, *values: Any, elements: int = 1) -> Plan:
        """Return the plan of a program, a circuit, or recorded values (scheme `"tfhe"`).

        `server.run(f(x), plan=plan)` then computes by the plan, on this server or another. A plan is valid for inputs
        with at most the noise for which it was made. If the inputs are results of sums, give the recorded values and
        not the program. The plan of a program or a circuit assumes fresh inputs of `elements` values.

        Raises ParameterError under another scheme, and RangeError if `elements` is not positive.
        """
        if len(values) == 1 and isinstance(values[0], (Program, Circuit)):
            if elements < 1:
                raise RangeError(f"elements is {elements}: give a positive number")
            return Plan._wrap(self._inner.plan_fresh(values[0]._over(elements), elements))
        work = Recorded(values, self.key_id, what="plan")
        return Plan._wrap(self._inner.plan(work.inputs, work.program))

    def estimate(self, *values: Any, elements: int = 1, private_program: bool = False) -> Estimate:
        """Predict the cost of a program, a circuit, or recorded values: operations, depth and seconds.

        The first call measures the speed of the server. The estimate of a program or a circuit assumes fresh
        ciphertexts. A program runs on `elements` values; if it combines elements and `elements` is 1, the estimate
        assumes a full ciphertext.

        With `private_program`, the estimate of a program or of recorded values counts the bootstraps that hide it.

        The operations are bootstraps under scheme tfhe, and recryptions and products under gh. Under ntru, bgv and lwe
        they are products, rotations of slots if the program combines elements, and bootstraps if the parameter set has
        them. Raises RangeError if `elements` is not positive.
        """
        if elements < 1:
            raise RangeError(f"elements is {elements}: give a positive number")
        if len(values) == 1 and isinstance(values[0], Program):
            return Estimate._from(self._inner.estimate_fresh(values[0]._over(elements), elements, private_program))
        if elements != 1:
            raise TypeMismatchError("only the estimate of a program takes `elements`: leave it out")
        if len(values) == 1 and isinstance(values[0], Circuit):
            if private_program:
                raise TypeMismatchError("the estimate of a circuit takes no private_program: give the recorded values")
            return Estimate._from(self._inner.estimate_fresh(values[0]._over(1), 1, private_program))
        work = Recorded(values, self.key_id, private_program, what="estimate")
        return Estimate._from(self._inner.estimate(work.inputs, work.program, private_program))

    def __reduce__(self) -> NoReturn:
        raise TypeMismatchError("a server cannot be pickled: pickle its key, server.key, and make a server of it")

    def __repr__(self) -> str:
        return f"<server of key {self.key_id[:8]}, {self.params.name}, {self.threads} threads>"

    def _repr_html_(self) -> str:
        return table("server", {"key": self.key_id[:8], "parameters": self.params.name, "threads": self.threads})


class Recorded:
    """Values to compute: their program, its inputs, and what the results are for."""

    inputs: list[Input]
    program: _core.Program

    def __init__(
        self, values: tuple[Any, ...], key_id: str, private_program: bool = False, *, what: str = "run"
    ) -> None:
        """Record values. Raises TypeMismatchError for other objects, KeyMismatchError for values of another key.

        Results of a private program are new ciphertexts, of values that are known too.
        """
        self._structure = values[0] if len(values) == 1 else values
        self._roots: list[Expr] = []
        _map(self._structure, lambda value: self._roots.append(_root(value, what)))
        if not self._roots:
            raise TypeMismatchError(f"{what} takes encrypted values: give at least one, as in server.{what}(a + b)")
        known = [root.settle() for root in self._roots]
        for ciphertext in known:
            _check_key(ciphertext, key_id)
        waiting = [root for root, ciphertext in zip(self._roots, known, strict=True) if ciphertext is None]
        # A value that is given twice is computed once, unless its results hide the program: those are made anew.
        self._is_private = private_program
        self._computed = self._roots if private_program else list(dict.fromkeys(waiting or self._roots))
        self.inputs, self.program = record(self._computed)
        for item in self.inputs:
            _check_key(item.ciphertext, key_id)

    def restored(self, results: list[_core.Ciphertext]) -> Any:
        """Return the values in the structure in which they were given.

        The recorded values keep their results, but for those of a private program.
        """
        if not self._is_private:
            for expr, result in zip(self._computed, results, strict=True):
                expr.keep(result)
            results = [known for root in self._roots if (known := root.settle()) is not None]
        pairs = zip(self._roots, results, strict=True)
        values = iter([Ciphertext._of_core(result, root.type) for root, result in pairs])
        return _map(self._structure, lambda _: next(values))


def _check_key(item: _core.Ciphertext | None, key_id: str) -> None:
    """Check that a ciphertext is of a key. Raises KeyMismatchError otherwise."""
    if item is not None and item.key_id != key_id:
        raise KeyMismatchError(
            f"the ciphertext belongs to key {item.key_id[:8]}, this server to key {key_id[:8]}; "
            "use the keys of one call of sl.keygen"
        )


REDUCTIONS = ("sum", "min", "max", "any", "all")


def reduced(function: Callable[..., Any], how: str | Callable[[Any, Any], Any], values: tuple[Any, ...]) -> Any:
    """Return the recorded value of a function whose result is reduced."""
    if not callable(how) and how not in REDUCTIONS:
        raise RangeError(f"there is no reduction {shorten(how)}: take {', '.join(REDUCTIONS)}, or a function")
    mapped = function(*values)
    if not isinstance(mapped, EncryptedArray):
        raise TypeMismatchError(f"map_reduce combines the elements of an encrypted array, got {shorten(mapped)}")
    return mapped.reduce(how) if callable(how) else getattr(mapped, how)()


def check_disclosure(private_program: bool, auditable: bool) -> None:
    """Check that results are not to name a plan and to hide it. Raises ParameterError."""
    if private_program and auditable:
        raise ParameterError("results of a private program hide their plan: leave auditable out, or private_program")


def _map(structure: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to every value in nested tuples and lists, and return the results in the same structure."""
    if isinstance(structure, (tuple, list)):
        return rebuilt(structure, [_map(part, function) for part in structure])
    if isinstance(structure, Bytes):
        return structure._with(function(structure.array))
    return function(structure)


def _root(value: Any, what: str = "run") -> Expr:
    """Return the expression of a value that is to be computed. Raises TypeMismatchError if there is none."""
    if isinstance(value, Array):
        value = from_elements(value._elements(), value.shape)
    for item in value._elements() if isinstance(value, Array) else [value]:
        if isinstance(item, (EncryptedArray, Value)) and isinstance(item._data, Expr) and item._data.is_traced:
            raise TypeMismatchError(f"{item!r} is recorded in a program: call the program on encrypted values")
    if isinstance(value, (EncryptedArray, Value)) and isinstance(value._data, Expr):
        return value._data
    if what != "run":
        raise TypeMismatchError(
            f"{what} takes a function decorated with @sl.program, a circuit or encrypted values, got {shorten(value)}"
        )
    if isinstance(value, (Program, Circuit)):
        name = value.name if isinstance(value, Program) else "circuit"
        raise TypeMismatchError(f"run takes encrypted values: call {value!r} on them, as in server.run({name}(x))")
    plain = isinstance(value, (int, Value, Array))
    hint = "it is plain: encrypt it, or compute without a server" if plain else "give the result of an operation"
    raise TypeMismatchError(f"run takes encrypted values, got {shorten(value)}: {hint}")
