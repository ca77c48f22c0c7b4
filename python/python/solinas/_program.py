"""Programs: Python functions that are traced once into a graph of typed operations."""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin, overload

from solinas import _core
from solinas._array import Array, ArrayType
from solinas._bound import BoundArray, Input, broadcast_to
from solinas._cipher import Ciphertext, EncryptedArray, stacked
from solinas._data import decode, encode
from solinas._draw import draw_program
from solinas._errors import FormatError, RangeError, ShapeError, SolinasError, TypeMismatchError
from solinas._files import PathLike, picture_suffix, read_text
from solinas._integers import Modular
from solinas._shapes import Shape, broadcast, broadcast_indices, flatten, nest
from solinas._spec import Parameter, Result, Spec, count, elements, from_json, map_result, text, to_json
from solinas._trace import Trace
from solinas._values import Bool, Value, _integer

P = ParamSpec("P")
R = TypeVar("R")

FORMAT = "solinas-program"
VERSION = 1


class Program(Generic[P, R]):
    """A function of encrypted values. The decorator `@sl.program` makes it from a Python function.

    A call inside another program adds its operations to that program. A call on plain or bound values runs it at once.
    `ServerKey.run` runs it on encrypted values.
    """

    def __init__(self, name: str, parameters: Sequence[Parameter], result: Result, core: _core.Program) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.result = result
        self._inner = core

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(map(str, self.parameters))}) -> {text(self.result)}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the program on traced, bound or plain values. Ciphertexts need `ServerKey.run`."""
        values = self._arguments(args, kwargs)
        server = next((server for value in values for server in _servers(value)), None)
        if server is not None:
            at_once: R = self._bound(server, values)
            return at_once
        flat: list[Value] = []
        for parameter, value in zip(self.parameters, values, strict=True):
            flat += self._typed(parameter, value)
        contexts = {id(value._context): value._context for value in flat if value._context is not None}
        if len(contexts) > 1:
            raise TypeMismatchError(f"{self.name}: the arguments belong to different programs")
        context = next(iter(contexts.values()), None)
        kinds = elements(self.result)
        if context is None:
            bits = self._inner.evaluate([[value._data for value in flat]])[0]
        else:
            assert isinstance(context, Trace)
            bits = context.graph.splice(self._inner, [context.node(value) for value in flat])
        outputs = [kind._make(context, b, self.name) for kind, b in zip(kinds, bits, strict=True)]
        result: R = map_result(self.result, outputs, lambda value: value, Array._from_elements)
        return result

    def _bound(self, server: Any, values: Sequence[Any]) -> Any:
        """Run the program on the server that some of the arguments are bound to, and bind the results."""
        plain = [value.encrypted if _servers(value) else value for value in values]
        if any(of_value is not server for value in values for of_value in _servers(value)):
            raise TypeMismatchError(f"{self.name}: the arguments belong to different servers")
        names = [parameter.name for parameter in self.parameters]
        result = server.run(self, **dict(zip(names, plain, strict=True))).result()
        return tuple(map(server.bind, result)) if isinstance(result, tuple) else server.bind(result)

    def _typed(self, parameter: Parameter, value: Any) -> list[Value]:
        """Check one argument and return its elements as typed values."""
        what = f"{self.name}: argument {parameter.name}"
        if isinstance(value, Ciphertext) or _holds_encrypted(value):
            _reject_list(what, value)
            raise TypeMismatchError(f"{what} is encrypted: call server.run({self.name}, ...), or bind it to a server")
        shape, items = flatten(value)
        wanted = parameter.spec.shape if isinstance(parameter.spec, ArrayType) else None
        if shape != wanted:
            raise TypeMismatchError(f"{what} needs {text(parameter.spec)}, got {value!r}")
        return [self._element(what, parameter.element, item) for item in items]

    @staticmethod
    def _element(what: str, kind: type[Value], item: Any) -> Value:
        if isinstance(item, Value) and not item.is_plain:
            if item.name != kind.name:
                raise TypeMismatchError(f"{what} needs {kind.name}, got {item._describe()}: cast it")
            return item
        return kind._make(None, encode(kind, item, what))

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
        inputs, arrays = [], []
        for parameter, (own, items) in zip(self.parameters, columns, strict=True):
            indices = [0] if own is None or shape is None else broadcast_indices(own, shape)
            inputs += [[items[index][i] for index in indices] for i in range(parameter.length)]
            arrays += [own is not None] * parameter.length
        outputs: list[tuple[type[Value], Shape | None, list[int]]] = []
        results = self._inner.evaluate_arrays(inputs, arrays)
        for kind, (is_array, bits) in zip(elements(self.result), results, strict=True):
            if is_array or issubclass(kind, Modular):
                outputs.append((kind, shape if is_array else None, bits))
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
        if isinstance(value, (Ciphertext, BoundArray)) or _holds_encrypted(value):
            _reject_list(what, value)
            raise TypeMismatchError(
                f"{what} is encrypted, but simulate takes plain values: call server.run({self.name}, ...)"
            )
        shape, items = flatten(value)
        try:
            bits = [encode(parameter.element, item, what) for item in items]
        except RangeError as error:
            raise RangeError(f"{what}: {error}") from None
        if isinstance(parameter.spec, ArrayType):
            size = parameter.length
            return _leading_shape(what, parameter.spec, shape), [bits[i : i + size] for i in range(0, len(bits), size)]
        return shape, [[b] for b in bits]

    def cost(self, params: str = "integers-128", *, scheme: str | None = None) -> _core.Estimate:
        """Count the bootstraps (under scheme gh the recryptions and products) and the depth under a parameter set.

        `scheme` is needed only if two schemes have a set with this name. `ServerKey.estimate` also predicts the time on
        its machine. Raises ParameterError for an unknown set.
        """
        return _core.cost(self._inner, params, scheme)

    def draw(self, path: PathLike | None = None, *, gates: bool = False) -> str:
        """Draw the operations, or the gates if `gates` is True, and return the picture as SVG text.

        If a path is given, the text is also written there. If it ends in `.dot`, the picture shows the gates in
        Graphviz DOT. Raises FileError for another suffix than `.svg` and `.dot`.
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
        return json.dumps(document)

    def save(self, path: PathLike) -> None:
        """Write the program to a file as JSON, completely or not at all."""
        _core.write_text(path, self._to_json())

    @staticmethod
    def load(path: PathLike) -> Program[..., Any]:
        """Read a program from a file. Raises FileError if it cannot be read, FormatError if it is not valid."""
        return Program._from_json(read_text(path), os.fspath(path))

    @staticmethod
    def _from_json(source: str, place: str) -> Program[..., Any]:
        try:
            document = json.loads(source)
            if document["format"] != FORMAT:
                raise FormatError(f"{place} is not a program of solinas; pass a file written by Program.save")
            if document["version"] > VERSION:
                raise FormatError(
                    f"{place} has version {document['version']}, but this package reads up to {VERSION}: update solinas"
                )
            parameters = []
            for parameter in document["parameters"]:
                spec = from_json(parameter["type"])
                if isinstance(spec, tuple):
                    raise FormatError(f"{place}: parameter {parameter['name']} is a tuple")
                keyword_only = bool(parameter.get("keyword_only"))
                parameters.append(Parameter(str(parameter["name"]), spec, parameter.get("default"), keyword_only))
            result = from_json(document["result"])
            core = _core.Program.from_json(json.dumps(document["program"]))
            name = str(document["name"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, SolinasError):
                raise
            raise FormatError(
                f"{place} is not a program of solinas ({error}); pass a file written by Program.save"
            ) from None
        damaged = FormatError(f"{place} is damaged: the inputs or outputs of its graph are not the declared ones")
        # Compare the counts first, because a file may declare more inputs than fit in memory.
        declared = sum(parameter.length for parameter in parameters), count(result)
        if declared != (len(core.inputs), len(core.outputs)):
            raise damaged
        inputs = [parameter.element.name for parameter in parameters for _ in range(parameter.length)]
        outputs = [kind.name for kind in elements(result)]
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

    # Inputs and outputs for `ServerKey.run`.

    def _encrypted_inputs(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Input]:
        """Return the inputs of the graph as the core's `run` takes them."""
        columns: list[tuple[Shape | None, list[Any], str | None]] = []
        for parameter, value in zip(self.parameters, self._arguments(args, kwargs), strict=True):
            what = f"{self.name}: argument {parameter.name}"
            if _servers(value):
                value = value.encrypted  # noqa: PLW2901
            _reject_list(what, value)
            if isinstance(value, Ciphertext):
                if value.type.name != parameter.element.name:
                    raise TypeMismatchError(
                        f"{what} needs {text(parameter.spec)}, got {value!r}: encrypt the data as that type"
                    )
                cores, own = _columns(what, parameter, value)
                columns.append((own, cores, None))
            else:
                own, rows = self._plain_column(parameter, value)
                columns.append((own, [list(column) for column in zip(*rows, strict=True)], parameter.element.name))
        if all(public is not None for _, _, public in columns):
            raise TypeMismatchError(
                f"{self.name}: no argument is encrypted; call {self.name}.simulate for plain values"
            )
        shapes = [own for own, _, _ in columns if own is not None]
        shape = broadcast(shapes) if shapes else ()
        inputs: list[Input] = []
        for own, values, public in columns:
            for value in values:
                if public is not None:
                    indices = [0] if own is None else broadcast_indices(own, shape)
                    inputs.append((public, None if own is None else list(shape), [value[index] for index in indices]))
                else:
                    inputs.append(value if own in {None, shape} else broadcast_to(value, shape))
        return inputs

    def _output_form(self, outputs: list[_core.Ciphertext]) -> Any:
        """Return a server's outputs in the form of the result. Elements of an array are stacked as last dimensions."""
        return map_result(self.result, outputs, Ciphertext._wrap, stacked)


def _unpickled(source: str) -> Program[..., Any]:
    return Program._from_json(source, "the pickle")


def _servers(value: Any) -> list[Any]:
    """Return a list of the server that a value or array is bound to; the list is empty if it is not bound."""
    if isinstance(value, BoundArray):
        return [value._server]
    return [value._context] if isinstance(value, Value) and value.is_bound else []


def _holds_encrypted(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(
        isinstance(x, Ciphertext) or _servers(x) or _holds_encrypted(x) for x in value
    )


def _reject_list(what: str, value: Any) -> None:
    if _holds_encrypted(value):
        raise TypeMismatchError(
            f"{what} is a list of encrypted values: join them first, as in sl.EncryptedArray.stack([...])"
        )


def _leading_shape(what: str, spec: ArrayType, shape: Shape | None) -> Shape | None:
    """Return the leading dimensions of an argument, which the program runs over, or None if it is a single array."""
    inner = len(spec.shape)
    if not shape or shape[-inner:] != spec.shape:
        needs = (
            f"{spec.length} elements in its last dimension" if inner == 1 else f"{spec.shape} as its last dimensions"
        )
        raise ShapeError(f"{what} needs {needs}, got {shape or 'one value'}")
    return shape[:-inner] or None


def _columns(what: str, parameter: Parameter, value: Ciphertext[Any]) -> tuple[list[_core.Ciphertext], Shape | None]:
    """Return a ciphertext for each input of a parameter, and the shape that the program runs over."""
    shape = value.shape if isinstance(value, EncryptedArray) else None
    if not isinstance(parameter.spec, ArrayType):
        return [value._inner], shape
    outer, size = _leading_shape(what, parameter.spec, shape), parameter.length
    rows = math.prod(outer or ())
    indices = [[row * size + i for row in range(rows)] for i in range(size)]
    return [value._inner.take(column, None if outer is None else list(outer)) for column in indices], outer


@overload
def program(function: Callable[P, R], /) -> Program[P, R]: ...
@overload
def program(function: None = None, /, *, name: str | None = None) -> Callable[[Callable[P, R]], Program[P, R]]: ...
def program(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Trace a Python function into a `Program`. Use it as a decorator: `@sl.program`.

    Every parameter needs a type as its annotation, such as `sl.U32` or `sl.Array[sl.U16, 8]`. The function runs once,
    during this call, on values without content. Loops and conditions of Python run then, and are not part of the
    program. `name` defaults to the name of the function. Raises TypeMismatchError if a type is missing or wrong.
    """
    caller = sys._getframe(1).f_locals
    if function is None:
        return lambda function: _trace(function, name, caller)
    return _trace(function, name, caller)


def _trace(function: Callable[..., Any], name: str | None, caller: dict[str, Any]) -> Program[Any, Any]:
    name = name or function.__name__
    signature = inspect.signature(function)
    try:
        annotations = inspect.get_annotations(function, eval_str=True, locals=caller)
    except NameError as error:
        raise TypeMismatchError(f"{name}: cannot evaluate an annotation: {error}") from None
    trace = Trace()
    parameters: list[Parameter] = []
    arguments: dict[str, Any] = {}
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise TypeMismatchError(
                f"{name}: parameter {parameter.name} must not have * or **. "
                "For many inputs declare an array, as in xs: sl.Array[sl.U16, 8]"
            )
        spec = annotations.get(parameter.name)
        if spec is None or not _is_spec(spec):
            raise TypeMismatchError(
                f"{name}: parameter {parameter.name} needs a type as its annotation, as in {parameter.name}: sl.U32"
                + ("" if spec is None else f"; {spec!r} is not a type")
            )
        keyword_only = parameter.kind is parameter.KEYWORD_ONLY
        default = (
            None if parameter.default is parameter.empty else _default(name, parameter.name, spec, parameter.default)
        )
        parameters.append(Parameter(parameter.name, spec, default, keyword_only))
        (named if keyword_only else arguments)[parameter.name] = _input(trace, parameters[-1])
    if not parameters:
        raise TypeMismatchError(f"{name}: a program needs at least one parameter")
    try:
        returned = function(*arguments.values(), **named)
    except SolinasError as error:
        error.args = (f"{name}: {error}",)
        raise
    expected = _expected(name, annotations.get("return", inspect.Signature.empty))
    outputs: list[Value] = []
    result = _result(name, returned, expected, outputs)
    traced: Program[Any, Any] = Program(name, parameters, result, trace.finish(outputs))
    functools.update_wrapper(traced, function, updated=())
    return traced


def _default(name: str, parameter: str, spec: Spec, value: Any) -> Any:
    """Check the default of a parameter and return it as plain integers or bools."""
    what = f"{name}: the default of {parameter}"
    shape, items = flatten(value)
    if shape != (spec.shape if isinstance(spec, ArrayType) else None):
        raise TypeMismatchError(f"{what} must be {text(spec)}, got {value!r}")
    kind = spec.element if isinstance(spec, ArrayType) else spec
    values = [kind.decode(encode(kind, item, what)) for item in items]
    return nest(shape or (), [bool(v) for v in values] if kind is Bool else values)


def _is_spec(spec: Any) -> bool:
    return isinstance(spec, ArrayType) or (isinstance(spec, type) and issubclass(spec, Value) and spec.width > 0)


def _input(trace: Trace, parameter: Parameter) -> Any:
    names = [parameter.name]
    if isinstance(parameter.spec, ArrayType):
        names = [f"{parameter.name}[{i}]" for i in range(parameter.length)]
    values = [trace.input(parameter.element, name) for name in names]
    return Array._from_elements(values, parameter.spec.shape if isinstance(parameter.spec, ArrayType) else ())


def _expected(name: str, annotation: Any) -> Any:
    """Return the declared type of the result, or `inspect.Signature.empty` if there is none."""
    if annotation is inspect.Signature.empty or _is_spec(annotation):
        return annotation
    if get_origin(annotation) is tuple:
        return tuple(_expected(name, part) for part in get_args(annotation))
    raise TypeMismatchError(
        f"{name}: the type of the result must be one such as sl.U32, an array or a tuple of these, got {annotation!r}"
    )


def _result(name: str, returned: Any, expected: Any, outputs: list[Value]) -> Result:
    """Append the returned values to `outputs` and return the form of the result. `expected` is its declared type."""
    free = expected is inspect.Signature.empty
    if isinstance(returned, tuple):
        if not free and not (isinstance(expected, tuple) and len(expected) == len(returned)):
            raise TypeMismatchError(
                f"{name}: returns a tuple of {len(returned)}, but is annotated {_declared(expected)}"
            )
        if not returned:
            raise TypeMismatchError(f"{name}: returns nothing")
        parts = expected if not free else [expected] * len(returned)
        return tuple(_result(name, item, part, outputs) for item, part in zip(returned, parts, strict=True))
    if isinstance(returned, Array):
        if not free and expected != returned.type:
            raise TypeMismatchError(f"{name}: returns {returned.type!r}, but is annotated {_declared(expected)}")
        outputs += returned._items
        return returned.type
    if isinstance(returned, Value):
        if not free and not (isinstance(expected, type) and text(expected) == returned.name):
            raise TypeMismatchError(
                f"{name}: returns {returned._describe()}, but is annotated {_declared(expected)}; cast one of them"
            )
        outputs.append(returned)
        return type(returned)
    if _integer(returned) is not None and not free and isinstance(expected, type):
        outputs.append(expected(returned))
        return expected
    raise TypeMismatchError(f"{name}: returns {returned!r}; return a value, an array or a tuple of these")


def _declared(expected: Any) -> str:
    return text(expected) if _is_spec(expected) or isinstance(expected, tuple) else repr(expected)
