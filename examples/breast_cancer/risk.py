"""A server computes statistics of encrypted measurements, and a risk score for each patient, and sees neither.

The table is scikit-learn's breast cancer data: 569 patients, 30 measurements of cell nuclei, and whether the tumour
was malignant. Each column is one ciphertext of scheme BGV at 128 bits of security, with one patient in each slot.

For every column, the server computes the sum, the sum of squares and the sum over malignant cases. The client derives
means, deviations and differences from them. For every patient, the server computes a linear score with public weights.
All results are exact: if one differs from numpy's, the program ends with an error.

    pip install scikit-learn
    python examples/breast_cancer/risk.py            # --columns 4 for a quick run
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

import solinas as sl

PARAMS = "wide128-8192-2"  # 8192 slots modulo a prime of 30 bits, 2 products in sequence
MODULUS = 1073479681
# The unit of a measurement is a thousandth of the largest in its column. The sum of 569 squares is below the modulus.
STEPS = 1000

Residue = sl.mod(MODULUS)
T = TypeVar("T")


@sl.program
def statistics(column: Residue, malignant: Residue) -> tuple[Residue, Residue, Residue]:
    """Return the sum, the sum of squares, and the sum over malignant cases."""
    return column.sum(), column.dot(column), column.dot(malignant)


def timed(what: str, work: Callable[[], T]) -> T:
    """Run `work`, print the seconds that it took, and return its result."""
    start = time.perf_counter()
    result = work()
    print(f"{what:<48} {time.perf_counter() - start:8.3f} s")
    return result


def model(table: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Return integer weights and a threshold for columns in units of 1 / STEPS, from a logistic regression."""
    mean, deviation = table.mean(axis=0), table.std(axis=0)
    fitted = LogisticRegression(max_iter=1000).fit((table - mean) / deviation, labels)
    exact = fitted.coef_[0] / deviation
    scale = STEPS / np.abs(exact).max()
    return np.rint(scale * exact).astype(np.int64), int(scale * (exact @ mean - fitted.intercept_[0]))


def main() -> int:
    """Run the example. Returns the exit status, which is 1 if a result of the server differs from numpy's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=30, choices=range(1, 31), metavar="1..30")
    parser.add_argument("--threads", type=int, help="threads of the server; defaults to the number of processors")
    args = parser.parse_args()

    data = load_breast_cancer()
    labels = 1 - data.target  # 1: malignant
    largest = data.data.max(axis=0)
    table = np.rint(STEPS * data.data / largest).astype(np.int64)[:, : args.columns]
    weights, threshold = model(table, labels)
    print(f"{len(table)} patients, {args.columns} columns; parameters {PARAMS}")

    # The client encrypts the columns. Its key stays with it.
    client, server_key = timed("client: keys", lambda: sl.keygen("bgv", params=PARAMS))
    columns = timed("client: encryption", lambda: [client.encrypt(column, Residue) for column in table.T])
    malignant = client.encrypt(labels, Residue)

    # The server has its own key, the ciphertexts and the weights.
    server = sl.Server(server_key, threads=args.threads)
    sums = timed(
        "server: statistics of all columns",
        lambda: server.run([statistics(column, malignant) for column in columns]),
    )
    residues = [int(weight) % MODULUS for weight in weights]
    score = timed(
        "server: scores of all patients",
        lambda: server.run(sum(column * weight for column, weight in zip(columns, residues, strict=True))),
    )

    # The client decrypts the results.
    def decrypt() -> tuple[np.ndarray, np.ndarray]:
        found = np.array([[int(client.decrypt(value)) for value in of_column] for of_column in sums])
        scores = np.array(client.decrypt(score).tolist())
        return found, np.where(scores > MODULUS // 2, scores - MODULUS, scores)

    found, scores = timed("client: decryption", decrypt)
    want = np.stack([table.sum(axis=0), (table * table).sum(axis=0), labels @ table], axis=1)
    exact = np.array_equal(found, want) and np.array_equal(scores, table @ weights)

    count, cases = len(table), int(labels.sum())
    mean = found[:, 0] / count
    deviation = np.sqrt(found[:, 1] / count - mean**2)
    benign = (found[:, 0] - found[:, 2]) / (count - cases)
    unit = largest[: args.columns] / STEPS
    print(f"\n{'column':<26} {'mean':>10} {'deviation':>10} {'malignant':>10} {'benign':>10}")
    rows = (np.stack([mean, deviation, found[:, 2] / cases, benign]) * unit).T
    for name, row in zip(data.feature_names[: args.columns], rows, strict=True):
        print(f"{name:<26} " + " ".join(f"{value:>10.4g}" for value in row))
    right = np.mean((scores > threshold) == labels)
    print(f"\nscores above the threshold are malignant in {right:.1%} of cases (fitted to the same table)")
    print("every result is equal to numpy's" if exact else "RESULTS DIFFER from numpy's")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main())
