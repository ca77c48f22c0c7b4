"""Read decision forests from scikit-learn and XGBoost's JSON files, and make their features and leaves integers."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MAX_DEPTH = 64
MAX_SPLITS = 100_000
LARGEST = float(np.finfo(np.float32).max)
OBJECTIVES = ("binary:logistic", "multi:softprob", "multi:softmax", "reg:squarederror")


class ModelError(ValueError):
    """The model cannot be read. The message names the tree and the node."""


@dataclass(frozen=True)
class Leaf:
    """The end of a path, with one number for each output."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Split:
    """A decision: `low` if the feature is less than the threshold, else `high`."""

    feature: int
    threshold: Any
    low: "Node"
    high: "Node"


Node = Leaf | Split


@dataclass(frozen=True)
class Forest:
    """A sum of trees: output k is `base[k]` plus the values k of the leaves that a row of features reaches."""

    features: int
    trees: tuple[Node, ...]
    base: tuple[float, ...]
    cut: float = 0.5  # a single output above this number means class 1

    @property
    def splits(self) -> int:
        """The number of decisions in all trees."""
        return sum(isinstance(node, Split) for tree in self.trees for node in walk(tree))

    def outputs(self, rows: np.ndarray) -> np.ndarray:
        """Evaluate the forest on plain rows. Shape of the result: rows, outputs.

        Features are rounded to 32 bits, as XGBoost and scikit-learn do, and then compared in 64 bits. Raises ModelError
        for a missing feature.
        """
        total = np.tile(np.array(self.base, float), (len(rows), 1))
        for i, row in enumerate(complete(rows).astype(np.float32).astype(float)):
            for tree in self.trees:
                total[i] += reached(tree, row).values
        return total

    def classes(self, outputs: np.ndarray) -> np.ndarray:
        """Return the class of each row of outputs."""
        return outputs.argmax(axis=1) if outputs.shape[1] > 1 else (outputs[:, 0] > self.cut).astype(int)


def complete(rows: Any) -> np.ndarray:
    """Return rows of features as an array of numbers. Raises ModelError for a missing one, which has no level."""
    if isinstance(rows, np.ma.MaskedArray):
        raise ModelError("the rows have a mask, which would be lost: fill the masked features, as in rows.filled(0)")
    table = np.asarray(rows, float)
    for row, feature in np.argwhere(np.isnan(np.atleast_2d(table))):
        raise ModelError(f"row {row} has no feature {feature} (NaN): fill missing features, or leave the row out")
    return table


def walk(node: Node) -> list[Node]:
    """Return the nodes of a tree, each before its children."""
    return [node] if isinstance(node, Leaf) else [node, *walk(node.low), *walk(node.high)]


def reached(node: Node, row: np.ndarray) -> Leaf:
    """Return the leaf that a row of features reaches."""
    while isinstance(node, Split):
        node = node.low if row[node.feature] < node.threshold else node.high
    return node


def from_sklearn(model: Any) -> Forest:
    """Convert a fitted DecisionTreeClassifier or RandomForestClassifier. Outputs are probabilities of classes.

    A model of two classes has one output, the probability of the second one.
    """
    estimators = getattr(model, "estimators_", None) or [model]
    if not all(hasattr(estimator, "tree_") for estimator in estimators) or not hasattr(model, "classes_"):
        raise ModelError(f"{type(model).__name__} is no fitted tree or forest: give a fitted RandomForestClassifier")
    outputs = getattr(model, "n_outputs_", 1)
    if outputs != 1:
        raise ModelError(f"the model predicts {outputs} classes for each row: fit one model for each of them")
    trees = []
    for estimator in estimators:
        tree = estimator.tree_
        share = tree.value[:, 0, :] / tree.value[:, 0, :].sum(axis=1, keepdims=True) / len(estimators)
        if share.shape[1] == 2:  # noqa: PLR2004
            share = share[:, 1:]
        # scikit-learn goes left if x <= t. That is x < t', where t' is the number after t.
        limit = np.nextafter(tree.threshold, np.inf)

        def node(i: int, tree: Any = tree, share: np.ndarray = share, limit: np.ndarray = limit) -> Node:
            if tree.children_left[i] < 0:
                return Leaf(tuple(share[i].tolist()))
            return Split(
                int(tree.feature[i]), float(limit[i]), node(tree.children_left[i]), node(tree.children_right[i])
            )

        trees.append(node(0))
    outputs = len(model.classes_) if len(model.classes_) > 2 else 1  # noqa: PLR2004
    return Forest(model.n_features_in_, tuple(trees), (0.0,) * outputs)


def from_xgboost(path: str | Path) -> Forest:
    """Read a file that XGBoost's `booster.save_model("model.json")` wrote. The file is not trusted.

    Outputs are margins, the sums of leaves before the logistic function. Raises ModelError if the file is damaged or
    uses what this reader does not know: other boosters, other objectives, categorical splits, vectors in leaves.
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} is no JSON file that can be read: {error}") from None
    learner = _get(document, "learner", dict, "the file")
    booster = _get(learner, "gradient_booster", dict, "learner")
    if booster.get("name") != "gbtree":
        raise ModelError(f"the booster is {booster.get('name')!r}: only gbtree can be imported")
    objective = _get(_get(learner, "objective", dict, "learner"), "name", str, "objective")
    if objective not in OBJECTIVES:
        raise ModelError(f"the objective is {objective!r}: it must be one of {', '.join(OBJECTIVES)}")
    parameters = _get(learner, "learner_model_param", dict, "learner")
    features = _count(parameters, "num_feature", 1, 10_000)
    outputs = max(1, _count(parameters, "num_class", 0, 1000))
    _count({"num_target": 1} | parameters, "num_target", 1, 1)
    base = _base_scores(parameters, outputs)
    if objective == "binary:logistic":
        if not all(0 < score < 1 for score in base):
            raise ModelError("base_score must be a probability between 0 and 1 for binary:logistic")
        base = [math.log(score / (1 - score)) for score in base]

    model = _get(booster, "model", dict, "gradient_booster")
    tables = _get(model, "trees", list, "model")
    owners = _get(model, "tree_info", list, "model")
    if not tables:
        raise ModelError("the model has no trees")
    if len(owners) != len(tables):
        raise ModelError(f"tree_info has {len(owners)} entries for {len(tables)} trees")
    trees = []
    for number, (table, owner) in enumerate(zip(tables, owners, strict=True)):
        if not isinstance(owner, int) or not 0 <= owner < outputs:
            raise ModelError(f"tree {number}: it belongs to class {owner!r}, but there are {outputs}")
        trees.append(_xgboost_tree(number, table, features, outputs, owner))
    forest = Forest(features, tuple(trees), tuple(base), cut=0.5 if objective == "reg:squarederror" else 0.0)
    if forest.splits > MAX_SPLITS:
        raise ModelError(f"the forest has {forest.splits} splits: at most {MAX_SPLITS} can be imported")
    return forest


def _xgboost_tree(number: int, table: Any, features: int, outputs: int, owner: int) -> Node:
    """Check one tree of the file and return it."""
    where = f"tree {number}"
    if not isinstance(table, dict):
        raise ModelError(f"{where}: it is no JSON object")
    names = ("left_children", "right_children", "split_indices", "split_conditions")
    left, right, indices, conditions = (_get(table, name, list, where) for name in names)
    kinds = _get(table, "split_type", list, where) if "split_type" in table else [0] * len(left)
    if str(_get(table, "tree_param", dict, where).get("size_leaf_vector", 1)) not in {"0", "1"}:
        raise ModelError(f"{where}: its leaves are vectors; only single numbers can be imported")
    lengths = {len(column) for column in (left, right, indices, conditions, kinds)}
    if lengths == {0} or len(lengths) != 1:
        raise ModelError(f"{where}: its columns {', '.join(names)} and split_type must have one length above 0")
    seen = set()

    def node(i: Any, depth: int) -> Node:
        here = f"{where}, node {i!r}"
        if type(i) is not int or not 0 <= i < len(left):
            raise ModelError(f"{here}: there is no such node; the tree has {len(left)}")
        if i in seen:
            raise ModelError(f"{here}: two paths lead to it")
        if depth > MAX_DEPTH:
            raise ModelError(f"{here}: its depth is above {MAX_DEPTH}")
        seen.add(i)
        number = conditions[i]
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= LARGEST:
            raise ModelError(f"{here}: its split condition {str(number)[:20]!r} is no number of 32 bits")
        if left[i] == -1 and right[i] == -1:
            return Leaf(tuple(float(np.float32(number)) if k == owner else 0.0 for k in range(outputs)))
        if kinds[i] != 0:
            raise ModelError(f"{here}: it is a categorical split; only numerical ones can be imported")
        if type(indices[i]) is not int or not 0 <= indices[i] < features:
            raise ModelError(f"{here}: feature {indices[i]!r} is out of range; the model has {features} features")
        return Split(indices[i], float(np.float32(number)), node(left[i], depth + 1), node(right[i], depth + 1))

    return node(0, 0)


def _get(container: Any, key: str, kind: type, where: str) -> Any:
    """Return an entry of a JSON object, whose type must be `kind`."""
    value = container.get(key) if isinstance(container, dict) else None
    if not isinstance(value, kind):
        raise ModelError(f"{where} has no entry {key!r} of type {kind.__name__}: is this a model file of XGBoost?")
    return value


def _count(parameters: dict[str, Any], key: str, least: int, most: int) -> int:
    """Return a number that XGBoost stores as text."""
    text = str(parameters.get(key, "missing"))
    if not text.isdecimal() or not least <= int(text[:9]) <= most:
        raise ModelError(f"learner_model_param: {key} is {text[:20]!r}, it must be from {least} to {most}")
    return int(text[:9])


def _base_scores(parameters: dict[str, Any], outputs: int) -> list[float]:
    """Return the base score of each output. Versions 3 and later store a list of them."""
    text = str(parameters.get("base_score", "missing"))
    try:
        scores = [float(part) for part in text.strip("[]").split(",")]
    except ValueError:
        scores = [math.nan]
    if len(scores) not in (1, outputs) or not all(map(math.isfinite, scores)):
        raise ModelError(f"learner_model_param: base_score is {text[:40]!r}, it must be {outputs} finite numbers")
    return scores * (outputs // len(scores))


@dataclass(frozen=True)
class Quantizer:
    """Maps each feature to levels from 0 to 255: equal steps from its least to its largest value.

    With fewer than 8 bits, the levels are multiples of `unit`.
    """

    low: np.ndarray
    step: np.ndarray
    unit: int = 1

    @classmethod
    def fit(cls, rows: np.ndarray, bits: int = 8) -> "Quantizer":
        """Take the ranges of the features from a table of rows. Raises ModelError for a missing or infinite feature."""
        rows = complete(rows)
        if not np.isfinite(rows).all():
            raise ModelError("a feature is infinite, so that its range has no equal steps: clip it first")
        low, high = rows.min(axis=0), rows.max(axis=0)
        step = np.where(high > low, (high - low) / (2**bits - 1), 1.0)
        return cls(low, step, 2 ** (8 - bits))

    def encode(self, rows: np.ndarray) -> np.ndarray:
        """Return the nearest levels. Values outside of the range get the first or the last one.

        Raises ModelError for a missing feature.
        """
        steps = np.clip(np.rint((complete(rows) - self.low) / self.step), 0, 256 // self.unit - 1)
        return (steps * self.unit).astype(np.uint8)

    def decode(self, levels: np.ndarray) -> np.ndarray:
        """Return the features that the levels stand for, in the precision of XGBoost and scikit-learn."""
        return (self.low + levels // self.unit * self.step).astype(np.float32)


@dataclass(frozen=True)
class IntegerForest:
    """A forest on levels of features whose leaves are integers from 0 to `2**bits - 1`.

    Output k of the original forest is about `base[k] + step * total[k]`. The error is at most half a step for each
    tree. Every row of levels takes the same paths as in the original forest.
    """

    features: int
    trees: tuple[Node, ...]
    base: np.ndarray
    step: float
    largest: int  # no total is above this number

    def totals(self, levels: np.ndarray) -> np.ndarray:
        """Evaluate the forest on plain levels. Shape of the result: rows, outputs."""
        return np.array([np.sum([reached(tree, row).values for tree in self.trees], axis=0) for row in levels])

    def outputs(self, totals: np.ndarray) -> np.ndarray:
        """Return the outputs that the totals stand for."""
        return self.base + self.step * totals


def quantize(forest: Forest, quantizer: Quantizer, leaf_bits: int) -> IntegerForest:
    """Replace thresholds by levels and leaves by integers of `leaf_bits` bits."""
    points = quantizer.decode(np.arange(0, 256, quantizer.unit)[:, None]).astype(float)
    leaves = [np.array([n.values for n in walk(tree) if isinstance(n, Leaf)]) for tree in forest.trees]
    least = [values.min(axis=0) for values in leaves]
    spread = max((float((values - low).max()) for values, low in zip(leaves, least, strict=True)), default=0.0)
    step = spread / (2**leaf_bits - 1) or 1.0

    def convert(node: Node, low: np.ndarray) -> Node:
        if isinstance(node, Leaf):
            return Leaf(tuple(int(v) for v in np.rint((np.array(node.values) - low) / step)))
        # The number of levels that go to the low side. If it is none or all, the split decides nothing.
        count = int((points[:, node.feature] < node.threshold).sum())
        if count == 0:
            return convert(node.high, low)
        if count == len(points):
            return convert(node.low, low)
        low_side, high_side = convert(node.low, low), convert(node.high, low)
        return low_side if low_side == high_side else Split(node.feature, count * quantizer.unit, low_side, high_side)

    trees = tuple(convert(tree, low) for tree, low in zip(forest.trees, least, strict=True))
    tops = [max(max(n.values) for n in walk(tree) if isinstance(n, Leaf)) for tree in trees]
    return IntegerForest(forest.features, trees, np.array(forest.base) + np.sum(least, axis=0), step, sum(tops))
