"""Parameters for a task."""

import math
from typing import Literal, overload

from solinas import _core
from solinas._errors import ParameterError, RangeError


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
) -> _core.FoundParams: ...
@overload
def find_params(
    depth: int, modulus: int = 2, *, scheme: Literal["bgv"], security: float = 128, slots: bool = False
) -> _core.ParamsInfo: ...
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
) -> _core.FoundParams | _core.ParamsInfo:
    """Find the smallest parameters that decrypt and are as secure as wanted.

    `depth`: multiplications in sequence. `modulus`: plaintext modulus. `security`: bits against the cheapest known
    attack (scheme `"bgv"`: against the attacks of the lattice estimator), at least. `terms`: ciphertexts that may be
    added up before each multiplication. `keys`: their distribution, by default the first that will do.
    `ring_reduction`: halve the ring at lower levels as far as security allows. `slots`: plaintexts are to be vectors,
    for which the modulus is 1 modulo twice the ring dimension.

    Under scheme `"bgv"` the modulus is 2 for bits, 65537 or 1073479681 for vectors, and `terms`, `keys` and
    `ring_reduction` are not offered.

    Raises ParameterError where there are none, with the nearest there are.
    """
    if scheme not in {"ntru", "bgv"}:
        raise ParameterError(f"parameters are found for schemes 'ntru' and 'bgv', not {scheme!r}")
    if keys not in (None, "gaussian", "ternary"):
        raise ParameterError(f"keys are 'gaussian' or 'ternary', not {keys!r}")
    limits = {"depth": (depth, 2**32), "modulus": (modulus, 2**64), "terms": (terms, 2**32)}
    for name, (value, limit) in limits.items():
        if not 0 <= value < limit:
            raise RangeError(f"{name} {value} is out of range; give a small number")
    if scheme == "bgv":
        if (terms, keys, ring_reduction) != (1, None, False):
            raise ParameterError("terms, keys and ring_reduction are for scheme 'ntru': leave them out")
        if slots and modulus == 2:  # noqa: PLR2004
            raise ParameterError("vectors of scheme 'bgv' have no modulus of 2: give 65537 or 1073479681")
        if not 0 <= security < 2**16:
            raise RangeError(f"security {security} is out of range; give a small number of bits")
        return _core.find_bgv(depth, modulus, math.ceil(security))
    ternary = None if keys is None else keys == "ternary"
    return _core.find_params((depth, modulus, terms), security, ternary, ring_reduction, slots)
