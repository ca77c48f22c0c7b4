"""The types of parameters and results of programs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from solinas._arrays import ArrayType
from solinas._errors import FormatError
from solinas._shapes import Shape
from solinas._types import type_named
from solinas._values import Value

# The type of a parameter is one value or an array. A result may also be a tuple of results.
Spec = type[Value] | ArrayType
Result = Spec | tuple["Result", ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a program: its name, type and default."""

    name: str
    spec: Spec
    # The default: an integer or bool, or nested lists of these. None if there is no default.
    default: Any = None
    keyword_only: bool = False

    @property
    def length(self) -> int:
        """The number of inputs of the graph."""
        return self.spec.length if isinstance(self.spec, ArrayType) else 1

    @property
    def element(self) -> type[Value]:
        """The type of each input."""
        return self.spec.element if isinstance(self.spec, ArrayType) else self.spec

    def __str__(self) -> str:
        return f"{self.name}: {text(self.spec)}" + ("" if self.default is None else f" = {self.default}")


def text(spec: Result) -> str:
    if isinstance(spec, tuple):
        return f"({', '.join(map(text, spec))})"
    return repr(spec) if isinstance(spec, ArrayType) else spec.name


def to_json(spec: Result) -> Any:
    if isinstance(spec, tuple):
        return {"tuple": [to_json(part) for part in spec]}
    return [spec.element.name, *spec.shape] if isinstance(spec, ArrayType) else spec.name


def from_json(data: Any) -> Result:
    match data:
        case {"tuple": [*parts]}:
            return tuple(from_json(part) for part in parts)
        case [str(element), int(), *_] if all(isinstance(size, int) and size > 0 for size in data[1:]):
            return ArrayType(type_named(element), *data[1:])
        case str(name):
            return type_named(name)
    raise FormatError(f"{data!r} is not the type of a parameter or result")


def elements(spec: Result) -> list[type[Value]]:
    if isinstance(spec, tuple):
        return [element for part in spec for element in elements(part)]
    return [spec.element] * spec.length if isinstance(spec, ArrayType) else [spec]


def count(spec: Result) -> int:
    """Return the number of values in a result."""
    return sum(map(count, spec)) if isinstance(spec, tuple) else spec.length if isinstance(spec, ArrayType) else 1


def map_result(
    spec: Result, outputs: list[Any], one: Callable[[Any], Any], array: Callable[[list[Any], Shape], Any]
) -> Any:
    """Return outputs in the form of a result. `one` converts a single value, `array` the values of an array."""
    rest = list(outputs)

    def take(spec: Result) -> Any:
        if isinstance(spec, tuple):
            return tuple(take(part) for part in spec)
        row = rest[: count(spec)]
        del rest[: count(spec)]
        return array(row, spec.shape) if isinstance(spec, ArrayType) else one(row[0])

    return take(spec)
