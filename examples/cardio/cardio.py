"""A server counts the risk factors of a heart disease from ten encrypted answers. It sees neither answers nor count.

The client answers ten questions and encrypts the answers under TFHE. The server applies ten rules, and the client
decrypts the number of rules that hold. The rules are of the kind that benchmarks of FHE compilers use under the name
"cardio". They are no medical advice.
"""
# ruff: noqa: PLR2004  -- the numbers are the rules themselves

import argparse
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import solinas as sl

EXAMPLE = """examples:
  python cardio.py                                            # one patient with the default answers
  python cardio.py --sex woman --age 63 --smoker yes --hdl 38
  python cardio.py --random 5                                 # five random patients, compared with plain Python
  python cardio.py --save program.json                        # the program for a service, and nothing else
"""
SMALLEST_HEIGHT = 90  # below, height - 90 would wrap


@sl.program
def risk(  # noqa: PLR0917
    man: sl.Bool,
    smoker: sl.Bool,
    diabetic: sl.Bool,
    pressure: sl.Bool,
    age: sl.U8,
    hdl: sl.U8,
    height: sl.U8,
    weight: sl.U8,
    activity: sl.U8,
    drinks: sl.U8,
) -> sl.U8:
    """Count the rules that hold.

    Two pairs of rules differ between men and women in the threshold alone. At most one rule of such a pair holds, so a
    select between the two thresholds replaces one comparison.
    """
    factors = [
        age > sl.select(man, sl.u8(50), sl.u8(60)),
        smoker,
        diabetic,
        pressure,
        hdl < 40,
        weight > height - 90,
        activity < 30,
        drinks > sl.select(man, sl.u8(3), sl.u8(2)),
    ]
    return sl.Array([factor.cast(sl.U8) for factor in factors]).sum()


def plain_risk(a: dict[str, int]) -> int:
    """Count the ten rules in plain Python, one after the other as they are published."""
    rules = [
        a["man"] and a["age"] > 50,
        not a["man"] and a["age"] > 60,
        a["smoker"],
        a["diabetic"],
        a["pressure"],
        a["hdl"] < 40,
        a["weight"] > a["height"] - 90,
        a["activity"] < 30,
        a["man"] and a["drinks"] > 3,
        not a["man"] and a["drinks"] > 2,
    ]
    return sum(map(bool, rules))


def between(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of integers from low to high for an argument."""

    def number(text: str) -> int:
        if not text.isdecimal() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no integer from {low} to {high}")
        return int(text)

    return number


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sex", choices=("man", "woman"), default="man")
    for name, text in (("smoker", "smoker"), ("diabetic", "diabetes"), ("pressure", "high blood pressure")):
        parser.add_argument(f"--{name}", choices=("yes", "no"), default="no", help=text)
    parser.add_argument("--age", type=between(0, 130), default=55, metavar="YEARS")
    parser.add_argument("--hdl", type=between(0, 255), default=50, metavar="MG_PER_DL", help="HDL cholesterol")
    parser.add_argument("--height", type=between(SMALLEST_HEIGHT, 255), default=178, metavar="CM")
    parser.add_argument("--weight", type=between(1, 255), default=92, metavar="KG")
    parser.add_argument("--activity", type=between(0, 255), default=20, metavar="MINUTES", help="sport on a day")
    parser.add_argument("--drinks", type=between(0, 255), default=2, metavar="GLASSES", help="alcohol on a day")
    parser.add_argument("--random", type=between(1, 1000), metavar="1..1000", help="random patients instead of one")
    parser.add_argument("--save", metavar="FILE", help="writes the program as JSON, and ends")
    parser.add_argument("--private-program", action="store_true", help="hides the rules from the patient")
    parser.add_argument("--threads", type=between(1, 1024), help="defaults to the number of processors")
    return parser.parse_args()


def patients(args: argparse.Namespace) -> list[dict[str, int]]:
    """Return the answers of the patients."""
    flags, numbers = ("smoker", "diabetic", "pressure"), ("age", "hdl", "height", "weight", "activity", "drinks")
    if not args.random:
        answers = {"man": int(args.sex == "man")} | {name: int(getattr(args, name) == "yes") for name in flags}
        return [answers | {name: getattr(args, name) for name in numbers}]
    draw = random.Random(1)
    ranges = {"age": (20, 90), "hdl": (25, 80), "height": (140, 210), "weight": (40, 160), "activity": (0, 90)}
    ranges["drinks"] = (0, 6)
    return [
        {name: draw.randrange(2) for name in ("man", *flags)} | {name: draw.randint(*ranges[name]) for name in numbers}
        for _ in range(args.random)
    ]


def encrypted(client: sl.ClientKey, people: list[dict[str, int]]) -> dict[str, Any]:
    """Encrypt the answers: one array for each question, with one element for each patient."""
    flags = ("man", "smoker", "diabetic", "pressure")
    return {
        name: client.encrypt([person[name] for person in people], sl.Bool if name in flags else sl.U8)
        for name in people[0]
    }


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a result differs from that in plain Python."""
    args = arguments()
    if args.save:
        risk.save(args.save)
        return 0
    people = patients(args)
    cost = risk.cost()
    print(f"{cost.bootstraps} bootstraps for a patient, {cost.depth} of them in a row")

    client, server_key = sl.keygen()
    answers = encrypted(client, people)
    server = sl.Server(server_key, threads=args.threads)
    start = time.perf_counter()
    result = server.run(risk(**answers), private_program=args.private_program)
    seconds = time.perf_counter() - start
    print(f"server: {seconds:.3f} s for {len(people)} patients")

    found = [int(count) for count in client.decrypt(result)]
    expected = [plain_risk(person) for person in people]
    for number, count in enumerate(found):
        print(f"patient {number}: {count} of 10 rules hold")
    exact = found == expected
    print("every result is equal to that in plain Python" if exact else "RESULTS DIFFER from those in plain Python")
    return 0 if exact else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sl.SolinasError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
