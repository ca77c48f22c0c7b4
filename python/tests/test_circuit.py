"""Circuits from files: plain and encrypted evaluation, costs and drawings."""

import os

import pytest

import solinas as sl
from conftest import ROOT

ADD = ".model add\n.inputs x_0 x_1 y_0 y_1\n.outputs z_0 z_1\n.names x_0 y_0 z_0\n10 1\n01 1\n" + (
    ".names x_0 y_0 c\n11 1\n.names x_1 y_1 c z_1\n100 1\n010 1\n001 1\n111 1\n.end\n"
)


def wide(width):
    """Return a circuit: bit 0 of `y` is the AND of the first and last bits of `x`, the other bits are complements."""
    names = [" ".join(f"{port}_{i}" for i in range(width)) for port in "xy"]
    gates = "".join(f".names x_{i} y_{i}\n0 1\n" for i in range(1, width))
    return f".model m\n.inputs {names[0]}\n.outputs {names[1]}\n{gates}.names x_0 x_{width - 1} y_0\n11 1\n.end\n"


def test_a_circuit_computes_on_plain_integers(tmp_path):
    path = tmp_path / "add.blif"
    path.write_text(ADD)
    circuit = sl.Circuit.load(path)
    assert circuit.inputs == (("x", 2, False), ("y", 2, False))
    assert circuit.outputs[0].width == 2
    assert all(circuit.simulate(x, y) == (x + y) % 4 for x in range(4) for y in range(4))
    assert circuit.gates == {"and": 1, "xor": 1, "xor3": 1}
    assert "3 gates" in repr(circuit)
    assert circuit.cost().bootstraps == 3
    assert circuit.cost("boot128-16384-8").products == 1
    assert circuit.draw().startswith("<svg")
    assert circuit._repr_svg_() == circuit.draw(tmp_path / "a.svg")
    assert circuit.draw(tmp_path / "a.dot").startswith("digraph")
    for name in ("b.blif", "b.json", "b.txt"):
        circuit.optimize().save(tmp_path / name)
        assert sl.Circuit.load(tmp_path / name).simulate(3, 2) == 1


def test_a_saved_file_replaces_another_and_clears_what_a_killed_process_left(tmp_path):
    (tmp_path / ".solinas-killed.tmp").write_text("half a circuit")
    path = tmp_path / "add.blif"
    path.write_text("older")
    path.chmod(0o600)
    sl.Circuit(ADD).save(path)
    assert os.listdir(tmp_path) == ["add.blif"]
    assert sl.Circuit.load(path).simulate(1, 2) == 3
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    assert path.stat().st_mode == ordinary.stat().st_mode


def test_mistakes_are_named(tmp_path):
    circuit = sl.Circuit(ADD)
    with pytest.raises(sl.TypeMismatchError, match=r"takes 2 values, got 1: give x \(2 bits\), y"):
        circuit.simulate(1)
    with pytest.raises(sl.RangeError, match="input 'y' has 2 bits: 4 is not in 0 to 3"):
        circuit.simulate(1, 4)
    with pytest.raises(sl.TypeMismatchError, match="takes an integer, got float"):
        circuit.simulate(1, 2.0)
    with pytest.raises(sl.CircuitError, match="not Bristol, BLIF or Yosys JSON"):
        sl.Circuit("nonsense")
    with pytest.raises(sl.FileError, match="cannot read"):
        sl.Circuit.load(tmp_path / "none.blif")
    with pytest.raises(sl.CircuitError, match=r"\.blif, \.json or \.txt"):
        circuit.save(tmp_path / "add.png")
    with pytest.raises(sl.FileError, match="cannot write .*none/add.blif.*; check the name and that its folder exists"):
        circuit.save(tmp_path / "none" / "add.blif")
    with pytest.raises(sl.RangeError, match="does not fit in 4 bits"):
        sl.bits(16, 4)


def test_a_wide_port_runs_encrypted_as_it_does_plainly(keys):
    client, server = keys
    circuit = sl.Circuit(wide(2050))
    value = int("f0" * 256, 16) | 1
    assert sl.from_bits(sl.bits(value, 2050)) == value
    ct = client.encrypt(sl.bits(value, 2050))
    result = client.decrypt(server.run(circuit(ct)))
    assert sl.from_bits(result) == circuit.simulate(value)
    assert server.estimate(circuit).bootstraps >= 1
    with pytest.raises(sl.TypeMismatchError, match="has 2050 bits, got .* u128.*: give an array of 2050 bools"):
        circuit(client.encrypt(sl.u128(1)))
    narrower = sl.Circuit(wide(200))
    value %= 1 << 200
    for x in (sl.uint(200)(value), sl.bits(value, 200)):
        result = client.decrypt(server.run(narrower(client.encrypt(x))))
        assert result == narrower.simulate(value)
    adder = sl.Circuit(ADD)
    two = sl.uint(2)
    assert client.decrypt(server.run(adder(client.encrypt(two(3)), client.encrypt(two(2))))) == 1


def test_a_public_circuit_computes_on_plain_integers():
    adder = sl.Circuit.load(ROOT / "crates/circuits/tests/public/bristol_adder64.txt")
    assert adder.simulate(0xFFFF_FFFF_0000_0001, 0x1_FFFF_FFFF) == 0x1_0000_0000
