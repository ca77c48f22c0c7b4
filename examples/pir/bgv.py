"""A client reads one record of a server's database, and the server does not learn which.

The database is a table of blocks of 16 KB: plain numbers of 16 bits that the server holds in the clear. The query is
one ciphertext of BGV: an encrypted unit vector for the row of the wanted block, and one for its column. The server
multiplies the table by both. The reply is one ciphertext, the encrypted block. It must be equal to the block itself.
"""

import argparse
import math
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

import solinas as sl

PARAMS = "slots128-8192-3"  # 8192 slots modulo 65537, 3 products in sequence
SLOTS = 8192
BLOCK = 2 * SLOTS  # bytes
Residue = sl.mod(65537)
EXAMPLE = """examples:
  python bgv.py                                    # 2048 records of 1024 bytes
  python bgv.py --records 100000 --bytes 64 --index 4711
"""


class Database:
    """Records of equal size in a square table of blocks."""

    def __init__(self, records: int, size: int) -> None:
        self.per_block = BLOCK // size
        self.size = size
        blocks = -(-records // self.per_block)
        self.columns = math.isqrt(blocks - 1) + 1
        self.rows = -(-blocks // self.columns)
        self.table = np.random.default_rng().integers(0, 2**16, (self.columns, self.rows, SLOTS), np.uint16)

    def place(self, index: int) -> tuple[int, int, int]:
        """Return the column and the row of the block of a record, and the place of its first byte there."""
        block, number = divmod(index, self.per_block)
        return *divmod(block, self.rows), number * self.size

    def record(self, index: int) -> bytes:
        """Return a record in the clear."""
        column, row, start = self.place(index)
        return self.table[column, row].tobytes()[start : start + self.size]


def make_query(client: sl.ClientKey, database: Database, index: int) -> sl.EncryptedArray:
    """Encrypt two unit vectors, one after the other: the row and the column of the wanted block.

    The client calls this. Of the database it knows the sizes alone.
    """
    column, row, _ = database.place(index)
    vector = np.zeros(SLOTS, np.int64)
    vector[[row, database.rows + column]] = 1
    return client.encrypt(vector, Residue)


def answer(server: sl.Server, query: sl.EncryptedArray, database: Database, show: Callable[[str], None]) -> Any:
    """Return the encrypted block. The server calls this."""
    unit = np.zeros(SLOTS, np.int64)

    def bit(place: int) -> Any:
        """Return an element of the query as a single value, which is in every slot."""
        unit[:] = 0
        unit[place] = 1
        return query.dot(unit)

    # A product of a single value and a public array needs an array. So the bits of the row are added to zeros.
    show("expanding the query")
    zeros = query * 0
    in_row = server.run([zeros + bit(row) for row in range(database.rows)])
    in_column = server.run([bit(database.rows + column) for column in range(database.columns)])
    selected = []
    for number, column in enumerate(database.table):
        show(f"column {number + 1} of {database.columns}")
        blocks = column.astype(object)  # the package reads Python integers faster than those of numpy
        selected.append(server.run(reduce(add, [one * block for one, block in zip(in_row, blocks, strict=True)])))
    show("")
    return server.run(reduce(add, [one * column for one, column in zip(in_column, selected, strict=True)]))


def read(client: sl.ClientKey, reply: Any, database: Database, index: int) -> bytes:
    """Decrypt the reply and return the record. The client calls this."""
    start = database.place(index)[2]
    return np.asarray(client.decrypt(reply)).astype("<u2").tobytes()[start : start + database.size]


def progress(text: str) -> None:
    """Show the state of the work on a terminal."""
    if sys.stderr.isatty():
        print(f"\r{text:<40}\r", end="", file=sys.stderr, flush=True)


def between(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of integers from low to high for an argument."""

    def number(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no integer from {low} to {high}")
        return int(text)

    return number


def arguments(words: Iterable[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=between(1, 10**7), default=2048, metavar="1..10000000")
    parser.add_argument("--bytes", type=between(1, BLOCK), default=1024, metavar=f"1..{BLOCK}", help="of a record")
    parser.add_argument("--index", type=between(0, 10**7), help="the wanted record; defaults to a random one")
    parser.add_argument("--threads", type=between(1, 1024), help="defaults to the number of processors")
    args = parser.parse_args(words)
    if args.records * args.bytes > 2**30:
        parser.error("the database has more than 1 GiB: give fewer --records or --bytes")
    if args.index is None:
        args.index = secrets.randbelow(args.records)
    if args.index >= args.records:
        parser.error(f"argument --index: there are {args.records} records, so it is at most {args.records - 1}")
    return args


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if the record is wrong."""
    args = arguments()
    database = Database(args.records, args.bytes)
    held = database.table.nbytes
    print(f"{args.records} records of {args.bytes} bytes in {database.rows} x {database.columns} blocks")

    client, server_key = sl.keygen("bgv", params=PARAMS)
    server = sl.Server(server_key, threads=args.threads)
    query = make_query(client, database, args.index)
    start = time.perf_counter()
    reply = answer(server, query, database, progress)
    seconds = time.perf_counter() - start
    record = read(client, reply, database, args.index)
    sizes = [len(part.to_bytes()) for part in (query, reply, server_key)]
    print("up {:,} bytes, down {:,} bytes; the server key, sent once, has {:,} bytes".format(*sizes))
    print(f"server: {seconds:.2f} s for {held / 1e6:.1f} MB, {held / 1e9 / seconds:.2g} GB/s")
    exact = record == database.record(args.index)
    print(f"record {args.index} is right" if exact else f"RECORD {args.index} IS WRONG")
    return 0 if exact else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sl.SolinasError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
