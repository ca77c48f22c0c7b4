//! The blocks of a large launch run on several threads of the host, which changes nothing.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use solinas_ptx::{Fault, FaultKind, Launch, Machine, Module, Options, Report};

const BLOCKS: u32 = 1024;
const THREADS: u32 = 256;

/// Word `i` of the output is the sum of word `i` of the input and its number, or a store to `address` is in the way.
fn text(address: &str) -> String {
    let work = "add.u32 %r2, %r2, %r1;\n".repeat(16);
    format!(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 b)\n{{\n\
         .reg .b64 %in, %out, %t<3>; .reg .b32 %block, %r<4>;\nld.param.u64 %in, [a];\nld.param.u64 %out, [b];\n\
         mov.u32 %block, %ctaid.x;\nmov.u32 %r0, %tid.x;\nmad.lo.u32 %r1, %block, {THREADS}, %r0;\n{address}\
         mul.wide.u32 %t0, %r1, 4;\nadd.u64 %t1, %t0, %in;\nld.global.u32 %r2, [%t1];\n{work}\
         add.u64 %t1, %t0, %out;\nst.global.u32 [%t1], %r2;\nret;\n}}"
    )
}

fn run(text: &str, threads: usize, seed: u64) -> Result<(Report, Vec<u8>), Fault> {
    let module = Module::parse(text).unwrap();
    let mut machine = Machine::new(Options { threads, seed, ..Options::default() });
    let bytes = u64::from(4 * BLOCKS * THREADS);
    let [from, to] = [machine.allocate(bytes)?, machine.allocate(bytes)?];
    machine.fill(from, 1, bytes)?;
    let parameters = [from.to_le_bytes(), to.to_le_bytes()].concat();
    let report = machine.launch(module.kernel("k").unwrap(), &Launch::line(BLOCKS, THREADS), &parameters)?;
    let mut out = vec![0; bytes as usize];
    machine.read(to, &mut out)?;
    Ok((report, out))
}

#[test]
fn results_counters_and_ranges_do_not_depend_on_threads() {
    let text = text("");
    let (report, out) = run(&text, 1, 0).unwrap();
    for (i, word) in out.chunks_exact(4).enumerate() {
        let expected = 0x0101_0101u32.wrapping_add(16 * i as u32);
        assert_eq!(word, expected.to_le_bytes(), "word {i}");
    }
    assert_eq!((report.reads.len(), report.writes.len()), (1, 1));
    for (threads, seed) in [(2, 0), (3, 1), (8, 2), (0, 3)] {
        assert!(run(&text, threads, seed).unwrap() == (report.clone(), out.clone()), "{threads} threads");
    }
}

#[test]
fn a_race_of_distant_blocks_has_its_place() {
    // The first and the last block write the same word; or one reads what the other writes.
    let end = format!("setp.eq.u32 %p, %block, {};\n", BLOCKS - 1);
    for (store, kind) in [("st.global.u32 [%out], %r0;", "st.global"), ("ld.global.u32 %r3, [%out];", "")] {
        let text = text(&format!(".reg .pred %p;\n{end}setp.eq.and.u32 %p, %r0, 0, %p;\n@%p {store}\n"));
        let fault = run(&text, 1, 0).unwrap_err();
        for threads in [1, 2, 4] {
            let again = run(&text, threads, 0).unwrap_err();
            // A read of what the other block has not written yet is found as such.
            assert!([FaultKind::Race, FaultKind::Uninitialised].contains(&again.kind), "{again}");
            let place = again.place.as_ref().unwrap();
            assert!(place.instruction.starts_with(kind), "{again}");
            assert!(kind.is_empty() || again == fault, "{again}");
        }
    }
}

#[test]
fn the_first_fault_of_a_launch_does_not_depend_on_threads() {
    // Two blocks read the output, which nobody wrote.
    let text = text(&format!(
        ".reg .pred %p;\nand.b32 %r3, %block, 511;\nsetp.eq.u32 %p, %r3, 500;\n@%p add.u32 %r1, %r1, {};\n",
        BLOCKS * THREADS
    ));
    let fault = run(&text, 1, 5).unwrap_err();
    assert_eq!((fault.kind, fault.place.as_ref().unwrap().block), (FaultKind::Uninitialised, [500, 0, 0]));
    for threads in [2, 3, 4] {
        assert_eq!(run(&text, threads, 5).unwrap_err(), fault);
    }
}
