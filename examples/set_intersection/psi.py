"""A client learns which of its items are in a server's set, and the server learns nothing about the client's items.

The client encrypts fingerprints of its items under BGV. The server evaluates a polynomial whose zeros are the
fingerprints of its own items, times random numbers. The client decrypts: zero means a common item, and every other
result is random. The intersection must be equal to that of Python's sets.
"""

import argparse
import hashlib
import math
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import solinas as sl

MODULUS = 1073479681  # a prime of 30 bits, the plaintext modulus of the wide sets
HASHES = 3  # bins in which an item may lie
FINGERPRINTS = 2  # numbers modulo MODULUS that stand for an item
SENT = 4  # powers of a fingerprint that the client sends
FAILURE = 2.0**-40
Residue = sl.mod(MODULUS)
EXAMPLE = """examples:
  python psi.py                                    # 256 items of the client, 20000 of the server
  python psi.py --server 1000 --client 50 --common 7
"""


def hashed(items: Iterable[bytes], salt: bytes, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the bins (items, HASHES) and fingerprints (items, FINGERPRINTS) of the items.

    A fingerprint is from 1 to MODULUS - 1: the client writes 0 into empty bins.
    """
    words = np.array(
        [np.frombuffer(hashlib.blake2b(item, key=salt, digest_size=40).digest(), "<u8") for item in items], np.uint64
    ).reshape(-1, HASHES + FINGERPRINTS)
    fingerprints = words[:, HASHES:] % np.uint64(MODULUS - 1) + np.uint64(1)
    return (words[:, :HASHES] % np.uint64(bins)).astype(np.int64), fingerprints.astype(np.int64)


def cuckoo(places: np.ndarray, bins: int) -> np.ndarray:
    """Put every item into one of its bins, at most one item into each. Returns the item of each bin, or -1."""
    owner = np.full(bins, -1)
    for first in range(len(places)):
        item = first
        for _ in range(1000):
            free = [place for place in places[item] if owner[place] < 0]
            if free:
                owner[free[0]] = item
                break
            place = places[item][secrets.randbelow(HASHES)]
            item, owner[place] = owner[place], item  # the item in the way looks for another bin
        else:
            raise SystemExit("error: the items do not fit the bins; run the program again, or give fewer items")
    return owner


def most_in_a_bin(items: int, bins: int) -> int:
    """Return a number of items that no bin exceeds, except with probability FAILURE. It depends on sizes alone."""
    share = min(1.0, HASHES / bins)
    log_factorials = np.cumsum(np.log(np.arange(1, items + 1)))
    count = np.arange(1, items + 1)
    rest = np.concatenate([log_factorials[:-1][::-1], [0.0]])  # log((items - count)!)
    log_each = log_factorials[-1] - log_factorials - rest + count * math.log(share)
    log_each += (items - count) * math.log1p(-share)
    tails = np.cumsum(np.exp(log_each)[::-1])[::-1]  # the probability of `count` items or more
    return int(np.sum(tails * bins >= FAILURE)) or 1


def random_numbers(count: int) -> np.ndarray:
    """Return random numbers from 1 to MODULUS - 1, from the operating system."""
    numbers = np.empty(0, np.int64)
    while len(numbers) < count:
        draw = np.frombuffer(os.urandom(4 * count + 64), np.uint32) % np.uint32(2**30)
        numbers = np.concatenate([numbers, draw[(draw > 0) & (draw < MODULUS)].astype(np.int64)])
    return numbers[:count]


def polynomials(items: list[bytes], salt: bytes, bins: int, degree: int) -> np.ndarray:
    """Return the server's coefficients. Shape: parts, FINGERPRINTS, degree + 1, bins.

    The items of a bin are spread at random over parts of at most `degree` items. The zeros of the polynomial of a part
    are the fingerprints of its items. Every polynomial is multiplied by a random number.
    """
    parts = -(-most_in_a_bin(len(items), bins) // degree)
    places, fingerprints = hashed(items, salt, bins)
    pairs = places * len(items) + np.arange(len(items))[:, None]
    bin_of, item_of = np.divmod(np.unique(pairs), len(items))  # two hashes of an item may be equal
    rank = np.arange(len(bin_of)) - np.searchsorted(bin_of, bin_of)
    if rank.max() >= parts * degree:
        raise SystemExit("error: a bin has too many items, which is very unlikely; run the program again")
    keys = np.frombuffer(os.urandom(8 * bins * parts * degree), np.uint64).reshape(bins, parts * degree)
    seat = keys.argsort(axis=1)[bin_of, rank]

    zeros = np.zeros((FINGERPRINTS, parts * degree, bins), np.int64)
    taken = np.zeros((parts * degree, bins), bool)
    zeros[:, seat, bin_of] = fingerprints[item_of].T
    taken[seat, bin_of] = True
    zeros = zeros.reshape(FINGERPRINTS, parts, degree, bins)
    taken = taken.reshape(parts, degree, bins)

    result = np.zeros((parts, FINGERPRINTS, degree + 1, bins), np.int64)
    result[:, :, 0] = random_numbers(parts * FINGERPRINTS * bins).reshape(parts, FINGERPRINTS, bins)
    for k in range(degree):  # multiply by x - zero
        product = (MODULUS - zeros[:, :, k].swapaxes(0, 1))[:, :, None] * result % MODULUS
        product[:, :, 1:] += result[:, :, :-1]
        result = np.where(taken[:, k][:, None, None], product % MODULUS, result)
    return result


def powers_modulo(numbers: np.ndarray) -> list[np.ndarray]:
    """Return the first powers of the numbers modulo MODULUS."""
    found = [numbers]
    while len(found) < SENT:
        found.append(found[-1] * numbers % MODULUS)
    return found


def powers(first: list[Any], degree: int) -> list[Any]:
    """Continue x, x^2, ..., which the client sent, up to x^degree, by products of the least depth."""
    found = list(first)
    for k in range(len(first) + 1, degree + 1):
        found.append(found[k // 2 - 1] * found[k - k // 2 - 1])
    return found


def intersect(server: sl.Server, query: list[list[Any]], coefficients: np.ndarray) -> list[list[Any]]:
    """Evaluate all polynomials at the encrypted fingerprints. The server calls this."""
    x = [powers(first, coefficients.shape[2] - 1) for first in query]

    def value(powers: list[Any], row: np.ndarray) -> Any:
        row = row.astype(object)  # the package reads Python integers faster than those of numpy
        terms = [power * coefficient for power, coefficient in zip(powers, row[1:], strict=True)]
        return sum(terms[1:], terms[0]) + row[0]

    return server.run([[value(x[f], row) for f, row in enumerate(part)] for part in coefficients])


def between(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of integers from low to high for an argument."""

    def number(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no integer from {low} to {high}")
        return int(text)

    return number


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--client", type=between(1, 4000), default=256, metavar="1..4000", help="items of the client")
    parser.add_argument("--server", type=between(1, 10**6), default=20_000, metavar="1..1000000")
    parser.add_argument("--common", type=between(0, 4000), default=100, metavar="0..4000", help="items of both")
    parser.add_argument("--params", default="wide128-8192-2", help="a set wide128-* of BGV (default: %(default)s)")
    parser.add_argument("--threads", type=between(1, 1024), help="defaults to the number of processors")
    args = parser.parse_args()
    if args.common > min(args.client, args.server):
        parser.error("argument --common: it cannot be more than --client or --server")
    if not args.params.startswith("wide128-"):
        parser.error(f"argument --params: {args.params!r} is no set wide128-*; `solinas params` lists them")
    return args


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if the result is not Python's intersection."""
    args = arguments()
    both = [secrets.token_bytes(16) for _ in range(args.client + args.server - args.common)]
    mine, theirs = both[: args.client], both[args.client - args.common :]

    # The client.
    client, server_key = sl.keygen("bgv", params=args.params)
    bins, degree = client.params.slots, SENT * 2 ** (client.params.depth - 1)
    salt = secrets.token_bytes(16)
    start = time.perf_counter()
    places, fingerprints = hashed(mine, salt, bins)
    owner = cuckoo(places, bins)
    contents = np.where(owner[:, None] >= 0, fingerprints[owner], 0)
    query = [[client.encrypt(p, Residue) for p in powers_modulo(numbers)] for numbers in contents.T]
    sent = sum(len(power.to_bytes()) for first in query for power in first)
    print(
        f"client: {len(mine)} items in {bins} bins, query of {sent / 1e6:.2f} MB, {time.perf_counter() - start:.2f} s"
    )

    # The server has its set, the salt and the query.
    start = time.perf_counter()
    coefficients = polynomials(theirs, salt, bins, degree)
    parts = len(coefficients)
    print(f"server: {len(theirs)} items in {parts} parts of degree {degree}, {time.perf_counter() - start:.2f} s")
    server = sl.Server(server_key, threads=args.threads)
    start = time.perf_counter()
    values = intersect(server, query, coefficients)
    seconds = time.perf_counter() - start
    back = sum(len(value.to_bytes()) for part in values for value in part)
    print(f"server: evaluation, reply of {back / 1e6:.2f} MB, {seconds:.2f} s")

    # The client.
    start = time.perf_counter()
    numbers = np.array([[client.decrypt(value) for value in part] for part in values])
    hits = (numbers == 0).all(axis=1).any(axis=0) & (owner >= 0)
    found = {mine[item] for item in owner[hits]}
    print(f"client: {len(found)} common items, {time.perf_counter() - start:.2f} s")
    chance = len(mine) * parts * (degree / (MODULUS - 1)) ** FINGERPRINTS
    print(f"probability that an item is wrongly reported: at most 2^{math.ceil(math.log2(chance))}")
    exact = found == set(mine) & set(theirs)
    print("the intersection is equal to Python's" if exact else "THE INTERSECTION DIFFERS from Python's")
    return 0 if exact else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sl.SolinasError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
