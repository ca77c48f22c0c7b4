//! RSA on the simulated exponentiator. Left out without the tools.

use crate::common::Place;
use crate::rsa::MESSAGE;

/// Whether models can be built.
pub(crate) fn tools() -> bool {
    match solinas_rtl::available() {
        Ok(_) => true,
        Err(error) => {
            solinas_testing::left_out("rtl", error);
            false
        }
    }
}

#[test]
fn the_simulated_circuit_decrypts_and_signs_as_the_processor_does() {
    if !tools() {
        return;
    }
    let place = Place::new();
    place.run("rsa keygen --research --bits 1024 --insecure-seed 4 -o key.pem --public public.pem");
    place.write("message", MESSAGE);
    place.openssl(
        "pkeyutl -encrypt -pubin -inkey public.pem -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -in message \
         -out message.rsa",
    );
    let output = place.command("rsa decrypt --research --key key.pem message.rsa --device rtl").assert().success();
    let cycles = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert!(output.get_output().stdout == MESSAGE.as_bytes() && cycles.contains("ms at 200 MHz"), "{cycles}");
    // Signatures of PKCS#1 v1.5 have no randomness.
    let sign = "rsa sign --research --key key.pem --padding pkcs1 message";
    place.run(&format!("{sign} -o cpu.sig"));
    let report = place.run(&format!("{sign} -o rtl.sig --device rtl --json"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert!(report["cycles"].as_u64().is_some_and(|cycles| cycles > 100_000), "{report}");
    assert!(place.read("cpu.sig") == place.read("rtl.sig"));
}

#[test]
fn other_devices_and_methods_are_refused() {
    let place = Place::with_rsa_key();
    for (options, code, want) in [
        ("--device emulated", 2, "RSA runs on the devices cpu and rtl"),
        ("--device cuda:0", 2, "RSA runs on the devices cpu and rtl"),
        ("--device gpu", 1, "unknown device"),
        ("--device rtl --method fft", 2, "the device rtl has one method of multiplication"),
    ] {
        let message = place.fail(&format!("rsa sign --key key.pem message -o s.sig {options}"), code);
        assert!(message.contains(want), "{options}: {message}");
    }
    // The place of the result is checked before the simulation, and before the tools are looked for.
    let message = place.fail("rsa sign --key key.pem message -o none/s.sig --device rtl", 1);
    assert!(message.contains("cannot write none/s.sig"), "{message}");
    assert_eq!(place.files(), ["key.pem", "message", "public.pem"]);
}
