"""Results of shards that a cluster keeps in a folder. These tests need no cluster."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import solinas as sl
from solinas import _cluster, _core
from solinas._cluster import Shards, Work
from solinas._kept import KeptShards


@pytest.fixture(scope="module")
def numbers():
    """Five encrypted numbers, and the parts from one place up to another as files."""
    client, key = sl.keygen(params="integers-toy", research=True, insecure_seed=3)
    array = client.encrypt([1, 2, 3, 4, 5], sl.uint(4))._computed
    return array, key.key_id


def work(numbers, plan=b"plan"):
    array, key_id = numbers

    @sl.program
    def increment(x: sl.uint(4)) -> sl.uint(4):
        return x + 1

    return Work(key_id, None, increment._inner.to_json(), plan, [array], 5, False)


def part(numbers, start, end):
    return [numbers[0].take(list(range(start, end)), [end - start]).to_bytes()]


def test_a_run_goes_on_from_what_was_kept(numbers, tmp_path):
    folder = tmp_path / "folder"
    with KeptShards(folder) as kept:
        kept.open(work(numbers))
        kept.keep(1, 2, part(numbers, 1, 2))
        kept.keep(3, 4, part(numbers, 3, 4))
        with KeptShards(folder) as other, pytest.raises(sl.ParameterError, match="another run computes the same"):
            other.open(work(numbers))
    with KeptShards(folder) as again:
        again.open(work(numbers))
        assert again.shards() == {(1, 2): part(numbers, 1, 2), (3, 4): part(numbers, 3, 4)}
        # Other computations do not take them.
        for other in (
            work(numbers, b"other plan"),
            work((numbers[0], "other key")),
            replace(work(numbers), hides=True),
        ):
            again.open(other)
            assert again.shards() == {}
        again.remove()
    assert not list(folder.iterdir())
    with KeptShards(tmp_path / "new") as new:
        new.open(work(numbers))
        new.remove()
    assert not (tmp_path / "new").exists()


def test_two_steps_that_compute_the_same_share_what_is_kept(numbers, tmp_path):
    with KeptShards(tmp_path / "new") as kept:
        kept.open(work(numbers))
        kept.keep(0, 5, part(numbers, 0, 5))
        kept.open(work(numbers, b"other plan"))
        kept.open(work(numbers))
        assert kept.shards() == {(0, 5): part(numbers, 0, 5)}
        kept.remove()
    assert not (tmp_path / "new").exists()


def test_the_seconds_of_a_shard_include_its_computation(numbers, monkeypatch):
    clock = SimpleNamespace(now=0)

    def result():
        clock.now += 3
        return [numbers[0]]

    server = SimpleNamespace(start_batch=lambda *_: SimpleNamespace(result=result))
    monkeypatch.setattr(_cluster, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(_core, "Plan", SimpleNamespace(from_bytes=bytes))
    node = _cluster.Node(1)
    node._servers["key"] = server
    program = work(numbers).program
    seconds, results = node.compute(_core.__version__, "key", None, (program, b"plan", False), [])
    assert (seconds, results) == (3, [numbers[0].to_bytes()])


def test_damaged_and_missing_files_are_computed_again(numbers, tmp_path):
    with KeptShards(tmp_path) as kept:
        kept.open(work(numbers))
        kept.keep(0, 1, part(numbers, 0, 1))
        kept.keep(1, 2, part(numbers, 1, 2))
        (folder,) = tmp_path.iterdir()
        damaged = bytearray((folder / "0-1-0.ct").read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (folder / "0-1-0.ct").write_bytes(damaged)
        (folder / "2-3-0.part").write_bytes(b"cut")
        (folder / "notes.ct").write_bytes(b"")
        for name in ("2-3-1.ct", "2-4-0.ct", "4-9-0.ct", "3-3-0.ct"):
            (folder / name).write_bytes(part(numbers, 2, 3)[0])
        assert set(kept.shards()) == {(1, 2)}


@pytest.mark.parametrize(
    ("shards", "gaps", "done"),
    [
        ([], [(0, 5)], 0),
        ([(0, 5)], [], 5),
        ([(0, 2), (4, 5)], [(2, 4)], 3),
        ([(1, 3)], [(0, 1), (3, 5)], 2),
        # Two runs have cut their shards at other places.
        ([(0, 2), (1, 3), (3, 4)], [(2, 3), (4, 5)], 3),
    ],
)
def test_the_elements_between_kept_shards_are_left_to_compute(numbers, shards, gaps, done):
    reports = []
    run = Shards(SimpleNamespace(_ray=None, _machines={}, _seconds=1.0), work(numbers), reports.append, None)
    run._restore({at: part(numbers, *at) for at in shards})
    assert run._gaps == gaps
    assert run._done == done
    if done == 5:
        assert run.run() == [part(numbers, 0, 5)]
        assert reports == [5]


def test_the_folder_of_others_stays(numbers, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with KeptShards(tmp_path) as kept:
        kept.open(work(numbers))
        kept.keep(0, 1, part(numbers, 0, 1))
        kept.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(OSError, match=r"notes\.txt"):
        KeptShards(tmp_path / "notes.txt" / "below")
