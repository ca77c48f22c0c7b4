//! Matrices in files, and stored products with them, from untrusted bytes. A reader returns typed errors and never panics. Accepted work can continue.

use std::path::PathBuf;
use std::sync::LazyLock;

use solinas_schemes::Control;
use solinas_schemes::Error;
use solinas_schemes::lwe::{KeyFile, Layout, Modulus, SeededMatrix, Selection, StreamedProduct, Vector};

/// A matrix, and its products with vectors and with selections.
static FILES: LazyLock<[Vec<u8>; 3]> = LazyLock::new(|| {
    let modulus = Modulus::of_primes(2, 31).expect("primes");
    let layout = Layout::new(40, 3, &modulus).expect("a shape");
    let seeded = SeededMatrix::new(layout, &modulus, &[9; 32]).expect("a matrix");
    let place = Place::new("seed");
    let mut matrix = Vec::new();
    let out = |bytes: &[u8]| {
        matrix.extend_from_slice(bytes);
        Ok::<_, Error>(())
    };
    KeyFile::write(&seeded, [1; 32], out, &Control::default()).expect("a file");
    std::fs::write(&place.matrix, &matrix).expect("room for a file");
    let file = KeyFile::open(&place.matrix).expect("a file");
    let vectors = vec![Vector::from_signed(&modulus, &[1; 40]); 2];
    let products = [
        StreamedProduct::multiply(&file, vectors).expect("a product"),
        StreamedProduct::select(&file, vec![Selection::from_bits(&[true; 40])]).expect("a product"),
    ];
    let [multiplied, selected] = products.map(|mut product| {
        // The sums are partly computed.
        product.run(|_| Ok(false)).expect("a piece");
        product.state().to_vec()
    });
    [matrix, multiplied, selected]
});

/// Paths of this process, removed when dropped.
struct Place {
    matrix: PathBuf,
    state: PathBuf,
}

impl Place {
    fn new(name: &str) -> Self {
        let thread = std::thread::current().id();
        let path = |end: &str| {
            std::env::temp_dir().join(format!("solinas-fuzz-{}-{thread:?}-{name}.{end}", std::process::id()))
        };
        Self { matrix: path("matrix"), state: path("state") }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A file that was never written needs no removal.
        for path in [&self.matrix, &self.state] {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The first byte selects the file to change. The second byte decides whether its hash is corrected. Changes of three bytes follow: an offset (two bytes) and a
/// value.
pub fn run(data: &[u8]) {
    let [which, mend, changes @ ..] = data else { return };
    let mut files = FILES.clone();
    let file = usize::from(*which) % 3;
    let bytes = &mut files[file];
    for change in changes.chunks_exact(3) {
        let (place, value) = (usize::from(change[0]) | usize::from(change[1]) << 8, change[2]);
        match place % (bytes.len() + 1) {
            at if at < bytes.len() => bytes[at] ^= value,
            _ => bytes.truncate(bytes.len().saturating_sub(value.into())),
        }
    }
    if let (1, Some(end)) = (mend & 1, bytes.len().checked_sub(32)) {
        let hash = if file > 0 { blake3::hash(&bytes[..end]) } else { seal(&bytes[..end]) };
        bytes[end..].copy_from_slice(hash.as_bytes());
    }
    let place = Place::new("run");
    std::fs::write(&place.matrix, &files[0]).expect("room for a file");
    let Ok(matrix) = KeyFile::open(&place.matrix) else { return };
    let sound = matrix.verify().is_ok();
    for state in &files[1..] {
        std::fs::write(&place.state, state).expect("room for a file");
        let Ok(mut product) = StreamedProduct::resume(&matrix, &place.state) else { continue };
        let (done, all) = product.progress();
        assert!(done <= all);
        assert!(product.run(|_| Ok(true)).is_ok() || !sound, "a product that cannot continue");
    }
}

/// The hash of the header and of the table, which comes after the pieces.
fn seal(bytes: &[u8]) -> blake3::Hash {
    // The header, and a hash for each of two pieces: a block of columns modulo each of two words.
    let (header, table) = (bytes.get(..4096).unwrap_or(bytes), bytes.len().saturating_sub(64));
    let mut hasher = blake3::Hasher::new_derive_key("solinas 2026 lwe matrix file");
    hasher.update(header).update(&bytes[table..]);
    hasher.finalize()
}

/// Each file, unchanged and with changes.
pub fn seeds() -> Vec<Vec<u8>> {
    let plain = (0..3).map(|file| vec![file, 1]);
    // Numbers in the header of a matrix; kind, count and pieces of a state.
    let places = [(0, 20), (0, 28), (0, 64), (1, 52), (1, 60), (1, 66), (1, 67), (1, 68), (2, 60), (2, 200)];
    plain.chain(places.map(|(file, at)| vec![file, 1, at, 0, 0x80])).collect()
}
