"""SIGKILL of the service at random moments, on SQLite or PostgreSQL: line C1.

Jobs run all the time, and a client stores files and submits jobs, also in the moment of a kill. After each start, every
acknowledged job and the newest acknowledged files must be there. A submission that is repeated must give the same job.
At the end all jobs have succeeded, equal jobs have equal bytes, no result has changed, and all files are there.
"""

import http.client
import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from statistics import median
from typing import Any

from common import ENDED, Api, Failed, Service, Table, arguments, percentile, run, succeeded
from tqdm import tqdm

import solinas as sl

READY, LOST = 3.0, 30.0
"""Most seconds of a start, and most seconds of lost compute."""
FACTORS = (3, 5, 7, 11, 13)
"""The jobs multiply the same numbers by these, in turn."""
FILES_A_LOOK = 5
"""Files that are stored between two looks at the jobs."""
BROKEN = (OSError, http.client.HTTPException)


@sl.program
def product(x: sl.U16, y: sl.U16) -> sl.U16:
    """One product of two numbers of 16 bits."""
    return x * y


class Client(threading.Thread):
    """Stores files and keeps jobs under way, and repeats what a kill has broken."""

    def __init__(self, service: Service, bodies: list[Mapping[str, Any]], files: Iterator[bytes], live: int) -> None:
        super().__init__(daemon=True)
        self._service, self._bodies, self._unsent, self._live = service, bodies, files, live
        self.files: list[str] = []
        """The acknowledged files."""
        self.jobs: list[str] = []
        """The acknowledged jobs. The first belongs to the first body, and so on in turn."""
        self.results: dict[str, str] = {}
        self.ended = False
        self.failure: Exception | None = None

    def run(self) -> None:
        """Store files and submit jobs until `ended`."""
        try:
            for number, data in enumerate(self._unsent):
                self._repeat(lambda api, data=data: self.files.append(api.upload(data)))
                if number % FILES_A_LOOK == 0:
                    self._repeat(self._fill)
                if self.ended:
                    return
                time.sleep(0.02)
        except Exception as failure:
            self.failure = failure

    def _repeat(self, step: Callable[[Api], object]) -> None:
        """Do a step, again while the service is not there."""
        while not self.ended:
            try:
                return step(Api(self._service))
            except BROKEN:
                time.sleep(0.02)

    def _fill(self, api: Api) -> None:
        """Submit jobs until enough of them have not ended, and one earlier job again."""
        live = sum(job["state"] not in ENDED for job in self.look(api))
        for _ in range(self._live - live):
            self.jobs.append(self._submit(api, len(self.jobs)))
        again = random.randrange(len(self.jobs))
        if self._submit(api, again) != self.jobs[again]:
            raise Failed(f"the submission of job {self.jobs[again]} made another job when it was repeated")

    def _submit(self, api: Api, number: int) -> str:
        return api.submit(self._bodies[number % len(self._bodies)], f"job {number}").json()["id"]

    def look(self, api: Api) -> list[Mapping[str, Any]]:
        """Return the jobs of the service. Raises Failed if one was lost, has failed or has changed."""
        known = set(self.jobs)
        found, after = [], ""
        while page := api.get(f"/v1/jobs?limit=1000{after}").json()["jobs"]:
            found += page
            after = f"&after={page[-1]['id']}"
        if missing := known - {job["id"] for job in found}:
            raise Failed(f"jobs were lost: {missing}")
        for job in found:
            if job["state"] in ENDED:
                result = succeeded(job)["results"][0]["digest"]
                if self.results.setdefault(job["id"], result) != result:
                    raise Failed(f"job {job['id']} has changed its result")
        return found


def check_files(api: Api, digests: list[str]) -> None:
    """Check that files are there."""
    for digest in digests:
        if not api.send("HEAD", f"/v1/blobs/{digest}").ok:
            raise Failed(f"the acknowledged file {digest} was lost")


def lost(service: Service, jobs: list[Mapping[str, Any]], ready: float, now: float) -> float:
    """Return a bound of the seconds of compute that a kill at `now` loses: the time since the last checkpoint."""
    times = [ready, *(path.stat().st_mtime for path in (service.store / "checkpoints").iterdir())]
    times += [datetime.fromisoformat(job["ended"]).timestamp() for job in jobs if job["ended"]]
    return now - max(times)


def killed(service: Service, client: Client, kills: int, gap: float) -> tuple[list[float], list[float], int]:
    """Kill and start the service. Return the seconds of starts and of lost compute, and the kills that hit a job."""
    starts, losses, hits = [], [], 0
    # The first submission takes longer than others: the service measures the speed of the key.
    while not client.jobs and client.failure is None:
        time.sleep(0.1)
    ready = time.time()
    for _ in tqdm(range(kills), "kills"):
        time.sleep(random.uniform(0, gap))
        jobs, newest = client.look(Api(service)), client.files[-20:]
        service.kill()
        if any(job["state"] == "running" for job in jobs):
            hits += 1
            losses.append(max(0.0, lost(service, jobs, ready, time.time())))
        starts.append(service.start())
        ready = time.time()
        if client.failure is not None:
            raise client.failure
        api = Api(service)
        check_files(api, newest)
        client.look(api)
    return starts, losses, hits


def check(api: Api, client: Client, key: sl.ClientKey, wanted: list[list[int]]) -> None:
    """Check all jobs and files at the end."""
    for job in tqdm(client.jobs, "ends of jobs"):
        api.wait(job)
    if len(client.look(api)) != len(client.jobs):
        raise Failed("the service has jobs that nobody submitted")
    check_files(api, client.files)
    for kind, values in enumerate(wanted):
        digests = {client.results[job] for job in client.jobs[kind :: len(wanted)]}
        if len(digests) > 1:
            raise Failed(f"equal jobs have the results {digests}")
        for digest in digests:
            result = sl.EncryptedArray.from_bytes(api.get(f"/v1/blobs/{digest}").body)
            if list(key.decrypt(result)) != values:
                raise Failed(f"the result {digest} is wrong")


def main() -> None:
    """Kill the service again and again, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=500, help="kills")
    parser.add_argument("--gap", type=float, default=4.0, help="most seconds between a start and the next kill")
    parser.add_argument("--elements", type=int, default=10, help="elements of the arrays of a job")
    parser.add_argument("--checkpoint-every", type=int, default=1, help="the option of the service, in seconds")
    parser.add_argument("--live", type=int, default=3, help="jobs that have not ended, at all times")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments")
    parser.add_argument("--database", help="the address of an empty database of PostgreSQL; SQLite without it")
    options = parser.parse_args()
    random.seed(options.seed)
    client_key, key = sl.keygen()
    numbers = [number % 1000 for number in range(options.elements)]
    # A job that ends its process five times without progress fails by default.
    limits = {"attempts": 10 * options.kills}
    settings = ["--checkpoint-every", str(options.checkpoint_every), "--log", "error"]
    settings += ["--database", options.database] if options.database else []
    with Service(options.solinas, limits, *settings) as service:
        service.register(key)
        api = Api(service)
        program = api.program(product, service.folder)
        bodies = []
        for factor in FACTORS:
            pair = [client_key.encrypt(values, sl.U16) for values in (numbers, [factor] * len(numbers))]
            inputs = [{"blob": api.upload(value.to_bytes())} for value in pair]
            bodies.append({"key": key.key_id, "program": program, "inputs": inputs})
        files = (client_key.encrypt(sl.u8(number % 256)).to_bytes() for number in itertools.count())
        client = Client(service, bodies, files, options.live)
        client.start()
        starts, losses, hits = killed(service, client, options.kills, options.gap)
        client.ended = True
        client.join()
        if client.failure is not None:
            raise client.failure
        wanted = [[number * factor % 65536 for number in numbers] for factor in FACTORS]
        check(Api(service), client, client_key, wanted)
        left = len(list((service.store / "checkpoints").iterdir()))
        table = Table()
        table.row("kills, and those that hit a running job", f"{options.kills}, {hits}", "500")
        table.row("jobs: none lost, all right, equal ones with equal bytes", f"{len(client.jobs)}", "50")
        table.row("acknowledged files, which are all there", f"{len(client.files)}", "all")
        slow, most = max(starts), max(losses, default=0.0)
        middle = f"{median(starts):.2f}, {percentile(starts, 0.99):.2f}, {slow:.2f} s"
        table.row("ready again: median, p99, most", middle, f"{READY:.0f} s", missed=slow > READY)
        middle = f"{median(losses):.2f}, {most:.2f} s" if losses else "no job was hit"
        table.row("compute that a kill lost: median, most", middle, f"{LOST:.0f} s", missed=most > LOST)
        table.row("checkpoints left over", f"{left}", "0", missed=left > 0)
        table.print(service)


if __name__ == "__main__":
    run(main)
