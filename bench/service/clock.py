"""The clock of the service jumps by an hour, forward and back, while a worker computes: line C8.

libfaketime (Debian: `apt install faketime`) sets the clock that the service sees. No lease may be lost, and no job may
begin again, also if the service starts again with a clock that was set back.
"""

import signal
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from common import Api, Failed, Service, Table, Worker, arguments, counter, run

import solinas as sl

HOUR = 3600
JUMPS = (1, 2, 0, -1, 24, 0, -24, 1)
"""The hours by which the clock differs from the true one. Every second one comes while the service starts again."""


@sl.program
def product(x: sl.U32, y: sl.U32) -> sl.U32:
    """One product of two numbers of 32 bits."""
    return x * y


def jumped(service: Service, clock: Path, job: str, options: Any) -> int:
    """Set the clock again and again while the job runs, in turn during a new start. Return the new starts."""
    starts = 0
    for number, hours in enumerate(JUMPS):
        is_start = number % 2 == 1
        if is_start:
            service.stop(signal.SIGTERM)
            starts += 1
        clock.write_text(f"{HOUR * hours:+d}\n")
        if is_start:
            service.start()
        # A lease without a renewal would end meanwhile.
        end = time.monotonic() + options.seconds
        while time.monotonic() < end:
            time.sleep(0.5)
            state = Api(service).get(f"/v1/jobs/{job}").json()
            if state["state"] != "running" or state["attempts"] != 1:
                raise Failed(f"{hours} hours on, the job is {state['state']}, with {state['attempts']} attempts")
    return starts


def main() -> None:
    """Set the clock of the service again and again, and print a table."""
    parser = arguments(__doc__)
    library = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
    parser.add_argument("--libfaketime", type=Path, default=library, help="the library that sets the clock")
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds between two jumps")
    parser.add_argument(
        "--elements", type=int, default=400, help="elements of the arrays of the job, which outlasts them"
    )
    options = parser.parse_args()
    if not options.libfaketime.exists():
        raise SystemExit(f"{options.libfaketime} is missing: install faketime, or give --libfaketime")
    client, key = sl.keygen()
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = "{}:{}".format(*free.getsockname())
    settings = ["--work-addr", address, "--no-local-worker", "--log", "off"]
    with tempfile.NamedTemporaryFile("w", prefix="solinas-clock-") as clock:
        print("+0", file=clock, flush=True)
        faked = {"LD_PRELOAD": str(options.libfaketime), "FAKETIME_TIMESTAMP_FILE": clock.name}
        # The time that leases are counted in is the true one, as when an operator sets the clock.
        faked |= {"FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        with Service(options.solinas, {"lease_seconds": 6}, *settings, environment=faked) as service:
            service.register(key)
            api = Api(service)
            program = api.program(product, service.folder)
            numbers = list(range(options.elements))
            pair = [client.encrypt(values, sl.U32) for values in (numbers, numbers[::-1])]
            inputs = [{"blob": api.upload(value.to_bytes())} for value in pair]
            with Worker(service):
                body = {"key": key.key_id, "program": program, "inputs": inputs}
                job = api.submit(body, "the job").json()["id"]
                while api.get(f"/v1/jobs/{job}").json()["state"] != "running":
                    time.sleep(0.2)
                jumps = jumped(service, Path(clock.name), job, options)
                ended = Api(service).wait(job)
            digest = ended["results"][0]["digest"]
            result = list(client.decrypt(sl.EncryptedArray.from_bytes(Api(service).get(f"/v1/blobs/{digest}").body)))
            if result != [x * y for x, y in zip(numbers, numbers[::-1], strict=True)]:
                raise Failed(f"the result {digest} is wrong")
            lost = counter(Api(service), "solinas_lease_lost_total")
            table = Table()
            table.row("jumps of the clock, during one run", f"{len(JUMPS)}, {jumps} of them during a new start")
            table.row("leases that were lost", f"{lost:.0f}", "0", missed=lost > 0)
            table.row("attempts of the job, which succeeded with the right result", f"{ended['attempts']}", "1")
            table.print(service)


if __name__ == "__main__":
    run(main)
