"""Operators of arrays, element by element."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NoReturn, Self, cast

from solinas._errors import TypeMismatchError
from solinas._promotion import check_public, is_public, typed
from solinas._shapes import NdArray, broadcast, broadcast_indices, flatten
from solinas._values import NO_BOOL, Value


class Elementwise(NdArray):
    """An array with operators, which work element by element.

    The other operand is an array, which may be public, or a single value. Shapes broadcast.
    """

    __slots__ = ()

    __hash__ = None

    @property
    def _is_packed(self) -> bool:
        """Whether the elements share ciphertexts, so that they cannot be separated."""
        return False

    @staticmethod
    @abstractmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        """Apply a function of single values to each element of the operands, broadcast to one shape."""

    def _combined(self, function: Callable[..., Any], *operands: Any) -> Self:
        check_public(operands)
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
        """Raise to public powers of 0 or more: one integer, or an array of them that broadcasts."""
        if isinstance(exponent, (NdArray, Value)) or flatten(exponent)[0] is None:
            return self._combined(operator.pow, self, exponent)
        check_public((self, exponent))
        return cast(Self, self._powers(*flatten(exponent)))

    def _powers(self, own: Any, exponents: list[Any]) -> Any:
        """Raise to an array of public powers: the elements with one exponent together."""
        shape = broadcast([self.shape, own])
        if self._is_packed and len(set(exponents)) > 1:
            raise TypeMismatchError(
                f"an array of {self._kind.name} shares ciphertexts among its elements: give all of them one exponent"
            )
        places: dict[Any, list[int]] = {}
        for place, index in enumerate(broadcast_indices(own, shape)):
            places.setdefault(exponents[index], []).append(place)
        bases = broadcast_indices(self.shape, shape)
        parts = [self._part([bases[i] for i in at], (len(at),)) ** e for e, at in places.items()]
        from solinas._rearrange import pool

        # The place of each element after the parts are joined.
        order = [0] * len(bases)
        for joined, place in enumerate(place for at in places.values() for place in at):
            order[place] = joined
        return pool(parts)._part(order, shape)

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
        return self._combined(operator.lshift, self._typed(value, "<<"), self)

    def __rshift__(self, amount: Any) -> Self:
        return self._combined(operator.rshift, self, amount)

    def __rrshift__(self, value: Any) -> Self:
        return self._combined(operator.rshift, self._typed(value, ">>"), self)

    def _typed(self, value: Any, symbol: str) -> Any:
        """Return the left operand of a shift. Raises TypeMismatchError if it has no type."""
        if isinstance(value, Value) or is_public(value):
            return typed(value, self)
        raise TypeMismatchError(
            f"{value!r} {symbol} {self!r}: the left operand has no type; write sl.u32(1), or an array with a type, as "
            "in np.array([1, 2], dtype=np.uint32)"
        )

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
