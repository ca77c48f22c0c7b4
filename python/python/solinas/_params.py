"""Parameter sets, costs, and the search for the smallest parameters that suit a task."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

from solinas import _core
from solinas._errors import ParameterError, RangeError
from solinas._html import table


class _Record:
    """A dataclass that is made from a dictionary of the core."""

    @classmethod
    def _from(cls, data: Mapping[str, Any]) -> Self:
        names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
        return cls(**{name: data[name] for name in names})


@dataclass(frozen=True)
class ParamsInfo(_Record):
    """A parameter set: its sizes, its security and its costs. A field that a scheme does not have is None."""

    name: str
    scheme: str
    # `gates`, `integers` or `slots`.
    family: str
    description: str
    lwe_dimension: int | None
    ring_dimension: int
    glwe_dimension: int | None
    modulus_bits: float | None
    plaintext_modulus: int | None
    # The number of integers in a ciphertext.
    slots: int | None
    # The number of products in sequence of a fresh ciphertext.
    depth: int | None
    # Whether ciphertexts are bootstrapped, so that any number of products is possible.
    bootstraps: bool
    # The estimated cost of the best known attack, as a power of two.
    classical_bits: float
    quantum_bits: float
    # The method of the estimate, and its date.
    estimator: str
    date: str
    # The logarithm to base 2 of the failure probability of an operation.
    log2_failure: float
    ciphertext_bytes: int
    server_key_bytes: int
    # The bytes of a server key in memory.
    memory_bytes: int
    recommended: bool
    # `recommended`, `limited` or `research_only`, and the reasons for the last two.
    status: str
    limited: str | None
    research_only: str | None
    test_size: bool

    def __repr__(self) -> str:
        notes = {"recommended": "", "limited": ", not recommended"}
        return (
            f"<parameters {self.name}: {math.floor(self.classical_bits)}-bit security, failure "
            f"2^{math.ceil(self.log2_failure)}{notes.get(self.status, ', for research alone')}>"
        )

    def _repr_html_(self) -> str:
        return table(
            "parameters",
            {
                "name": self.name,
                "scheme": self.scheme,
                "values": self.description,
                "classical security in bits": math.floor(self.classical_bits),
                "quantum security in bits": math.floor(self.quantum_bits),
                "log2 of the failure probability": math.ceil(self.log2_failure),
                "ciphertext in bytes": self.ciphertext_bytes,
                "server key in bytes": self.server_key_bytes,
                "not recommended": self.limited,
                "for research alone": self.research_only,
            },
        )


@dataclass(frozen=True)
class Estimate(_Record):
    """The predicted cost of a computation."""

    # The counts of the operations.
    bootstraps: int
    recrypts: int
    products: int
    rotations: int
    # The length of the longest chain of operations.
    depth: int
    # None if no server has measured its speed.
    seconds: float | None
    threads: int
    # The bytes of the key in memory.
    memory_bytes: int
    # The counts in words.
    work: str

    def __post_init__(self) -> None:
        if not self.seconds:
            object.__setattr__(self, "seconds", None)

    def __repr__(self) -> str:
        threads = "1 thread" if self.threads == 1 else f"{self.threads} threads"
        return (
            f"<estimate: {self.work}"
            + ("" if self.seconds is None else f", about {self.seconds:.2f} s on {threads}")
            + ">"
        )

    def _repr_html_(self) -> str:
        seconds = "not measured" if self.seconds is None else f"{self.seconds:.2f}"
        rows = {"work": self.work, "depth": self.depth, "seconds": seconds, "threads": self.threads}
        return table("estimate", rows | {"memory in bytes": self.memory_bytes})


@dataclass(frozen=True)
class FoundParams(_Record):
    """Parameters of scheme NTRU that `find_params` has found, with the security and the expected times on one core."""

    name: str
    dimension: int
    plaintext_modulus: int
    slots: int | None
    depth: int
    primes: list[int]
    log2_modulus: float
    # The ring dimension of each level, from level 1.
    dimensions: list[int]
    classical_bits: float
    quantum_bits: float
    # The cheapest attack, and its block size.
    attack: str
    block: int
    ciphertext_bytes: int
    server_key_bytes: int
    encrypt_ms: float
    add_ms: float
    multiply_ms: float | None
    decrypt_ms: float


def params() -> list[ParamsInfo]:
    """Return every parameter set, the default first."""
    return [ParamsInfo._from(info) for info in _core.params()]


@dataclass(frozen=True)
class GpuInfo(_Record):
    """A GPU of the machine."""

    # The name for `Server(device=...)`, such as `cuda:0`.
    name: str
    # The name of the model.
    model: str
    memory_bytes: int
    multiprocessors: int
    # The driver and its version.
    driver: str
    # The reason why servers do not run on it.
    problem: str | None


def gpus() -> list[GpuInfo]:
    """Return the GPUs of the machine. The list is empty without a driver or a GPU.

    `solinas params --devices` prints the list, or the reason why it is empty.
    """
    return [GpuInfo._from(info) for info in _core.gpus()]


@overload
def find_params(
    depth: int,
    modulus: int = 2,
    *,
    scheme: Literal["ntru"] = "ntru",
    security: float = 128,
    terms: int = 1,
    keys: Literal["gaussian", "ternary"] | None = None,
    ring_reduction: bool = False,
    slots: bool = False,
) -> FoundParams: ...
@overload
def find_params(
    depth: int, modulus: int = 2, *, scheme: Literal["bgv"], security: float = 128, slots: bool = False
) -> ParamsInfo: ...
def find_params(
    depth: int,
    modulus: int = 2,
    *,
    scheme: Literal["ntru", "bgv"] = "ntru",
    security: float = 128,
    terms: int = 1,
    keys: Literal["gaussian", "ternary"] | None = None,
    ring_reduction: bool = False,
    slots: bool = False,
) -> FoundParams | ParamsInfo:
    """Find the smallest parameters that decrypt correctly and reach a security level.

    - `depth`: the number of multiplications in sequence.
    - `modulus`: the plaintext modulus. Under scheme `"bgv"` it is 2 for bits, and 65537 or 1073479681 for vectors.
    - `security`: the least cost of the best known attack, in bits. Scheme `"bgv"` considers the attacks of the lattice
      estimator.
    - `terms`: the number of ciphertexts that may be added before each multiplication.
    - `keys`: the distribution of the secret keys. Defaults to the first that suffices.
    - `ring_reduction`: whether lower levels use smaller rings, as far as security allows.
    - `slots`: whether plaintexts are vectors. The modulus must then be 1 modulo twice the ring dimension.

    Scheme `"bgv"` does not have `terms`, `keys` and `ring_reduction`.

    Raises ParameterError if no parameters suit the task; the message gives the nearest ones. Raises RangeError if an
    argument is out of range.
    """
    if scheme not in {"ntru", "bgv"}:
        raise ParameterError(f"find_params knows the schemes 'ntru' and 'bgv', not {scheme!r}: give one of them")
    if keys not in (None, "gaussian", "ternary"):
        raise ParameterError(f"keys is {keys!r}: give 'gaussian', 'ternary' or None")
    limits = {"depth": (depth, 2**32), "modulus": (modulus, 2**64), "terms": (terms, 2**32)}
    for name, (value, limit) in limits.items():
        if not 0 <= value < limit:
            raise RangeError(f"{name} {value} is out of range: give an integer from 0 to {limit - 1}")
    if scheme == "bgv":
        if (terms, keys, ring_reduction) != (1, None, False):
            raise ParameterError("scheme 'bgv' does not take terms, keys or ring_reduction: leave them out")
        if slots and modulus == 2:  # noqa: PLR2004
            raise ParameterError("scheme 'bgv' has no vectors modulo 2: give the modulus 65537 or 1073479681")
        if not 0 <= security < 2**16:
            raise RangeError(f"security {security} is out of range: give a number of bits below 65536")
        return ParamsInfo._from(_core.find_bgv(depth, modulus, math.ceil(security)))
    ternary = None if keys is None else keys == "ternary"
    found = _core.find_params((depth, modulus, terms), security, ternary, ring_reduction, slots)
    return FoundParams._from(found["literal"] | found["estimate"] | found["expected"] | found)
