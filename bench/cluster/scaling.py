"""The time of one computation on workers of a Ray cluster on this machine, beside one server with as many threads.

Run it by `make bench-cluster`. Each worker has one thread. Every result is compared byte for byte.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

import ray

import solinas as sl


@sl.program
def add(x: sl.U8, y: sl.U8) -> sl.U8:
    """One sum of two numbers of 8 bits."""
    return x + y


def measured(run: Callable[[], sl.EncryptedArray], runs: int) -> tuple[float, bytes]:
    """Return the median of the seconds, after a run that warms up, and the bytes of the result."""
    times = []
    for _ in range(runs + 1):
        start = time.monotonic()
        result = run()
        times.append(time.monotonic() - start)
    return statistics.median(times[1:]), result.to_bytes()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=400, help="elements of the arrays")
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the table shows the median")
    parser.add_argument("--shard-seconds", type=float, default=0.5, help="the wanted time of a shard in seconds")
    parser.add_argument("--params", default="integers-128", help="the parameter set")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4], help="numbers of workers")
    options = parser.parse_args()
    client, key = sl.keygen(params=options.params)
    numbers = [i % 256 for i in range(options.elements)]
    x, y = client.encrypt(numbers, sl.U8), client.encrypt(numbers[::-1], sl.U8)
    count = options.elements * add.cost(options.params).bootstraps
    print(f"{options.params}, {options.elements} sums of two u8, {count} bootstraps, {os.cpu_count()} cores")
    print(
        "| threads | one server, s | as many workers of 1 thread, s | speed relative to the server |\n|---|---|---|---|"
    )
    for workers in options.workers:
        server = sl.Server(key, threads=workers, model="fewest")
        alone, want = measured(lambda server=server: server.run(add(x, y)), options.runs)
        # Ray counts the processors that it is told: more workers than processors share them.
        ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        with sl.cluster(actors=workers, threads=1, shard_seconds=options.shard_seconds) as cluster:
            seconds, result = measured(lambda cluster=cluster: cluster.run(add(x, y), key=key), options.runs)
        ray.shutdown()
        if result != want:
            raise SystemExit(f"{workers} workers computed other bytes")
        print(f"| {workers} | {alone:.2f} | {seconds:.2f} | {alone / seconds:.2f} |")


if __name__ == "__main__":
    main()
