"""Time operations on encrypted integers on a GPU beside the processor, and compare the bytes of their results.

    python tools/gpu/programs.py [DEVICE] [--quick]

DEVICE is `cuda:0` if none is named. It needs the package `solinas`. A time is the median of the wall times of
`Server.run`, from ciphertexts of the host to a ciphertext of the host.
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

import solinas as sl

Result = TypeVar("Result")

# Seconds of a first run above which there is no second one.
LONG = 2.0


def measure(run: Callable[[], Result], samples: int) -> tuple[Result, float]:
    """Return a result and the median seconds of `samples` runs after the first one.

    A first run of more than `LONG` seconds is the only one.
    """
    start = time.perf_counter()
    result = run()
    first = time.perf_counter() - start
    if first > LONG:
        return result, first
    times = []
    for _ in range(samples):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return result, statistics.median(times)


def main() -> int:
    """Return 0 if each result decrypts right and has the bytes of the processor."""
    quick = "--quick" in sys.argv
    names = [name for name in sys.argv[1:] if name != "--quick"]
    device = names[0] if names else "cuda:0"
    start = time.perf_counter()
    options = {"params": "gates-40", "insecure_seed": 1} if quick else {"params": "integers-128"}
    client, server_key = sl.keygen("tfhe", **options)
    print(f"keygen {time.perf_counter() - start:.2f} s")
    # One operation is to end soon, and many at once are to take few bootstraps.
    servers = {}
    for model in ("shallow", "fewest"):
        for name in ("cpu", device):
            start = time.perf_counter()
            servers[model, name] = sl.Server(server_key, device=name, model=model)
            print(f"server on {name}: {time.perf_counter() - start:.2f} s")

    kind, array, count, modulus = (sl.u8, sl.U8, 3, 2**8) if quick else (sl.u64, sl.U64, 256, 2**64)
    rng = np.random.default_rng()
    x, y = (int(n) for n in rng.integers(1, modulus, 2, dtype=np.uint64))
    small = y % 1000 + 1
    a, b, c = (client.encrypt(kind(n)) for n in (x, y, small))
    many = [rng.integers(1, modulus, count, dtype=np.uint64) for _ in range(2)]
    first, second = (client.encrypt([int(n) for n in values], array) for values in many)
    sums = [(int(n) + int(m)) % modulus for n, m in zip(*many, strict=True)]
    products = [(int(n) * int(m)) % modulus for n, m in zip(*many, strict=True)]
    part = max(1, count // 8)
    # An expression keeps its result, so each run records a new one.
    cases = [
        ("add", lambda: a + b, (x + y) % modulus, 1),
        ("less than", lambda: a < b, x < y, 1),
        ("equal", lambda: a == b, x == y, 1),
        ("and", lambda: a & b, x & y, 1),
        ("select", lambda: sl.select(a < b, a, b), min(x, y), 1),
        ("multiply", lambda: a * b, x * y % modulus, 1),
        ("divide", lambda: a // c, x // small, 1),
        (f"add, {count} at once", lambda: first + second, sums, count),
        (f"multiply, {part} at once", lambda: first[:part] * second[:part], products[:part], part),
    ]
    failed = False
    print(f"| operation | cpu | {device} | ratio | {device}, operations a second | bytes |\n|---|---|---|---|---|---|")
    for name, work, expected, items in cases:
        results, seconds = {}, {}
        for where in ("cpu", device):
            server = servers["shallow" if items == 1 else "fewest", where]
            samples = 3 if where == "cpu" else 11
            results[where], seconds[where] = measure(lambda s=server, w=work: s.run(w()), samples)
        value = client.decrypt(results[device])
        right = list(value) == expected if isinstance(expected, list) else value == expected
        same = results["cpu"].to_bytes() == results[device].to_bytes()
        failed |= not (right and same)
        print(
            f"| {name} | {1e3 * seconds['cpu']:.2f} ms | {1e3 * seconds[device]:.2f} ms"
            f" | {seconds['cpu'] / seconds[device]:.2f} | {items / seconds[device]:.1f}"
            f" | {'equal' if same else 'DIFFERENT'}{'' if right else ', WRONG VALUE'} |",
            flush=True,
        )
    for server in servers.values():
        print(server.device, server.device_failure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
