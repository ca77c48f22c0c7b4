"""Operators of arrays, element by element."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn, Self

from solinas._errors import TypeMismatchError
from solinas._shapes import NdArray
from solinas._values import NO_BOOL


class Elementwise(NdArray):
    """An array with operators, which work element by element.

    The other operand is an array, which may be public, or a single value. Shapes broadcast.
    """

    __slots__ = ()

    __hash__ = None

    @staticmethod
    @abstractmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        """Apply a function of single values to each element of the operands, broadcast to one shape."""

    def _combined(self, function: Callable[..., Any], *operands: Any) -> Self:
        result: Self = self._elementwise(function, *operands)
        return result

    def __bool__(self) -> bool:
        raise TypeMismatchError(NO_BOOL.format(what=f"{self!r}") + ". To test the length write len(array) > 0")

    def __contains__(self, value: object) -> NoReturn:
        raise TypeMismatchError("`in` must return a plain bool, but only the client knows it: write (array == x).any()")

    def __add__(self, other: Any) -> Self:
        return self._combined(operator.add, self, other)

    def __radd__(self, other: Any) -> Self:
        return self._combined(operator.add, other, self)

    def __sub__(self, other: Any) -> Self:
        return self._combined(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Self:
        return self._combined(operator.sub, other, self)

    def __mul__(self, other: Any) -> Self:
        return self._combined(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Self:
        return self._combined(operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Self:
        return self._combined(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Self:
        return self._combined(operator.floordiv, other, self)

    def __mod__(self, other: Any) -> Self:
        return self._combined(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Self:
        return self._combined(operator.mod, other, self)

    def __divmod__(self, other: Any) -> tuple[Self, Self]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Self, Self]:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Self:
        return self._combined(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Self:
        return self._combined(operator.truediv, other, self)

    def __pow__(self, exponent: Any) -> Self:
        return self._combined(operator.pow, self, exponent)

    def __rpow__(self, base: Any) -> Self:
        return self._combined(operator.pow, base, self)

    def __and__(self, other: Any) -> Self:
        return self._combined(operator.and_, self, other)

    def __rand__(self, other: Any) -> Self:
        return self._combined(operator.and_, other, self)

    def __or__(self, other: Any) -> Self:
        return self._combined(operator.or_, self, other)

    def __ror__(self, other: Any) -> Self:
        return self._combined(operator.or_, other, self)

    def __xor__(self, other: Any) -> Self:
        return self._combined(operator.xor, self, other)

    def __rxor__(self, other: Any) -> Self:
        return self._combined(operator.xor, other, self)

    def __lshift__(self, amount: Any) -> Self:
        return self._combined(operator.lshift, self, amount)

    def __rlshift__(self, value: Any) -> Self:
        return self._combined(operator.lshift, value, self)

    def __rshift__(self, amount: Any) -> Self:
        return self._combined(operator.rshift, self, amount)

    def __rrshift__(self, value: Any) -> Self:
        return self._combined(operator.rshift, value, self)

    def __lt__(self, other: Any) -> Any:
        return self._elementwise(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return self._elementwise(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return self._elementwise(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return self._elementwise(operator.ge, self, other)

    def __eq__(self, other: object) -> Any:
        return self._elementwise(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return self._elementwise(operator.ne, self, other)

    def __neg__(self) -> Self:
        return self._combined(operator.neg, self)

    def __pos__(self) -> Self:
        return self

    def __invert__(self) -> Self:
        return self._combined(operator.invert, self)

    def __abs__(self) -> Self:
        return self._combined(abs, self)
