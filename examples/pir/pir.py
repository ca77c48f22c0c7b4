"""A client reads one record of a server's database, and the server does not learn which.

The database is a matrix of bytes in the memory of the server. The query is an encrypted unit vector (LWE, as in
SimplePIR), and the answer is the product of the whole matrix with it. The record must be equal to that of the database.
"""

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

import solinas as sl

EXAMPLE = """examples:
  python pir.py                                    # 33,000 records of 1024 bytes
  python pir.py --records 1000000 --bytes 1024     # 1 GB
  python pir.py --records 1000000 --bytes 32 --index 4711
"""
ROUNDS = 7  # of the timed answers
T = TypeVar("T")


def timed(work: Callable[[], T], rounds: int = 1) -> tuple[T, float]:
    """Return the result of the work, and the median of its times in seconds."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    return result, sorted(seconds)[rounds // 2]


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
    parser.add_argument("--records", type=between(1, 10**9), default=33_000, metavar="1..1000000000")
    parser.add_argument("--bytes", type=between(1, 2**30), default=1024, metavar="1..1073741824", help="of a record")
    parser.add_argument("--index", type=between(0, 10**9), help="the wanted record; defaults to a random one")
    parser.add_argument("--queries", type=between(0, 10**9), default=100, help="expected queries for each hint")
    parser.add_argument("--batch", type=between(1, 1024), default=16, help="queries of other clients in one pass")
    args = parser.parse_args(words)
    if args.records * args.bytes > 2**33:
        parser.error("the database has more than 8 GiB: give fewer --records or --bytes")
    if args.index is None:
        args.index = secrets.randbelow(args.records)
    if args.index >= args.records:
        parser.error(f"argument --index: there are {args.records} records, so it is at most {args.records - 1}")
    return args


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a record is wrong."""
    args = arguments()
    records = np.random.default_rng().integers(0, 256, (args.records, args.bytes), np.uint8)

    database, loading = timed(lambda: sl.pir.Database(records, queries=args.queries))
    hint, setup = timed(lambda: database.hint(progress=progress))
    client = sl.pir.Client(hint)
    query, asking = timed(lambda: client.query(args.index))
    answer, answering = timed(lambda: database.answer(query), ROUNDS)
    record, reading = timed(lambda: client.read(answer, query))

    others = [secrets.randbelow(args.records) for _ in range(args.batch)]
    queries = [client.query(index) for index in others]
    answers, together = timed(lambda: database.answer_all(queries), 3)
    exact = record == records[args.index].tobytes() and all(
        client.read(reply, asked) == records[index].tobytes()
        for index, asked, reply in zip(others, queries, answers, strict=True)
    )

    rows, columns = database.shape
    size = records.nbytes / 1e9
    print(f"{args.records} records of {args.bytes} bytes in {rows} x {columns} bytes")
    print(f"hint {len(hint):,} bytes, once; up {len(query):,} bytes, down {len(answer):,} bytes")
    print(f"server, once: loading {loading:.2f} s, hint {setup:.2f} s")
    print(f"client: query {asking * 1e3:.1f} ms, reading {reading * 1e3:.2f} ms")
    print(f"server: {answering * 1e3:.2f} ms for {size * 1e3:.1f} MB, {size / answering:.1f} GB/s")
    each = together / args.batch
    print(f"server, {args.batch} queries in one pass: {each * 1e3:.2f} ms each, {size / each:.1f} GB/s")
    print(f"record {args.index} is right" if exact else f"RECORD {args.index} IS WRONG")
    return 0 if exact else 1


def progress(done: int, total: int) -> None:
    """Show the state of the setup on a terminal."""
    if sys.stderr.isatty():
        text = "" if done == total else f"hint: {100 * done // total}%"
        print(f"\r{text:<40}\r", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sl.SolinasError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
