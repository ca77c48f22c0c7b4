//! Threads together: warps, barriers, atomic operations, and the order between blocks.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::common;

use common::{HEAD, kernel, run};
use solinas_ptx::{Class, Fault, FaultKind, Launch, Machine, Module, Options, Report};

/// Address of this thread's output word in `%t0`.
const MINE: &str = "mul.wide.u32 %t0, %thread, 8;\nadd.u64 %t0, %t0, %out;\n";

fn each(declarations: &str, body: &str, threads: u32) -> Result<Vec<u64>, Fault> {
    run(&kernel(declarations, &format!("{MINE}{body}")), threads, &[0], threads as usize)
}

#[test]
fn shuffles_follow_the_manual() {
    for (mode, law) in [
        (
            "up.b32 %r1|%p, %thread, 3, 0",
            (|lane| if lane >= 3 { (lane - 3, 1) } else { (lane, 0) }) as fn(u64) -> (u64, u64),
        ),
        ("down.b32 %r1|%p, %thread, 3, 31", |lane| if lane + 3 < 32 { (lane + 3, 1) } else { (lane, 0) }),
        ("bfly.b32 %r1|%p, %thread, 5, 31", |lane| (lane ^ 5, 1)),
        ("idx.b32 %r1|%p, %thread, 9, 31", |_| (9, 1)),
        // Segments of 8 lanes: 0x181f.
        ("idx.b32 %r1|%p, %thread, 2, 6175", |lane| (lane & 24 | 2, 1)),
        ("down.b32 %r1|%p, %thread, 3, 6175", |lane| if lane % 8 + 3 < 8 { (lane + 3, 1) } else { (lane, 0) }),
    ] {
        let body = format!(
            "shfl.sync.{mode}, -1;\nselp.u32 %r2, 100, 0, %p;\nadd.u32 %r1, %r1, %r2;\ncvt.u64.u32 %t1, %r1;\nst.global.u64 [%t0], %t1;"
        );
        let out = each(".reg .b32 %r<4>; .reg .pred %p;", &body, 64).unwrap();
        for (thread, &word) in out.iter().enumerate() {
            let (from, valid) = law(thread as u64 % 32);
            assert_eq!(word, from + thread as u64 / 32 * 32 + 100 * valid, "{mode}, thread {thread}");
        }
    }
}

#[test]
fn votes_and_reductions_are_over_the_members() {
    let body = "setp.lt.u32 %p, %thread, 35;\n\
        vote.sync.ballot.b32 %r1, %p, -1;\nvote.sync.any.pred %q, %p, -1;\nselp.u32 %r2, 1, 0, %q;\n\
        vote.sync.all.pred %q, %p, -1;\nselp.u32 %r3, 2, 0, %q;\nvote.sync.uni.pred %q, %p, -1;\nselp.u32 %r4, 4, 0, %q;\n\
        redux.sync.add.u32 %r5, %thread, -1;\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r2, %r2, %r4;\nshl.b32 %r5, %r5, 8;\n\
        or.b32 %r2, %r2, %r5;\nmov.b64 %t1, {%r1, %r2};\nst.global.u64 [%t0], %t1;";
    let out = each(".reg .b32 %r<8>; .reg .pred %p, %q;", body, 96).unwrap();
    for (thread, &word) in out.iter().enumerate() {
        let warp = thread as u64 / 32;
        let sum = 32 * 32 * warp + 31 * 16;
        let (ballot, flags) = [(0xFFFF_FFFF, 7), (7, 1), (0, 4)][warp as usize];
        assert_eq!(word, ballot | (flags | sum << 8) << 32, "thread {thread}");
    }
}

#[test]
fn divergent_lanes_meet_again() {
    // Lane t runs t % 7 rounds; then all lanes vote together.
    let body = "rem.u32 %r1, %thread, 7;\nmov.u32 %r2, 0;\n\
        L1: setp.eq.u32 %p, %r1, 0;\n@%p bra L2;\nsub.u32 %r1, %r1, 1;\nadd.u32 %r2, %r2, 3;\nactivemask.b32 %r3;\nbra.uni L1;\n\
        L2: activemask.b32 %r3;\nshfl.sync.idx.b32 %r4, %r2, 6, 31, -1;\nadd.u32 %r2, %r2, %r4;\n\
        mov.b64 %t1, {%r2, %r3};\nst.global.u64 [%t0], %t1;";
    let out = each(".reg .b32 %r<8>; .reg .pred %p;", body, 64).unwrap();
    for (thread, &word) in out.iter().enumerate() {
        let sixth = (thread / 32 * 32 + 6) % 7;
        assert_eq!(word, 0xFFFF_FFFF << 32 | (3 * (thread % 7) + 3 * sixth) as u64, "thread {thread}");
    }
}

#[test]
fn lanes_wait_for_the_members_that_come_later() {
    // Lanes below 8 reach the shuffle first, and must wait for the others.
    let body = "setp.lt.u32 %p, %thread, 8;\n@%p bra L1;\nadd.u32 %thread, %thread, 100;\n\
        bra.uni L1;\nL1: shfl.sync.bfly.b32 %r1, %thread, 8, 31, -1;\ncvt.u64.u32 %t1, %r1;\nst.global.u64 [%t0], %t1;";
    let out = each(".reg .b32 %r<4>; .reg .pred %p;", body, 32).unwrap();
    for (lane, &word) in out.iter().enumerate() {
        let from = lane as u64 ^ 8;
        assert_eq!(word, if from < 8 { from } else { from + 100 });
    }
    let never = "setp.lt.u32 %p, %thread, 8;\n@!%p bra L1;\nshfl.sync.bfly.b32 %r1, %thread, 8, 31, -1;\nL1: st.global.u64 [%t0], 1;\nbar.sync 0;";
    let fault = each(".reg .b32 %r<4>; .reg .pred %p;", never, 32).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Barrier, "{fault}");
}

#[test]
fn a_shuffle_from_a_lane_without_part_is_undefined() {
    let body = "setp.lt.u32 %p, %thread, 8;\n@%p shfl.sync.bfly.b32 %r1, %thread, 8, 31, 255;\nst.global.u64 [%t0], 1;";
    let fault = each(".reg .b32 %r<4>; .reg .pred %p;", body, 32).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Uninitialised, "{fault}");
}

#[test]
fn barriers_reduce_a_predicate() {
    let body = "setp.lt.u32 %p, %thread, 70;\nbar.red.popc.u32 %r1, 0, %p;\nbar.red.or.pred %q, 0, %p;\nselp.u32 %r2, 1, 0, %q;\n\
        barrier.cta.red.and.aligned.pred %q, 0, %p;\nselp.u32 %r3, 2, 0, %q;\nadd.u32 %r2, %r2, %r3;\nmov.b64 %t1, {%r1, %r2};\nst.global.u64 [%t0], %t1;";
    let out = each(".reg .b32 %r<4>; .reg .pred %p, %q;", body, 128).unwrap();
    assert!(out.iter().all(|&word| word == 1 << 32 | 70));
}

#[test]
fn accesses_have_every_width() {
    let body = "st.shared.v4.u32 [s], {0x80818283, %thread, 3, 4};\nbar.sync 0;\n\
        ld.shared.u8 %r1, [s+1];\nld.shared.s8 %r2, [s+2];\nld.shared.s16 %r3, [s+2];\nld.shared.s8 %t1, [s+3];\n\
        ld.shared.v2.u16 {%h1, %h2}, [s];\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\ncvt.u64.u32 %t2, %r1;\nadd.u64 %t1, %t1, %t2;\n\
        cvt.u64.u16 %t2, %h2;\nadd.u64 %t1, %t1, %t2;\nst.global.v2.u32 [%t0], {%t1, 7};\nst.global.u8 [%t0+4], 511;\nst.global.u16 [%t0+6], 65538;";
    let out = each(".shared .align 16 .b8 s[16]; .reg .b32 %r<4>; .reg .b16 %h<4>;", body, 1).unwrap();
    let sum = 0x82u32.wrapping_add((0x81u8 as i8) as u32).wrapping_add((0x8081u16 as i16) as u32);
    let low = u64::from(sum).wrapping_add((0x80u8 as i8) as u64).wrapping_add(0x8081) as u32;
    assert_eq!(out[0], u64::from(low) | 0xFF << 32 | 2 << 48);
}

#[test]
fn atomic_operations_return_the_old_value() {
    let body = "mov.u64 %t1, s;\nsetp.eq.u32 %p, %thread, 0;\n@%p st.shared.v2.u32 [s], {0, 0};\n@%p st.shared.u64 [s+8], 100;\nbar.sync 0;\n\
        atom.shared.add.u32 %r1, [s], 1;\nred.shared.max.u32 [s+4], %thread;\natom.shared.cas.b64 %t3, [s+8], 100, 200;\nbar.sync 0;\n\
        ld.shared.v2.u32 {%r2, %r3}, [s];\nld.shared.u64 %t2, [s+8];\nmad.lo.u32 %r2, %r3, 1000, %r2;\ncvt.u64.u32 %t1, %r2;\nadd.u64 %t2, %t2, %t1;\n\
        cvt.u64.u32 %t1, %r1;\nshl.b64 %t1, %t1, 32;\nadd.u64 %t1, %t1, %t2;\nst.global.u64 [%t0], %t1;";
    let mut out = each(".shared .align 16 .b8 s[16]; .reg .b32 %r<4>; .reg .pred %p;", body, 256).unwrap();
    out.sort_unstable();
    for (ticket, &word) in out.iter().enumerate() {
        assert_eq!(word, (ticket as u64) << 32 | (255 * 1000 + 256 + 200));
    }
}

/// A launch of several blocks. The buffer has 16 words of zeros and 16 that nobody wrote.
fn launch(body: &str, blocks: u32, threads: u32, multiprocessors: u32, seed: u64) -> Result<(Report, Vec<u64>), Fault> {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 a)\n{{\n.reg .b64 %in, %t<4>; .reg .b32 %block, %thread, %r<8>; .reg .pred %p, %q;\n\
         ld.param.u64 %in, [a];\nmov.u32 %block, %ctaid.x;\nmov.u32 %thread, %tid.x;\nsetp.eq.u32 %p, %block, 0;\n{body}\nret;\n}}"
    );
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut machine = Machine::new(Options { multiprocessors, seed, ..Options::default() });
    let buffer = machine.allocate(256)?;
    machine.fill(buffer, 0, 128)?;
    let report = machine.launch(module.kernel("k").unwrap(), &Launch::line(blocks, threads), &buffer.to_le_bytes())?;
    let mut out = vec![0; 128];
    machine.read(buffer, &mut out)?;
    Ok((report, out.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()))
}

/// Block 0 writes a word and sets a flag. Block 1 waits for the flag and reads the word.
fn message(publish: &str, wait: &str) -> String {
    format!(
        "@!%p bra L1;\nst.global.u32 [%in+128], 42;\n{publish}\nret;\nL1: {wait}\nsetp.eq.u32 %q, %r1, 0;\n@%q bra L1;\n"
    )
}

const READ: &str = "ld.global.u32 %r2, [%in+128];\nst.global.u32 [%in+64], %r2;";

#[test]
fn release_and_acquire_order_blocks() {
    for (publish, wait, fence, ordered) in [
        ("st.release.gpu.global.u32 [%in], 1;", "ld.acquire.gpu.global.u32 %r1, [%in];", "", true),
        ("membar.gl;\nst.volatile.global.u32 [%in], 1;", "ld.volatile.global.u32 %r1, [%in];", "membar.gl;", true),
        (
            "fence.acq_rel.gpu;\nred.global.add.u32 [%in], 1;",
            "atom.acquire.gpu.global.add.u32 %r1, [%in], 0;",
            "",
            true,
        ),
        ("st.relaxed.gpu.global.u32 [%in], 1;", "ld.acquire.gpu.global.u32 %r1, [%in];", "", false),
        ("st.release.gpu.global.u32 [%in], 1;", "ld.relaxed.gpu.global.u32 %r1, [%in];", "", false),
        ("membar.gl;\nst.volatile.global.u32 [%in], 1;", "ld.volatile.global.u32 %r1, [%in];", "", false),
        // Fences and accesses of a block's scope order no other block.
        ("membar.cta;\nst.volatile.global.u32 [%in], 1;", "ld.volatile.global.u32 %r1, [%in];", "membar.gl;", false),
        ("membar.gl;\nst.volatile.global.u32 [%in], 1;", "ld.volatile.global.u32 %r1, [%in];", "membar.cta;", false),
        ("st.release.cta.global.u32 [%in], 1;", "ld.acquire.gpu.global.u32 %r1, [%in];", "", false),
        ("st.release.gpu.global.u32 [%in], 1;", "ld.acquire.cta.global.u32 %r1, [%in];", "", false),
        ("st.release.sys.global.u32 [%in], 1;", "ld.acquire.sys.global.u32 %r1, [%in];", "", true),
    ] {
        for seed in 0..10 {
            let result = launch(&(message(publish, wait) + fence + READ), 2, 1, 1, seed);
            match result {
                Ok((_, out)) => assert!(ordered && out[8] == 42, "{publish} / {wait}"),
                Err(fault) => assert!(!ordered && fault.kind == FaultKind::Race, "{publish} / {wait}: {fault}"),
            }
        }
    }
}

#[test]
fn a_barrier_passes_on_what_one_thread_acquired() {
    let write = "mul.wide.u32 %t1, %thread, 4;\nadd.u64 %t1, %t1, %in;\nsetp.eq.u32 %q, %thread, 0;\n@!%p bra L1;\n\
        st.global.u32 [%t1+128], %thread;\n";
    let publish = "@%q st.release.gpu.global.u32 [%in], 1;\nret;\n\
        L1: @!%q bra L2;\nL3: ld.acquire.gpu.global.u32 %r1, [%in];\nsetp.eq.u32 %q, %r1, 0;\n@%q bra L3;\nL2: ";
    let read =
        "xor.b32 %r3, %thread, 5;\nmul.wide.u32 %t2, %r3, 4;\nadd.u64 %t2, %t2, %in;\nld.global.u32 %r2, [%t2+128];\n";
    for seed in 0..10 {
        let both = format!("{write}bar.sync 0;\n{publish}bar.sync 0;\n{read}");
        assert!(launch(&both, 2, 32, 1, seed).is_ok());
        for missing in [format!("{write}{publish}bar.sync 0;\n{read}"), format!("{write}bar.sync 0;\n{publish}{read}")]
        {
            assert_eq!(launch(&missing, 2, 32, 1, seed).unwrap_err().kind, FaultKind::Race);
        }
    }
}

#[test]
fn the_last_block_may_read_what_all_wrote() {
    // Every block writes a word, fences and takes a ticket. The one with the last ticket adds up.
    let body = |fence: &str| {
        format!(
            "mul.wide.u32 %t1, %block, 4;\nadd.u64 %t1, %t1, %in;\nst.global.u32 [%t1+128], %block;\n{fence}\n\
             atom.global.add.u32 %r1, [%in], 1;\n{fence}\nsetp.ne.u32 %q, %r1, 7;\n@%q ret;\nmov.u32 %r2, 0;\nmov.u32 %r3, 0;\n\
             L1: mul.wide.u32 %t1, %r2, 4;\nadd.u64 %t1, %t1, %in;\nld.global.u32 %r4, [%t1+128];\nadd.u32 %r3, %r3, %r4;\n\
             add.u32 %r2, %r2, 1;\nsetp.lt.u32 %q, %r2, 8;\n@%q bra L1;\nst.global.u32 [%in+64], %r3;"
        )
    };
    for seed in 0..10 {
        let (_, out) = launch(&body("membar.gl;"), 8, 1, 1, seed).unwrap();
        assert_eq!((out[0], out[8]), (8, 28));
        assert_eq!(launch(&body(""), 8, 1, 1, seed).unwrap_err().kind, FaultKind::Race);
    }
}

#[test]
fn a_wait_for_a_block_that_cannot_run_is_stuck() {
    // Every block waits until all have come. 32 blocks fit one multiprocessor.
    let body = "red.global.add.u32 [%in], 1;\nmov.u32 %r2, %nctaid.x;\nL1: ld.relaxed.gpu.global.u32 %r1, [%in];\nsetp.lt.u32 %p, %r1, %r2;\n@%p bra L1;";
    assert!(launch(body, 32, 1, 1, 0).is_ok());
    assert_eq!(launch(body, 33, 1, 1, 0).unwrap_err().kind, FaultKind::Stuck);
    assert!(launch(body, 33, 1, 2, 0).is_ok());
}

#[test]
fn reports_name_ranges_and_counts() {
    let body = "mul.wide.u32 %t1, %thread, 8;\nadd.u64 %t1, %t1, %in;\nld.global.u64 %t2, [%t1];\nadd.u64 %t2, %t2, 1;\nst.global.u64 [%t1+128], %t2;";
    let (report, _) = launch(body, 1, 12, 1, 0).unwrap();
    let start = report.reads[0].start;
    assert_eq!(report.reads.as_slice(), std::slice::from_ref(&(start..start + 96)));
    assert_eq!(report.writes.as_slice(), std::slice::from_ref(&(start + 128..start + 224)));
    let counters = report.counters;
    assert_eq!((counters.of(Class::Global), counters.of(Class::Branch), counters.total()), (24, 12, 12 * 10));
    assert_eq!((counters.sectors, counters.sectors_least), (6, 6));
    assert!(counters.to_json().contains("\"global\": 24,"), "{}", counters.to_json());
}

#[test]
fn shared_arrays_have_guards_and_dynamic_memory_follows_them() {
    let text = |address: &str| {
        format!(
            "{HEAD}.extern .shared .align 16 .b8 dynamic[];\n.visible .entry k()\n{{\n.shared .align 8 .b8 x[16];\n.shared .align 8 .b8 y[16];\n\
             .reg .b64 %t<2>;\nst.shared.u64 [{address}], 1;\nld.shared.u64 %t0, [{address}];\nret;\n}}"
        )
    };
    let run = |address: &str, shared: u32| {
        let module = Module::parse(&text(address)).unwrap();
        let launch = Launch { shared, ..Launch::line(1, 1) };
        Machine::new(Options::default()).launch(module.kernel("k").unwrap(), &launch, &[]).map_err(|fault| fault.kind)
    };
    for address in ["x", "x+8", "y+8", "dynamic", "dynamic+24"] {
        assert!(run(address, 32).is_ok(), "{address}");
    }
    for address in ["x+16", "x-8", "y+16", "dynamic+32", "0"] {
        assert_eq!(run(address, 32), Err(FaultKind::OutOfBounds), "{address}");
    }
    assert_eq!(run("dynamic", 0), Err(FaultKind::OutOfBounds));
    assert_eq!(run("x", 240_000), Err(FaultKind::Launch));
}

#[test]
fn constant_arrays_are_read_and_bounded() {
    let text = |offset: u32| {
        format!(
            "{HEAD}.const .align 4 .b8 first[3] = {{9, 8}};\n.const .align 4 .u32 table[2] = {{5, 4294967295}};\n\
             .visible .entry k(.param .u64 a, .param .u64 b)\n{{\n.reg .b64 %t<3>;\n.reg .b32 %r;\nld.param.u64 %t0, [b];\nmov.u64 %t1, table;\n\
             ld.const.u32 %r, [%t1+{offset}];\nst.global.u32 [%t0], %r;\nret;\n}}"
        )
    };
    assert_eq!(run(&text(0), 1, &[], 1).unwrap(), [5]);
    assert_eq!(run(&text(4), 1, &[], 1).unwrap(), [0xFFFF_FFFF]);
    assert_eq!(run(&text(8), 1, &[], 1).unwrap_err().kind, FaultKind::OutOfBounds);
}

#[test]
fn launches_check_their_arguments() {
    let text = format!("{HEAD}.visible .entry k(.param .u32 a)\n.maxntid 64, 1, 1\n{{\nret;\n}}");
    let module = Module::parse(&text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let mut machine = Machine::new(Options::default());
    assert!(machine.launch(kernel, &Launch::line(2, 64), &[0; 4]).is_ok());
    let cluster = Launch { cluster: [2, 1, 1], ..Launch::line(2, 64) };
    for (launch, bytes) in [
        (Launch::line(0, 64), 4),
        (Launch::line(1, 65), 4),
        (Launch::line(1, 0), 4),
        (Launch::line(1, 1), 8),
        (Launch { grid: [u32::MAX; 3], ..Launch::line(1, 1) }, 4),
        (Launch { grid: [320, 107_367_629, 536_903_681], ..Launch::line(1, 1) }, 4),
        (Launch { block: [320, 107_367_629, 536_903_681], ..Launch::line(1, 1) }, 4),
        (cluster, 4),
    ] {
        let fault = machine.launch(kernel, &launch, &vec![0; bytes]).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Launch, "{fault}");
    }
}

#[test]
fn a_barrier_of_some_lanes_orders_these_lanes() {
    // Each lane writes a word and reads that of another lane, across a barrier of its half of the warp.
    let text = |members: &str, other: u32| {
        format!(
            "setp.lt.u32 %p, %thread, 16;\nselp.b32 %r1, 65535, -65536, %p;\nmov.u64 %t1, s;\nmul.wide.u32 %t2, %thread, 4;\n\
             add.u64 %t2, %t2, %t1;\nst.shared.u32 [%t2], %thread;\nbar.warp.sync {members};\nxor.b32 %r2, %thread, {other};\n\
             mul.wide.u32 %t2, %r2, 4;\nadd.u64 %t2, %t2, %t1;\nld.shared.u32 %r2, [%t2];\ncvt.u64.u32 %t3, %r2;\nst.global.u64 [%t0], %t3;"
        )
    };
    let declarations = ".shared .align 4 .b8 s[256]; .reg .b32 %r<4>; .reg .pred %p;";
    let halves: Vec<u64> = (0..32).map(|lane| lane ^ 8).collect();
    assert_eq!(each(declarations, &text("%r1", 8), 32).unwrap(), halves);
    assert_eq!(each(declarations, &text("%r1", 16), 32).unwrap_err().kind, FaultKind::Race);
    assert!(each(declarations, &text("-1", 16), 64).is_ok());
    assert_eq!(each(declarations, &text("-1", 32), 64).unwrap_err().kind, FaultKind::Race);
}

#[test]
fn fences_of_a_block_order_its_threads() {
    // Thread 32 writes and publishes; thread 0 of another warp waits and reads.
    let text = |publish: &str, wait: &str| {
        format!(
            "setp.eq.u32 %p, %thread, 32;\n@!%p bra L1;\nst.global.u32 [%in+64], 42;\n{publish}\nret;\n\
             L1: setp.ne.u32 %p, %thread, 0;\n@%p ret;\nL2: {wait}\nsetp.eq.u32 %p, %r1, 0;\n@%p bra L2;\n\
             ld.global.u32 %r2, [%in+64];"
        )
    };
    for seed in 0..10 {
        let run = |publish, wait| launch(&text(publish, wait), 1, 64, 1, seed).map_err(|fault| fault.kind).map(drop);
        assert_eq!(run("st.release.cta.global.u32 [%in], 1;", "ld.acquire.cta.global.u32 %r1, [%in];"), Ok(()));
        assert_eq!(run("st.release.gpu.global.u32 [%in], 1;", "ld.acquire.cta.global.u32 %r1, [%in];"), Ok(()));
        let relaxed = run("st.relaxed.cta.global.u32 [%in], 1;", "ld.acquire.cta.global.u32 %r1, [%in];");
        assert_eq!(relaxed, Err(FaultKind::Race));
    }
}

#[test]
fn a_plain_read_races_with_the_atomic_operations_of_all_others() {
    let text = |thread: u32, barrier: &str| {
        format!(
            "mov.u64 %t1, s;\nsetp.eq.u32 %p, %thread, 0;\n@%p st.shared.u32 [%t1], 0;\nbar.sync 0;\n\
             red.shared.add.u32 [%t1], 1;\n{barrier}\nsetp.eq.u32 %p, %thread, {thread};\n@%p ld.shared.u32 %r1, [%t1];"
        )
    };
    let declarations = ".shared .align 4 .b8 s[4]; .reg .b32 %r<4>; .reg .pred %p;";
    for thread in [0, 31, 255] {
        assert_eq!(each(declarations, &text(thread, ""), 256).unwrap_err().kind, FaultKind::Race, "thread {thread}");
        assert!(each(declarations, &text(thread, "bar.sync 0;"), 256).is_ok(), "thread {thread}");
    }
}

#[test]
fn the_read_only_cache_may_be_stale() {
    let load = "ld.global.nc.u32 %r1, [%in];\n";
    assert!(launch(&format!("{load}st.global.u32 [%in+4], %r1;"), 1, 1, 1, 0).is_ok());
    for text in [format!("{load}st.global.u32 [%in], %r1;"), format!("st.global.u32 [%in], 1;\n{load}")] {
        let fault = launch(&text, 1, 1, 1, 0).unwrap_err();
        assert!(fault.kind == FaultKind::Race && fault.to_string().contains("read-only cache"), "{fault}");
    }
}

#[test]
fn lanes_do_not_wait_for_lanes_that_have_ended() {
    // Lanes from 8 on leave, before or after the others reach the barrier.
    for text in ["@%p bra L1;\nbar.warp.sync -1;\nbra.uni L2;\nL1: ret;\nL2:", "@%p ret;\nbar.warp.sync -1;"] {
        let body = format!("setp.ge.u32 %p, %thread, 8;\n{text} st.global.u64 [%t0], 7;");
        let out = each(".reg .pred %p;", &body, 32).unwrap();
        assert!(out.iter().enumerate().all(|(lane, &word)| word == if lane < 8 { 7 } else { 0 }), "{out:?}");
    }
}

#[test]
fn a_guarded_instruction_reads_in_its_own_lanes() {
    let body = |other: &str| {
        format!(
            "setp.lt.u32 %p, %thread, 8;\n@%p mov.u32 %r1, 5;\n{other} add.u32 %r2, %r1, 1;\n\
             @%p cvt.u64.u32 %t1, %r2;\n@%p st.global.u64 [%t0], %t1;"
        )
    };
    let run = |other: &str| each(".reg .b32 %r<4>; .reg .pred %p;", &body(other), 32);
    assert_eq!(run("@%p").unwrap()[7], 6);
    assert_eq!(run("").unwrap_err().kind, FaultKind::Uninitialised);
    assert_eq!(run("@!%p").unwrap_err().kind, FaultKind::Uninitialised);
}
