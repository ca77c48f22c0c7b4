"""Typed values: plain, encrypted or recorded. Each type is one class for all of them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Self, TypeVar, cast

from solinas import _core
from solinas._ciphertext import Ciphertext
from solinas._core import Expr, stored
from solinas._errors import RangeError, TypeMismatchError
from solinas._shapes import numpy_or_none

MAX_LABEL = 48
# The operations of comparison operators.
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
# The widest integer of which every value is a float.
EXACT = 53

V = TypeVar("V", bound="Value")

NO_BOOL = (
    "{what} has no truth value here: only the client knows it. Use sl.select(condition, a, b) instead of "
    "`if`, and & | ~ instead of `and`, `or`, `not`"
)


# The class of each type, by the name of the type.
TYPES: dict[str, type[Value]] = {}
# What a class statement without a body of its own leaves in the namespace.
BARE = {"__module__", "__qualname__", "__doc__", "__slots__", "__firstlineno__", "__static_attributes__"}


class TypeClass(type):
    """The metaclass of `Value`: a type has one class, however often it is named."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        """Return the class of a type. A class statement for a type that has a class returns that class.

        Raises TypeMismatchError if the statement also defines methods, unless it replaces a class of the same name.
        """
        made: Any = super().__new__(cls, name, bases, namespace, **options)
        if not options:
            return made
        # One step, so that threads which name a new type at the same time get one class.
        known: Any = TYPES.setdefault(made.name, made)
        if known is made or namespace.keys() <= BARE:
            return known
        if (known.__module__, known.__qualname__) != (made.__module__, made.__qualname__):
            raise TypeMismatchError(
                f"the type {made.name} is the class {known.__qualname__} already, so that {name} cannot add "
                f"{', '.join(sorted(namespace.keys() - BARE))} to it: write functions, or define the class before "
                "anything uses the type"
            )
        TYPES[made.name] = made
        return made


class Value(Ciphertext, metaclass=TypeClass):
    """A value of one type: the base class of the types.

    A value is plain (made from a Python integer) or encrypted (by a client), or it is the result of operations on
    encrypted values. Operators and methods of encrypted values record an operation; `Server.run` computes what is
    recorded. In a function under `@sl.program`, operations on the parameters are recorded in the program.

    Arithmetic wraps modulo 2^width, or modulo the modulus of a `Modular` type.
    """

    name: ClassVar[str] = ""
    width: ClassVar[int] = 0
    signed: ClassVar[bool] = False
    MIN: ClassVar[int] = 0
    MAX: ClassVar[int] = 0
    modulus: ClassVar[int] = 0
    # The number of fraction bits: a type holds multiples of 2^-fraction.
    fraction: ClassVar[int] = 0

    __slots__ = ("_data", "_label")

    __hash__ = None  # type: ignore[assignment]

    # The bits of a plain value, or the expression of another one.
    _data: Any
    _label: str

    def __init__(self, value: int | Value) -> None:
        if not self.width:
            raise TypeError(f"{type(self).__name__} has no width: write sl.u32(5), or sl.uint(12)(5)")
        self._data = self.encode(operator.index(value))
        self._label = ""

    @classmethod
    def _make(cls, data: int | Expr, label: str = "") -> Self:
        value = cls.__new__(cls)
        value._data = data
        value._label = label
        return value

    @classmethod
    def encode(cls, value: int) -> int:
        """Return the bits of `value` in two's complement. Raises RangeError if it does not fit."""
        if not cls.MIN <= value <= cls.MAX:
            raise RangeError(f"{value} is out of range for {cls.name}: give an integer from {cls.MIN} to {cls.MAX}")
        return value & ((1 << cls.width) - 1)

    @classmethod
    def decode(cls, bits: int) -> int:
        """Return the integer with these bits in two's complement."""
        return bits - (1 << cls.width) if cls.signed and bits >> (cls.width - 1) else bits

    @classmethod
    def _number(cls, value: object) -> Any:
        """Return an operand of Python or numpy as a number for `encode`, or None if it is none."""
        return _integer(value)

    @classmethod
    def _parsed(cls, value: object) -> Any:
        """Return plain data as a number for `encode`, or None if it is none."""
        return cls._number(value)

    @property
    def is_plain(self) -> bool:
        """Whether the value is plain: neither encrypted nor recorded."""
        return not isinstance(self._data, Expr)

    @property
    def _expr(self) -> Expr:
        """The expression of the value. That of a plain value is a constant."""
        return self._data if isinstance(self._data, Expr) else Expr.constant(self._data, self.name)

    def _describe(self) -> str:
        """Return the name and type for messages, as in `a (u32)`."""
        return f"{self._text()} ({self.name})"

    def _text(self) -> str:
        return str(self.decode(self._data)) if self.is_plain else self._label or "an encrypted value"

    def __repr__(self) -> str:
        if self.is_plain:
            value: int | bool = self.decode(self._data)
            return f"{self.name}({bool(value) if isinstance(self, Bool) else value})"
        if self._data.is_traced:
            return f"<{self.name}: {self._text()}>"
        return f"<encrypted {self.name}, {self._state()}>"

    def __bool__(self) -> bool:
        if self.is_plain:
            return bool(self._data)
        raise TypeMismatchError(NO_BOOL.format(what=self._describe()))

    def __index__(self) -> int:
        if self.is_plain:
            return self.decode(self._data)
        raise TypeMismatchError(
            f"{self._describe()} is not a Python integer: only the client knows its value. "
            "Decrypt it there, or compute with the encrypted value"
        )

    def __int__(self) -> int:
        return self.__index__()

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        from solinas._types import of_type

        return (of_type, (self.name, self.decode(self._data))) if self.is_plain else super().__reduce__()

    def __format__(self, spec: str) -> str:
        if self.is_plain and spec:
            value = self.decode(self._data)
            return format(str(bool(value)) if isinstance(self, Bool) else value, spec)
        return format(str(self), spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self.is_plain:
            return super().__array__()
        import numpy as np

        return np.array(self.decode(self._data), dtype or dtype_name(type(self)))

    def cast(self, to: type[V]) -> V:
        """Convert to another type: truncate to a narrower one; a signed value extends its sign to a wider one.

        If the type has fewer fraction bits, the value is rounded down before.
        """
        if not (isinstance(to, type) and issubclass(to, Value) and to.width):
            raise TypeMismatchError(f"cannot cast {self._describe()} to {to!r}: give a type such as sl.U16")
        label, shift = f"{self._text()}.cast({to.name})", to.fraction - self.fraction
        if shift < 0:
            return _apply("cast", [_shifted("shr", self, -shift)], to, label)
        value = _apply("cast", [self], to, label)
        return _shifted("shl", value, shift) if shift else value

    def view(self, to: type[V]) -> V:
        """Return the stored integer as a value of another type, as in `x.view(sl.I16)` for an x of `sl.fixed(16, 8)`.

        Both types must be stored as the same integer. Nothing is computed. Raises TypeMismatchError for other types.
        """
        if not (isinstance(to, type) and issubclass(to, Value) and stored(to.name) == stored(self.name)):
            raise TypeMismatchError(
                f"cannot view {self._describe()} as {getattr(to, 'name', to)!r}: give a type that is stored as "
                f"{stored(self.name)}, or convert with cast"
            )
        if to.name == self.name:
            return to._make(self._data, self._label)
        if self.is_plain:
            return to._make(self._data)
        if (known := self._data.settle()) is not None:
            return to._make(Expr.ciphertext(known, to.name))
        return _apply("cast", [self], to, self._label)

    def __eq__(self, other: object) -> Bool:  # type: ignore[override]
        return self._binary("eq", "==", other, Bool)

    def __ne__(self, other: object) -> Bool:  # type: ignore[override]
        return self._binary("ne", "!=", other, Bool)

    def __and__(self, other: Self | int) -> Self:
        return self._binary("and", "&", other, type(self))

    def __rand__(self, other: Self | int) -> Self:
        return self._binary("and", "&", other, type(self), swap=True)

    def __or__(self, other: Self | int) -> Self:
        return self._binary("or", "|", other, type(self))

    def __ror__(self, other: Self | int) -> Self:
        return self._binary("or", "|", other, type(self), swap=True)

    def __xor__(self, other: Self | int) -> Self:
        return self._binary("xor", "^", other, type(self))

    def __rxor__(self, other: Self | int) -> Self:
        return self._binary("xor", "^", other, type(self), swap=True)

    def __invert__(self) -> Self:
        return _apply("not", [self], type(self), f"~{self._text()}")

    def _binary(self, op: str, symbol: str, other: object, to: type[V], *, swap: bool = False) -> V:
        """Apply an operation to this value and another of its type, or a Python integer."""
        if op not in COMPARISONS:
            self._check_dtype(other)
        value = self._coerce(other, symbol)
        if value is None:
            return cast(V, self._deferred(symbol, other))
        args = [value, self] if swap else [self, value]
        return _apply(op, args, to, f"({args[0]._text()} {symbol} {args[1]._text()})")

    def _check_dtype(self, other: object) -> None:
        """Raise TypeMismatchError if numpy gives the result with a public operand another type."""
        if hasattr(other, "dtype"):
            from solinas._promotion import check_public

            check_public([self, other])

    def _deferred(self, symbol: str, other: object) -> Any:
        """Return NotImplemented if the other operand may have the operator. Raises TypeMismatchError if it has not.

        An array has every operator, and a list is repeated by a plain integer. Without the error, `==` and `!=` would
        compare identities.
        """
        if getattr(other, "__array_ufunc__", None) is not None:
            np = numpy_or_none()
            if np is None or not isinstance(other, np.generic):
                return NotImplemented
        elif symbol == "*" and isinstance(other, Sequence):
            return NotImplemented
        raise TypeMismatchError(
            f"{symbol} does not take {self._describe()} and {other!r}: give a value of type {self.name}"
        )

    def _coerce(self, other: object, symbol: str) -> Value | None:
        """Return `other` as a value of this type, or None if it is not an integer.

        Raises TypeMismatchError if it has another type, RangeError if it does not fit.
        """
        if isinstance(other, Value):
            if other.name == self.name:
                return other
            narrow, wide = sorted((other, self), key=lambda value: value.width)
            remedy = (
                ""
                if self.modulus or other.modulus
                else f" Cast the {narrow.name}, as in .cast({type_expression(type(wide))})"
            )
            raise TypeMismatchError(
                f"{symbol} does not take {self._describe()} and {other._describe()}: both operands must have one "
                f"type.{remedy}"
            )
        number = self._number(other)
        if number is None:
            return None
        if isinstance(self, Bool) != is_bool(other) and not (isinstance(self, Bool) and number in {0, 1}):
            raise TypeMismatchError(
                f"{symbol} does not take {self._describe()} and {other!r}: "
                + (f"write {number} for it" if is_bool(other) else "give a value of one type")
            )
        try:
            return type(self)(number)
        except RangeError as error:
            raise RangeError(f"{symbol} with {self._describe()}: {error}") from None


def type_expression(cls: type[Value]) -> str:
    """Return the expression for a type, as in `sl.U32`, for messages."""
    if cls.modulus:
        return f"sl.mod({cls.modulus})"
    if cls.name.startswith("fixed"):
        return f"sl.fixed({cls.width}, {cls.fraction})"
    if cls.width in {8, 16, 32, 64, 128, 256}:
        return f"sl.{cls.name.upper()}"
    return "sl.Bool" if cls is Bool else f"sl.{'int_' if cls.signed else 'uint'}({cls.width})"


def is_bool(value: object) -> bool:
    """Return whether a value is a bool of Python or numpy."""
    return type(value).__name__ in {"bool", "bool_"}


def _integer(value: object) -> int | None:
    """Return a Python or numpy integer or bool as an int, or None for anything else."""
    if is_bool(value):
        return int(bool(value))
    try:
        return operator.index(cast(Any, value))
    except TypeError:
        return None


def _apply(
    op: str, args: Sequence[Value], to: type[V], label: str, table: list[int] | None = None, *, by: int = 0
) -> V:
    """Apply an operation: at once if all operands are plain, else it is recorded."""
    if all(arg.is_plain for arg in args):
        return to._make(_evaluate(op, args, to, table))
    expr = Expr.operation(op, [arg._expr for arg in args], to.name, table, by)
    if not expr.is_traced:
        return to._make(expr)
    return to._make(expr, label if len(label) <= MAX_LABEL else f"a result of {op}")


def _evaluate(op: str, args: Sequence[Value], to: type[Value], table: list[int] | None) -> int:
    """Return the bits of an operation on plain values."""
    types = [stored(arg.name) for arg in args]
    return _core.evaluate(op, types, [arg._data for arg in args], stored(to.name), table)


def _shifted(op: str, value: V, amount: int) -> V:
    """Shift the stored integer by a public amount; a right shift copies the sign."""
    from solinas._types import U16

    return _apply(op, [value, U16(amount)], type(value), value._text())


class Bool(Value):
    """True or false: the type of the result of a comparison."""

    name = "bool"
    width = 1
    MAX = 1
    __slots__ = ()

    def select(self, a: V, b: V | int) -> V:
        """Return `a` if this bool is true, else `b`, as `sl.select` does."""
        from solinas._functions import select

        return select(self, a, b)

    def __add__(self, other: object) -> NoReturn:
        raise TypeMismatchError(
            f"{self._describe()} is not a number: count bools with sl.Array([...]).sum(), or cast them, as in "
            ".cast(sl.U8)"
        )

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = __lshift__ = __rshift__ = __add__
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __rtruediv__ = __add__

    def __neg__(self) -> NoReturn:
        self.__add__(self)

    __pos__ = __abs__ = __neg__

    def __lt__(self, other: object) -> NoReturn:
        raise TypeMismatchError(f"{self._describe()} is not a number and has no order: cast it, as in .cast(sl.U8)")

    __le__ = __gt__ = __ge__ = __lt__


TYPES[Bool.name] = Bool


def dtype_name(cls: type[Value]) -> str:
    """Return the name of the smallest numpy dtype that holds a type, or `object` if none does."""
    if cls is Bool:
        return "bool"
    if cls.name.startswith("fixed"):
        return "float64" if cls.width <= EXACT else "object"
    width = next((width for width in (8, 16, 32, 64) if cls.width <= width), None)
    if width is None:
        return "object"
    return f"int{width}" if cls.signed else f"uint{width}"
