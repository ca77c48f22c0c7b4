"""Fixed-point numbers: multiples of a negative power of two, held as signed integers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from solinas._core import stored
from solinas._errors import RangeError, TypeMismatchError
from solinas._types import MAX_WIDTH, Int, Ordered, _made, int_
from solinas._values import EXACT, TYPES, Bool, Value, _apply, _integer, is_bool

if TYPE_CHECKING:
    from solinas import _core

Plain = int | float | Fraction | Decimal

COMPARISONS = {op: getattr(operator, op) for op in ("eq", "ne", "lt", "le", "gt", "ge")}


class Fixed(Ordered):
    """A signed fixed-point number: an integer of `width` bits in two's complement, divided by 2^fraction.

    `sl.fixed(16, 8)` returns such a type, and `class Price(sl.Fixed, width=16, fraction=8)` defines one with a name.
    Its values are the multiples of 2^-8 from -128 to 128 - 2^-8.

    A Python number (an integer, float, `Fraction` or `Decimal`) that meets a fixed-point number is rounded to the
    nearest value of the type, to the even one if two are equally near. So is the argument of a constructor, which may
    also be a string such as `"0.1"`. Sums and differences are exact and wrap. Comparisons are exact: they take the
    number itself.

    A value decrypts to a float if the type has at most 53 bits, which is exact, else to a `Fraction`.
    """

    signed = True
    __slots__ = ()

    def __init_subclass__(cls, *, width: int | None = None, fraction: int | None = None) -> None:
        if width is None or fraction is None:
            if width is not fraction:
                raise TypeError("a fixed-point type needs both a width and a number of fraction bits")
            return
        cls.width, cls.fraction = operator.index(width), operator.index(fraction)
        if not (0 <= cls.fraction <= cls.width and 1 <= cls.width <= MAX_WIDTH - cls.fraction):
            raise RangeError(
                f"a fixed-point type of {width} bits with {fraction} fraction bits is out of range: give 1 bit or "
                f"more, at most as many fraction bits, and at most {MAX_WIDTH} of both together, which a product takes"
            )
        cls.name = f"fixed{cls.width}.{cls.fraction}"
        cls.MIN, cls.MAX = cls.decode(1 << (cls.width - 1)), cls.decode((1 << (cls.width - 1)) - 1)

    def __init__(self, value: Any) -> None:
        if not self.width:
            raise TypeError(f"{type(self).__name__} has no width: write sl.fixed(16, 8)(1.5)")
        number = self._parsed(value)
        if number is None:
            raise TypeMismatchError(f"{value!r} is not a value of {self.name}: give a number")
        self._data = self.encode(number)
        self._label = ""

    @classmethod
    def encode(cls, value: Any) -> int:
        """Return the bits of the nearest value, the even one of two. Raises RangeError if it does not fit."""
        units, half = round(Fraction(value) * (1 << cls.fraction)), 1 << (cls.width - 1)
        if not -half <= units < half:
            raise RangeError(f"{value} is out of range for {cls.name}: give a number from {cls.MIN} to {cls.MAX}")
        return units & ((1 << cls.width) - 1)

    @classmethod
    def decode(cls, bits: int) -> Any:
        """Return the number with these bits: a float up to 53 bits, else a `Fraction`."""
        number = Fraction(bits - (bits >> (cls.width - 1) << cls.width), 1 << cls.fraction)
        return float(number) if cls.width <= EXACT else number

    @classmethod
    def _number(cls, value: object) -> Fraction | None:
        if isinstance(value, Value):
            return Fraction(value.decode(value._data)) if value.is_plain else None
        number = _integer(value)
        if number is not None:
            return Fraction(number)
        if not hasattr(value, "as_integer_ratio"):
            return None
        try:
            return Fraction(*value.as_integer_ratio())
        except (ValueError, OverflowError):
            raise RangeError(f"{value} is not a finite number, which {cls.name} needs") from None

    @classmethod
    def _parsed(cls, value: object) -> Fraction | None:
        if not isinstance(value, str):
            return cls._number(value)
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            return None

    @classmethod
    def _checked(cls, core: _core.Ciphertext, place: str) -> Self:
        if cls.width and core.type_name == stored(cls.name) and core.shape is None:
            return cast(Self, cls._of_core(core, cls.name))
        return super()._checked(core, place)

    def __float__(self) -> float:
        return float(self.decode(self._data)) if self.is_plain else float(super().__index__())

    def __index__(self) -> int:
        raise TypeMismatchError(f"{self._describe()} is not an integer: round it, as in round(x) or x.cast(sl.I16)")

    def __int__(self) -> int:
        return int(self.decode(self._data)) if self.is_plain else int(float(self))

    def _binary(self, op: str, symbol: str, other: object, to: Any, *, swap: bool = False) -> Any:
        if op in {"and", "or", "xor"}:
            raise TypeMismatchError(f"{symbol} does not take {self._describe()}: view it as an integer first")
        compare = COMPARISONS.get(op)
        number = None if compare is None or isinstance(other, Value) or is_bool(other) else self._number(other)
        if compare is None or number is None:
            return super()._binary(op, symbol, other, to, swap=swap)
        (bound,), (whole,) = bounds(type(self), compare, [number])
        if not whole and op in {"eq", "ne"}:
            # No value of the type is equal.
            op, bound = "lt" if op == "eq" else "ge", type(self)(self.MIN)
        return _apply(op, [self, bound], to, f"({self._text()} {symbol} {other})")

    def __invert__(self) -> NoReturn:
        raise TypeMismatchError(f"~ does not take {self._describe()}: view it as an integer first")

    if TYPE_CHECKING:
        # Operands are any numbers of Python, while those of the base class are integers.
        def __add__(self, other: Self | Plain) -> Self: ...
        def __radd__(self, other: Plain) -> Self: ...
        def __sub__(self, other: Self | Plain) -> Self: ...
        def __rsub__(self, other: Plain) -> Self: ...
        def __lt__(self, other: Self | Plain) -> Bool: ...
        def __le__(self, other: Self | Plain) -> Bool: ...
        def __gt__(self, other: Self | Plain) -> Bool: ...
        def __ge__(self, other: Self | Plain) -> Bool: ...

    def __mul__(self, other: Self | Plain) -> Self:
        """Multiply and round to the nearest value, up if two are equally near. Products wrap.

        The error is at most half of the least positive value. A product with a public integer is exact.
        """
        whole = self._whole(other)
        if whole is not None:
            return _apply("mul", [self, whole], type(self), f"({self._text()} * {other})")
        value = self._coerce(other, "*")
        if value is None:
            return cast(Self, self._deferred("*", other))
        # The result needs the low width + fraction bits of the product alone.
        product = self._wide() * cast(Fixed, value)._wide()
        return self._narrow(_rounded_shift(product, self.fraction), f"({self._text()} * {value._text()})")

    __rmul__ = __mul__

    def __truediv__(self, other: Self | Plain) -> Self:
        """Divide and truncate toward zero: the error is less than the least positive value. Quotients wrap.

        If the divisor is 0, every bit of the quotient is one.
        """
        whole = self._whole(other)
        if whole is not None:
            return _apply("div", [self, whole], type(self), f"({self._text()} / {other})")
        value = self._coerce(other, "/")
        return cast(Self, self._deferred("/", other)) if value is None else self._quotient(self, cast(Self, value))

    def __rtruediv__(self, other: Plain) -> Self:
        value = self._coerce(other, "/")
        return cast(Self, self._deferred("/", other)) if value is None else self._quotient(cast(Self, value), self)

    def __floordiv__(self, other: object) -> NoReturn:
        raise TypeMismatchError(f"{self._describe()} is a fixed-point number: divide with /, then round")

    __rfloordiv__ = __floordiv__

    def _quotient(self, a: Self, b: Self) -> Self:
        quotient = (a._wide() << self.fraction) // b._wide()
        return self._narrow(quotient, f"({a._text()} / {b._text()})")

    def __floor__(self) -> Int:
        """Round down to an integer of the same width."""
        return self._units() >> self.fraction

    def __ceil__(self) -> Int:
        """Round up to an integer of the same width, which wraps if the type has no bit before the point."""
        return self._rounded(lambda _: (1 << self.fraction) - 1)

    def __trunc__(self) -> Int:
        """Round toward zero to an integer of the same width."""
        return self._rounded(lambda units: (units >> self.width) & ((1 << self.fraction) - 1))

    def __round__(self, digits: None = None) -> Int:
        """Round to the nearest integer of the same width, to the even one if two are equally near, as Python does."""
        if digits is not None:
            raise TypeMismatchError(f"round of {self._describe()} gives an integer: leave the number of digits out")
        return self._rounded(lambda units: ((units >> self.fraction) & 1) + ((1 << self.fraction >> 1) - 1))

    def _rounded(self, added: Callable[[Int], Int | int]) -> Int:
        """Return the stored integer plus what `added` gives for it, rounded down to an integer."""
        if not self.fraction:
            return self._units()
        # The sum is below 2^(width - 1) + 2^fraction.
        units = self._units(1 + (self.fraction == self.width))
        return ((units + added(units)) >> self.fraction).cast(int_(self.width))

    def _units(self, more: int = 0) -> Int:
        """Return the stored integer, `more` bits wider."""
        return _apply("cast", [self], int_(self.width + more), self._text())

    def _wide(self) -> Int:
        return self._units(self.fraction)

    def _narrow(self, units: Int, label: str) -> Self:
        return _apply("cast", [units], type(self), label)

    def _whole(self, other: object) -> Int | None:
        """Return a public integer as a stored integer, or None for anything else or one that does not fit."""
        number = None if isinstance(other, (bool, Value)) else _integer(other)
        kind = int_(self.width)
        return None if number is None or not kind.MIN <= number <= kind.MAX else kind(number)


def bounds(kind: type[Fixed], compare: Any, numbers: Sequence[Any]) -> tuple[list[Fixed], list[bool]]:
    """Return the values of a type that compare with every other one as these numbers do, and whether they are equal.

    `compare` is a comparison of the module `operator` whose right operands are the numbers. Raises RangeError for a
    number that is less or greater than all values of the type.
    """
    values, whole = [], []
    for number in numbers:
        if not kind.MIN <= number <= kind.MAX:
            raise RangeError(f"{number} is out of range for {kind.name}: give a number from {kind.MIN} to {kind.MAX}")
        units = Fraction(number) * (1 << kind.fraction)
        up = compare in {operator.lt, operator.ge}
        values.append(kind(Fraction(math.ceil(units) if up else math.floor(units), 1 << kind.fraction)))
        whole.append(units.denominator == 1)
    return values, whole


def _rounded_shift(value: Int, amount: int) -> Int:
    """Return value / 2^amount, rounded to the nearest integer, up if two are equally near."""
    return (value + (1 << amount >> 1)) >> amount


def fixed(width: int, fraction: int) -> type[Fixed]:
    """Return the type of signed fixed-point numbers of `width` bits, `fraction` of which are behind the point.

    `sl.fixed(16, 8)(1.5)` is one of its values. `width + fraction` is at most the width of the widest integer, because
    a product takes as many bits.
    """
    known = TYPES.get(f"fixed{operator.index(width)}.{operator.index(fraction)}")
    return cast(type[Fixed], known or _made(f"Fixed{width}_{fraction}", Fixed, width=width, fraction=fraction))
