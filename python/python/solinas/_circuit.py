"""Circuits of gates, from files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from solinas import _core
from solinas._errors import CircuitError, RangeError, TypeMismatchError
from solinas._files import PathLike, picture_suffix, read_text
from solinas._values import Bool

FORMATS = {".txt": "bristol", ".bristol": "bristol", ".blif": "blif", ".json": "yosys"}


class Port(NamedTuple):
    """An input or output of a circuit."""

    name: str
    width: int
    signed: bool


class Circuit:
    """A circuit of gates between ports of any number of bits.

    `run` computes on plain integers, `ServerKey.run` on encrypted values.
    """

    __slots__ = ("_inner",)
    _inner: _core.Circuit

    def __init__(self, text: str) -> None:
        """Read the text of a Bristol, BLIF or Yosys JSON file."""
        self._inner = _core.Circuit.from_text(text)

    @classmethod
    def _wrap(cls, core: _core.Circuit) -> Circuit:
        circuit = cls.__new__(cls)
        circuit._inner = core
        return circuit

    @classmethod
    def load(cls, path: PathLike) -> Circuit:
        """Read a file in Bristol, BLIF or Yosys JSON form."""
        return cls(read_text(path))

    def save(self, path: PathLike) -> None:
        """Write a file: BLIF (`.blif`), Yosys JSON (`.json`) or Bristol (`.txt`), complete or not at all.

        Bristol has AND, XOR and NOT alone; the others keep every gate.
        """
        form = FORMATS.get(Path(path).suffix)
        if form is None:
            raise CircuitError(f"no circuit file ends as {os.fspath(path)!r}: name it .blif, .json or .txt")
        _core.write_text(path, self._inner.to_text(form))

    @property
    def inputs(self) -> tuple[Port, ...]:
        """Input ports, in order."""
        return tuple(Port(*port) for port in self._inner.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """Output ports, in order."""
        return tuple(Port(*port) for port in self._inner.outputs)

    @property
    def gates(self) -> dict[str, int]:
        """Number of gates of each kind, such as `and`, `xor3` and `mux`."""
        return self._inner.gates

    def run(self, *values: int) -> Any:
        """Give the output for plain inputs, one integer for each port: an int, or a tuple where there are more."""
        if len(values) != len(self.inputs):
            wanted = ", ".join(f"{port.name} ({port.width} bits)" for port in self.inputs)
            raise TypeMismatchError(f"the circuit takes {len(self.inputs)} values, got {len(values)}: give {wanted}")
        texts = [_text(port, value) for port, value in zip(self.inputs, values, strict=True)]
        results = []
        for port, digits in zip(self.outputs, self._inner.evaluate(texts), strict=True):
            value = int(digits, 16)
            negative = port.signed and value >> (port.width - 1)
            results.append(value - (1 << port.width) if negative else value)
        return results[0] if len(results) == 1 else tuple(results)

    def optimize(self) -> Circuit:
        """Give an equivalent circuit of fewer bootstraps, as a server makes it before it runs one."""
        return Circuit._wrap(self._inner.optimize())

    def cost(self, params: str = "gates-128") -> _core.Estimate:
        """Give bootstraps (or products, or recrypts) and depth with a parameter set.

        For seconds on a machine see `ServerKey.estimate`.
        """
        return self._inner.cost(params)

    def draw(self, path: PathLike | None = None) -> str:
        """Draw the gates as SVG: the text, written to `path` too where given.

        A path that ends in `.dot` gets the DOT language of Graphviz.
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


def _text(port: Port, value: Any) -> str:
    """Give the bits of a plain value, in hexadecimal."""
    if not hasattr(value, "__index__"):
        raise TypeMismatchError(f"input {port.name!r} takes an integer, got {type(value).__name__}")
    value = value.__index__()
    low, high = (-(1 << (port.width - 1)), 1 << (port.width - 1)) if port.signed else (0, 1 << port.width)
    if not low <= value < high:
        raise RangeError(f"input {port.name!r} has {port.width} bits: {value} is not in {low} to {high - 1}")
    return hex(value % (1 << port.width))


def bits(value: int, width: int) -> list[Bool]:
    """Give the bits of an integer, least significant first, to encrypt for a port of any width.

    `client.encrypt(sl.bits(0xabc, 512))` is an encrypted array of 512 bools.
    """
    if width < 1 or not 0 <= value < 1 << width:
        raise RangeError(f"{value} has no {width} bits: give an integer from 0 to 2^{width} - 1, and a positive width")
    return [Bool(value >> i & 1 == 1) for i in range(width)]


def from_bits(values: Iterable[Any]) -> int:
    """Give the integer of bools, least significant first, such as a decrypted array of them."""
    return sum(1 << i for i, value in enumerate(values) if value)
