"""Named functions of integers, of single values and of arrays alike."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic, Self, TypeVar, cast

B = TypeVar("B")


class IntegerFunctions(Generic[B]):
    """Functions of integers beside the operators. `B` is the type of a bool: one value, or an array of them.

    On arrays each function works element by element. An operand may be a Python integer, and arrays broadcast. A number
    of bits has the type of the integer; in signed types of 1 and 2 bits it may wrap.
    """

    __slots__ = ()

    @abstractmethod
    def _named(self, op: str, *others: Any, to_bool: bool = False) -> Any:
        """Apply an operation of programs to this value and others."""

    def leading_zeros(self) -> Self:
        """Return the number of zero bits above the highest one bit, as a value of this type."""
        return cast(Self, self._named("leading_zeros"))

    def count_ones(self) -> Self:
        """Return the number of one bits, as a value of this type."""
        return cast(Self, self._named("count_ones"))

    def trailing_zeros(self) -> Self:
        """Return the number of zero bits below the lowest one bit, or the width if the value is 0."""
        return cast(Self, self._named("trailing_zeros"))

    def ilog2(self) -> Self:
        """Return the logarithm to base 2, rounded down. If the value is not positive, every bit of it is one."""
        return cast(Self, self._named("ilog2"))

    def isqrt(self) -> Self:
        """Return the square root, rounded down. If the value is negative, the root is 0."""
        return cast(Self, self._named("sqrt"))

    def overflowing_add(self, other: Any) -> tuple[Self, B]:
        """Return the wrapped sum, and whether the true sum does not fit the type."""
        return cast(Any, self) + other, self._named("add_overflows", other, to_bool=True)

    def overflowing_sub(self, other: Any) -> tuple[Self, B]:
        """Return the wrapped difference, and whether the true difference does not fit the type."""
        return cast(Any, self) - other, self._named("sub_overflows", other, to_bool=True)

    def overflowing_mul(self, other: Any) -> tuple[Self, B]:
        """Return the wrapped product, and whether the true product does not fit the type."""
        return cast(Any, self) * other, self._named("mul_overflows", other, to_bool=True)

    def checked_add(self, other: Any) -> tuple[Self, B]:
        """Return the sum, or 0 if it does not fit the type, and whether it fits."""
        return self._checked_pair(self.overflowing_add(other))

    def checked_sub(self, other: Any) -> tuple[Self, B]:
        """Return the difference, or 0 if it does not fit the type, and whether it fits."""
        return self._checked_pair(self.overflowing_sub(other))

    def checked_mul(self, other: Any) -> tuple[Self, B]:
        """Return the product, or 0 if it does not fit the type, and whether it fits."""
        return self._checked_pair(self.overflowing_mul(other))

    def _checked_pair(self, result: tuple[Self, B]) -> tuple[Self, B]:
        from solinas._functions import select

        value, overflows = cast(Any, result)
        return select(overflows, 0, value), ~overflows

    def saturating_add(self, other: Any) -> Self:
        """Return the sum, or the nearest value of the type if it does not fit."""
        return cast(Self, self._named("saturating_add", other))

    def saturating_sub(self, other: Any) -> Self:
        """Return the difference, or the nearest value of the type if it does not fit."""
        return cast(Self, self._named("saturating_sub", other))

    def saturating_mul(self, other: Any) -> Self:
        """Return the product, or the nearest value of the type if it does not fit."""
        return cast(Self, self._named("saturating_mul", other))

    def abs_diff(self, other: Any) -> Any:
        """Return the absolute difference, which is exact, as an unsigned value of the same width."""
        from solinas._functions import select
        from solinas._types import uint

        less = cast(Any, self) < other
        difference = select(less, other, self) - select(less, self, other)
        kind: Any = getattr(self, "_kind", type(self))
        return difference.cast(uint(kind.width))

    def floor_div(self, other: Any) -> Self:
        """Divide and round down, as Python's `//` does. If the divisor is 0, every bit of the quotient is one."""
        return cast(Self, self._named("div_floor", other))

    def floor_mod(self, other: Any) -> Self:
        """Return the remainder of `floor_div`, which has the sign of the divisor, as Python's `%` does.

        If the divisor is 0, the remainder is the dividend.
        """
        return cast(Self, self._named("rem_floor", other))

    def div_euclid(self, other: Any) -> Self:
        """Divide so that the remainder is not negative. If the divisor is 0, every bit of the quotient is one."""
        return cast(Self, self._named("div_euclid", other))

    def rem_euclid(self, other: Any) -> Self:
        """Return the remainder of `div_euclid`, which is not negative. If the divisor is 0, it is the dividend."""
        return cast(Self, self._named("rem_euclid", other))
