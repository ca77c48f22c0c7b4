"""Programs: Python functions that are traced once into a graph of typed operations."""

from __future__ import annotations

import functools
import inspect
import itertools
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar, overload

from solinas import _core
from solinas._arrays import Array, ArrayType, EncryptedArray, as_array, from_elements
from solinas._ciphertext import Ciphertext
from solinas._core import Expr, stored
from solinas._data import decode, encode
from solinas._draw import draw_program
from solinas._errors import FormatError, RangeError, ShapeError, SolinasError, TypeMismatchError
from solinas._expression import broadcast_to, take
from solinas._files import PathLike, picture_suffix, read_text
from solinas._params import Estimate
from solinas._shapes import Shape, broadcast, broadcast_indices, flatten
from solinas._spec import (
    Parameter,
    Result,
    Spec,
    core_text,
    from_core_text,
    from_json,
    leaves,
    map_result,
    of_shape,
    text,
    to_json,
)
from solinas._types import type_named
from solinas._values import Value

P = ParamSpec("P")
R = TypeVar("R")
X = TypeVar("X")

FORMAT = "solinas-program"
# The newest version that is read, which is the one that is written.
NEWEST = 2

# The field of a file with what other languages do without.
PYTHON = "python"


class Program(Generic[P, R]):
    """A function of encrypted values. The decorator `@sl.program` makes it from a Python function.

    A call on encrypted values is recorded, and `Server.run` computes it: `server.run(f(a, b))`. A call inside another
    program becomes a part of that program. A call on plain values runs it at once.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[Parameter],
        result: Result,
        core: _core.Program,
        *,
        of_elements: bool = False,
    ) -> None:
        """Make a program of its graph.

        Each input of the graph is a parameter, and each output a value or array of the result. With `of_elements`, the
        inputs and outputs are the elements of these: arrays of integers modulo a number are lists of arrays.
        """
        self.name = name
        self.parameters = tuple(parameters)
        self.result = result
        self._inner = core
        self._of_elements = of_elements

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(map(str, self.parameters))}) -> {text(self.result)}>"

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    def __call__(self, first: EncryptedArray[Any], /, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the program to values. If an argument is encrypted or recorded, the call is recorded.

        The result of a call on plain values is plain. If a parameter is a single value and the argument is an encrypted
        array, the program applies to each element. If the parameter is an array, the last dimensions of the argument
        are that array. Shapes broadcast. With integers modulo a number, a result that depends only on single values and
        sums is a single value. A parameter of any shape, which programs from other languages have, takes the argument
        as a whole.

        Raises TypeMismatchError, ShapeError or RangeError if an argument does not suit its parameter.
        """
        values = self._arguments(args, kwargs)
        return self._recorded(values) if any(map(_is_recorded, values)) else self._computed(values)

    @staticmethod
    def _of(name: str, parameters: Sequence[Parameter], result: Result, elements: _core.Program) -> Program[Any, Any]:
        """Make a program of a graph whose inputs and outputs are the elements of the parameters and of the result."""
        core = elements.grouped([(p.name, core_text(p.spec)) for p in parameters], json.dumps(core_text(result)))
        return Program(name, parameters, result, core or elements, of_elements=core is None)

    @property
    def _is_elementwise(self) -> bool:
        return self._of_elements or self._inner.is_of_scalars

    def _at(self, shapes: Sequence[Shape]) -> tuple[_core.Program, list[Shape], list[tuple[Shape, Shape]]]:
        """Return the graph at inputs of these shapes, and the shapes that the inputs broadcast to.

        The third result has the shape of each output of the graph, and the shape to which that broadcasts.
        """
        if self._is_elementwise:
            common = broadcast([shape for shape in shapes if shape], empty=True)
            wanted = [common if shape else () for shape in shapes]
            core, outputs = self._inner.at(list(map(list, wanted)), [], [])
            pairs = []
            for (_, kind), own in zip(self._inner.outputs, map(tuple, outputs), strict=True):
                # An output that depends on no array is the same for each element. Arrays modulo a number have sums.
                pairs.append((own, own if kind.startswith("mod") else common))
            return core, wanted, pairs
        declared = self._inner.shapes
        inner = [shape if own is None else tuple(own) for own, shape in zip(declared, shapes, strict=True)]
        leading = [shape[: len(shape) - len(own)] for own, shape in zip(inner, shapes, strict=True)]
        outer = broadcast(list(filter(None, leading)), empty=True)
        core, outputs = self._inner.at(list(map(list, inner)), list(outer), [bool(lead) for lead in leading])
        wanted = [(*outer, *own) if lead else own for lead, own in zip(leading, inner, strict=True)]
        return core, wanted, [(tuple(own), tuple(own)) for own in outputs]

    def _over(self, elements: int) -> _core.Program:
        """Return the graph for that many values of each parameter."""
        if elements == 1 or self._is_elementwise:
            return self._inner
        inner = [[elements] if shape is None else shape for shape in self._inner.shapes]
        batched = [shape is not None for shape in self._inner.shapes]
        return self._inner.at(inner, [elements] if any(batched) else [], batched)[0]

    def _inputs(self, parameter: Parameter, value: Plain | Expr) -> list[Any]:
        """Return the inputs of the graph for an argument."""
        own, shape = parameter.shape, value.shape or ()
        if not own or not self._of_elements:
            return [value]
        outer, size = shape[: len(shape) - len(own)], math.prod(own)
        rows = range(math.prod(outer))
        return [_part(value, [row * size + i for row in rows], outer) for i in range(size)]

    def _results(self, outputs: Sequence[X], join: Callable[[Sequence[X], Shape], X]) -> list[X]:
        """Return the values and arrays of the result. `join` makes an array of its elements."""
        if not self._of_elements:
            return list(outputs)
        rest = iter(outputs)
        return [
            join(list(itertools.islice(rest, spec.length)), spec.shape) if isinstance(spec, ArrayType) else next(rest)
            for spec in leaves(self.result)
        ]

    def _kinds(self) -> list[type[Value]]:
        """Return the type of each output of the graph."""
        repeated = [(spec, spec.length if self._of_elements else 1) for spec in map(_array_type, leaves(self.result))]
        return [spec.element for spec, count in repeated for _ in range(count)]

    def _evaluated(self, columns: Sequence[Plain]) -> list[tuple[type[Value], Plain]]:
        """Return the results on plain arguments, with their types."""
        pairs = zip(self.parameters, columns, strict=True)
        inputs = [item for parameter, column in pairs for item in self._inputs(parameter, column)]
        core, wanted, shapes = self._at([item.shape for item in inputs])
        inputs = [item.broadcast(shape) for item, shape in zip(inputs, wanted, strict=True)]
        outputs = core.evaluate([item.bits for item in inputs], [list(item.shape) for item in inputs])
        made = [Plain(own, bits).broadcast(to) for (own, to), (_, bits) in zip(shapes, outputs, strict=True)]
        kinds = [_array_type(spec).element for spec in leaves(self.result)]
        return list(zip(kinds, self._results(made, _joined), strict=True))

    def _computed(self, values: Sequence[Any]) -> Any:
        """Apply the program to plain values, and return typed ones."""
        columns = [self._plain(parameter, value) for parameter, value in zip(self.parameters, values, strict=True)]
        for parameter, column, value in zip(self.parameters, columns, values, strict=True):
            if self._is_elementwise and column.shape != parameter.shape:
                what = f"{self.name}: argument {parameter.name}"
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got {value!r}")
        results = self._evaluated(columns)
        if any(0 in result.shape for _, result in results):
            raise ShapeError(f"{self.name}: a result is an empty array, which has no typed form: call simulate")
        made = (from_elements([kind._make(b) for b in result.bits], result.shape) for kind, result in results)
        return map_result(self.result, made)

    def _recorded(self, values: Sequence[Any]) -> Any:
        """Record a call."""
        if not self._of_elements and any(map(_is_traced, values)):
            return self._elementary._recorded(values)
        inputs: list[Expr] = []
        for parameter, value in zip(self.parameters, values, strict=True):
            inputs += self._exprs(parameter, value)
        core, wanted, shapes = self._at([expr.shape or () for expr in inputs])
        args = [broadcast_to(expr, shape or None) for expr, shape in zip(inputs, wanted, strict=True)]
        is_traced = any(expr.is_traced for expr in args)
        arrays = [expr.shape for expr in args if expr.shape is not None]
        if is_traced and arrays:
            raise TypeMismatchError(
                f"{self.name}: a program that calls this one gives it single values, got arrays of shape {arrays[0]}"
            )
        if any(0 in to for _, to in shapes):
            raise ShapeError(f"{self.name}: a result is an empty array, which cannot be encrypted")
        made = Expr.call(core, args, [(kind.name, own) for kind, (own, _) in zip(self._kinds(), shapes, strict=True)])
        outputs = [
            expr if own == to else take(expr, [0] * math.prod(to), to)
            for expr, (own, to) in zip(made, shapes, strict=True)
        ]
        if is_traced:
            values = [type_named(expr.type)._make(expr, self.name) for expr in outputs]
            return map_result(self.result, iter(self._results(values, from_elements)))
        return map_result(self.result, map(Ciphertext._of_expr, self._results(outputs, self._stacked)))

    @functools.cached_property
    def _elementary(self) -> Program[P, R]:
        """The program with the elements of arrays as its inputs and outputs."""
        try:
            core = self._inner.scalars()
        except SolinasError as error:
            raise TypeMismatchError(
                f"{self.name}: a program that calls this one computes on single values, but {error}: call it on "
                "encrypted arrays"
            ) from None
        return Program(self.name, self.parameters, self.result, core, of_elements=True)

    def _stacked(self, parts: Sequence[Expr], inner: Shape) -> Expr:
        """Return expressions of one shape as an array, with new last dimensions of the shape `inner`."""
        outer = parts[0].shape
        if any(part.shape != outer for part in parts):
            raise ShapeError(f"{self.name}: an array of the result holds sums and elements: return them as a tuple")
        if outer is None:
            return Expr.stack(parts, inner)
        rows, count = math.prod(outer), len(parts)
        columns = Expr.stack(parts, (count * rows,))
        indices = [column * rows + row for row in range(rows) for column in range(count)]
        return take(columns, indices, (*outer, *inner))

    def _exprs(self, parameter: Parameter, value: Any) -> list[Expr]:
        """Return the expressions of an argument, one for each input of the graph."""
        what = f"{self.name}: argument {parameter.name}"
        array = as_array(value)
        if isinstance(array, (EncryptedArray, Value)) and not (isinstance(array, Value) and array.is_plain):
            if array._data.type != parameter.element.name:
                got = array._describe() if isinstance(array, Value) and array._data.is_traced else repr(array)
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got {got}: give a value of that type")
            _check_last_dimensions(what, parameter, array._data.shape or ())
            return self._inputs(parameter, array._data)
        if isinstance(array, Array) and _is_recorded(array):
            if array.type != parameter.spec:
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got an {array.type!r}")
            return [item._expr for item in array._elements()]
        column = self._plain(parameter, array)
        if 0 in column.shape:
            raise ShapeError(f"{what} is an empty array: give at least one element")
        kind = parameter.element.name
        return [
            Expr.public(item.bits, kind, item.shape) if item.shape else Expr.constant(item.bits[0], kind)
            for item in self._inputs(parameter, column)
        ]

    def _arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Return the arguments and defaults in the order of the parameters."""
        try:
            bound = self._signature().bind(*args, **kwargs)
        except TypeError as error:
            raise TypeMismatchError(f"{self.name} takes ({', '.join(map(str, self.parameters))}): {error}") from None
        bound.apply_defaults()
        return list(bound.arguments.values())

    def _signature(self) -> inspect.Signature:
        kind = inspect.Parameter
        return inspect.Signature(
            [
                kind(
                    parameter.name,
                    kind.KEYWORD_ONLY if parameter.keyword_only else kind.POSITIONAL_OR_KEYWORD,
                    default=kind.empty if parameter.default is None else parameter.default,
                )
                for parameter in self.parameters
            ]
        )

    def simulate(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program on plain integers, nested lists or numpy arrays, exactly as a server does on encrypted ones.

        If a parameter is a single value and the argument is an array, the program runs element by element. Shapes
        broadcast. Results are ints, bools and numpy arrays, or nested lists if numpy is not installed. With integers
        modulo a number, a result that depends only on single values and sums is a single value.

        Raises TypeMismatchError, ShapeError or RangeError if an argument does not suit its parameter.
        """
        values = self._arguments(args, kwargs)
        columns = [self._plain(parameter, value) for parameter, value in zip(self.parameters, values, strict=True)]
        results = self._evaluated(columns)
        return map_result(self.result, (decode(kind, result.shape or None, result.bits) for kind, result in results))

    def _plain(self, parameter: Parameter, value: Any) -> Plain:
        """Return the bits of a plain argument."""
        what = f"{self.name}: argument {parameter.name}"
        if _is_recorded(value):
            raise TypeMismatchError(
                f"{what} is encrypted, but simulate takes plain values: write server.run({self.name}(...))"
            )
        shape, items = flatten(value)
        try:
            bits = [encode(parameter.element, item, what) for item in items]
        except RangeError as error:
            raise RangeError(f"{what}: {error}") from None
        _check_last_dimensions(what, parameter, shape or ())
        return Plain(shape or (), bits)

    def cost(self, params: str = "integers-128", *, scheme: str | None = None) -> Estimate:
        """Count the bootstraps (under scheme gh the recryptions and products) and the depth under a parameter set.

        `scheme` is needed only if two schemes have a set with this name. `Server.estimate` also predicts the time on
        its machine. Raises ParameterError for an unknown set.
        """
        return Estimate._from(_core.cost(self._inner, params, scheme))

    def draw(self, path: PathLike | None = None, *, gates: bool = False) -> str:
        """Draw the operations, or the gates if `gates` is True, and return the picture as SVG text.

        If a path is given, the text is also written there. If it ends in `.dot`, the picture shows the gates in
        Graphviz DOT. Raises FileError for another suffix than `.svg` and `.dot`, and if the
        file holds a key or a ciphertext.
        """
        if picture_suffix(path) == ".dot":
            drawn = self._inner.gates_dot()
        else:
            drawn = self._inner.gates_svg() if gates else draw_program(self.name, self._inner)
        if path is not None:
            _core.write_text(path, drawn)
        return drawn

    def _repr_svg_(self) -> str:
        return self.draw()

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _unpickled, (self._to_json(),)

    def _to_json(self) -> str:
        ports = [(p.name, core_text(p.spec)) for p in self.parameters]
        source = self._inner.to_file(self.name, ports, json.dumps(core_text(self.result)), self._of_elements)
        parameters = []
        for p in self.parameters:
            described = {"name": p.name, "type": to_json(p.spec)}
            if p.default is not None:
                described["default"] = p.default
            if p.keyword_only:
                described["keyword_only"] = True
            parameters.append(described)
        if all(set(p) == {"name", "type"} for p in parameters) and not any(
            _array_type(spec).element.fraction for spec in [*(p.spec for p in self.parameters), *leaves(self.result)]
        ):
            return source
        # What other languages do without: defaults, and types of fixed-point numbers.
        document = json.loads(source) | {PYTHON: {"parameters": parameters, "result": to_json(self.result)}}
        return json.dumps(document, separators=(",", ":"), default=str)

    def save(self, path: PathLike) -> None:
        """Write the program to a file as JSON, completely or not at all.

        Raises FileError if the file holds a key or a ciphertext, which it never replaces.
        """
        _core.write_text(path, self._to_json())

    @staticmethod
    def load(path: PathLike) -> Program[..., Any]:
        """Read a program from a file. Raises FileError if it cannot be read, FormatError if it is not valid."""
        return Program._from_json(read_text(path, "a program"), os.fspath(path))

    @staticmethod
    def _from_json(source: str, place: str) -> Program[..., Any]:
        try:
            document = json.loads(source)
            if document["format"] != FORMAT:
                raise FormatError("this is not a program of solinas; pass a file written by Program.save")
            if document["version"] > NEWEST:
                raise FormatError(
                    f"version {document['version']} is too new, as this package reads up to {NEWEST}: update solinas"
                )
            is_old = document["version"] < NEWEST
            if is_old:
                name, of_elements = str(document["name"]), True
                core = _core.Program.from_json(json.dumps(document["program"]))
            else:
                name, core, returned, of_elements = _core.Program.from_file(source)
            declared = document if is_old else document.get(PYTHON)
            if declared is None:
                parameters = [
                    Parameter(port["name"], of_shape(type_named(port["type"]), port.get("shape")))
                    for port in document["inputs"]
                ]
                result = from_core_text(json.loads(returned))
            else:
                parameters = list(map(Parameter.from_json, declared["parameters"]))
                result = from_json(declared["result"])
                if not is_old and core_text(result) != json.loads(returned):
                    raise FormatError("its result is not that of its graph")
        except SolinasError as error:
            raise FormatError(f"{place}: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"{place} is not a program of solinas ({error}); pass a file written by Program.save"
            ) from None
        program: Program[..., Any] = Program(name, parameters, result, core, of_elements=of_elements)
        try:
            program._check()
        except (SolinasError, ValueError) as error:
            raise FormatError(f"{place} is damaged: {error}") from None
        return Program._of(name, parameters, result, core) if is_old else program

    def _check(self) -> None:
        """Check what a file declares. Raises SolinasError or ValueError."""
        specs = [parameter.spec for parameter in self.parameters], leaves(self.result)
        # Compare the counts first, because a file may declare more inputs than fit in memory.
        lengths = [[_array_type(spec).length if self._of_elements else 1 for spec in side] for side in specs]
        ports = [ty for _, ty in self._inner.inputs], [ty for _, ty in self._inner.outputs]
        wrong = FormatError("the inputs or outputs of its graph are not the declared ones")
        if any(sum(counts) != len(types) for counts, types in zip(lengths, ports, strict=True)):
            raise wrong
        for side, counts, types in zip(specs, lengths, ports, strict=True):
            pairs = zip(side, counts, strict=True)
            kinds = [stored(_array_type(spec).element.name) for spec, count in pairs for _ in range(count)]
            if kinds != types:
                raise wrong
        if not self._of_elements:
            for parameter, shape in zip(self.parameters, self._inner.shapes, strict=True):
                if tuple(shape or ()) != parameter.shape:
                    raise wrong
        self._check_defaults()

    def _check_defaults(self) -> None:
        for parameter in self.parameters:
            if parameter.default is not None:
                self._plain(parameter, parameter.default)
        self._signature()


def _unpickled(source: str) -> Program[..., Any]:
    return Program._from_json(source, "the pickle")


def _is_recorded(value: Any) -> bool:
    """Return whether a value, or an item of an array or a nested list, is encrypted or recorded."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_recorded, value))
    if isinstance(value, Array):
        return any(not item.is_plain for item in value._elements())
    return isinstance(value, EncryptedArray) or (isinstance(value, Value) and not value.is_plain)


def _is_traced(value: Any) -> bool:
    """Return whether a value, or an item of an array or a nested list, is recorded in a program."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_traced, value))
    if isinstance(value, Array):
        return any(map(_is_traced, value._elements()))
    return isinstance(value, Value) and not value.is_plain and value._data.is_traced


def _array_type(spec: Spec) -> ArrayType:
    """Return the type of an array or of one value as that of an array."""
    return spec if isinstance(spec, ArrayType) else ArrayType(spec)


def _check_last_dimensions(what: str, parameter: Parameter, shape: Shape) -> None:
    """Check that the last dimensions of an argument are those of the parameter. Raises ShapeError."""
    own = parameter.shape
    if own and shape[-len(own) :] != own:
        needs = f"{own[0]} elements in its last dimension" if len(own) == 1 else f"{own} as its last dimensions"
        raise ShapeError(f"{what} needs {needs}, got {shape or 'one value'}")


@dataclass(frozen=True)
class Plain:
    """The bits of plain values, row by row, and their shape."""

    shape: Shape
    bits: list[int]

    def broadcast(self, to: Shape) -> Plain:
        """Return the values broadcast to a shape."""
        return self if self.shape == to else Plain(to, [self.bits[i] for i in broadcast_indices(self.shape, to)])


def _part(value: Plain | Expr, indices: list[int], shape: Shape) -> Plain | Expr:
    """Return the elements at these flat indices in a shape."""
    if isinstance(value, Plain):
        return Plain(shape, [value.bits[index] for index in indices])
    return take(value, indices, shape)


def _joined(parts: Sequence[Plain], inner: Shape) -> Plain:
    """Return values as an array, with new last dimensions of the shape `inner`."""
    outer = next((part.shape for part in parts if part.shape), ())
    rows = zip(*(part.broadcast(outer).bits for part in parts), strict=True)
    return Plain((*outer, *inner), [bits for row in rows for bits in row])
