"""Programs: Python functions traced once into a graph of typed operations."""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin, overload

from solinas import _core
from solinas._array import Array, ArrayType
from solinas._cipher import Ciphertext, EncryptedArray, PathLike
from solinas._data import Shape, common_shape, decode, encode, flatten
from solinas._draw import draw_program
from solinas._errors import FileError, FormatError, RangeError, ShapeError, SolinasError, TypeMismatchError
from solinas._values import Modular, Value, _integer, type_named

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V", bound=Value)

FORMAT = "solinas-program"
VERSION = 1

# What a parameter or result is: one value, an array, or (results only) a tuple of them.
Spec = type[Value] | ArrayType
Result = Spec | tuple["Result", ...]


class Trace:
    """The context of values inside a function being traced."""

    def __init__(self) -> None:
        self.graph = _core.Graph()
        self._constants: dict[tuple[str, int], int] = {}

    def node(self, value: Value) -> int:
        """Node of a value, made on the spot for a plain one."""
        if value._context is self:
            return int(value._data)
        key = (value.name, value._data)
        if key not in self._constants:
            self._constants[key] = self.graph.constant(value._data, value.name)
        return self._constants[key]

    def _apply(self, op: str, args: Sequence[Value], to: type[V], table: list[int] | None, by: int) -> V:
        """Add one operation."""
        return to._make(self, self.graph.apply(op, [self.node(arg) for arg in args], to.name, table, by))


@dataclass(frozen=True)
class Parameter:
    """A parameter of a program."""

    name: str
    spec: Spec

    @property
    def length(self) -> int:
        """Number of inputs of the graph."""
        return self.spec.length if isinstance(self.spec, ArrayType) else 1

    @property
    def element(self) -> type[Value]:
        """Type of each of them."""
        return self.spec.element if isinstance(self.spec, ArrayType) else self.spec

    def __str__(self) -> str:
        return f"{self.name}: {_text(self.spec)}"


def _text(spec: Result) -> str:
    if isinstance(spec, tuple):
        return f"({', '.join(map(_text, spec))})"
    return repr(spec) if isinstance(spec, ArrayType) else spec.name


def _to_json(spec: Result) -> Any:
    if isinstance(spec, tuple):
        return {"tuple": [_to_json(part) for part in spec]}
    return [spec.element.name, spec.length] if isinstance(spec, ArrayType) else spec.name


def _from_json(data: Any) -> Result:
    match data:
        case {"tuple": [*parts]}:
            return tuple(_from_json(part) for part in parts)
        case [str(element), int(length)] if length > 0:
            return ArrayType(type_named(element), length)
        case str(name):
            return type_named(name)
    raise FormatError(f"{data!r} is no type of a program")


def _length(spec: Result) -> int:
    """Give the number of values of a result."""
    if isinstance(spec, tuple):
        return sum(map(_length, spec))
    return spec.length if isinstance(spec, ArrayType) else 1


def _elements(spec: Result) -> list[type[Value]]:
    if isinstance(spec, tuple):
        return [element for part in spec for element in _elements(part)]
    return [spec.element] * spec.length if isinstance(spec, ArrayType) else [spec]


def _unflatten(spec: Result, items: list[Any], array: Callable[[list[Any]], Any]) -> Any:
    """Put flat outputs, consumed from the front of `items`, in the form of a result."""
    if isinstance(spec, tuple):
        return tuple(_unflatten(part, items, array) for part in spec)
    if isinstance(spec, ArrayType):
        row = items[: spec.length]
        del items[: spec.length]
        return array(row)
    return items.pop(0)


class Program(Generic[P, R]):
    """A function of encrypted values, made by `@sl.program`.

    Call it inside another program to make it part of that one, or on plain or bound values to run it at once.
    """

    def __init__(self, name: str, parameters: Sequence[Parameter], result: Result, core: _core.Program) -> None:
        self.name = name
        self.parameters = tuple(parameters)
        self.result = result
        self._inner = core

    def __repr__(self) -> str:
        return f"<program {self.name}({', '.join(map(str, self.parameters))}) -> {_text(self.result)}>"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it on typed values, wherever they live: in a trace, on a server, or in the clear."""
        values = self._arguments(args, kwargs)
        flat: list[Value] = []
        for parameter, value in zip(self.parameters, values, strict=True):
            flat += self._typed(parameter, value)
        contexts = {id(value._context): value._context for value in flat if value._context is not None}
        if len(contexts) > 1:
            raise TypeMismatchError(f"{self.name}: the arguments belong to different programs or servers")
        context = next(iter(contexts.values()), None)
        kinds = _elements(self.result)
        if isinstance(context, Trace):
            nodes = context.graph.splice(self._inner, [context.node(value) for value in flat])
            outputs = [kind._make(context, node, self.name) for kind, node in zip(kinds, nodes, strict=True)]
        elif context is None:
            bits = self._inner.evaluate([[value._data for value in flat]])[0]
            outputs = [kind._make(None, b) for kind, b in zip(kinds, bits, strict=True)]
        else:
            fixed = [(i, value._data) for i, value in enumerate(flat) if value.is_plain]
            inputs = [value._data for value in flat if not value.is_plain]
            results = context._run_core(self._inner.specialize(fixed), inputs)  # type: ignore[attr-defined]
            outputs = [kind._make(context, r, self.name) for kind, r in zip(kinds, results, strict=True)]
        result: R = _unflatten(self.result, outputs, Array)
        return result

    def _typed(self, parameter: Parameter, value: Any) -> list[Value]:
        """Values of one argument, checked."""
        what = f"{self.name}: argument {parameter.name}"
        if isinstance(value, Ciphertext):
            raise TypeMismatchError(f"{what} is encrypted: use server.run({self.name}, ...), or bind it to a server")
        if isinstance(parameter.spec, ArrayType):
            items = list(value) if isinstance(value, (Array, list, tuple)) or hasattr(value, "__array__") else None
            if items is None or len(items) != parameter.length:
                raise TypeMismatchError(f"{what} needs {parameter.spec!r}, got {value!r}")
        else:
            items = [value]
        return [self._element(what, parameter.element, item) for item in items]

    @staticmethod
    def _element(what: str, kind: type[Value], item: Any) -> Value:
        if isinstance(item, Value) and not item.is_plain:
            if item.name != kind.name:
                raise TypeMismatchError(f"{what} needs {kind.name}, got {item._describe()}: cast it")
            return item
        return kind._make(None, encode(kind, item, what))

    def _arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """Put positional and named arguments in the parameters' order."""
        names = [parameter.name for parameter in self.parameters]
        extra = [name for name in kwargs if name not in names[len(args) :]]
        missing = [name for name in names[len(args) :] if name not in kwargs]
        if len(args) > len(names) or extra or missing:
            given = f"{len(args)} positional" + (f" and {', '.join(kwargs)}" if kwargs else "")
            raise TypeMismatchError(
                f"{self.name} takes ({', '.join(map(str, self.parameters))}); given were {given} arguments"
            )
        return [*args, *(kwargs[name] for name in names[len(args) :])]

    def simulate(self, *args: Any, **kwargs: Any) -> Any:
        """Run it on plain integers, nested lists or numpy arrays, exactly as a server would on encrypted ones.

        Arrays where the program takes single values run element by element; numpy arrays (nested lists where numpy
        is not installed) come back. Of integers modulo a number, a result that only single values and sums go into is
        a single value.
        """
        columns: list[tuple[Shape | None, list[list[int]]]] = []
        for parameter, value in zip(self.parameters, self._arguments(args, kwargs), strict=True):
            columns.append(self._plain_column(parameter, value))
        names = [parameter.name for parameter in self.parameters]
        shape = common_shape([(name, column[0]) for name, column in zip(names, columns, strict=True)])
        count = 1 if shape is None else math.prod(shape)
        inputs, arrays = [], []
        for parameter, (own, items) in zip(self.parameters, columns, strict=True):
            inputs += [[bits[i] for bits in items] for i in range(parameter.length)]
            arrays += [own is not None] * parameter.length
        outputs = self._inner.evaluate_arrays(inputs, arrays)
        lanes: list[tuple[type[Value], Shape | None, list[int]]] = []
        for kind, (is_array, bits) in zip(_elements(self.result), outputs, strict=True):
            if is_array or issubclass(kind, Modular):
                lanes.append((kind, shape if is_array else None, bits))
            else:
                lanes.append((kind, shape, bits * count))

        def array(lanes: list[tuple[type[Value], Shape | None, list[int]]]) -> Any:
            outer = next((own for _, own, _ in lanes if own is not None), None)
            every = [bits * count if own is None and outer is not None else bits for _, own, bits in lanes]
            bits = [b for row in zip(*every, strict=True) for b in row]
            return decode(lanes[0][0], (*(outer or ()), len(lanes)), bits)

        return _map_result(self.result, lanes, lambda lane: decode(*lane), array)

    def _plain_column(self, parameter: Parameter, value: Any) -> tuple[Shape | None, list[list[int]]]:
        """Shape of the elements and, for each of them, the bits of the parameter's inputs."""
        what = f"{self.name}: argument {parameter.name}"
        if isinstance(value, Ciphertext):
            raise TypeMismatchError(
                f"{what} is encrypted: simulate takes plain values; use server.run({self.name}, ...)"
            )
        shape, items = flatten(list(value) if isinstance(value, Array) else value)
        try:
            bits = [encode(parameter.element, item, what) for item in items]
        except RangeError as error:
            raise RangeError(f"{what}: {error}") from None
        if isinstance(parameter.spec, ArrayType):
            if not shape or shape[-1] != parameter.length:
                raise ShapeError(
                    f"{what} needs {parameter.length} elements in its last dimension, got {shape or 'one value'}"
                )
            size = parameter.length
            return shape[:-1] or None, [bits[i : i + size] for i in range(0, len(bits), size)]
        return shape, [[b] for b in bits]

    def cost(self, params: str = "integers-128", *, scheme: str | None = None) -> _core.Estimate:
        """Bootstraps (under scheme gh recrypts and products) and depth with a parameter set.

        `scheme` tells which is meant where two have sets of one name. For seconds on a machine see
        `ServerKey.estimate`.
        """
        return _core.cost(self._inner, params, scheme)

    def draw(self, path: PathLike | None = None, *, gates: bool = False) -> str:
        """Draw the operations, or with `gates=True` the gates, as SVG: the text, written to `path` too where given.

        A path that ends in `.dot` gets the gates in the DOT language of Graphviz.
        """
        if path is not None and os.fspath(path).endswith(".dot"):
            text = self._inner.gates_dot()
        else:
            text = self._inner.gates_svg() if gates else draw_program(self.name, self._inner)
        if path is not None:
            _write(Path(path), text)
        return text

    def _repr_svg_(self) -> str:
        return self.draw()

    def save(self, path: PathLike) -> None:
        """Write it to a file (JSON), complete or not at all."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "parameters": [{"name": p.name, "type": _to_json(p.spec)} for p in self.parameters],
            "result": _to_json(self.result),
            "program": json.loads(self._inner.to_json()),
        }
        _write(Path(path), json.dumps(document))

    @staticmethod
    def load(path: PathLike) -> Program[..., Any]:
        """Read it from a file, which is checked."""
        try:
            document = json.loads(read_text(path))
            if document["format"] != FORMAT:
                raise FormatError(f"{path} is not a program of solinas; pass a file written by Program.save")
            if document["version"] > VERSION:
                raise FormatError(
                    f"{path} has version {document['version']}, this package reads up to {VERSION}: update solinas"
                )
            parameters = []
            for parameter in document["parameters"]:
                spec = _from_json(parameter["type"])
                if isinstance(spec, tuple):
                    raise FormatError(f"{path}: parameter {parameter['name']} is a tuple")
                parameters.append(Parameter(str(parameter["name"]), spec))
            result = _from_json(document["result"])
            core = _core.Program.from_json(json.dumps(document["program"]))
            name = str(document["name"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, SolinasError):
                raise
            raise FormatError(
                f"{path} is not a program of solinas ({error}); pass a file written by Program.save"
            ) from None
        # Lengths are compared first: a file of some bytes may declare an array of any length.
        declared = sum(p.length for p in parameters), _length(result)
        if (
            declared != (len(core.inputs), len(core.outputs))
            or [p.element.name for p in parameters for _ in range(p.length)] != [ty for _, ty in core.inputs]
            or [k.name for k in _elements(result)] != [ty for _, ty in core.outputs]
        ):
            raise FormatError(f"{path} is damaged: the program's inputs or outputs are not those it declares")
        return Program(name, parameters, result, core)

    # What `server.run` needs.

    def _encrypted_inputs(
        self, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[_core.Program, list[_core.Ciphertext], Shape | None]:
        """Give the graph with public arguments in place, a ciphertext for each other input, and the elements' shape."""
        fixed: list[tuple[int, int]] = []
        inputs: list[_core.Ciphertext] = []
        shapes: list[tuple[str, Shape | None]] = []
        place = 0
        for parameter, value in zip(self.parameters, self._arguments(args, kwargs), strict=True):
            what = f"{self.name}: argument {parameter.name}"
            if isinstance(value, Value) and not value.is_plain:
                value = value.encrypted  # noqa: PLW2901
            if isinstance(value, Ciphertext):
                if value.type.name != parameter.element.name:
                    raise TypeMismatchError(
                        f"{what} needs {_text(parameter.spec)}, got {value!r}: encrypt it as that type"
                    )
                columns, shape = _columns(what, parameter, value)
                inputs += columns
                shapes.append((parameter.name, shape))
            else:
                shape, rows = self._plain_column(parameter, value)
                if shape is not None:
                    raise ShapeError(f"{what}: a public array cannot run element by element; encrypt it")
                fixed += [(place + i, bits) for i, bits in enumerate(rows[0])]
            place += parameter.length
        if not inputs:
            raise TypeMismatchError(f"{self.name}: no argument is encrypted; use {self.name}.simulate for plain ones")
        shape = common_shape(shapes)
        return (self._inner.specialize(fixed) if fixed else self._inner), inputs, shape

    def _output_form(self, outputs: list[_core.Ciphertext]) -> Any:
        """Put a server's outputs in the form of the result, arrays stacked along a last dimension."""
        return _map_result(self.result, outputs, Ciphertext._wrap, _stack)


def read_text(path: PathLike) -> str:
    """Give the text of a file; `FileError` where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {os.fspath(path)!r}: {error}") from None


def _write(path: Path, text: str) -> None:
    """Write a file, complete or not at all."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        # Temporary files are their owner's alone; a program is no secret.
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {os.fspath(path)!r}: {error}; nothing was left of it") from None
        raise


def _map_result(spec: Result, outputs: list[Any], one: Callable[[Any], Any], array: Callable[[list[Any]], Any]) -> Any:
    rest = list(outputs)

    def take(spec: Result) -> Any:
        if isinstance(spec, tuple):
            return tuple(take(part) for part in spec)
        count = spec.length if isinstance(spec, ArrayType) else 1
        row = rest[:count]
        del rest[:count]
        return array(row) if isinstance(spec, ArrayType) else one(row[0])

    return take(spec)


def _columns(what: str, parameter: Parameter, value: Ciphertext[Any]) -> tuple[list[_core.Ciphertext], Shape | None]:
    """One ciphertext for each input of a parameter, and the shape they run over element by element."""
    shape = value.shape if isinstance(value, EncryptedArray) else None
    if not isinstance(parameter.spec, ArrayType):
        return [value._inner], shape
    if not shape or shape[-1] != parameter.length:
        raise ShapeError(f"{what} needs {parameter.length} elements in its last dimension, got {value!r}")
    outer, size = shape[:-1] or None, parameter.length
    count = math.prod(outer or ())
    places = [[row * size + i for row in range(count)] for i in range(size)]
    return [value._inner.take(column, None if outer is None else list(outer)) for column in places], outer


def _stack(columns: list[_core.Ciphertext]) -> Ciphertext[Any]:
    outer = columns[0].shape
    if outer is None:
        return Ciphertext._wrap(_core.Ciphertext.stack(columns, [len(columns)]))
    count = math.prod(outer)
    items = [column.take([i], None) for i in range(count) for column in columns]
    return Ciphertext._wrap(_core.Ciphertext.stack(items, [*outer, len(columns)]))


@overload
def program(function: Callable[P, R], /) -> Program[P, R]: ...
@overload
def program(function: None = None, /, *, name: str | None = None) -> Callable[[Callable[P, R]], Program[P, R]]: ...
def program(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Trace a function of annotated parameters into a `Program`.

    The function runs once, here, on values without content; Python's own loops and conditions are unrolled then.
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
        raise TypeMismatchError(f"{name}: an annotation cannot be read: {error}") from None
    trace = Trace()
    parameters: list[Parameter] = []
    arguments: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        kinds = (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if parameter.kind not in kinds or parameter.default is not parameter.empty:
            raise TypeMismatchError(
                f"{name}: parameter {parameter.name} must be a plain one: no *, ** or default. "
                "For many inputs write an array, as in xs: sl.Array[sl.U16, 8]"
            )
        spec = annotations.get(parameter.name)
        if spec is None or not _is_spec(spec):
            raise TypeMismatchError(
                f"{name}: parameter {parameter.name} needs a type as its annotation, as in {parameter.name}: sl.U32"
                + ("" if spec is None else f"; {spec!r} is none")
            )
        parameters.append(Parameter(parameter.name, spec))
        arguments[parameter.name] = _input(trace, parameters[-1])
    if not parameters:
        raise TypeMismatchError(f"{name}: a program needs at least one parameter")
    try:
        returned = function(*arguments.values())
    except SolinasError as error:
        error.args = (f"{name}: {error}",)
        raise
    expected = _expected(name, annotations.get("return", inspect.Signature.empty))
    outputs: list[Value] = []
    result = _result(name, returned, expected, outputs)
    for i, value in enumerate(outputs):
        trace.graph.output("result" if len(outputs) == 1 else f"result[{i}]", trace.node(value))
    traced: Program[Any, Any] = Program(name, parameters, result, trace.graph.finish())
    functools.update_wrapper(traced, function, updated=())
    return traced


def _is_spec(spec: Any) -> bool:
    return isinstance(spec, ArrayType) or (isinstance(spec, type) and issubclass(spec, Value) and spec.width > 0)


def _input(trace: Trace, parameter: Parameter) -> Any:
    names = [parameter.name]
    if isinstance(parameter.spec, ArrayType):
        names = [f"{parameter.name}[{i}]" for i in range(parameter.length)]
    kind = parameter.element
    values = [kind._make(trace, trace.graph.input(name, kind.name), name) for name in names]
    return Array(values) if isinstance(parameter.spec, ArrayType) else values[0]


def _expected(name: str, annotation: Any) -> Any:
    """Give the declared result as specs; `empty` where nothing was declared."""
    if annotation is inspect.Signature.empty or _is_spec(annotation):
        return annotation
    if get_origin(annotation) is tuple:
        return tuple(_expected(name, part) for part in get_args(annotation))
    raise TypeMismatchError(
        f"{name}: the result needs a type such as sl.U32, an array or a tuple of them; {annotation!r} is none"
    )


def _result(name: str, returned: Any, expected: Any, outputs: list[Value]) -> Result:
    """Append the values of what a function returned; its form."""
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
        outputs += list(returned)
        return returned.type
    if isinstance(returned, Value):
        if not free and not (isinstance(expected, type) and _text(expected) == returned.name):
            raise TypeMismatchError(
                f"{name}: returns {returned._describe()}, but is annotated {_declared(expected)}; cast one of them"
            )
        outputs.append(returned)
        return type(returned)
    if _integer(returned) is not None and not free and isinstance(expected, type):
        outputs.append(expected(returned))
        return expected
    raise TypeMismatchError(f"{name}: returns {returned!r}; return a value, an array or a tuple of them")


def _declared(expected: Any) -> str:
    return _text(expected) if _is_spec(expected) or isinstance(expected, tuple) else repr(expected)
