"""Encrypted runs agree with `simulate`. Keys, shapes and types that do not match raise errors."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solinas as sl
from conftest import left_out


@sl.program
def f(a: sl.U8, b: sl.U8) -> sl.U8:
    return sl.select(a > b, a * b, a + b)


@sl.program
def best(xs: sl.Array[sl.U8, 3]) -> tuple[sl.U8, sl.U8, sl.Array[sl.Bool, 3]]:
    return xs.max(), xs.argmax(), xs > 4


@sl.program
def slow(a: sl.U128, b: sl.U128) -> sl.U128:
    """Return the quotient: tens of thousands of bootstraps, so that a test that stops the job finds it running."""
    return a // b


def test_run_agrees_with_simulate(keys):
    client, server = keys
    a, b = client.encrypt(sl.u8(12)), client.encrypt(9, sl.U8)
    job = server.start(f(a, b))
    assert client.decrypt(job.result()) == f.simulate(12, 9) == 108
    assert job.done()
    done, total = job.progress()
    assert done == total > 0
    assert client.decrypt(job.result()) == 108


def test_public_arguments_go_with_encrypted_ones(integers):
    client, server = integers
    assert client.decrypt(server.run(f(client.encrypt(sl.u8(3)), 250))) == 253
    assert client.decrypt(server.run(f(b=client.encrypt(sl.u8(3)), a=sl.u8(4)))) == 12


def test_arrays_run_element_by_element(integers):
    client, server = integers
    xs = client.encrypt(np.array([[1, 200, 3], [4, 5, 6]], dtype=np.uint8))
    out = client.decrypt(server.run(f(xs, client.encrypt(sl.u8(4)))))
    assert out.dtype == np.uint8
    assert out.tolist() == [[5, 32, 7], [8, 20, 24]]


def test_array_parameters_take_the_last_dimension(integers):
    client, server = integers
    data = [[3, 9, 9], [5, 1, 2]]
    xs = client.encrypt(data, sl.U8)
    top, at, over = client.decrypt(server.run(best(xs)))
    assert top.tolist() == [9, 5]
    assert at.tolist() == [1, 0]
    assert over.tolist() == [[False, True, True], [True, False, False]]
    top, at, over = client.decrypt(server.run(best(xs[0])))
    assert (top, at, over.tolist()) == (9, 1, [False, True, True])


def test_operators_record_and_run_computes(keys):
    client, server = keys
    a, b = client.encrypt(sl.i8(-7)), client.encrypt(sl.i8(2))
    assert isinstance(a, sl.I8)
    assert (a.is_computed, (a + b).is_computed) == (True, False)
    recorded = [a + b, 1 - a, a // b, a % 4, -a, abs(a), a << 1, a >> 1, sl.maximum(a, 0), (a < b).select(b, 5)]
    assert client.decrypt(server.run(recorded)) == [-5, 8, -3, -3, 7, 7, -14, -4, 0, 2]
    assert client.decrypt(server.run(a == -7, ((a != b) & (b > 5), b))) == (True, (False, 2))
    with pytest.raises(sl.TypeMismatchError, match="no truth value"):
        bool(a == b)


def test_the_first_program(integers):
    client, server = integers
    a, b = client.encrypt(sl.u32(1234)), client.encrypt(sl.u32(99))
    assert client.decrypt(server.run((a > b).select(a * b, a + b))) == 122166


def test_a_value_keeps_its_result(integers):
    client, server = integers
    total = client.encrypt(sl.u8(5)) + 7
    assert server.estimate(total).bootstraps > 0
    more = total * 2
    assert client.decrypt(server.run(total)) == client.decrypt(total) == 12
    alone = server.estimate(client.encrypt(sl.u8(5)) * 2)
    assert server.estimate(more).bootstraps == alone.bootstraps
    assert client.decrypt(server.run(more, total)) == (24, 12)


def test_calls_of_programs_are_recorded(integers):
    client, server = integers
    a = client.encrypt(sl.u8(5))
    call = f(a, 4)
    assert isinstance(call, sl.U8)
    assert client.decrypt(server.run(f(call + 1, a))) == 105


def test_operators_of_arrays_record(integers):
    client, server = integers
    xs = client.encrypt([[1, 2, 3], [4, 5, 6]], sl.U16)
    ys = xs * 3 + 1
    assert isinstance(ys, sl.EncryptedArray)
    assert (ys.shape, ys.T.shape, ys.dtype, ys.ndim) == ((2, 3), (3, 2), np.uint16, 2)
    # Steps of scalars and of arrays of several shapes depend on each other.
    total = ys.sum()
    results = server.run(
        ys, total, xs[0] + total, (ys - ys[0, 0])[1, ::-1], xs[sl.u8(1)], xs[0][client.encrypt(sl.u8(2))]
    )
    assert [np.asarray(x).tolist() for x in client.decrypt(results)] == [
        [[4, 7, 10], [13, 16, 19]], 69, [70, 71, 72], [15, 12, 9], [4, 5, 6], 3,
    ]  # fmt: skip
    mixed = sl.Array([xs[0, 0], xs[0, 1] + 1, sl.u16(9)])
    assert client.decrypt(server.run(mixed)).tolist() == [1, 3, 9]
    assert client.decrypt(server.run((mixed + xs[0]).max())) == 12


def test_long_chains_are_computed(gates):
    client, server = gates
    x = client.encrypt(sl.bool_(True))
    y = x
    for _ in range(20_000):
        y = ~y
    assert client.decrypt(server.run(y)) is True
    del y


def test_a_server_key_is_data(integers):
    _, server = integers
    for use in (server.key.run, server.key.start, server.key.estimate):
        with pytest.raises(sl.TypeMismatchError, match=r"sl.Server\(server_key\)"):
            use(f, 1, 2)
    with pytest.raises(sl.TypeMismatchError, match="the second key of sl.keygen"):
        sl.Server(integers[0])
    with pytest.raises(sl.RangeError, match="threads is 0"):
        sl.Server(server.key, threads=0)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (sl.bool_(True), sl.Bool),
        (sl.u128(2**128 - 1), sl.U128),
        (sl.u256(2**256 - 1), sl.U256),
        (sl.i128(-(2**127)), sl.I128),
        (sl.i256(-(2**255)), sl.I256),
        (sl.uint(2048)(2**2048 - 1), sl.uint(2048)),
        (sl.uint(1)(1), sl.uint(1)),
        (sl.int_(13)(-4096), sl.int_(13)),
        (np.int16(-5), sl.I16),
        (True, sl.Bool),
    ],
)
def test_scalars_decrypt_to_what_was_encrypted(keys, value, kind):
    client, _ = keys
    encrypted = client.encrypt(value)
    assert type(encrypted).name == kind.name
    assert client.decrypt(encrypted) == int(value)


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int8", "int64", "bool"])
def test_arrays_decrypt_to_what_was_encrypted(integers, dtype):
    client, _ = integers
    data = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    out = client.decrypt(client.encrypt(data))
    assert out.dtype == data.dtype
    assert (out == data).all()


KEYS = [
    0,
    -1,
    slice(None),
    slice(None, None, -1),
    (1, 2),
    (slice(1), 2),
    (..., 1),
    (1, ...),
    slice(0, 9),
    (0, slice(1, 3)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_is_that_of_numpy(integers, key):
    client, _ = integers
    data = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    got, want = client.decrypt(client.encrypt(data)[key]), data[key]
    assert np.shape(got) == want.shape
    assert (got == want).all()


def test_array_shapes(integers):
    client, _ = integers
    xs = client.encrypt(np.arange(6, dtype=np.uint8))
    assert (xs.shape, xs.ndim, xs.size, len(xs)) == ((6,), 1, 6, 6)
    assert xs.reshape(2, -1).shape == xs.reshape((2, 3)).shape == (2, 3)
    assert client.decrypt(xs.reshape(3, 2)[2]).tolist() == [4, 5]
    assert xs.reshape(2, 3).ravel().shape == (6,)
    assert [client.decrypt(x) for x in xs] == list(range(6))
    assert client.decrypt(sl.EncryptedArray.stack([xs[3], xs[1]])).tolist() == [3, 1]
    for wrong in [lambda: xs.reshape(4), lambda: xs.reshape(-1, -1), lambda: xs[4:4], lambda: xs[0, 0]]:
        with pytest.raises(sl.ShapeError):
            wrong()
    with pytest.raises(IndexError, match="no element 6"):
        xs[6]
    with pytest.raises(sl.ShapeError, match="at least one"):
        client.encrypt(np.array([], dtype=np.uint8))


def test_lists_come_back_without_numpy(integers, monkeypatch):
    client, _ = integers
    xs = client.encrypt([[1, 2], [3, 4]], sl.U8)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert client.decrypt(xs) == [[1, 2], [3, 4]]
    assert f.simulate([1, 2], 3) == [4, 5]


def test_what_cannot_be_encrypted_is_named(integers):
    client, _ = integers
    with pytest.raises(sl.TypeMismatchError, match=r"sl.u32\(...\)"):
        client.encrypt(5)
    with pytest.raises(sl.RangeError, match="300 is out of range for u8"):
        client.encrypt([1, 300], sl.U8)
    with pytest.raises(sl.TypeMismatchError, match="float64"):
        client.encrypt(np.array([1.5]))
    with pytest.raises(sl.TypeMismatchError, match="cast it"):
        client.encrypt(sl.u8(3), sl.U16)


def test_what_is_not_computed_has_no_ciphertext(integers, tmp_path):
    client, server = integers
    a = client.encrypt(sl.u8(1))
    xs = client.encrypt([1, 2], sl.U8)
    for wrong in (a + 1, xs + 1):
        for use in (client.decrypt, lambda x: x.save(tmp_path / "x.ct"), lambda x: x.to_bytes(), lambda x: x.key_id):
            with pytest.raises(sl.TypeMismatchError, match="not computed: run it first"):
                use(wrong)
    with pytest.raises(sl.TypeMismatchError, match="encrypt it first"):
        sl.u8(1).save(tmp_path / "x.ct")
    with pytest.raises(sl.TypeMismatchError, match="sl.select"):
        bool(a)
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(sl.TypeMismatchError, match=r"server.run\(f\(...\)\)"):
        f.simulate(a, a)
    for wrong, message in [
        (lambda: server.run(), "run .* at least one"),
        (lambda: server.run([]), "run .* at least one"),
        (lambda: server.start([], ((), [])), "run .* at least one"),
        (lambda: server.plan([]), "plan .* at least one"),
        (lambda: server.estimate([]), "estimate .* at least one"),
        (lambda: server.run(f, a, a), r"server.run\(f\(x\)\)"),
        (lambda: server.run(5), "it is plain"),
        (lambda: server.run((a, sl.u8(3))), "it is plain"),
        (lambda: server.run("a"), "give the result of an operation"),
        (lambda: server.estimate(a, elements=2), "leave it out"),
    ]:
        with pytest.raises(sl.TypeMismatchError, match=message):
            wrong()


def test_encrypted_values_and_parameters_do_not_mix(integers):
    client, server = integers
    a = client.encrypt(sl.u8(1))
    kept = []

    @sl.program
    def keeps(x: sl.U8) -> sl.U8:
        kept.append(x)
        return x

    pair = sl.EncryptedArray.stack([a, a])
    for of_body in (lambda x: x + a, lambda x: x + pair.sum(), lambda x: x + pair, lambda x: (x, pair)):
        with pytest.raises(sl.TypeMismatchError, match="a program holds no encrypted values"):

            @sl.program
            def holds(x: sl.U8):
                return of_body(x)  # noqa: B023

    for wrong in (kept[0], kept[0] + a, sl.Array([kept[0], a]), sl.EncryptedArray.stack([a, kept[0]]), pair + kept[0]):
        with pytest.raises(sl.TypeMismatchError, match="recorded in a program"):
            server.run(wrong)


def test_inputs_that_do_not_suit_are_named(integers, gates):
    client, server = integers
    a = client.encrypt(sl.u8(1))
    with pytest.raises(sl.TypeMismatchError, match="argument b needs u8, got <encrypted u16"):
        f(a, client.encrypt(sl.u16(1)))
    with pytest.raises(sl.TypeMismatchError, match=r"takes \(a: u8, b: u8\)"):
        f(a)
    with pytest.raises(sl.ShapeError, match="one shape"):
        server.start(f(client.encrypt([1, 2], sl.U8), client.encrypt([1, 2, 3], sl.U8)))
    with pytest.raises(sl.ShapeError, match="needs 3 elements"):
        server.start(best(client.encrypt([1, 2], sl.U8)))
    with pytest.raises(sl.KeyMismatchError, match="belongs to key"):
        server.start(f(a, gates[0].encrypt(sl.u8(1))))
    with pytest.raises(sl.KeyMismatchError, match="belongs to key"):
        gates[0].decrypt(a)
    with pytest.raises(sl.KeyMismatchError):
        gates[1].convert(a, "bits")
    with pytest.raises(sl.TypeMismatchError, match=r"result\(\) first"):
        client.decrypt(server.start(f(a, a)))


def test_circuits_run_from_text_and_file(keys, tmp_path):
    client, server = keys
    text = "2 6\n2 2 2\n1 2\n2 1 0 2 4 XOR\n2 1 1 3 5 AND\n"
    a, b = client.encrypt(sl.uint(2)(0b10)), client.encrypt(sl.uint(2)(0b11))
    path = tmp_path / "c.txt"
    path.write_text(text)
    circuit = sl.Circuit.load(path)
    assert client.decrypt(server.run(sl.Circuit(text)(a, b), circuit(b, b) + 1)) == (0b11, 0b11)
    with pytest.raises(sl.TypeMismatchError, match=r"server.run\(circuit\(x\)\)"):
        server.run(circuit)
    with pytest.raises(sl.TypeMismatchError, match="takes 2 values, got 1"):
        circuit(a)
    with pytest.raises(sl.TypeMismatchError, match="takes encrypted values"):
        circuit(a, 3)
    for wrong in (client.encrypt(sl.u8(1)), client.encrypt([1, 2], sl.U8), client.encrypt([True] * 3)):
        with pytest.raises(sl.TypeMismatchError, match="input '.*' has 2 bits, got <encrypted"):
            circuit(a, wrong)
    assert server.estimate(circuit(a, b)).bootstraps > 0


def test_estimate_gives_seconds(integers):
    _, server = integers
    one, many = server.estimate(f), server.estimate(f, elements=10)
    assert many.bootstraps >= 5 * one.bootstraps
    assert one.seconds > 0
    assert (one.threads, server.threads) == (2, 2)


def test_conversion_between_forms(integers):
    client, server = integers
    a = client.encrypt(sl.u8(77))
    assert a.form == "radix"
    bits = server.convert(a, "bits")
    assert bits.form == "bits"
    assert client.decrypt(bits) == 77


def test_a_job_can_be_cancelled(integers):
    client, server = integers
    a, b = client.encrypt(sl.u128(2**127)), client.encrypt(sl.u128(3))
    job = server.start(slow(a, b))
    with pytest.raises(TimeoutError, match="not done in time"):
        job.result(timeout=0.05)
    assert not job.done()
    job.cancel()
    # A job that ends by itself has a result.
    for _ in range(2):
        with pytest.raises(sl.CancelledError):
            job.result()
    assert job.done()


def test_python_threads_run_while_the_server_works(integers):
    client, server = integers
    a, b = client.encrypt(sl.u128(2**127)), client.encrypt(sl.u128(3))
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    job = server.start(slow(a, b))
    with pytest.raises(TimeoutError):
        job.result(timeout=0.5)
    stop.set()
    thread.join()
    job.cancel()
    assert len(ticks) > 20


def test_any_number_of_threads_wait_for_a_job(integers):
    client, server = integers
    job = server.start(f(client.encrypt(sl.u8(3)), client.encrypt(sl.u8(4))))
    with ThreadPoolExecutor(4) as pool:
        waits = [pool.submit(lambda: client.decrypt(job.result())) for _ in range(4)]
        assert [wait.result() for wait in waits] == [7] * 4


@pytest.fixture
def ctrl_c():
    """Install Python's handler of SIGINT. It is missing if a shell runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("waits", [False, True])
def test_ctrl_c_cancels_and_raises(integers, waits):
    if os.name != "posix":
        left_out("posix", "this system has other signals")
    client, server = integers
    a, b = client.encrypt(sl.u128(2**127)), client.encrypt(sl.u128(3))
    job = None if waits else server.start(slow(a, b))
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    steps = []

    def watch(done, total):
        steps.append((done, total))

    with pytest.raises(KeyboardInterrupt):
        server.run(a // b, progress=watch) if job is None else job.result(progress=watch)
    assert all(done < total for done, total in steps)
    if job is not None:
        with pytest.raises(sl.CancelledError):
            job.result()


def test_keys_and_ciphertexts_go_through_files(integers, tmp_path):
    client, server = integers
    client.save(tmp_path / "client.key")
    server.key.save(tmp_path / "server.key")
    assert (tmp_path / "client.key").stat().st_mode & 0o077 == 0
    xs = client.encrypt([1, 2, 3], sl.U8)
    xs.save(tmp_path / "x.ct")
    client2 = sl.ClientKey.load(tmp_path / "client.key", research=True)
    server2 = sl.Server(sl.ServerKey.load(str(tmp_path / "server.key"), research=True), threads=1)
    loaded = sl.Ciphertext.load(tmp_path / "x.ct")
    assert isinstance(loaded, sl.EncryptedArray)
    assert isinstance(sl.EncryptedArray.load(tmp_path / "x.ct"), sl.EncryptedArray)
    with pytest.raises(sl.TypeMismatchError, match=r"x\.ct: this is <encrypted array of u8.*, not u8"):
        sl.U8.load(tmp_path / "x.ct")
    assert client2.decrypt(server2.run(f(loaded, 2))).tolist() == [3, 4, 6]
    assert server2.threads == 1
    with pytest.raises(sl.FileError, match=r"already exists"):
        client.save(tmp_path / "client.key")
    with pytest.raises(sl.FileError, match=r"client\.key already exists and is, .*; write to another file$"):
        loaded.save(tmp_path / "client.key")
    with pytest.raises(sl.FileError, match=r'cannot create "": the path has no file name'):
        loaded.save("")
    client.save(tmp_path / "client.key", overwrite=True)
    with pytest.raises(sl.FormatError, match=r"client\.key is a"):
        sl.ServerKey.load(tmp_path / "client.key")
    with pytest.raises(sl.FileError, match=r"none\.key"):
        sl.ClientKey.load(tmp_path / "none.key")
    data = bytearray((tmp_path / "x.ct").read_bytes())
    data[-5] ^= 1
    (tmp_path / "x.ct").write_bytes(data)
    with pytest.raises(sl.FormatError, match=r"x\.ct is damaged"):
        sl.Ciphertext.load(tmp_path / "x.ct")


def test_keys_and_ciphertexts_go_through_bytes_and_pickles(integers):
    client, server = integers
    a = client.encrypt(sl.u8(5))
    assert client.decrypt(sl.U8.from_bytes(a.to_bytes())) == 5
    assert client.decrypt(pickle.loads(pickle.dumps(a))) == 5
    assert sl.ClientKey.from_bytes(client.to_bytes()).decrypt(a) == 5
    assert sl.ServerKey.from_bytes(server.key.to_bytes()).key_id == server.key_id
    assert pickle.loads(pickle.dumps(server.key)).key_id == server.key_id
    with pytest.raises(sl.TypeMismatchError, match="decrypts everything"):
        pickle.dumps(client)
    with pytest.raises(sl.TypeMismatchError, match="pickle its key"):
        pickle.dumps(server)
    with pytest.raises(sl.FormatError):
        sl.Ciphertext.from_bytes(b"nothing")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_altered_or_cut_bytes_are_refused(integers, data):
    client, _ = integers
    for thing in (client, client.encrypt(sl.u8(5))):
        original = thing.to_bytes()
        at = data.draw(st.integers(0, len(original) - 1))
        altered = bytearray(original)
        altered[at] ^= data.draw(st.integers(1, 255))
        read = sl.ClientKey.from_bytes if thing is client else sl.Ciphertext.from_bytes
        for wrong in (bytes(altered), original[:at], original + b"x"):
            with pytest.raises(sl.SolinasError):
                read(wrong)


def test_keys_show_no_secret_and_are_not_made_by_hand(integers):
    client, server = integers
    assert repr(client) == f"<client key {client.key_id[:8]}, integers-toy, secret>"
    assert repr(server.key) == f"<server key {client.key_id[:8]}, integers-toy>"
    assert repr(server) == f"<server of key {client.key_id[:8]}, integers-toy, 2 threads>"
    assert not hasattr(client, "__dict__")
    for cls in (sl.ClientKey, sl.ServerKey, sl.EncryptedArray):
        with pytest.raises(TypeError, match="cannot be constructed"):
            cls()


def test_keygen_checks_its_arguments_and_reports_progress(capsys):
    seen = []
    options = {"params": "gates-toy", "research": True, "insecure_seed": 3}
    sl.keygen(**options, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    sl.keygen(**options, progress=True)
    assert "keys: 100%" in capsys.readouterr().err
    with pytest.raises(sl.ParameterError, match="tfhe"):
        sl.keygen("rsa")
    with pytest.raises(sl.ParameterError, match="gates-128"):
        sl.keygen(params="none")
    with pytest.raises(sl.RangeError, match="insecure_seed"):
        sl.keygen(insecure_seed=-1)
    with pytest.raises(sl.ParameterError, match="checkpoint applies to scheme gh only"):
        sl.keygen(**options, checkpoint="unused")

    def refuse(done, total):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        sl.keygen(**options, progress=refuse)


def test_params_lists_the_default_first():
    sets = sl.params()
    assert sets[0].name == "integers-128"
    assert sets[0].recommended
    assert sets[0].classical_bits >= 128
    assert {s.family for s in sets} == {"gates", "integers", "slots"}


def test_a_process_ends_while_a_job_runs(tmp_path):
    script = """
import solinas as sl
client, key = sl.keygen(params="integers-toy", research=True, insecure_seed=1)
server = sl.Server(key)
@sl.program
def slow(a: sl.U64, b: sl.U64): return a // b
job = server.start(slow(client.encrypt(sl.u64(9)), client.encrypt(sl.u64(2))))
print("left")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "left", "")
