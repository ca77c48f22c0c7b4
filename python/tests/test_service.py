"""Computation on a service, in a process of its own."""

import asyncio
import os
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import solinas as sl
from conftest import serve


@sl.program
def f(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a - b, b - a)


@sl.program
def larger(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a, b)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """Start a service with a store of its own, and connect to it."""
    with serve(tmp_path_factory.mktemp("service")) as started:
        yield sl.connect(started["address"], token=started["token"])


def test_a_program_moves_to_a_service_by_one_line(service, integers):
    client, server = integers
    remote = service.register(server.key)
    a, b = client.encrypt(sl.u8(7)), client.encrypt(sl.u8(40))
    assert client.decrypt(remote.run(f(a, b))) == 33
    x = client.encrypt([1, 2, 3], sl.U8)
    total, shifted = remote.run(x.sum(), x + 1)
    assert client.decrypt(total) == 6
    assert client.decrypt(shifted).tolist() == [2, 3, 4]
    seen = []
    remote.run(f(a, b), progress=lambda done, total: seen.append((done, total)))
    assert 0 < remote.estimate(f).bootstraps < remote.estimate(f, private_program=True).bootstraps
    assert service.keys()[0]["key_id"] == server.key_id
    assert "quota" in service.usage()


def test_estimates_take_what_run_takes(service, integers):
    client, server = integers
    remote = service.register(server.key)
    x = client.encrypt([1, 2, 3], sl.U8)
    recorded = f(x, np.array([3, 2, 1], np.uint8)), x.sum()
    here, there = server.estimate(*recorded), remote.estimate(*recorded)
    assert (there.bootstraps, there.depth) == (here.bootstraps, here.depth)
    assert remote.estimate(f, elements=3).bootstraps == server.estimate(f, elements=3).bootstraps
    for wrong, message in (
        (lambda: remote.estimate(3), "estimate takes"),
        (lambda: remote.estimate(), "estimate takes"),
    ):
        with pytest.raises(sl.TypeMismatchError, match=message):
            wrong()


def test_long_public_arrays_are_a_part_of_the_program(service, integers):
    client, server = integers
    remote = service.register(server.key)
    x, short = client.encrypt([True]), np.array([True, False, True])
    assert client.decrypt(remote.run(x & short)).tolist() == short.tolist()
    # A request takes 1 MiB of JSON, which such an array does not fit.
    assert remote.estimate(x & (np.arange(300_000) % 2 == 0)).bootstraps == 0


@pytest.mark.parametrize("deadline", ["2030-01-31T12:00:00Z", 5.0])
def test_deadlines_are_datetimes(service, integers, deadline):
    client, server = integers
    value = client.encrypt(sl.u8(1)) + 1
    with pytest.raises(sl.TypeMismatchError, match=r"deadline is .*give a datetime"):
        service.register(server.key).run(value, deadline=deadline)


def test_jobs_can_be_awaited_and_found_again(service, integers):
    client, server = integers
    remote = service.register(server.key)
    a, b = client.encrypt(sl.u8(9)), client.encrypt(sl.u8(4))

    async def both():
        return await asyncio.gather(remote.start(f(a, b)), remote.start(f(b, a)))

    assert [client.decrypt(value) for value in asyncio.run(both())] == [5, 5]
    started = remote.start(f(a, b))
    started.result()
    (id,) = started.ids
    assert id == service.jobs()[0]["id"]
    assert server.start(f(a, b)).ids == []
    job = service.job(id)
    (result,) = job.result(timeout=60)
    assert client.decrypt(result) == 5
    assert job.state()["state"] == "succeeded"

    async def again():
        return await job

    assert client.decrypt(asyncio.run(again())[0]) == 5
    job.cancel()
    assert job.state()["state"] == "succeeded"


def test_results_that_hide_the_program_leave_the_values_as_they_are(service, integers):
    client, server = integers
    remote = service.register(server.key)
    x = client.encrypt([9, 2], sl.U8)
    before, y = x.to_bytes(), x + 1
    for where in (server, remote):
        known, first, second = where.run(x, y, y, private_program=True)
        assert x.to_bytes() == before
        assert known.to_bytes() != before
        assert first.to_bytes() != second.to_bytes()
        assert [client.decrypt(value).tolist() for value in (known, first, second)] == [[9, 2], [10, 3], [10, 3]]
    # Without that, a value that is given twice is computed once.
    z = x + 2
    first, second = remote.run(z, z)
    assert first.to_bytes() == second.to_bytes()
    assert len(service.job(service.jobs()[0]["id"]).state()["results"]) == 1
    with pytest.raises(sl.RangeError, match="max_core_seconds is nan"):
        remote.run(x + 3, max_core_seconds=float("nan"))


def test_reductions_have_the_bytes_of_a_local_server(service, integers):
    client, server = integers
    remote = service.register(server.key)
    x, y = client.encrypt([9, 2, 200], sl.U8), client.encrypt([4, 3, 100], sl.U8)
    local = sl.Server(server.key, threads=os.cpu_count())
    # The program and the reduction are one job.
    before = len(service.jobs())
    assert len(service.jobs(limit=1)) == 1
    assert service.jobs(state="cancelled") == []
    with pytest.raises(sl.ServiceError, match="lost"):
        service.jobs(state="lost")
    far = remote.map_reduce(f, "sum", x, y)
    assert len(service.jobs()) == before + 1
    assert client.decrypt(far) == 5 + 1 + 100
    assert far.to_bytes() == local.map_reduce(f, "sum", x, y).to_bytes()
    assert client.decrypt(remote.map_reduce(lambda a: a, larger, x)) == 200
    job = service.job(service.jobs()[0]["id"])
    assert all(wave["done"] == wave["bootstraps"] for wave in job.schedule())
    assert job.draw().startswith("<svg")
    with pytest.raises(sl.RangeError, match="take sum, min"):
        remote.map_reduce(f, "product", x, y)
    with pytest.raises(sl.TypeMismatchError, match="encrypted array"):
        server.map_reduce(f, "sum", client.encrypt(sl.u8(1)), client.encrypt(sl.u8(2)))


@pytest.mark.parametrize(
    ("compute", "arrays"),
    [
        (lambda x, w: (x * w).sum(), 2),
        (lambda x: x.max(), 1),
        (np.sort, 1),
        (np.argmax, 1),
        (lambda x, w: (x * w).sum() + x[1:].reshape(2, 2) * x[0], 2),
    ],
    ids=["a sum of products", "max", "sort", "argmax", "several shapes"],
)
def test_a_computation_is_one_job(service, integers, compute, arrays):
    client, server = integers
    remote = service.register(server.key)
    numbers = [np.array(row, np.uint8) for row in ([5, 200, 7, 9, 200], [1, 2, 3, 4, 5])[:arrays]]
    inputs = [client.encrypt(row) for row in numbers]
    jobs, before = len(service.jobs()), service.usage()["today"]
    result = remote.run(compute(*inputs))
    after = service.usage()["today"]
    assert len(service.jobs()) == jobs + 1
    assert after["bytes_in"] - before["bytes_in"] == sum(len(array.to_bytes()) for array in inputs)
    assert after["bytes_out"] - before["bytes_out"] == len(result.to_bytes())
    expected = compute(*numbers) % 256 if arrays == 2 else compute(*numbers)
    assert np.array_equal(client.decrypt(result), expected)


def test_moves_of_ciphertexts_are_no_job(service, integers):
    client, server = integers
    remote = service.register(server.key)
    x = client.encrypt(np.array([5, 200, 7], np.uint8))
    jobs = len(service.jobs())
    assert client.decrypt(remote.run(x[::-1])).tolist() == [7, 200, 5]
    kept, more = remote.run(x[:2], x + 1)
    assert (client.decrypt(kept).tolist(), client.decrypt(more).tolist()) == ([5, 200], [6, 201, 8])
    assert len(service.jobs()) == jobs + 1


def test_limits_end_jobs(service, integers):
    client, server = integers
    remote = service.register(server.key)
    a, b = client.encrypt(sl.u8(9)), client.encrypt(sl.u8(4))
    with pytest.raises(sl.ServiceError, match="raise `max_core_seconds`"):
        remote.run(f(a, b), max_core_seconds=1e-9)
    with pytest.raises(sl.ServiceError, match="later deadline"):
        remote.run(f(a, b), deadline=datetime.now(UTC) - timedelta(hours=1))
    assert client.decrypt(remote.run(f(a, b), deadline=datetime.now(UTC) + timedelta(hours=1))) == 5


def test_mistakes_say_what_to_do(service, integers, gates):
    client, server = integers
    remote = service.register(server.key)
    with pytest.raises(sl.KeyMismatchError, match="use the keys of one call"):
        remote.run(gates[0].encrypt(sl.u8(1)) + 1)
    with pytest.raises(sl.TypeMismatchError, match="second key"):
        service.register(client)
    with pytest.raises(sl.ServiceError, match="check the identity"):
        service.job("01ARZ3NDEKTSV4RRFFQ69G5FAV").state()
    with pytest.raises(sl.ServiceError, match="the token is unknown.*SOLINAS_TOKEN"):
        sl.connect(service.url, token="slk_wrong").register(server.key)
    with pytest.raises(sl.ServiceError, match="check the address"):
        sl.connect("http://127.0.0.1:1", token="slk_wrong")
    with pytest.raises(sl.ParameterError, match="SOLINAS_SERVER"):
        sl.connect()
