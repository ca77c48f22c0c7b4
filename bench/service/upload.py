"""A large upload in parts whose connection is cut again and again, and the idle service: lines A5 and F1.

The file is a ciphertext: the complement of an array, which has the full form. The connection ends at random places of
the file, by turns with a word to the service and without one. Each next request asks for the offset and goes on there.
"""

import random
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import blake3
from common import MIB, Answer, Api, Failed, Service, Table, arguments, declared, mebibytes, run
from tqdm import tqdm

import solinas as sl

ABOVE_IDLE, IDLE, BINARY = 64 * MIB, 60 * MIB, 40 * MIB
"""Most memory above that of the idle service, most memory of that, and the largest program."""
BUSY = 0.005
"""The share of a core that counts as 0 %."""
PIECE = 1 << 20


class Peak:
    """The most memory of a service, in bytes, sampled every 20 milliseconds."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.resident = self.own = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Sample during a block."""
        ended = threading.Event()

        def sample() -> None:
            while not ended.wait(0.02):
                self.resident = max(self.resident, self._service.memory())
                self.own = max(self.own, self._service.memory("RssAnon"))

        thread = threading.Thread(target=sample)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def large_file(path: Path, size: int) -> tuple[str, int]:
    """Write a ciphertext of about this size. Return its digest and its bytes."""
    client, key = sl.keygen()
    server = sl.Server(key)
    # A complement takes no bootstrap, and its result has no seed that stands for most of its bytes.
    one = len(server.run(~client.encrypt([1], sl.U64)).to_bytes())
    numbers = list(range(max(1, size // one)))
    server.run(~client.encrypt(numbers, sl.U64)).save(path)
    return f"b3-{blake3.blake3(max_threads=blake3.blake3.AUTO).update_mmap(path).hexdigest()}", path.stat().st_size


class Upload:
    """An upload in parts by tus 1.0.0."""

    def __init__(self, service: Service, path: Path, digest: str, size: int) -> None:
        self._service, self._path, self._size = service, path, size
        answer = Api(service).send("POST", "/v1/uploads", headers=declared(digest, size))
        answer.json()
        self._path_there = answer.headers["location"]
        self.sent = 0

    def offset(self) -> int:
        """Return the number of bytes that the service has."""
        answer = Api(self._service).send("HEAD", self._path_there)
        if not answer.ok:
            raise Failed(f"HEAD of an upload was answered by {answer.status}")
        return int(answer.headers["upload-offset"])

    def send(self, begin: int, end: int) -> socket.socket:
        """Send the file from the offset `begin` to `end`, in a part that promises the rest of the file."""
        host, port = self._service.url.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)))
        head = (
            f"PATCH {self._path_there} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {self._service.token}\r\n"
            f"Content-Type: application/offset+octet-stream\r\nUpload-Offset: {begin}\r\n"
            f"Content-Length: {self._size - begin}\r\n\r\n"
        )
        connection.sendall(head.encode())
        with self._path.open("rb") as file:
            file.seek(begin)
            while begin < end:
                piece = file.read(min(PIECE, end - begin))
                connection.sendall(piece)
                begin += len(piece)
                self.sent += len(piece)
        return connection


def cut_and_resumed(upload: Upload, size: int, cuts: int) -> None:
    """Send a file with cuts at random places."""
    places = sorted(random.randrange(size) for _ in range(cuts))
    silent = []
    at = 0
    for number, place in enumerate(tqdm([*places, size], "parts")):
        before = at
        connection = upload.send(at, max(at, place))
        if place == size:
            with connection, connection.makefile("rb") as answer:
                status = int(answer.readline().split()[1])
            if status != HTTPStatus.NO_CONTENT:
                raise Failed(f"the last part was answered by {status}")
        elif number % 2:
            # The service does not hear that this connection has gone: the next request ends it.
            silent.append(connection)
        else:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        at = upload.offset()
        if not before <= at <= max(before, place):
            raise Failed(f"the service has {at} bytes after a part from {before} to {place}")
    for connection in silent:
        connection.close()


def check(api: Api, digest: str, size: int) -> None:
    """Fetch the file by parts, and check its digest."""
    found = blake3.blake3()
    for begin in tqdm(range(0, size, 64 * MIB), "check"):
        answer: Answer = api.send("GET", f"/v1/blobs/{digest}", b"", {"Range": f"bytes={begin}-{begin + 64 * MIB - 1}"})
        if not answer.ok:
            raise Failed(f"the file was answered by {answer.status}")
        found.update(answer.body)
    if f"b3-{found.hexdigest()}" != digest:
        raise Failed("the file has other bytes on the service")


def stripped(program: Path, folder: Path) -> int:
    """Return the bytes of a program without symbols."""
    copy = folder / "stripped"
    shutil.copy(program, copy)
    subprocess.run(["strip", copy], check=True)
    return copy.stat().st_size


def main() -> None:
    """Upload the file, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--bytes", type=int, default=10**9, help="size of the file")
    parser.add_argument("--cuts", type=int, default=20, help="ends of the connection")
    parser.add_argument("--idle-seconds", type=int, default=60, help="seconds in which the service has nothing to do")
    options = parser.parse_args()
    table = Table()
    with Service(options.solinas, {}) as service:
        size = stripped(options.solinas, service.folder)
        table.row("the program, stripped", mebibytes(size), mebibytes(BINARY), missed=size > BINARY)
        path = service.folder / "large.ct"
        digest, size = large_file(path, options.bytes)
        begin = service.cpu_seconds()
        for _ in tqdm(range(options.idle_seconds), "idle", unit="s"):
            time.sleep(1)
        share = (service.cpu_seconds() - begin) / options.idle_seconds
        idle, own = service.memory(), service.memory("RssAnon")
        table.row("processor time of the idle service", f"{share:.2%} of a core", "0 %", missed=share > BUSY)
        table.row("its resident memory", mebibytes(idle), mebibytes(IDLE), missed=idle > IDLE)
        peak = Peak(service)
        begin = time.monotonic()
        with peak.watched():
            upload = Upload(service, path, digest, size)
            cut_and_resumed(upload, size, options.cuts)
        seconds = time.monotonic() - begin
        check(Api(service), digest, size)
        table.row(f"upload of {size} bytes with {options.cuts} cuts", f"{seconds:.1f} s, right digest", "right digest")
        table.row("bytes that were sent, over those of the file", f"{upload.sent / size:.3f}")
        above = peak.resident - idle
        table.row("most resident memory above idle", mebibytes(above), mebibytes(ABOVE_IDLE), missed=above > ABOVE_IDLE)
        table.row("part of it that is no page of a file", mebibytes(peak.own - own))
        table.print(service)


if __name__ == "__main__":
    run(main)
