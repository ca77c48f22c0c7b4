"""What a value keeps in memory and in files: its ciphertext, and nothing that it was computed from."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import solinas as sl
from conftest import left_out
from solinas._expression import record


def test_a_computed_value_keeps_no_operands(quick):
    client, server = quick

    @sl.program
    def both(a: sl.U8, b: sl.U8) -> tuple[sl.U8, sl.Array[sl.U8, 2]]:
        return a + b, sl.Array([a, b])

    steps = {
        "operation": lambda x: x + 1,
        "complement": lambda x: ~x,
        "program": lambda x: both(x, 3)[0],
        "array of a program": lambda x: both(x, 3)[1][0] + 0,
        "array": lambda x: (sl.EncryptedArray.stack([x, x]) * [1, 2]).sum(),
        "select": lambda x: sl.select(x > 3, x, 9),
    }
    for name, step in steps.items():
        x = client.encrypt(sl.u8(5))
        step(x)
        for _ in range(20):
            x = step(x)
            assert server.run(x).is_computed
        assert x.is_computed, name
        _, program = record([x._data])
        assert [kind for kind, *_ in program.nodes] == ["input"], name


def test_operands_of_values_that_are_not_computed_stay(quick):
    client, server = quick
    x = client.encrypt([1, 2, 3], sl.U8)
    first = x + 1
    rest = first[::-1] * 2
    server.run(first)
    assert client.decrypt(server.run(rest, first + first)[0]).tolist() == [8, 6, 4]


def test_threads_compute_values_that_share_operands(quick):
    client, server = quick
    x, failed = client.encrypt([1, 2, 3, 4], sl.U8), []
    values = [x]
    for _ in range(30):
        values.append(values[-1] + values[0][::-1][[3, 2, 1, 0]])

    def compute(order):
        try:
            for at in order:
                assert client.decrypt(server.run(values[at])).tolist() == [v * (at + 1) for v in (1, 2, 3, 4)]
        except Exception as error:
            failed.append(error)

    orders = [range(31), range(30, -1, -1), range(0, 31, 3)]
    threads = [threading.Thread(target=compute, args=(order,)) for order in orders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


@pytest.mark.parametrize("what", ["slice", "reverse", "transpose", "mask", "one", "concatenate", "element"])
def test_parts_of_a_fresh_array_are_as_short_as_the_array(what, gates):
    client, _ = gates
    values = np.arange(60, dtype=np.uint8).reshape(12, 5)
    part = {
        "slice": lambda x: x[1:],
        "reverse": lambda x: x[::-1],
        "transpose": lambda x: x.T,
        "mask": lambda x: x[values % 3 == 0],
        "one": lambda x: x[2:3],
        "concatenate": lambda x: np.concatenate([x[6:], x[:6]]),
        "element": lambda x: x[3, 4],
    }[what]
    x = client.encrypt(values)
    assert np.array_equal(client.decrypt(part(x)), part(values))
    assert len(part(x).to_bytes()) <= len(x.to_bytes()) + 12 * values.size + 300
    again = sl.Ciphertext.from_bytes(part(x).to_bytes())
    assert np.array_equal(client.decrypt(again), part(values))


#: Public arrays that take no memory and would take more than the limit as elements.
PUBLIC = """
import sys
import numpy as np
import solinas as sl

client, key = sl.keygen(params="gates-toy", insecure_seed=1, research=True)
ones = np.broadcast_to(np.uint8(1), (1 << 37,))
pair = client.encrypt([1, 2], sl.U8)
for work in (
    lambda: client.encrypt(ones),
    lambda: client.public_key().encrypt(ones),
    lambda: pair + ones,
    lambda: np.repeat(pair, 1 << 37),
    lambda: pair[np.broadcast_to(np.int64(0), (1 << 37,))],
):
    try:
        work()
    except (MemoryError, sl.SolinasError, ValueError):
        continue
    sys.exit("an array that does not fit was made")
assert client.decrypt(sl.Server(key, threads=1).run(pair + 1)).tolist() == [2, 3]
"""


def test_public_arrays_larger_than_memory_are_refused_and_the_process_lives():
    if sys.platform != "linux":
        left_out("linux", "the shell limits no address space")
    limited = ["sh", "-c", f'ulimit -v {4 << 20} && exec "$0" -c "$1"', sys.executable, PUBLIC]
    run = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
