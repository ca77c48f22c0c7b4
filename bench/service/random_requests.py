"""Random requests to every route: line A1.

The routes, their parameters and their headers come from the service's own description of its interface. Values are
right, wrong, or right ones that were changed. No answer may have the status 500, every error is a problem with a fix,
and the service may not panic.
"""

import http.client
import json
import random
import tempfile
import threading
import time
import urllib.parse
from collections import Counter
from collections.abc import Mapping
from typing import Any

from common import Api, Failed, Service, Table, arguments, declared, digest_of, run

import solinas as sl

ERROR = 400
METHODS = ("get", "put", "post", "patch", "delete", "head", "options", "trace")
JUNK = (
    "", "0", "-1", "9" * 30, "..", "%2e%2e%2f", "%00", "%ff", "a" * 5000, "%F0%9F%98%80", "null", "true", "1e400",
    "'; DROP TABLE job; --", "integers-128", "2026-11-28T00:00:00Z", "b3-" + "0" * 64, "01ARZ3NDEKTSV4RRFFQ69G5FAV",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 2**63, 2**64, 10**40, 1e308, "", "x", "\0", "\ud800", [], {}, [[[[]]]], {"blob": "x"},
    {"constant": {}}, ["a"] * 5000,
)  # fmt: skip
PATIENT = 25
"""Seconds that a request may take: a long poll ends after 20."""


@sl.program
def product(x: sl.U8, y: sl.U8) -> sl.U8:
    """One product of two numbers of 8 bits."""
    return x * y


class World:
    """A service with a key, files, a program and jobs, and what requests can name."""

    def __init__(self, service: Service) -> None:
        secret, key = sl.keygen()
        service.register(key)
        api = Api(service)
        self.files = [secret.encrypt(sl.u8(number)).to_bytes() for number in (3, 5)]
        path = service.folder / "program.json"
        product.save(path)
        program = api.program(product, service.folder)
        inputs = [{"blob": api.upload(data)} for data in self.files]
        self.job = {"key": key.key_id, "program": program, "inputs": inputs}
        jobs = [api.submit(self.job, f"job {number}").json()["id"] for number in range(3)]
        api.wait(jobs[0])
        upload = api.send("POST", "/v1/uploads", headers=declared(digest_of(b"0123456789"), 10))
        self.known = {
            "job": jobs,
            "key": [key.key_id],
            "digest": [program, *(item["blob"] for item in inputs)],
            "upload": [upload.headers["location"].rsplit("/", 1)[1]],
            "index": ["0", "1"],
        }
        self.bodies: list[Any] = [
            self.job,
            {**self.job, "name": "a", "priority": 3, "keep_for": 3600, "max_core_seconds": 1e6},
            {**self.job, "deadline": "2099-01-01T00:00:00Z"},
            {**self.job, "inputs": [inputs[0], {"constant": {"type": "u8", "value": "3"}}]},
            {"program": program, "key": key.key_id, "shapes": [None, None]},
            {"program": program, "params": "integers-128"},
            {"blob": "b3-" + "0" * 64, "name": "x", "expires_in": 60},
            json.loads(path.read_text()),
        ]
        document = api.get("/v1/openapi.json").json()
        self.routes = [
            (method, path, described[method])
            for path, described in document["paths"].items()
            for method in METHODS
            if method in described
        ]


def changed(rng: random.Random, value: Any) -> Any:
    """Return a value of JSON with one part changed."""
    if isinstance(value, dict) and value and rng.random() < 0.8:  # noqa: PLR2004
        name = rng.choice(list(value))
        rest = {key: part for key, part in value.items() if key != name}
        return rest if rng.random() < 0.2 else {**rest, name: changed(rng, value[name])}  # noqa: PLR2004
    if isinstance(value, list) and value and rng.random() < 0.8:  # noqa: PLR2004
        place = rng.randrange(len(value))
        return [*value[:place], changed(rng, value[place]), *value[place + 1 :]]
    return rng.choice(VALUES)


def damaged(rng: random.Random, data: bytes) -> bytes:
    """Return bytes with a few changed, cut, or repeated."""
    if not data:
        return data
    place = rng.randrange(len(data))
    return rng.choice(
        [data[:place], data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :], data[place:] + data, b""]
    )


class Sender(threading.Thread):
    """Sends random requests until the time is over."""

    def __init__(self, service: Service, world: World, seed: int, end: float) -> None:
        super().__init__(daemon=True)
        self._service, self._world, self._random, self._end = service, world, random.Random(seed), end
        self.answers: Counter[tuple[str, int]] = Counter()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Send requests."""
        try:
            while time.monotonic() < self._end:
                self._send()
        except BaseException as failure:
            self.failure = failure

    def _value(self, name: str) -> str:
        known = self._world.known.get(name)
        value = self._random.choice(known if known and self._random.random() < 0.7 else JUNK)  # noqa: PLR2004
        return urllib.parse.quote(value, safe="%/")

    def _body(self, route: Mapping[str, Any]) -> bytes:
        rng = self._random
        if "application/json" in route.get("requestBody", {}).get("content", {}) or rng.random() < 0.1:  # noqa: PLR2004
            value = rng.choice(self._world.bodies)
            for _ in range(rng.randrange(3)):
                value = changed(rng, value)
            data = json.dumps(value).encode()
        else:
            data = rng.choice(self._world.files)
        return damaged(rng, data) if rng.random() < 0.2 else data  # noqa: PLR2004

    def _send(self) -> None:
        rng = self._random
        method, template, route = rng.choice(self._world.routes)
        # The key and the files of the world stay, or most requests would end at the same answer.
        stays = method == "delete" and ("{key}" in template or "{digest}" in template)
        path, query = template, []
        for parameter in route.get("parameters", []):
            if parameter["in"] == "path":
                path = path.replace("{" + parameter["name"] + "}", self._value("" if stays else parameter["name"]))
            elif parameter["in"] == "query" and rng.random() < 0.5:  # noqa: PLR2004
                value = urllib.parse.quote_plus(rng.choice([*JUNK, "1", "running"]), safe="%")
                query.append(f"{parameter['name']}={value}")
        body = self._body(route) if method in {"put", "post", "patch"} or rng.random() < 0.02 else b""  # noqa: PLR2004
        if "{digest}" in template and method == "put" and rng.random() < 0.5:  # noqa: PLR2004
            path = template.replace("{digest}", digest_of(body))
        headers = {"Authorization": f"Bearer {self._service.token}"} if rng.random() < 0.97 else {}  # noqa: PLR2004
        choices = {
            "Idempotency-Key": ["a", str(rng.random()), "k" * 300],
            "Tus-Resumable": ["1.0.0", "0.2"],
            "Upload-Length": ["5", "-1", "9" * 25],
            "Upload-Offset": ["0", "5", "x"],
            "Upload-Checksum": ["sha256 AAAA", "blake3 x", "x"],
            "Upload-Metadata": ["digest AAAA", ",,"],
            "Content-Type": ["application/json", "application/offset+octet-stream", "x"],
            "Range": ["bytes=0-9", "bytes=9-0", "bytes=-5", "x"],
            "If-None-Match": ["*", '"1"', "x"],
            "Last-Event-ID": ["1", "-1", "x"],
            "Accept": ["image/svg+xml", "text/event-stream", "x/y"],
            "Expect": ["100-continue"],
        }
        likely = {parameter["name"] for parameter in route.get("parameters", []) if parameter["in"] == "header"}
        for name, values in choices.items():
            if rng.random() < (0.9 if name in likely else 0.1):
                headers[name] = rng.choice(values[:1] if name in likely and rng.random() < 0.7 else values)  # noqa: PLR2004
        self._exchange(method, template, path + ("?" + "&".join(query) if query else ""), body, headers)

    def _exchange(self, method: str, template: str, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        connection = http.client.HTTPConnection(self._service.url.removeprefix("http://"), timeout=PATIENT)
        try:
            connection.request(method.upper(), path, body or None, dict(headers))
            answer = connection.getresponse()
            # An event stream of a job that has not ended goes on.
            is_stream = answer.getheader("Content-Type", "").startswith("text/event-stream")
            data = b"" if is_stream else answer.read()
        except (BrokenPipeError, ConnectionResetError):
            # The service closes the connection of a body that it does not want.
            self.answers[f"{method} {template}", 0] += 1
            return
        finally:
            connection.close()
        self.answers[f"{method} {template}", answer.status] += 1
        if answer.status == 202 and template == "/v1/jobs":  # noqa: PLR2004
            # Other requests may have removed the earlier ones.
            self._world.known["job"] = [*self._world.known["job"][-20:], json.loads(data)["id"]]
        what = f"{method.upper()} {path[:200]} with {dict(headers)} and {body[:300]!r}: {answer.status} {data[:500]!r}"
        if answer.status >= 500 and answer.status not in {503, 507}:  # noqa: PLR2004
            raise Failed(what)
        if answer.status >= ERROR and method != "head":
            is_problem = answer.getheader("Content-Type") == "application/problem+json"
            problem = json.loads(data) if is_problem else {}
            if not problem.get("code") or not problem.get("fix"):
                raise Failed(f"no problem with a fix: {what}")


def main() -> None:
    """Send random requests, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="seconds of requests")
    parser.add_argument("--threads", type=int, default=4, help="clients at the same time")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the requests")
    options = parser.parse_args()
    with tempfile.TemporaryFile("w+") as log, Service(options.solinas, {}, "--log", "error", errors=log) as service:
        world = World(service)
        end = time.monotonic() + options.seconds
        senders = [Sender(service, world, 1000 * options.seed + number, end) for number in range(options.threads)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
            if sender.failure is not None:
                raise sender.failure
        if not Api(service).get("/readyz").ok:
            raise Failed("the service is not ready after the requests")
        log.seek(0)
        if "panic" in (text := log.read()):
            raise Failed(f"the service panicked: {text[:2000]}")
        answers: Counter[tuple[str, int]] = sum((sender.answers for sender in senders), Counter())
        statuses: Counter[int] = Counter()
        for (_, status), count in answers.items():
            statuses[status] += count
        unseen = {f"{method} {path}" for method, path, _ in world.routes} - {name for name, _ in answers}
        table = Table()
        table.row("requests", f"{sum(answers.values())}")
        table.row("routes, and those without a success", f"{len(world.routes)}, {_failed(answers)}")
        table.row("routes without a request", f"{len(unseen)}", "0")
        for status, count in sorted(statuses.items()):
            table.row(f"answers: {status or 'the service closed the connection'}", f"{count}")
        table.row("answers 500, errors without a fix, panics", "0", "0")
        table.print(service)


def _failed(answers: Counter[tuple[str, int]]) -> int:
    """Return the routes that never succeeded."""
    names = {name for name, _ in answers}
    return len(names - {name for name, status in answers if 0 < status < ERROR})


if __name__ == "__main__":
    run(main)
