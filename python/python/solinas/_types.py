"""Integer types: signed and unsigned of 1 to 2048 bits, and integers modulo a number."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar, cast

from solinas._errors import RangeError, TypeMismatchError
from solinas._integers import IntegerFunctions
from solinas._values import TYPES, Bool, TypeClass, Value, _apply, _integer, type_expression

V = TypeVar("V", bound=Value)

MAX_WIDTH = 2048
MAX_MODULUS = 1 << 30

# Operators whose right operand is an unsigned shift amount.
SHIFTS = (operator.lshift, operator.rshift)


class Number(Value):
    """A value with sums and products: the base class of `Integer` and `Modular`."""

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

    def __neg__(self) -> Self:
        return _apply("neg", [self], type(self), f"-{self._text()}")

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: int) -> Self:
        """Raise to a public power of 0 or more. The depth in products grows with the bits of the exponent."""
        self._check_dtype(exponent)
        return _power(self, exponent)


class Ordered(Number):
    """A number with an order: the base class of `Integer` and `Fixed`."""

    __slots__ = ()

    def __lt__(self, other: Self | int) -> Bool:
        return self._binary("lt", "<", other, Bool)

    def __le__(self, other: Self | int) -> Bool:
        return self._binary("le", "<=", other, Bool)

    def __gt__(self, other: Self | int) -> Bool:
        return self._binary("gt", ">", other, Bool)

    def __ge__(self, other: Self | int) -> Bool:
        return self._binary("ge", ">=", other, Bool)

    def __abs__(self) -> Self:
        """Return the magnitude. That of the least signed value does not fit, and wraps to the value itself."""
        return _apply("abs", [self], type(self), f"abs({self._text()})")


class Integer(IntegerFunctions[Bool], Ordered):
    """An integer of a fixed width: the base class of `UInt` and `Int`."""

    __slots__ = ()

    def _named(self, op: str, *others: Any, to_bool: bool = False) -> Any:
        if not others:
            return _apply(op, [self], type(self), f"{self._text()}.{op}()")
        result = self._binary(op, f".{op}", others[0], Bool if to_bool else type(self))
        if result is NotImplemented:
            raise TypeMismatchError(f".{op} does not take {self._describe()} and {others[0]!r}: give an integer")
        return result

    def __floordiv__(self, other: Self | int) -> Self:
        """Divide and truncate toward zero, unlike Python. If the divisor is 0, every bit of the quotient is one."""
        return self._binary("div", "//", other, type(self))

    def __rfloordiv__(self, other: int) -> Self:
        return self._binary("div", "//", other, type(self), swap=True)

    def __mod__(self, other: Self | int) -> Self:
        """Return the remainder, which has the sign of the dividend, unlike in Python.

        If the divisor is 0, the remainder is the dividend.
        """
        return self._binary("rem", "%", other, type(self))

    def __rmod__(self, other: int) -> Self:
        return self._binary("rem", "%", other, type(self), swap=True)

    def __divmod__(self, other: Self | int) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: int) -> tuple[Self, Self]:
        return other // self, other % self

    def __rpow__(self, base: object) -> NoReturn:
        raise TypeMismatchError(
            f"{base!r} ** {self._describe()}: the exponent must be public. For a power of two write sl.u32(1) << x; "
            "for another base write sl.lookup(lambda i: ..., x), with an x of at most 8 bits"
        )

    def _no_vector(self, name: str) -> NoReturn:
        if name in {"sum", "dot", "rotate"}:
            raise AttributeError(
                f"{self._describe()} is one value and has no {name}: declare an array, as in x: "
                f"sl.Array[{type_expression(type(self))}, 8], or integers modulo a prime, as in x: sl.mod(65537), "
                "whose arrays scheme bgv adds across slots"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    if not TYPE_CHECKING:
        __getattr__ = _no_vector

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeMismatchError(f"{self._describe()} is an integer: divide with //, which truncates toward zero")

    __rtruediv__ = __truediv__

    def __lshift__(self, amount: Integer | int) -> Self:
        """Shift left by an unsigned amount. An amount of the width or more gives 0."""
        return self._shift("shl", "<<", amount)

    def __rshift__(self, amount: Integer | int) -> Self:
        """Shift right by an unsigned amount. A signed value is extended with copies of its sign."""
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
        """Rotate the bits left by an unsigned amount, modulo the width."""
        return self._shift("rotate_left", ".rotate_left", amount)

    def rotate_right(self, amount: Integer | int) -> Self:
        """Rotate the bits right by an unsigned amount, modulo the width."""
        return self._shift("rotate_right", ".rotate_right", amount)

    def _shift(self, op: str, symbol: str, amount: object) -> Self:
        if isinstance(amount, Value):
            if amount.signed or isinstance(amount, Bool):
                raise TypeMismatchError(
                    f"{symbol} does not take {self._describe()} and {amount._describe()}: the amount must be "
                    "unsigned; cast it, as in .cast(sl.U8)"
                )
            by = amount
        else:
            self._check_dtype(amount)
            number = None if isinstance(amount, bool) else _integer(amount)
            if number is None and op in {"shl", "shr"} and getattr(amount, "__array_ufunc__", None) is not None:
                return cast(Self, NotImplemented)
            if number is None:
                raise TypeMismatchError(f"{symbol} with {self._describe()}: the amount is {amount!r}; give an integer")
            if number < 0:
                raise RangeError(f"{symbol} with {self._describe()}: the amount {number} is negative")
            # Every amount of the width or more gives the same shift. A rotation depends on the amount modulo the width.
            by = U16(number % self.width if op.startswith("rotate") else min(number, MAX_WIDTH))
        return _apply(op, [self, by], type(self), f"({self._text()} {symbol} {by._text()})")


class UInt(Integer):
    """An unsigned integer. `class U12(sl.UInt, width=12)` defines a type of another width, from 1 to 2048 bits."""

    __slots__ = ()

    def __init_subclass__(cls, *, width: int | None = None) -> None:
        if width is not None:
            cls.width = _checked(width)
            cls.name = f"u{cls.width}"
            cls.MAX = (1 << cls.width) - 1


class Int(Integer):
    """A signed integer in two's complement. `class I12(sl.Int, width=12)` defines a type of another width."""

    signed = True
    __slots__ = ()

    def __init_subclass__(cls, *, width: int | None = None) -> None:
        if width is not None:
            cls.width = _checked(width)
            cls.name = f"i{cls.width}"
            cls.MIN, cls.MAX = -(1 << (cls.width - 1)), (1 << (cls.width - 1)) - 1


class Modular(Number):
    """An integer modulo a number (schemes `"bgv"` and `"ntru"`), with operators `+`, `-`, `*` and `**`.

    `sl.mod(257)` returns such a type, and `class Residue(sl.Modular, modulus=257)` defines one with a name. Plain
    values are 0 to modulus - 1. Negative integers down to 1 - modulus are taken modulo the modulus.

    A program runs on arrays of them element by element, one element in each slot. `rotate`, `sum` and `dot` combine the
    elements of an array. Under scheme `"ntru"` they need a key made with `rotations=True`.
    """

    __slots__ = ()

    def __init_subclass__(cls, *, modulus: int | None = None) -> None:
        if modulus is not None:
            if not 2 <= operator.index(modulus) <= MAX_MODULUS:  # noqa: PLR2004
                raise RangeError(f"a modulus of {modulus} is out of range: give one from 2 to {MAX_MODULUS}")
            cls.modulus = operator.index(modulus)
            cls.width = (cls.modulus - 1).bit_length()
            cls.name = f"mod{cls.modulus}"
            cls.MAX = cls.modulus - 1

    @classmethod
    def encode(cls, value: int) -> int:
        """Return `value` modulo the modulus. Raises RangeError unless -modulus < value < modulus."""
        if abs(value) >= cls.modulus:
            raise RangeError(
                f"{value} is out of range for {cls.name}: give an integer from 0 to {cls.MAX}, "
                f"or from {-cls.MAX} to -1, which are taken modulo {cls.modulus}"
            )
        return value % cls.modulus

    def __lt__(self, other: object) -> NoReturn:
        raise TypeMismatchError(
            f"{self._describe()} is an integer modulo a number and has no order: use an integer type such as sl.U32, "
            "under a key that holds bits"
        )

    __le__ = __gt__ = __ge__ = __lt__

    def rotate(self, by: int) -> Self:
        """Rotate the elements of the array that the program runs on `by` positions to the left.

        Element `i` of the result is element `i + by`, counted row by row, as with `np.roll(x, -by)`. A single value
        does not change. Raises RangeError unless `by` fits in 64 signed bits.
        """
        places = None if isinstance(by, bool) else _integer(by)
        if places is None:
            raise TypeMismatchError(
                f".rotate of {self._describe()}: the number of positions is {by!r}; give an integer"
            )
        if not -(1 << 63) <= places < 1 << 63:
            raise RangeError(f".rotate of {self._describe()}: {places} positions are out of range; give one below 2^63")
        return _apply("rotate_elements", [self], type(self), f"{self._text()}.rotate({places})", by=places)

    def sum(self) -> Self:
        """Add the elements of the array that the program runs on. The result is a single value."""
        return _apply("sum_elements", [self], type(self), f"{self._text()}.sum()")

    def dot(self, other: Self | int) -> Self:
        """Add the products with the elements of another array, or with a single value."""
        return (self * other).sum()


def _power(base: V, exponent: object) -> V:
    """Raise to a public power by squaring and multiplying."""
    number = None if isinstance(exponent, (bool, Value)) else _integer(exponent)
    if number is None:
        raise TypeMismatchError(
            f"{base._describe()} ** {exponent!r}: the exponent must be a public integer. For an encrypted one, loop "
            "over its bits: result = sl.select((n >> i) & 1 == 1, result * power, result); power = power * power"
        )
    if number < 0:
        raise RangeError(f"{base._describe()} ** {number}: values are integers; give an exponent of 0 or more")
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
    """An unsigned integer of 8 bits."""

    __slots__ = ()


class U16(UInt, width=16):
    """An unsigned integer of 16 bits."""

    __slots__ = ()


class U32(UInt, width=32):
    """An unsigned integer of 32 bits."""

    __slots__ = ()


class U64(UInt, width=64):
    """An unsigned integer of 64 bits."""

    __slots__ = ()


class U128(UInt, width=128):
    """An unsigned integer of 128 bits."""

    __slots__ = ()


class U256(UInt, width=256):
    """An unsigned integer of 256 bits."""

    __slots__ = ()


class I8(Int, width=8):
    """A signed integer of 8 bits."""

    __slots__ = ()


class I16(Int, width=16):
    """A signed integer of 16 bits."""

    __slots__ = ()


class I32(Int, width=32):
    """A signed integer of 32 bits."""

    __slots__ = ()


class I64(Int, width=64):
    """A signed integer of 64 bits."""

    __slots__ = ()


class I128(Int, width=128):
    """A signed integer of 128 bits."""

    __slots__ = ()


class I256(Int, width=256):
    """A signed integer of 256 bits."""

    __slots__ = ()


def uint(width: int) -> type[UInt]:
    """Return the unsigned type of a width from 1 to 2048 bits, as in `sl.uint(12)(4095)`."""
    known = TYPES.get(f"u{_checked(width)}")
    return cast(type[UInt], known or _made(f"U{width}", UInt, width=width))


def int_(width: int) -> type[Int]:
    """Return the signed type of a width from 1 to 2048 bits, as in `sl.int_(12)(-2048)`."""
    known = TYPES.get(f"i{_checked(width)}")
    return cast(type[Int], known or _made(f"I{width}", Int, width=width))


def mod(modulus: int) -> type[Modular]:
    """Return the type of integers modulo a number from 2 to 2^30, as in `sl.mod(257)(256)`."""
    known = TYPES.get(f"mod{operator.index(modulus)}")
    return cast(type[Modular], known or _made(f"Mod{modulus}", Modular, modulus=modulus))


def _made(name: str, base: type[Value], **options: int) -> type[Value]:
    """Return the class of a type that may have none yet."""
    made: type[Value] = TypeClass(name, (base,), {"__slots__": (), "__module__": __name__}, **options)
    return made


def of_type(name: str, value: int) -> Value:
    """Return a plain value of the type with this name. Pickles use it."""
    return type_named(name)(value)


def type_named(name: str) -> type[Value]:
    """Return the type with a name such as `u32`, `bool`, `mod257` or `fixed16.8`. A new one makes a new type."""
    if name in TYPES:
        return TYPES[name]
    if name.startswith("fixed") and name[5:].replace(".", "", 1).isdecimal() and "." in name:
        from solinas._fixed import fixed

        width, fraction = name[5:].split(".")
        return fixed(int(width or 0), int(fraction or 0))
    if name.startswith("mod") and name[3:].isdecimal():
        return mod(int(name[3:]))
    if name[:1] in {"u", "i"} and name[1:].isdecimal():
        return (uint if name[0] == "u" else int_)(int(name[1:]))
    raise TypeMismatchError(f"there is no type {name!r}: give bool, u1 to u2048, i1 to i2048, or mod and a number")
