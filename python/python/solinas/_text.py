"""Text and byte strings: arrays of bytes whose last axis holds the bytes of one string."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn, Self

from solinas._arrays import Array, EncryptedArray, typed_array
from solinas._data import shorten
from solinas._errors import RangeError, ShapeError, TypeMismatchError
from solinas._functions import lookup, select
from solinas._reductions import Reductions, combined, total
from solinas._shapes import Shape, flatten, nest
from solinas._types import U8, int_, uint
from solinas._values import NO_BOOL

# Characters below are those of ASCII.
ASCII = 128
# Bytes that are compared as one integer.
WORD = 16


class Bytes:
    """A byte string of at most `size` bytes, or an array of them: plain, encrypted, or recorded.

    `sl.bytes_(b"abc", 16)` holds up to 16 bytes. Shorter strings are padded with zero bytes, so the length of an
    encrypted string stays secret, and `size` is public. A string itself holds no zero byte. `size` defaults to the
    length of the longest string, which is then public. A list of strings makes an array of them. An array of `sl.U8`,
    which may be encrypted or a parameter of a program, is taken as it is; its last axis holds the bytes.

    The other string of a comparison or search is plain or encrypted. If one of them is an array of strings, the result
    is an array. A list of plain strings is such an array.
    """

    __slots__ = ("array",)

    _plain: ClassVar[type] = bytes
    _name: ClassVar[str] = "bytes"
    # The bytes, of type `sl.U8`. The last axis holds those of one string.
    array: Any

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any, size: int | None = None) -> None:
        if isinstance(data, Bytes):
            data = data.array
        if not isinstance(data, Reductions):
            shape, items = flatten(data)
            strings = [self._bytes(item) for item in items]
            longest = max(map(len, strings), default=0)
            size = max(longest, 1) if size is None else operator.index(size)
            if longest > size or not size or not strings:
                raise RangeError(
                    f"{self._name} of {longest} bytes in {size}: give a size of 1 or more that holds the longest string"
                )
            data = Array([U8(byte) for string in strings for byte in string.ljust(size, b"\0")])
            data = data.reshape(*(shape or ()), size)
        array = typed_array(data, self._name)
        if array._kind is not U8:
            raise TypeMismatchError(f"{self._name} takes an array of u8, got {array!r}")
        if size not in {None, array.shape[-1]}:
            raise ShapeError(f"an array of shape {array.shape} holds strings of {array.shape[-1]} bytes, not {size}")
        self.array = array

    @classmethod
    def _bytes(cls, item: Any) -> bytes:
        """Return a plain string as bytes. Raises TypeMismatchError for another type, RangeError for a zero byte."""
        if not isinstance(item, cls._plain):
            raise TypeMismatchError(f"{cls._name} takes a {cls._plain.__name__}, got {shorten(item)}")
        try:
            data = cls._encode(item)
        except UnicodeEncodeError as error:
            raise RangeError(
                f"{shorten(item)} is not valid Unicode, because character {error.start} is half of a surrogate pair: "
                "replace it, as in s.encode(errors='replace').decode()"
            ) from None
        if 0 in data:
            raise RangeError(f"{shorten(item)} holds a zero byte, which stands for the end of a string")
        return data

    @staticmethod
    def _encode(item: Any) -> bytes:
        return bytes(item)

    @staticmethod
    def _decode(data: bytes) -> Any:
        return data

    @property
    def size(self) -> int:
        """The largest number of bytes of one string."""
        return int(self.array.shape[-1])

    @property
    def shape(self) -> Shape:
        """The shape of an array of strings, or `()` for one string."""
        return tuple(self.array.shape[:-1])

    @property
    def value(self) -> Any:
        """The content of a plain string, or nested lists of those of an array. Raises TypeMismatchError otherwise."""
        elements = self.array._elements()
        for element in elements:
            if not element.is_plain:
                raise TypeMismatchError(f"{self!r} is not plain: decrypt it, as in client.decrypt(x)")
        return self._decoded([int(element) for element in elements])

    def _decoded(self, values: Sequence[int]) -> Any:
        data = bytes(values)
        strings = [data[at : at + self.size].split(b"\0", 1)[0] for at in range(0, len(data), self.size)]
        return nest(self.shape, [self._decode(string) for string in strings])

    def _with(self, array: Any) -> Self:
        """Return the string whose bytes are these."""
        made = type(self).__new__(type(self))
        made.array = array
        return made

    def __repr__(self) -> str:
        if isinstance(self.array, EncryptedArray):
            what = f"array of shape {self.shape} of {self._name}" if self.shape else self._name
            return f"<encrypted {what}, at most {self.size} bytes, {self.array._state()}>"
        if all(element.is_plain for element in self.array._elements()):
            return f"{type(self).__name__}({self.value!r}, {self.size})"
        return f"<{self._name} of at most {self.size} bytes>"

    def __bool__(self) -> bool:
        raise TypeMismatchError(NO_BOOL.format(what=repr(self)))

    def __contains__(self, value: object) -> NoReturn:
        raise TypeMismatchError("`in` must return a plain bool, but only the client knows it: write x.contains(y)")

    def __eq__(self, other: object) -> Any:
        """Return whether two strings are equal. Their sizes need not be equal."""
        pair = self._pair(other)
        # A plain string ends where the next byte is zero.
        count = max(self.size, len(pair.part)) if pair.padded else len(pair.part) + 1
        return pair.result(pair.same(0, count))

    def __ne__(self, other: object) -> Any:
        """Return whether two strings differ."""
        return ~(self == other)

    def startswith(self, prefix: Any) -> Any:
        """Return whether the string begins with a prefix."""
        pair = self._pair(prefix)
        return pair.result(pair.found(0))

    def endswith(self, suffix: Any) -> Any:
        """Return whether the string ends with a suffix."""
        pair = self._pair(suffix)
        count = len(pair.part) + 1
        return pair.result(_any([pair.same(at, count) for at in range(self.size + 1)]))

    def contains(self, part: Any) -> Any:
        """Return whether a string is part of this one."""
        pair = self._pair(part)
        return pair.result(_any([pair.found(at) for at in range(self.size)]))

    def find(self, part: Any) -> Any:
        """Return the first index at which a string is part of this one, or -1, as Python's `find` does.

        The index counts bytes. Its type is `i8`, or `i16` or `i32` in strings of more than 127 bytes.
        """
        pair = self._pair(part)
        kind = int_(next(width for width in (8, 16, 32) if self.size < 1 << (width - 1)))
        found = [(match, kind(at)) for at in range(self.size) if (match := pair.found(at)) is not False]

        def first(a: Any, b: Any) -> Any:
            return _any([a[0], b[0]]), select(a[0], a[1], b[1])

        if not found:
            return pair.result(False).cast(kind) - 1
        match, place = combined(first, found)
        return select(pair.result(match), place, kind(-1))

    def lower(self) -> Self:
        """Return the string with the ASCII letters A to Z in lower case. Other bytes do not change."""
        return self._with(self.array ^ lookup(lambda byte: 32 * chr(byte).isupper() * (byte < ASCII), self.array))

    def upper(self) -> Self:
        """Return the string with the ASCII letters a to z in upper case. Other bytes do not change."""
        return self._with(self.array ^ lookup(lambda byte: 32 * chr(byte).islower() * (byte < ASCII), self.array))

    def _pair(self, other: object) -> _Pair:
        """Return this string beside another one, which is plain, a list of plain ones, or of this class."""
        if not isinstance(other, Reductions) and flatten(other)[0] is not None:
            other = type(self)(other)
        if isinstance(other, Bytes):
            if type(other) is not type(self):
                raise TypeMismatchError(f"{self!r} and {other!r} do not go together: give strings of one kind")
            return _Pair(self.array, _columns(other.array), padded=True)
        return _Pair(self.array, list(self._bytes(other)), padded=False)


class Text(Bytes):
    """A string of at most `size` bytes in UTF-8, or an array of them: plain, encrypted, or recorded.

    `sl.text("abc", 16)` is padded, compared and searched as `sl.bytes_` is. Sizes and indices count bytes, of which an
    ASCII character takes one. Bytes that are not UTF-8 decrypt to U+FFFD, the replacement character.
    """

    __slots__ = ()

    _plain = str
    _name = "text"

    @staticmethod
    def _encode(item: Any) -> bytes:
        return str(item).encode()

    @staticmethod
    def _decode(data: bytes) -> Any:
        return data.decode(errors="replace")


def _at(columns: Sequence[Any], i: int) -> Any:
    return columns[i] if i < len(columns) else 0


def _word(row: Sequence[Any]) -> Any:
    """Return bytes as one integer, so that a bootstrap compares bits of two bytes. Moving whole bytes costs nothing."""
    kind = uint(8 * len(row))
    public = sum(byte << (8 * i) for i, byte in enumerate(row) if isinstance(byte, int))
    parts = [byte.cast(kind) << (8 * i) for i, byte in enumerate(row) if not isinstance(byte, int)]
    return combined("or", [*parts, public] if public else parts) if parts else public


def _columns(array: Any) -> list[Any]:
    """Return the parts of an array along its last axis."""
    return [array[..., i] for i in range(array.shape[-1])]


class _Pair:
    """A string, and another one that is compared with it or searched in it, as bytes or arrays of them.

    Bytes behind the end of a string are zero. The other one is public, with its length, or `padded` with zero bytes.
    A condition is a value, or a Python bool if it is public.
    """

    def __init__(self, array: Any, part: list[Any], *, padded: bool) -> None:
        self.text, self.part, self.padded = _columns(array), part, padded
        self.ended = [byte == 0 for byte in part] if padded else []

    def same(self, at: int, count: int) -> Any:
        """Return whether `count` bytes from an index on are the first bytes of the other string."""
        sides = [(_at(self.text, at + i), _at(self.part, i)) for i in range(count)]
        if any(a != b for a, b in sides if isinstance(a, int) and isinstance(b, int)):
            return False
        rest = [side for side in sides if not (isinstance(side[0], int) and isinstance(side[1], int))]
        words = [tuple(zip(*rest[i : i + WORD], strict=True)) for i in range(0, len(rest), WORD)]
        return _every([_word(a) == _word(b) for a, b in words])

    def found(self, at: int) -> Any:
        """Return whether the other string is found at an index."""
        if not self.padded:
            return self.same(at, len(self.part))
        return _every([_any([_at(self.text, at + i) == self.part[i], ended]) for i, ended in enumerate(self.ended)])

    def result(self, condition: Any) -> Any:
        """Return a condition as a value, which is encrypted or recorded as the string is."""
        zero = self.text[0] & 0
        return (zero == 0 if condition else zero != 0) if isinstance(condition, bool) else condition


def _every(conditions: Sequence[Any]) -> Any:
    """Return whether all conditions hold."""
    if any(condition is False for condition in conditions):
        return False
    rest = [condition for condition in conditions if condition is not True]
    return _count(rest) == len(rest) if len(rest) > 1 else rest[0] if rest else True


def _any(conditions: Sequence[Any]) -> Any:
    """Return whether one of the conditions holds."""
    if any(condition is True for condition in conditions):
        return True
    rest = [condition for condition in conditions if condition is not False]
    return _count(rest) != 0 if len(rest) > 1 else rest[0] if rest else False


def _count(conditions: Sequence[Any]) -> Any:
    """Return how many conditions hold. One bootstrap adds about 15 bools, where `&` takes two."""
    kind = uint(len(conditions).bit_length())
    return total([condition.cast(kind) for condition in conditions])


text, bytes_ = Text, Bytes
