"""Traces: the context of values inside a function under `@sl.program`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from solinas import _core
from solinas._values import Value

V = TypeVar("V", bound=Value)


class Trace:
    """A graph of operations. Each operator on a traced value adds a node to it."""

    def __init__(self) -> None:
        self.graph = _core.Graph()
        self._constants: dict[tuple[str, int], int] = {}

    def input(self, kind: type[V], name: str) -> V:
        """Add an input of a type and return its value."""
        return kind._make(self, self.graph.input(name, kind.name), name)

    def node(self, value: Value) -> int:
        """Return the node of a value. A plain value becomes a constant, which later uses share."""
        if value._context is self:
            return int(value._data)
        key = (value.name, value._data)
        if key not in self._constants:
            self._constants[key] = self.graph.constant(value._data, value.name)
        return self._constants[key]

    def finish(self, outputs: Sequence[Value]) -> _core.Program:
        """Add the outputs and return the finished program."""
        for i, value in enumerate(outputs):
            self.graph.output("result" if len(outputs) == 1 else f"result[{i}]", self.node(value))
        return self.graph.finish()

    def _apply(self, op: str, args: Sequence[Value], to: type[V], table: list[int] | None, by: int) -> V:
        """Add an operation and return its value."""
        return to._make(self, self.graph.apply(op, [self.node(arg) for arg in args], to.name, table, by))
