"""Plain integers of thousands to hundreds of millions of bits: products, division, powers, and residues.

>>> import solinas as sl
>>> a = sl.bigint.Integer(3) ** 1000
>>> (a * a).bit_length()
3170
>>> int(sl.bigint.powmod(3, 10**6, 10**9 + 7))
64935414
>>> ring = sl.bigint.Modulus(2**521 - 1)  # keeps its plans from one operation to the next
>>> ring.pow(5, 2**521 - 2) == 1
True

Nothing here is encrypted. An `Integer` keeps its number in words of 64 bits, so a chain of operations converts no
number to Python's `int` and back. A conversion takes one pass in Python and one copy here. Products of more than some
hundred words take the crate `solinas-bigint`'s transforms, which are faster than GMP's; for numbers of a few words,
Python's own `int` is faster.

Every operand may be an `Integer`, an `int`, or an object with `__index__`. The time of every operation depends on the
values, unless its description says otherwise.
"""

from __future__ import annotations

import operator
from functools import total_ordering
from typing import Literal, SupportsIndex

from solinas._core import BigInteger, BigModulus
from solinas._errors import RangeError, TypeMismatchError

__all__ = ["Integer", "Modulus", "gcd", "gcdext", "is_probable_prime", "isqrt", "mul", "powmod", "square"]

# The largest result of a shift or a power, in bits: 1 GiB.
LARGEST = 1 << 33
# Bases of digits. Base 0 is that of the prefix.
LEAST_BASE, GREATEST_BASE = 2, 36
# The first exponent that does not fit the compiled half.
EXPONENTS = 1 << 32


@total_ordering
class Integer:
    """An integer of any size.

    `value` is an `int`, another `Integer`, or a text of digits with an optional sign `-`. `base` is the base of a text,
    2 to 36; base 0, the default, is that of the prefix `0x`, `0o` or `0b`, or 10.

    The operators `+ - * // % ** << >>`, `divmod`, `abs`, `pow` with a modulus, and comparisons are those of `int`, and
    give `Integer`s. `int(x)` and `str(x)` convert, and an `Integer` has the hash of its `int`.

    Raises FormatError for a text that is not a number, and RangeError for another base.
    """

    __slots__ = ("_core",)
    _core: BigInteger

    def __init__(self, value: Integer | SupportsIndex | str = 0, base: int = 0) -> None:
        if isinstance(value, str):
            if base and not LEAST_BASE <= base <= GREATEST_BASE:
                msg = f"base {base} is not 0 or 2 to 36"
                raise RangeError(msg)
            self._core = BigInteger.parse(value.strip(), base)
        else:
            self._core = _core(value)

    @classmethod
    def from_bytes(cls, data: bytes, byteorder: Literal["little", "big"] = "big") -> Integer:
        """Make the number of these bytes, which is not negative, with one copy."""
        return _made(BigInteger.from_bytes(bytes(data), _is_big(byteorder), negative=False))

    def to_bytes(self, length: int | None = None, byteorder: Literal["little", "big"] = "big") -> bytes:
        """Return the bytes, with one copy.

        `length` is the number of bytes, with zeros in front of the number; by default as many as the number needs, and
        none for 0.

        Raises RangeError for a negative number, and for one that does not fit.
        """
        least = (self._core.bits + 7) // 8
        if self._core.negative:
            msg = "a negative number has no bytes"
            raise RangeError(msg)
        if length is not None and length < least:
            msg = f"the number takes {least} bytes, not {length}"
            raise RangeError(msg)
        return self._core.to_bytes(least if length is None else length, _is_big(byteorder))

    def digits(self, base: int = 10) -> str:
        """Return the digits in a base from 2 to 36, after `-` for a negative number.

        Raises RangeError for another base.
        """
        if not LEAST_BASE <= base <= GREATEST_BASE:
            msg = f"base {base} is not 2 to 36"
            raise RangeError(msg)
        return self._core.digits(base)

    def bit_length(self) -> int:
        """Return the number of bits of the magnitude; 0 for 0."""
        return self._core.bits

    def square(self) -> Integer:
        """Return the square, in less time than a product."""
        return _made(self._core.square())

    def __int__(self) -> int:
        magnitude = int.from_bytes(self._core.to_bytes((self._core.bits + 7) // 8, big=False), "little")
        return -magnitude if self._core.negative else magnitude

    __index__ = __int__

    def __str__(self) -> str:
        return self._core.digits(10)

    def __repr__(self) -> str:
        return f"Integer({self})" if self._core.bits <= 1 << 10 else f"<Integer of {self._core.bits} bits>"

    def __bool__(self) -> bool:
        return self._core.bits > 0

    def __hash__(self) -> int:
        return hash(int(self))

    def __reduce__(self) -> tuple[type[Integer], tuple[int]]:
        return Integer, (int(self),)

    def __eq__(self, other: object) -> bool:
        core = _core_or_none(other)
        return NotImplemented if core is None else self._core.compare(core) == 0

    def __lt__(self, other: Integer | SupportsIndex) -> bool:
        core = _core_or_none(other)
        return NotImplemented if core is None else self._core.compare(core) < 0

    def __neg__(self) -> Integer:
        return _made(self._core.negate())

    def __pos__(self) -> Integer:
        return self

    def __abs__(self) -> Integer:
        return -self if self._core.negative else self

    def __add__(self, other: Integer | SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(self._core.add(core))

    __radd__ = __add__

    def __sub__(self, other: Integer | SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(self._core.sub(core))

    def __rsub__(self, other: SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(core.sub(self._core))

    def __mul__(self, other: Integer | SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(self._core.mul(core))

    __rmul__ = __mul__

    def __divmod__(self, other: Integer | SupportsIndex) -> tuple[Integer, Integer]:
        core = _core_or_none(other)
        return NotImplemented if core is None else _pair(self._core.divide(core))

    def __rdivmod__(self, other: SupportsIndex) -> tuple[Integer, Integer]:
        core = _core_or_none(other)
        return NotImplemented if core is None else _pair(core.divide(self._core))

    def __floordiv__(self, other: Integer | SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(self._core.divide(core)[0])

    def __rfloordiv__(self, other: SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(core.divide(self._core)[0])

    def __mod__(self, other: Integer | SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(self._core.divide(core)[1])

    def __rmod__(self, other: SupportsIndex) -> Integer:
        core = _core_or_none(other)
        return NotImplemented if core is None else _made(core.divide(self._core)[1])

    def __pow__(self, exponent: Integer | SupportsIndex, modulus: Integer | SupportsIndex | None = None) -> Integer:
        if _core_or_none(exponent) is None or (modulus is not None and _core_or_none(modulus) is None):
            return NotImplemented
        if modulus is not None:
            return powmod(self, exponent, modulus)
        power = operator.index(exponent)
        if power < 0:
            msg = f"the exponent is {power}: give one of at least 0, or a modulus"
            raise RangeError(msg)
        bits = self._core.bits
        if bits <= 1:
            # A power of 0, 1 or -1.
            power = power and 2 - power % 2
        elif (bits - 1) * power > LARGEST or power >= EXPONENTS:
            msg = "the power is longer than 1 GiB: give a smaller exponent, or a modulus"
            raise RangeError(msg)
        return _made(self._core.power(power))

    def __rpow__(self, base: SupportsIndex) -> Integer:
        core = _core_or_none(base)
        return NotImplemented if core is None else _made(core) ** self

    def __lshift__(self, count: SupportsIndex) -> Integer:
        return self._shifted(operator.index(count), right=False)

    def __rshift__(self, count: SupportsIndex) -> Integer:
        return self._shifted(operator.index(count), right=True)

    def _shifted(self, count: int, *, right: bool) -> Integer:
        if count < 0:
            msg = f"the shift is by {count} bits: give a number of at least 0"
            raise RangeError(msg)
        if right:
            return _made(self._core.shift(-min(count, self._core.bits + 1)))
        if self._core.bits + count > LARGEST:
            msg = "the result is longer than 1 GiB: shift by less"
            raise RangeError(msg)
        return _made(self._core.shift(count))


class Modulus:
    """A modulus, with the plans of its operations.

    Build it once for many operations: the first one makes reciprocals and transforms. Operands may be any numbers, also
    negative ones and larger ones. Results are from 0 to `value` - 1.

    Raises RangeError for a modulus below 2.
    """

    __slots__ = ("_core", "_value")

    def __init__(self, value: Integer | SupportsIndex) -> None:
        self._value = Integer(value)
        self._core = BigModulus(self._value._core)

    @property
    def value(self) -> Integer:
        """The modulus."""
        return self._value

    def __repr__(self) -> str:
        return f"<Modulus of {self._value.bit_length()} bits>"

    def __reduce__(self) -> tuple[type[Modulus], tuple[Integer]]:
        return Modulus, (self._value,)

    def reduce(self, x: Integer | SupportsIndex) -> Integer:
        """Return x modulo the modulus."""
        return _made(self._core.reduce(_core(x)))

    def add(self, a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> Integer:
        """Return a + b."""
        return _made(self._core.add(_core(a), _core(b)))

    def sub(self, a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> Integer:
        """Return a - b."""
        return _made(self._core.sub(_core(a), _core(b)))

    def mul(self, a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> Integer:
        """Return a b."""
        return _made(self._core.mul(_core(a), _core(b)))

    def square(self, a: Integer | SupportsIndex) -> Integer:
        """Return a^2."""
        return _made(self._core.square(_core(a)))

    def pow(self, base: Integer | SupportsIndex, exponent: Integer | SupportsIndex, *, secret: bool = False) -> Integer:
        """Return base^exponent; a negative exponent is a power of the inverse.

        With `secret`, the time depends on the exponent by its length alone, and not at all if it is shorter than the
        modulus. The numbers stay in memory after their use: Python does not wipe them.

        Raises RangeError if the base has no inverse for a negative exponent.
        """
        return _made(self._core.power(_core(base), _core(exponent), secret))

    def inverse(self, a: Integer | SupportsIndex) -> Integer:
        """Return the x with a x = 1.

        Raises RangeError if a has a factor in common with the modulus.
        """
        return _made(self._core.inverse(_core(a)))


def mul(a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> Integer:
    """Return a b."""
    return _made(_core(a).mul(_core(b)))


def square(a: Integer | SupportsIndex) -> Integer:
    """Return a^2, in less time than a product."""
    return _made(_core(a).square())


def powmod(
    base: Integer | SupportsIndex, exponent: Integer | SupportsIndex, modulus: Integer | SupportsIndex
) -> Integer:
    """Return base^exponent modulo a number of at least 2, from 0 to modulus - 1; see `Modulus.pow`."""
    return Modulus(modulus).pow(base, exponent)


def isqrt(a: Integer | SupportsIndex) -> Integer:
    """Return the square root, rounded down.

    Raises RangeError for a negative number.
    """
    return _made(_core(a).sqrt()[0])


def gcd(a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> Integer:
    """Return the greatest common divisor, at least 0; 0 only for two zeros."""
    return _made(_core(a).gcd(_core(b)))


def gcdext(a: Integer | SupportsIndex, b: Integer | SupportsIndex) -> tuple[Integer, Integer, Integer]:
    """Return the greatest common divisor g and cofactors x, y with a x + b y = g."""
    g, x, y = _core(a).cofactors(_core(b))
    return _made(g), _made(x), _made(y)


def is_probable_prime(a: Integer | SupportsIndex) -> bool:
    """Return whether a is prime: exact below 2^64, and beyond it by the test of Baillie and others.

    The test is that of Baillie, Pomerance, Selfridge and Wagstaff (Lucas Pseudoprimes, 1980). No composite number is
    known that passes it, but such numbers may exist. Do not use it for secret primes: its time depends on the number.
    """
    return _core(a).is_probable_prime()


def _made(core: BigInteger) -> Integer:
    """Return the integer of the compiled half, without a copy."""
    made = Integer.__new__(Integer)
    made._core = core
    return made


def _pair(cores: tuple[BigInteger, BigInteger]) -> tuple[Integer, Integer]:
    return _made(cores[0]), _made(cores[1])


def _core_or_none(value: object) -> BigInteger | None:
    """Return the number in the compiled half, or None for an object that is no integer."""
    if isinstance(value, Integer):
        return value._core
    if not isinstance(value, SupportsIndex):
        return None
    number = operator.index(value)
    magnitude = abs(number)
    data = magnitude.to_bytes((magnitude.bit_length() + 7) // 8, "little")
    return BigInteger.from_bytes(data, big=False, negative=number < 0)


def _core(value: object) -> BigInteger:
    core = _core_or_none(value)
    if core is None:
        msg = f"{type(value).__name__} is no integer: give an Integer or an int"
        raise TypeMismatchError(msg)
    return core


def _is_big(byteorder: str) -> bool:
    if byteorder not in {"little", "big"}:
        msg = f"the byte order {byteorder!r} is not 'little' or 'big'"
        raise RangeError(msg)
    return byteorder == "big"
