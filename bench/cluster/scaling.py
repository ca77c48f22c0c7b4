"""The time of one computation on 1, 2 and 4 actors of a Ray cluster on this machine, beside one server.

Run it by `make bench-cluster`. Each actor has one thread. Every result is compared byte for byte.
"""

import argparse
import statistics
import time

import solinas as sl


@sl.program
def affine(x: sl.U8, y: sl.U8) -> sl.U8:
    """One sum of two numbers of 8 bits."""
    return x + y


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=400, help="elements of the arrays")
    parser.add_argument("--runs", type=int, default=3, help="runs, of which the table shows the median")
    parser.add_argument("--params", default="integers-128")
    options = parser.parse_args()
    client, key = sl.keygen(params=options.params)
    numbers = [i % 256 for i in range(options.elements)]
    x, y = client.encrypt(numbers, sl.U8), client.encrypt(numbers[::-1], sl.U8)

    def median(run) -> tuple[float, bytes]:
        run()
        times = []
        for _ in range(options.runs):
            start = time.monotonic()
            result = run()
            times.append(time.monotonic() - start)
        return statistics.median(times), result.to_bytes()

    server = sl.Server(key, threads=1, model="fewest")
    alone, want = median(lambda: server.run(affine(x, y)))
    print(f"{options.params}, {options.elements} sums of two u8, {affine.cost(options.params).bootstraps} bootstraps each")
    print("| computes | s | times one thread |\n|---|---|---|")
    print(f"| one server, 1 thread | {alone:.2f} | 1.00 |")
    for actors in (1, 2, 4):
        with sl.cluster(None, actors=actors, threads=1, shard_seconds=0.5) as cluster:
            seconds, result = median(lambda cluster=cluster: cluster.run(affine(x, y), key=key))
            assert result == want, "other bytes"
            print(f"| {cluster.nodes} actors of 1 thread | {seconds:.2f} | {alone / seconds:.2f} |")


if __name__ == "__main__":
    main()
