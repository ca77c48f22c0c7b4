//! Asynchronous copies: a double-buffered loop is right, and each fault in it is found.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{HEAD, kernel, run as run_one};
use solinas_ptx::{Checks, Class, Fault, FaultKind, Launch, Machine, Module, Options, Report};

/// Tiles of the loop below. A tile has 16 bytes for each thread.
const TILES: u64 = 5;

/// A loop over tiles with two stages. Each thread copies its part of the next tile and reads the part of another thread
/// from this tile.
#[derive(Clone)]
struct Pipeline {
    threads: u32,
    /// A thread reads the part of thread `t ^ partner`.
    partner: u32,
    copy: &'static str,
    wait: &'static str,
    before_read: &'static str,
    after_read: &'static str,
    /// Offset of the part that is read.
    read: u32,
}

const COPY: &str = "cp.async.cg.shared.global [%r4], [%t0], 16;";
const BARRIER: &str = "bar.sync 0;";

impl Pipeline {
    fn new(threads: u32, partner: u32) -> Self {
        let wait = "cp.async.wait_group 1;";
        Self { threads, partner, copy: COPY, wait, before_read: BARRIER, after_read: BARRIER, read: 0 }
    }

    /// Copies the thread's part of tile `%r1` to its stage, if there is such a tile, and closes the group.
    fn issue(&self) -> String {
        let (threads, copy) = (self.threads, self.copy);
        format!(
            "setp.lt.u32 %p, %r1, {TILES};\nmad.lo.u32 %r2, %r1, {threads}, %thread;\nmad.wide.u32 %t0, %r2, 16, %in;\n\
             and.b32 %r3, %r1, 1;\nmad.lo.u32 %r3, %r3, {threads}, %thread;\nshl.b32 %r3, %r3, 4;\nadd.u32 %r4, %base, %r3;\n\
             @%p {copy}\ncp.async.commit_group;\n"
        )
    }

    fn text(&self) -> String {
        let Self { threads, partner, wait, before_read, after_read, read, .. } = self;
        let body = format!(
            "mov.u32 %base, s;\nmov.u64 %sum, 0;\nmov.u32 %r0, 0;\nmov.u32 %r1, 0;\n{issue}\
             L1: add.u32 %r1, %r0, 1;\n{issue}{wait}\n{before_read}\nand.b32 %r5, %r0, 1;\nxor.b32 %r6, %thread, {partner};\n\
             mad.lo.u32 %r5, %r5, {threads}, %r6;\nshl.b32 %r5, %r5, 4;\nadd.u32 %r5, %base, %r5;\n\
             ld.shared.v2.u64 {{%x, %y}}, [%r5+{read}];\nmad.lo.u64 %sum, %sum, 3, %x;\nmad.lo.u64 %sum, %sum, 3, %y;\n{after_read}\n\
             add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p, %r0, {TILES};\n@%p bra L1;\n\
             mad.wide.u32 %t1, %thread, 8, %out;\nst.global.u64 [%t1], %sum;",
            issue = self.issue(),
        );
        let shared = 32 * threads;
        let declarations = format!(
            ".shared .align 16 .b8 s[{shared}]; .reg .b32 %base, %r<8>; .reg .b64 %sum, %x, %y; .reg .pred %p;"
        );
        kernel(&declarations, &body)
    }

    fn input(&self) -> Vec<u64> {
        (0..2 * TILES * u64::from(self.threads)).map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect()
    }

    fn expected(&self) -> Vec<u64> {
        let input = self.input();
        let parts = |thread: u32| {
            let part =
                move |tile: u64| 2 * (tile * u64::from(self.threads) + u64::from(thread ^ self.partner)) as usize;
            (0..TILES).flat_map(move |tile| [part(tile), part(tile) + 1])
        };
        let sum = |thread| parts(thread).fold(0u64, |sum, at| sum.wrapping_mul(3).wrapping_add(input[at]));
        (0..self.threads).map(sum).collect()
    }

    fn run(&self, checks: Checks, seed: u64) -> Result<(Report, Vec<u64>), Fault> {
        launch(&self.text(), self.threads, &self.input(), checks, seed)
    }

    /// The fault of every run.
    fn faults(&self) -> Vec<Fault> {
        (0..20).map(|seed| self.run(Checks::ALL, seed).unwrap_err()).collect()
    }
}

/// Runs a kernel in one block. Returns a word of each thread.
fn launch(text: &str, threads: u32, input: &[u64], checks: Checks, seed: u64) -> Result<(Report, Vec<u64>), Fault> {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut machine = Machine::new(Options { checks, seed, ..Options::default() });
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let from = machine.allocate(bytes.len() as u64)?;
    let to = machine.allocate(8 * u64::from(threads))?;
    machine.write(from, &bytes)?;
    machine.fill(to, 0, 8 * u64::from(threads))?;
    let parameters = [from.to_le_bytes(), to.to_le_bytes()].concat();
    let report = machine.launch(module.kernel("k").unwrap(), &Launch::line(1, threads), &parameters)?;
    let mut out = vec![0; 8 * threads as usize];
    machine.read(to, &mut out)?;
    Ok((report, out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()))
}

fn assert_faults(name: &str, pipeline: &Pipeline, kinds: &[FaultKind], instruction: &str) {
    for fault in pipeline.faults() {
        assert!(kinds.contains(&fault.kind), "{name}: {fault}");
        assert!(
            fault.place.as_ref().unwrap().instruction.contains(instruction.trim_end_matches(';')),
            "{name}: {fault}"
        );
    }
}

#[test]
fn a_double_buffered_loop_is_right() {
    for (threads, partner) in [(32, 1), (32, 0), (256, 33), (1024, 512)] {
        let pipeline = Pipeline::new(threads, partner);
        for seed in 0..10 {
            assert_eq!(pipeline.run(Checks::ALL, seed).unwrap().1, pipeline.expected(), "{threads} threads");
        }
        assert_eq!(pipeline.run(Checks::NONE, 0).unwrap().1, pipeline.expected(), "{threads} threads");
    }
    // A thread that reads what it copied itself needs no barrier.
    let alone = Pipeline { before_read: "", after_read: "", ..Pipeline::new(256, 0) };
    assert_eq!(alone.run(Checks::ALL, 0).unwrap().1, alone.expected());
    // A warp needs a barrier of the warp alone.
    let warp = "bar.warp.sync -1;";
    let warps = Pipeline { before_read: warp, after_read: warp, ..Pipeline::new(256, 5) };
    assert_eq!(warps.run(Checks::ALL, 0).unwrap().1, warps.expected());
    let all = Pipeline { wait: "cp.async.wait_all;", ..Pipeline::new(256, 33) };
    assert_eq!(all.run(Checks::ALL, 0).unwrap().1, all.expected());
}

#[test]
fn a_read_needs_the_wait_of_its_group() {
    use FaultKind::Uninitialised;
    for (partner, before_read) in [(0, ""), (0, BARRIER), (33, BARRIER)] {
        for wait in ["", "cp.async.wait_group 2;", "cp.async.commit_group;\ncp.async.wait_group 3;"] {
            let missing = Pipeline { wait, before_read, ..Pipeline::new(256, partner) };
            assert_faults(wait, &missing, &[Uninitialised], "ld.shared");
            assert!(missing.faults()[0].what.contains("no wait completed the cp.async"), "{wait}");
            // Without the check the values are wrong.
            let unchecked = missing.run(Checks::NONE, 0).unwrap().1;
            assert_ne!(unchecked, missing.expected(), "{wait}");
        }
        // The youngest group is outstanding: the other stage has no value. It lies below this one in every second tile.
        let youngest = Pipeline { read: 16 * 256, before_read, ..Pipeline::new(256, partner) };
        assert_faults("the youngest group", &youngest, &[Uninitialised], "ld.shared");
    }
}

#[test]
fn a_read_of_another_thread_needs_a_barrier_behind_the_wait() {
    use FaultKind::{Race, Uninitialised};
    let missing = |partner| Pipeline { before_read: "", ..Pipeline::new(256, partner) };
    assert_faults("in a warp", &missing(1), &[Race], "ld.shared");
    // The other warp may not have waited yet.
    assert_faults("between warps", &missing(33), &[Race, Uninitialised], "ld.shared");
    let before = Pipeline { wait: "bar.sync 0;\ncp.async.wait_group 1;", ..missing(1) };
    assert_faults("a barrier before the wait", &before, &[Race], "ld.shared");
}

#[test]
fn a_stage_is_overwritten_after_all_have_read_it() {
    let missing = |partner| Pipeline { after_read: "", ..Pipeline::new(256, partner) };
    assert_faults("in a warp", &missing(1), &[FaultKind::Race], COPY);
    for fault in missing(33).faults() {
        // The copy of the faster warp is under way when the slower one reads.
        let kind = if fault.place.as_ref().unwrap().instruction.contains("cp.async.cg") {
            FaultKind::Race
        } else {
            FaultKind::Uninitialised
        };
        assert_eq!(fault.kind, kind, "{fault}");
    }
}

#[test]
fn both_addresses_are_checked() {
    use FaultKind::{Misaligned, OutOfBounds};
    for (copy, kind) in [
        ("cp.async.cg.shared.global [%r4+8], [%t0], 16;", Misaligned),
        ("cp.async.cg.shared.global [%r4], [%t0+8], 16;", Misaligned),
        ("cp.async.ca.shared.global [%r4+4], [%t0], 8;", Misaligned),
        ("cp.async.ca.shared.global [%r4], [%t0+2], 4;", Misaligned),
        ("cp.async.cg.shared.global [%r4+8192], [%t0], 16;", OutOfBounds),
        ("cp.async.cg.shared.global [%r4-16], [%t0], 16;", OutOfBounds),
        ("cp.async.cg.shared.global [%r4], [%t0+20480], 16;", OutOfBounds),
        ("cp.async.cg.shared.global [%r4], [%t0-16], 16;", OutOfBounds),
    ] {
        let pipeline = Pipeline { copy, ..Pipeline::new(256, 33) };
        assert_faults(copy, &pipeline, &[kind], copy);
        // Each check is off on its own.
        let off = match kind {
            Misaligned => Checks { alignment: false, ..Checks::NONE },
            _ => Checks { bounds: false, ..Checks::NONE },
        };
        assert!(pipeline.run(off, 0).is_ok(), "{copy}");
    }
}

/// One warp with 1 KiB of shared memory. Lane `t` has 16 bytes at `%s` and at `%t0` of the input.
fn warp(body: &str, checks: Checks) -> Result<(Report, Vec<u64>), Fault> {
    let declarations = ".shared .align 16 .b8 s[1024]; .reg .b32 %base, %s, %r<4>; .reg .b64 %x, %y; .reg .pred %p;";
    let body = format!(
        "mov.u32 %base, s;\nshl.b32 %s, %thread, 4;\nadd.u32 %s, %base, %s;\nmad.wide.u32 %t0, %thread, 16, %in;\n\
         mad.wide.u32 %t1, %thread, 8, %out;\nmov.u64 %x, 7;\n{body}\nst.global.u64 [%t1], %x;"
    );
    let input: Vec<u64> = (0..128).collect();
    launch(&kernel(declarations, &body), 32, &input, checks, 0)
}

fn kind_of(body: &str) -> Option<FaultKind> {
    warp(body, Checks::ALL).err().map(|fault| fault.kind)
}

const ISSUE: &str = "cp.async.cg.shared.global [%s], [%t0], 16;\n";
const CLOSE: &str = "cp.async.commit_group;\n";
const WAIT: &str = "cp.async.wait_group 0;\n";
const READ: &str = "ld.shared.u64 %x, [%s];\n";

#[test]
fn waits_end_the_closed_groups_of_their_thread() {
    let evens: Vec<u64> = (0..32).map(|lane| 2 * lane).collect();
    for right in [
        format!("{ISSUE}{CLOSE}{WAIT}{READ}"),
        format!("{ISSUE}cp.async.wait_all;\n{READ}"),
        // Empty groups count.
        format!("{ISSUE}{CLOSE}{CLOSE}cp.async.wait_group 1;\n{READ}"),
        format!("{WAIT}{CLOSE}{ISSUE}{CLOSE}{WAIT}{READ}"),
    ] {
        assert_eq!(warp(&right, Checks::ALL).unwrap().1, evens, "{right}");
    }
    for missing in [
        format!("{ISSUE}{WAIT}{READ}"),
        format!("{CLOSE}{ISSUE}{WAIT}{READ}"),
        format!("{ISSUE}{CLOSE}cp.async.wait_group 1;\n{READ}"),
    ] {
        assert_eq!(kind_of(&missing), Some(FaultKind::Uninitialised), "{missing}");
    }
    // Nobody reads a copy that is dropped, and the issue still takes the old bytes.
    assert_eq!(kind_of(ISSUE), None);
    let old = format!("st.shared.u64 [%s], 1;\n{ISSUE}{READ}");
    assert_eq!(kind_of(&old), Some(FaultKind::Uninitialised));
    // The bytes are those at the issue.
    let overwritten = format!("{ISSUE}{CLOSE}st.global.u64 [%t0], 99;\n{WAIT}{READ}");
    assert_eq!(warp(&overwritten, Checks::ALL).unwrap().1, evens);
}

#[test]
fn lanes_have_their_own_groups() {
    // Lanes below 8 close one group more, so that a wait that leaves one group ends their copy.
    let body = format!(
        "setp.lt.u32 %p, %thread, 8;\n{ISSUE}{CLOSE}@!%p bra L1;\n{CLOSE}L1: cp.async.wait_group 1;\n@%p {READ}"
    );
    let expected: Vec<u64> = (0..32).map(|lane| if lane < 8 { 2 * lane } else { 7 }).collect();
    assert_eq!(warp(&body, Checks::ALL).unwrap().1, expected);
    let fault = warp(&body.replace("@%p ld", "ld"), Checks::ALL).unwrap_err();
    assert_eq!((fault.kind, fault.place.unwrap().thread), (FaultKind::Uninitialised, [8, 0, 0]));
    // A guard holds for both parts of the copy.
    let guarded = format!("setp.lt.u32 %p, %thread, 8;\n@%p {ISSUE}cp.async.wait_all;\n@%p {READ}");
    assert_eq!(warp(&guarded, Checks::ALL).unwrap().1, expected);
}

#[test]
fn a_destination_belongs_to_its_copy_until_the_wait() {
    for (body, instruction) in [
        // The thread writes there itself, or copies there twice.
        (format!("{ISSUE}{CLOSE}st.shared.u64 [%s], 1;\n{WAIT}{READ}"), "wait_group"),
        (format!("{ISSUE}{CLOSE}{ISSUE}{CLOSE}{WAIT}{READ}"), "wait_group"),
        // The thread ends without a wait after such a write.
        (format!("{ISSUE}{CLOSE}st.shared.u64 [%s], 1;\n{READ}"), "ret"),
        (format!("{ISSUE}{CLOSE}{ISSUE}{CLOSE}cp.async.wait_group 1;\n{READ}"), "ret"),
        // All lanes copy to one place.
        ("cp.async.cg.shared.global [%base], [%t0], 16;\n".to_owned(), "cp.async.cg"),
        // Another lane writes there.
        (format!("{ISSUE}xor.b32 %r1, %s, 16;\nst.shared.u64 [%r1], 1;\n"), "st.shared"),
    ] {
        let fault = warp(&body, Checks::ALL).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Race, "{body}: {fault}");
        assert!(fault.place.unwrap().instruction.contains(instruction), "{body}");
        let unchecked = Checks { races: false, ..Checks::ALL };
        assert!(warp(&body, unchecked).is_ok(), "{body}");
    }
    // With the check of races off, a conflict in one word leaves no other word without a value.
    let other = format!(
        "xor.b32 %r1, %s, 16;\n{ISSUE}bar.warp.sync -1;\nst.shared.u64 [%r1], 1;\nst.shared.u64 [%r1+8], 1;\n{CLOSE}{WAIT}"
    );
    let both = format!("{other}{READ}ld.shared.u64 %y, [%s+8];\n");
    assert_eq!(kind_of(&both), Some(FaultKind::Race));
    assert!(warp(&both, Checks { races: false, ..Checks::ALL }).is_ok());
    // A read of another lane between the issue and the wait is a race, even if it may read anything.
    let read = format!("{ISSUE}bar.warp.sync -1;\nxor.b32 %r1, %s, 16;\nld.shared.u64 %x, [%r1];\n{CLOSE}{WAIT}");
    assert_eq!(kind_of(&read), Some(FaultKind::Uninitialised));
    let fault = warp(&read, Checks { uninitialised: false, ..Checks::ALL }).unwrap_err();
    assert!(fault.kind == FaultKind::Race && fault.what.contains("a write after a read"), "{fault}");
}

#[test]
fn atomic_operations_on_a_stage_are_ordered_too() {
    // The kernel has strong accesses to shared memory, so places have two records.
    let add = "red.shared.add.u64 [%s], 5;\n";
    let right = format!("st.shared.u64 [%s], 1;\n{add}{ISSUE}{CLOSE}{WAIT}{add}{READ}");
    let expected: Vec<u64> = (0..32).map(|lane| 2 * lane + 5).collect();
    assert_eq!(warp(&right, Checks::ALL).unwrap().1, expected);
    let early = format!("st.shared.u64 [%s], 1;\n{add}{ISSUE}{READ}{CLOSE}{WAIT}");
    assert_eq!(kind_of(&early), Some(FaultKind::Uninitialised));
    let early = format!("st.shared.u64 [%s], 1;\n{ISSUE}{add}{CLOSE}{WAIT}");
    assert_eq!(kind_of(&early), Some(FaultKind::Uninitialised));
}

#[test]
fn the_source_is_read_at_the_issue() {
    // The output has zeros in its first words alone; the input of `run_one` is one word.
    let declarations = ".shared .align 16 .b8 s[512]; .reg .b32 %base, %r<4>;";
    let copy = "mov.u32 %base, s;\nshl.b32 %r0, %thread, 2;\nadd.u32 %r0, %base, %r0;\nmad.wide.u32 %t0, %thread, 4, %in;\n\
        cp.async.ca.shared.global [%r0], [%t0], 4;\n";
    assert!(run_one(&kernel(declarations, copy), 2, &[0], 1).is_ok());
    assert_eq!(run_one(&kernel(declarations, copy), 3, &[0], 1).unwrap_err().kind, FaultKind::OutOfBounds);
    // Another lane wrote the source.
    let race = format!("mad.wide.u32 %t1, %thread, 4, %out;\nst.global.u32 [%t1], 1;\n{}", copy.replace("%in", "%out"));
    assert!(run_one(&kernel(declarations, &race), 2, &[0], 1).is_ok());
    let race = race.replace("[%t0]", "[%out]");
    assert_eq!(run_one(&kernel(declarations, &race), 2, &[0], 1).unwrap_err().kind, FaultKind::Race);
    // Nobody wrote the source.
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 a)\n{{\n.shared .align 16 .b8 s[16];\n.reg .b64 %rd<2>;\nld.param.u64 %rd0, [a];\n\
         cp.async.cg.shared.global [s], [%rd0], 16;\nret;\n}}"
    );
    let module = Module::parse(&text).unwrap();
    let mut machine = Machine::new(Options::default());
    let buffer = machine.allocate(16).unwrap();
    let fault = machine.launch(module.kernel("k").unwrap(), &Launch::line(1, 1), &buffer.to_le_bytes()).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Uninitialised, "{fault}");
}

#[test]
fn the_issue_counts_as_a_load_and_a_store() {
    let plain = warp("", Checks::ALL).unwrap().0.counters;
    let copied = warp(&format!("{ISSUE}{CLOSE}{WAIT}"), Checks::ALL).unwrap().0;
    let counters = copied.counters;
    assert_eq!(counters.of(Class::Global), plain.of(Class::Global) + 32);
    assert_eq!(counters.of(Class::Shared), plain.of(Class::Shared));
    assert_eq!(counters.of(Class::Barrier), plain.of(Class::Barrier) + 64);
    assert_eq!(counters.total(), plain.total() + 96);
    assert_eq!((counters.sectors - plain.sectors, counters.sectors_least - plain.sectors_least), (16, 16));
    assert_eq!((counters.bank_transactions, counters.bank_least), (4, 4));
    assert_eq!(copied.reads.iter().map(|range| range.end - range.start).sum::<u64>(), 512);
    // Lanes whose places share their banks.
    let spread = ISSUE.replace("[%s]", "[%r1]");
    let spread = format!(
        "shl.b32 %r1, %thread, 7;\nand.b32 %r1, %r1, 511;\nadd.u32 %r1, %r1, %base;\nsetp.lt.u32 %p, %thread, 4;\n@%p {spread}"
    );
    let counters = warp(&spread, Checks::ALL).unwrap().0.counters;
    assert_eq!((counters.bank_transactions, counters.bank_least), (4, 1));
}
