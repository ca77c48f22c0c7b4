"""The decorator `@sl.program`, which records the operations of a Python function."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, get_args, get_origin, overload

from solinas import _core
from solinas._arrays import Array, ArrayType, EncryptedArray, from_elements
from solinas._core import Expr
from solinas._data import encode
from solinas._errors import SolinasError, TypeMismatchError
from solinas._program import Program
from solinas._shapes import flatten, nest
from solinas._spec import Parameter, Result, Spec, text
from solinas._values import Bool, Value, _integer

P = ParamSpec("P")
R = TypeVar("R")

HOLDS = (
    "{name}: a program holds no encrypted values and no calls of circuits: declare a parameter, and give the value as "
    "an argument"
)


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
    parameters: list[Parameter] = []
    inputs: list[Expr] = []
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
        (named if keyword_only else arguments)[parameter.name] = _input(parameters[-1], inputs)
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
    traced = Program._of(name, parameters, result, _graph(name, inputs, outputs))
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


def _input(parameter: Parameter, inputs: list[Expr]) -> Any:
    """Return the value or array of a parameter, and append its expressions to `inputs`."""
    names = [parameter.name]
    if isinstance(parameter.spec, ArrayType):
        names = [f"{parameter.name}[{i}]" for i in range(parameter.spec.length)]
    exprs = [Expr.parameter(name, parameter.element.name) for name in names]
    inputs += exprs
    values = [parameter.element._make(expr, name) for expr, name in zip(exprs, names, strict=True)]
    return from_elements(values, parameter.spec.shape if isinstance(parameter.spec, ArrayType) else ())


def _graph(name: str, inputs: Sequence[Expr], outputs: Sequence[Value]) -> _core.Program:
    """Return the graph of the operations that the outputs depend on."""
    roots = [value._expr for value in outputs]
    match Expr.foreign(inputs, roots):
        case (str() as parameter, kind):
            raise TypeMismatchError(
                f"{name}: {parameter} ({kind}) belongs to another program, and values of different programs do not "
                "mix: declare a parameter for it"
            )
        case (None, _):
            raise TypeMismatchError(HOLDS.format(name=name))
    names = ["result"] if len(roots) == 1 else [f"result[{i}]" for i in range(len(roots))]
    return Expr.freeze(inputs, roots, names)[1]


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
    if isinstance(returned, EncryptedArray):
        # Arrays of parameters are `Array`.
        raise TypeMismatchError(HOLDS.format(name=name))
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
