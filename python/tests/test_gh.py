"""The scheme of Gentry and Halevi end to end, at a size for tests."""

import pytest

import solinas as sl
from conftest import pair


@sl.program
def mix(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a * b, a + b)


@pytest.fixture(scope="module")
def keys():
    return pair("gh", params="ci-15", research=True, insecure_seed=1)


def test_programs_arrays_and_circuits_run(keys):
    client, server = keys
    a, b = client.encrypt([200, 7, 31], sl.U8), client.encrypt(sl.u8(9))
    job = server.start(mix(a, b))
    assert client.decrypt(job.result()).tolist() == [200 * 9 % 256, 16, 31 * 9 % 256]
    assert job.progress()[0] == job.progress()[1] > 0
    assert client.decrypt(server.run(client.encrypt(sl.i8(-20)) // 3 + 100)) == 94
    adder = (
        ".model add\n.inputs a[0] a[1] b[0] b[1]\n.outputs y[0] y[1]\n"
        ".names a[0] b[0] y[0]\n10 1\n01 1\n.names a[0] b[0] c\n11 1\n.names a[1] b[1] x\n10 1\n01 1\n"
        ".names x c y[1]\n10 1\n01 1\n.end\n"
    )
    two = [client.encrypt(value, sl.uint(2)) for value in (3, 2)]
    assert client.decrypt(server.run(sl.Circuit(adder)(*two))) == 1


def test_files_keep_everything(keys, tmp_path):
    client, server = keys
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    x = client.encrypt(sl.u8(12))
    x.save(tmp_path / "x.ct")
    loaded = sl.Ciphertext.load(tmp_path / "x.ct")
    key = sl.ServerKey.load(tmp_path / "server.key", research=True)
    again = sl.Server(key, threads=1, memory=1 << 26)
    result = again.run(mix(loaded, sl.Ciphertext.from_bytes(x.to_bytes())))
    assert sl.ClientKey.load(tmp_path / "client.key").decrypt(result) == 24
    assert loaded.params == "ci-15"
    assert loaded.form == "bits"


def test_costs_show_recrypts_and_products(keys):
    _, server = keys
    estimate = server.estimate(mix, elements=3)
    assert estimate.bootstraps == 0
    assert estimate.recrypts > 0 < estimate.products
    assert "recrypts" in repr(estimate)
    assert estimate.seconds > 0
    cost = mix.cost("toy")
    assert cost.seconds is None
    assert cost.products > 0
    assert mix.cost("integers-128").bootstraps > 0


def test_parameter_sets_say_that_they_are_for_research():
    sets = [s for s in sl.params() if s.scheme == "gh"]
    assert [s.name for s in sets] == ["toy", "small", "medium", "large", "ci-3", "ci-7", "ci-15"]
    assert all(s.research_only and not s.recommended and s.lwe_dimension is None for s in sets)
    assert [s.test_size for s in sets] == [False] * 4 + [True] * 3
    assert "research alone" in repr(sets[0])


def test_mistakes_raise_what_the_library_says(keys, gates):
    client, server = keys
    with pytest.raises(sl.ParameterError, match="research only"):
        sl.keygen("gh", params="toy")
    with pytest.raises(sl.ParameterError, match="toy, small"):
        sl.keygen("gh", research=True)
    with pytest.raises(sl.ParameterError, match="tfhe, gh"):
        sl.keygen("bfv")
    x = client.encrypt(sl.u8(1))
    with pytest.raises(sl.KeyMismatchError):
        gates[0].decrypt(x)
    with pytest.raises(sl.KeyMismatchError):
        server.start(mix(x, gates[0].encrypt(sl.u8(1))))
    with pytest.raises(sl.ParameterError, match="radix"):
        server.convert(x, "radix")
    with pytest.raises(sl.RangeError):
        sl.Server(server.key, memory=-1)
    with pytest.raises(sl.ParameterError, match="memory applies to keys of scheme gh only"):
        sl.Server(gates[1].key, memory=0)
    with pytest.raises(sl.ParameterError, match="MiB are allowed"):
        sl.Server(sl.ServerKey.from_bytes(server.key.to_bytes(), research=True), memory=1 << 10).run(mix(x, x))
    shallow, shallow_server = pair("gh", params="ci-3", research=True, insecure_seed=1)
    y, z = shallow.encrypt(sl.u8(200)), shallow.encrypt(sl.u8(99))
    with pytest.raises(sl.CircuitError, match="cannot evaluate this circuit"):
        shallow_server.run(mix(y, z))


def test_cancelled_jobs_raise(keys):
    client, server = keys
    xs = client.encrypt(list(range(64)), sl.U8)
    job = server.start(mix(xs, xs))
    job.cancel()
    with pytest.raises(sl.CancelledError):
        job.result()
