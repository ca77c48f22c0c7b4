"""Encrypted text and byte strings beside Python's `str` and `bytes`."""

import pickle
import random

import numpy as np
import pytest

import solinas as sl

SIZE = 6
# Strings with many partial matches, the empty one and the longest.
WORDS = ["", "a", "ab", "aba", "abab", "aab", "bbbb", "ababab", "aabaab", "Ab!z", "bA"]
METHODS = {
    "==": (lambda x, p: x == p, lambda x, p: x == p),
    "!=": (lambda x, p: x != p, lambda x, p: x != p),
    "startswith": (lambda x, p: x.startswith(p), lambda x, p: x.startswith(p)),
    "endswith": (lambda x, p: x.endswith(p), lambda x, p: x.endswith(p)),
    "contains": (lambda x, p: x.contains(p), lambda x, p: p in x),
    "find": (lambda x, p: x.find(p), lambda x, p: x.find(p)),
}


def padded(word, size=SIZE):
    return list(word.encode().ljust(size, b"\0"))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("pattern", [*WORDS, "abababa"])
def test_searches_for_public_strings_are_those_of_python(name, pattern):
    ours, python = METHODS[name]

    @sl.program
    def traced(x: sl.Array[sl.U8, SIZE]):
        return ours(sl.text(x), pattern)

    got = traced.simulate([padded(word) for word in WORDS])
    assert got.tolist() == [python(word, pattern) for word in WORDS]
    assert [int(ours(sl.text(word, SIZE), pattern)) for word in WORDS] == got.astype(int).tolist()


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [1, 4, 6, 8])
def test_searches_for_encrypted_strings_are_those_of_python(name, size):
    ours, python = METHODS[name]

    @sl.program
    def traced(x: sl.Array[sl.U8, SIZE], y: sl.Array[sl.U8, size]):
        return ours(sl.text(x), sl.text(y))

    pairs = [(word, pattern) for word in WORDS for pattern in WORDS if len(pattern) <= size]
    got = traced.simulate([padded(word) for word, _ in pairs], [padded(pattern, size) for _, pattern in pairs])
    assert got.tolist() == [python(*pair) for pair in pairs]


def test_long_strings_are_compared_in_several_words(quick):
    client, server = quick
    choose = random.Random(4)
    content = bytes(choose.randrange(1, 256) for _ in range(40))
    x = client.encrypt(sl.bytes_(content, 50))
    changed = bytearray(content)
    changed[35] ^= 64
    results = server.run(
        x == content, x == bytes(changed), x.startswith(content[:33]), x.endswith(content[3:]), x.find(content[20:39])
    )
    assert client.decrypt(results) == (True, False, True, True, 20)
    long = sl.bytes_(b"x" * 199 + b"y")
    assert (long.find(b"y").name, int(long.find(b"y"))) == ("i16", 199)


def test_case_is_that_of_ascii(quick):
    client, server = quick
    every = bytes(range(1, 256))
    x = client.encrypt(sl.bytes_(every))
    lower, upper = server.run(x.lower(), x.upper())
    assert (client.decrypt(lower), client.decrypt(upper)) == (every.lower(), every.upper())
    assert sl.text("ÄRGER").lower().value == "Ärger"
    assert bool(sl.text("HeLLo").lower() == "hello")


def test_arrays_of_strings_are_searched_side_by_side(quick):
    client, server = quick
    column = client.encrypt(sl.text(WORDS, SIZE))
    assert (column.shape, column.size) == ((len(WORDS),), SIZE)
    assert client.decrypt(column) == WORDS
    others = sl.text(WORDS[::-1], 7)

    def plain(result):
        return client.decrypt(server.run(result)).tolist()

    for ours, python in METHODS.values():
        for pattern in ("ab", "", "abababa"):
            assert plain(ours(column, pattern)) == [python(word, pattern) for word in WORDS]
        one = client.encrypt(sl.text("ab", 3))
        assert plain(ours(column, one)) == [python(word, "ab") for word in WORDS]
        assert plain(ours(one, column)) == [python("ab", word) for word in WORDS]
        pairs = [python(*pair) for pair in zip(WORDS, WORDS[::-1], strict=True)]
        for words in (others, WORDS[::-1], np.array(WORDS[::-1])):
            assert plain(ours(column, words)) == pairs
    assert client.decrypt(server.run(sl.select(column.contains("a"), 1, sl.u8(0)).sum())) == sum(
        "a" in w for w in WORDS
    )
    assert client.decrypt(column.array[2]).tolist() == padded("ab")


def test_strings_encrypt_print_and_pickle(integers, tmp_path):
    client, _ = integers
    x, y = client.encrypt(sl.text("añb", 8)), client.encrypt(sl.bytes_([[b"a", b"bc"], [b"", b"d"]]))
    assert (client.decrypt(x), client.decrypt(y)) == ("añb", [[b"a", b"bc"], [b"", b"d"]])
    assert client.decrypt((x, [y])) == ("añb", [[[b"a", b"bc"], [b"", b"d"]]])
    assert repr(x).startswith("<encrypted text, at most 8 bytes, key ")
    assert repr(y).startswith("<encrypted array of shape (2, 2) of bytes, at most 2 bytes")
    assert (repr(sl.text("ab", 4)), sl.text(["a", "bc"]).value) == ("Text('ab', 4)", ["a", "bc"])
    assert client.decrypt(pickle.loads(pickle.dumps(x))) == "añb"
    x.array.save(tmp_path / "x.ct")
    assert client.decrypt(sl.text(sl.EncryptedArray.load(tmp_path / "x.ct"))) == "añb"
    assert client.decrypt(sl.text(client.encrypt(np.frombuffer(b"abc\0", dtype=np.uint8)))) == "abc"


def test_what_is_no_string_is_refused(integers):
    client, _ = integers
    x = client.encrypt(sl.text("ab", 4))
    for call, error, message in (
        (lambda: sl.text(b"ab"), sl.TypeMismatchError, "takes a str"),
        (lambda: sl.bytes_("ab"), sl.TypeMismatchError, "takes a bytes"),
        (lambda: sl.text("a\0b"), sl.RangeError, "zero byte"),
        (lambda: sl.text("abc", 2), sl.RangeError, "holds the longest"),
        (lambda: sl.text([]), sl.RangeError, "holds the longest"),
        (lambda: sl.text(sl.Array([sl.u16(1)])), sl.TypeMismatchError, "array of u8"),
        (lambda: sl.text(x.array, 9), sl.ShapeError, "4 bytes, not 9"),
        (lambda: x == 3, sl.TypeMismatchError, "takes a str"),
        (lambda: x == ["a", 3], sl.TypeMismatchError, "takes a str"),
        (lambda: sl.text("a\ud800"), sl.RangeError, "character 1 is half of a surrogate pair"),
        (lambda: x.find("\udfff"), sl.RangeError, "character 0 is half of a surrogate pair"),
        (lambda: x == sl.bytes_(b"ab"), sl.TypeMismatchError, "one kind"),
        (lambda: "a" in x, sl.TypeMismatchError, r"x\.contains"),
        (lambda: bool(x), sl.TypeMismatchError, "truth value"),
        (lambda: x.value, sl.TypeMismatchError, r"client\.decrypt"),
        (lambda: hash(x), TypeError, "unhashable"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_strings_are_searched_on_a_server(keys):
    client, server = keys
    x, y = client.encrypt(sl.text("aBa", 4)), client.encrypt(sl.text("Ba", 2))
    results = server.run(
        x == "aBa", x.find("B"), x.contains(y), x.lower(), x == "longer", x.startswith(""), x.find("12345")
    )
    assert client.decrypt(results) == (True, 1, True, "aba", False, True, -1)


def test_costs_are_as_stated():
    """The figures of the page."""

    @sl.program
    def equal(x: sl.Array[sl.U8, 32]):
        return sl.text(x) == "banana"

    @sl.program
    def both(x: sl.Array[sl.U8, 32], y: sl.Array[sl.U8, 32]):
        return sl.text(x) == sl.text(y)

    @sl.program
    def find(x: sl.Array[sl.U8, 32]):
        return sl.text(x).find("banana")

    @sl.program
    def lower(x: sl.Array[sl.U8, 32]):
        return sl.text(x).lower().array

    assert [f.cost().bootstraps for f in (equal, both, find, lower)] == [15, 73, 191, 160]
