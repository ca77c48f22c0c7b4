import contextlib
import json
import pickle
import signal
import textwrap
import threading
import tracemalloc
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import solinas as sl


@sl.program
def auction(a: sl.U32, b: sl.U32) -> sl.U32:
    """Return the price."""
    return sl.select(a > b, a * b, a + b)


@sl.program
def many(xs: sl.Array[sl.U8, 4], k: sl.U8) -> tuple[sl.U8, sl.Bool, sl.Array[sl.U8, 4]]:
    return xs.sum() + k, xs[0] == k, xs[::-1]


def test_program_keeps_name_and_docstring():
    assert auction.__doc__ == "Return the price."
    assert repr(auction) == "<program auction(a: u32, b: u32) -> u32>"
    assert repr(many) == "<program many(xs: Array[u8, 4], k: u8) -> (u8, bool, Array[u8, 4])>"


def test_simulate_takes_scalars_lists_and_arrays():
    assert auction.simulate(1234, 99) == 122166
    assert auction.simulate(b=1234, a=99) == 1333
    assert auction.simulate(sl.u32(3), np.uint32(5)) == 8
    out = auction.simulate(np.array([[1, 2], [3, 4]], dtype=np.uint32), 2)
    assert out.dtype == np.uint32
    assert out.tolist() == [[3, 4], [6, 8]]
    total, same, rest = many.simulate([[1, 2, 3, 4], [5, 6, 7, 8]], [1, 2])
    assert total.tolist() == [11, 28]
    assert same.tolist() == [True, False]
    assert rest.tolist() == [[4, 3, 2, 1], [8, 7, 6, 5]]


def test_values_beyond_64_bits_come_back_as_python_integers():
    @sl.program
    def f(a: sl.U128, b: sl.U128):
        return a + b

    out = f.simulate([2**127, 1], 2**100)
    assert out.dtype == object
    assert out.tolist() == [2**127 + 2**100, 1 + 2**100]


def test_calls_inline_one_program_in_another():
    @sl.program
    def twice(a: sl.U32) -> sl.U32:
        return auction(auction(a, 2), a)

    assert twice.simulate(7) == 98
    assert int(twice(sl.u32(7))) == 98
    total, _, rest = many(sl.Array([sl.u8(i) for i in range(4)]), 1)
    assert int(total) == 7
    assert [int(x) for x in rest] == [3, 2, 1, 0]


def test_annotations_may_be_strings_and_local():
    namespace = {}
    source = """
        from __future__ import annotations
        import solinas as sl
        def make(n):
            U12 = sl.uint(12)
            @sl.program
            def f(a: U12, xs: sl.Array[U12, n]) -> U12:
                return a + xs.sum()
            return f
        f = make(3)
    """
    exec(textwrap.dedent(source), namespace)
    assert namespace["f"].simulate(4090, [1, 2, 3]) == 0


def test_subclasses_name_any_width():
    class U12(sl.UInt, width=12):
        pass

    @sl.program
    def f(a: U12) -> sl.uint(12):
        return a + 1

    assert f.simulate(4095) == 0


def test_an_array_is_read_at_an_encrypted_index():
    @sl.program
    def pick(xs: sl.Array[sl.I8, 5], i: sl.U8) -> sl.I8:
        return xs[i]

    values = [-1, 2, -3, 4, -5]
    assert [pick.simulate(values, i) for i in range(7)] == [*values, -5, -5]


def test_arrays_work_element_by_element():
    @sl.program
    def f(xs: sl.Array[sl.I16, 3], y: sl.I16):
        zs = 100 - xs * y
        return sl.select(zs > 0, zs, 0), abs(-zs), sl.maximum(xs, y), (xs << 1).cast(sl.I8), -xs // 2 % 5

    out = f.simulate([1, 50, -7], 3)
    assert [part.tolist() for part in out] == [
        [97, 0, 121],
        [97, 50, 121],
        [3, 50, 3],
        [2, 100, -14],
        [0, 0, 3],
    ]


def test_constants_may_be_returned_where_annotated():
    @sl.program
    def f(a: sl.U8) -> tuple[sl.U8, sl.U16]:
        return a, 300

    assert f.simulate(1) == (1, 300)


def test_cost_names_bootstraps_and_depth():
    cost = auction.cost()
    assert 0 < cost.depth < cost.bootstraps
    assert cost.seconds is None
    assert auction.cost("gates-128").bootstraps > cost.bootstraps
    with pytest.raises(sl.ParameterError, match="integers-128"):
        auction.cost("none")


def test_draw_gives_svg(tmp_path):
    for text in (auction.draw(), auction.draw(gates=True), many.draw(tmp_path / "many.svg")):
        assert ET.fromstring(text).tag.endswith("svg")
    assert (tmp_path / "many.svg").read_text() == many.draw()
    assert auction.draw(tmp_path / "f.dot").startswith("digraph")


def test_save_and_load(tmp_path):
    path = tmp_path / "many.json"
    many.save(path)
    loaded = sl.Program.load(path)
    assert repr(loaded) == repr(many)
    total, same, rest = loaded.simulate([1, 2, 3, 4], 1)
    assert (total, same, rest.tolist()) == (11, True, [4, 3, 2, 1])
    assert [p.name for p in tmp_path.iterdir()] == ["many.json"]


def test_program_files_that_cannot_be_read_or_written_are_named(tmp_path):
    for wrong in (auction.save, auction.draw, sl.Program.load):
        with pytest.raises(sl.FileError, match=r"none.+f\.json"):
            wrong(tmp_path / "none" / "f.json")


@pytest.mark.parametrize("key", ["client.key", "server.key", "private.pem"])
def test_no_key_file_is_replaced(integers, tmp_path, key):
    client, server = integers
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    (tmp_path / "private.pem").write_text("-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n")
    circuit = sl.Circuit("2 6\n2 2 2\n1 2\n2 1 0 2 4 XOR\n2 1 1 3 5 AND\n")
    value = client.encrypt(sl.u8(1))
    for write, suffix in [
        (auction.save, ".json"),
        (auction.draw, ".svg"),
        (circuit.save, ".blif"),
        (circuit.draw, ".dot"),
        (value.save, ".ct"),
    ]:
        path = tmp_path / f"copy{suffix}"
        content = (tmp_path / key).read_bytes()
        path.write_bytes(content)
        with pytest.raises(sl.FileError, match=r"copy\..* already exists"):
            write(path)
        assert path.read_bytes() == content


def test_files_that_are_no_program_are_named(integers, tmp_path):
    client, _ = integers
    for name, saved in (("a.ct", client.encrypt(sl.u8(1))), ("client.key", client)):
        saved.save(tmp_path / name)
        for what, load in (("program", sl.Program.load), ("circuit", sl.Circuit.load)):
            with pytest.raises(sl.FormatError, match=f"{name}' is not a {what}: it is a binary file of solinas"):
                load(tmp_path / name)
    path = tmp_path / "x"
    path.write_bytes(b"\xff")
    with pytest.raises(sl.FormatError, match="x' is not a program: it is not text in UTF-8"):
        sl.Program.load(path)
    auction.save(tmp_path / "f.json")
    document = json.loads((tmp_path / "f.json").read_text())
    del document["nodes"]
    for wrong in (document, document | {"format": "other"}, document | {"result": "u9999"}):
        path.write_text(json.dumps(wrong))
        with pytest.raises(sl.FormatError, match="/x: "):
            sl.Program.load(path)


@given(st.data())
def test_damaged_program_files_are_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("p") / "f.json"
    auction.save(path)
    text = path.read_text()
    at = data.draw(st.integers(0, len(text) - 1))
    path.write_text(text[:at])
    with pytest.raises(sl.FormatError, match=r"f\.json"):
        sl.Program.load(path)
    path.write_text(text[:at] + data.draw(st.characters(codec="ascii")) + text[at + 1 :])
    with contextlib.suppress(sl.SolinasError):
        assert isinstance(sl.Program.load(path), sl.Program)


def old_file(name: str) -> dict:
    """Return a file of version 1."""
    folder = Path(__file__).resolve().parents[2] / "crates" / "circuits" / "tests" / "data" / "programs"
    return json.loads((folder / name).read_text())


@pytest.mark.parametrize("field", ["parameters", "result"])
def test_lengths_are_checked_before_anything_is_made(tmp_path, field):
    path = tmp_path / "f.json"
    for length in (4_000_000, -1):
        long = ["u32", length]
        changed = [{"name": "age", "type": long}] if field == "parameters" else long
        path.write_text(json.dumps(old_file("python.json") | {field: changed}))
        tracemalloc.start()
        with pytest.raises(sl.FormatError, match="inputs or outputs of its graph are not|is not the type"):
            sl.Program.load(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1 << 20


def test_files_of_version_1_are_read_and_written_as_version_2(tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps(old_file("python.json")))
    risk = sl.Program.load(path)
    assert repr(risk) == "<program risk(age: u32, dose: u32) -> u32>"
    risk.save(path)
    assert json.loads(path.read_text())["version"] == 2
    assert sl.Program.load(path).simulate([70, 60], 3).tolist() == [210, 6]


def test_files_that_contradict_themselves_are_refused(tmp_path):
    @sl.program
    def f(a: sl.Array[sl.U8, 3], k: sl.U8 = 1) -> sl.Array[sl.U8, 3]:
        return a + k

    path = tmp_path / "f.json"
    f.save(path)
    document = json.loads(path.read_text())
    (a, k), result = document["python"]["parameters"], document["python"]["result"]
    for parameters, returned in (
        ([a], result),
        ([a, k, k], result),
        ([k, a], result),
        ([a | {"type": ["u8", 4]}, k], result),
        ([a | {"type": ["u16", 3]}, k], result),
        ([a, k], "u8"),
        ([a, k], {"tuple": [result, result]}),
        ([a, k | {"default": 256}], result),
    ):
        path.write_text(json.dumps(document | {"python": {"parameters": parameters, "result": returned}}))
        with pytest.raises(sl.FormatError, match=r"damaged|not that of its graph"):
            sl.Program.load(path)


def test_planning_has_limits_and_can_be_interrupted():
    @sl.program
    def many(xs: sl.Array[sl.U128, 2000]) -> sl.Array[sl.U128, 1999]:
        return sl.Array([a // b for a, b in zip(xs, list(xs)[1:], strict=False)])

    @sl.program
    def some(xs: sl.Array[sl.U128, 101]) -> sl.Array[sl.U128, 100]:
        return sl.Array([a // b for a, b in zip(xs, list(xs)[1:], strict=False)])

    with pytest.raises(sl.SolinasError, match="needs about .*split the program"):
        many.cost()
    # Install Python's handler, in case the tests were started with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            some.cost("gates-128")
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


def test_files_of_a_later_version_are_refused(tmp_path):
    path = tmp_path / "f.json"
    auction.save(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"version": 3}))
    with pytest.raises(sl.FormatError, match="update solinas"):
        sl.Program.load(path)


def refused(annotations, body, **options):
    body.__annotations__ = annotations
    return pytest.raises((sl.TypeMismatchError, sl.RangeError, sl.ShapeError), **options)


@pytest.mark.parametrize(
    ("annotations", "body", "message"),
    [
        (
            {"a": sl.U8, "b": sl.U16},
            lambda a, b: a + b,
            r"\+ does not take a \(u8\) and b \(u16\).*Cast the u8.*sl.U16",
        ),
        ({"a": sl.U8, "b": sl.Bool}, lambda a, b: a + b, r"Cast the bool, as in .cast\(sl.U8\)"),
        ({"a": sl.U8, "b": sl.I8}, lambda a, b: a < b, r"< does not take a \(u8\) and b \(i8\)"),
        ({"a": sl.uint(12), "b": sl.I8}, lambda a, b: a ^ b, r"cast\(sl.uint\(12\)\)"),
        ({"a": sl.U8}, lambda a: a + 256, r"\+ with a \(u8\): 256 is out of range"),
        ({"a": sl.U8}, lambda a: a - True, "write 1 for it"),
        ({"a": sl.U8}, lambda a: a / 2, "divide with //"),
        ({"a": sl.U8}, lambda a: a if a > 1 else 2, r"\(a > 1\) \(bool\) has no truth value.*sl.select"),
        ({"a": sl.U8}, lambda a: range(a), "not a Python integer"),
        ({"a": sl.U8}, lambda a: 1 << a, "left operand has no type"),
        ({"a": sl.U8}, lambda a: a << -1, "amount -1 is negative"),
        ({"a": sl.U8, "b": sl.I8}, lambda a, b: a << b, r"<< does not take a \(u8\) and b \(i8\)"),
        ({"a": sl.U8}, lambda a: sl.select(a, 1, a), "condition of select must be a bool"),
        ({"a": sl.U8}, lambda a: sl.select(a > 1, 1, 2), "neither has a type"),
        ({"a": sl.U8}, lambda a: sl.lookup([1, 2], a), "needs a table of 256 entries"),
        ({"a": sl.U16}, lambda a: sl.lookup([1, 2], a), "at most 8 bits"),
        ({"a": sl.U8}, lambda a: a.cast(int), "give a type such as"),
        ({"a": sl.Array[sl.U8, 3]}, lambda a: a + [1, 2], "one shape"),
        ({"a": sl.Array[sl.U8, 3]}, lambda a: 1 in a, "any"),
        ({"a": sl.U8, "return": sl.U16}, lambda a: a, r"returns a \(u8\), but is annotated u16"),
        ({"a": sl.U8, "return": tuple[sl.U8, sl.U8]}, lambda a: (a,), "returns a tuple of 1"),
        ({"a": sl.U8, "return": int}, lambda a: a, "the type of the result must be"),
        ({"a": sl.U8}, lambda a: None, "returns None"),
        ({"a": int}, lambda a: a, "parameter a needs a type as its annotation"),
        ({}, lambda a: a, "parameter a needs a type as its annotation"),
        ({"a": sl.U8}, lambda *a: a, r"must not have \* or"),
        ({}, lambda: 1, "at least one parameter"),
    ],
)
def test_mistakes_are_named_when_traced(annotations, body, message):
    with refused(annotations, body, match=message):
        sl.program(body)


def test_mistakes_are_named_when_called():
    with pytest.raises(sl.TypeMismatchError, match="missing a required argument: 'b'"):
        auction.simulate(1)
    with pytest.raises(sl.TypeMismatchError, match="missing a required argument"):
        auction.simulate(1, c=2)
    with pytest.raises(sl.RangeError, match="argument b: -1 is out of range for u32"):
        auction.simulate(1, -1)
    with pytest.raises(sl.TypeMismatchError, match=r"argument a is 1.5"):
        auction.simulate(1.5, 1)
    with pytest.raises(sl.ShapeError, match="one shape"):
        auction.simulate([1, 2], [1, 2, 3])
    with pytest.raises(sl.ShapeError, match="4 elements"):
        many.simulate([1, 2, 3], 1)
    with pytest.raises(sl.ShapeError, match="rows of one length"):
        auction.simulate([[1], [1, 2]], 1)


def test_empty_arguments_are_refused_when_called(integers):
    client, _ = integers
    x = client.encrypt(sl.u32(1))
    for empty in ([], [[]], np.array([], np.uint32)):
        for call in (
            lambda empty=empty: auction(x, empty),
            lambda empty=empty: auction(empty, x),
        ):
            with pytest.raises(sl.ShapeError, match="empty array"):
                call()
    with pytest.raises(sl.ShapeError, match="empty array"):
        many(np.zeros((0, 4), np.uint8), client.encrypt(sl.u8(1)))


def test_plain_arrays_may_be_empty():
    assert auction.simulate(1, np.zeros((2, 0), np.uint32)).shape == (2, 0)
    assert [part.shape for part in many.simulate(np.zeros((0, 4), np.uint8), 1)] == [(0,), (0,), (0, 4)]


def test_values_of_two_programs_do_not_mix():
    kept = []

    @sl.program
    def f(a: sl.U8):
        kept.append(a)
        return a

    with pytest.raises(sl.TypeMismatchError, match="different programs"):

        @sl.program
        def g(a: sl.U8):
            return a + kept[0]


def test_values_are_not_hashable_and_pickle_when_plain():
    with pytest.raises(TypeError, match="unhashable"):
        hash(sl.u8(1))
    assert int(pickle.loads(pickle.dumps(sl.u8(7)))) == 7


def test_widths_outside_1_to_2048_are_refused():
    for width in (0, 2049, -1):
        with pytest.raises(sl.RangeError, match="1 to 2048"):
            sl.uint(width)
    with pytest.raises(TypeError, match="has no width"):
        sl.UInt(3)
    with pytest.raises(sl.TypeMismatchError, match="positive integer"):
        sl.Array[sl.U8, 0]
