//! Streaming: killed, resumed, damaged.

use std::fs;
use std::path::{Path, PathBuf};

use crate::lwe::fresh::{ClientKey, Params};
use crate::lwe::*;
use crate::random::SecretSeed;
use crate::{Control, Entropy, Progress};
use std::sync::atomic::{AtomicBool, Ordering};

/// A folder of its own, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("solinas-lwe-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a matrix to a file, unless it is cancelled.
fn write(path: &Path, source: &impl Source, control: &Control<'_>) -> Result<(), Error> {
    let mut bytes = Vec::new();
    let out = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok::<_, Error>(())
    };
    KeyFile::write(source, [1; 32], out, control)?;
    fs::write(path, bytes).unwrap();
    Ok(())
}

/// Two blocks of columns, three pieces of rows: 12 pieces.
fn matrix() -> SeededMatrix {
    let modulus = Modulus::of_primes(2, 31).unwrap();
    SeededMatrix::new(Layout::new(5000, 1100, &modulus).unwrap(), &modulus, &[9; 32]).unwrap()
}

#[test]
fn a_streamed_product_is_stopped_and_resumed_at_every_piece_without_loss() {
    let folder = Folder::new("resume");
    let (path, state) = (folder.0.join("a.tiles"), folder.0.join("a.state"));
    let seeded = matrix();
    // Larger than what is allowed.
    assert!(matches!(Matrix::expand(&seeded, 10 << 20), Err(Error::Memory { .. })));
    write(&path, &seeded, &Control::default()).unwrap();
    let file = KeyFile::open(&path).unwrap();
    let mut rng = SecretSeed::insecure(5).stream(0);
    let vectors = vec![Vector::uniform(file.modulus(), 5000, &mut rng); 2];
    let selections =
        || (0..2).map(|k| Selection::uniform(5000, &mut SecretSeed::insecure(6).stream(k))).collect::<Vec<_>>();
    let multiplier = Multiplier::new().unwrap();
    let wanted = [
        multiplier.multiply(&seeded, &vectors).unwrap(),
        multiplier.select(&seeded, &selections(), Access::Masked).unwrap(),
    ];
    for (kind, want) in wanted.into_iter().enumerate() {
        let begin = || match kind {
            0 => StreamedProduct::multiply(&file, vectors.clone()),
            _ => StreamedProduct::select(&file, selections()),
        };
        let mut product = begin().unwrap();
        assert_eq!(product.progress(), (0, 12));
        product.run(|_| Ok(true)).unwrap();
        assert_eq!(product.into_products().unwrap(), want);
        // Every piece by another product, as if the process before it had been killed after its save.
        fs::write(&state, &*begin().unwrap().state()).unwrap();
        for done in 1..=12 {
            let mut product = StreamedProduct::resume(&file, &state).unwrap();
            product
                .run(|product| {
                    fs::write(&state, &*product.state()).unwrap();
                    Ok(false)
                })
                .unwrap();
            assert_eq!(product.progress(), (done, 12));
        }
        let product = StreamedProduct::resume(&file, &state).unwrap();
        assert_eq!(product.into_products().unwrap(), want);
        let unfinished = begin().unwrap().into_products();
        assert!(matches!(unfinished, Err(Error::Cancelled { .. })));
    }
}

#[test]
fn damage_is_found() {
    let folder = Folder::new("damage");
    let (path, state) = (folder.0.join("a.tiles"), folder.0.join("a.state"));
    let cancel = AtomicBool::new(false);
    let stop = |progress: Progress| cancel.store(progress.done >= 3, Ordering::Relaxed);
    let stopped = write(&path, &matrix(), &Control { progress: Some(&stop), cancel: Some(&cancel) });
    assert!(matches!(stopped, Err(Error::Cancelled { .. })));
    write(&path, &matrix(), &Control::default()).unwrap();
    let good = fs::read(&path).unwrap();
    let selection = || Selection::from_bits(&[true; 5000]);
    for at in [0, 17, 21, 40, 66, 100, good.len() - 1, good.len() - 60] {
        let mut bad = good.clone();
        bad[at] ^= 4;
        fs::write(&path, &bad).unwrap();
        assert!(matches!(KeyFile::open(&path), Err(Error::File { .. })), "byte {at}");
    }
    fs::write(&path, &good[..good.len() - 1]).unwrap();
    assert!(KeyFile::open(&path).is_err());
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&path, &bad).unwrap();
    let file = KeyFile::open(&path).unwrap();
    let mut product = StreamedProduct::select(&file, vec![selection()]).unwrap();
    let error = product.run(|_| Ok(true)).unwrap_err().to_string();
    assert!(error.contains("not what was written"), "{error}");
    // The work before the damage is kept: the product continues with the undamaged file.
    fs::write(&state, &*product.state()).unwrap();
    fs::write(&path, &good).unwrap();
    let mut product = StreamedProduct::resume(&file, &state).unwrap();
    assert!(product.progress().0 > 0);
    product.run(|_| Ok(true)).unwrap();
    let want = Multiplier::new().unwrap().select(&matrix(), &[selection()], Access::Masked).unwrap();
    assert_eq!(product.into_products().unwrap(), want);
    let good = fs::read(&state).unwrap();
    for at in (0..good.len()).step_by(good.len() / 50) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&state, &bad).unwrap();
        assert!(matches!(StreamedProduct::resume(&file, &state), Err(Error::File { .. })), "byte {at}");
    }
    for len in [0, 10, 40, 100, good.len() - 1] {
        fs::write(&state, &good[..len]).unwrap();
        assert!(StreamedProduct::resume(&file, &state).is_err());
    }
}

#[test]
fn bits_are_encrypted_by_a_streamed_key() {
    let folder = Folder::new("encrypt");
    let client =
        ClientKey::generate(&Params::named("toy-256-8").unwrap(), true, Entropy::Insecure(1), &Control::default())
            .unwrap();
    let public = client.public();
    let (path, mut bytes) = (folder.0.join("key"), Vec::new());
    let out = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok::<_, Error>(())
    };
    public.write(out, &Control::default()).unwrap();
    fs::write(&path, bytes).unwrap();
    let file = KeyFile::open(&path).unwrap();
    let mut rng = public.encryption_rng(0).unwrap();
    let messages = [true, false, true];
    let mut product = StreamedProduct::select(&file, public.selections(3, &mut rng)).unwrap();
    product.run(|_| Ok(true)).unwrap();
    let ciphertexts = public.complete(product, &messages, &mut rng).unwrap();
    for (ciphertext, message) in ciphertexts.iter().zip(messages) {
        assert_eq!(client.decrypt(ciphertext).unwrap(), message);
    }
    let other =
        ClientKey::generate(&Params::named("toy-256-8").unwrap(), true, Entropy::Insecure(2), &Control::default())
            .unwrap();
    let product = StreamedProduct::select(&file, public.selections(1, &mut rng)).unwrap();
    assert!(matches!(other.public().complete(product, &[true], &mut rng), Err(Error::KeyMismatch { .. })));
}
