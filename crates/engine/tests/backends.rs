//! The back end that `SOLINAS_BACKEND` names computes what the others do: the same ciphertexts, bit for bit.

#![allow(clippy::unwrap_used, reason = "tests")]

use solinas_circuits::{BinaryOp, Builder};
use solinas_engine::{Control, KeygenOptions, Natural, Plain, Program, Server, Type, Work, keygen};
use solinas_field::Backend;
use std::process::Command;

/// Fingerprint of what a fixed key computes: a hash of the ciphertext's file.
fn fingerprint(params: &str, op: &str, threads: usize) -> u64 {
    let options =
        KeygenOptions { params: Some(params.into()), research: true, insecure_seed: Some(5), ..Default::default() };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let u6 = Type::Uint(6);
    let program = Program::from_op(op, &[u6, u6]).unwrap();
    // Three lanes: every number of threads in use chooses the same schedule.
    let a = client.encrypt(&Plain::new(u6, Some(vec![3]), vec![61, 7, 0]).unwrap()).unwrap();
    let b = client.encrypt(&Plain::new(u6, Some(vec![3]), vec![9, 63, 1]).unwrap()).unwrap();
    let server = Server::new(&key, Some(threads)).unwrap();
    let out = server.run(Work::program(&program, &[a, b]), &Control::default()).unwrap();
    let want: Vec<Natural> =
        [[61, 9], [7, 63], [0, 1]].iter().map(|inputs| program.evaluate(inputs).unwrap()[0].clone()).collect();
    assert_eq!(client.decrypt(&out[0]).unwrap().values, want);
    hash(&out[0].to_bytes().unwrap())
}

/// Every kind of gate on every input, with the gates family; the same kind of fingerprint.
fn every_gate() -> u64 {
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(6),
        ..Default::default()
    };
    let (client, key) = keygen(&options, &Control::default()).unwrap();
    let mut b = Builder::verbatim();
    let bits: Vec<_> = ["a", "b", "c"].map(|name| b.input(name, 1, false)[0]).to_vec();
    let (x, y, z) = (bits[0], bits[1], bits[2]);
    let mut outputs: Vec<_> = BinaryOp::ALL.iter().map(|&op| b.binary(op, x, y)).collect();
    outputs.extend([b.not(x), b.constant(true), b.mux(x, y, z), b.xor3(x, y, z), b.maj(x, y, z)]);
    b.output("out", &outputs, false);
    let netlist = b.finish().unwrap();
    let lane = |bit: usize| (0..8).map(|i| i >> bit & 1).collect::<Vec<u128>>();
    let inputs: Vec<_> =
        (0..3).map(|bit| client.encrypt(&Plain::new(Type::Bool, Some(vec![8]), lane(bit)).unwrap()).unwrap()).collect();
    let server = Server::new(&key, Some(2)).unwrap();
    let out = server.run(Work::program(&crate::gates(&netlist), &inputs), &Control::default()).unwrap();
    let want: Vec<Natural> =
        (0..8u128).map(|i| netlist.evaluate(&[i & 1, i >> 1 & 1, i >> 2]).unwrap()[0].clone()).collect();
    assert_eq!(client.decrypt(&out[0]).unwrap().values, want);
    hash(&out[0].to_bytes().unwrap())
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The fingerprints of results under fixed keys, with these numbers of threads.
fn fingerprints(mul: usize, add: usize) -> String {
    format!(
        "fingerprints {:x} {:x} {:x}",
        fingerprint("gates-toy", "mul", mul),
        fingerprint("integers-toy", "add", add),
        every_gate()
    )
}

/// The back ends of this CPU, found without [`Backend::available`].
fn backends() -> Vec<&'static str> {
    let mut all = vec!["scalar"];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            all.push("avx2");
        }
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        if all.contains(&"avx2") && avx512 {
            all.push("avx512");
        }
    }
    all
}

/// The output of [`child_process`] under `SOLINAS_BACKEND=backend`.
fn child(backend: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "backends::child_process", "--ignored", "--nocapture"])
        .env("SOLINAS_BACKEND", backend)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{backend}: {text}");
    text
}

#[test]
#[ignore = "the other tests run it, under other back ends"]
fn child_process() {
    let options = KeygenOptions {
        params: Some("gates-toy".into()),
        research: true,
        insecure_seed: Some(5),
        ..Default::default()
    };
    match keygen(&options, &Control::default()).and_then(|(_, key)| Server::new(&key, Some(1))) {
        Ok(_) => println!("back end {}, {}", Backend::detect().unwrap(), fingerprints(1, 2)),
        Err(error) => println!("refused: {error}"),
    }
}

/// Known fingerprints would tie this to one parameter set; so those of each back end are compared with those of this process.
#[test]
fn a_program_gives_the_same_ciphertexts_on_any_back_end_and_thread_count() {
    let want = fingerprints(2, 1);
    for backend in backends() {
        let got = child(backend);
        assert!(got.contains(&format!("back end {backend}, {want}\n")), "{backend}: {got}, wanted {want}");
    }
}

#[test]
fn a_back_end_that_is_unknown_or_not_of_this_cpu_is_refused() {
    for backend in ["neon", "AVX2", "avx2 ", "scalar", "avx2", "avx512"] {
        if !backends().contains(&backend) {
            let got = child(backend);
            let choices = format!("choose one of {}, or unset SOLINAS_BACKEND", backends().join(", "));
            assert!(got.contains("refused: ") && got.contains(&choices), "{backend}: {got}");
        }
    }
}
