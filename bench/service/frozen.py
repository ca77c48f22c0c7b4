"""A worker that is frozen for longer than its lease: line C5.

The worker stops by SIGSTOP in the middle of a job, until another worker has the job. It then goes on, and sends its
result after the other one. The service refuses it, and the job has the result of the other worker.
"""

import signal
import time

from common import Api, Failed, Service, Table, Worker, arguments, counter, run

import solinas as sl

LEASE = 3
"""Seconds of a lease."""


@sl.program
def product(x: sl.U16, y: sl.U16) -> sl.U16:
    """One product of two numbers of 16 bits."""
    return x * y


def main() -> None:
    """Freeze workers again and again, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="times that a worker is frozen")
    parser.add_argument("--elements", type=int, default=60, help="elements of the arrays of a job")
    options = parser.parse_args()
    client, key = sl.keygen()
    numbers = list(range(options.elements))
    settings = ["--work-addr", "127.0.0.1:0", "--no-local-worker", "--log", "error"]
    with Service(options.solinas, {"lease_seconds": LEASE}, *settings) as service:
        service.register(key)
        api = Api(service)
        program = api.program(product, service.folder)
        pair = [client.encrypt(values, sl.U16) for values in (numbers, numbers[::-1])]
        inputs = [{"blob": api.upload(value.to_bytes())} for value in pair]
        body = {"key": key.key_id, "program": program, "inputs": inputs}
        results = set()
        for number in range(options.rounds):
            with Worker(service, f"first-{number}") as first:
                job = api.submit(body, f"job {number}").json()["id"]
                while not api.get(f"/v1/jobs/{job}").json()["progress"]["done"]:
                    time.sleep(0.05)
                first.process.send_signal(signal.SIGSTOP)
                with Worker(service, f"second-{number}"):
                    ended = api.wait(job)
                    first.process.send_signal(signal.SIGCONT)
                    # The first worker has time to compute the rest, and to send it.
                    time.sleep(ended["core_seconds"] + LEASE)
                    again = api.get(f"/v1/jobs/{job}").json()
            if again != ended:
                raise Failed(f"job {job} has changed after its end: {ended}, {again}")
            results.add(ended["results"][0]["digest"])
            if ended["attempts"] != 2:  # noqa: PLR2004
                raise Failed(f"job {job} has {ended['attempts']} attempts, not 2")
        if len(results) != 1:
            raise Failed(f"equal jobs have the results {results}")
        result = sl.EncryptedArray.from_bytes(api.get(f"/v1/blobs/{results.pop()}").body)
        if list(client.decrypt(result)) != [x * y % 65536 for x, y in zip(numbers, numbers[::-1], strict=True)]:
            raise Failed("the result is wrong")
        refused = counter(api, "solinas_lease_lost_total")
        table = Table()
        table.row("workers that were frozen for more than their lease", f"{options.rounds}", "")
        table.row("jobs with the right result, which did not change again", f"{options.rounds}", "all")
        table.row("ends of leases that the service refused", f"{refused:.0f}", f"{options.rounds}")
        table.print(service)


if __name__ == "__main__":
    run(main)
