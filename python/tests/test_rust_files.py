"""Program files of the crate `solinas`, whose tests read one of this package."""

from __future__ import annotations

from pathlib import Path

import solinas as sl

DATA = Path(__file__).resolve().parents[2] / "crates" / "solinas" / "tests" / "data"


def test_a_program_of_the_rust_crate_is_read() -> None:
    risk = sl.Program.load(DATA / "rust.json")
    assert (risk.simulate(70, 3), risk.simulate(60, 3)) == (210, 6)
    assert repr(risk) == "<program rust(x1: u32, x2: u32) -> u32>"


def test_the_file_that_the_rust_crate_reads_is_of_this_package(tmp_path: Path) -> None:
    @sl.program
    def risk(age: sl.U32, dose: sl.U32) -> sl.U32:
        return sl.select(age > 60, age * dose, dose * 2)

    risk.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_text() == (DATA / "python.json").read_text()
