"""A service in a process of its own, requests to it, and tables of figures: shared by the programs of this folder."""

import argparse
import base64
import http.client
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TextIO

import blake3

import solinas as sl

ROOT = Path(__file__).parent.parent.parent
ENDED = ("succeeded", "failed", "cancelled", "expired")
MIB = 1 << 20
# Seconds after which a service that is not ready has failed.
PATIENCE = 120


class Failed(Exception):  # noqa: N818
    """The service did something wrong: a line of the specification does not hold, whatever the speed."""


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the request succeeded."""
        return self.status < HTTPStatus.MULTIPLE_CHOICES

    def json(self) -> Any:
        """Return the body of a success. Raises Failed for another answer."""
        if not self.ok:
            raise Failed(f"status {self.status}: {self.body.decode(errors='replace')[:500]}")
        return json.loads(self.body)


class Service:
    """`solinas serve` on a store of its own, which ends and is removed with the block of `with`."""

    def __init__(
        self,
        program: Path,
        limits: Mapping[str, float],
        *options: str,
        environment: Mapping[str, str] | None = None,
        errors: TextIO | None = None,
    ) -> None:
        """Prepare the service: settings of its file, options of its command, more variables for it, and its log."""
        self.program, self._options, self._errors = program, options, errors
        self._environment = {**os.environ, **(environment or {})}
        # The disk of a machine that tests may be nearly full.
        self._limits = {"disk_reserve_bytes": 0, **limits}
        self.token = ""

    def __enter__(self) -> Self:
        if not self.program.exists():
            raise SystemExit(f"{self.program} is missing: run `cargo build --release --bin solinas`, or give --solinas")
        self.folder = Path(tempfile.mkdtemp(prefix="solinas-service-"))
        # A signal that ends this program runs `__exit__` too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        self._process: subprocess.Popen[str] | None = None
        (self.folder / "limits.toml").write_text("".join(f"{name} = {value}\n" for name, value in self._limits.items()))
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> float:
        """Start the process, and return the seconds until it was ready."""
        begin = time.monotonic()
        command = [self.program, "serve", "--json", "--addr", "127.0.0.1:0", "--store", self.store]
        command += ["--config", self.folder / "limits.toml", *self._options]
        # Ctrl-C reaches this program alone, which then ends the service.
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=self._environment
        )
        text = ""
        while not text.endswith("}\n"):
            line = self._process.stdout.readline()
            if not line:
                raise SystemExit(f"{self.program} did not start: {text or 'see its error above'}")
            text += line
        started = json.loads(text)
        self.url, self.token = started["address"], started.get("token") or self.token
        self.work_url: str | None = started.get("work_address")
        api = Api(self)
        while not (answer := api.get("/readyz")).ok:
            if time.monotonic() > begin + PATIENCE:
                raise Failed(
                    f"the service is not ready after {PATIENCE} s: {answer.body.decode(errors='replace')[:500]}"
                )
            time.sleep(0.005)
        return time.monotonic() - begin

    def kill(self) -> None:
        """End the process as a crash does."""
        self.stop(signal.SIGKILL)

    def stop(self, by: signal.Signals) -> None:
        """Send a signal that ends the process, and wait for its end."""
        if self._process is not None:
            self._process.send_signal(by)
            self._process.wait()
            self._process.stdout.close()
            self._process = None

    @property
    def store(self) -> Path:
        """The folder of its store."""
        return self.folder / "store"

    @property
    def limits(self) -> str:
        """The limits that differ from the defaults."""
        return ", ".join(f"`{name} = {value}`" for name, value in self._limits.items())

    def memory(self, kind: str = "VmRSS") -> int:
        """Return the resident memory in bytes, or another line of /proc/PID/status."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return 1024 * int(status.split(f"{kind}:")[1].split()[0])

    def cpu_seconds(self) -> float:
        """Return the processor time that the process has taken."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def register(self, key: sl.ServerKey) -> sl.RemoteServer:
        """Register a server key."""
        return sl.connect(self.url, self.token).register(key)


class Worker:
    """`solinas work` for a service that listens for it, until the end of a block of `with`."""

    def __init__(self, service: Service, name: str = "worker") -> None:
        make = ["admin", "token", "create", "--scope", "work", "--store", service.store]
        token = service.folder / f"{name}.token"
        token.write_bytes(subprocess.run([service.program, *make], check=True, stdout=subprocess.PIPE).stdout)
        options = ["--server", service.work_url, "--token-file", token, "--cache", service.folder / name]
        self.process = subprocess.Popen([service.program, "work", *options], stdout=subprocess.DEVNULL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.process.kill()
        self.process.wait()


class Api:
    """Requests to a service, over one connection."""

    def __init__(self, service: Service) -> None:
        self._host = service.url.removeprefix("http://")
        self._token = service.token
        self._connection = http.client.HTTPConnection(self._host, timeout=120)

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request, twice if the connection breaks: the service ends connections that were idle for 10 seconds.

        Every request of these programs may be repeated. Raises OSError or HTTPException if the service is not there.
        """
        names = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        try:
            return self._exchange(method, path, body, names)
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return self._exchange(method, path, body, names)

    def _exchange(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        self._connection.request(method, path, body or None, headers)
        answer = self._connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read())

    def get(self, path: str) -> Answer:
        """Send a GET."""
        return self.send("GET", path)

    def upload(self, data: bytes) -> str:
        """Store a file, and return its digest."""
        digest = digest_of(data)
        answer = self.send("PUT", f"/v1/blobs/{digest}", data)
        if not answer.ok:
            raise Failed(f"an upload was answered by {answer.status}: {answer.body.decode(errors='replace')[:500]}")
        return digest

    def program(self, program: sl.Program[..., Any], folder: Path) -> str:
        """Store a program, and return its digest."""
        path = folder / "program.json"
        program.save(path)
        return self.send("POST", "/v1/programs", path.read_bytes()).json()["digest"]

    def submit(self, body: Mapping[str, Any], idempotency_key: str) -> Answer:
        """Submit a job."""
        return self.send("POST", "/v1/jobs", json.dumps(body).encode(), {"Idempotency-Key": idempotency_key})

    def wait(self, job: str) -> Mapping[str, Any]:
        """Return a job when it has ended. Raises Failed if it did not succeed."""
        state: Mapping[str, Any] = {"state": "queued"}
        while state["state"] not in ENDED:
            state = self.get(f"/v1/jobs/{job}?wait=60").json()
        return succeeded(state)


def counter(api: Api, name: str) -> float:
    """Return a counter of /metrics."""
    lines = api.get("/metrics").body.decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


def succeeded(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the job. Raises Failed if it did not succeed."""
    if job["state"] != "succeeded":
        raise Failed(f"job {job['id']} is {job['state']}: {job['error']}")
    return job


def digest_of(data: bytes) -> str:
    """Return the digest of bytes as the service writes it."""
    return f"b3-{blake3.blake3(data).hexdigest()}"


def seconds_between(job: Mapping[str, Any], begin: str, end: str) -> float:
    """Return the seconds between two times of a job, such as `created` and `started`."""
    return (datetime.fromisoformat(job[end]) - datetime.fromisoformat(job[begin])).total_seconds()


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that `part` of all values do not pass."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def declared(digest: str, size: int) -> dict[str, str]:
    """Return the headers that begin an upload in parts (tus 1.0.0)."""
    named = base64.b64encode(digest.encode()).decode()
    return {"Tus-Resumable": "1.0.0", "Upload-Length": str(size), "Upload-Metadata": f"digest {named}"}


def milliseconds(seconds: float) -> str:
    """Return a time as the tables show it."""
    return f"{1e3 * seconds:.1f} ms"


def mebibytes(count: float) -> str:
    """Return a size as the tables show it."""
    return f"{count / MIB:.1f} MiB"


class Table:
    """Rows of what was measured and what was asked."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, str, str]] = []

    def row(self, what: str, measured: str, asked: str = "", *, missed: bool = False) -> None:
        """Add a row."""
        self._rows.append((what, measured, asked + (", missed" if missed else "")))

    def print(self, service: Service) -> None:
        """Print the table, and the machine, date and command under it."""
        print("| what | measured | asked |\n|---|---|---|")
        for row in self._rows:
            print("| {} | {} | {} |".format(*row))
        command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        print(f"\n{machine()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, `{command}`. Limits: {service.limits}.\n")


def machine() -> str:
    """Return the name of the processor, and the number of its cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{os.cpu_count()} cores of {names[0] if names else 'an unknown processor'}"


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all programs have."""
    parser = argparse.ArgumentParser(description=description)
    default = ROOT / "target" / "release" / "solinas"
    parser.add_argument("--solinas", type=Path, default=default, help="the program that serves")
    return parser


def run(main: Callable[[], None]) -> None:
    """Run a program. Its errors and Ctrl-C end it with a line, after the service and its folder are gone."""
    try:
        main()
    except Failed as failure:
        raise SystemExit(f"failed: {failure}") from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
