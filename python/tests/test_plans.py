"""Plans as values, and reductions level by level."""

import pickle
import random

import numpy as np
import pytest

import solinas as sl
from solinas import _arrays, _reductions

U4 = sl.uint(4)


@sl.program
def add(x: U4, y: U4) -> U4:
    return x + y


@sl.program
def xor(x: U4, y: U4) -> U4:
    return x ^ y


@pytest.fixture(scope="module")
def keys():
    return sl.keygen(params="integers-toy", research=True, insecure_seed=7)


@pytest.fixture(scope="module")
def server(keys):
    return sl.Server(keys[1], threads=2, model="shallow")


def test_a_plan_gives_the_same_bytes_on_another_server(keys, server, tmp_path):
    client, key = keys
    x, y = client.encrypt([9, 3], U4), client.encrypt(5, U4)
    plan = server.plan(add, elements=2)
    assert (plan.model, server.model, sum(plan.waves)) == ("shallow", "shallow", plan.bootstraps)
    plan.save(tmp_path / "add.plan")
    other = sl.Server(key, threads=1, model="fewest")
    results = []
    for where, by in [
        (server, plan),
        (other, sl.Plan.load(tmp_path / "add.plan")),
        (other, pickle.loads(pickle.dumps(plan))),
    ]:
        assert by == plan
        assert hash(by) == hash(plan)
        results.append(where.run(add(x, y), plan=by))
    assert {result.to_bytes() for result in results} == {results[0].to_bytes()}
    assert client.decrypt(results[0]).tolist() == [14, 8]
    assert server.plan(add(x, y)) == plan
    assert "shallow" in repr(plan)
    assert plan.id[:8] in plan._repr_html_()


def test_only_auditable_results_name_their_plan_and_private_programs_hide_it(keys, server):
    client, _ = keys
    x, y = client.encrypt([9, 3], U4), client.encrypt(5, U4)
    plan = bytes.fromhex(server.plan(add, elements=2).id)
    named = server.run(add(x, y), auditable=True)
    plain = server.run(add(x, y))
    private = server.run(add(x, y), private_program=True)
    again = server.run(plain + 0, private_program=True)
    assert [plan in result.to_bytes() for result in (named, plain, private, again)] == [True, False, False, False]
    assert len({result.to_bytes() for result in (named, plain, private, again)}) == 4
    for result in (plain, private, again, server.compact(private)):
        assert client.decrypt(result).tolist() == [14, 8]
    assert client.decrypt(server.run(private + 1)).tolist() == [15, 9]
    total = server.map_reduce(lambda x: x + 1, "sum", x, private_program=True)
    assert client.decrypt(total) == 14
    # What hides the program counts, of a program and of recorded values.
    costs = [server.estimate(add, elements=2, private_program=hides).bootstraps for hides in (False, True)]
    assert costs == [server.estimate(x + y, private_program=hides).bootstraps for hides in (False, True)]
    assert costs[0] < costs[1]
    with pytest.raises(sl.ParameterError, match="hide their plan"):
        server.run(x + y, private_program=True, auditable=True)


def test_plans_of_other_work_are_refused(keys, server, tmp_path):
    client, key = keys
    x = client.encrypt(9, U4)
    plan = server.plan(add)
    with pytest.raises(sl.SolinasError, match="the plan is of another program"):
        server.run(x - 1, plan=plan)
    with pytest.raises(sl.TypeMismatchError, match="plan takes a plan, got 3"):
        server.run(x - 1, plan=3)
    with pytest.raises(sl.TypeMismatchError, match="plan takes a function decorated"):
        server.plan(3)
    with pytest.raises(sl.RangeError, match="elements is 0"):
        server.plan(add, elements=0)
    with pytest.raises(sl.TypeMismatchError, match="take 2"):
        server.plan(x + 1, client.encrypt([1, 2], U4) + 1)
    with pytest.raises(sl.SolinasError, match="fewest, shallow, or threads-N"):
        sl.Server(key, model="fast")
    with pytest.raises(sl.SolinasError):
        sl.Plan.from_bytes(x.to_bytes())
    x.save(tmp_path / "x.ct")
    with pytest.raises(sl.SolinasError):
        plan.save(tmp_path / "x.ct")
    with pytest.raises(TypeError, match=r"Server\.plan"):
        sl.Plan()


def test_other_schemes_have_no_plans():
    _, key = sl.keygen("lwe", params="toy-256-8", research=True, insecure_seed=1)
    with pytest.raises(sl.ParameterError, match="only that of scheme tfhe has"):
        sl.Server(key).plan(xor)


@pytest.mark.parametrize(("shape", "axis"), [((37,), None), ((2, 19), 1), ((17, 3), 0), ((3, 2, 20), (0, 2))])
def test_levels_keep_every_element_and_the_order(monkeypatch, shape, axis):
    """The columns of each level, on arrays whose elements are numbers of a noncommutative monoid."""
    monkeypatch.setattr(_reductions, "UNROLLED", 8)
    numbers = np.array([random.randrange(1, 256) for _ in range(np.prod(shape))], np.uint8).reshape(shape)

    @sl.program
    def first(x: sl.U8, y: sl.U8) -> sl.U8:
        return sl.select(x > 99, x, y)

    def expected(row):
        return next((x for x in row if x > 99), row[-1])

    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    rest = [i for i in range(len(shape)) if i not in axes]
    rows = numbers.transpose([*rest, *axes]).reshape(-1, int(np.prod([shape[i] for i in axes])))
    want = [expected(row.tolist()) for row in rows]
    sums = [int(row.sum()) % 256 for row in rows]
    client, _ = sl.keygen(params="integers-toy", research=True, insecure_seed=7)
    array = client.encrypt(numbers)
    for value, results in [(array.reduce(first, axis), want), (array.sum(axis), sums)]:
        assert _evaluated(client, value) == results


def _evaluated(client, value):
    """Evaluate a recorded value on plain numbers, step by step."""
    from solinas._expression import schedule

    planned = schedule([value._data])
    values = []
    for item in planned.inputs:
        values.append([int(x) for x in client._inner.decrypt(item)])
    for step in planned.steps:
        if isinstance(step[0], int):
            values.append([values[step[0]][i] for i in step[1]])
        elif isinstance(step[0], list):
            values.append([x for i in step[0] for x in values[i]])
        else:
            columns = [values[i] for i in step[1]]
            rows = step[0].evaluate([list(row) for row in zip(*columns, strict=True)])
            values.extend(list(column) for column in zip(*rows, strict=True))
    return values[planned.outputs[0]]


def test_a_program_does_not_grow_with_the_array(keys):
    client, _ = keys
    from solinas._expression import schedule

    array = client.encrypt([1] * 5000, U4)
    nodes = [len(schedule([array[:size].sum()._data]).works) for size in (257, 5000)]
    assert nodes == [3, 4]


def test_a_reduction_needs_a_function_to_its_own_type(keys):
    client, _ = keys
    array = client.encrypt([1, 2, 3], U4)
    with pytest.raises(sl.TypeMismatchError, match="returns u4, got bool"):
        array.reduce(lambda x, y: x > y)


def test_reductions_run(keys, server, monkeypatch):
    monkeypatch.setattr(_reductions, "UNROLLED", 16)
    client, _ = keys
    array = client.encrypt([i % 16 for i in range(18)], U4)
    assert client.decrypt(server.run(array.sum())) == sum(i % 16 for i in range(18)) % 16
    assert _arrays.GROUP == 16
