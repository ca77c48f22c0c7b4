//! Streams, buffers and the pool on the emulated device.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};
use solinas_gpu::{Buffer, Device, DeviceOptions, Error, HostBuffer, Stream};
use solinas_schemes::DeviceName;

fn device(seed: u64, memory: Option<u64>) -> Device {
    Device::emulated(DeviceOptions { memory, seed })
}

/// A buffer, and the values that it holds after all operations so far. A new buffer holds none.
struct Twin {
    buffer: Buffer<u32>,
    values: Vec<Option<u32>>,
}

/// Random operations on three streams, with buffers that come and go. The values that are read are those of the
/// operations in the order of their submission.
#[test]
fn any_interleaving_of_streams_gives_the_results_of_the_order_of_calls() {
    for seed in 0..100 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut below = |n: usize| rng.next_u32() as usize % n;
        let device = device(seed, Some(64 << 20));
        let streams: Vec<Stream> = (0..3).map(|_| Stream::new(&device).unwrap()).collect();
        let mut twins: Vec<Twin> = Vec::new();
        for step in 0..200u32 {
            let stream = &streams[below(3)];
            if twins.len() < 2 || twins.len() < 8 && below(4) == 0 {
                let len = 1 + below(200);
                twins.push(Twin { buffer: stream.buffer(len, "a test").unwrap(), values: vec![None; len] });
                continue;
            }
            let which = below(twins.len());
            let len = twins[which].values.len();
            match below(8) {
                0 => drop(twins.swap_remove(which)),
                1 | 2 => {
                    let at = below(len);
                    let values: Vec<u32> = (0..1 + below(len - at) as u32).map(|i| 1000 * step + i).collect();
                    stream.write(&twins[which].buffer, at, &values).unwrap();
                    let written = values.iter().map(|&value| Some(value));
                    twins[which].values.splice(at..at + values.len(), written);
                }
                3 => {
                    stream.fill(&twins[which].buffer, step as u8).unwrap();
                    twins[which].values.fill(Some(u32::from_ne_bytes([step as u8; 4])));
                }
                4 | 5 => {
                    let to = below(twins.len());
                    let len = 1 + below(len.min(twins[to].values.len()));
                    let values = twins[which].values[..len].to_vec();
                    if to != which && values.iter().all(Option::is_some) {
                        stream.copy((&twins[which].buffer, 0), (&twins[to].buffer, 0), len).unwrap();
                        twins[to].values.splice(..len, values);
                    }
                }
                6 => stream.synchronize().unwrap(),
                _ => check(stream, &twins[which], seed),
            }
        }
        for twin in &twins {
            check(&streams[below(3)], twin, seed);
        }
        drop(twins);
        assert_eq!(device.live_bytes(), 0, "seed {seed}");
    }
}

/// Reads all values that the buffer holds, up to the first one that it does not.
fn check(stream: &Stream, twin: &Twin, seed: u64) {
    let want: Vec<u32> = twin.values.iter().map_while(|&value| value).collect();
    let mut values = vec![0; want.len()];
    stream.read(&twin.buffer, 0, &mut values).unwrap();
    assert_eq!(values, want, "seed {seed}");
}

#[test]
fn a_new_buffer_holds_no_values() {
    let device = device(0, None);
    let stream = Stream::new(&device).unwrap();
    let old = stream.buffer_of(&[5u64; 10], "a test").unwrap();
    stream.synchronize().unwrap();
    drop(old);
    let new = stream.buffer::<u64>(10, "a test").unwrap();
    stream.write(&new, 0, &[1; 9]).unwrap();
    let error = stream.read(&new, 0, &mut [0; 10]).unwrap_err();
    assert!(error.to_string().contains("uninitialised"), "{error}");
    assert_eq!(stream.synchronize(), Err(error), "the first error stays");
}

#[test]
fn copies_stay_within_buffers() {
    let device = device(0, None);
    let stream = Stream::new(&device).unwrap();
    let buffer = stream.buffer_of(&[1u32, 2, 3], "a test").unwrap();
    for at in [1, 3, usize::MAX] {
        assert!(matches!(stream.write(&buffer, at, &[0; 3]), Err(Error::Launch { .. })));
        assert!(matches!(stream.read(&buffer, at, &mut [0; 3]), Err(Error::Launch { .. })));
    }
    let mut values = [0; 3];
    stream.read(&buffer, 0, &mut values).unwrap();
    assert_eq!(values, [1, 2, 3]);
}

/// Arrays of one to four parts of the memory in between, in turn on two streams, onto each other.
#[test]
fn long_arrays_arrive_in_the_order_of_the_calls() {
    for seed in 0..3 {
        let device = device(seed, None);
        let streams = [Stream::new(&device).unwrap(), Stream::new(&device).unwrap()];
        let len = (13 << 17) + 1;
        let buffer = streams[0].buffer::<u64>(len, "a test").unwrap();
        let mut expected = vec![0; len];
        for (step, (at, part)) in
            [(0, len), (5, 8193), (600_000, 1 << 20), (3, 8192), (1, 1 << 19)].into_iter().enumerate()
        {
            let values: Vec<u64> = (0..part as u64).map(|i| i * i + step as u64).collect();
            streams[step % 2].write(&buffer, at, &values).unwrap();
            expected[at..at + part].copy_from_slice(&values);
        }
        let mut found = vec![0; len];
        streams[0].read(&buffer, 0, &mut found).unwrap();
        assert!(found == expected, "seed {seed}");
    }
}

/// Page-locked memory is filled again and again, while copies from it wait on two streams.
#[test]
fn copies_from_page_locked_memory_take_the_values_of_their_call() {
    for seed in 0..20 {
        let device = device(seed, None);
        let streams: Vec<Stream> = (0..2).map(|_| Stream::new(&device).unwrap()).collect();
        let buffer = streams[0].buffer::<u64>(100, "a test").unwrap();
        let mut host = HostBuffer::<u64>::new(&device, 8, "a test").unwrap();
        assert_eq!(host.values_mut().unwrap(), [0; 8]);
        for step in 0..10 {
            host.values_mut().unwrap().fill(step);
            // The two copies overlap in five values.
            streams[0].write_from(&buffer, 10 * step as usize, &mut host, 8).unwrap();
            streams[1].write_from(&buffer, 10 * step as usize + 3, &mut host, 7).unwrap();
        }
        let mut values = [0; 100];
        streams[1].read(&buffer, 0, &mut values).unwrap();
        assert_eq!(values, std::array::from_fn(|i| i as u64 / 10), "seed {seed}");
    }
}

#[test]
fn copies_from_page_locked_memory_stay_within_it() {
    let device = device(0, None);
    let stream = Stream::new(&device).unwrap();
    let buffer = stream.buffer::<u32>(5, "a test").unwrap();
    let mut host = HostBuffer::<u32>::new(&device, 3, "a test").unwrap();
    let mut of_another = HostBuffer::<u32>::new(&self::device(0, None), 3, "a test").unwrap();
    let refused = |at: usize, host: &mut HostBuffer<u32>, len: usize| {
        matches!(stream.write_from(&buffer, at, host, len), Err(Error::Launch { .. }))
    };
    assert!(refused(0, &mut host, 4) && refused(3, &mut host, 3) && refused(usize::MAX, &mut host, 1));
    assert!(refused(0, &mut of_another, 1));
    assert!(!refused(2, &mut host, 3));
    let too_much = HostBuffer::<u64>::new(&device, usize::MAX, "too much").unwrap_err();
    assert!(matches!(&too_much, Error::HostMemory { .. }) && too_much.to_string().contains("page-locked"));
}

#[test]
fn memory_that_is_missing_is_named() {
    let device = device(0, Some(100 << 20));
    let stream = Stream::new(&device).unwrap();
    let half = stream.buffer::<u8>(60 << 20, "half").unwrap();
    let error = stream.buffer::<u8>(60 << 20, "the other half").unwrap_err();
    let Error::Memory { what, need, free, limit, .. } = &error else { panic!("{error}") };
    assert_eq!((what.as_str(), *need, *free, *limit), ("the other half", 60 << 20, 40 << 20, 100 << 20));
    assert!(error.to_string().contains("62914560 bytes"), "{error}");
    drop(half);
    // Memory of another size comes back to the device first.
    stream.buffer::<u8>(90 << 20, "nearly all").unwrap();
    assert_eq!(device.peak_bytes(), 90 << 20);
    assert!(matches!(stream.buffer::<u64>(usize::MAX, "too much"), Err(Error::Memory { .. })));
}

#[test]
fn devices_open_by_name_or_say_what_is_missing() {
    let open = |name: DeviceName| Device::open(name, DeviceOptions::default());
    assert!(open(DeviceName::Cpu).unwrap().is_none());
    assert_eq!(open(DeviceName::Emulated(1)).unwrap().unwrap().info().name, "the emulated device");
    match open(DeviceName::cuda(99)) {
        Err(error @ (Error::NoCuda | Error::NoDriver | Error::NoDevice { .. })) => {
            assert!(error.to_string().starts_with("no CUDA device"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    // A machine with a GPU opens it; others take the processor.
    assert!(open(DeviceName::Auto).is_ok());
}

#[test]
fn buffers_and_streams_of_two_devices_do_not_mix() {
    let (a, b) = (Stream::new(&device(1, None)).unwrap(), Stream::new(&device(2, None)).unwrap());
    let (of_a, of_b) = (a.buffer_of(&[1u32; 4], "a test").unwrap(), b.buffer_of(&[2u32; 4], "a test").unwrap());
    let refused = |result: Result<(), Error>| {
        assert!(result.is_err_and(|error| error.to_string().contains("belongs to another device")));
    };
    refused(a.write(&of_b, 0, &[3]));
    refused(a.fill(&of_b, 0));
    refused(a.copy((&of_a, 0), (&of_b, 0), 4));
    refused(a.copy((&of_b, 0), (&of_a, 0), 4));
    let mut out = [0; 4];
    refused(a.read(&of_b, 0, &mut out));
    a.read(&of_a, 0, &mut out).unwrap();
    assert_eq!(out, [1; 4]);
}
