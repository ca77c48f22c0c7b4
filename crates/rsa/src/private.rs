//! The private key: decryption and signatures.

use super::KeyUse;
use super::backend::{Backend, Power};
use super::error::{Error, Result};
use super::padding::rejection::Alternative;
use super::padding::{EncryptionPadding, SignaturePadding, oaep, pkcs1, pss};
use super::public::{PublicKey, rng};
use super::ring::{Method, Ring};
use super::secret::{WipeScratch, both};
use rand_core::RngCore;
use solinas_bigint::Natural;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use zeroize::Zeroizing;

/// The secret numbers of a key (RFC 8017, 3.2).
pub(super) struct Parts {
    /// `e^-1` modulo `lcm(p - 1, q - 1)`.
    pub(super) d: Zeroizing<Natural>,
    pub(super) p: Zeroizing<Natural>,
    pub(super) q: Zeroizing<Natural>,
    /// `d mod (p - 1)`.
    pub(super) dp: Zeroizing<Natural>,
    /// `d mod (q - 1)`.
    pub(super) dq: Zeroizing<Natural>,
    /// `q^-1 mod p`.
    pub(super) qinv: Zeroizing<Natural>,
}

/// How private operations are computed. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Execution {
    /// The multiplication. Defaults to the one that was measured fastest at the size.
    pub method: Option<Method>,
    /// Compute modulo p and modulo q at the same time on two threads.
    pub parallel: bool,
}

/// The private key: decrypts and signs. It has neither `Clone` nor `Serialize`. Its numbers are wiped on drop.
pub struct PrivateKey {
    public: PublicKey,
    parts: Parts,
    ring_p: Ring,
    ring_q: Ring,
    execution: Execution,
    backend: Option<Mutex<Box<dyn Backend>>>,
    insecure: bool,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl PrivateKey {
    /// Builds a key from its two primes, in either order, and the public exponent. `research` allows short keys: see
    /// [`PublicKey::new`]. Does not check that the factors are prime: see [`Self::check_primes`].
    ///
    /// # Errors
    /// The errors of [`PublicKey::new`]. [`Error::Inconsistent`] for equal factors or a factor of 1.
    /// [`Error::Exponent`] for an exponent that shares a factor with `p - 1` or `q - 1`.
    pub fn from_primes(p: Natural, q: Natural, exponent: Natural, research: bool) -> Result<Self> {
        let _wipe = WipeScratch;
        let (p, q) = (Zeroizing::new(p), Zeroizing::new(q));
        let public = PublicKey::new(&*p * &*q, exponent, research)?;
        let (p1, q1) = (one_less(&p, "prime p")?, one_less(&q, "prime q")?);
        let phi = Zeroizing::new(&*p1 * &*q1);
        let common = Zeroizing::new(p1.gcd(&q1));
        // The remainder is zero.
        let lambda = Zeroizing::new(phi.div_rem(&common)?.0);
        let d = public.exponent().inverse(&lambda).map_err(|_| Error::Exponent {
            problem: "shares a factor with p - 1 or q - 1, so nothing could be decrypted",
        })?;
        let d = Zeroizing::new(d);
        let (dp, dq) = (Zeroizing::new(d.rem(&p1)?), Zeroizing::new(d.rem(&q1)?));
        let ring_p = Ring::new((*p).clone(), Method::fastest(p.bit_len()))?;
        // The inverse by Fermat's theorem, in constant time.
        let exponent = Zeroizing::new(one_less(&p1, "prime p")?);
        let qinv = Zeroizing::new(ring_p.pow(&q, &exponent)?);
        Self::build(public, Parts { d, p, q, dp, dq, qinv }, ring_p)
    }

    /// Builds a key from all its numbers, and checks that they are consistent.
    pub(super) fn from_parts(modulus: Natural, exponent: Natural, parts: Parts, research: bool) -> Result<Self> {
        let _wipe = WipeScratch;
        let public = PublicKey::new(modulus, exponent, research)?;
        // Bounds the work of the checks below for arbitrary numbers.
        let bits = public.bits();
        if [&parts.d, &parts.p, &parts.q, &parts.dp, &parts.dq, &parts.qinv].iter().any(|part| part.bit_len() > bits) {
            return Err(Error::Inconsistent { part: "length" });
        }
        if *public.modulus() != &*parts.p * &*parts.q {
            return Err(Error::Inconsistent { part: "modulus" });
        }
        let ring_p = Ring::new(odd(&parts.p, "prime p")?, Method::fastest(parts.p.bit_len()))?;
        let (p1, q1) = (one_less(&parts.p, "prime p")?, one_less(&parts.q, "prime q")?);
        let one = Natural::one();
        for (part, exponent, order) in
            [("exponent d mod (p - 1)", &parts.dp, &p1), ("exponent d mod (q - 1)", &parts.dq, &q1)]
        {
            let reduced = Zeroizing::new(parts.d.rem(order)?);
            let product = Zeroizing::new(&*reduced * public.exponent());
            if product.rem(order)? != one {
                return Err(Error::Inconsistent { part: "exponent d" });
            }
            if **exponent != *reduced {
                return Err(Error::Inconsistent { part });
            }
        }
        let product = Zeroizing::new(&*parts.qinv * &*parts.q);
        if *parts.qinv >= *parts.p || product.rem(&parts.p)? != one {
            return Err(Error::Inconsistent { part: "coefficient (inverse of q modulo p)" });
        }
        Self::build(public, parts, ring_p)
    }

    fn build(public: PublicKey, parts: Parts, ring_p: Ring) -> Result<Self> {
        let ring_q = Ring::new(odd(&parts.q, "prime q")?, Method::fastest(parts.q.bit_len()))?;
        if parts.p == parts.q {
            return Err(Error::Inconsistent { part: "prime q" });
        }
        Ok(Self { public, parts, ring_p, ring_q, execution: Execution::default(), backend: None, insecure: false })
    }

    /// The public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Whether the key was made from a chosen seed.
    pub fn is_insecure(&self) -> bool {
        self.insecure
    }

    pub(super) fn set_insecure(&mut self, insecure: bool) {
        self.insecure = insecure;
    }

    pub(super) fn set_use(&mut self, key_use: KeyUse) {
        self.public = self.public.clone().with_use(key_use);
    }

    pub(super) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Sets how private operations are computed.
    ///
    /// # Errors
    /// [`Error::Arithmetic`] if the method does not support this size.
    pub fn set_execution(&mut self, execution: Execution) -> Result<()> {
        for ring in [&mut self.ring_p, &mut self.ring_q] {
            let method = execution.method.unwrap_or(Method::fastest(ring.modulus().bit_len()));
            ring.set_method(method)?;
        }
        self.execution = execution;
        Ok(())
    }

    /// Lets a back end compute the powers of private operations from now on. Blinding, the combination of the two powers
    /// and the check of the result stay on this processor.
    pub fn set_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = Some(Mutex::new(backend));
    }

    /// The multiplication of private operations.
    pub fn method(&self) -> Method {
        self.ring_p.method()
    }

    /// Checks that both factors are prime, by the Miller-Rabin test with 64 random bases each. A composite passes with
    /// probability below 2^-128, even if an attacker chose it.
    ///
    /// # Errors
    /// [`Error::NotPrime`] for a composite factor. [`Error::Entropy`] if there is no randomness.
    pub fn check_primes(&self) -> Result<()> {
        let _wipe = WipeScratch;
        let mut rng = rng()?;
        for (part, ring) in [("prime p", &self.ring_p), ("prime q", &self.ring_q)] {
            if !super::prime::is_probable_prime(ring, 64, &mut rng)? {
                return Err(Error::NotPrime { part });
            }
        }
        Ok(())
    }

    /// Describes a weakness in the sizes of the two factors, if there is one. Their lengths may differ, or their
    /// difference may be below `2^(bits / 2 - 100)`. FIPS 186-5 (A.1.3) excludes the latter, because Fermat's method
    /// factors the modulus if the difference is small.
    pub fn weak_primes(&self) -> Option<&'static str> {
        let (p, q) = (&self.parts.p, &self.parts.q);
        if p.bit_len() != q.bit_len() {
            return Some(
                "the primes differ in length: the shorter one is easier to find than the size of the key suggests",
            );
        }
        let difference = Zeroizing::new(p.abs_diff(q));
        (difference.bit_len() + 100 <= self.public.bits() / 2)
            .then_some("the primes are close to each other: Fermat's method may factor the modulus at once")
    }

    /// Decrypts a ciphertext of [`PublicKey::size`] bytes.
    ///
    /// With [`EncryptionPadding::Oaep`], every malformed message gives the same error in the same time. With
    /// [`EncryptionPadding::Pkcs1`], a malformed message gives no error. Decryption then returns a message of random
    /// length that looks random; key and ciphertext determine it (implicit rejection, as in OpenSSL 3.2). To detect
    /// damage, authenticate the message or use OAEP.
    ///
    /// # Errors
    /// [`Error::Decryption`] for a malformed OAEP message. [`Error::Length`] and [`Error::Range`] if the bytes are not
    /// a ciphertext of this key. [`Error::Fault`] if the result fails its check. [`Error::Entropy`] if there is no
    /// randomness. [`Error::KeyUse`] if the key is for signatures alone.
    pub fn decrypt(&self, padding: &EncryptionPadding, ciphertext: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.public.key_use().check_any("encryption")?;
        let number = self.public.element("ciphertext", ciphertext)?;
        let opened = self.raw(&number, &mut rng()?)?;
        let encoded = Zeroizing::new(self.public.bytes(&opened)?);
        match padding {
            EncryptionPadding::Oaep { hash, mgf, label } => {
                oaep::decode((*hash, mgf.unwrap_or(*hash), label), encoded).ok_or(Error::Decryption)
            }
            EncryptionPadding::Pkcs1 => {
                let exponent = Zeroizing::new(self.public.bytes(&self.parts.d)?);
                Ok(pkcs1::decode(&encoded, &Alternative::new(&exponent, ciphertext)))
            }
        }
    }

    /// Signs a message. Returns [`PublicKey::size`] bytes.
    ///
    /// # Errors
    /// [`Error::NoRoom`] if the key is too short for hash and salt. [`Error::KeyUse`] for a padding that the key does
    /// not allow. [`Error::WeakHash`] for SHA-1. [`Error::Fault`] if the result fails its check. [`Error::Entropy`] if
    /// there is no randomness.
    pub fn sign(&self, padding: SignaturePadding, message: &[u8]) -> Result<Vec<u8>> {
        self.sign_digest(padding, &padding.hash().digest(&[message]))
    }

    /// Signs a message by its hash value, which must be of the padding's hash function.
    ///
    /// # Errors
    /// The errors of [`Self::sign`]. [`Error::Length`] if the value does not have the length of the hash.
    pub fn sign_digest(&self, padding: SignaturePadding, value: &[u8]) -> Result<Vec<u8>> {
        self.public.key_use().check_signature(padding)?;
        let (hash, mut rng) = (padding.hash(), rng()?);
        if value.len() != hash.len() {
            return Err(Error::Length { what: "hash value", got: value.len(), want: hash.len() });
        }
        let encoded = match padding {
            SignaturePadding::Pkcs1 { hash } => pkcs1::encode_signature(hash, value, self.public.size()),
            SignaturePadding::Pss { hash, mgf, salt } => {
                let len = salt.or(self.public.key_use().salt()).unwrap_or(hash.len());
                if len > self.public.size() {
                    return Err(Error::NoRoom { bits: self.public.bits(), hash });
                }
                let mut salt = vec![0; len];
                rng.fill_bytes(&mut salt);
                pss::encode((hash, mgf.unwrap_or(hash)), value, &salt, self.public.bits() - 1)
            }
        };
        let encoded = encoded.ok_or(Error::NoRoom { bits: self.public.bits(), hash })?;
        let signature = self.raw(&Natural::from_be_bytes(&encoded), &mut rng)?;
        self.public.bytes(&signature)
    }

    /// Computes `c^d mod n` for `c < n`. Blinds `c` with a random factor, computes modulo p and q separately, and
    /// checks the result by raising it to `e`. Without the check, one wrong half would reveal p or q (Boneh, DeMillo,
    /// Lipton 1997).
    fn raw(&self, c: &Natural, rng: &mut impl RngCore) -> Result<Zeroizing<Natural>> {
        let _wipe = WipeScratch;
        let ring = self.public.ring();
        let (factor, inverse) = self.blinding(rng);
        let blinded = Zeroizing::new(ring.mul(c, &Zeroizing::new(self.public.raw(&factor))));
        let (x_p, x_q) = self.halves(&blinded)?;
        // Garner: x = x_q + q (q^-1 (x_p - x_q) mod p).
        let difference = Zeroizing::new(self.ring_p.sub(&x_p, &Zeroizing::new(self.ring_p.reduce(&x_q))));
        let h = Zeroizing::new(self.ring_p.mul(&difference, &self.parts.qinv));
        let mut x = Zeroizing::new(&*self.parts.q * &*h);
        *x += &x_q;
        let x = Zeroizing::new(ring.mul(&x, &inverse));
        if self.public.raw(&x) == *c { Ok(x) } else { Err(Error::Fault) }
    }

    /// Computes the powers modulo p and modulo q.
    fn halves(&self, blinded: &Natural) -> Result<(Zeroizing<Natural>, Zeroizing<Natural>)> {
        let (dp, dq) = (&*self.parts.dp, &*self.parts.dq);
        let Some(backend) = &self.backend else {
            let half = |ring: &Ring, exponent: &Natural| ring.pow(blinded, exponent).map(Zeroizing::new);
            let (x_p, x_q) = both(self.execution.parallel, || half(&self.ring_p, dp), || half(&self.ring_q, dq));
            return Ok((x_p?, x_q?));
        };
        let base = |ring: &Ring| Zeroizing::new(ring.reduce(blinded));
        let (base_p, base_q) = (base(&self.ring_p), base(&self.ring_q));
        let powers = [
            Power { modulus: &self.parts.p, exponent: dp, base: &base_p },
            Power { modulus: &self.parts.q, exponent: dq, base: &base_q },
        ];
        let mut backend = backend.lock().unwrap_or_else(PoisonError::into_inner);
        let [x_p, x_q] = backend.powers(powers).map_err(Error::Backend)?.map(Zeroizing::new);
        // A faulty power may exceed its modulus. The check of the result finds it.
        Ok((Zeroizing::new(self.ring_p.reduce(&x_p)), Zeroizing::new(self.ring_q.reduce(&x_q))))
    }

    /// Returns a random unit modulo n and its inverse. The inversion runs in variable time on the product of the unit
    /// and another random unit.
    fn blinding(&self, rng: &mut impl RngCore) -> (Zeroizing<Natural>, Zeroizing<Natural>) {
        let ring = self.public.ring();
        loop {
            let (r, s) = (ring.random(rng), ring.random(rng));
            // The product has no inverse with probability about 2 (1/p + 1/q).
            if let Ok(inverse) = ring.mul(&r, &s).vartime_inverse(ring.modulus()) {
                return (r, Zeroizing::new(ring.mul(&inverse, &s)));
            }
        }
    }
}

/// Returns a factor if it is odd and above 1.
fn odd(x: &Natural, part: &'static str) -> Result<Natural> {
    if x.is_even() || x.is_one() { Err(Error::Inconsistent { part }) } else { Ok(x.clone()) }
}

/// Returns `x - 1` if `x` is above 1.
fn one_less(x: &Natural, part: &'static str) -> Result<Zeroizing<Natural>> {
    match x.checked_sub(&Natural::one()) {
        Some(less) if !less.is_zero() => Ok(Zeroizing::new(less)),
        _ => Err(Error::Inconsistent { part }),
    }
}
