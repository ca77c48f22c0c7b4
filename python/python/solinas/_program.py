"""Programs: Python functions that are traced once into a graph of typed operations."""

from __future__ import annotations

import inspect
import json
import math
import os
from collections.abc import Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from solinas import _core
from solinas._arrays import Array, ArrayType, EncryptedArray, as_array, from_elements
from solinas._ciphertext import Ciphertext
from solinas._data import decode, encode
from solinas._draw import draw_program
from solinas._errors import FormatError, RangeError, ShapeError, SolinasError, TypeMismatchError
from solinas._expression import (
    CONSTANT,
    OUTPUT,
    PROGRAM,
    PUBLIC,
    Node,
    broadcast_to,
    stack,
    stored,
    take,
)
from solinas._files import PathLike, picture_suffix, read_text
from solinas._params import Estimate
from solinas._shapes import Shape, broadcast, broadcast_indices, flatten
from solinas._spec import Parameter, Result, count, elements, from_json, map_result, text, to_json
from solinas._types import Modular, type_named
from solinas._values import Value

P = ParamSpec("P")
R = TypeVar("R")

FORMAT = "solinas-program"
# The version that is written, and the newest one that is read.
VERSION, NEWEST = 1, 2


class Program(Generic[P, R]):
    """A function of encrypted values. The decorator `@sl.program` makes it from a Python function.

    A call on encrypted values is recorded, and `Server.run` computes it: `server.run(f(a, b))`. A call inside another
    program becomes a part of that program. A call on plain values runs it at once.
    """

    def __init__(self, name: str, parameters: Sequence[Parameter], result: Result, core: _core.Program) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.result = result
        self._inner = core

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
        sums is a single value.

        Raises TypeMismatchError, ShapeError or RangeError if an argument does not suit its parameter.
        """
        values = self._arguments(args, kwargs)
        return self._recorded(values) if any(map(_is_recorded, values)) else self._computed(values)

    def _computed(self, values: Sequence[Any]) -> Any:
        """Apply the program to plain values."""
        flat: list[int] = []
        for parameter, value in zip(self.parameters, values, strict=True):
            what = f"{self.name}: argument {parameter.name}"
            shape, items = flatten(value)
            if shape != (parameter.spec.shape if isinstance(parameter.spec, ArrayType) else None):
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got {value!r}")
            flat += [encode(parameter.element, item, what) for item in items]
        outputs = self._inner.evaluate([flat])[0]
        made = [kind._make(bits) for kind, bits in zip(elements(self.result), outputs, strict=True)]
        return map_result(self.result, made, lambda value: value, from_elements)

    def _recorded(self, values: Sequence[Any]) -> Any:
        """Record a call."""
        columns = [self._nodes(parameter, value) for parameter, value in zip(self.parameters, values, strict=True)]
        shapes = [node.shape for nodes in columns for node in nodes if node.shape is not None]
        shape = broadcast(shapes) if shapes else None
        args = [broadcast_to(node, shape) for nodes in columns for node in nodes]
        call = Node(PROGRAM, "", shape, args, self._inner)
        if call.traced and shape is not None:
            raise TypeMismatchError(
                f"{self.name}: a program that calls this one gives it single values, got arrays of shape {shape}"
            )
        arrays = self._inner.output_arrays([node.shape is not None for node in args])
        outputs = []
        for i, (kind, is_array) in enumerate(zip(elements(self.result), arrays, strict=True)):
            output = Node(OUTPUT, kind.name, shape if is_array else None, (call,), i)
            if shape is not None and not is_array and not issubclass(kind, Modular):
                output = take(output, [0] * math.prod(shape), shape)
            outputs.append(output)
        return map_result(self.result, outputs, self._value, self._array)

    def _value(self, node: Node) -> Any:
        return type_named(node.type)._make(node, self.name) if node.traced else Ciphertext._of_node(node)

    def _array(self, nodes: list[Node], inner: Shape) -> Any:
        """Return nodes of one shape as an array, with new last dimensions of the shape `inner`."""
        outer = nodes[0].shape
        if any(node.shape != outer for node in nodes):
            raise ShapeError(f"{self.name}: an array of the result holds sums and elements: return them as a tuple")
        if outer is None:
            return from_elements([self._value(node) for node in nodes], inner)
        rows, count = math.prod(outer), len(nodes)
        columns = stack(nodes, (count * rows,))
        indices = [column * rows + row for row in range(rows) for column in range(count)]
        return Ciphertext._of_node(take(columns, indices, (*outer, *inner)))

    def _nodes(self, parameter: Parameter, value: Any) -> list[Node]:
        """Return the nodes of an argument, one for each input of the graph."""
        what = f"{self.name}: argument {parameter.name}"
        array = as_array(value)
        if isinstance(array, (EncryptedArray, Value)) and not (isinstance(array, Value) and array.is_plain):
            if array._data.type != parameter.element.name:
                got = array._describe() if isinstance(array, Value) and array._data.traced else repr(array)
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got {got}: give a value of that type")
            shape = array._data.shape
            if not isinstance(parameter.spec, ArrayType):
                return [array._data]
            outer, size = _leading_shape(what, parameter.spec, shape), parameter.length
            rows = range(math.prod(outer or ()))
            return [take(array._data, [row * size + i for row in rows], outer or ()) for i in range(size)]
        if isinstance(array, Array) and _is_recorded(array):
            if array.type != parameter.spec:
                raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got an {array.type!r}")
            return [item._node for item in array._elements()]
        own, columns = self._plain_column(parameter, array)
        kind = parameter.element.name
        if own is None:
            return [Node(CONSTANT, kind, detail=bits) for bits in columns[0]]
        return [Node(PUBLIC, kind, own, (), list(bits)) for bits in zip(*columns, strict=True)]

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
        columns: list[tuple[Shape | None, list[list[int]]]] = []
        for parameter, value in zip(self.parameters, self._arguments(args, kwargs), strict=True):
            columns.append(self._plain_column(parameter, value))
        shapes = [own for own, _ in columns if own is not None]
        shape = broadcast(shapes) if shapes else None
        instances = 1 if shape is None else math.prod(shape)
        inputs: list[list[int]] = []
        sizes: list[list[int]] = []
        for parameter, (own, items) in zip(self.parameters, columns, strict=True):
            indices = [0] if own is None or shape is None else broadcast_indices(own, shape)
            inputs += [[items[index][i] for index in indices] for i in range(parameter.length)]
            sizes += [[] if own is None else [instances]] * parameter.length
        outputs: list[tuple[type[Value], Shape | None, list[int]]] = []
        results = self._inner.evaluate_arrays(inputs, sizes)
        for kind, (axes, bits) in zip(elements(self.result), results, strict=True):
            if axes or issubclass(kind, Modular):
                outputs.append((kind, shape if axes else None, bits))
            else:
                outputs.append((kind, shape, bits * instances))

        def array(parts: list[tuple[type[Value], Shape | None, list[int]]], inner: Shape) -> Any:
            outer = next((own for _, own, _ in parts if own is not None), None)
            every = [bits * instances if own is None and outer is not None else bits for _, own, bits in parts]
            bits = [b for row in zip(*every, strict=True) for b in row]
            return decode(parts[0][0], (*(outer or ()), *inner), bits)

        return map_result(self.result, outputs, lambda output: decode(*output), array)

    def _plain_column(self, parameter: Parameter, value: Any) -> tuple[Shape | None, list[list[int]]]:
        """Return the shape that a plain argument runs over, and for each of its elements the bits of the inputs."""
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
        size = parameter.length
        if isinstance(parameter.spec, ArrayType):
            shape = _leading_shape(what, parameter.spec, shape)
        if shape is not None and 0 in shape:
            raise ShapeError(f"{what} is an empty array: give at least one element")
        return shape, [bits[i : i + size] for i in range(0, len(bits), size)]

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
        parameters = []
        for p in self.parameters:
            described = {"name": p.name, "type": to_json(p.spec)}
            if p.default is not None:
                described["default"] = p.default
            if p.keyword_only:
                described["keyword_only"] = True
            parameters.append(described)
        document = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "parameters": parameters,
            "result": to_json(self.result),
            "program": json.loads(self._inner.to_json()),
        }
        return json.dumps(document, default=str)

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
            if document["version"] > VERSION:
                document = json.loads(_core.Program.file_v1(source))
            parameters = []
            for parameter in document["parameters"]:
                spec = from_json(parameter["type"])
                if isinstance(spec, tuple):
                    raise FormatError(f"parameter {parameter['name']} is a tuple")
                keyword_only = bool(parameter.get("keyword_only"))
                parameters.append(Parameter(str(parameter["name"]), spec, parameter.get("default"), keyword_only))
            result = from_json(document["result"])
            core = _core.Program.from_json(json.dumps(document["program"]))
            name = str(document["name"])
        except SolinasError as error:
            raise FormatError(f"{place}: {error}") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise FormatError(
                f"{place} is not a program of solinas ({error}); pass a file written by Program.save"
            ) from None
        damaged = FormatError(f"{place} is damaged: the inputs or outputs of its graph are not the declared ones")
        # Compare the counts first, because a file may declare more inputs than fit in memory.
        declared = sum(parameter.length for parameter in parameters), count(result)
        if declared != (len(core.inputs), len(core.outputs)):
            raise damaged
        inputs = [stored(parameter.element.name) for parameter in parameters for _ in range(parameter.length)]
        outputs = [stored(kind.name) for kind in elements(result)]
        if inputs != [ty for _, ty in core.inputs] or outputs != [ty for _, ty in core.outputs]:
            raise damaged
        program: Program[..., Any] = Program(name, parameters, result, core)
        try:
            program._check_defaults()
        except (SolinasError, ValueError) as error:
            raise FormatError(f"{place} is damaged: {error}") from None
        return program

    def _check_defaults(self) -> None:
        for parameter in self.parameters:
            if parameter.default is not None:
                self._plain_column(parameter, parameter.default)
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


def _leading_shape(what: str, spec: ArrayType, shape: Shape | None) -> Shape | None:
    """Return the leading dimensions of an argument, which the program runs over, or None if it is a single array."""
    inner = len(spec.shape)
    if not shape or shape[-inner:] != spec.shape:
        needs = (
            f"{spec.length} elements in its last dimension" if inner == 1 else f"{spec.shape} as its last dimensions"
        )
        raise ShapeError(f"{what} needs {needs}, got {shape or 'one value'}")
    return shape[:-inner] or None
