"""Many clients and more submissions than the service can compute: line A3 of its specification.

1000 clients follow jobs by event streams, and 200 submissions of `u8 + u8` arrive in a second, which is about ten times
what two cores compute. The program ends with status 1 if an accepted job does not succeed, if a result is wrong, or if
a request fails with another status than 429 and 503.
"""

import asyncio
import itertools
import json
import random
import sys
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from statistics import median
from typing import Any

from common import (
    MIB,
    Answer,
    Api,
    Failed,
    Service,
    Table,
    arguments,
    mebibytes,
    milliseconds,
    percentile,
    run,
    seconds_between,
)
from tqdm import tqdm

import solinas as sl

SHED = (429, 503)
SINGLE = 30
"""Single jobs before and after the load."""
REST = 30
"""Seconds between the load and the single jobs after it."""
SLOW, GROWTH = 0.1, 50 * MIB
"""The longest time of a GET, and the largest growth of the memory."""
NORMAL = 0.05
"""Seconds by which the waits of two series differ on an idle machine."""


@sl.program
def add(x: sl.U8, y: sl.U8) -> sl.U8:
    """One sum of two numbers of 8 bits."""
    return x + y


class Connections:
    """Requests to the service over connections that are used again."""

    def __init__(self, service: Service) -> None:
        self.host, self.port = service.url.removeprefix("http://").split(":")
        self._token = service.token
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection."""
        return await asyncio.open_connection(self.host, int(self.port))

    def head(self, method: str, path: str, headers: Mapping[str, str], length: int) -> bytes:
        """Return the head of a request."""
        names = {"Host": self.host, "Authorization": f"Bearer {self._token}", **headers}
        if length:
            names["Content-Length"] = str(length)
        lines = "".join(f"{name}: {value}\r\n" for name, value in names.items())
        return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()

    async def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request. All requests of this program may be repeated."""
        message = self.head(method, path, headers or {}, len(body)) + body
        while self._idle:
            connection = self._idle.pop()
            try:
                return await self._exchange(connection, message)
            except (OSError, EOFError):
                # The service ends connections that were idle for ten seconds.
                connection[1].close()
        return await self._exchange(await self.open(), message)

    async def _exchange(self, connection: tuple[asyncio.StreamReader, asyncio.StreamWriter], message: bytes) -> Answer:
        reader, writer = connection
        writer.write(message)
        answer = await read_head(reader)
        body = await reader.readexactly(int(answer.headers.get("content-length", 0)))
        self._idle.append(connection)
        return answer._replace(body=body)


async def read_head(reader: asyncio.StreamReader) -> Answer:
    """Read the status and the headers of an answer."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines if line)
    return Answer(int(first.split()[1]), {name.lower(): value for name, value in pairs}, b"")


class Load:
    """The clients, and what they saw."""

    def __init__(self, service: Service, connections: Connections, bodies: list[bytes]) -> None:
        self.service, self.connections, self.bodies = service, connections, bodies
        self.answers: Counter[str] = Counter()
        self.accepted: dict[str, int] = {}
        """The number of the body of each accepted job."""
        self.recent: deque[str] = deque(maxlen=200)
        self.without_retry = 0
        self.streams = self.followed = 0
        self.gets: list[float] = []
        self.lags: list[float] = []
        self.memory: list[int] = []
        self.errors: list[str] = []

    async def submit(self) -> None:
        """Send a submission."""
        number = random.randrange(len(self.bodies))
        key = {"Idempotency-Key": f"{random.getrandbits(128):x}", "Content-Type": "application/json"}
        answer = await self.connections.send("POST", "/v1/jobs", self.bodies[number], key)
        self.count("submission", answer)
        if answer.ok:
            job = json.loads(answer.body)["id"]
            self.accepted[job] = number
            self.recent.append(job)

    def count(self, what: str, answer: Answer) -> None:
        """Count an answer, and note an error of the service."""
        self.answers[f"{what} {answer.status}"] += 1
        if answer.status in SHED:
            self.without_retry += "retry-after" not in answer.headers
        elif not answer.ok:
            self.errors.append(f"{what}: {answer.status} {answer.body.decode(errors='replace')[:300]}")

    async def submissions(self, rate: float) -> None:
        """Send submissions at a rate, whether the ones before have their answers or not."""
        begin = time.monotonic()
        async with asyncio.TaskGroup() as tasks:
            for number in itertools.count():
                await asyncio.sleep(max(0.0, begin + number / rate - time.monotonic()))
                tasks.create_task(self.noted(self.submit))

    async def noted(self, request: Callable[[], Awaitable[None]]) -> None:
        """Note a connection that broke as an error."""
        try:
            await request()
        except (OSError, EOFError) as error:
            self.errors.append(f"a connection broke: {error!r}")

    async def client(self) -> None:
        """Follow one recent job after the other."""
        while True:
            await self.noted(partial(self.follow, random.choice(self.recent)))

    async def follow(self, job: str) -> None:
        """Follow a job to its end."""
        reader, writer = await self.connections.open()
        try:
            writer.write(self.connections.head("GET", f"/v1/jobs/{job}/events", {}, 0))
            answer = await read_head(reader)
            self.count("stream", answer)
            if not answer.ok:
                await asyncio.sleep(1)
                return
            self.streams += 1
            try:
                while line := await reader.readline():
                    if line.startswith(b"event: done"):
                        self.followed += 1
                        return
            finally:
                self.streams -= 1
            self.errors.append(f"the stream of job {job} ended before the job")
        finally:
            writer.close()

    async def probe(self) -> None:
        """Ask for a job twenty times in a second."""
        while True:
            begin = time.monotonic()
            await asyncio.sleep(0.05)
            self.lags.append(time.monotonic() - begin - 0.05)
            begin = time.monotonic()
            answer = await self.connections.send("GET", f"/v1/jobs/{random.choice(self.recent)}")
            self.gets.append(time.monotonic() - begin)
            self.count("GET of a job", answer)

    async def run(self, seconds: float, rate: float, clients: int) -> None:
        """Run all clients for a time."""
        tasks = [asyncio.create_task(self.submissions(rate))]
        while not self.recent:
            await asyncio.sleep(0.01)
        tasks.append(asyncio.create_task(self.noted(self.probe)))
        # Connections that all come in one moment would measure the queue of the system.
        for _ in range(clients):
            tasks.append(asyncio.create_task(self.client()))
            await asyncio.sleep(0.002)
        for second in tqdm(range(int(seconds)), "load", unit="s"):
            self.memory.append(self.service.memory())
            await asyncio.sleep(1)
            if second == min(10, int(seconds) - 1) and self.streams < clients * 0.9:
                self.errors.append(f"only {self.streams} streams are open")
            for task in tasks:
                if task.done():
                    task.result()
        self.memory.append(self.service.memory())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def waits(api: Api, body: Mapping[str, Any], name: str) -> list[float]:
    """Return the seconds that single jobs waited, one after the other."""
    found = []
    for number in tqdm(range(SINGLE), f"single jobs {name}"):
        job = api.wait(api.submit(body, f"{name} {number}").json()["id"])
        found.append(seconds_between(job, "created", "started"))
    return found


def check(load: Load, api: Api, jobs: Mapping[str, Mapping[str, Any]], client: sl.ClientKey, wanted: list[int]) -> None:
    """Check all accepted jobs. Jobs with the same inputs have the same bytes, so one of them is decrypted."""
    digests: dict[int, str] = {}
    for job, number in load.accepted.items():
        digest = jobs[job]["results"][0]["digest"]
        if digest != digests.setdefault(number, digest):
            raise Failed(f"job {job} has another result than an equal job")
    for number, digest in digests.items():
        value = client.decrypt(sl.U8.from_bytes(api.get(f"/v1/blobs/{digest}").body))
        if value != wanted[number]:
            raise Failed(f"a result is {value} and should be {wanted[number]}")


def figures(load: Load, jobs: Mapping[str, Mapping[str, Any]], stopped: float) -> Table:
    """Return what the clients saw during the load."""
    table = Table()
    for what, count in sorted(load.answers.items()):
        table.row(f"answers: {what}", f"{count}")
    table.row("answers 429 and 503 without `Retry-After`", f"{load.without_retry}", "0", missed=load.without_retry > 0)
    table.row("other errors", f"{len(load.errors)}", "0", missed=bool(load.errors))
    table.row("jobs that clients followed to their ends", f"{load.followed}")
    table.row("accepted jobs, which all succeeded with the right bytes", f"{len(jobs)}", "all")
    submissions = sum(count for what, count in load.answers.items() if what.startswith("submission"))
    table.row("submissions for each accepted job", f"{submissions / len(jobs):.1f}", "about 10")
    slow = percentile(load.gets, 0.99)
    table.row("`GET /v1/jobs/{id}` during the load, p50", milliseconds(median(load.gets)))
    table.row("the same, p99", milliseconds(slow), milliseconds(SLOW), missed=slow > SLOW)
    table.row("part of it in the process of the clients, p99", milliseconds(percentile(load.lags, 0.99)))
    first, middle, last = load.memory[0], load.memory[len(load.memory) // 2], load.memory[-1]
    table.row("resident memory before the load", mebibytes(first))
    table.row("its growth during the load", mebibytes(last - first), mebibytes(GROWTH), missed=last - first > GROWTH)
    table.row("its growth in the second half of the load", mebibytes(last - middle))
    end = max(datetime.fromisoformat(job["ended"]).timestamp() for job in jobs.values())
    table.row("end of the last accepted job, after the end of the load", f"{end - stopped:.1f} s")
    return table


def main() -> None:
    """Run the load, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="seconds of load")
    parser.add_argument("--clients", type=int, default=1000, help="clients with an open event stream")
    parser.add_argument("--rate", type=float, default=200, help="submissions in a second")
    parser.add_argument("--queue-seconds", type=float, default=20, help="the limit `queue_seconds`")
    options = parser.parse_args()
    client, key = sl.keygen()
    with Service(options.solinas, {"queue_seconds": options.queue_seconds}) as service:
        service.register(key)
        api = Api(service)
        numbers = [random.randrange(256) for _ in range(8)]
        blobs = [api.upload(client.encrypt(sl.u8(number)).to_bytes()) for number in numbers]
        program = api.program(add, service.folder)
        pairs = list(itertools.product(range(8), repeat=2))
        inputs = [[{"blob": blobs[a]}, {"blob": blobs[b]}] for a, b in pairs]
        bodies = [{"key": key.key_id, "program": program, "inputs": pair} for pair in inputs]
        before = waits(api, bodies[0], "before the load")
        load = Load(service, Connections(service), [json.dumps(body).encode() for body in bodies])
        asyncio.run(load.run(options.seconds, options.rate, options.clients))
        stopped = time.time()
        for _ in tqdm(range(REST), "rest", unit="s"):
            time.sleep(1)
        after = waits(api, bodies[0], "after the load")
        jobs = {job: api.wait(job) for job in tqdm(load.accepted, "accepted jobs")}
        check(load, api, jobs, client, [(numbers[a] + numbers[b]) % 256 for a, b in pairs])
        table = figures(load, jobs, stopped)
        early, late = percentile(before, 0.99), percentile(after, 0.99)
        table.row(
            "wait of single jobs before the load, p50 and p99", f"{milliseconds(median(before))}, {milliseconds(early)}"
        )
        table.row(
            f"the same {REST} s after the load",
            f"{milliseconds(median(after))}, {milliseconds(late)}",
            "as before",
            missed=late > early + NORMAL,
        )
        table.print(service)
        if load.errors or load.without_retry:
            print(*load.errors[:10], sep="\n", file=sys.stderr)
            raise SystemExit(1)


if __name__ == "__main__":
    run(main)
