"""Computation on several nodes of a Ray cluster on this machine. `make test-cluster` installs Ray and runs it."""

import os
import threading
import time

import pytest

import solinas as sl

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(300)]

U4 = sl.uint(4)


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
    return sl.keygen(params="integers-40", insecure_seed=7)


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


def test_public_arrays_several_results_and_reductions(cluster, keys, monkeypatch):
    from solinas import _reductions

    monkeypatch.setattr(_reductions, "UNROLLED", 16)
    client, key = keys
    numbers, x = values(client, 20)
    sums, flags = cluster.run(x + [1] * 20, x < 7, key=key)
    assert client.decrypt(sums).tolist() == [(number + 1) % 16 for number in numbers]
    assert client.decrypt(flags).tolist() == [number < 7 for number in numbers]
    total = cluster.map_reduce(lambda x: x + 1, "sum", x, key=key)
    assert client.decrypt(total) == (sum(numbers) + 20) % 16
    either = cluster.map_reduce(lambda x: x, lambda a, b: a | b, x[:3], key=key)
    assert client.decrypt(either) == numbers[0] | numbers[1] | numbers[2]


def test_bad_input_is_refused_by_name(cluster, keys):
    client, key = keys
    _, x = values(client, 2)
    with pytest.raises(sl.TypeMismatchError, match="key takes a server key"):
        cluster.run(x + 1, key=client)
    _, other = sl.keygen(params="integers-40", insecure_seed=8)
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

    result = cluster.run(affine(x, x), key=key, progress=watch)
    assert killed
    assert client.decrypt(result).tolist() == [2 * number % 16 for number in numbers]


def test_a_node_that_is_killed_loses_nothing(machines, cluster, keys):
    client, key = keys
    node = machines.add_node(num_cpus=1, object_store_memory=100 * 2**20)
    numbers, x = values(client, 150)
    times = {}

    def watch(done, total):
        if done and "killed" not in times:
            times["killed"] = time.monotonic()
            threading.Thread(target=machines.remove_node, args=(node,), kwargs={"allow_graceful": False}).start()

    start = time.monotonic()
    result = cluster.run(affine(x, x), key=key, progress=watch)
    end = time.monotonic()
    assert client.decrypt(result).tolist() == [2 * number % 16 for number in numbers]
    one = sl.Server(key, model=cluster.model)
    assert result.to_bytes() == one.run(affine(x, x)).to_bytes()
    print(f"killed after {times['killed'] - start:.1f} s, all results after {end - start:.1f} s")
    assert cluster.nodes == 2


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
