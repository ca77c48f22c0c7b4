"""Bootstraps a second of the service beside `Server.run` in this process, and the overhead of a small job: line A4.

Both have the same threads and compute in turn. All results are compared byte for byte.
"""

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from common import (
    Api,
    Failed,
    Service,
    Table,
    arguments,
    digest_of,
    milliseconds,
    run,
    seconds_between,
)
from tqdm import tqdm

import solinas as sl

LEAST, MOST = 0.95, 0.015
"""The least share of the bootstraps a second, and the most seconds of overhead."""


@sl.program
def add(x: sl.U8, y: sl.U8) -> sl.U8:
    """One sum of two numbers of 8 bits."""
    return x + y


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds of work, and its result."""
    begin = time.monotonic()
    result = work()
    return time.monotonic() - begin, result


def same(job: Mapping[str, Any], result: sl.Ciphertext) -> None:
    """Check that a job has the bytes of a local result."""
    if job["results"][0]["digest"] != digest_of(result.to_bytes()):
        raise Failed(f"job {job['id']} has other bytes than Server.run")


def main() -> None:
    """Compute in turn, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="rounds of both, of which the table shows the median")
    parser.add_argument("--jobs", type=int, default=3, help="jobs in a round")
    parser.add_argument("--elements", type=int, default=60, help="elements of their arrays")
    parser.add_argument("--small", type=int, default=60, help="small jobs")
    options = parser.parse_args()
    client, key = sl.keygen()
    with Service(options.solinas, {}) as service:
        service.register(key)
        api = Api(service)
        server = sl.Server(key, threads=api.get("/v1/version").json()["threads"])
        program = api.program(add, service.folder)

        def body(*values: sl.Ciphertext) -> Mapping[str, Any]:
            blobs = [{"blob": api.upload(value.to_bytes())} for value in values]
            return {"key": key.key_id, "program": program, "inputs": blobs}

        numbers = [number % 256 for number in range(options.elements)]
        arrays = [[client.encrypt(numbers, sl.U8) for _ in "xy"] for _ in range(options.jobs)]
        bodies = [body(*pair) for pair in arrays]
        bootstraps = options.jobs * options.elements * add.cost().bootstraps
        far, near = [], []
        # The first round warms both up.
        for number in tqdm(range(options.rounds + 1), "rounds"):
            ids = [api.submit(one, f"round {number}, {at}").json()["id"] for at, one in enumerate(bodies)]
            jobs = [api.wait(job) for job in ids]
            first, last = min(job["created"] for job in jobs), max(job["ended"] for job in jobs)
            far.append(bootstraps / seconds_between({"first": first, "last": last}, "first", "last"))
            seconds, results = timed(lambda: [server.run(add(x, y)) for x, y in arrays])
            near.append(bootstraps / seconds)
            for job, result in zip(jobs, results, strict=True):
                same(job, result)
        x, y = client.encrypt(sl.u8(7)), client.encrypt(sl.u8(40))
        small = body(x, y)
        asked, recorded, waited, alone = [], [], [], []
        for number in tqdm(range(options.small), "small jobs"):
            seconds, job = timed(lambda number=number: api.wait(api.submit(small, f"small {number}").json()["id"]))
            asked.append(seconds)
            recorded.append(seconds_between(job, "created", "ended"))
            waited.append(seconds_between(job, "created", "started"))
            seconds, result = timed(lambda: server.run(add(x, y)))
            alone.append(seconds)
            same(job, result)
        share = median(far[1:]) / median(near[1:])
        table = Table()
        table.row(
            f"`Server.run`, {server.threads} threads, arrays of `u8 + u8`", f"{median(near[1:]):.0f} bootstraps/s"
        )
        table.row("the service, from the first submission to the last end", f"{median(far[1:]):.0f} bootstraps/s")
        table.row("service over `Server.run`", f"{share:.1%}", f"{LEAST:.0%}", missed=share < LEAST)
        table.row("one `u8 + u8` by `Server.run`, p50", milliseconds(median(alone)))
        over = median(asked) - median(alone)
        table.row("the same as a job, to the answer of `GET ?wait=60`, p50", milliseconds(median(asked)))
        table.row("overhead of a small job, p50", milliseconds(over), milliseconds(MOST), missed=over > MOST)
        over = median(recorded) - median(alone)
        table.row("part of it between `created` and `ended` of the job", milliseconds(over))
        table.row("part of it between `created` and `started`", milliseconds(median(waited)))
        table.print(service)


if __name__ == "__main__":
    run(main)
