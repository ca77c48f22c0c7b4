"""PostgreSQL stopped for a minute while a job runs: line C3.

The service says that it is not ready and goes on computing. After PostgreSQL is back, the job succeeds with the right
result, and no acknowledged job or file is lost.
"""

import shlex
import subprocess
import time
from typing import Any

from common import Api, Failed, Service, Table, arguments, run

import solinas as sl

BUSY = 0.5
"""The part of the processors that the service takes at least while it computes."""


@sl.program
def product(x: sl.U32, y: sl.U32) -> sl.U32:
    """One product of two numbers of 32 bits."""
    return x * y


def outage(service: Service, options: Any) -> tuple[set[int], set[int], float, float]:
    """Stop PostgreSQL. Return the statuses of /readyz and of requests, cores in use, and seconds until it is ready."""
    subprocess.run(shlex.split(options.stop), check=True, stdout=subprocess.DEVNULL)
    begin, cpu = time.monotonic(), service.cpu_seconds()
    ready, jobs = set(), set()
    while time.monotonic() < begin + options.seconds:
        time.sleep(1)
        ready.add(Api(service).get("/readyz").status)
        jobs.add(Api(service).get("/v1/jobs").status)
    used = (service.cpu_seconds() - cpu) / (time.monotonic() - begin)
    subprocess.run(shlex.split(options.start), check=True, stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    while not Api(service).get("/readyz").ok:
        if time.monotonic() > begin + 60:
            raise Failed("the service is not ready 60 s after PostgreSQL")
        time.sleep(0.05)
    return ready, jobs, used, time.monotonic() - begin


def main() -> None:
    """Stop and start PostgreSQL during a job, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--database", required=True, help="the address of an empty database of PostgreSQL")
    parser.add_argument("--stop", required=True, help="the command that stops PostgreSQL")
    parser.add_argument("--start", required=True, help="the command that starts it")
    parser.add_argument("--seconds", type=int, default=60, help="seconds without PostgreSQL")
    parser.add_argument(
        "--elements", type=int, default=400, help="elements of the arrays of the job, which outlasts this time"
    )
    options = parser.parse_args()
    client, key = sl.keygen()
    with Service(
        options.solinas, {}, "--database", options.database, "--checkpoint-every", "5", "--log", "off"
    ) as service:
        service.register(key)
        api = Api(service)
        program = api.program(product, service.folder)
        numbers = list(range(options.elements))
        pair = [client.encrypt(values, sl.U32) for values in (numbers, numbers[::-1])]
        inputs = [{"blob": api.upload(value.to_bytes())} for value in pair]
        body = {"key": key.key_id, "program": program, "inputs": inputs}
        job = api.submit(body, "the job").json()["id"]
        while api.get(f"/v1/jobs/{job}").json()["state"] != "running":
            time.sleep(0.2)
        time.sleep(5)
        ready, jobs, used, back = outage(service, options)
        state = Api(service).get(f"/v1/jobs/{job}").json()["state"]
        ended = Api(service).wait(job)
        digest = ended["results"][0]["digest"]
        result = list(client.decrypt(sl.EncryptedArray.from_bytes(Api(service).get(f"/v1/blobs/{digest}").body)))
        if result != [x * y for x, y in zip(numbers, numbers[::-1], strict=True)]:
            raise Failed(f"the result {digest} is wrong")
        table = Table()
        table.row("seconds without PostgreSQL", f"{options.seconds}", "60")
        table.row("statuses of /readyz meanwhile", str(sorted(ready)), "503", missed=ready != {503})
        table.row("statuses of GET /v1/jobs meanwhile", str(sorted(jobs)), "503", missed=jobs != {503})
        table.row("cores that the service used meanwhile", f"{used:.2f}", "a running job goes on", missed=used < BUSY)
        table.row("ready again after PostgreSQL", f"{back:.2f} s")
        table.row("state of the job then, and attempts in all", f"{state}, {ended.get('attempts', 1)}", "running, 1")
        table.row("the job succeeded with the right result", "yes", "yes")
        table.print(service)


if __name__ == "__main__":
    run(main)
