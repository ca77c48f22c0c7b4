"""The public key of scheme tfhe, and small forms of ciphertexts."""

import pickle
import warnings
from pathlib import Path

import pytest

import solinas as sl


@pytest.fixture(scope="module")
def pair() -> tuple[sl.ClientKey, sl.Server]:
    client, server_key = sl.keygen("tfhe", params="integers-toy", research=True, insecure_seed=5)
    return client, sl.Server(server_key)


def test_anyone_encrypts_and_the_client_decrypts(pair: tuple[sl.ClientKey, sl.Server], tmp_path: Path) -> None:
    client, server = pair
    public = client.public_key()
    assert public.key_id == client.key_id
    assert public.params.name == "integers-toy"
    path = tmp_path / "public.key"
    public.save(path)
    with pytest.raises(sl.FileError, match="already exists"):
        public.save(path)
    for key in (public, sl.PublicKey.load(path, research=True), pickle.loads(pickle.dumps(public))):
        a, b = key.encrypt(sl.u8(200)), key.encrypt([1, 2, 3], sl.U8)
        assert client.decrypt(a) == 200
        assert list(client.decrypt(server.run(b + a))) == [201, 202, 203]
    with warnings.catch_warnings(action="ignore"), pytest.raises(sl.ParameterError, match="research=True"):
        sl.PublicKey.load(path).encrypt(sl.u8(1))


def test_a_fingerprint_recognises_a_public_key(pair: tuple[sl.ClientKey, sl.Server], tmp_path: Path) -> None:
    client, server = pair
    path = tmp_path / "public.key"
    client.public_key().save(path)
    told = client.fingerprint
    assert told is not None
    assert len(told.split("-")) == 8
    assert server.key.fingerprint == told
    for text in (told, told.lower().replace("-", " "), client.key_id):
        assert sl.PublicKey.load(path, research=True, fingerprint=text).fingerprint == told
    other = sl.keygen("tfhe", params="gates-40", insecure_seed=6)[0].fingerprint
    with pytest.raises(sl.KeyMismatchError, match=f"fingerprint {told}, not {other}"):
        sl.PublicKey.load(path, fingerprint=other)
    with pytest.raises(sl.KeyMismatchError):
        sl.PublicKey.from_bytes(path.read_bytes(), fingerprint=other)
    with pytest.raises(sl.ParameterError, match="8 groups of 4"):
        sl.PublicKey.load(path, fingerprint=told[:-1])


def test_a_public_key_is_no_other_key(pair: tuple[sl.ClientKey, sl.Server]) -> None:
    client, _ = pair
    data = client.public_key().to_bytes()
    assert len(data) < 50_000
    for kind in (sl.ClientKey, sl.ServerKey):
        with pytest.raises(sl.FormatError, match="is a public key"):
            kind.from_bytes(data)
    with pytest.raises(TypeError, match="ClientKey.public_key"):
        sl.PublicKey()
    other, _ = sl.keygen("bgv", params="bits-64-12", research=True, insecure_seed=1)
    with pytest.raises(sl.ParameterError, match="encrypt with the server key"):
        other.public_key()


def test_compact_results_are_small_and_final(pair: tuple[sl.ClientKey, sl.Server]) -> None:
    client, server = pair
    fresh = client.encrypt([5, 6], sl.U16)
    assert len(fresh.to_bytes()) < 1000
    full = server.run(fresh + 1)
    small = server.compact(full)
    assert list(client.decrypt(small)) == [6, 7]
    assert len(small.to_bytes()) * 5 < len(full.to_bytes())
    with pytest.raises(sl.TypeMismatchError, match="compact result"):
        server.run(small + 1)
