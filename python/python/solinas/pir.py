"""Private information retrieval: a client reads a record of a database, and the server does not learn which.

>>> import solinas as sl
>>> database = sl.pir.Database([b"apple", b"grape", b"lemon"])  # on the server
>>> client = sl.pir.Client(database.hint())  # on the client, once
>>> query = client.query(1)
>>> answer = database.answer(query)  # on the server: it reads the whole database
>>> client.read(answer, query)
b'grape'

All that travels is bytes: the hint, the queries and the answers. The scheme is SimplePIR (Henzinger and others, "One
Server for the Price of Two", USENIX Security 2023), with the parameters of `solinas_schemes::lwe::pir`: dimension 1088,
modulus 2^32, standard deviation 32, 128 bits of security by core-SVP. A byte is wrong with a probability below 2^-64.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from solinas import _core
from solinas._errors import ElementError, RangeError, ShapeError, TypeMismatchError
from solinas._job import progress_callback
from solinas._shapes import numpy_or_none

__all__ = ["Client", "Database"]

# Bytes of records that are given to the compiled half at once.
PIECE = 16 << 20

# The axes of an array of records: records and bytes.
AXES = 2

# The largest number of expected queries.
QUERIES = 2**32 - 1


class Database:
    """A database of records of equal length, as a server holds it, in the clear.

    `records` is a numpy array of `uint8` with two axes, a row for each record, or a sequence of `bytes` of equal
    length. The database copies them. It has 1 byte to 1 TiB.

    `queries` is the expected number of queries for each time that a client fetches the hint, from 0 to 2^32 - 1. The
    database chooses the layout with the least traffic for it. With more queries, the hint is larger and a query is
    smaller. The hint has at least 4352 bytes for each byte of a record. So cut records of many kilobytes into pieces,
    and ask for each piece.

    Raises TypeMismatchError for records of another type, ShapeError for records of unequal length, and RangeError for a
    number out of range and for a database without bytes or larger than the memory.
    """

    __slots__ = ("_inner", "_record_bytes", "_records")

    def __init__(self, records: Any, *, queries: int = 100) -> None:
        if not isinstance(queries, int) or not 0 <= queries <= QUERIES:
            raise RangeError(f"queries is {queries}: give an integer from 0 to 2^32 - 1")
        self._records, self._record_bytes, piece = _table(records)
        builder = _core.PirBuilder(self._records, self._record_bytes, queries)
        step = max(1, PIECE // self._record_bytes)
        for start in range(0, self._records, step):
            builder.push(piece(start, min(start + step, self._records)))
        self._inner = builder.finish()

    @property
    def records(self) -> int:
        """The number of records."""
        return self._records

    @property
    def record_bytes(self) -> int:
        """The bytes of a record."""
        return self._record_bytes

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of the matrix that holds the records.

        An answer has 4 bytes for each row, a query 4 bytes for each column, and the hint 4352 bytes for each row.
        """
        return self._inner.rows, self._inner.columns

    @property
    def nbytes(self) -> int:
        """The bytes that the database takes in memory, and that the server reads for each answer."""
        return self._inner.memory_bytes

    def __len__(self) -> int:
        return self._records

    def __getitem__(self, index: int) -> bytes:
        """Return a record in the clear. Raises ElementError if there is none of that index."""
        return self._inner.record(_place(index, self._records))

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"<Database: {self._records} records of {self._record_bytes} bytes, {rows} x {columns}>"

    def hint(self, *, progress: bool | Callable[[int, int], object] = False) -> bytes:
        """Compute what clients need to ask, and return it. It depends on the records and the layout alone.

        The time grows with the size of the database times 1088: seconds for 1 GB. Compute the hint once and keep it.
        `progress` is True for a progress bar of tqdm, or a function of the parts done and the total. Ctrl-C stops it.
        """
        with progress_callback(progress, "hint") as watch:
            return self._inner.hint(watch)

    def answer(self, query: bytes) -> bytes:
        """Answer a query. This reads the whole database once.

        Raises FormatError for bytes that are no query, KeyMismatchError for a query to another database, and ShapeError
        for a query of another length.
        """
        return self.answer_all([query])[0]

    def answer_all(self, queries: Sequence[bytes]) -> list[bytes]:
        """Answer several queries, of any clients. Up to 32 of them share one reading of the database.

        Raises the errors of `answer`.
        """
        return self._inner.answer_all([_bytes("a query", query) for query in queries])


class Client:
    """A client of a database. `hint` is what `Database.hint` returned.

    It keeps the secret of each query until `read` has the answer. Use one thread or several. A new version of the
    database has a new hint. `fingerprint` is that of the owner's hint (`Client.fingerprint` there). A hint that
    somebody replaced has another one, would give wrong records, and is refused.

    Raises FormatError for bytes that are no hint or have another fingerprint, ParameterError for a text that is no
    fingerprint, TypeMismatchError for no bytes.
    """

    __slots__ = ("_inner",)

    def __init__(self, hint: bytes, *, fingerprint: str | None = None) -> None:
        self._inner = _core.PirClient(_bytes("the hint", hint), fingerprint)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the hint, for people to compare: all its bytes decide it."""
        return self._inner.fingerprint

    @property
    def records(self) -> int:
        """The number of records."""
        return self._inner.records

    @property
    def record_bytes(self) -> int:
        """The bytes of a record."""
        return self._inner.record_bytes

    def __repr__(self) -> str:
        return f"<Client of {self.records} records of {self.record_bytes} bytes>"

    def query(self, index: int) -> bytes:
        """Return a query for the record of that index, from 0. The query hides the index.

        Every call draws a new secret from the randomness of the operating system. Raises ElementError if there is no
        such record.
        """
        return self._inner.query(_place(index, self.records))

    def read(self, answer: bytes, query: bytes) -> bytes:
        """Return the record in the answer to a query of this client. Each query is read once.

        Raises FormatError for bytes that are no answer or no query, and KeyMismatchError for an answer of another
        database or to another query, and for a query of another client or that was read before. Do not tell the server
        whether a record was right.
        """
        return self._inner.read(_bytes("an answer", answer), _bytes("a query", query))

    def forget(self, query: bytes) -> None:
        """Wipe the secret of a query whose answer is not wanted any more. The client has 4 KB for each open query."""
        self._inner.forget(_bytes("a query", query))


def _bytes(what: str, data: Any) -> bytes:
    """Return bytes-like data as bytes. Raises TypeMismatchError for anything else."""
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeMismatchError(f"{what} is bytes, not {type(data).__name__}")
    return bytes(data)


def _place(index: int, records: int) -> int:
    """Return an index as an integer from 0. Raises ElementError out of bounds, TypeMismatchError for no integer."""
    try:
        number = operator.index(index)
    except TypeError:
        raise TypeMismatchError(f"an index is an integer, not {type(index).__name__}") from None
    if not 0 <= number < records:
        raise ElementError(f"there is no record {number}: the database has {records}, counted from 0")
    return number


def _table(records: Any) -> tuple[int, int, Callable[[int, int], bytes]]:
    """Return the number of records, their length, and a function that returns some of them as bytes."""
    np = numpy_or_none()
    if np is not None and isinstance(records, np.ndarray):
        if records.dtype != np.uint8 or records.ndim != AXES:
            raise TypeMismatchError(
                f"records is an array of {records.dtype} with {records.ndim} axes: give uint8 with two axes, a row for "
                "each record"
            )
        return records.shape[0], records.shape[1], lambda start, end: records[start:end].tobytes()
    if isinstance(records, bytes | bytearray | memoryview | str) or not isinstance(records, Sequence):
        raise TypeMismatchError(
            f"records is {type(records).__name__}: give a list of bytes of equal length, or a numpy array of uint8"
        )
    parts = [_bytes("a record", record) for record in records]
    length = len(parts[0]) if parts else 0
    for number, part in enumerate(parts):
        if len(part) != length:
            raise ShapeError(f"record {number} has {len(part)} bytes and record 0 has {length}: pad them to one length")
    return len(parts), length, lambda start, end: b"".join(parts[start:end])
