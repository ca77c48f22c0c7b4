//! The device of a server.

use crate::common::Place;

#[test]
fn devices_that_do_not_exist_are_refused_with_the_fix() {
    let place = Place::new();
    place.encrypt("bool", "1", "a.ct");
    for device in ["gpu", "cuda", "cuda:x", ""] {
        let output = place.command("eval --key SERVER not a.ct -o r.ct --device").arg(device).assert().code(1);
        let message = String::from_utf8(output.get_output().stderr.clone()).unwrap();
        assert!(message.contains(&format!("unknown device {device:?}")) && message.contains("cuda:0"), "{message}");
    }
    let message = place.fail("eval --key SERVER not a.ct -o r.ct --device cuda:99", 1);
    assert!(message.contains("no CUDA device"), "{message}");
    let output = place.command("eval --key SERVER not a.ct -o r.ct").env("SOLINAS_DEVICE", "gpu").assert().code(1);
    assert!(String::from_utf8_lossy(&output.get_output().stderr).contains("unknown device \"gpu\""));
    let message = place.fail("demo --device gpu", 1);
    assert!(message.contains("unknown device \"gpu\""), "{message}");
    assert_eq!(place.files(), ["a.ct"]);
}

#[test]
fn other_schemes_run_on_the_processor_alone() {
    let place = Place::new();
    place.run("keygen --scheme ntru --params tight-512-20 --research --out n");
    place.run("encrypt --key n/client.key --type bool 1 -o a.ct");
    let message = place.fail("eval --key n/server.key not a.ct -o r.ct --device emulated", 1);
    assert!(message.contains("scheme ntru does not run on the device emulated"), "{message}");
    place.run("eval --key n/server.key not a.ct -o r.ct --device auto");
    assert_eq!(place.run("decrypt --key n/client.key r.ct"), "false\n");
}

#[test]
fn lwe_keys_evaluate_on_a_device_with_the_same_bytes() {
    let place = Place::new();
    place.run("keygen --scheme lwe --params leveled-16-2 --research --out l");
    place.run("encrypt --key l/client.key --type u2 3 -o a.ct");
    place.run("encrypt --key l/client.key --type u2 2 -o b.ct");
    for device in ["cpu", "emulated"] {
        place.run(&format!("eval --key l/server.key add a.ct b.ct -o {device}.ct --threads 2 --device {device}"));
    }
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(read("cpu.ct"), read("emulated.ct"));
    assert_eq!(place.run("decrypt --key l/client.key emulated.ct"), "1\n");
}

#[test]
fn a_device_changes_no_byte_of_a_result() {
    let place = Place::new();
    place.encrypt("u2", "3", "a.ct");
    place.encrypt("u2", "2", "b.ct");
    for device in ["cpu", "auto", "emulated"] {
        place.run(&format!("eval --key SERVER add a.ct b.ct -o {device}.ct --threads 2 --device {device}"));
    }
    let read = |name: &str| std::fs::read(place.path(name)).unwrap();
    assert_eq!(read("cpu.ct"), read("auto.ct"));
    assert_eq!(read("cpu.ct"), read("emulated.ct"));
    assert_eq!(place.run("decrypt --key CLIENT emulated.ct"), "1\n");
}
