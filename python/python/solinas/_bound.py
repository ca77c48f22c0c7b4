"""Arrays that are bound to a server. Each of their operators and methods runs there at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from solinas import _core
from solinas._array import Array, Axis
from solinas._cipher import EncryptedArray, take
from solinas._data import encode
from solinas._errors import ShapeError, TypeMismatchError
from solinas._integers import SHIFTS, U8, Modular, type_named
from solinas._operators import Elementwise
from solinas._shapes import NdArray, Shape, broadcast, broadcast_indices, flatten
from solinas._trace import Trace
from solinas._values import Bool, Value

if TYPE_CHECKING:
    from solinas._keys import ServerKey

T_co = TypeVar("T_co", bound=Value, covariant=True)

# An input of the core's `run`: a ciphertext, or the type, shape and bits of public values.
Input = _core.Ciphertext | tuple[str, list[int] | None, list[int]]


class BoundArray(Elementwise, Generic[T_co]):
    """An encrypted array that is bound to a server. It has numpy's operators and methods, which run there at once.

    The other operand is an array that is bound to the same server, a public array, or a single value. Shapes broadcast.
    A program is faster than a sequence of operators, because the server runs its independent operations in parallel.
    One ciphertext holds many integers modulo a number. Arrays of them have operators, `sum`, `dot` and `rotate`, but
    cannot be indexed.
    """

    __slots__ = ("_inner", "_server")

    _inner: _core.Ciphertext
    _server: ServerKey

    def __init__(self) -> None:
        raise TypeError("a bound array cannot be constructed: call ServerKey.bind")

    @classmethod
    def _wrap(cls, server: ServerKey, core: _core.Ciphertext) -> Any:
        """Return a bound array, or a bound value for a scalar ciphertext."""
        if core.shape is None:
            return type_named(core.type_name)._make(server, core)
        array: BoundArray[Any] = cls.__new__(cls)
        array._server, array._inner = server, core
        return array

    @property
    def type(self) -> type[T_co]:
        """The type of each element."""
        return type_named(self._inner.type_name)  # type: ignore[return-value]

    @property
    def _kind(self) -> Any:
        return self.type

    @property
    def shape(self) -> Shape:
        """The size of each dimension, outermost first."""
        return tuple(self._inner.shape or ())

    @property
    def encrypted(self) -> EncryptedArray[T_co]:
        """The array as a ciphertext, which no longer refers to the server."""
        result: EncryptedArray[T_co] = EncryptedArray.__new__(EncryptedArray)
        result._inner = self._inner
        return result

    def __repr__(self) -> str:
        return f"<array of {self._inner.type_name}, shape {self.shape}, bound to a server>"

    def _repr_html_(self) -> str:
        from solinas._html import table

        rows = {"type": self._inner.type_name, "shape": self.shape, "bound to key": self._inner.key_id[:8]}
        return table("bound array", rows)

    @property
    def _packed(self) -> bool:
        return self._inner.form == "slots"

    def _take(self, indices: list[int], shape: Shape) -> Any:
        return self._wrap(self._server, take(self._inner, indices, shape))

    @staticmethod
    def _joined(sources: Sequence[Any]) -> BoundArray[Any]:
        """Return one vector of the elements of bound arrays and values, in order."""
        bound = next(x for x in sources if isinstance(x, BoundArray) or getattr(x, "is_bound", False))
        server = bound._server if isinstance(bound, BoundArray) else bound._context
        cores = [BoundArray._core_of(server, x) for x in sources]
        if None in cores:
            raise TypeMismatchError(
                f"a bound array can be joined with bound arrays only, got {list(sources)!r}: encrypt and bind the "
                "others"
            )
        size = sum(core.shape is None or x.size for core, x in zip(cores, sources, strict=True) if core is not None)
        return BoundArray._wrap(server, _core.Ciphertext.stack([core for core in cores if core], [size]))  # type: ignore[no-any-return]

    @staticmethod
    def _core_of(server: ServerKey, operand: Any) -> _core.Ciphertext | None:
        """Return the ciphertext of a bound operand, or None for a public one."""
        context = operand._server if isinstance(operand, BoundArray) else getattr(operand, "_context", None)
        if context is None:
            return None
        if context is not server:
            raise TypeMismatchError(
                f"{operand!r} belongs to another program or server: pass it as an argument of a program, or bind both "
                "to one server"
            )
        core: _core.Ciphertext = operand._inner if isinstance(operand, BoundArray) else operand._data
        return core

    @staticmethod
    def _elementwise(function: Callable[..., Any], *operands: Any) -> Any:
        first = next(operand for operand in operands if isinstance(operand, BoundArray))
        server, trace = first._server, Trace()
        cores = [BoundArray._core_of(server, operand) for operand in operands]
        parts: list[tuple[Shape | None, list[Any]]] = [
            (tuple(core.shape) if core.shape else None, []) if core else _public(operand)
            for core, operand in zip(cores, operands, strict=True)
        ]
        shape = broadcast([own for own, _ in parts if own is not None])
        kinds = [type_named(core.type_name) for core in cores if core]
        kind: type[Value] = next((kind for kind in kinds if kind is not Bool), Bool)
        arguments: list[Any] = []
        inputs: list[Input] = []
        traced: dict[int, Value] = {}
        for operand, core, (own, items) in zip(operands, cores, parts, strict=True):
            if core is None and own is None:
                arguments.append(operand)
                continue
            if core is None:
                assert own is not None
                inputs.append(_public_input(operand, own, items, shape, U8 if function in SHIFTS else kind))
                of_input = type_named(inputs[-1][0])  # type: ignore[index]
            elif id(core) in traced:
                arguments.append(traced[id(core)])
                continue
            else:
                inputs.append(core if own in {None, shape} else broadcast_to(core, shape))
                of_input = type_named(core.type_name)
            arguments.append(trace.input(of_input, f"operand {len(arguments)}"))
            if core is not None:
                traced[id(core)] = arguments[-1]
        result = function(*arguments)
        results = result if isinstance(result, tuple) else (result,)
        outputs = [BoundArray._wrap(server, output) for output in server._run_core(trace.finish(results), inputs)]
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    def _run_unrolled(self, what: str, function: Callable[..., Any], *operands: Any) -> Any:
        """Run an operation of `Array` on the server. At least one of the operands is this array."""
        server, trace = self._server, Trace()
        arguments: list[Any] = []
        inputs: list[Input] = []
        for operand in operands:
            core = self._core_of(server, operand)
            if core is None:
                arguments.append(operand)
                continue
            if core.form == "slots":
                raise TypeMismatchError(
                    f"{what} is not available for an array of {core.type_name}, whose elements share ciphertexts. One "
                    "of one "
                    "dimension has sum(), dot(vector) and rotate(by): encrypt each row by itself, or use scheme tfhe"
                )
            kind, shape = type_named(core.type_name), tuple(core.shape or ())
            size = operand.size if isinstance(operand, BoundArray) else 1
            values = [trace.input(kind, f"{len(arguments)}[{i}]") for i in range(size)]
            inputs += [core.take([i], None) for i in range(size)] if shape else [core]
            arguments.append(Array._from_elements(values, shape))
        result = function(*arguments)
        items, shape = (result._items, result.shape) if isinstance(result, Array) else ((result,), ())
        outputs = server._run_core(trace.finish(items), inputs)
        if not shape:
            return self._wrap(server, outputs[0])
        return self._wrap(server, _core.Ciphertext.stack(outputs, list(shape)))

    def _reduced(self, what: str, axis: Axis, keepdims: bool) -> Any:
        return self._run_unrolled(what, lambda array: getattr(array, what)(axis, keepdims=keepdims), self)

    def sum(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Add the elements along one axis, several axes, or all axes (the default).

        A sum wraps in the type of the elements: if it may not fit, cast them to a wider type first. The sum of bools is
        the number of true elements.
        """
        if self._packed and not keepdims and (axis is None or (self.ndim == 1 and axis in {0, -1})):
            return self._elementwise(lambda x: x.sum(), self)
        return self._reduced("sum", axis, keepdims)

    def prod(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Multiply the elements along one axis, several axes, or all axes (the default).

        A product wraps in the type of the elements: if it may not fit, cast them to a wider type first.
        """
        return self._reduced("prod", axis, keepdims)

    def max(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the largest element along one axis, several axes, or all axes (the default)."""
        return self._reduced("max", axis, keepdims)

    def min(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return the smallest element along one axis, several axes, or all axes (the default)."""
        return self._reduced("min", axis, keepdims)

    def argmax(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index of the largest element along an axis, or row by row in the whole array (the default).

        If several elements are equal, the index is that of the first. Its type is `u8`, or `u16` or `u32` in longer
        arrays.
        """
        return self._reduced("argmax", axis, keepdims)

    def argmin(self, axis: int | None = None, *, keepdims: bool = False) -> Any:
        """Return the index of the smallest element along an axis, or row by row in the whole array (the default).

        If several elements are equal, the index is that of the first. Its type is `u8`, or `u16` or `u32` in longer
        arrays.
        """
        return self._reduced("argmin", axis, keepdims)

    def any(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether any bool is true, along one axis, several axes, or all axes (the default)."""
        return self._reduced("any", axis, keepdims)

    def all(self, axis: Axis = None, *, keepdims: bool = False) -> Any:
        """Return whether every bool is true, along one axis, several axes, or all axes (the default)."""
        return self._reduced("all", axis, keepdims)

    def cumsum(self, axis: int | None = None) -> Any:
        """Return the running sums along an axis, or of all elements row by row if no axis is given. Sums wrap."""
        return self._run_unrolled("cumsum", lambda array: array.cumsum(axis), self)

    def cast(self, to: Any) -> Any:
        """Cast every element to another type."""
        return self._elementwise(lambda x: x.cast(to), self)

    def rotate(self, by: int) -> BoundArray[T_co]:
        """Rotate the elements `by` positions to the left, as `np.roll(x, -by)` does.

        Raises TypeMismatchError unless the elements are integers modulo a number.
        """
        if not issubclass(self.type, Modular):
            raise TypeMismatchError(
                f"rotate takes integers modulo a number (scheme bgv or ntru), got {self!r}: write np.roll(x, -by)"
            )
        rotated: BoundArray[T_co] = self._elementwise(lambda x: x.rotate(by), self)
        return rotated

    def dot(self, other: Any) -> Any:
        """Return the dot product of two vectors or the product of two matrices, as `@` does.

        The other operand may be public. A single value multiplies every element.
        """
        if isinstance(other, NdArray) or flatten(other)[0]:
            return self @ other
        # A single value multiplies every element. In slots the products are added too, as in a program.
        return self._elementwise(lambda x: x.dot(other), self) if self._packed else self * other

    def __matmul__(self, other: Any) -> Any:
        return self._product(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._product(other, self)

    def _product(self, a: Any, b: Any) -> Any:
        shapes = [x.shape if isinstance(x, NdArray) else flatten(x)[0] for x in (a, b)]
        if self._packed and shapes[0] == shapes[1] and len(shapes[0] or ()) == 1:
            return self._elementwise(lambda x, y: x.dot(y), a, b)
        return self._run_unrolled("@", Array._matmul, a, b)


def _public(operand: Any) -> tuple[Shape | None, list[Any]]:
    """Return the shape and the elements of a public operand. The shape of a single value is None."""
    if isinstance(operand, Value):
        return None, [operand]
    if isinstance(operand, NdArray) and not isinstance(operand, Array):
        raise TypeMismatchError(f"{operand!r} is not bound to a server: bind it first, as in server.bind(x)")
    return flatten(operand)


def _public_input(operand: Any, own: Shape, items: list[Any], shape: Shape, kind: type[Value]) -> Input:
    """Return public values as an input of the core, broadcast to a shape.

    Typed values and bools keep their type. Python integers take the type `kind` of the other operands.
    """
    if isinstance(items[0], Value):
        kind = type(items[0])
    elif isinstance(items[0], bool):
        kind = Bool
    bits = [encode(kind, item, f"an element of {type(operand).__name__}") for item in items]
    return kind.name, list(shape), [bits[index] for index in broadcast_indices(own, shape)]


def broadcast_to(core: _core.Ciphertext, shape: Shape) -> _core.Ciphertext:
    """Broadcast an array to a shape. Raises ShapeError if its elements share ciphertexts."""
    if core.form == "slots":
        raise ShapeError(
            f"an array of {core.type_name} of shape {tuple(core.shape or ())} cannot be broadcast to {shape}: its "
            "elements share ciphertexts; encrypt an array of that shape, or a single value"
        )
    return core.take(broadcast_indices(tuple(core.shape or ()), shape), list(shape))
