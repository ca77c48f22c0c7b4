"""Integer types: of any width, and modulo a number."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, cast

from solinas._errors import RangeError, TypeMismatchError
from solinas._values import Bool, Value, _apply, _integer, spelling

V = TypeVar("V", bound=Value)

MAX_WIDTH = 128
MAX_MODULUS = 1 << 30

# Operators whose right operand is an unsigned amount.
SHIFTS = (operator.lshift, operator.rshift)


class Integer(Value):
    """An integer type of some width."""

    __slots__ = ()

    def __add__(self, other: Self | int) -> Self:
        return self._binary("add", "+", other, type(self))

    def __radd__(self, other: int) -> Self:
        return self._binary("add", "+", other, type(self), swap=True)

    def __sub__(self, other: Self | int) -> Self:
        return self._binary("sub", "-", other, type(self))

    def __rsub__(self, other: int) -> Self:
        return self._binary("sub", "-", other, type(self), swap=True)

    def __mul__(self, other: Self | int) -> Self:
        return self._binary("mul", "*", other, type(self))

    def __rmul__(self, other: int) -> Self:
        return self._binary("mul", "*", other, type(self), swap=True)

    def __floordiv__(self, other: Self | int) -> Self:
        """Divide, truncating toward zero (unlike Python's integers); by zero, every bit of the quotient is one."""
        return self._binary("div", "//", other, type(self))

    def __rfloordiv__(self, other: int) -> Self:
        return self._binary("div", "//", other, type(self), swap=True)

    def __mod__(self, other: Self | int) -> Self:
        """Remainder, with the sign of the dividend (unlike Python's integers); by zero, the dividend."""
        return self._binary("rem", "%", other, type(self))

    def __rmod__(self, other: int) -> Self:
        return self._binary("rem", "%", other, type(self), swap=True)

    def __divmod__(self, other: Self | int) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> tuple[Self, Self]:
        return other // self, other % self

    def __pow__(self, exponent: int) -> Self:
        """Multiply it with itself, wrapping; the exponent is public."""
        return _power(self, exponent)

    def __rpow__(self, base: object) -> NoReturn:
        raise TypeMismatchError(
            f"{base!r} ** {self._describe()}: an exponent is public. For powers of two write sl.u32(1) << x, for "
            "others sl.lookup(lambda i: ..., x) of an index of at most 8 bits"
        )

    def _no_vector(self, name: str) -> NoReturn:
        if name in {"sum", "dot", "rotate"}:
            raise AttributeError(
                f"{self._describe()} is one value and has no {name}: declare an array, as in x: "
                f"sl.Array[{spelling(type(self))}, 8], or integers modulo a prime, as in x: sl.mod(65537), which "
                "lie in the slots of scheme bgv and are added up across them"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    if not TYPE_CHECKING:
        __getattr__ = _no_vector

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeMismatchError(f"{self._describe()} is an integer: divide with //, which truncates toward zero")

    def __lt__(self, other: Self | int) -> Bool:
        return self._binary("lt", "<", other, Bool)

    def __le__(self, other: Self | int) -> Bool:
        return self._binary("le", "<=", other, Bool)

    def __gt__(self, other: Self | int) -> Bool:
        return self._binary("gt", ">", other, Bool)

    def __ge__(self, other: Self | int) -> Bool:
        return self._binary("ge", ">=", other, Bool)

    def __neg__(self) -> Self:
        return _apply("neg", [self], type(self), f"-{self._text()}")

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        """Magnitude; that of the least signed value wraps to itself."""
        return _apply("abs", [self], type(self), f"abs({self._text()})")

    def __lshift__(self, amount: Integer | int) -> Self:
        """Shift left; by the width or more gives 0."""
        return self._shift("shl", "<<", amount)

    def __rshift__(self, amount: Integer | int) -> Self:
        """Shift right, with copies of the sign where signed."""
        return self._shift("shr", ">>", amount)

    def __rlshift__(self, other: object) -> NoReturn:
        raise TypeMismatchError(
            f"{other!r} << {self._describe()}: the left operand has no type; write sl.u32({other!r})"
        )

    def __rrshift__(self, other: object) -> NoReturn:
        raise TypeMismatchError(
            f"{other!r} >> {self._describe()}: the left operand has no type; write sl.u32({other!r})"
        )

    def rotate_left(self, amount: Integer | int) -> Self:
        """Rotate left by an amount modulo the width."""
        return self._shift("rotate_left", ".rotate_left", amount)

    def rotate_right(self, amount: Integer | int) -> Self:
        """Rotate right by an amount modulo the width."""
        return self._shift("rotate_right", ".rotate_right", amount)

    def leading_zeros(self) -> Self:
        """Count the zero bits above the highest one bit, in this type."""
        return _apply("leading_zeros", [self], type(self), f"{self._text()}.leading_zeros()")

    def _shift(self, op: str, symbol: str, amount: object) -> Self:
        if isinstance(amount, Value):
            if amount.signed or isinstance(amount, Bool):
                raise TypeMismatchError(
                    f"{symbol} does not take {self._describe()} and {amount._describe()}: an amount is unsigned; "
                    "cast it, as in .cast(sl.U8)"
                )
            by = amount
        else:
            number = None if isinstance(amount, bool) else _integer(amount)
            if number is None:
                raise TypeMismatchError(f"{symbol} with {self._describe()}: {amount!r} is no amount; give an integer")
            if number < 0:
                raise RangeError(f"{symbol} with {self._describe()}: the amount {number} is negative")
            # Beyond the width nothing changes, and rotations come round.
            by = U8(number % self.width if op.startswith("rotate") else min(number, MAX_WIDTH))
        return _apply(op, [self, by], type(self), f"({self._text()} {symbol} {by._text()})")


class UInt(Integer):
    """Unsigned integers; `class U12(sl.UInt, width=12)` names one of any width."""

    __slots__ = ()

    def __init_subclass__(cls, *, width: int | None = None) -> None:
        if width is not None:
            cls.width = _checked(width)
            cls.name = f"u{cls.width}"
            cls.MAX = (1 << cls.width) - 1


class Int(Integer):
    """Signed (two's complement) integers; `class I12(sl.Int, width=12)` names one of any width."""

    signed = True
    __slots__ = ()

    def __init_subclass__(cls, *, width: int | None = None) -> None:
        if width is not None:
            cls.width = _checked(width)
            cls.name = f"i{cls.width}"
            cls.MIN, cls.MAX = -(1 << (cls.width - 1)), (1 << (cls.width - 1)) - 1


class Modular(Value):
    """Integers modulo a number, in slots (schemes `"bgv"`, `"ntru"`): added, subtracted, multiplied and negated.

    -1 is the modulus less one, and so on down to 1 less the modulus.
    A program runs on arrays of them element by element; `rotate`, `sum` and `dot` go across the elements (scheme
    `"ntru"`: with a key made with `rotations=True`). `sl.mod(257)` gives the type;
    `class Residue(sl.Modular, modulus=257)` names it.
    """

    __slots__ = ()

    def __init_subclass__(cls, *, modulus: int | None = None) -> None:
        if modulus is not None:
            if not 2 <= operator.index(modulus) <= MAX_MODULUS:  # noqa: PLR2004
                raise RangeError(f"a modulus of {modulus} is out of range: give one of 2 to {MAX_MODULUS}")
            cls.modulus = operator.index(modulus)
            cls.width = (cls.modulus - 1).bit_length()
            cls.name = f"mod{cls.modulus}"
            cls.MAX = cls.modulus - 1

    @classmethod
    def encode(cls, value: int) -> int:
        """Residue of `value`, which may be negative: `RangeError` unless its magnitude is below the modulus."""
        if abs(value) >= cls.modulus:
            raise RangeError(
                f"{value} is out of range for {cls.name}: give an integer from 0 to {cls.MAX}, "
                f"or from {-cls.MAX} to -1 for those from the top"
            )
        return value % cls.modulus

    def __add__(self, other: Self | int) -> Self:
        return self._binary("add", "+", other, type(self))

    def __radd__(self, other: int) -> Self:
        return self._binary("add", "+", other, type(self), swap=True)

    def __sub__(self, other: Self | int) -> Self:
        return self._binary("sub", "-", other, type(self))

    def __rsub__(self, other: int) -> Self:
        return self._binary("sub", "-", other, type(self), swap=True)

    def __mul__(self, other: Self | int) -> Self:
        return self._binary("mul", "*", other, type(self))

    def __rmul__(self, other: int) -> Self:
        return self._binary("mul", "*", other, type(self), swap=True)

    def __neg__(self) -> Self:
        return _apply("neg", [self], type(self), f"-{self._text()}")

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: int) -> Self:
        """Multiply it with itself; the exponent is public, and of a high one the products in a row are its bits."""
        return _power(self, exponent)

    def rotate(self, by: int) -> Self:
        """Move the elements of the array that the program runs on `by` places to the left, around.

        Element `i` becomes what element `i + by` was, row by row, as with `np.roll(x, -by)`. A single value stays.
        """
        places = None if isinstance(by, bool) else _integer(by)
        if places is None:
            raise TypeMismatchError(f".rotate of {self._describe()}: {by!r} is no number of places; give an integer")
        if not -(1 << 63) <= places < 1 << 63:
            raise RangeError(f".rotate of {self._describe()}: {places} places are out of range")
        return _apply("rotate_elements", [self], type(self), f"{self._text()}.rotate({places})", by=places)

    def sum(self) -> Self:
        """Add up the elements of the array that the program runs on: a single value, which is its own sum."""
        return _apply("sum_elements", [self], type(self), f"{self._text()}.sum()")

    def dot(self, other: Self | int) -> Self:
        """Add up the products with the elements of another array, or with a single value."""
        return (self * other).sum()


def _power(base: V, exponent: object) -> V:
    """Square and multiply."""
    number = None if isinstance(exponent, (bool, Value)) else _integer(exponent)
    if number is None:
        raise TypeMismatchError(
            f"{base._describe()} ** {exponent!r}: an exponent is a public integer. For an encrypted one go through its "
            "bits: result = sl.select((n >> i) & 1 == 1, result * power, result); power = power * power"
        )
    if number < 0:
        raise RangeError(f"{base._describe()} ** {number}: there are no fractions; give an exponent of 0 or more")
    if number == 0:
        return cast(V, cast(Any, base) * 0 + 1)
    result: Any = None
    power: Any = base
    while number:
        if number & 1:
            result = power if result is None else result * power
        number >>= 1
        if number:
            power = power * power
    return cast(V, result)


def _checked(width: int) -> int:
    if not 1 <= operator.index(width) <= MAX_WIDTH:
        raise RangeError(f"a width of {width} bits is out of range: integers have 1 to {MAX_WIDTH} bits")
    return operator.index(width)


class U8(UInt, width=8):
    """Unsigned, 8 bits."""

    __slots__ = ()


class U16(UInt, width=16):
    """Unsigned, 16 bits."""

    __slots__ = ()


class U32(UInt, width=32):
    """Unsigned, 32 bits."""

    __slots__ = ()


class U64(UInt, width=64):
    """Unsigned, 64 bits."""

    __slots__ = ()


class U128(UInt, width=128):
    """Unsigned, 128 bits."""

    __slots__ = ()


class I8(Int, width=8):
    """Signed, 8 bits."""

    __slots__ = ()


class I16(Int, width=16):
    """Signed, 16 bits."""

    __slots__ = ()


class I32(Int, width=32):
    """Signed, 32 bits."""

    __slots__ = ()


class I64(Int, width=64):
    """Signed, 64 bits."""

    __slots__ = ()


class I128(Int, width=128):
    """Signed, 128 bits."""

    __slots__ = ()


_NAMED: dict[str, type[Value]] = {cls.name: cls for cls in (Bool, U8, U16, U32, U64, U128, I8, I16, I32, I64, I128)}


def uint(width: int) -> type[UInt]:
    """Give the unsigned type of any width from 1 to 128: `sl.uint(12)(4095)`."""
    name = f"u{_checked(width)}"
    if name not in _NAMED:
        _NAMED[name] = type(f"U{width}", (UInt,), {"__slots__": (), "__module__": __name__}, width=width)
    return cast(type[UInt], _NAMED[name])


def int_(width: int) -> type[Int]:
    """Give the signed type of any width from 1 to 128: `sl.int_(12)(-2048)`."""
    name = f"i{_checked(width)}"
    if name not in _NAMED:
        _NAMED[name] = type(f"I{width}", (Int,), {"__slots__": (), "__module__": __name__}, width=width)
    return cast(type[Int], _NAMED[name])


def mod(modulus: int) -> type[Modular]:
    """Give the type of integers modulo a number from 2 to 2^30: `sl.mod(257)(256)`."""
    name = f"mod{operator.index(modulus)}"
    if name not in _NAMED:
        _NAMED[name] = type(f"Mod{modulus}", (Modular,), {"__slots__": (), "__module__": __name__}, modulus=modulus)
    return cast(type[Modular], _NAMED[name])


def of_type(name: str, value: int) -> Value:
    """Give a value of the type of a name; types of any width are made when they are first used."""
    return type_named(name)(value)


def type_named(name: str) -> type[Value]:
    """Give the type of a name such as `u32` or `bool`."""
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith("mod") and name[3:].isdecimal():
        return mod(int(name[3:]))
    if name[:1] in {"u", "i"} and name[1:].isdecimal():
        return (uint if name[0] == "u" else int_)(int(name[1:]))
    raise TypeMismatchError(f"there is no type {name!r}; types are bool, u1 to u128, i1 to i128 and modP")
