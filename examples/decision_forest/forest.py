"""A server evaluates a decision forest on encrypted patients. It sees neither the patients nor the results.

The table is scikit-learn's breast cancer data: 569 patients, 30 measurements of cell nuclei, and whether the tumour was
benign (class 1). The forest is trained with scikit-learn on three quarters of the table, or read from a JSON file of
XGBoost. The client encrypts the measurements of some patients of the last quarter under TFHE, with 8 bits for each
measurement. The server evaluates the forest, and the client decrypts one number for each patient, from which it derives
the class. The results must be equal to those of the same forest in plain Python.
"""

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np
from circuit import best_program
from models import Forest, ModelError, Quantizer, from_sklearn, from_xgboost, quantize
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import solinas as sl

EXAMPLE = """examples:
  python forest.py                                  # a random forest of 50 trees
  python forest.py --model tree --depth 5
  python forest.py --model breast_cancer.json       # a forest of XGBoost: booster.save_model("breast_cancer.json")
"""


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
    parser.add_argument("--model", default="forest", help="forest, tree, or a JSON file of XGBoost (default: forest)")
    parser.add_argument("--trees", type=between(1, 500), default=50, metavar="1..500")
    parser.add_argument("--depth", type=between(1, 12), default=4, metavar="1..12")
    parser.add_argument(
        "--bits", type=between(1, 8), default=8, metavar="1..8", help="bits of a measurement (default: 8)"
    )
    parser.add_argument(
        "--leaf-bits", type=between(1, 12), default=6, metavar="1..12", help="bits of a leaf (default: 6)"
    )
    parser.add_argument(
        "--patients", type=between(1, 143), default=3, metavar="1..143", help="encrypted rows (default: 3)"
    )
    parser.add_argument(
        "--threads", type=between(1, 1024), help="threads of the server; defaults to the number of processors"
    )
    parser.add_argument("--private-program", action="store_true", help="hides the forest from the one who decrypts")
    return parser.parse_args()


def trained(args: argparse.Namespace, rows: np.ndarray, labels: np.ndarray) -> Forest:
    """Return the forest that the arguments ask for."""
    if args.model == "forest":
        model = RandomForestClassifier(args.trees, max_depth=args.depth, random_state=0)
        return from_sklearn(model.fit(rows, labels))
    if args.model == "tree":
        return from_sklearn(DecisionTreeClassifier(max_depth=args.depth, random_state=0).fit(rows, labels))
    forest = from_xgboost(args.model)
    if forest.features != rows.shape[1] or len(forest.base) != 1:
        raise ModelError(f"{args.model} has {forest.features} features; it must have {rows.shape[1]} and two classes")
    return forest


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a result differs from that in plain Python."""
    args = arguments()
    table, labels = load_breast_cancer(return_X_y=True)
    train, test, train_labels, test_labels = train_test_split(table, labels, random_state=0)
    forest = trained(args, train, train_labels)

    quantizer = Quantizer.fit(train, args.bits)
    levels = quantizer.encode(test)
    integers = quantize(forest, quantizer, args.leaf_bits)
    plain = forest.classes(forest.outputs(test))
    rounded = forest.classes(forest.outputs(quantizer.decode(levels)))
    expected = integers.totals(levels)
    ours = forest.classes(integers.outputs(expected))
    print(f"{len(forest.trees)} trees with {forest.splits} splits; {len(test)} test patients")
    print(f"right classes: {np.mean(plain == test_labels):.1%} with the original measurements,")
    print(f"  {np.mean(rounded == test_labels):.1%} with measurements of {args.bits} bits,")
    print(f"  {np.mean(ours == test_labels):.1%} with leaves of {args.leaf_bits} bits too")
    print(f"the last two agree on {np.sum(ours == rounded)} of {len(test)} patients")

    evaluate = best_program(integers)
    cost = evaluate.cost()
    print(f"{cost.bootstraps} bootstraps for a patient, {cost.depth} of them in a row")

    client, server_key = sl.keygen()
    rows = levels[: args.patients]
    encrypted = client.encrypt(rows)
    server = sl.Server(server_key, threads=args.threads)
    bar = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    start = time.perf_counter()
    result = server.run(evaluate(encrypted), progress=bar, private_program=args.private_program)
    seconds = time.perf_counter() - start
    totals = np.array(client.decrypt(result)).reshape(len(rows), -1)
    print(f"server: {seconds:.2f} s for {len(rows)} patients, {seconds / len(rows):.2f} s each")

    for number, output in enumerate(integers.outputs(totals)[:, 0]):
        kind = ("malignant", "benign")[int(output > forest.cut)]
        print(f"patient {number}: score {output:+.3f}, {kind}; in truth {('malignant', 'benign')[test_labels[number]]}")
    exact = np.array_equal(totals, expected[: len(rows)])
    print("every result is equal to that in plain Python" if exact else "RESULTS DIFFER from those in plain Python")
    return 0 if exact else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ModelError, sl.SolinasError) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
