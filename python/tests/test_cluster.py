"""Computation on several nodes of a Ray cluster on this machine. `make test-cluster` installs Ray and runs it."""

import os
import random
import subprocess
import sys
import threading
import time

import pytest

import solinas as sl
from conftest import left_out, rounds

try:
    import ray
except ImportError:
    left_out("ray", "`make test-cluster` installs it")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(300)]

U4 = sl.uint(4)
# Random programs that are compared.
PROGRAMS = rounds(20, 300)


@sl.program
def affine(x: U4, y: U4) -> U4:
    return x + y


@pytest.fixture(scope="module")
def machines():
    """A head without processors, and two nodes with one each."""
    os.environ.update(
        RAY_health_check_initial_delay_ms="1000",
        RAY_health_check_period_ms="1000",
        RAY_health_check_timeout_ms="1000",
        RAY_health_check_failure_threshold="3",
        RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO="0",
    )
    from ray.cluster_utils import Cluster

    store = 100 * 2**20
    machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": store})
    for _ in range(2):
        machines.add_node(num_cpus=1, object_store_memory=store)
    yield machines
    ray.shutdown()
    machines.shutdown()


@pytest.fixture(scope="module")
def keys():
    return sl.keygen(params="integers-toy", research=True, insecure_seed=7)


@pytest.fixture(scope="module")
def cluster(machines):
    with sl.cluster(machines.address, threads=1, shard_seconds=0.5) as cluster:
        yield cluster


def values(client, count):
    numbers = [(7 * i + 3) % 16 for i in range(count)]
    return numbers, client.encrypt(numbers, U4)


def test_the_bytes_are_those_of_one_server(cluster, keys):
    client, key = keys
    numbers, x = values(client, 30)
    y = client.encrypt(5, U4)
    assert cluster.nodes == 2
    seen = []
    result = cluster.run(affine(x, y), key=key, progress=lambda *at: seen.append(at))
    one = sl.Server(key, model=cluster.model)
    assert result.to_bytes() == one.run(affine(x, y)).to_bytes()
    assert client.decrypt(result).tolist() == [(number + 5) % 16 for number in numbers]
    assert seen[0][0] == 0
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1]


def test_a_plan_of_all_steps_gives_its_bytes_on_any_machine(cluster, keys):
    client, key = keys
    numbers, x = values(client, 20)

    def wanted():
        # A recorded value keeps its result, so each run takes new ones. The maximum reads sums, whose noise this
        # machine knows, and the public values differ from element to element.
        return affine(x, x) * x, (x + x).max(), x + [*range(16), 1, 1, 2, 2]

    plan = sl.Plan.from_bytes(sl.Server(key, model="shallow").plan(*wanted()).to_bytes())
    assert plan.model != cluster.model
    killed = []

    def watch(done, total):
        if done and not killed:
            killed.append(done)
            ray.kill(next(iter(cluster._machines.values())).actor)

    results = cluster.run(*wanted(), key=key, plan=plan, progress=watch)
    assert killed
    assert client.decrypt(results[0]).tolist() == [2 * number * number % 16 for number in numbers]
    files = [value.to_bytes() for value in results]
    for threads, device in [(1, "cpu"), (2, "cpu"), (1, "emulated")]:
        one = sl.Server(key, threads=threads, device=device).run(*wanted(), plan=plan)
        assert [value.to_bytes() for value in one] == files
    own = cluster.run(*wanted(), key=key)
    assert [value.to_bytes() for value in own] != files
    one = sl.Server(key, model=cluster.model).run(*wanted())
    assert [value.to_bytes() for value in one] == [value.to_bytes() for value in own]
    with pytest.raises(sl.CircuitError, match="the plan is of another program"):
        cluster.run(x - 1, key=key, plan=plan)


def test_private_programs_run_on_a_cluster(cluster, keys):
    client, key = keys
    numbers, x = values(client, 6)
    y = client.encrypt(5, U4)
    plain, private = (cluster.run(affine(x, y), key=key, private_program=hides) for hides in (False, True))
    assert client.decrypt(private).tolist() == client.decrypt(plain).tolist() == [(n + 5) % 16 for n in numbers]
    again = sl.Server(key, model=cluster.model).run(affine(x, y), private_program=True)
    assert len({result.to_bytes() for result in (plain, private, again)}) == 3
    total = cluster.map_reduce(lambda x: x + 1, "sum", x, key=key, private_program=True)
    assert client.decrypt(total) == sum(n + 1 for n in numbers) % 16


def test_public_arrays_several_results_and_reductions(cluster, keys):
    client, key = keys
    numbers, x = values(client, 20)
    sums, flags = cluster.run(x + [1] * 20, x < 7, key=key)
    assert client.decrypt(sums).tolist() == [(number + 1) % 16 for number in numbers]
    assert client.decrypt(flags).tolist() == [number < 7 for number in numbers]
    total = cluster.map_reduce(lambda x: x + 1, "sum", x, key=key)
    assert client.decrypt(total) == (sum(numbers) + 20) % 16
    either = cluster.map_reduce(lambda x: x, lambda a, b: a | b, x[:3], key=key)
    assert client.decrypt(either) == numbers[0] | numbers[1] | numbers[2]
    largest, ordered, single = cluster.run(x.argmax(), x[:8].sort(), x[3] + 1, key=key)
    assert client.decrypt((largest, single)) == (numbers.index(max(numbers)), (numbers[3] + 1) % 16)
    assert client.decrypt(ordered).tolist() == sorted(numbers[:8])


def test_bad_input_is_refused_by_name(cluster, keys):
    client, key = keys
    _, x = values(client, 2)
    with pytest.raises(sl.TypeMismatchError, match="key takes a server key"):
        cluster.run(x + 1, key=client)
    _, other = sl.keygen(params="integers-toy", research=True, insecure_seed=8)
    with pytest.raises(sl.KeyMismatchError, match="belongs to key"):
        cluster.run(x + 1, key=other)
    with pytest.raises(sl.RangeError, match="no reduction 'mean'"):
        cluster.map_reduce(lambda x: x, "mean", x, key=key)
    with pytest.raises(sl.RangeError, match="must be positive"):
        sl.cluster(threads=0)
    _, lwe = sl.keygen("lwe", params="toy-256-8", research=True, insecure_seed=1)
    with pytest.raises(sl.SolinasError):
        cluster.run(lwe.encrypt([1, 0], sl.Bool) ^ True, key=lwe)


def test_a_worker_that_dies_loses_nothing(cluster, keys):
    client, key = keys
    numbers, x = values(client, 40)
    killed = []

    def watch(done, total):
        if done and not killed:
            killed.append(done)
            ray.kill(next(iter(cluster._machines.values())).actor)

    # Several steps, each of which uses all machines. A recorded value keeps its result.
    def sums():
        return affine(x, x), x.sum()

    doubled, total = cluster.run(*sums(), key=key, progress=watch)
    assert killed
    assert client.decrypt(doubled).tolist() == [2 * number % 16 for number in numbers]
    assert client.decrypt(total) == sum(numbers) % 16
    one = sl.Server(key, model=cluster.model).run(*sums())
    assert [value.to_bytes() for value in (doubled, total)] == [value.to_bytes() for value in one]


def test_a_node_that_is_killed_loses_nothing(machines, cluster, keys):
    client, key = keys
    node = machines.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    numbers, x = values(client, 150)
    times = {}
    removal = threading.Thread(target=machines.remove_node, args=(node,), kwargs={"allow_graceful": False})

    def watch(done, total):
        if done and not times:
            times["killed"] = time.monotonic()
            removal.start()

    start = time.monotonic()
    result = cluster.run(affine(x, x), key=key, progress=watch)
    end = time.monotonic()
    assert client.decrypt(result).tolist() == [2 * number % 16 for number in numbers]
    one = sl.Server(key, model=cluster.model)
    assert result.to_bytes() == one.run(affine(x, x)).to_bytes()
    print(f"killed after {times['killed'] - start:.1f} s, all results after {end - start:.1f} s")
    removal.join()
    # Ray notices after a few seconds that a node has gone. The shards of its actor have run elsewhere before.
    while cluster.nodes != 2:
        time.sleep(0.1)


def test_ctrl_c_stops_the_machines(cluster, keys):
    client, key = keys
    _, x = values(client, 60)

    def watch(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cluster.run(affine(x, x), key=key, progress=watch)
    numbers, x = values(client, 2)
    assert client.decrypt(cluster.run(affine(x, x), key=key)).tolist() == [2 * number % 16 for number in numbers]


BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
COMPARED = {
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
}


def random_program(rng, width):
    """Return a random function of three numbers, for encrypted numbers and for those of Python."""
    steps = []
    for made in range(3, 3 + rng.randint(1, 5)):
        pick = [rng.randrange(made) for _ in range(4)]
        name = rng.choice([*BINARY, *COMPARED, "constant", "shift"])
        steps.append((name, pick, rng.randrange(2**width), rng.randrange(width)))

    def compute(numbers, choose, shift):
        values = list(numbers)
        for name, (a, b, c, d), constant, places in steps:
            if name in BINARY:
                values.append(BINARY[name](values[a], values[b]))
            elif name in COMPARED:
                values.append(choose(COMPARED[name](values[a], values[b]), values[c], values[d]))
            elif name == "constant":
                values.append(values[a] + constant)
            else:
                values.append(shift(values[a], places))
        return values[-1]

    return compute


class Plain(int):
    """A number of Python, with the operations of unsigned numbers of 4 to 6 bits."""

    width = 4

    @classmethod
    def of(cls, value):
        return cls(value % 2**cls.width)


def operation(name):
    return lambda a, b: Plain.of(getattr(int, name)(a, int(b)))


for _name in ("__add__", "__sub__", "__mul__", "__and__", "__or__", "__xor__"):
    setattr(Plain, _name, operation(_name))


@pytest.mark.timeout(300 + 5 * PROGRAMS)
def test_random_programs_have_the_bytes_of_one_server(cluster, keys):
    client, key = keys
    server = sl.Server(key, model=cluster.model)
    for seed in range(PROGRAMS):
        rng = random.Random(seed)
        width = Plain.width = rng.randint(2, 5)
        kind = sl.uint(width)
        compute = random_program(rng, width)
        elements = rng.choice([1, 2, 5])
        numbers = [[rng.randrange(2**width) for _ in range(elements)] for _ in range(3)]
        inputs = [client.encrypt(values, kind) for values in numbers]
        # A recorded value keeps its result, so each run takes a new one.
        result, again = (
            run(compute(inputs, sl.select, lambda value, places: value << places))
            for run in (lambda asked: cluster.run(asked, key=key), server.run)
        )
        assert result.to_bytes() == again.to_bytes(), seed
        for element, got in enumerate(client.decrypt(result).tolist()):
            plain = [Plain(values[element]) for values in numbers]
            want = compute(plain, lambda c, a, b: a if c else b, lambda a, n: Plain.of(int(a) << n))
            assert got == want, seed
    print(f"{PROGRAMS} random programs have the bytes of one server")


DRIVER = """
import sys, threading
from ray.cluster_utils import Cluster
import solinas as sl

store = 100 * 2**20
machines = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": store})
machines.add_node(num_cpus=1, object_store_memory=store)
client, key = sl.keygen(params="integers-toy", research=True, insecure_seed=7)
x = sl.EncryptedArray.load(sys.argv[1])
killed = []

def watch(done, total):
    if done >= total // 4 and not killed:
        killed.append(done)
        machines.head_node.kill_all_processes(check_alive=False, allow_graceful=False)

with sl.cluster(machines.address, threads=1, shard_seconds=0.3) as cluster:
    cluster.run(x + x, key=key, progress=watch, keep=sys.argv[2])
"""


def test_a_new_cluster_goes_on_after_the_head_was_killed(cluster, keys, tmp_path):
    client, key = keys
    numbers, x = values(client, 100)
    x.save(tmp_path / "x.ct")
    keep = tmp_path / "keep"
    ended = subprocess.run([sys.executable, "-c", DRIVER, tmp_path / "x.ct", keep], timeout=200, check=False)
    assert ended.returncode != 0, "the head was not killed"
    files = [file.name.split("-") for file in keep.glob("*/*.ct")]
    kept = sum(int(end) - int(start) for start, end, _ in files)
    assert 25 <= kept < 100
    # A call whose arrays differ computes all of it.
    _, other = values(client, 3)
    cluster.run(other + other, key=key, keep=keep)
    assert len(list(keep.glob("*/*.ct"))) == len(files)
    seen = []
    result = cluster.run(x + x, key=key, keep=keep, progress=lambda done, _: seen.append(done))
    assert seen[0] == kept
    assert client.decrypt(result).tolist() == [2 * number % 16 for number in numbers]
    assert result.to_bytes() == sl.Server(key, model=cluster.model).run(x + x).to_bytes()
    assert not list(keep.iterdir())
    print(f"{kept} of 100 elements were kept")
