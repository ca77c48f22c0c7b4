"""Plans as values, and reductions."""

import pickle
import random

import numpy as np
import pytest

import solinas as sl
from solinas._expression import record

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
def test_reductions_keep_every_element_and_the_order(quick, shape, axis):
    """On arrays whose elements are numbers of a noncommutative monoid."""
    numbers = np.array([random.randrange(1, 256) for _ in range(np.prod(shape))], np.uint8).reshape(shape)

    def first(x, y):
        return sl.select(x > 99, x, y)

    def expected(row):
        return next((x for x in row if x > 99), row[-1])

    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    rest = [i for i in range(len(shape)) if i not in axes]
    rows = numbers.transpose([*rest, *axes]).reshape(-1, int(np.prod([shape[i] for i in axes])))
    client, server = quick
    array = client.encrypt(numbers)
    results = server.run(array.reduce(first, axis), array.reduce(sl.program(typed(first)), axis), array.sum(axis))
    found = [np.ravel(client.decrypt(result)).tolist() for result in results]
    assert found[0] == found[1] == [expected(row.tolist()) for row in rows]
    assert found[2] == [int(row.sum()) % 256 for row in rows]


def typed(function):
    """Return a function of two values with the types that `sl.program` reads."""

    def named(x: sl.U8, y: sl.U8) -> sl.U8:
        return function(x, y)

    return named


def test_a_reduction_is_one_operation(keys):
    client, _ = keys
    array = client.encrypt([1] * 5000, U4)
    for value in (array.sum(), array.max(), array.reduce(lambda x, y: x & y), array.argmin()):
        _, program = record([value._data])
        assert [name for name, *_ in program.nodes].count("reduce") == 1
        assert len(program.nodes) <= 4


def test_functions_that_use_encrypted_values_reduce_too(quick):
    client, server = quick
    array, most = client.encrypt([9, 3, 12], U4), client.encrypt(8, U4)
    lowest = array.reduce(lambda x, y: sl.minimum(sl.minimum(x, y), most))
    assert client.decrypt(server.run(lowest)) == 3


def test_a_plan_of_several_steps_gives_the_same_bytes(keys, server, tmp_path):
    client, key = keys
    x, w = client.encrypt([3, 9, 4, 1] * 18, U4), client.encrypt([7, 2, 5, 6] * 18, U4)
    plan = server.plan((x * w).sum(), x[0] + 1)
    plan.save(tmp_path / "dot.plan")
    other = sl.Server(key, threads=1, model="fewest")
    results = [
        where.run((x * w).sum(), x[0] + 1, plan=sl.Plan.load(tmp_path / "dot.plan")) for where in (server, other)
    ]
    assert [part.to_bytes() for part in results[0]] == [part.to_bytes() for part in results[1]]
    assert client.decrypt(results[0]) == ((21 + 18 + 20 + 6) * 18 % 16, 4)


def test_a_reduction_needs_a_function_to_its_own_type(keys):
    client, _ = keys
    array = client.encrypt([1, 2, 3], U4)
    with pytest.raises(sl.TypeMismatchError, match="returns u4, got bool"):
        array.reduce(lambda x, y: x > y)


def test_reductions_run(keys, server):
    client, _ = keys
    numbers = [i % 16 for i in range(18)]
    array = client.encrypt(numbers, U4)
    results = server.run(array.sum(), array.argmax(), array.reshape(2, 9).argmin(axis=1), array.max())
    total, largest, smallest, most = client.decrypt(results)
    assert (total, largest, smallest.tolist(), most) == (sum(numbers) % 16, 15, [0, 7], 15)
