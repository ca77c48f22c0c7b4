"""Private information retrieval against the database in the clear."""

import os

import numpy as np
import pytest

import solinas as sl


def table(count, size):
    """Records of random bytes, the corners 0, 127, 128 and 255 among them."""
    draw = np.random.default_rng(1)
    random, corner = draw.integers(0, 256, (count, size)), draw.choice([0, 127, 128, 255], (count, size))
    return np.where(draw.integers(0, 2, (count, size)) == 0, random, corner).astype(np.uint8)


@pytest.mark.parametrize(
    ("count", "size", "queries"), [(1, 1, 100), (1, 700, 0), (5000, 3, 100), (97, 64, 100000), (300, 1, 100)]
)
def test_records_are_those_of_the_database(count, size, queries):
    records = table(count, size)
    database = sl.pir.Database(records, queries=queries)
    rows, columns = database.shape
    hint = database.hint()
    assert len(hint) == 8 + 32 + 24 + 4 * 1088 * rows + 32
    client = sl.pir.Client(hint)
    assert (client.records, client.record_bytes) == (len(database), database.record_bytes) == (count, size)
    assert rows * columns >= count * size
    for index in {0, count // 2, count - 1}:
        query = client.query(index)
        answer = database.answer(query)
        assert (len(query), len(answer)) == (88 + 4 * columns, 88 + 4 * rows)
        assert client.read(answer, query) == records[index].tobytes() == database[index]


def test_lists_arrays_and_views_give_the_same_database():
    records = table(40, 6)
    rows = [row.tobytes() for row in records]
    hint = sl.pir.Database(records).hint()
    assert sl.pir.Database(rows).hint() == hint
    assert sl.pir.Database([memoryview(row) for row in rows]).hint() == hint
    assert sl.pir.Database(np.repeat(records, 2, axis=1)[:, ::2]).hint() == hint
    assert sl.pir.Database(rows[::-1]).hint() != hint


def test_queries_of_several_clients_share_a_reading():
    records = table(200, 5)
    database = sl.pir.Database(records)
    hint = database.hint()
    clients = [sl.pir.Client(hint), sl.pir.Client(bytearray(hint))]
    queries = [clients[number % 2].query(number) for number in range(70)]
    assert len(set(queries)) == 70
    answers = database.answer_all(queries)
    assert answers[7] == database.answer(queries[7])
    for number in reversed(range(70)):
        assert clients[number % 2].read(answers[number], queries[number]) == records[number].tobytes()
    assert database.answer_all([]) == []


def test_two_queries_for_a_record_differ_everywhere():
    client = sl.pir.Client(sl.pir.Database(table(3000, 1), queries=0).hint())
    first, second = (np.frombuffer(client.query(5)[56:-32], "<u4") for _ in range(2))
    assert (first == second).mean() < 0.01


def test_progress_ends_at_the_total_and_an_error_in_it_stops_the_hint():
    database = sl.pir.Database(table(300, 4))
    seen = []
    database.hint(progress=lambda *counts: seen.append(counts))
    assert seen[-1][0] == seen[-1][1] > 0

    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sl.pir.Database(table(20000, 1000)).hint(progress=stop)


def test_mistakes_are_explained():
    database = sl.pir.Database([b"ab", b"cd", b"ef"])
    other = sl.pir.Database([b"ab", b"cd", b"eg"])
    client = sl.pir.Client(database.hint())
    for index in (3, -1, 2**70):
        with pytest.raises(sl.ElementError, match="there is no record"):
            client.query(index)
        with pytest.raises(sl.ElementError, match="there is no record"):
            database[index]
    with pytest.raises(sl.TypeMismatchError, match="an index is an integer, not str"):
        client.query("1")
    query = client.query(np.int64(1))
    with pytest.raises(sl.KeyMismatchError, match="fetch the hint"):
        other.answer(query)
    with pytest.raises(sl.FormatError, match="do not begin as expected"):
        database.answer(b"")
    with pytest.raises(sl.FormatError, match="hash"):
        database.answer(query[:-1] + bytes([query[-1] ^ 1]))
    with pytest.raises(sl.TypeMismatchError, match="a query is bytes, not str"):
        database.answer("query")
    with pytest.raises(sl.FormatError, match="hint"):
        sl.pir.Client(query)
    answer = database.answer(query)
    with pytest.raises(sl.KeyMismatchError, match="another client made it"):
        sl.pir.Client(database.hint()).read(answer, query)
    with pytest.raises(sl.FormatError, match="answer"):
        client.read(query, query)
    # Answers that do not fit leave the query open, and nothing is read as the answer to another query.
    second = client.query(2)
    for wrong, asked in [(answer, second), (database.answer(second), query)]:
        with pytest.raises(sl.KeyMismatchError, match="another query"):
            client.read(wrong, asked)
    assert client.read(answer, query) == b"cd"
    with pytest.raises(sl.KeyMismatchError, match="was read before"):
        client.read(answer, query)
    client.forget(second)
    with pytest.raises(sl.KeyMismatchError, match="was forgotten"):
        client.read(database.answer(second), second)


@pytest.mark.parametrize(
    ("records", "error", "message"),
    [
        ([], sl.RangeError, "no bytes"),
        ([b"", b""], sl.RangeError, "no bytes"),
        ([b"a", b"bc"], sl.ShapeError, "record 1 has 2 bytes and record 0 has 1"),
        (b"abc", sl.TypeMismatchError, "records is bytes"),
        (["a"], sl.TypeMismatchError, "a record is bytes, not str"),
        (5, sl.TypeMismatchError, "records is int"),
        (np.zeros((2, 3)), sl.TypeMismatchError, "uint8 with two axes"),
        (np.zeros(3, np.uint8), sl.TypeMismatchError, "1 axes"),
    ],
)
def test_records_of_other_kinds_are_refused(records, error, message):
    with pytest.raises(error, match=message):
        sl.pir.Database(records)


def test_expected_queries_are_checked():
    for queries in (-1, 2**32, 1e2, None):
        with pytest.raises(sl.RangeError, match="queries is"):
            sl.pir.Database([b"a"], queries=queries)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_process_answers(tmp_path):
    database = sl.pir.Database(table(10, 2))
    client = sl.pir.Client(database.hint())
    query = client.query(4)
    pid = os.fork()
    if pid == 0:
        (tmp_path / "answer").write_bytes(database.answer(query))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert client.read((tmp_path / "answer").read_bytes(), query) == database[4]


def test_a_hint_that_somebody_replaced_has_another_fingerprint():
    database, other = (sl.pir.Database([record] * 3) for record in (b"apple", b"grape"))
    hint = database.hint()
    fingerprint = sl.pir.Client(hint).fingerprint
    client = sl.pir.Client(hint, fingerprint=fingerprint)
    query = client.query(1)
    assert client.read(database.answer(query), query) == b"apple"
    with pytest.raises(sl.FormatError, match="ask the owner of the database"):
        sl.pir.Client(other.hint(), fingerprint=fingerprint)
    with pytest.raises(sl.SolinasError, match="not a fingerprint"):
        sl.pir.Client(hint, fingerprint="apple")
