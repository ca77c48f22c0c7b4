"""Every use of a weak key issues a warning, unless it was loaded with `research=True`."""

import os
import pickle
import warnings

import pytest

import solinas as sl
from conftest import left_out, pair

U4 = sl.uint(4)


@sl.program
def increment(a: U4) -> U4:
    return a + 1


@pytest.fixture(scope="module")
def weak():
    return pair(params="gates-128", insecure_seed=1, threads=1)


def use(client, server):
    """Yield a call for each way to encrypt or compute."""
    a = client.encrypt(sl.uint(4)(5))
    yield lambda: client.encrypt(sl.uint(4)(5))
    yield lambda: server.run(increment(a))
    yield lambda: server.start(increment(a))
    yield lambda: server.convert(a, "bits")


def test_loaded_keys_of_a_chosen_seed_warn_in_every_use(weak, tmp_path):
    client, server = weak
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    loaded = [
        (sl.ClientKey.load(tmp_path / "client.key"), sl.ServerKey.load(tmp_path / "server.key")),
        (sl.ClientKey.from_bytes(client.to_bytes()), sl.ServerKey.from_bytes(server.key.to_bytes())),
    ]
    for client_key, server_key in loaded:
        keys = client_key, sl.Server(server_key, threads=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.WeakKeyWarning)
            ways = list(use(*keys))
        for way in ways:
            with pytest.warns(sl.WeakKeyWarning, match=r"chosen seed.*research=True") as seen:
                way()
            assert [warning.filename for warning in seen] == [__file__]


def test_keys_that_were_made_or_loaded_with_the_word_do_not_warn(weak, tmp_path):
    client, server = weak
    server.key.save(tmp_path / "server.key")
    known = sl.ServerKey.load(tmp_path / "server.key", research=True)
    for keys in [
        weak,
        (sl.ClientKey.from_bytes(client.to_bytes(), research=True), sl.Server(known, threads=1)),
        (client, sl.Server(pickle.loads(pickle.dumps(known)), threads=1)),
    ]:
        for way in use(*keys):
            way()


def test_research_sets_encrypt_with_consent_alone():
    client, server_key = sl.keygen("gh", params="ci-3", research=True, insecure_seed=None)
    for kind, data in (sl.ClientKey, client.to_bytes()), (sl.ServerKey, server_key.to_bytes()):
        loaded = kind.from_bytes(data)
        with (
            pytest.warns(sl.WeakKeyWarning, match=r"ci-3 is for research only"),
            pytest.raises(sl.ParameterError, match=r"ci-3.*for research only.*research=True"),
        ):
            loaded.encrypt(True)
        assert client.decrypt(kind.from_bytes(data, research=True).encrypt(True)) is True


def test_a_client_key_that_others_can_read_needs_consent(weak, tmp_path):
    if os.name != "posix":
        left_out("posix", "files have no permissions of users")
    path = tmp_path / "client.key"
    weak[0].save(path)
    path.chmod(0o640)
    with pytest.raises(sl.FileError, match=r"other users.*chmod 600.*exposed=True"):
        sl.ClientKey.load(path)
    assert sl.ClientKey.load(path, exposed=True).key_id == weak[0].key_id
    path.chmod(0o600)
    assert sl.ClientKey.load(path).key_id == weak[0].key_id
