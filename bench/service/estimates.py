"""Predicted over actual core-seconds of a mixed set of programs: line A6.

The programs run in a random order, one at a time, under two parameter sets. All results are decrypted and compared.
"""

import random
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from common import Failed, Service, Table, arguments, percentile, run
from tqdm import tqdm

import solinas as sl

LOW, HIGH, SHARE = 0.7, 1.4, 0.9
"""The range of the ratio, and the share of programs that should be in it."""
SETS = ("integers-128", "gates-128")


def programs() -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Return programs with their names and inputs: operations of all widths, mixtures of them, and arrays."""
    kinds = {sl.U8: sl.u8, sl.U16: sl.u16, sl.U32: sl.u32, sl.U64: sl.u64}
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "a + b": lambda a, b: a + b,
        "a - b": lambda a, b: a - b,
        "a * b": lambda a, b: a * b,
        "a < b": lambda a, b: a < b,
        "a == b": lambda a, b: a == b,
        "a ^ b": lambda a, b: a ^ b,
        "max(a, b)": sl.maximum,
        "a > b ? a - b : b + 1": lambda a, b: sl.select(a > b, a - b, b + 1),
    }
    for kind, make in kinds.items():
        for name, operation in operations.items():
            inputs = [make(random.randrange(kind.MAX + 1)) for _ in "ab"]
            yield f"{kind.name}: {name}", operation, inputs
    yield "u8: a // b", lambda a, b: a // b, [sl.u8(200), sl.u8(7)]
    yield "u16: a << b", lambda a, b: a << b, [sl.u16(40000), sl.u16(3)]
    yield "u16: a * 7 + b", lambda a, b: a * 7 + b, [sl.u16(1234), sl.u16(99)]
    yield "u32: count_ones", lambda a, b: (a ^ b).count_ones(), [sl.u32(1234), sl.u32(99)]


class Run:
    """Programs on a service, and what they cost."""

    def __init__(self, service: Service, params: str) -> None:
        self.service, self.params = service, params
        self.client, key = sl.keygen(params=params)
        self.remote = service.register(key)
        self.known = sl.connect(service.url, service.token)
        self.ratios: dict[str, float] = {}
        self.seconds = 0.0

    def run(self, name: str, function: Callable[..., Any], inputs: list[Any]) -> None:
        """Run a program, check its result, and note what its jobs were expected to take and took."""
        before = {job["id"] for job in self.known.jobs()}
        found = self.client.decrypt(self.remote.run(function(*map(self.client.encrypt, inputs))))
        if found != function(*inputs):
            raise Failed(f"{name}{inputs} under {self.params} gave {found}")
        for job in self.known.jobs():
            if job["id"] not in before:
                self.ratios[f"{self.params}, {name}"] = job["cost"]["core_seconds"] / job["core_seconds"]
                self.seconds += job["core_seconds"]


def main() -> None:
    """Run all programs, and print a table."""
    parser = arguments(__doc__)
    parser.add_argument("--programs", type=int, help="the number of programs; all by default")
    parser.add_argument("--seed", type=int, default=1, help="seed of the inputs and the order")
    options = parser.parse_args()
    random.seed(options.seed)
    with Service(options.solinas, {}) as service:
        runs = [Run(service, params) for params in SETS]
        work = [(run, program) for run in runs for program in programs()]
        random.shuffle(work)
        work = work[: options.programs]
        for run, program in tqdm(work, "programs"):
            run.run(*program)
        ratios = {name: ratio for run in runs for name, ratio in run.ratios.items()}
        good = sum(LOW <= ratio <= HIGH for ratio in ratios.values()) / len(ratios)
        table = Table()
        table.row(
            "programs, and the core-seconds of all",
            f"{len(ratios)}, {sum(run.seconds for run in runs):.0f}",
            "30 programs",
        )
        table.row(f"predicted over actual within {LOW} to {HIGH}", f"{good:.0%}", f"{SHARE:.0%}", missed=good < SHARE)
        values = list(ratios.values())
        table.row("the ratio: p5, median, p95", ", ".join(f"{percentile(values, at):.2f}" for at in (0.05, 0.5, 0.95)))
        for run in runs:
            table.row(f"median under {run.params}", f"{median(list(run.ratios.values())):.2f}")
        outside = sorted((ratio, name) for name, ratio in ratios.items() if not LOW <= ratio <= HIGH)
        for ratio, name in outside[:8]:
            table.row(f"outside: {name}", f"{ratio:.2f}")
        table.print(service)


if __name__ == "__main__":
    run(main)
