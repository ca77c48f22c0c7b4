"""A full disk at every write: line C4.

The store is on a small file system, which this program fills until a few kilobytes are left, more in each round. A
client stores files and submits jobs meanwhile, and jobs run. Every answer is a success or 507, and a success is kept.
After room is made, all of it works again, without a new start, and after a kill.
"""

import errno
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from common import ENDED, Api, Failed, Service, Table, arguments, declared, digest_of, run, succeeded
from tqdm import tqdm

import solinas as sl

FULL = 507
MOST_FREE = 160 << 10
"""Most bytes that are left: every write of a small request has then had its turn to fail."""


@sl.program
def product(x: sl.U8, y: sl.U8) -> sl.U8:
    """One product of two numbers of 8 bits."""
    return x * y


class Filler:
    """A file that takes the room of a file system."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "filler"

    def fill(self, left: int) -> None:
        """Take all but `left` bytes."""
        self.remove()
        with self._path.open("wb") as file:
            while True:
                system = os.statvfs(self._path.parent)
                try:
                    return os.posix_fallocate(file.fileno(), 0, max(system.f_bavail * system.f_frsize - left, 1))
                except OSError as error:
                    # The service has taken some of the room since.
                    if error.errno != errno.ENOSPC:
                        raise

    def remove(self) -> None:
        """Make room."""
        self._path.unlink(missing_ok=True)


class Client:
    """Stores files and submits jobs, and keeps what the service has acknowledged."""

    def __init__(self, service: Service, secret: sl.ClientKey, key: sl.ServerKey) -> None:
        self._service, self._secret = service, secret
        api = Api(service)
        self._numbers = [3, 5, 250]
        pair = [secret.encrypt(values, sl.U8) for values in (self._numbers, self._numbers[::-1])]
        inputs = [{"blob": api.upload(value.to_bytes())} for value in pair]
        self._body = {"key": key.key_id, "program": api.program(product, service.folder), "inputs": inputs}
        self.files: set[str] = set()
        self.jobs: dict[str, str] = {}
        """The acknowledged jobs, by the keys of their submissions."""
        self.answers: Counter[str] = Counter()
        self._count = 0

    def _known(self, what: str, status: int, *, is_room: bool) -> bool:
        """Count an answer, and return whether it is a success. Raises Failed for others but 507 without room."""
        self.answers[f"{what} {status}"] += 1
        if status not in {200, 201, 202, 204} and (is_room or status != FULL):
            raise Failed(f"{what} was answered by {status}, {'with' if is_room else 'without'} room")
        return status != FULL

    def act(self, *, is_room: bool) -> None:
        """Store a file in two ways and submit a job."""
        api = Api(self._service)
        self._count += 1
        data = self._secret.encrypt(sl.u8(self._count % 256)).to_bytes()
        digest = digest_of(data)
        answer = api.send("PUT", f"/v1/blobs/{digest}", data)
        if self._known("file", answer.status, is_room=is_room):
            self.files.add(digest)
        data = self._secret.encrypt([self._count % 256] * 20, sl.U8).to_bytes()
        answer = api.send("POST", "/v1/uploads", headers=declared(digest_of(data), len(data)))
        if self._known("upload", answer.status, is_room=is_room):
            path, body = (
                answer.headers["location"],
                {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"},
            )
            answer = api.send("PATCH", path, data, {"Tus-Resumable": "1.0.0", **body})
            if self._known("its part", answer.status, is_room=is_room):
                self.files.add(digest_of(data))
        name = f"job {self._count}"
        answer = api.submit(self._body, name)
        if self._known("job", answer.status, is_room=is_room):
            self.jobs[name] = answer.json()["id"]

    def check(self) -> None:
        """Check that all that was acknowledged is there, and the jobs that have ended."""
        api = Api(self._service)
        for digest in self.files:
            if not api.send("HEAD", f"/v1/blobs/{digest}").ok:
                raise Failed(f"the acknowledged file {digest} was lost")
        for name, job in self.jobs.items():
            found = api.get(f"/v1/jobs/{job}").json()
            if found["state"] in ENDED:
                succeeded(found)
            if api.submit(self._body, name).json()["id"] != job:
                raise Failed(f"the submission of job {job} made another job when it was repeated")

    def end(self) -> None:
        """Wait for all jobs, and check their results."""
        api = Api(self._service)
        digests = {api.wait(job)["results"][0]["digest"] for job in tqdm(self.jobs.values(), "ends of jobs")}
        if len(digests) > 1:
            raise Failed(f"equal jobs have the results {digests}")
        for digest in digests:
            result = sl.EncryptedArray.from_bytes(api.get(f"/v1/blobs/{digest}").body)
            if list(self._secret.decrypt(result)) != [
                x * y % 256 for x, y in zip(self._numbers, self._numbers[::-1], strict=True)
            ]:
                raise Failed(f"the result {digest} is wrong")


def rounds(service: Service, client: Client, options: Any) -> int:
    """Fill the disk and make room, again and again. Return the kills."""
    filler, kills = Filler(options.folder), 0
    for number in tqdm(range(options.rounds), "full disks"):
        filler.fill(number * MOST_FREE // options.rounds // 512 * 512)
        for _ in range(2):
            client.act(is_room=False)
            time.sleep(random.uniform(0, options.pause))
        ready = Api(service).get("/readyz").status
        client.answers[f"/readyz {ready}"] += 1
        if number % options.kill_every == options.kill_every - 1:
            service.kill()
            filler.remove()
            service.start()
            kills += 1
        else:
            filler.remove()
        client.act(is_room=True)
        client.check()
    return kills


def main() -> None:
    """Fill the disk again and again, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--folder", type=Path, required=True, help="an empty file system of 300 MB, such as mount -t tmpfs -o size=300m"
    )
    parser.add_argument("--rounds", type=int, default=200, help="times that the disk is full")
    parser.add_argument("--pause", type=float, default=0.5, help="most seconds between two requests on a full disk")
    parser.add_argument("--kill-every", type=int, default=5, help="rounds from one kill on a full disk to the next")
    options = parser.parse_args()
    tempfile.tempdir = str(options.folder)
    random.seed(1)
    secret, key = sl.keygen()
    # A client submits without a pause, and only the disk may refuse it.
    limits = {"attempts": 10 * options.rounds, "queue_seconds": 1e6}
    with Service(options.solinas, limits, "--checkpoint-every", "1", "--log", "off") as service:
        service.register(key)
        client = Client(service, secret, key)
        kills = rounds(service, client, options)
        client.end()
        client.check()
        left = list((service.store / "checkpoints").iterdir())
        table = Table()
        table.row("times that the disk was full, and kills meanwhile", f"{options.rounds}, {kills}")
        for what, count in sorted(client.answers.items()):
            table.row(f"answers: {what}", f"{count}", "507 or a success" if "507" in what else "")
        table.row("acknowledged files, which are all there", f"{len(client.files)}", "all")
        table.row("acknowledged jobs, which all succeeded with the right result", f"{len(client.jobs)}", "all")
        table.row("checkpoints left over", f"{len(left)}", "0", missed=bool(left))
        table.print(service)


if __name__ == "__main__":
    run(main)
