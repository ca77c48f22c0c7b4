"""A server turns data under AES-128 in counter mode into encryptions of scheme TFHE, and sees neither key nor data.

python transcipher.py                  # the first block of NIST's test vector
python transcipher.py --blocks 4       # the whole vector
python transcipher.py --random --blocks 2
"""

import argparse
import importlib.util
import secrets
import sys
import time

import reference
from field import CONSTANT, encode
from rounds import U1, last_round, middle_round

import solinas as sl

PUBLISHED = """published, on other machines:
  tfhe-rs, pull request 3597: 6.7 s a block (before it 16.5 s); the machine is not stated
  tfhe-rs, pull request 2778: 16.4 s for one block, 1.69 s a block for 192 blocks, on hpc7a.96xlarge
  arXiv 2510.08343: 28 s on 16 threads, 8 s on 100 threads"""


def bits_of_key(key: bytes, rounds: int) -> list[list[list[int]]]:
    """Return the bits that the client encrypts: round keys in the form of the state, and the last one in AES's bits."""
    first, *keys = reference.round_keys(key)
    used = [*keys[: rounds - 1], keys[9]]
    shifted = [[x ^ CONSTANT for x in key] for key in used]
    plain = [[x >> b & 1 for b in range(8)] for x in shifted[-1]]
    return [[encode(x) for x in first], *([encode(x) for x in key] for key in shifted[:-1]), plain]


def add_public(bits: sl.EncryptedArray, rows: list[list[int]]) -> sl.EncryptedArray:
    """Return the exclusive or of encrypted bits with each row of public bits. This takes no bootstrap."""
    count = bits.size
    both = sl.EncryptedArray.stack([bits, ~bits]).reshape(2 * count)
    chosen = [i + count * bit for row in rows for i, bit in enumerate(row)]
    return both[chosen].reshape(len(rows), *bits.shape)


def decrypted(key: sl.EncryptedArray, counters: list[bytes], data: bytes) -> sl.EncryptedArray:
    """Record the decryption of AES in counter mode: the server's part. The result has 16 bytes in each row."""
    state = add_public(key[0], [[bit for x in block for bit in encode(x)] for block in counters])
    for i in range(1, key.shape[0] - 1):
        state = middle_round(state, key[i])
    rows = [[x >> b & 1 for x in data[i : i + 16] for b in range(8)] for i in range(0, len(data), 16)]
    return last_round(state, add_public(key[-1], rows))


def simulated(key: bytes, block: bytes, rounds: int) -> bytes:
    """Return what the programs of the server compute, in the clear."""
    first, *middle, last = bits_of_key(key, rounds)
    state = [[a ^ b for a, b in zip(encode(x), row, strict=True)] for x, row in zip(block, first, strict=True)]
    for row in middle:
        state = middle_round.simulate(state, row)
    return bytes(int(x) for x in last_round.simulate(state, last))


def check() -> int:
    """Compare the programs with the vectors of FIPS 197 and SP 800-38A, and with random ones. Return the number."""
    cases = [tuple(map(bytes.fromhex, case)) for case in reference.BLOCKS]
    stream = bytes(a ^ b for a, b in zip(reference.PLAIN, reference.CIPHER, strict=True))
    for i, counter in enumerate(reference.counters(reference.COUNTER, 4)):
        cases.append((reference.KEY, counter, stream[16 * i : 16 * i + 16]))
    for _ in range(4):
        key, block = secrets.token_bytes(16), secrets.token_bytes(16)
        cases.append((key, block, library(key, block)))
    for key, block, wanted in cases:
        for name, found in (("plain Python", reference.encrypt(key, block)), ("rounds", simulated(key, block, 10))):
            if found != wanted:
                sys.exit(f"{name}: key {key.hex()}, block {block.hex()} gave {found.hex()}, not {wanted.hex()}")
    return len(cases)


def library(key: bytes, block: bytes) -> bytes:
    """Return the encrypted block by the library cryptography, or by plain Python if it is not installed."""
    if importlib.util.find_spec("cryptography") is None:
        return reference.encrypt(key, block)
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def run(args: argparse.Namespace) -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a block is wrong."""
    print(f"in the clear, the rounds are right on {check()} vectors")
    if args.random:
        key, counter = secrets.token_bytes(16), secrets.token_bytes(16)
        plain = secrets.token_bytes(16 * args.blocks)
    else:
        key, counter = reference.KEY, reference.COUNTER
        plain = (reference.PLAIN * (1 + args.blocks // 4))[: 16 * args.blocks]
    data = reference.counter_mode(key, counter, plain, args.rounds)

    # The client has both keys. It sends its AES key in encrypted form once, and then its data under AES.
    client, server_key = sl.keygen("tfhe", params="integers-128")
    sent = client.encrypt(bits_of_key(key, args.rounds), U1).to_bytes()
    print(f"client: sends the key in {len(sent):,} bytes once, and {len(data)} bytes of data under AES")

    # The server has the server key, the encrypted AES key, the counter and the data.
    server = sl.Server(server_key, threads=args.threads)
    result = decrypted(sl.EncryptedArray.from_bytes(sent), reference.counters(counter, args.blocks), data)
    cost = server.estimate(result)
    each = cost.bootstraps // args.blocks
    print(f"server: {each:,} bootstraps a block, depth {cost.depth}, {server.threads} threads", flush=True)
    start = time.perf_counter()
    result = server.run(result, progress=sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None)
    seconds = time.perf_counter() - start
    rates = f"{seconds / args.blocks:.2f} s a block, {1e3 * seconds / cost.bootstraps:.2f} ms a bootstrap"
    print(f"server: {seconds:.1f} s, {rates}")

    # The result is an array of encrypted bytes. The server can compute with it.
    found = bytes(int(x) for row in client.decrypt(result) for x in row)
    print(f"client: decrypts {found[:16].hex()}{'...' if args.blocks > 1 else ''}")
    print("every byte is equal to the client's" if found == plain else "BYTES DIFFER from the client's")
    print(PUBLISHED)
    return 0 if found == plain else 1


def main() -> int:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=1, help="the number of blocks of 16 bytes (default: 1)")
    parser.add_argument("--random", action="store_true", help="take a random key, counter and data")
    parser.add_argument(
        "--rounds",
        type=int,
        default=10,
        choices=range(1, 11),
        metavar="1..10",
        help="fewer rounds than the 10 of AES, for a quick test",
    )
    parser.add_argument("--threads", type=int, help="threads of the server (default: the number of processors)")
    parser.add_argument("--check", action="store_true", help="compare with the test vectors in the clear, and end")
    args = parser.parse_args()
    if args.blocks < 1:
        parser.error(f"--blocks is {args.blocks}: give a positive number")
    if args.threads is not None and args.threads < 1:
        parser.error(f"--threads is {args.threads}: give a positive number")
    if args.check:
        print(f"in the clear, the rounds are right on {check()} vectors")
        return 0
    try:
        return run(args)
    except sl.SolinasError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
