"""Parameters for a task."""

from typing import Literal

from solinas import _core
from solinas._errors import ParameterError, RangeError


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
) -> _core.FoundParams:
    """Find the smallest parameters that decrypt and are as secure as wanted.

    `depth`: multiplications in sequence. `modulus`: plaintext modulus. `security`: bits against the cheapest known
    attack, at least. `terms`: ciphertexts that may be added up before each multiplication. `keys`: their distribution,
    by default the first that will do. `ring_reduction`: halve the ring at lower levels as far as security allows.
    `slots`: plaintexts are to be vectors, for which the modulus is 1 modulo twice the ring dimension.

    Raises ParameterError where there are none, with the nearest there are.
    """
    if scheme != "ntru":
        raise ParameterError(f"parameters are found for scheme 'ntru', not {scheme!r}")
    if keys not in (None, "gaussian", "ternary"):
        raise ParameterError(f"keys are 'gaussian' or 'ternary', not {keys!r}")
    limits = {"depth": (depth, 2**32), "modulus": (modulus, 2**64), "terms": (terms, 2**32)}
    for name, (value, limit) in limits.items():
        if not 0 <= value < limit:
            raise RangeError(f"{name} {value} is out of range; give a small number")
    ternary = None if keys is None else keys == "ternary"
    return _core.find_params((depth, modulus, terms), security, ternary, ring_reduction, slots)
