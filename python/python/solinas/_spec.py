"""The types of parameters and results of programs, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from solinas._arrays import ArrayType
from solinas._core import stored
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
    def shape(self) -> Shape:
        """The shape of an array; `()` for one value."""
        return self.spec.shape if isinstance(self.spec, ArrayType) else ()

    @property
    def element(self) -> type[Value]:
        """The type of each element."""
        return self.spec.element if isinstance(self.spec, ArrayType) else self.spec

    @staticmethod
    def from_json(data: Any) -> Parameter:
        """Return the parameter that a file describes."""
        spec = from_json(data["type"])
        if isinstance(spec, tuple):
            raise FormatError(f"parameter {data['name']} is a tuple")
        return Parameter(str(data["name"]), spec, data.get("default"), bool(data.get("keyword_only")))

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


def leaves(spec: Result) -> list[Spec]:
    """Return the types of the values and arrays of a result, in order."""
    return [leaf for part in spec for leaf in leaves(part)] if isinstance(spec, tuple) else [spec]


def map_result(spec: Result, values: Iterator[Any]) -> Any:
    """Return the values and arrays of a result in its form."""
    return tuple(map_result(part, values) for part in spec) if isinstance(spec, tuple) else next(values)


def core_text(spec: Result) -> Any:
    """Return the type of a result of the graph: a text such as `u8[3]`, or a dict of a tuple of results."""
    if isinstance(spec, tuple):
        return {"tuple": [core_text(part) for part in spec]}
    if isinstance(spec, ArrayType):
        return f"{stored(spec.element.name)}{list(spec.shape)}"
    return stored(spec.name)


def from_core_text(data: Any) -> Result:
    """Return the type that `core_text` names."""
    if isinstance(data, dict):
        return tuple(from_core_text(part) for part in data["tuple"])
    name, _, sizes = data.partition("[")
    return of_shape(type_named(name), [int(size) for size in sizes.removesuffix("]").split(",")] if sizes else None)


def of_shape(kind: type[Value], shape: Sequence[int] | None) -> Spec:
    """Return the type of one value, which is that of a value of any shape too, or of an array."""
    return ArrayType(kind, *shape) if shape else kind
