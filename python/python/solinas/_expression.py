"""Expressions: operations that are recorded, and the programs that compute them."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterable, Sequence
from typing import Any

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
REDUCE = "reduction"
OUTPUT = "output of a call"
MOVES = {TAKE, STACK, JOIN}
CALLS = {PROGRAM, CIRCUIT, REDUCE}
# What a program of single values does not have.
UNTRACED = {CIPHERTEXT, PUBLIC, CIRCUIT, REDUCE, *MOVES}

_serials = itertools.count()
# Held while the operands of nodes are read or dropped, because threads share nodes.
_OPERANDS = threading.RLock()


class Node:
    """A ciphertext, a public value, or an operation on other nodes.

    `shape` is None for a scalar. `traced` tells whether the node depends on a parameter of a program that is being
    recorded. `known` tells whether the node is a ciphertext or only moves elements of ciphertexts, so that no server is
    needed. Nodes are numbered in the order of their creation, so operands have smaller numbers.
    """

    __slots__ = ("args", "detail", "kind", "known", "result", "serial", "shape", "traced", "type")

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
        # or circuit of a call, the name or function of a reduction and its axes, the number of an output, or the name
        # of a parameter.
        self.detail = detail
        self.result: _core.Ciphertext | None = None
        self.traced: bool = kind == PARAMETER or any(arg.traced for arg in args)
        self.known: bool = kind in MOVES and all(arg.known for arg in args)
        self.serial = next(_serials)

    def finish(self, result: _core.Ciphertext) -> None:
        """Keep the result, and drop the operands, which may hold large ciphertexts."""
        with _OPERANDS:
            self.result = result
            self.kind, self.args, self.detail, self.known = CIPHERTEXT, (), None, True

    def settle(self) -> _core.Ciphertext:
        """Return the ciphertext of a known node. Moves its elements now, if that is not done."""
        with _OPERANDS:
            for node in reachable([self]):
                if node.kind == TAKE:
                    node.finish(node.args[0].settle().take(node.detail, list(node.shape or ()) or None))
                elif node.kind in MOVES:
                    node.finish(_core.Ciphertext.stack([arg.settle() for arg in node.args], list(node.shape or ())))
            assert self.result is not None
            return self.result

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
        if node.kind == STACK:
            return stack([node.args[index] for index in indices], shape) if shape else node.args[indices[0]]
        if node.kind == TAKE:
            return take(node.args[0], [node.detail[index] for index in indices], shape)
    if node.is_packed and node.result is not None:
        return ciphertext(node.result.take(indices, list(shape) or None), node.type)
    return Node(TAKE, node.type, shape or None, (node,), indices)


def stack(nodes: Sequence[Node], shape: Shape) -> Node:
    """Return scalars and the elements of arrays, one after the other, as an array of this shape."""
    if all(node.known for node in nodes):
        parts = [node.settle() for node in nodes]
        return ciphertext(_core.Ciphertext.stack(parts, list(shape)), nodes[0].type)
    kind = STACK if all(node.shape is None for node in nodes) else JOIN
    return Node(kind, nodes[0].type, shape, nodes)


def reduction(how: str | _core.Program, arrays: Sequence[Node], axes: int) -> Node:
    """Return the last of the values to which elements along the last axes are combined, one of each array.

    `how` names the reduction, or is a function of two elements.
    """
    shape = arrays[0].shape or ()
    outer = shape[: len(shape) - axes] or None
    call = Node(REDUCE, "", outer, arrays, (how, axes if outer else None))
    return Node(OUTPUT, arrays[-1].type, outer, (call,), len(arrays) - 1)


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


Input = _core.Ciphertext | tuple[str, list[int] | None, list[int]]


class Recorder:
    """Turns nodes into a program. Ciphertexts and public arrays become its inputs."""

    def __init__(self) -> None:
        self.graph = _core.Graph()
        self.inputs: list[Input] = []
        self._values: dict[Node, int] = {}
        self._calls: dict[Node, list[int]] = {}
        self._constants: dict[tuple[str, int], int] = {}

    def parameter(self, node: Node, name: str) -> None:
        """Add an input of any shape."""
        self._values[node] = self.graph.input(name, stored(node.type))

    def value(self, node: Node) -> int:
        """Return the number of a node's value in the program. Equal constants share one value."""
        if node.kind == CONSTANT:
            key = (node.type, node.detail)
            if key not in self._constants:
                self._constants[key] = self.graph.constant(node.detail, stored(node.type))
            return self._constants[key]
        if node not in self._values:
            shape, kind = _sizes(node), stored(node.type)
            self.inputs.append(node.result or (kind, shape, node.detail))
            self._values[node] = self.graph.input(f"x{len(self.inputs)}", kind, shape)
        return self._values[node]

    def add(self, node: Node) -> None:
        """Add what computes a node. Ciphertexts and public values are added when they are used."""
        if node.kind == OUTPUT:
            self._values[node] = self._calls[node.args[0]][node.detail]
        elif node.kind in CALLS:
            self._calls[node] = self._call(node, [self.value(arg) for arg in node.args])
        elif node.kind not in {CIPHERTEXT, PUBLIC, CONSTANT}:
            self._values[node] = self._operation(node, [self.value(arg) for arg in node.args])

    def _call(self, node: Node, args: list[int]) -> list[int]:
        if node.kind == PROGRAM:
            return self.graph.splice(node.detail, args)
        if node.kind == CIRCUIT:
            return self.graph.call(node.detail, args)
        how, axes = node.detail
        return self.graph.reduce(how, args, axes)

    def _operation(self, node: Node, args: list[int]) -> int:
        if node.kind == TAKE:
            return self.graph.elements(args[0], _sizes(node.args[0]), node.detail, _sizes(node))
        if node.kind in MOVES:
            parts = [(value, _sizes(arg)) for value, arg in zip(args, node.args, strict=True)]
            return self.graph.stack(parts, _sizes(node))
        table, by = node.detail
        return self.graph.apply(node.kind, args, stored(node.type), table, by)

    def finish(self, outputs: Sequence[Node], names: Sequence[str]) -> _core.Program:
        """Add the outputs and return the program."""
        for node, name in zip(outputs, names, strict=True):
            self.graph.output(name, self.value(node))
        return self.graph.finish()


def _sizes(node: Node) -> list[int]:
    return list(node.shape or ())


def record(roots: Sequence[Node]) -> tuple[list[Input], _core.Program]:
    """Return the program that computes these nodes, and its inputs. The nodes are not traced, and no constants."""
    recorder = Recorder()
    with _OPERANDS:
        for node in reachable(roots):
            recorder.add(node)
        program = recorder.finish(roots, [f"y{i + 1}" for i in range(len(roots))])
    return recorder.inputs, program


def settled(roots: Sequence[Node]) -> list[Node]:
    """Move the elements of the nodes that need no server, and return the other nodes."""
    with _OPERANDS:
        for node in reachable(roots):
            if node.kind in MOVES:
                node.known = all(arg.known for arg in node.args)
        for root in roots:
            if root.known:
                root.settle()
        return [root for root in roots if not root.known]
