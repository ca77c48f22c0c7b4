"""Typed integers: plain, traced in a program, or bound to a server. One class for each type, one set of operators."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, Self, TypeVar, cast, overload

from solinas import _core
from solinas._errors import RangeError, TypeMismatchError

if TYPE_CHECKING:
    from solinas._cipher import Ciphertext

MAX_WIDTH = 128
MAX_MODULUS = 1 << 30
MAX_LABEL = 48

V = TypeVar("V", bound="Value")

NO_BOOL = (
    "{what} has no truth value: nobody but the client knows it. Use sl.select(condition, a, b) instead of "
    "`if`, and & | ~ instead of `and`, `or`, `not`"
)


class Context(Protocol):
    """Where values that are not plain live: a program being traced, or a server."""

    def _apply(self, op: str, args: Sequence[Value], to: type[V], table: list[int] | None, by: int) -> V:
        """Carry out one operation; `by` is the places of a rotation of elements."""
        ...


class Value:
    """A value of one type.

    It is plain (made from a Python integer), traced (inside a function under `@sl.program`) or bound (`server.bind`).
    Arithmetic wraps, as on the machine's integers.
    """

    name: ClassVar[str] = ""
    width: ClassVar[int] = 0
    signed: ClassVar[bool] = False
    MIN: ClassVar[int] = 0
    MAX: ClassVar[int] = 0

    __slots__ = ("_context", "_data", "_label")

    # numpy's scalars and arrays leave operators to this class.
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    _context: Context | None
    _data: Any
    _label: str

    def __init__(self, value: int | Value) -> None:
        if not self.width:
            raise TypeError(f"{type(self).__name__} is no type of its own: use sl.u32(5), or sl.uint(12)(5)")
        self._context = None
        self._data = self.encode(operator.index(value))
        self._label = ""

    @classmethod
    def _make(cls, context: Context | None, data: Any, label: str = "") -> Self:
        value = cls.__new__(cls)
        value._context = context
        value._data = data
        value._label = label
        return value

    @classmethod
    def encode(cls, value: int) -> int:
        """Two's complement bits of `value`; `RangeError` where it does not fit."""
        if not cls.MIN <= value <= cls.MAX:
            raise RangeError(f"{value} is out of range for {cls.name}: give an integer from {cls.MIN} to {cls.MAX}")
        return value & ((1 << cls.width) - 1)

    @classmethod
    def decode(cls, bits: int) -> int:
        """Give the integer of two's complement bits."""
        return bits - (1 << cls.width) if cls.signed and bits >> (cls.width - 1) else bits

    @property
    def is_plain(self) -> bool:
        """Whether the value is known here."""
        return self._context is None

    @property
    def encrypted(self) -> Ciphertext[Any]:
        """The ciphertext of a bound value."""
        from solinas._cipher import Ciphertext

        if isinstance(self._data, _core.Ciphertext):
            return Ciphertext._wrap(self._data)
        raise TypeMismatchError(f"{self._describe()} is not bound to a server, so it has no ciphertext")

    def _describe(self) -> str:
        """Name it for messages: `a (u32)`."""
        return f"{self._text()} ({self.name})"

    def _text(self) -> str:
        if self._context is None:
            return str(self.decode(self._data))
        return self._label or "a value"

    def __repr__(self) -> str:
        if self._context is None:
            value: int | bool = self.decode(self._data)
            return f"{self.name}({bool(value) if isinstance(self, Bool) else value})"
        return f"<{self.name}: {self._text()}>"

    def __bool__(self) -> bool:
        if self._context is None:
            return bool(self._data)
        raise TypeMismatchError(NO_BOOL.format(what=self._describe()))

    def __index__(self) -> int:
        if self._context is None:
            return self.decode(self._data)
        raise TypeMismatchError(
            f"{self._describe()} is not a Python integer: its value is known to the client alone. "
            "Decrypt it there, or compute with it as it is"
        )

    def __int__(self) -> int:
        return self.__index__()

    def __reduce__(self) -> tuple[type[Value], tuple[int]]:
        return (type(self), (self.__index__(),))

    def cast(self, to: type[V]) -> V:
        """Truncate to a type, or extend to it by the sign of this one."""
        if not (isinstance(to, type) and issubclass(to, Value) and to.width):
            raise TypeMismatchError(f"cannot cast {self._describe()} to {to!r}: give a type such as sl.U16")
        return _apply("cast", [self], to, f"{self._text()}.cast({to.name})")

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
        """Apply an operation of two operands of one type, of which the other may be a Python integer."""
        value = self._coerce(other, symbol)
        if value is None:
            # Python tries the other operand's method, then raises TypeError.
            return cast(V, NotImplemented)
        args = [value, self] if swap else [self, value]
        return _apply(op, args, to, f"({args[0]._text()} {symbol} {args[1]._text()})")

    def _coerce(self, other: object, symbol: str) -> Value | None:
        """Give `other` as a value of this type; None where it is no integer at all."""
        if isinstance(other, Value):
            if other.name == self.name:
                return other
            modular = isinstance(self, Modular) or isinstance(other, Modular)
            remedy = "" if modular else f" Cast one of them, as in .cast({spelling(type(self))})"
            raise TypeMismatchError(
                f"{symbol} does not take {self._describe()} and {other._describe()}: both operands must have one "
                f"type.{remedy}"
            )
        number = _integer(other)
        if number is None:
            return None
        if isinstance(self, Bool) != isinstance(other, bool) and not (isinstance(self, Bool) and number in {0, 1}):
            raise TypeMismatchError(
                f"{symbol} does not take {self._describe()} and {other!r}: give a value of one type"
            )
        try:
            return type(self)(number)
        except RangeError as error:
            raise RangeError(f"{symbol} with {self._describe()}: {error}") from None


def spelling(cls: type[Value]) -> str:
    """Write a type as a caller does."""
    if issubclass(cls, Modular):
        return f"sl.mod({cls.modulus})"
    if cls.width in {8, 16, 32, 64, 128}:
        return f"sl.{cls.name.upper()}"
    return "sl.Bool" if cls is Bool else f"sl.{'int_' if cls.signed else 'uint'}({cls.width})"


def _integer(value: object) -> int | None:
    """Give a Python or numpy integer or bool as an int; None for anything else."""
    if type(value).__name__ in {"bool", "bool_"}:
        return int(bool(value))
    try:
        return operator.index(cast(Any, value))
    except TypeError:
        return None


def _apply(
    op: str, args: Sequence[Value], to: type[V], label: str, table: list[int] | None = None, *, by: int = 0
) -> V:
    """Carry out an operation wherever its operands live."""
    contexts = {id(arg._context): arg._context for arg in args if arg._context is not None}
    if not contexts:
        bits = _core.evaluate(op, [arg.name for arg in args], [arg._data for arg in args], to.name, table)
        return to._make(None, bits)
    if len(contexts) > 1:
        names = " and ".join(arg._describe() for arg in args)
        raise TypeMismatchError(
            f"{op} does not take {names}: they belong to different programs or servers. "
            "Pass one to the other as an argument"
        )
    (context,) = contexts.values()
    assert context is not None
    result = context._apply(op, args, to, table, by)
    result._label = label if len(label) <= MAX_LABEL else f"a result of {op}"
    return result


class Bool(Value):
    """True or false: the type of comparisons."""

    name = "bool"
    width = 1
    MAX = 1
    __slots__ = ()


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

    modulus: ClassVar[int] = 0
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


def type_named(name: str) -> type[Value]:
    """Give the type of a name such as `u32` or `bool`."""
    if name in _NAMED:
        return _NAMED[name]
    if name.startswith("mod") and name[3:].isdecimal():
        return mod(int(name[3:]))
    if name[:1] in {"u", "i"} and name[1:].isdecimal():
        return (uint if name[0] == "u" else int_)(int(name[1:]))
    raise TypeMismatchError(f"there is no type {name!r}; types are bool, u1 to u128, i1 to i128 and modP")


@overload
def select(condition: Bool | bool, a: V, b: V | int) -> V: ...
@overload
def select(condition: Bool | bool, a: int, b: V) -> V: ...
def select(condition: Any, a: Any, b: Any) -> Any:
    """Give `a` where `condition` holds, else `b`: the `if` of encrypted values. Both are computed.

    `a` and `b` have one type; one of them may be a Python integer. Arrays are selected element by element.
    """
    from solinas._array import Array

    if isinstance(a, Array) or isinstance(b, Array) or isinstance(condition, Array):
        return Array._zip3(select, condition, a, b)
    if isinstance(a, Value):
        other = a._coerce(b, "select")
        pair = None if other is None else (a, other)
    elif isinstance(b, Value):
        other = b._coerce(a, "select")
        pair = None if other is None else (other, b)
    else:
        raise TypeMismatchError(f"select({a!r}, {b!r}): neither has a type; write one as sl.u32({a!r})")
    if pair is None:
        raise TypeMismatchError(f"select does not take {a!r} and {b!r}: give values of one type")
    if isinstance(condition, bool):
        return pair[0] if condition else pair[1]
    if not isinstance(condition, Bool):
        what = condition._describe() if isinstance(condition, Value) else repr(condition)
        raise TypeMismatchError(f"select needs a bool as its condition, got {what}: compare it, as in x != 0")
    label = f"select({condition._text()}, {pair[0]._text()}, {pair[1]._text()})"
    return _apply("select", [condition, *pair], type(pair[0]), label)


I = TypeVar("I", bound=Integer)  # noqa: E741


def minimum(a: I, b: I | int, *more: I | int) -> I:
    """Give the smallest of values of one type."""
    return cast(I, _extreme("min", a, b, more))


def maximum(a: I, b: I | int, *more: I | int) -> I:
    """Give the largest of values of one type."""
    return cast(I, _extreme("max", a, b, more))


def _extreme(op: str, a: Any, b: Any, more: tuple[Any, ...]) -> Any:
    from solinas._array import Array

    result = a
    for other in (b, *more):
        if isinstance(result, Array) or isinstance(other, Array):
            result = Array._zip2(lambda x, y: _extreme(op, x, y, ()), result, other)
            continue
        left, right = (result, other) if isinstance(result, Value) else (other, result)
        if not isinstance(left, Integer):
            raise TypeMismatchError(f"{op}imum takes integers, got {left!r} and {right!r}; cast a bool first")
        value = left._binary(op, f"{op}imum", right, type(left))
        if value is NotImplemented:
            raise TypeMismatchError(f"{op}imum does not take {left._describe()} and {right!r}: give values of one type")
        result = value
    return result


@overload
def lookup(table: Sequence[int] | Callable[[int], int], index: Value, to: type[V]) -> V: ...
@overload
def lookup(table: Sequence[int] | Callable[[int], int], index: V, to: None = None) -> V: ...
def lookup(table: Any, index: Any, to: Any = None) -> Any:
    """Give `table[index]` for an unsigned index or bool of at most 8 bits: the table has an entry for each index.

    `table` may be a function, which is called with every index. The result has type `to`, that of the index by default.
    """
    if not isinstance(index, Value) or index.signed or index.width > 8:  # noqa: PLR2004
        what = index._describe() if isinstance(index, Value) else repr(index)
        raise TypeMismatchError(f"lookup takes an unsigned index or bool of at most 8 bits, got {what}: cast it first")
    size = 1 << index.width
    entries = [table(i) for i in range(size)] if callable(table) else list(table)
    if len(entries) != size:
        raise TypeMismatchError(
            f"lookup by {index._describe()} needs a table of {size} entries, one for each index, got {len(entries)}"
        )
    result = type(index) if to is None else to
    try:
        bits = [result.encode(operator.index(entry)) for entry in entries]
    except RangeError as error:
        raise RangeError(f"lookup table: {error}; or give another type, as in lookup(table, x, sl.U16)") from None
    return _apply("lookup", [index], result, f"lookup({index._text()})", bits)
