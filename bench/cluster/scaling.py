"""The time of one computation on 1, 2 and 4 workers of a Ray cluster on this machine, beside one server.

Run it by `make bench-cluster`. Each worker has one thread. Every result is compared byte for byte.
"""

import argparse
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
    parser.add_argument("--params", default="integers-128", help="the parameter set")
    options = parser.parse_args()
    client, key = sl.keygen(params=options.params)
    numbers = [i % 256 for i in range(options.elements)]
    x, y = client.encrypt(numbers, sl.U8), client.encrypt(numbers[::-1], sl.U8)
    server = sl.Server(key, threads=1, model="fewest")
    alone, want = measured(lambda: server.run(add(x, y)), options.runs)
    count = options.elements * add.cost(options.params).bootstraps
    print(f"{options.params}, {options.elements} sums of two u8, {count} bootstraps")
    print("| computes | s | times one server |\n|---|---|---|")
    print(f"| one server, 1 thread | {alone:.2f} | 1.00 |")
    for workers in (1, 2, 4):
        # Ray counts the processors that it is told: more workers than processors share them.
        ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        with sl.cluster(actors=workers, threads=1, shard_seconds=0.5) as cluster:
            seconds, result = measured(lambda cluster=cluster: cluster.run(add(x, y), key=key), options.runs)
        ray.shutdown()
        if result != want:
            raise SystemExit(f"{workers} workers computed other bytes")
        print(f"| {workers} workers of 1 thread | {seconds:.2f} | {alone / seconds:.2f} |")


if __name__ == "__main__":
    main()
