//! The peers, found on this machine at run time. Nothing of theirs is linked or shipped.

mod flint;
pub mod malachite;

pub use bench_common::Gmp;
pub use bench_common::crypto::Crypto;
pub use flint::Flint;

/// The peers that were found.
pub struct Peers {
    /// GMP: the reference of all results as well.
    pub gmp: Option<Gmp>,
    /// FLINT, perhaps in several versions.
    pub flint: Vec<Flint>,
    /// OpenSSL's libcrypto.
    pub crypto: Option<Crypto>,
}

impl Peers {
    /// Looks for all peers.
    pub fn find() -> Self {
        Self { gmp: Gmp::find(), flint: Flint::find(), crypto: Crypto::find() }
    }

    /// One line for each peer: its version, or how to get it.
    pub fn lines(&self) -> Vec<String> {
        let missing = |name: &str, how: &str| format!("{name}: not found; {how}");
        let mut lines = Vec::new();
        lines.push(match &self.gmp {
            Some(gmp) => format!("GMP {}", gmp.version()),
            None => missing("GMP", "install libgmp (Debian: libgmp10)"),
        });
        lines.extend(self.flint.iter().map(|flint| match flint.has_fft_small() {
            true => format!("{} with fft_small", flint.column()),
            false => format!("{} without fft_small: ./flint.sh builds one that has it", flint.column()),
        }));
        if self.flint.is_empty() {
            let how = "build it with ./flint.sh and name the library in SOLINAS_FLINT=/path/to/libflint.so (README.md)";
            lines.push(missing("FLINT", how));
        }
        lines.push(match &self.crypto {
            Some(crypto) => crypto.version(),
            None => missing("OpenSSL", "install libcrypto (Debian: libssl3)"),
        });
        lines.push(malachite::VERSION.into());
        lines
    }
}
