"""Devices of servers: the same bytes, and errors with the remedy."""

import pytest

import solinas as sl


@pytest.fixture(scope="module")
def keys():
    """Return a key pair for gates: fast, reproducible and insecure."""
    return sl.keygen("tfhe", params="gates-toy", research=True, insecure_seed=2)


def test_a_device_changes_no_byte(keys):
    client, server_key = keys
    a, b = client.encrypt(sl.bool_(True)), client.encrypt(sl.bool_(False))
    results = {}
    for device in ("cpu", "auto", "emulated", "emulated:2"):
        server = sl.Server(server_key, threads=2, device=device)
        results[device] = server.run(a & ~b)
        assert client.decrypt(results[device]) is True
        assert server.device_failure is None
        assert device in {"auto", server.device}
    assert len({result.to_bytes() for result in results.values()}) == 1


def test_errors_name_the_remedy(keys):
    _, server_key = keys
    for device in ("gpu", "cuda:x", "cuda:0,cpu", "emulated:0", ""):
        with pytest.raises(sl.ParameterError, match="choose cpu, auto, emulated, rtl, or cuda:N"):
            sl.Server(server_key, device=device)
    with pytest.raises(sl.ParameterError, match="no CUDA device"):
        sl.Server(server_key, device="cuda:99")
    with pytest.raises(sl.ParameterError, match="bytes on the emulated device"):
        sl.Server(server_key, device="emulated", memory=1 << 20)


@pytest.mark.parametrize(("scheme", "params"), [("ntru", "tight-512-20"), ("bgv", "bits-64-3")])
def test_keys_over_rings_run_on_one_device(scheme, params):
    client, server_key = sl.keygen(scheme, params=params, research=True)
    a, b = client.encrypt(sl.bool_(True)), client.encrypt(sl.bool_(False))
    results = [sl.Server(server_key, threads=2, device=device).run(a & ~b) for device in ("cpu", "emulated")]
    assert results[0].to_bytes() == results[1].to_bytes()
    assert client.decrypt(results[1]) is True
    with pytest.raises(sl.ParameterError, match=f"scheme {scheme} runs on one device"):
        sl.Server(server_key, device="emulated:2")


def test_the_environment_names_the_device(keys, monkeypatch):
    monkeypatch.setenv("SOLINAS_DEVICE", "emulated")
    assert sl.Server(keys[1]).device == "emulated"
    assert sl.Server(keys[1], device="cpu").device == "cpu"


def test_gpus_are_listed():
    for number, gpu in enumerate(sl.gpus()):
        assert gpu.name == f"cuda:{number}"
        assert gpu.memory_bytes > 0
        assert gpu.multiprocessors > 0
