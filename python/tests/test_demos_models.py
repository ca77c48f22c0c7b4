"""The demonstrations on models and tables give the results of plain Python."""

import copy
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

EXAMPLES = Path(__file__).parents[2] / "examples"
XGBOOST = EXAMPLES / "decision_forest" / "breast_cancer.json"


def load(monkeypatch, folder, *names):
    """Import modules of an example, and forget them after the test."""
    monkeypatch.syspath_prepend(EXAMPLES / folder)
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    modules = [importlib.import_module(name) for name in names]
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    return modules


@pytest.fixture
def forests(monkeypatch):
    return load(monkeypatch, "decision_forest", "models", "circuit")


@pytest.mark.parametrize("folder", ["cardio", "decision_forest", "digits", "pir", "set_intersection"])
def test_make_test_passes(folder):
    command = ["make", "--silent", "test", f"PYTHON={sys.executable}"]
    run = subprocess.run(command, cwd=EXAMPLES / folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(
    ("script", "words", "message"),
    [
        ("cardio/cardio.py", ["--height", "80"], "'80' is no integer from 90 to 255"),
        ("decision_forest/forest.py", ["--model", "missing.json"], "error: missing.json is no JSON file"),
        ("digits/digits.py", ["--images", "0"], "'0' is no integer from 1 to 360"),
        ("pir/pir.py", ["--records", "5", "--index", "5"], "so it is at most 4"),
        ("set_intersection/psi.py", ["--client", "3", "--common", "4"], "cannot be more than --client or --server"),
    ],
)
def test_bad_arguments_are_refused(script, words, message):
    run = subprocess.run([sys.executable, EXAMPLES / script, *words], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_cardio_risk_is_the_count_of_the_rules(monkeypatch):
    (cardio,) = load(monkeypatch, "cardio", "cardio")
    draw = np.random.default_rng(1)
    tops = {"man": 2, "smoker": 2, "diabetic": 2, "pressure": 2}
    tops |= {"age": 131, "hdl": 256, "height": 256, "weight": 256, "activity": 61, "drinks": 8}
    for _ in range(500):
        answers = {name: int(draw.integers(90 if name == "height" else 0, top)) for name, top in tops.items()}
        assert cardio.risk.simulate(**answers) == cardio.plain_risk(answers)


def test_the_page_of_the_service_has_the_program_of_cardio(tmp_path):
    page = EXAMPLES.parent / "crates" / "server" / "web" / "cardio.json"
    made = tmp_path / "cardio.json"
    subprocess.run([sys.executable, EXAMPLES / "cardio" / "cardio.py", "--save", made], check=True)
    # `python cardio.py --save` writes the file of the page again.
    assert json.loads(page.read_text()) == json.loads(made.read_text())


def test_forest_of_scikit_learn_is_imported_exactly(forests):
    models, _ = forests
    rows, labels = load_iris(return_X_y=True)
    model = RandomForestClassifier(7, max_depth=4, random_state=0).fit(rows, labels)
    outputs = models.from_sklearn(model).outputs(rows)
    np.testing.assert_allclose(outputs, model.predict_proba(rows), atol=1e-12)


def test_missing_features_and_several_outputs_are_refused(forests):
    models, _ = forests
    rows, labels = load_iris(return_X_y=True)
    holes = rows.copy()
    holes[3, 2] = np.nan
    model = RandomForestClassifier(2, max_depth=2, random_state=0).fit(rows, labels)
    quantizer = models.Quantizer.fit(rows)
    for refused in (
        lambda: quantizer.encode(holes),
        lambda: models.Quantizer.fit(holes),
        lambda: models.from_sklearn(model).outputs(holes),
    ):
        with pytest.raises(models.ModelError, match=r"row 3 has no feature 2 \(NaN\)"):
            refused()
    with pytest.raises(models.ModelError, match="mask"):
        quantizer.encode(np.ma.masked_invalid(holes))
    with pytest.raises(models.ModelError, match="infinite"):
        models.Quantizer.fit(np.where(np.isnan(holes), np.inf, holes))
    two = RandomForestClassifier(2, max_depth=2, random_state=0).fit(rows, np.stack([labels == 0, labels == 2], axis=1))
    with pytest.raises(models.ModelError, match="predicts 2 classes"):
        models.from_sklearn(two)


def test_forest_of_xgboost_is_imported_exactly(forests):
    models, _ = forests
    rows = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)[1][:6]
    # The margins that xgboost 3.2.0 predicts for the same rows and file.
    margins = [-4.263212, 3.607012, 4.928333, 4.302151, 5.242979, 4.895783]
    outputs = models.from_xgboost(XGBOOST).outputs(rows)
    np.testing.assert_allclose(outputs[:, 0], margins, atol=1e-5)


@pytest.mark.parametrize("bits", [8, 4, 3])
@pytest.mark.parametrize("depth", [1, 4, 7])
def test_program_is_the_integer_forest(forests, bits, depth):
    models, circuit = forests
    rows, labels = load_iris(return_X_y=True)
    model = RandomForestClassifier(5, max_depth=depth, random_state=depth).fit(rows, labels)
    quantizer = models.Quantizer.fit(rows, bits)
    levels = quantizer.encode(rows)
    integers = models.quantize(models.from_sklearn(model), quantizer, 5)
    program = circuit.program(integers, circuit.plan(integers, price=bits % 3))
    totals = integers.totals(levels)
    for row, total in zip(levels[::10], totals[::10], strict=True):
        assert program.simulate(row) == tuple(total)
    error = np.abs(integers.outputs(totals) - model.predict_proba(quantizer.decode(levels))).max()
    assert error <= len(integers.trees) * integers.step / 2 + 1e-12


def test_forest_without_splits_is_a_constant(forests):
    models, circuit = forests
    forest = models.Forest(2, (models.Leaf((0.25,)), models.Leaf((0.5,))), (0.125,))
    integers = models.quantize(forest, models.Quantizer.fit(np.array([[0.0, 1.0], [1.0, 1.0]])), 4)
    program = circuit.best_program(integers)
    assert integers.outputs(np.array(program.simulate([3, 4]))) == 0.875


def change(path, value):
    """Return a change of the JSON document: the entry at `path` becomes `value`."""

    def apply(document):
        for key in path[:-1]:
            document = document[key]
        document[path[-1]] = value

    return apply


LEARNER = ("learner",)
TREE = ("learner", "gradient_booster", "model", "trees", 2)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("learner",), 5, "the file has no entry 'learner'"),
        ((*LEARNER, "gradient_booster", "name"), "dart", "the booster is 'dart'"),
        ((*LEARNER, "objective", "name"), "rank:ndcg", "the objective is 'rank:ndcg'"),
        ((*LEARNER, "learner_model_param", "num_feature"), "-1", "num_feature is '-1'"),
        ((*LEARNER, "learner_model_param", "base_score"), "[nan]", "base_score is '[nan]'"),
        ((*LEARNER, "learner_model_param", "base_score"), "7", "base_score must be a probability"),
        ((*LEARNER, "gradient_booster", "model", "tree_info"), [0], "tree_info has 1 entries for 100 trees"),
        ((*LEARNER, "gradient_booster", "model", "tree_info", 3), 1, "tree 3: it belongs to class 1"),
        ((*LEARNER, "gradient_booster", "model", "trees"), [], "the model has no trees"),
        (TREE, [], "tree 2: it is no JSON object"),
        ((*TREE, "left_children"), [], "tree 2: its columns"),
        ((*TREE, "left_children", 0), 0, "tree 2, node 0: two paths lead to it"),
        ((*TREE, "left_children", 0), 99, "tree 2, node 99: there is no such node"),
        ((*TREE, "right_children", 0), -1, "tree 2, node -1: there is no such node"),
        ((*TREE, "left_children", 0), 1.0, "tree 2, node 1.0: there is no such node"),
        ((*TREE, "split_indices", 0), 30, "tree 2, node 0: feature 30 is out of range"),
        ((*TREE, "split_conditions", 0), "x", "tree 2, node 0: its split condition 'x' is no number of 32 bits"),
        pytest.param((*TREE, "split_conditions", 0), 10**400, "tree 2, node 0: its split condition", id="huge"),
        ((*TREE, "split_conditions", 0), float("nan"), "tree 2, node 0: its split condition 'nan'"),
        ((*TREE, "split_type", 0), 1, "tree 2, node 0: it is a categorical split"),
        ((*TREE, "split_type"), 1, "tree 2 has no entry 'split_type' of type list"),
        ((*TREE, "tree_param", "size_leaf_vector"), "3", "tree 2: its leaves are vectors"),
        ((*LEARNER, "learner_model_param", "num_target"), "2", "num_target is '2'"),
    ],
)
def test_damaged_files_of_xgboost_are_refused(forests, tmp_path, path, value, message):
    models, _ = forests
    document = copy.deepcopy(json.loads(XGBOOST.read_text()))
    change(path, value)(document)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(document))
    with pytest.raises(models.ModelError) as caught:
        models.from_xgboost(file)
    assert message in str(caught.value)


def test_deep_trees_and_deep_json_are_refused(forests, tmp_path):
    models, _ = forests
    document = json.loads(XGBOOST.read_text())
    count = 201
    chain = document["learner"]["gradient_booster"]["model"]["trees"][0]
    chain["left_children"] = [i + 1 if i % 2 == 0 and i + 2 < count else -1 for i in range(count)]
    chain["right_children"] = [i + 2 if i % 2 == 0 and i + 2 < count else -1 for i in range(count)]
    chain["split_indices"] = chain["split_type"] = [0] * count
    chain["split_conditions"] = [0.5] * count
    file = tmp_path / "model.json"
    file.write_text(json.dumps(document))
    with pytest.raises(models.ModelError, match="its depth is above 64"):
        models.from_xgboost(file)
    file.write_text("[" * 100_000)
    with pytest.raises(models.ModelError, match="is no JSON file that can be read"):
        models.from_xgboost(file)


def test_polynomials_of_the_intersection_are_zero_at_common_items_alone(monkeypatch):
    (psi,) = load(monkeypatch, "set_intersection", "psi")
    items = [bytes([i, j]) for i in range(20) for j in range(20)]
    mine, theirs = items[:30], items[20:]
    bins, degree = 512, 4
    places, fingerprints = psi.hashed(mine, b"salt", bins)
    owner = psi.cuckoo(places, bins)
    coefficients = psi.polynomials(theirs, b"salt", bins, degree)
    for place in np.flatnonzero(owner >= 0):
        x = [int(number) for number in fingerprints[owner[place]]]
        parts = [
            [
                sum(int(c) * pow(x[f], k, psi.MODULUS) for k, c in enumerate(row[:, place])) % psi.MODULUS
                for f, row in enumerate(part)
            ]
            for part in coefficients
        ]
        assert any(values == [0, 0] for values in parts) == (mine[owner[place]] in theirs)


def test_squares_never_wrap_and_tables_fit_their_type(monkeypatch):
    squares, tables = load(monkeypatch, "digits", "squares", "tables")
    images, labels = load_digits(return_X_y=True)
    network = squares.Squares(images, labels)
    scores = network.scores(squares.encode(images))
    assert np.abs(scores).max() <= squares.MODULUS // 2
    assert (squares.signed(scores % squares.MODULUS) == scores).all()
    network = tables.Tables(images, labels)
    pixels = tables.encode(images)
    assert network.program().simulate(pixels[0]) == tuple(network.scores(pixels[:1])[0])
