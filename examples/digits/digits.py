"""A server reads handwritten digits in encrypted images. It sees neither the images nor the digits.

The images are scikit-learn's digits, 8 x 8 pixels each: 1437 for training, 360 for tests. There are two networks. The
first one is made of truth tables, under TFHE: it reads one image in the shortest time. The second one has square
activations, under BGV: it reads thousands of images at once. The scores must be equal to those in plain Python.
"""

import argparse
import importlib.util
import sys
import time
from collections.abc import Callable

import numpy as np
import squares
import tables
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import solinas as sl

EXAMPLE = """examples:
  python digits.py                                 # both networks
  python digits.py --network tables --images 5
  python digits.py --network squares
"""
TEST = 360


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
    parser.add_argument("--network", choices=("both", "tables", "squares"), default="both")
    parser.add_argument(
        "--images", type=between(1, TEST), default=3, metavar=f"1..{TEST}", help="images for the tables (default: 3)"
    )
    parser.add_argument("--threads", type=between(1, 1024), help="threads; defaults to the number of processors")
    return parser.parse_args()


def picture(image: np.ndarray) -> str:
    """Return an image as text."""
    return "\n".join("".join(" .+#"[min(int(pixel) // 5, 3)] * 2 for pixel in row) for row in image.reshape(8, 8))


def read_by_tables(
    train: np.ndarray, labels: np.ndarray, test: np.ndarray, truth: np.ndarray, args: argparse.Namespace
) -> bool:
    """Read some images under TFHE. Tells whether all scores are right."""
    network = tables.Tables(train, labels)
    pixels = tables.encode(test)
    expected = network.scores(pixels)
    print(f"tables under TFHE: {np.mean(expected.argmax(axis=1) == truth):.1%} of {TEST} test images are read right")
    program = network.program()
    cost = program.cost()
    print(f"  {cost.bootstraps} bootstraps for an image, {cost.depth} of them in a row")

    client, server_key = sl.keygen()
    encrypted = client.encrypt(pixels[: args.images], tables.U2)
    server = sl.Server(server_key, threads=args.threads)
    bar = sys.stderr.isatty() and importlib.util.find_spec("tqdm") is not None
    start = time.perf_counter()
    result = server.run(program(encrypted), progress=bar)
    seconds = time.perf_counter() - start
    scores = np.array([client.decrypt(score) for score in result]).reshape(10, -1).T
    print(f"  server: {seconds:.2f} s for {args.images} images, {seconds / args.images:.2f} s each")
    print(f"  digits: {scores.argmax(axis=1).tolist()}, in truth {truth[: args.images].tolist()}")
    return np.array_equal(scores, expected[: args.images])


def read_by_squares(
    train: np.ndarray, labels: np.ndarray, test: np.ndarray, truth: np.ndarray, args: argparse.Namespace
) -> bool:
    """Read all test images under BGV. Tells whether all scores are right."""
    network = squares.Squares(train, labels)
    pixels = squares.encode(test)
    expected = network.scores(pixels)
    print(f"squares under BGV: {np.mean(expected.argmax(axis=1) == truth):.1%} of {TEST} test images are read right")

    client, server_key = sl.keygen("bgv", params=squares.PARAMS)
    start = time.perf_counter()
    encrypted = [client.encrypt(column, squares.Residue) for column in pixels.T]
    print(f"  client: encryption in {time.perf_counter() - start:.2f} s")
    server = sl.Server(server_key, threads=args.threads)
    start = time.perf_counter()
    result = server.run(network.evaluate(encrypted))
    seconds = time.perf_counter() - start
    scores = squares.signed(np.array([client.decrypt(score) for score in result])).T
    slots = client.params.slots
    print(
        f"  server: {seconds:.2f} s for {TEST} images; up to {slots} take as long, {seconds / slots * 1e6:.0f} us each"
    )
    return np.array_equal(scores, expected)


def main() -> int:
    """Run the demonstration. Returns the exit status, which is 1 if a score differs from that in plain Python."""
    args = arguments()
    images, digits = load_digits(return_X_y=True)
    train, test, labels, truth = train_test_split(images, digits, test_size=TEST, random_state=0, stratify=digits)
    print(f"the first test image, a {truth[0]}:\n{picture(test[0])}")
    exact = True
    if args.network != "squares":
        exact &= read_by_tables(train, labels, test, truth, args)
    if args.network != "tables":
        exact &= read_by_squares(train, labels, test, truth, args)
    print("every score is equal to that in plain Python" if exact else "SCORES DIFFER from those in plain Python")
    return 0 if exact else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except sl.SolinasError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted")
