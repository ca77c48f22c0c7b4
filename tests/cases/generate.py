"""Write the cases of this folder: programs on arrays, inputs, and the results that numpy gives.

Run it with Python and numpy 2: `python tests/cases/generate.py`. A case is a program file of version 2, its inputs, and
its outputs, or a part of the message with which the program refuses the inputs. All faces of Solinas run the cases.
"""

# ruff: noqa: D102, D103, D401, PLR0915, PLR0917, PLR2004, PLW0603
from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
DTYPES = {
    "bool": np.bool_,
    "u8": np.uint8,
    "u16": np.uint16,
    "u64": np.uint64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "mod257": np.int64,
}
MODULUS = 257
rng = np.random.default_rng(2)


def numbers(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random values of a type. Corner values are frequent."""
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind == "mod257":
        return rng.integers(0, MODULUS, shape)
    info = np.iinfo(DTYPES[kind])
    values = rng.integers(info.min, info.max, shape, DTYPES[kind], endpoint=True)
    corners = rng.choice(np.array([info.min, info.max, 0, 1], DTYPES[kind]), shape)
    return np.asarray(np.where(rng.random(shape) < 0.25, corners, values), DTYPES[kind])


class Program:
    """Nodes of a program, each with the value that numpy computes."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.inputs: list[dict[str, Any]] = []
        self.given: list[np.ndarray] = []
        self.functions: list[dict[str, Any]] = []

    def node(self, op: Any, args: list[int], kind: str) -> int:
        self.nodes.append({"op": op, "args": args, "type": kind})
        return len(self.nodes) - 1

    def input(self, kind: str, value: Any, exact: bool = True) -> int:
        value = np.asarray(value, DTYPES[kind])
        name = "abcdefgh"[len(self.inputs)]
        self.inputs.append({"name": name, "type": kind, "shape": list(value.shape) if exact else None})
        self.given.append(value)
        return self.node({"input": len(self.inputs) - 1}, [], kind)

    def constant(self, kind: str, value: int) -> int:
        return self.node({"const": bits(kind, value)}, [], kind)

    def array(self, kind: str, value: Any) -> int:
        value = np.asarray(value)
        values = [bits(kind, item) for item in value.ravel().tolist()]
        return self.node({"array": {"shape": list(value.shape), "values": values}}, [], kind)


def bits(kind: str, value: Any) -> int:
    """The bits of a value, in two's complement."""
    return int(value) % (MODULUS if kind == "mod257" else 1 << (8 * np.dtype(DTYPES[kind]).itemsize))


def described(kind: str, value: Any) -> dict[str, Any]:
    value = np.asarray(value)
    items = [bool(item) if kind == "bool" else int(item) for item in value.ravel().tolist()]
    return {"type": kind, "shape": list(value.shape), "values": items}


def text(kind: str, shape: tuple[int, ...]) -> str:
    return kind + (str(list(shape)) if shape else "")


cases: dict[str, list[dict[str, Any]]] = {}
topic = ""


def case(name: str, p: Program, outputs: list[tuple[int, str, Any]] | None = None, error: str | None = None) -> None:
    """Record a case: the outputs as (node, type, value of numpy), or the message."""
    found = [] if outputs is None else outputs
    nodes = [len(p.nodes) - 1] if outputs is None else [node for node, _, _ in found]
    # Where inputs may have any shape, the result is that of single values.
    exact = all(port["shape"] is not None for port in p.inputs)
    types = [text(kind, np.shape(value) if exact else ()) for _, kind, value in found]
    if outputs is None:
        types = [p.nodes[-1]["type"]]
    document = {
        "format": "solinas-program",
        "version": 2,
        "name": name,
        "inputs": p.inputs,
        "nodes": p.nodes,
        "outputs": [{"name": f"y{i}", "value": node} for i, node in enumerate(nodes)],
        "result": types[0] if len(types) == 1 else {"tuple": types},
        "functions": p.functions,
    }
    inputs = [described(port["type"], value) for port, value in zip(p.inputs, p.given, strict=True)]
    entry = {"name": name, "program": document, "inputs": inputs}
    if error is not None:
        entry["error"] = error
    else:
        entry["outputs"] = [described(kind, value) for _, kind, value in found]
    cases.setdefault(topic, []).append(entry)


def single(
    name: str, kind: str, result: str, op: Any, values: list[Any], compute: Callable[..., Any], **more: Any
) -> None:
    """A case of one operation on values of one type, or of the types that `kinds` names."""
    p = Program()
    kinds = more.get("kinds", [kind] * len(values))
    args = [p.input(k, value, more.get("exact", True)) for k, value in zip(kinds, values, strict=True)]
    node = p.node(op, args, result)
    value = compute(*p.given)
    if result == "mod257":
        value = np.asarray(value) % MODULUS
    assert result == "mod257" or np.asarray(value).dtype == DTYPES[result], (name, np.asarray(value).dtype)
    case(name, p, [(node, result, value)])


def refused(
    name: str, kind: str, op: Any, shapes: list[tuple[int, ...]], compute: Callable[..., Any], error: str
) -> None:
    """A case that numpy and Solinas refuse."""
    p = Program()
    args = [p.input(kind, numbers(kind, shape), False) for shape in shapes]
    p.node(op, args, kind)
    try:
        compute(*p.given)
    except (ValueError, IndexError, np.exceptions.AxisError):
        case(name, p, None, error)
    else:
        raise AssertionError(name)


def broadcasting() -> None:
    pairs = [
        ((), ()),
        ((3,), ()),
        ((), (2, 2)),
        ((2, 1), (3,)),
        ((4, 1, 3), (2, 1)),
        ((0,), (1,)),
        ((2, 0), ()),
        ((1,), (1, 1)),
    ]
    operations = [("add", np.add, "u8"), ("mul", np.multiply, "i16"), ("sub", np.subtract, "u64")]
    for i, (left, right) in enumerate(pairs):
        for name, ufunc, kind in operations[i % 3 :] + operations[: i % 3 - 1 if i % 3 else 0]:
            exact = i % 2 == 0
            values = [numbers(kind, left), numbers(kind, right)]
            single(f"{name} of {kind} {left} and {right}", kind, kind, name, values, ufunc, exact=exact)
    single("less of (3, 1) and (2,)", "i8", "bool", "lt", [numbers("i8", (3, 1)), numbers("i8", (2,))], np.less)
    values = [numbers("bool", (2, 1)), numbers("u8", (3,)), numbers("u8", ())]
    single("where of three shapes", "u8", "u8", "select", values, np.where, kinds=["bool", "u8", "u8"])
    p = Program()
    a = p.input("u8", numbers("u8", (2, 2)))
    node = p.node("add", [a, p.array("u8", [10, 250])], "u8")
    case("a public array repeats", p, [(node, "u8", p.given[0] + np.array([10, 250], np.uint8))])
    p = Program()
    a = p.input("u8", numbers("u8", (3,)))
    node = p.node("mul", [a, p.constant("u8", 7)], "u8")
    case("a public scalar repeats", p, [(node, "u8", p.given[0] * np.uint8(7))])
    p = Program()
    a, b, c = (p.input("u8", numbers("u8", shape), False) for shape in ((2, 1), (), (3,)))
    node = p.node("sum", [a, b, c], "u8")
    case("a sum of three shapes", p, [(node, "u8", p.given[0] + p.given[1] + p.given[2])])


def elements() -> None:
    for name, ufunc in [("neg", np.negative), ("not", np.invert), ("abs", np.abs)]:
        single(f"{name} of i8", "i8", "i8", name, [numbers("i8", (6,))], ufunc)
    single("not of bool", "bool", "bool", "not", [numbers("bool", (4,))], np.logical_not)
    one = np.array([1, -1, 3, -7, 100, -128], np.int8)
    for name, ufunc in [("div_floor", np.floor_divide), ("rem_floor", np.remainder)]:
        single(f"{name} of i8", "i8", "i8", name, [np.array([7, -7, -128, 127, 5, 0], np.int8), one + 0], ufunc)
        single(f"{name} of u16", "u16", "u16", name, [numbers("u16", (6,)), numbers("u16", (6,)) | 1], ufunc)
    single("rem of i8", "i8", "i8", "rem", [np.array([7, -7, -128, 127, 5, 0], np.int8), one + 0], np.fmod)
    for name, ufunc in [
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
        ("min", np.minimum),
        ("max", np.maximum),
    ]:
        single(f"{name} of i16", "i16", "i16", name, [numbers("i16", (5,)), numbers("i16", (5,))], ufunc)
    for name, ufunc in [
        ("eq", np.equal),
        ("ne", np.not_equal),
        ("lt", np.less),
        ("le", np.less_equal),
        ("gt", np.greater),
        ("ge", np.greater_equal),
    ]:
        values = numbers("i8", (6,))
        single(
            f"{name} of i8",
            "i8",
            "bool",
            name,
            [values, np.where([True, False] * 3, values, numbers("i8", (6,)))],
            ufunc,
        )
    amounts = np.array([0, 1, 3, 7, 5, 2], np.uint8)
    single("shl of u8", "u8", "u8", "shl", [numbers("u8", (6,)), amounts], np.left_shift)
    single("shr of u8", "u8", "u8", "shr", [numbers("u8", (6,)), amounts], np.right_shift)
    single(
        "shr of i8",
        "i8",
        "i8",
        "shr",
        [numbers("i8", (6,)), amounts],
        lambda a, b: np.right_shift(a, b.astype(np.int8)),
        kinds=["i8", "u8"],
    )
    single("count_ones of u8", "u8", "u8", "count_ones", [numbers("u8", (5,))], np.bitwise_count)
    for start, to in [("u8", "i8"), ("i8", "i32"), ("u16", "u8"), ("i8", "u64"), ("bool", "u8"), ("i32", "u16")]:
        single(
            f"cast of {start} to {to}",
            start,
            to,
            "cast",
            [numbers(start, (2, 3))],
            lambda a, to=to: a.astype(DTYPES[to]),
        )
    table = rng.integers(0, 256, 256).astype(np.uint8)
    single("lookup in a table", "u8", "u8", {"lookup": table.tolist()}, [numbers("u8", (2, 2))], lambda a: table[a])
    p = Program()
    index = p.input("u8", [[0, 2], [3, 200]])
    values = [p.input("u16", numbers("u16", shape)) for shape in ((2, 2), (), (2,), (1, 1))]
    node = p.node("index", [index, *values], "u16")
    value = np.choose(p.given[0], np.broadcast_arrays(*p.given[1:]), mode="clip")
    case("an index beyond the end gives the last value", p, [(node, "u16", value)])


HOW = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def reductions() -> None:
    def reduce(name: str, how: str, kind: str, value: np.ndarray, axes: int | None, exact: bool = True) -> None:
        count = value.ndim if axes is None else axes
        trailing = tuple(range(value.ndim - count, value.ndim))
        result = HOW[how].reduce(value, axis=trailing, dtype=DTYPES[kind]) if trailing else value
        op = {"reduce": {"how": how, "axes": axes}}
        single(name, kind, kind, op, [value], lambda _: np.asarray(result, DTYPES[kind]), exact=exact)

    for how in HOW:
        kind = "u8" if how in ("sum", "prod", "xor") else "i8"
        reduce(f"{how} along the last dimension", how, kind, numbers(kind, (2, 3)), 1)
        reduce(f"{how} of all", how, kind, numbers(kind, (2, 2)), None, how not in ("sum", "max"))
    for how, kind in [("sum", "u8"), ("prod", "u16"), ("and", "u8"), ("or", "bool"), ("xor", "u8"), ("and", "bool")]:
        reduce(f"{how} of {kind} along an empty dimension", how, kind, np.zeros((3, 0), DTYPES[kind]), 1)
    reduce("max of no rows", "max", "u8", np.zeros((0, 3), np.uint8), 1)
    reduce("sum along no dimension", "sum", "u8", numbers("u8", (2, 3)), 0)
    for how, kind, count in [
        ("sum", "u8", 16),
        ("sum", "u8", 17),
        ("sum", "u16", 257),
        ("sum", "u8", 300),
        ("max", "i16", 33),
        ("min", "u8", 100),
        ("prod", "u8", 18),
    ]:
        reduce(f"{how} of {count} values", how, kind, numbers(kind, (count,)), None)
    reduce("sum of rows of 40", "sum", "u8", numbers("u8", (5, 40)), 1)
    for how in ("sum", "max"):
        p = Program()
        a = p.input("u8", numbers("u8", (20, 3)))
        turned = p.node({"permute": [1, 0]}, [a], "u8")
        node = p.node({"reduce": {"how": how, "axes": 1}}, [turned], "u8")
        case(f"{how} along the first dimension", p, [(node, "u8", HOW[how].reduce(p.given[0], axis=0, dtype=np.uint8))])


def moves() -> None:
    def move(name: str, op: Any, shape: tuple[int, ...], compute: Callable[..., Any], kind: str = "u8") -> None:
        single(name, kind, kind, op, [numbers(kind, shape)], compute)

    move("reshape to a line", {"reshape": {"axes": 2, "to": [6]}}, (2, 3), lambda a: a.reshape(6))
    move("reshape of a scalar", {"reshape": {"axes": 0, "to": [1, 1]}}, (), lambda a: a.reshape(1, 1))
    move("reshape of the last dimension", {"reshape": {"axes": 1, "to": [2, 3]}}, (4, 6), lambda a: a.reshape(4, 2, 3))
    move("reshape of an empty array", {"reshape": {"axes": 2, "to": [0, 5]}}, (3, 0), lambda a: a.reshape(0, 5))
    move("transpose", {"permute": [1, 0]}, (2, 3), np.transpose)
    move("transpose of three dimensions", {"permute": [2, 0, 1]}, (2, 3, 4), lambda a: a.transpose(2, 0, 1))
    move("swap of the last dimensions", {"permute": [1, 0]}, (2, 3, 4), lambda a: a.swapaxes(1, 2))
    move("slice with a step", {"slice": [[1, 2, 3]]}, (7,), lambda a: a[1::2])
    move("flip", {"slice": [[4, -1, 5]]}, (5,), lambda a: a[::-1])
    move("slice of two dimensions", {"slice": [[2, -2, 2], [1, 1, 2]]}, (3, 4), lambda a: a[::-2, 1:3])
    move("slice of the last dimension", {"slice": [[0, 1, 2]]}, (3, 4), lambda a: a[:, :2])
    move("empty slice", {"slice": [[2, 1, 0]]}, (3,), lambda a: a[2:2])
    move("broadcast of a row", {"broadcast_to": [2, 3]}, (3,), lambda a: np.broadcast_to(a, (2, 3)))
    move("broadcast of a column", {"broadcast_to": [2, 3]}, (2, 1), lambda a: np.broadcast_to(a, (2, 3)))
    move("broadcast to an empty array", {"broadcast_to": [0]}, (1,), lambda a: np.broadcast_to(a, (0,)))
    move("take with repeats", {"take": [2, 0, 0, 1]}, (3,), lambda a: a.take([2, 0, 0, 1]))
    move("take of columns", {"take": [1, 1]}, (2, 3), lambda a: a[:, [1, 1]])
    move("take of nothing", {"take": []}, (3,), lambda a: a.take(np.array([], int)))
    move("roll", {"roll": {"by": 2, "axes": None}}, (5,), lambda a: np.roll(a, -2))
    move("roll of all as one", {"roll": {"by": -1, "axes": None}}, (2, 3), lambda a: np.roll(a, 1))
    move("roll of rows", {"roll": {"by": 4, "axes": 1}}, (2, 3), lambda a: np.roll(a, -4, axis=1))
    single(
        "concatenate",
        "u8",
        "u8",
        {"join": 0},
        [numbers("u8", (2,)), numbers("u8", (0,)), numbers("u8", (3,))],
        lambda *a: np.concatenate(a),
    )
    single(
        "concatenate rows",
        "i8",
        "i8",
        {"join": 1},
        [numbers("i8", (2, 3)), numbers("i8", (1, 3))],
        lambda *a: np.concatenate(a),
    )
    single(
        "concatenate columns",
        "i8",
        "i8",
        {"join": 0},
        [numbers("i8", (2, 3)), numbers("i8", (2, 1))],
        lambda *a: np.concatenate(a, axis=1),
    )
    p = Program()
    parts = [p.input("u8", numbers("u8", (2,))) for _ in range(3)]
    lines = [p.node({"reshape": {"axes": 1, "to": [1, 2]}}, [part], "u8") for part in parts]
    node = p.node({"join": 1}, lines, "u8")
    case("stack", p, [(node, "u8", np.stack(p.given))])


def compositions() -> None:
    def dot(kind: str, left: tuple[int, ...], right: tuple[int, ...]) -> tuple[Program, int]:
        p = Program()
        a, b = p.input(kind, numbers(kind, left)), p.input(kind, numbers(kind, right))
        node = p.node("mul", [a, b], kind)
        return p, p.node({"reduce": {"how": "sum", "axes": 1}}, [node], kind)

    p, node = dot("u8", (20,), (20,))
    case("dot", p, [(node, "u8", p.given[0] @ p.given[1])])
    p, node = dot("u16", (3, 5), (5,))
    case("matrix by vector", p, [(node, "u16", p.given[0] @ p.given[1])])
    p = Program()
    a, b = p.input("u8", numbers("u8", (2, 3))), p.input("u8", numbers("u8", (3, 4)))
    rows = p.node({"reshape": {"axes": 2, "to": [2, 1, 3]}}, [a], "u8")
    columns = p.node({"permute": [1, 0]}, [b], "u8")
    product = p.node("mul", [rows, columns], "u8")
    node = p.node({"reduce": {"how": "sum", "axes": 1}}, [product], "u8")
    case("matmul", p, [(node, "u8", p.given[0] @ p.given[1])])

    def best(p: Program, op: str) -> None:
        """The better one of two values, the earlier one of equal values, and its index."""
        ports = [{"name": name, "type": "u8", "shape": None} for name in ("a", "i", "b", "j")]
        nodes = [{"op": {"input": i}, "args": [], "type": "u8"} for i in range(4)]
        nodes.append({"op": op, "args": [2, 0], "type": "bool"})
        nodes += [{"op": "select", "args": [4, right, left], "type": "u8"} for left, right in ((0, 2), (1, 3))]
        outputs = [{"name": "value", "value": 5}, {"name": "index", "value": 6}]
        p.functions.append({"program": {"inputs": ports, "nodes": nodes, "outputs": outputs, "functions": []}})

    for name, op, compute in [("argmax", "gt", np.argmax), ("argmin", "lt", np.argmin)]:
        for label, values in [
            ("of ties", [[3, 7, 7, 1, 7], [0, 0, 0, 0, 0]]),
            ("of rows", rng.integers(0, 9, (3, 21))),
        ]:
            p = Program()
            a = p.input("u8", values)
            best(p, op)
            count = p.given[0].shape[1]
            index = p.node({"broadcast_to": list(p.given[0].shape)}, [p.array("u8", np.arange(count))], "u8")
            value = p.node({"reduce": {"how": {"function": 0}, "axes": 1}}, [a, index], "u8")
            node = p.node({"result": 1}, [value], "u8")
            extreme = np.max if name == "argmax" else np.min
            found = [
                (value, "u8", extreme(p.given[0], axis=1)),
                (node, "u8", compute(p.given[0], axis=1).astype(np.uint8)),
            ]
            case(f"{name} {label}", p, found)
    p = Program()
    value = p.input("u8", numbers("u8", (10,)))
    for step in (1, 2, 4, 8):
        head = p.node({"slice": [[0, 1, step]]}, [value], "u8")
        left = p.node({"slice": [[0, 1, 10 - step]]}, [value], "u8")
        right = p.node({"slice": [[step, 1, 10 - step]]}, [value], "u8")
        value = p.node({"join": 0}, [head, p.node("add", [left, right], "u8")], "u8")
    case("cumsum", p, [(value, "u8", np.cumsum(p.given[0], dtype=np.uint8))])
    p = Program()
    value = p.input("i8", numbers("i8", (8,)))
    size = 2
    while size <= 8:
        step = size // 2
        while step:
            places = np.arange(8)
            partner = p.node({"take": (places ^ step).tolist()}, [value], "i8")
            low, high = p.node("min", [value, partner], "i8"), p.node("max", [value, partner], "i8")
            first = ((places & step) == 0) == ((places & size) == 0)
            value = p.node("select", [p.array("bool", first), low, high], "i8")
            step //= 2
        size *= 2
    case("sort", p, [(value, "i8", np.sort(p.given[0]))])
    p = Program()
    a = p.input("u8", numbers("u8", (2, 3)))
    zeros = p.node({"broadcast_to": [2, 1]}, [p.constant("u8", 0)], "u8")
    node = p.node({"join": 0}, [zeros, a, zeros], "u8")
    case("pad", p, [(node, "u8", np.pad(p.given[0], ((0, 0), (1, 1))))])
    p = Program()
    a, b = p.input("i8", numbers("i8", (4,))), p.input("i8", numbers("i8", (4,)))
    less = p.node("lt", [a, b], "bool")
    some = p.node({"reduce": {"how": "or", "axes": None}}, [less], "bool")
    every = p.node({"reduce": {"how": "and", "axes": None}}, [less], "bool")
    low = p.node("select", [less, a, b], "i8")
    is_less = p.given[0] < p.given[1]
    values = [(some, "bool", is_less.any()), (every, "bool", is_less.all()), (low, "i8", np.minimum(*p.given))]
    case("any, all and where", p, values)


def modular() -> None:
    def run(name: str, op: Any, shapes: list[tuple[int, ...]], compute: Callable[..., Any], exact: bool = True) -> None:
        values = [numbers("mod257", shape) for shape in shapes]
        single(name, "mod257", "mod257", op, values, compute, exact=exact)

    run("products modulo 257", "mul", [(5,), (5,)], np.multiply, False)
    run("differences with a scalar modulo 257", "sub", [(2, 3), ()], np.subtract)
    run("negation modulo 257", "neg", [(4,)], np.negative)
    run("sum modulo 257", {"reduce": {"how": "sum", "axes": None}}, [(7,)], np.sum, False)
    run("sum of rows and columns modulo 257", {"reduce": {"how": "sum", "axes": 2}}, [(2, 3)], np.sum)
    run("roll modulo 257", {"roll": {"by": 3, "axes": None}}, [(5,)], lambda a: np.roll(a, -3), False)
    run("reshape modulo 257", {"reshape": {"axes": 2, "to": [6]}}, [(2, 3)], lambda a: a.reshape(6))
    p = Program()
    a, b = p.input("mod257", numbers("mod257", (6,)), False), p.input("mod257", numbers("mod257", (6,)), False)
    product = p.node("mul", [a, b], "mod257")
    total = p.node({"reduce": {"how": "sum", "axes": None}}, [product], "mod257")
    node = p.node("sub", [a, total], "mod257")
    value = int(p.given[0] @ p.given[1]) % MODULUS
    case(
        "a dot product and differences from it",
        p,
        [(total, "mod257", value), (node, "mod257", (p.given[0] - value) % MODULUS)],
    )


def refusals() -> None:
    aligned = "counted from the end, must be equal or 1"
    refused("shapes that do not broadcast", "u8", "add", [(2,), (3,)], np.add, aligned)
    refused("shapes that do not broadcast in front", "u8", "mul", [(2, 3), (3, 3)], np.multiply, aligned)
    refused(
        "a reshape to another size",
        "u8",
        {"reshape": {"axes": 1, "to": [4]}},
        [(3,)],
        lambda a: a.reshape(4),
        "give a shape of 3 elements",
    )
    refused("an index beyond the end", "u8", {"take": [3]}, [(3,)], lambda a: a.take([3]), "give indices below 3")
    refused(
        "a join of other widths",
        "u8",
        {"join": 1},
        [(2, 3), (2, 2)],
        lambda *a: np.concatenate(a),
        "differ in that dimension alone",
    )
    refused(
        "the largest of nothing",
        "u8",
        {"reduce": {"how": "max", "axes": None}},
        [(0,)],
        np.max,
        "give at least one element",
    )
    refused(
        "a broadcast to fewer elements",
        "u8",
        {"broadcast_to": [2]},
        [(3,)],
        lambda a: np.broadcast_to(a, (2,)),
        "does not broadcast to [2]",
    )
    refused(
        "a transpose of a line",
        "u8",
        {"permute": [1, 0]},
        [(3,)],
        lambda a: a.transpose(1, 0),
        "names the last 2 dimensions",
    )


def main() -> None:
    global topic
    for make in (broadcasting, elements, reductions, moves, compositions, modular, refusals):
        topic = make.__name__
        with np.errstate(over="ignore"):
            make()
    names = [entry["name"] for entries in cases.values() for entry in entries]
    assert len(set(names)) == len(names), "two cases have one name"
    for name, entries in cases.items():
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n")
    print(f"{len(names)} cases; {math.fsum(map(len, cases.values())):.0f} in {len(cases)} files")


if __name__ == "__main__":
    main()
