"""Circuits of gates, read from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from solinas import _core
from solinas._arrays import EncryptedArray, as_array
from solinas._ciphertext import Ciphertext
from solinas._core import Expr
from solinas._errors import CircuitError, RangeError, TypeMismatchError
from solinas._files import PathLike, picture_suffix, read_text
from solinas._params import Estimate
from solinas._shapes import broadcast
from solinas._types import MAX_WIDTH, int_, type_named, uint
from solinas._values import Bool, Value

FORMATS = {".txt": "bristol", ".bristol": "bristol", ".blif": "blif", ".json": "yosys"}


class Port(NamedTuple):
    """An input or output of a circuit: its name, its width in bits, and whether it is signed."""

    name: str
    width: int
    signed: bool


class Circuit:
    """A circuit of gates. Its inputs and outputs are ports, each of any number of bits.

    A call on encrypted values is recorded, and `Server.run` computes it: `server.run(circuit(a, b))`. `simulate`
    evaluates the circuit on plain integers.
    """

    __slots__ = ("_inner",)
    _inner: _core.Circuit

    def __init__(self, text: str) -> None:
        """Parse the text of a Bristol, BLIF or Yosys JSON file. Raises CircuitError if it is not valid."""
        self._inner = _core.Circuit.from_text(text)

    @classmethod
    def _wrap(cls, core: _core.Circuit) -> Circuit:
        circuit = cls.__new__(cls)
        circuit._inner = core
        return circuit

    @classmethod
    def load(cls, path: PathLike) -> Circuit:
        """Read a Bristol, BLIF or Yosys JSON file.

        Raises FileError if it cannot be read, FormatError if it is not text, CircuitError if it is not valid.
        """
        return cls(read_text(path, "a circuit"))

    def save(self, path: PathLike) -> None:
        """Write the circuit to a file, as BLIF (`.blif`), Yosys JSON (`.json`) or Bristol (`.txt`).

        A Bristol file holds only AND, XOR and NOT gates. The other formats keep every gate. The file is written
        completely or not at all. Raises CircuitError for another suffix, FileError if the file holds a key or a
        ciphertext.
        """
        form = FORMATS.get(Path(path).suffix)
        if form is None:
            raise CircuitError(f"{os.fspath(path)!r} is not the name of a circuit file: end it in .blif, .json or .txt")
        _core.write_text(path, self._inner.to_text(form))

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The input ports, in order."""
        return tuple(Port(*port) for port in self._inner.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The output ports, in order."""
        return tuple(Port(*port) for port in self._inner.outputs)

    @property
    def gates(self) -> dict[str, int]:
        """The number of gates of each kind, such as `and`, `xor3` and `mux`."""
        return self._inner.gates

    def __call__(self, *values: Any) -> Any:
        """Record the circuit on encrypted values, one for each input port in order.

        A value is an integer of the port's width, or an array of bools whose last axis holds the port's bits, the least
        significant first (see `sl.bits`). A port of more than 2048 bits takes and returns arrays of bools only. On
        arrays the circuit applies to each element. Returns one value, or a tuple if the circuit has several outputs.
        Raises TypeMismatchError for another number of values, for a value that is not encrypted, and for one of another
        width than its port.
        """
        self._check_count(values)
        exprs = []
        for value in map(as_array, values):
            if not isinstance(value, (Value, EncryptedArray)) or not isinstance(value._data, Expr):
                raise TypeMismatchError(f"a circuit takes encrypted values, got {value!r}: encrypt it first")
            exprs.append(value._data)
        shapes = []
        for port, expr in zip(self.inputs, exprs, strict=True):
            own = expr.shape or ()
            by_bits = expr.type == Bool.name and port.width > 1 and own[-1:] == (port.width,)
            if not by_bits and type_named(expr.type).width != port.width:
                integer = "" if port.width > MAX_WIDTH else f"an integer of {port.width} bits, or "
                raise TypeMismatchError(
                    f"input {port.name!r} has {port.width} bits, got {Ciphertext._of_expr(expr)!r}: give {integer}an "
                    f"array of {port.width} bools"
                )
            shapes.append(own[:-1] if by_bits else own)
        shape = broadcast(shapes)
        ports = [_port_type(port) for port in self.outputs]
        outputs = Expr.call(self._inner, exprs, [(kind.name, shape + inner) for kind, inner in ports])
        results = [Ciphertext._of_expr(output) for output in outputs]
        return results[0] if len(results) == 1 else tuple(results)

    def simulate(self, *values: int) -> Any:
        """Evaluate the circuit on plain integers, one for each input port in order.

        Returns an int, or a tuple if the circuit has several outputs. Raises RangeError if an integer does not fit its
        port.
        """
        self._check_count(values)
        texts = [_text(port, value) for port, value in zip(self.inputs, values, strict=True)]
        results = []
        for port, digits in zip(self.outputs, self._inner.evaluate(texts), strict=True):
            value = int(digits, 16)
            negative = port.signed and value >> (port.width - 1)
            results.append(value - (1 << port.width) if negative else value)
        return results[0] if len(results) == 1 else tuple(results)

    def _check_count(self, values: Sequence[Any]) -> None:
        if len(values) != len(self.inputs):
            wanted = ", ".join(f"{port.name} ({port.width} bits)" for port in self.inputs)
            raise TypeMismatchError(f"the circuit takes {len(self.inputs)} values, got {len(values)}: give {wanted}")

    def optimize(self) -> Circuit:
        """Return an equivalent circuit with fewer bootstraps. A server does the same before it runs a circuit."""
        return Circuit._wrap(self._inner.optimize())

    def cost(self, params: str = "gates-128") -> Estimate:
        """Count the bootstraps (or products, or recrypts) and the depth of the circuit under a parameter set.

        `Server.estimate` also predicts the time on its machine.
        """
        return Estimate._from(_core.cost(self._over(1), params, None))

    def _over(self, elements: int) -> _core.Program:
        """Return the program that calls the circuit, for any number of values."""
        return self._inner.program()

    def draw(self, path: PathLike | None = None) -> str:
        """Draw the gates and return the picture as text: SVG, or Graphviz DOT if `path` ends in `.dot`.

        If a path is given, the text is also written there. Raises FileError for another suffix, and if the file holds a
        key or a ciphertext.
        """
        dot = picture_suffix(path) == ".dot"
        text = self._inner.to_text("dot") if dot else self._inner.svg()
        if path is not None:
            _core.write_text(path, text)
        return text

    def _repr_svg_(self) -> str:
        return self.draw()

    def __repr__(self) -> str:
        ports = [", ".join(f"{p.name}: {p.width} bits" for p in side) for side in (self.inputs, self.outputs)]
        return f"<circuit ({ports[0]}) -> ({ports[1]}), {sum(self.gates.values())} gates>"


def _port_type(port: Port) -> tuple[type[Value], tuple[int, ...]]:
    """Return the type of a port's values, and their shape, which is `()` unless the port has more than 2048 bits."""
    if port.width > MAX_WIDTH:
        return Bool, (port.width,)
    return Bool if port.width == 1 and not port.signed else (int_ if port.signed else uint)(port.width), ()


def _text(port: Port, value: Any) -> str:
    """Return a plain value of a port in hexadecimal, in two's complement if it is negative."""
    if not hasattr(value, "__index__"):
        raise TypeMismatchError(f"input {port.name!r} takes an integer, got {type(value).__name__}")
    value = value.__index__()
    low, high = (-(1 << (port.width - 1)), 1 << (port.width - 1)) if port.signed else (0, 1 << port.width)
    if not low <= value < high:
        raise RangeError(f"input {port.name!r} has {port.width} bits: {value} is not in {low} to {high - 1}")
    return hex(value % (1 << port.width))


def bits(value: int, width: int) -> list[Bool]:
    """Return the bits of an integer, least significant first, as `width` bools.

    Encrypt them for a port of any width: `client.encrypt(sl.bits(0xabc, 512))` is an array of 512 encrypted bools.
    Raises RangeError unless 0 <= value < 2^width.
    """
    if width < 1 or not 0 <= value < 1 << width:
        raise RangeError(
            f"{value} does not fit in {width} bits: give an integer from 0 to 2^{width} - 1, and a positive width"
        )
    return [Bool(value >> i & 1 == 1) for i in range(width)]


def from_bits(values: Iterable[Any]) -> int:
    """Return the integer whose bits are these bools, least significant first. It is the inverse of `bits`."""
    return sum(1 << i for i, value in enumerate(values) if value)
