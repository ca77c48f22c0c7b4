"""Values, programs, jobs and keys follow the conventions of Python: pickles, copies, formats, threads and forks."""

import asyncio
import copy
import html
import multiprocessing
import pickle
import sys

import numpy as np
import pandas as pd
import pytest

import solinas as sl
from conftest import left_out, pair


@sl.program
def scaled(x: sl.U8, factor: sl.U8 = 3, *, offset: sl.U8 = 1, weights: sl.Array[sl.U8, 2] = (1, 2)) -> sl.U8:
    """Use a public default value if the call gives no argument."""
    return x * factor * weights[1] + offset


@sl.program
def slow(a: sl.U64, b: sl.U64) -> sl.U64:
    return a // b


@sl.program
def largest(xs: sl.Array[sl.U8, 2]) -> sl.U8:
    return xs.max()


def test_defaults_and_named_parameters(integers, tmp_path):
    client, server = integers
    assert (scaled.simulate(5), scaled.simulate(5, 2, offset=0), scaled.simulate(5, weights=[0, 1])) == (31, 20, 16)
    assert repr(scaled).startswith(
        "<program scaled(x: u8, factor: u8 = 3, offset: u8 = 1, weights: Array[u8, 2] = [1, 2])"
    )
    assert client.decrypt(server.run(scaled(client.encrypt(sl.u8(5)), offset=0))) == 30
    scaled.save(tmp_path / "p.json")
    again = sl.Program.load(tmp_path / "p.json")
    assert (again.simulate(5), repr(again)) == (31, repr(scaled))
    for wrong in (lambda: scaled.simulate(5, 2, 0), lambda: scaled.simulate(), lambda: scaled.simulate(5, other=1)):
        with pytest.raises(sl.TypeMismatchError, match=r"scaled takes \(x: u8, factor: u8 = 3"):
            wrong()
    for default, error in ((300, sl.RangeError), ("a", sl.TypeMismatchError), ([1], sl.TypeMismatchError)):
        with pytest.raises(error, match="default of x|300"):

            @sl.program
            def wrong_default(x: sl.U8 = default) -> sl.U8:
                return x


@pytest.mark.parametrize(
    "value", [sl.u8(5), sl.uint(12)(5), sl.int_(13)(-5), sl.mod(257)(-1), sl.bool_(True)], ids=lambda value: value.name
)
def test_values_pickle_copy_and_format(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert (type(again), int(again)) == (type(value), int(value))
    assert (
        f"{sl.u8(5):>4}|{sl.u8(200):#x}|{sl.i8(-5):04d}|{sl.bool_(True):>6}|{value}"
        == f"   5|0xc8|-005|  True|{value!r}"
    )


def test_programs_and_ciphertexts_pickle(integers):
    client, server = integers
    again = pickle.loads(pickle.dumps(scaled))
    assert (again.simulate(7), again.name) == (scaled.simulate(7), "scaled")
    x = pickle.loads(pickle.dumps(client.encrypt([5, 6], sl.U8)))
    assert client.decrypt(server.run(again(x))).tolist() == [31, 37]
    with pytest.raises(sl.TypeMismatchError, match="a pickle may leave the client"):
        pickle.dumps(client)
    y = client.encrypt(sl.u8(5))
    assert client.decrypt(server.run(copy.deepcopy(y), copy.copy(y + 1))) == (5, 6)
    with pytest.raises(sl.TypeMismatchError, match=r"run it first, as in server.run\(x\)"):
        pickle.dumps(y + 1)


def test_bools_are_counted_and_numbers_have_powers():
    bits = sl.Array([sl.bool_(b) for b in (True, False, True)])
    assert (bits.sum(), type(bits.sum())) == (2, sl.U8)
    with pytest.raises(sl.TypeMismatchError, match=r"sl.Array\(\[...\]\).sum\(\)"):
        sum([sl.bool_(True), sl.bool_(False)])
    assert (sl.u8(3) ** 5, sl.u8(7) ** 0, +sl.u8(3)) == (243, 1, 3)
    assert (int(sl.mod(257)(3) ** 100), int(+sl.mod(257)(3))) == (pow(3, 100, 257), 3)
    assert [int(v) for v in (*divmod(sl.u8(17), 5), *divmod(100, sl.u8(7)), *divmod(sl.i8(-7), 2))] == [
        3,
        2,
        14,
        2,
        -3,
        -1,
    ]
    for wrong, message in [
        (lambda: sl.u8(3) ** -1, "values are integers"),
        (lambda: sl.u8(3) ** sl.u8(2), "loop over its bits"),
        (lambda: 2 ** sl.u8(3), r"sl.u32\(1\) << x"),
    ]:
        with pytest.raises(sl.SolinasError, match=message):
            wrong()


def test_functions_take_bools_and_arrays():
    @sl.program
    def chosen(c: sl.Bool, xs: sl.Array[sl.U8, 3]):
        return sl.select(c, True, False), sl.lookup(lambda i: 255 - i, xs), sl.select(xs > 4, xs, 0), sl.minimum(xs, 4)

    c, *rest = chosen.simulate(True, [3, 200, 5])
    assert (c, [part.tolist() for part in rest]) == (True, [[252, 55, 250], [0, 200, 5], [3, 4, 4]])
    with pytest.raises(sl.TypeMismatchError, match=r"neither has a type; write one as sl.u32\(1\)"):
        sl.select(sl.bool_(True), 1, 2)
    with pytest.raises(sl.TypeMismatchError, match="neither has a type; give two values"):
        sl.select(sl.bool_(True), "a", "b")


def test_lists_of_encrypted_values_are_arrays(integers):
    client, server = integers
    a, b = client.encrypt(sl.u8(3)), client.encrypt(sl.u8(200))
    with pytest.raises(sl.TypeMismatchError, match=r"write server.run\(largest\(...\)\)"):
        largest.simulate([a, b])
    with pytest.raises(sl.TypeMismatchError, match="one type"):
        largest([a, client.encrypt(sl.u16(1))])
    calls = largest([a, b]), largest([a, 7]), largest(sl.EncryptedArray.stack([a, b])), largest([[a, b], [a, a]])
    assert [np.max(x) for x in client.decrypt(server.run(calls))] == [200, 7, 200, 200]


def test_server_keys_encrypt_where_the_scheme_has_public_keys(integers):
    for scheme, params, value in [
        ("bgv", "bits-64-9", sl.u8(77)),
        ("lwe", "leveled-16-4", sl.bool_(True)),
        ("gh", "ci-15", sl.u8(9)),
    ]:
        client, server_key = sl.keygen(scheme, params=params, research=True, insecure_seed=1)
        x, y = server_key.encrypt(value), server_key.encrypt([value, value])
        assert (client.decrypt(x), client.decrypt(y).tolist()) == (int(value), [int(value)] * 2)
        again = sl.ServerKey.from_bytes(server_key.to_bytes(), research=True)
        assert client.decrypt(again.encrypt(value)) == int(value)
    with pytest.raises(sl.ParameterError, match="or with the client key"):
        integers[1].key.encrypt(sl.u8(1))


def test_series_of_pandas_are_arrays(integers):
    client, server = integers
    series = pd.Series([3, 200, 5], dtype="uint8", index=["a", "b", "c"])
    x = client.encrypt(series)
    assert (x.type, client.decrypt(x).tolist()) == (sl.U8, [3, 200, 5])
    assert client.decrypt(server.run(scaled(x, series))).tolist() == [(v * v * 2 + 1) % 256 for v in series]
    assert scaled.simulate(series).tolist() == [(v * 6 + 1) % 256 for v in series]
    assert client.decrypt(server.run(x + series)).tolist() == (series + series).tolist()
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]}, dtype="uint8")
    assert client.decrypt(client.encrypt(frame)).tolist() == [[1, 3], [2, 4]]
    for wrong in (pd.Series([1.5]), pd.Series(["a"]), pd.Series([1, None], dtype="Int64")):
        with pytest.raises(sl.TypeMismatchError):
            client.encrypt(wrong, sl.U8)


def test_jobs_are_awaited(integers):
    client, server = integers
    x = client.encrypt(sl.u8(5))
    ticks = []

    async def tick():
        while True:
            ticks.append(1)
            await asyncio.sleep(0.001)

    async def both():
        ticking = asyncio.create_task(tick())
        results = await asyncio.gather(server.start(scaled(x)), server.start(scaled(x, 2)))
        ticking.cancel()
        return results

    assert [client.decrypt(result) for result in asyncio.run(both())] == [31, 21]
    assert ticks

    async def cancelled():
        job = server.start(slow(client.encrypt(sl.u64(9)), client.encrypt(sl.u64(2))))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(job, 0.05)
        return job

    with pytest.raises(sl.CancelledError):
        asyncio.run(cancelled()).result()


def test_progress_is_shown_or_heard(integers, capsys, monkeypatch):
    client, server = integers
    x, seen = client.encrypt(sl.u8(5)), []
    assert client.decrypt(server.start(scaled(x)).result(progress=True)) == 31
    assert "job: 100%" in capsys.readouterr().err
    work = scaled(x), x + 1, client.encrypt([1, 2], sl.U8) * 2
    bootstraps = server.estimate(*work).bootstraps
    server.run(*work, progress=lambda *steps: seen.append(steps))
    assert seen[-1] == (bootstraps, bootstraps)
    server.start(scaled(x)).result(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(sl.MissingPackageError, match="pip install tqdm"):
        server.start(scaled(x)).result(progress=True)


def test_notebooks_show_tables(integers):
    client, server = integers
    x = client.encrypt([1, 2], sl.U8)
    job = server.start(scaled(x))
    shown = [client, server, server.key, x, x[0], job, scaled.cost(), server.params, server.estimate(scaled)]
    for thing in shown:
        table = thing._repr_html_()
        assert table.startswith("<table><caption>"), thing
    secret = client.to_bytes().hex()
    assert secret[200:264] not in client._repr_html_()
    from solinas._html import table

    assert "<b>" not in table("<b>", {"<b>": '<b>&"'})
    assert html.escape('<b>&"') in table("t", {"x": '<b>&"'})


def test_pictures_are_svg_and_dot_alone(tmp_path):
    scaled.draw(tmp_path / "p.svg")
    scaled.draw(tmp_path / "p.dot")
    for name in ("p.png", "p.pdf", "p"):
        with pytest.raises(sl.FileError, match="convert the file, as in `rsvg-convert"):
            scaled.draw(tmp_path / name)
        assert not (tmp_path / name).exists()


def in_child(queue, client, server, job, x):
    """Run in a forked child, which has none of the threads of its parent."""
    try:
        job.result(timeout=5)
    except sl.SolinasError as error:
        queue.put(str(error))
    bgv_client, bgv_server = pair("bgv", params="slots-128-3", research=True, insecure_seed=1)
    vector = bgv_client.encrypt(list(range(300)), sl.mod(65537))
    queue.put((client.decrypt(server.run(scaled(x))), bgv_client.decrypt(bgv_server.run(vector.sum()))))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own(integers):
    if "fork" not in multiprocessing.get_all_start_methods():
        left_out("posix", "processes do not fork")
    client, server = integers
    x = client.encrypt(sl.u8(5))
    assert client.decrypt(server.run(scaled(x))) == 31
    client.decrypt(client.encrypt(np.arange(100, dtype=np.uint8)))
    sl.keygen("bgv", params="slots-128-3", research=True, insecure_seed=1)
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        job = server.start(slow(client.encrypt(sl.u64(9)), client.encrypt(sl.u64(2))))
        queue = context.Queue()
        child = context.Process(target=in_child, args=(queue, client, server, job, x))
        child.start()
        try:
            assert "the process that started it" in queue.get(timeout=30)
            assert queue.get(timeout=30) == (31, sum(range(300)))
            child.join(timeout=30)
            assert child.exitcode == 0
        finally:
            child.kill()
            job.cancel()
    assert client.decrypt(server.run(scaled(x))) == 31
