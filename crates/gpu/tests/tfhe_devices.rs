//! Bootstraps on several devices, and on devices that fail.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::tfhe::{Engines, Sessions};
use solinas_gpu::{Device, DeviceOptions, Error, Faults};
use solinas_schemes::DeviceName;
use solinas_schemes::tfhe::{Evaluator, LookupTable, LweCiphertext, SlotBootstrap, Slots, Sum};

/// A key of the gates with a small LWE dimension.
fn evaluator() -> Evaluator {
    solinas_gpu_lab::checks::tfhe::evaluator("gates-128", Some(9)).unwrap()
}

/// Three waves of `jobs` bootstraps each, in which every bootstrap reads outputs of two others of the wave before.
fn waves(engines: &Engines, words: usize, jobs: u32) -> Result<Vec<LweCiphertext>, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut session = Sessions::new(engines, 4 * jobs as usize, jobs as usize, &[LookupTable::Sign])?;
    let values: Vec<LweCiphertext> =
        (0..jobs).map(|_| LweCiphertext::from_words((0..words).map(|_| rng.next_u32()).collect())).collect();
    session.write(&(0..jobs).zip(&values).collect::<Vec<_>>())?;
    for wave in 0..3 {
        let value = |job: u32| wave * jobs + job % jobs;
        let task = |job| SlotBootstrap {
            argument: Sum { terms: vec![(value(job), 1), (value(7 * job + 1), -3)], constant: job << 27 },
            table: 0,
            outputs: vec![value(job) + jobs],
        };
        session.bootstrap(&(0..jobs).map(task).collect::<Vec<_>>())?;
    }
    Ok(session.read(&(0..4 * jobs).map(|slot| Sum { terms: vec![(slot, 1)], constant: 0 }).collect::<Vec<_>>())?)
}

#[test]
fn the_number_of_devices_changes_no_word() {
    let evaluator = evaluator();
    let words = evaluator.params().big_dimension() + 1;
    let run = |name: DeviceName, jobs| {
        let devices = Device::open_all(&name, DeviceOptions::default()).unwrap();
        waves(&Engines::new(&devices, &evaluator).unwrap(), words, jobs).unwrap()
    };
    for jobs in [1, 2, 7] {
        let one = run(DeviceName::Emulated(1), jobs);
        for count in [2, 3] {
            assert!(run(DeviceName::Emulated(count), jobs) == one, "{jobs} jobs on {count} devices");
        }
    }
}

#[test]
fn a_device_that_is_lost_at_any_operation_fails_cleanly() {
    let evaluator = evaluator();
    let words = evaluator.params().big_dimension() + 1;
    let mut failures = 0;
    for lost_at in (0..).step_by(5) {
        let faults = Faults { lost_at: Some(lost_at), ..Faults::default() };
        let devices = [Device::emulated(DeviceOptions::default()), Device::faulty(DeviceOptions::default(), faults)];
        let result = Engines::new(&devices, &evaluator).and_then(|engines| waves(&engines, words, 3));
        match result {
            Ok(_) => break,
            Err(Error::Driver { problem, .. }) => assert!(problem.contains("lost"), "{problem}"),
            Err(error) => panic!("operation {lost_at}: {error}"),
        }
        failures += 1;
        assert_eq!(devices.each_ref().map(Device::has_failed), [false, true], "operation {lost_at}");
        // The memory of both devices came back, although one of them takes no calls.
        assert!(devices.iter().all(|device| device.live_bytes() == 0), "operation {lost_at}");
    }
    assert!(failures > 8, "only {failures} places");
}

#[test]
fn a_device_without_memory_at_any_allocation_says_so() {
    let evaluator = evaluator();
    let words = evaluator.params().big_dimension() + 1;
    let mut failures = 0;
    for full_at in 0.. {
        let device = Device::faulty(DeviceOptions::default(), Faults { full_at: Some(full_at), ..Faults::default() });
        let result =
            Engines::new(std::slice::from_ref(&device), &evaluator).and_then(|engines| waves(&engines, words, 3));
        match result {
            Ok(_) => break,
            Err(error @ Error::Memory { .. }) => assert!(error.to_string().contains("bytes on"), "{error}"),
            Err(error) => panic!("allocation {full_at}: {error}"),
        }
        failures += 1;
        assert_eq!(device.live_bytes(), 0, "allocation {full_at}");
    }
    assert!(failures >= 1, "no allocation was refused");
}

#[test]
fn one_device_is_opened_where_one_is_meant() {
    let open = |name: &str| Device::open(name.parse().unwrap(), DeviceOptions::default());
    assert!(open("emulated:1").unwrap().is_some());
    let error = open("emulated:2").unwrap_err();
    assert_eq!(error, Error::SeveralDevices { name: "emulated:2".into(), count: 2 });
    // A machine without a driver has no list, and one with a driver lists what opens.
    match solinas_gpu::gpus() {
        Ok(gpus) => {
            for gpu in gpus {
                let opened = Device::open(DeviceName::cuda(gpu.number), DeviceOptions::default());
                assert_eq!(opened.err(), gpu.problem, "cuda:{}", gpu.number);
            }
        }
        Err(error) => assert!(matches!(error, Error::NoCuda | Error::NoDriver | Error::OldDriver { .. }), "{error}"),
    }
}
