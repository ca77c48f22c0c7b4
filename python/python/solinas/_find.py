"""Search for the smallest parameters of schemes NTRU and BGV that suit a task."""

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
        return _core.find_bgv(depth, modulus, math.ceil(security))
    ternary = None if keys is None else keys == "ternary"
    return _core.find_params((depth, modulus, terms), security, ternary, ring_reduction, slots)
