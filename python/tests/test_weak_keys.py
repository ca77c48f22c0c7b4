"""Every use of a weak key issues a warning, unless it was loaded with `research=True`."""

import pickle
import warnings

import pytest

import solinas as sl

U4 = sl.uint(4)


@sl.program
def increment(a: U4) -> U4:
    return a + 1


@pytest.fixture(scope="module")
def weak():
    return sl.keygen(params="gates-128", insecure_seed=1, threads=1)


def use(client, server):
    """Yield a call for each way to encrypt or compute."""
    a = client.encrypt(sl.uint(4)(5))
    yield lambda: client.encrypt(sl.uint(4)(5))
    yield lambda: server.run(increment, a).result()
    yield lambda: server.bind(a)


def test_loaded_keys_of_a_chosen_seed_warn_in_every_use(weak, tmp_path):
    client, server = weak
    client.save(tmp_path / "client.key")
    server.save(tmp_path / "server.key")
    loaded = [
        (sl.ClientKey.load(tmp_path / "client.key"), sl.ServerKey.load(tmp_path / "server.key", threads=1)),
        (sl.ClientKey.from_bytes(client.to_bytes()), sl.ServerKey.from_bytes(server.to_bytes(), threads=1)),
    ]
    for keys in loaded:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sl.WeakKeyWarning)
            ways = list(use(*keys))
        for way in ways:
            with pytest.warns(sl.WeakKeyWarning, match=r"chosen seed.*research=True") as seen:
                way()
            assert [warning.filename for warning in seen] == [__file__]


def test_keys_that_were_made_or_loaded_with_the_word_do_not_warn(weak, tmp_path):
    client, server = weak
    server.save(tmp_path / "server.key")
    known = sl.ServerKey.load(tmp_path / "server.key", threads=1, research=True)
    for keys in [
        weak,
        (sl.ClientKey.from_bytes(client.to_bytes(), research=True), known),
        (client, pickle.loads(pickle.dumps(known))),
    ]:
        for way in use(*keys):
            way()


def test_research_sets_warn_with_their_reason():
    client, _ = sl.keygen("gh", params="ci-3", research=True, insecure_seed=None, threads=1)
    with pytest.warns(sl.WeakKeyWarning, match=r"ci-3 is for research only"):
        sl.ClientKey.from_bytes(client.to_bytes()).encrypt(True)
