"""Containers that say more than their elements are refused, or keep what they say."""

import collections
import sys
import threading
import typing

import numpy as np
import pandas as pd
import pytest

import solinas as sl

Pair = collections.namedtuple("Pair", "a b")
MASKED = np.ma.array([1, 99, 3], mask=[False, True, False], dtype=np.uint8)
PLAIN = np.array([1, 2, 3], dtype=np.uint8)
REFUSED = {
    "masked": MASKED,
    "masked without a mask": np.ma.array(PLAIN),
    "masked element": np.ma.masked,
    "matrix": PLAIN.reshape(1, 3).view(np.matrix),
    "records": np.array([(1, 2)], dtype=[("a", "u1"), ("b", "u1")]),
    "record": np.array([(1, 2)], dtype=[("a", "u1"), ("b", "u1")])[0],
    "record array": np.rec.array([(1, 2)], dtype=[("a", "u1"), ("b", "u1")]),
    "dates": np.array(["2026-01-01"] * 3, dtype="datetime64[ns]"),
    "date": np.datetime64(5, "ns"),
    "times": np.array([1, 2, 3], dtype="timedelta64[ns]"),
    "series of dates": pd.Series(pd.to_datetime(["2026-01-01"] * 3)),
    "nullable": pd.Series([1, None, 3], dtype="Int64"),
    "nullable bools": pd.Series([True, None, True], dtype="boolean"),
    "floats": pd.Series([1, None, 3]),
    "NaN": np.array([1, np.nan, 3]),
    "strings": np.array(["1", "2", "3"]),
    "None": [1, None, 3],
    "table with a hole": pd.DataFrame({"a": [1, None, 3]}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_data_that_would_lose_something_is_refused_everywhere(what, quick):
    client, _ = quick
    data = REFUSED[what]
    encrypted, array = client.encrypt(PLAIN), sl.Array([sl.u8(1), sl.u8(2), sl.u8(3)])

    @sl.program
    def each(x: sl.U8) -> sl.U8:
        return x + 1

    calls = {
        "encrypt": lambda: client.encrypt(data),
        "encrypt to": lambda: client.encrypt(data, sl.U8),
        "encrypt to fixed": lambda: client.encrypt(data, sl.fixed(16, 8)),
        "simulate": lambda: each.simulate(data),
        "argument": lambda: each(data),
        "program": lambda: each(encrypted) + data,
        "select": lambda: sl.select(encrypted > 2, encrypted, data),
        "condition": lambda: sl.select(data, encrypted, encrypted),
        "maximum": lambda: sl.maximum(encrypted, data),
        "sort": lambda: sl.sort(encrypted, data),
        "table": lambda: sl.searchsorted(data, encrypted),
        "lookup": lambda: sl.lookup(data, client.encrypt([0, 1, 1], sl.uint(1))),
    }
    for x in (encrypted, array):
        calls |= {
            f"{type(x).__name__} {name}": (lambda x=x, call=call: call(x))
            for name, call in {
                "+": lambda x: x + data,
                # numpy and pandas add plain values themselves.
                "reflected": lambda x: data + encrypted,
                "==": lambda x: x == data,
                "add": lambda x: np.add(data, encrypted),
                "where": lambda x: np.where(x > 2, x, data),
                "dot": lambda x: np.dot(x, data),
                "@": lambda x: x @ data,
                "shift": lambda x: data << x,
                "power": lambda x: x**data,
                "concatenate": lambda x: np.concatenate([x, data]),
            }.items()
        }
    # A string such as "0.1" is a fixed-point number.
    if what == "strings":
        calls.pop("encrypt to fixed")
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError, sl.SolinasError)):
            pytest.fail(f"{name} gave {call()!r}")


def test_the_errors_name_the_remedy(quick):
    client, _ = quick
    for what, remedy in {
        "masked": r"x\.filled\(0\)",
        "matrix": r"np\.array\(x\)",
        "record array": r"np\.array\(x\)",
        "dates": r"x\.astype\(np\.int64\)",
        "nullable": r"x\.fillna\(0\)",
        "records": r"x\['name'\]",
    }.items():
        with pytest.raises(sl.TypeMismatchError, match=remedy):
            client.encrypt(REFUSED[what], sl.U8)


def test_columns_and_files_in_memory_are_arrays(quick, tmp_path):
    client, _ = quick
    PLAIN.tofile(tmp_path / "x")
    for data in (
        pd.Series(PLAIN),
        pd.Series(PLAIN, dtype="UInt8"),
        pd.DataFrame({"a": PLAIN})["a"],
        np.memmap(tmp_path / "x", np.uint8),
    ):
        assert client.decrypt(client.encrypt(data)).tolist() == [1, 2, 3]


class One(typing.NamedTuple):
    only: typing.Any


def test_named_tuples_keep_their_names(quick):
    client, server = quick
    x = client.encrypt(sl.u8(3))
    assert client.decrypt(One(x)) == One(3)
    assert client.decrypt(Pair(x, [x, (x,)])) == Pair(3, [3, (3,)])
    results = server.run(Pair(x + 1, One(x + 2)))
    assert isinstance(results, Pair)
    assert isinstance(results.b, One)
    assert client.decrypt(results) == Pair(4, One(5))
    stacked = np.broadcast_arrays(client.encrypt(PLAIN), client.encrypt(PLAIN))
    assert [client.decrypt(part).tolist() for part in stacked] == [[1, 2, 3]] * 2
    parts = np.atleast_1d(*Pair(x, x))
    assert type(parts) is tuple


def test_a_type_has_one_class(quick, tmp_path):
    client, _ = quick
    known = sl.uint(13)

    class U12(sl.UInt, width=12):
        """A width of one's own."""

    class U13(sl.UInt, width=13):
        pass

    class Price(sl.Fixed, width=17, fraction=3):
        __slots__ = ()

        def rounded(self):
            return round(self)

    class Residue(sl.Modular, modulus=1009): ...

    assert U12 is sl.uint(12)
    assert U13 is known is sl.uint(13)
    assert Residue is sl.mod(1009)
    x, price = client.encrypt(U12(5)), client.encrypt([1.5], Price)[0]
    assert type(x) is U12
    assert isinstance(price, Price)
    assert isinstance(price.rounded(), sl.Int)
    assert isinstance(U12.from_bytes(x.to_bytes()), U12)
    x.save(tmp_path / "x.ct")
    assert client.decrypt(U12.load(tmp_path / "x.ct")) == 5
    with pytest.raises(sl.TypeMismatchError, match="the type u16 is the class U16 already"):

        class Port(sl.UInt, width=16):
            def known(self):
                return self < 1024

    for _ in range(2):

        class Again(sl.UInt, width=1234):
            def twice(self):
                return self * 2

    assert sl.uint(1234) is Again


def test_threads_that_name_a_type_get_one_class():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for width in range(300, 500):
            barrier, made = threading.Barrier(4), []

            def make(width=width, barrier=barrier, made=made):
                barrier.wait()
                made.append((sl.uint(width), sl.fixed(width, 7), sl.mod(width)))

            threads = [threading.Thread(target=make) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(set(made)) == 1
    finally:
        sys.setswitchinterval(before)
