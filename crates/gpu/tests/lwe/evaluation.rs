//! Evaluation of LWE ciphertexts with products on the device.

use solinas_gpu::lwe::Engine;
use solinas_gpu::{Device, DeviceOptions};
use solinas_schemes::lwe::{ClientKey, Evaluator, Params};
use solinas_schemes::{Control, Entropy, Error, Evaluate};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[test]
fn evaluation_gives_the_ciphertexts_of_the_processor() {
    let params = Params::named("leveled-16-2").unwrap();
    let control = Control::default();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(1), &control).unwrap();
    let seeded = client.server_key(&control).unwrap();
    let expanded = client.server_key(&control).unwrap().expand(u64::MAX).unwrap();
    let bits = [true, true, false, true];
    let bits = client.public().encrypt(&bits, &mut client.public().encryption_rng(0).unwrap()).unwrap();
    let pairs: Vec<_> = [(0, 1), (1, 2), (0, 3)].iter().map(|&(x, y)| (&bits[x], &bits[y])).collect();
    for key in [&seeded, &expanded] {
        let processor = Evaluator::new(key).unwrap();
        let device = Device::emulated(DeviceOptions::default());
        let engine = Arc::new(Engine::new(&device).unwrap());
        let evaluator = Evaluator::new(key).unwrap().with_backend(engine);
        assert_eq!(device.peak_bytes(), 0);
        let products = evaluator.multiply_batch(&pairs, &control).unwrap();
        assert_eq!(products, processor.multiply_batch(&pairs, &control).unwrap());
        assert!(device.peak_bytes() > 0, "the device computed");
        assert_eq!(products.iter().map(|x| client.decrypt(x).unwrap()).collect::<Vec<_>>(), [true, false, true]);
        let dropped = evaluator.drop_level(&bits[2]).unwrap();
        assert_eq!(dropped, processor.drop_level(&bits[2]).unwrap());
        let product = evaluator.multiply(&products[0], &dropped).unwrap();
        assert_eq!(product, processor.multiply(&products[0], &dropped).unwrap());
        assert!(evaluator.multiply_part(&pairs, 64).unwrap() < 1.0);

        let stop = AtomicBool::new(true);
        let cancelled = evaluator.multiply_batch(&pairs, &Control { progress: None, cancel: Some(&stop) });
        assert!(matches!(cancelled, Err(Error::Cancelled(_))));
        assert_eq!(device.live_bytes(), 0);
    }
}

#[test]
fn a_device_without_memory_is_an_error_that_names_the_bytes() {
    let params = Params::named("leveled-16-2").unwrap();
    let control = Control::default();
    let client = ClientKey::generate(&params, true, Entropy::Insecure(2), &control).unwrap();
    let key = client.server_key(&control).unwrap();
    let bits = client.public().encrypt(&[true; 2], &mut client.public().encryption_rng(0).unwrap()).unwrap();
    let device = Device::emulated(DeviceOptions { memory: Some(1000), ..DeviceOptions::default() });
    let evaluator = Evaluator::new(&key).unwrap().with_backend(Arc::new(Engine::new(&device).unwrap()));
    let error = evaluator.multiply(&bits[0], &bits[1]).unwrap_err();
    let Error::Device(device) = &error else { panic!("{error}") };
    assert!(matches!(device.get(), Some(solinas_gpu::Error::Memory { limit: 1000, .. })));
    let message = error.to_string();
    assert!(message.contains("bytes on the emulated device, which has 1000 bytes free"), "{message}");
}
