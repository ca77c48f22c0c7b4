//! Private keys encrypted with a passphrase: PKCS#8 with PBES2 (RFC 5958, section 3; RFC 8018, section 6.2).

use super::error::{Error, Result};
use der::asn1::{AnyRef, ObjectIdentifier, OctetStringRef};
use der::{Decode, Encode};
use pkcs8::pkcs5::pbes2::{Kdf, PBES2_OID, Parameters, Pbkdf2Params, ScryptParams};
use pkcs8::pkcs5::{EncryptionScheme, scrypt};
use pkcs8::{EncryptedPrivateKeyInfo, EncryptedPrivateKeyInfoRef};
use rand_core::RngCore;
use solinas_field::allocation::fallible;
use zeroize::Zeroizing;

/// Cost of scrypt for new keys: log2 N, r and p. It is a setting recommended by OWASP (2023). Its 16 MiB are within the
/// default limits of other programs.
const COST: (u8, u32, u32) = (14, 8, 5);
/// Largest number of PBKDF2 iterations accepted in a file.
const MOST_ITERATIONS: u32 = 10_000_000;
/// Largest memory of scrypt accepted in a file, in bytes.
const MOST_MEMORY: u64 = 1 << 28;
/// Largest work of scrypt accepted in a file: N * r * p, about a microsecond per unit. It is four times the work of
/// OWASP's strongest setting (N = 2^17, r = 8, p = 1).
const MOST_WORK: u64 = 1 << 22;
/// Block length of AES in bytes. The encryption adds at most one block.
const BLOCK: usize = 16;

/// Encrypts the DER of a PKCS#8 key with a passphrase, by scrypt and AES-256-CBC. Returns the DER of an
/// `EncryptedPrivateKeyInfo`.
///
/// # Errors
/// [`Error::Encryption`] if the encoder fails.
pub(super) fn lock(key: &[u8], passphrase: &[u8], rng: &mut impl RngCore) -> Result<Vec<u8>> {
    let (mut salt, mut iv) = ([0; 16], [0; BLOCK]);
    rng.fill_bytes(&mut salt);
    rng.fill_bytes(&mut iv);
    let (log_n, r, p) = COST;
    let cost = scrypt::Params::new(log_n, r, p).map_err(refused)?;
    let parameters = Parameters::generate_scrypt_aes256cbc(cost, &salt, iv).map_err(refused)?;
    let mut buffer = Zeroizing::new([key, &[0; BLOCK]].concat());
    let data = parameters.encrypt_in_place(passphrase, &mut buffer, key.len()).map_err(refused)?;
    let encrypted_data = OctetStringRef::new(data).map_err(refused)?;
    EncryptedPrivateKeyInfo { encryption_algorithm: parameters.into(), encrypted_data }.to_der().map_err(refused)
}

/// Decrypts an `EncryptedPrivateKeyInfo` with a passphrase. Returns the DER of the PKCS#8 key.
///
/// # Errors
/// [`Error::Passphrase`] if the passphrase does not decrypt the key. [`Error::Encryption`] for another method than
/// PBES2, or a cost that is out of range.
pub(super) fn unlock(der: &[u8], passphrase: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if let Some(oid) = algorithm(der).filter(|oid| *oid != PBES2_OID) {
        return Err(refused(format!("its algorithm is {oid}, not PBES2 ({PBES2_OID})")));
    }
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(refused)?;
    let EncryptionScheme::Pbes2(parameters) = info.encryption_algorithm else {
        return Err(refused("it is not PBES2"));
    };
    check_cost(&parameters.kdf)?;
    let mut buffer = Zeroizing::new(info.encrypted_data.as_bytes().to_vec());
    let key = parameters.decrypt_in_place(passphrase, &mut buffer).map_err(|_| Error::Passphrase)?;
    Ok(Zeroizing::new(key.to_vec()))
}

/// Returns the algorithm of an `EncryptedPrivateKeyInfo`, which is a SEQUENCE of an algorithm and an OCTET STRING.
/// `None` for other DER.
pub(super) fn algorithm(der: &[u8]) -> Option<ObjectIdentifier> {
    let info = spki::SubjectPublicKeyInfo::<AnyRef<'_>, &OctetStringRef>::from_der(der);
    info.ok().map(|info| info.algorithm.oid)
}

fn refused(detail: impl ToString) -> Error {
    Error::Encryption { detail: detail.to_string() }
}

/// Checks that decrypting an untrusted file takes at most seconds and [`MOST_MEMORY`], and that the scrypt library
/// cannot panic.
fn check_cost(kdf: &Kdf) -> Result<()> {
    match kdf {
        Kdf::Pbkdf2(Pbkdf2Params { iteration_count, .. }) if *iteration_count > MOST_ITERATIONS => {
            Err(refused(format!("PBKDF2 with {iteration_count} iterations, above {MOST_ITERATIONS}")))
        }
        Kdf::Pbkdf2(_) => Ok(()),
        Kdf::Scrypt(ScryptParams { cost_parameter, block_size, parallelization, .. }) => {
            let (n, r, p) = (*cost_parameter, u64::from(*block_size), u64::from(*parallelization));
            let memory = (128 * r).saturating_mul(n.saturating_add(p));
            let work = n.saturating_mul(r).saturating_mul(p);
            if n < 2 || !n.is_power_of_two() || r == 0 || p == 0 {
                return Err(refused(format!("scrypt with N = {n}, r = {r} and p = {p}")));
            }
            if memory > MOST_MEMORY {
                let [mib, most] = [memory, MOST_MEMORY].map(|bytes| bytes >> 20);
                let cost =
                    format!("scrypt with N = {n} and r = {r} needs {mib} MiB of memory, above the limit of {most} MiB");
                return Err(refused(cost));
            }
            if work > MOST_WORK {
                let cost = format!(
                    "scrypt with N = {n}, r = {r} and p = {p} does work N * r * p = {work}, above the limit of {MOST_WORK}"
                );
                return Err(refused(cost));
            }
            fallible(|| Vec::<u8>::new().try_reserve_exact(memory as usize))
                .map_err(|_| refused("scrypt needs more memory than is free"))
        }
        _ => Err(refused("the key derivation is not supported")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the reason why a key with this cost of scrypt is refused, or `None` if it is accepted.
    fn scrypt_is_refused(n: u64, r: u16, p: u16) -> Option<String> {
        let salt = [0; 16].as_slice().try_into().unwrap();
        let kdf = ScryptParams { salt, cost_parameter: n, block_size: r, parallelization: p, key_length: None };
        match check_cost(&kdf.into()) {
            Err(Error::Encryption { detail }) => Some(detail),
            other => {
                other.unwrap();
                None
            }
        }
    }

    #[test]
    fn costs_that_hang_exhaust_or_panic_are_refused() {
        for (n, r, p) in [(0, 8, 1), (1, 8, 1), (3, 8, 1), (1 << 14, 0, 1), (1 << 14, 8, 0)] {
            assert!(scrypt_is_refused(n, r, p).is_some(), "{n} {r} {p}");
        }
        for (n, r, p) in [(1 << 19, 8, 1), (1 << 63, 8, 1), (1 << 63, u16::MAX, u16::MAX)] {
            assert!(scrypt_is_refused(n, r, p).is_some_and(|detail| detail.contains("memory")), "{n} {r} {p}");
        }
        for (n, r, p) in [(1 << 14, 8, 127), (1 << 14, 8, 4000), (2, 1, u16::MAX), (1 << 17, 8, 5)] {
            let work = n * u64::from(r) * u64::from(p);
            let named = format!("N = {n}, r = {r} and p = {p} does work N * r * p = {work}, above the limit");
            let detail = scrypt_is_refused(n, r, p);
            assert_eq!(detail.is_some_and(|detail| detail.contains(&named)), work > MOST_WORK, "{n} {r} {p}");
        }
        // The settings of OpenSSL and of Solinas, and the strongest one of OWASP.
        for (n, r, p) in [(1 << 14, 8, 1), (1 << 14, 8, 5), (1 << 17, 8, 1)] {
            assert_eq!(scrypt_is_refused(n, r, p), None, "{n} {r} {p}");
        }
        let pbkdf2 = |iterations| check_cost(&Pbkdf2Params::hmac_sha256(iterations, &[0; 16]).unwrap().into());
        assert!(pbkdf2(600_000).is_ok() && pbkdf2(MOST_ITERATIONS + 1).is_err());
    }
}
