"""Expressions: operations that are recorded, and the steps by which a server computes them."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from solinas import _core
from solinas._errors import ShapeError, TypeMismatchError
from solinas._shapes import Shape, broadcast_indices

# The kinds of nodes beside the operations of a program, such as `add`.
CIPHERTEXT = "ciphertext"
CONSTANT = "constant"
PUBLIC = "public array"
PARAMETER = "parameter"
TAKE = "take"
STACK = "stack"  # of scalars
JOIN = "join"  # of scalars and arrays
PROGRAM = "call of a program"
CIRCUIT = "call of a circuit"
OUTPUT = "output of a call"
MOVES = {TAKE, STACK, JOIN}

_serials = itertools.count()
# Held while the operands of nodes are read or dropped, because threads share nodes.
_OPERANDS = threading.RLock()


class Node:
    """A ciphertext, a public value, or an operation on other nodes.

    `shape` is None for a scalar. `traced` tells whether the node depends on a parameter of a program that is being
    recorded. Nodes are numbered in the order of their creation, so operands have smaller numbers.
    """

    __slots__ = ("args", "detail", "kind", "result", "serial", "shape", "traced", "type")

    def __init__(
        self,
        kind: str,
        type: str,
        shape: Shape | None = None,
        args: Sequence[Node] = (),
        detail: Any = None,
    ) -> None:
        self.kind = kind
        self.type = type
        self.shape = shape
        self.args = args
        # The bits of public values, the table and the positions of an operation, the indices of elements, the program
        # or circuit of a call, the number of an output, or the name of a parameter.
        self.detail = detail
        self.result: _core.Ciphertext | None = None
        self.traced: bool = kind == PARAMETER or any(arg.traced for arg in args)
        self.serial = next(_serials)

    def finish(self, result: _core.Ciphertext) -> None:
        """Keep the result, and drop the operands, which may hold large ciphertexts."""
        with _OPERANDS:
            self.result = result
            self.kind, self.args, self.detail = CIPHERTEXT, (), None

    @property
    def is_packed(self) -> bool:
        """Whether the elements of the array share ciphertexts."""
        return self.shape is not None and self.type.startswith("mod")


def stored(type: str) -> str:
    """Return the integer type that holds a type, as in `i16` for `fixed16.8`. Other types hold themselves."""
    return f"i{type.removeprefix('fixed').split('.')[0]}" if type.startswith("fixed") else type


def ciphertext(core: _core.Ciphertext, type: str) -> Node:
    """Return the node of a ciphertext that holds a type."""
    node = Node(CIPHERTEXT, type, None if core.shape is None else tuple(core.shape))
    node.finish(core)
    return node


def operation(kind: str, to: str, args: Sequence[Node], table: list[int] | None, by: int) -> Node:
    """Return the node of an operation of a program. All arrays among the operands have one shape."""
    shape = None if kind == "sum_elements" else next((arg.shape for arg in args if arg.shape is not None), None)
    return Node(kind, to, shape, args, (table, by))


def take(node: Node, indices: list[int], shape: Shape) -> Node:
    """Return the elements of an array at these flat indices as an array of this shape, or a scalar for shape `()`."""
    size = math.prod(node.shape or ())
    if len(indices) == size and indices == list(range(size)):
        if (shape or None) == node.shape:
            return node
    elif node.is_packed and node.result is None:
        raise TypeMismatchError(
            f"an array of {node.type} has no separate elements, because they share ciphertexts. The whole array has "
            "x.sum(), x.dot(vector) and x.rotate(by): encrypt each row by itself for sums along an axis, as in "
            "[row.sum() for row in rows], and for products, as in [x.dot(row) for row in matrix], or use scheme tfhe"
        )
    with _OPERANDS:
        if node.result is None and node.kind == STACK:
            return stack([node.args[index] for index in indices], shape) if shape else node.args[indices[0]]
        if node.result is None and node.kind == TAKE:
            return take(node.args[0], [node.detail[index] for index in indices], shape)
    if node.result is not None:
        return ciphertext(node.result.take(indices, list(shape) or None), node.type)
    return Node(TAKE, node.type, shape or None, (node,), indices)


def stack(nodes: Sequence[Node], shape: Shape) -> Node:
    """Return scalars and the elements of arrays, one after the other, as an array of this shape."""
    results = [node.result for node in nodes if node.result is not None]
    if len(results) == len(nodes):
        return ciphertext(_core.Ciphertext.stack(results, list(shape)), nodes[0].type)
    kind = STACK if all(node.shape is None for node in nodes) else JOIN
    return Node(kind, nodes[0].type, shape, nodes)


def broadcast_to(node: Node, shape: Shape | None) -> Node:
    """Broadcast an array to a shape. A scalar stays, since it goes with every element.

    Raises ShapeError if the elements of the array share ciphertexts.
    """
    if shape is None or node.shape in {None, shape}:
        return node
    assert node.shape is not None
    indices = broadcast_indices(node.shape, shape)
    if node.kind == PUBLIC:
        return Node(PUBLIC, node.type, shape, (), [node.detail[index] for index in indices])
    if node.is_packed:
        raise ShapeError(
            f"an array of {node.type} of shape {node.shape} cannot be broadcast to {shape}: its elements share "
            "ciphertexts; encrypt an array of that shape, or a single value"
        )
    return take(node, indices, shape)


def reachable(roots: Iterable[Node]) -> list[Node]:
    """Return the nodes that the roots depend on, operands first. The operands of a computed node are left out."""
    waiting, seen = list(roots), set[Node]()
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            if node.result is None:
                waiting.extend(node.args)
    return sorted(seen, key=lambda node: node.serial)


class Recorder:
    """Turns nodes into a program. Nodes that were not added become its inputs."""

    def __init__(self) -> None:
        self.graph = _core.Graph()
        self.inputs: list[Node] = []
        self._values: dict[Node, int] = {}
        self._calls: dict[Node, list[int]] = {}
        self._constants: dict[tuple[str, int], int] = {}

    def input(self, node: Node, name: str) -> None:
        """Add an input."""
        self._values[node] = self.graph.input(name, stored(node.type))
        self.inputs.append(node)

    def value(self, node: Node) -> int:
        """Return the number of a node's value in the program. Equal constants share one value."""
        if node.kind == CONSTANT:
            key = (node.type, node.detail)
            if key not in self._constants:
                self._constants[key] = self.graph.constant(node.detail, stored(node.type))
            return self._constants[key]
        if node not in self._values:
            self.input(node, f"x{len(self.inputs) + 1}")
        return self._values[node]

    def add(self, node: Node) -> None:
        """Add an operation, a call of a program, or an output of a call."""
        if node.kind == OUTPUT:
            self._values[node] = self._calls[node.args[0]][node.detail]
        elif node.kind == PROGRAM:
            self._calls[node] = self.graph.splice(node.detail, [self.value(arg) for arg in node.args])
        elif node.kind != CONSTANT:
            table, by = node.detail
            args = [self.value(arg) for arg in node.args]
            self._values[node] = self.graph.apply(node.kind, args, stored(node.type), table, by)

    def finish(self, outputs: Sequence[Node], names: Sequence[str]) -> _core.Program:
        """Add the outputs and return the program."""
        for node, name in zip(outputs, names, strict=True):
            self.graph.output(name, self.value(node))
        return self.graph.finish()


# The nodes of one step: the level, the kind of step, and for a program the shape of its arrays.
Place = tuple[int, str, Any]
Input = _core.Ciphertext | tuple[str, list[int] | None, list[int]]
Step = (
    tuple[_core.Program, list[int], _core.Plan | None]
    | tuple[_core.Circuit, list[int], _core.Plan | None]
    | tuple[int, list[int], list[int] | None]
    | tuple[list[int], list[int]]
    | tuple[str, _core.Program | None, _core.Program | None, list[int]]
)


@dataclass
class Schedule:
    """The steps by which a server computes values.

    A program computes its operations for every element of its arrays. So scalars, and arrays of each shape, have steps
    of their own. A number stands for a value: the inputs come first, then the results of the steps.
    """

    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    # The programs with their numbers of elements, and the circuits.
    works: list[tuple[_core.Program | _core.Circuit, int]] = field(default_factory=list)
    _numbers: dict[Node, int] = field(default_factory=dict)
    _count: int = 0

    def pin(self, pinned: _core.Plan) -> None:
        """Let the only program or circuit run by this plan."""
        for at, step in enumerate(self.steps):
            if isinstance(step[0], (_core.Program, _core.Circuit)):
                self.steps[at] = (step[0], step[1], pinned)  # type: ignore[assignment]

    def reduce(self, name: str, own: _core.Program | None) -> None:
        """Combine the elements of the only output by a reduction with this name, or by a program of its own.

        If the last program computes nothing but the output, it becomes a part of the step.
        """
        (output,) = self.outputs
        program = self.steps[-1][0] if self.steps else None
        if isinstance(program, _core.Program) and len(program.outputs) == 1 and output == self._count - 1:
            self.steps[-1] = (name, own, program, cast(list[int], self.steps[-1][1]))
            return
        self.steps.append((name, own, None, [output]))
        self.outputs = [self._count]
        self._count += 1

    def _number(self, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._numbers[node] = self._count
            self._count += 1

    def _add(self, place: Place, nodes: list[Node], needed: set[Node]) -> None:
        """Add the step of the nodes at one place. `needed` are the nodes that other steps use."""
        _, kind, shape = place
        if kind == CIRCUIT:
            call, *outputs = nodes
            self.steps.append((call.detail, [self._numbers[arg] for arg in call.args], None))
            self.works.append((call.detail, 1))
            for output in outputs:
                self._numbers[output] = self._count + output.detail
            self._count += len(call.detail.outputs)
        elif kind == PROGRAM:
            recorder = Recorder()
            for node in nodes:
                recorder.add(node)
            outputs = [node for node in nodes if node in needed]
            program = recorder.finish(outputs, [f"y{i + 1}" for i in range(len(outputs))])
            self.steps.append((program, [self._numbers[node] for node in recorder.inputs], None))
            self.works.append((program, math.prod(shape)))
            self._number(outputs)
        else:
            for node in nodes:
                numbers = [self._numbers[arg] for arg in node.args]
                shape = None if node.shape is None else list(node.shape)
                if node.kind == TAKE:
                    self.steps.append((numbers[0], node.detail, shape))
                else:
                    self.steps.append((numbers, shape or []))
                self._number([node])


def schedule(roots: Sequence[Node]) -> Schedule:
    """Return the steps that compute these nodes. They are not traced, and no constants."""
    with _OPERANDS:
        return _scheduled(roots)


def _scheduled(roots: Sequence[Node]) -> Schedule:
    result, order = Schedule(), reachable(roots)
    computed = {node: node.result for node in order if node.result is not None}
    for node in order:
        if node in computed:
            result.inputs.append(computed[node])
        elif node.kind == PUBLIC:
            result.inputs.append((stored(node.type), list(node.shape or ()), node.detail))
        else:
            continue
        result._number([node])
    places, needed = _places([node for node in order if node not in computed], roots)
    steps: dict[Place, list[Node]] = {}
    for node in order:
        if node in places:
            steps.setdefault(places[node], []).append(node)
    for place in sorted(steps, key=lambda place: place[0]):
        result._add(place, steps[place], needed)
    result.outputs = [result._numbers[root] for root in roots]
    return result


def _places(order: Sequence[Node], roots: Iterable[Node]) -> tuple[dict[Node, Place], set[Node]]:
    """Return the place of each node that has to be computed, and the nodes that are used outside of their step."""
    places: dict[Node, Place] = {}
    needed = set(roots)
    for node in order:
        if node.kind in {CONSTANT, PUBLIC}:
            continue
        kind, shape = _step(node, places)
        level, in_program = 0, kind == PROGRAM
        for arg in node.args:
            if arg.kind == CONSTANT and not in_program:
                places.setdefault(arg, (0, PROGRAM, ()))
            if arg in places and not (arg.kind == CONSTANT and in_program):
                before, *other = places[arg]
                level = max(level, before + (other != [kind, shape]))
        places[node] = (level, kind, shape)
        needed.update(arg for arg in node.args if places.get(arg, places[node]) != places[node])
    return places, needed


def _step(node: Node, places: dict[Node, Place]) -> tuple[str, Any]:
    """Return the kind of the step that computes a node, and what steps of this kind differ in."""
    if node.kind in MOVES:
        return TAKE, None
    if node.kind == CIRCUIT:
        return CIRCUIT, node.serial
    if node.kind == OUTPUT:
        _, kind, shape = places[node.args[0]]
        return kind, shape
    if node.shape is not None:
        return PROGRAM, node.shape
    # A sum of the elements of an array belongs to the step of the array, and so do the scalars that depend on it.
    for arg in node.args:
        _, kind, shape = places.get(arg, (0, PROGRAM, arg.shape))
        if arg.type.startswith("mod") and kind == PROGRAM and shape:
            return PROGRAM, shape
    return PROGRAM, ()
