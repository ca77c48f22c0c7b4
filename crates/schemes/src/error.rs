//! The one error type of the homomorphic schemes. It names no type of a scheme: a scheme, stage or operation is a text.

use std::path::PathBuf;

#[cfg(feature = "slots")]
use crate::slots;
use crate::{DeviceError, Level, Noise};

/// Everything that can go wrong for a caller of a homomorphic scheme.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scheme has no parameter set of that name.
    #[error("there is no {scheme} parameter set {name:?}; choose one of {known}")]
    UnknownParams {
        /// Name of the scheme.
        scheme: &'static str,
        /// The given name.
        name: String,
        /// The known names.
        known: String,
    },
    /// A parameter is out of range, or the parameters cannot decrypt.
    #[error("{scheme} parameters {name:?}: {problem}")]
    Params {
        /// Name of the scheme.
        scheme: &'static str,
        /// Name of the set.
        name: String,
        /// The problem, and the bound or the smallest fix.
        problem: String,
    },
    /// No set is as deep and as secure as the caller asked.
    #[error("there are no {scheme} parameters of {wanted}: take {nearest}")]
    OutOfReach {
        /// Name of the scheme.
        scheme: &'static str,
        /// The caller's request.
        wanted: String,
        /// The nearest set.
        nearest: String,
    },
    /// The set is for research only, and the caller did not ask for research.
    #[error("parameter set {name:?} is for research only ({why}); ask for it explicitly (--research, research=True)")]
    ResearchOnly {
        /// Name of the set.
        name: String,
        /// The reason.
        why: String,
    },
    /// The whole scheme is for research only, and the caller did not ask for research.
    #[error("{scheme} keys are for research only ({why}); ask for them explicitly (--research, research=True)")]
    ResearchScheme {
        /// Name of the scheme.
        scheme: &'static str,
        /// The reason.
        why: String,
    },
    /// The operands have different levels.
    #[error("operands at levels {lhs} and {rhs}: {remedy}")]
    LevelMismatch {
        /// Level of the first operand.
        lhs: Level,
        /// Level of the second operand.
        rhs: Level,
        /// The fix.
        remedy: &'static str,
    },
    /// The operands have different degrees in the secret key.
    #[error("operands of degrees {lhs} and {rhs}: switch the keys of both first (`Evaluator::key_switch`)")]
    DegreeMismatch {
        /// Degree of the first operand.
        lhs: u32,
        /// Degree of the second operand.
        rhs: u32,
    },
    /// The key has no hint for that degree.
    #[error("{operation} takes degrees 1 to {max}, not {degree}: switch keys after each product")]
    Degree {
        /// The operation.
        operation: &'static str,
        /// Degree of the operand.
        degree: u32,
        /// Largest degree that the operation takes.
        max: u32,
    },
    /// The ciphertext has too many parts.
    #[error("{operation} takes a ciphertext of {max} parts, not {parts}: relinearize first (`Evaluator::relinearize`)")]
    Parts {
        /// The operation.
        operation: &'static str,
        /// Parts of the operand.
        parts: usize,
        /// Largest number of parts that the operation takes.
        max: usize,
    },
    /// The ciphertext is at another stage of its level than the operation needs.
    #[error("{operation} needs a ciphertext that is {want}, and this one is {got}: {remedy}")]
    Stage {
        /// The operation.
        operation: &'static str,
        /// The stage that the operation takes.
        want: &'static str,
        /// The stage of the operand.
        got: &'static str,
        /// The fix.
        remedy: &'static str,
    },
    /// No level is left.
    #[error(
        "{operation} needs a level below {level}, and there is none: encrypt anew, or choose parameters of more depth than {depth}"
    )]
    OutOfLevels {
        /// The operation.
        operation: &'static str,
        /// Level of the operand.
        level: Level,
        /// Number of multiplications in a row that the parameters allow.
        depth: usize,
    },
    /// A ciphertext is below the level that the caller asks for.
    #[error("a ciphertext at level {level} cannot be raised to level {target}: encrypt anew, or bootstrap it")]
    BelowLevel {
        /// Level of the ciphertext.
        level: Level,
        /// The level asked for.
        target: Level,
    },
    /// The result might not decrypt.
    #[error("{operation}: noise of 2^{noise:.1} where the modulus leaves room for 2^{limit:.1}; {remedy}")]
    Noise {
        /// The operation.
        operation: &'static str,
        /// The noise.
        noise: Noise,
        /// The largest noise that the operation takes.
        limit: Noise,
        /// The fix.
        remedy: &'static str,
    },
    /// The result of an operation on integers might not decrypt.
    #[error(
        "{operation} needs {need:.1} bits of margin, and the bound leaves {margin:.1}: recrypt its operands first, or encrypt anew"
    )]
    Margin {
        /// The operation.
        operation: &'static str,
        /// Bits between the bound of the noise and the modulus.
        margin: f64,
        /// Bits that the operation takes.
        need: f64,
    },
    /// Two ciphertexts, or a ciphertext and a key, belong to different keys.
    #[error("{what} belongs to key {got}, not to key {want}: use what was made with one key")]
    KeyMismatch {
        /// The object that does not fit.
        what: &'static str,
        /// Its key.
        got: String,
        /// The expected key.
        want: String,
    },
    /// A plaintext is no polynomial of the plaintext space.
    #[error("a plaintext has {want} numbers in 0..{modulus}: {problem}")]
    Plaintext {
        /// Expected length.
        want: usize,
        /// The plaintext modulus.
        modulus: u64,
        /// The problem.
        problem: String,
    },
    /// A value is not in the message space.
    #[error("value {value} does not fit a message of 0..{modulus}")]
    Message {
        /// The value.
        value: u32,
        /// Size of the message space.
        modulus: u32,
    },
    /// A random block cannot have that number of bits.
    #[error("a random block has 1 to {most} bits under this key, not {bits}; make several blocks")]
    RandomBits {
        /// The number of bits.
        bits: u32,
        /// The most bits of a block.
        most: u32,
    },
    /// The server key has no key for that rotation.
    #[error("no key for {rotation}: make a server key with it (`ClientKey::server_key_with`); this one has {have}")]
    NoRotationKey {
        /// The rotation.
        rotation: String,
        /// The rotations of the key.
        have: String,
    },
    /// The parameters or the key cannot bootstrap.
    #[error("{what}: {remedy}")]
    NoBootstrapping {
        /// The missing part.
        what: String,
        /// The fix.
        remedy: &'static str,
    },
    /// The two lists of operands are empty or have different lengths.
    #[error("{operation} of {lhs} and {rhs} ciphertexts: give as many of each, one or more")]
    Operands {
        /// The operation.
        operation: &'static str,
        /// Length of the first list.
        lhs: usize,
        /// Length of the second list.
        rhs: usize,
    },
    /// The parameters cannot evaluate that lookup table.
    #[error(
        "parameters {params:?} cannot evaluate that table: gates take signs, integers take one table of entries or more"
    )]
    Table {
        /// Name of the parameter set.
        params: String,
    },
    /// A word cannot be a factor of the modulus.
    #[error("{word} cannot be a factor of the modulus: take odd words of 3 or more, and one or more of them")]
    Word {
        /// The word.
        word: u32,
    },
    /// Two words of a modulus have a common factor.
    #[error(
        "the words {first} and {second} of the modulus have a common factor: take pairwise coprime ones, such as distinct primes"
    )]
    NotCoprime {
        /// The first word.
        first: u32,
        /// The second word.
        second: u32,
    },
    /// A vector, matrix or list has another size than the operation needs.
    #[error("{what}: {got} where {want} belong")]
    Dimension {
        /// The object of the wrong size.
        what: &'static str,
        /// Its size.
        got: usize,
        /// The expected size.
        want: usize,
    },
    /// A number is no residue of the modulus.
    #[error("{what} number {index} is not below the modulus of {bits} bits: reduce it first")]
    Range {
        /// The object with the number.
        what: &'static str,
        /// Index of the number.
        index: usize,
        /// Bits of the modulus.
        bits: usize,
    },
    /// A database for private information retrieval is not possible.
    #[error("a database {problem}")]
    Database {
        /// The problem and the fix.
        problem: String,
    },
    /// The database has no such record.
    #[error("there is no record {index}: the database has {records}, counted from 0")]
    NoRecord {
        /// The index.
        index: usize,
        /// Number of records.
        records: usize,
    },
    /// A hint, query or answer belongs to another database.
    #[error("{what} belongs to database {got}, not to database {want}: fetch the hint of this database and ask again")]
    OtherDatabase {
        /// The object that does not fit.
        what: &'static str,
        /// Its database.
        got: String,
        /// The expected database.
        want: String,
    },
    /// An answer belongs to another query.
    #[error("the answer is to another query: read each answer with the query that it answers")]
    OtherQuery,
    /// No secret of a query is there.
    #[error(
        "this client has no open query of these bytes: its answer was read before, it was forgotten, or another client made it; make a new query"
    )]
    NoQuery,
    /// A ciphertext has another length than the key needs.
    #[error("a ciphertext has {got} words, this key needs {want}: it was made with other parameters")]
    CiphertextLength {
        /// Words of the ciphertext.
        got: usize,
        /// Words that the key needs.
        want: usize,
    },
    /// A key or table does not fit the memory that is allowed.
    #[error("{what} takes {need_mib} MiB{}, and {limit_mib} MiB are allowed: allow more, or {alternative}", at(.params))]
    Memory {
        /// The key, table or method.
        what: &'static str,
        /// Name of the parameter set, if the need depends on it.
        params: Option<String>,
        /// Memory that it takes.
        need_mib: u64,
        /// Memory that is allowed.
        limit_mib: u64,
        /// A choice that fits, as an imperative.
        alternative: String,
    },
    /// Key material or a ciphertext from outside has the wrong size or content.
    #[error("{part}: {problem}; it is damaged or of other parameters")]
    Material {
        /// The part.
        part: &'static str,
        /// The problem.
        problem: String,
    },
    /// Key material from outside has the wrong length.
    #[error(
        "the {part} holds {got} elements, parameters {params:?} need {want}: the key is damaged or of other parameters"
    )]
    KeyLength {
        /// The part.
        part: &'static str,
        /// Name of the parameter set.
        params: String,
        /// Its length.
        got: usize,
        /// The expected length.
        want: usize,
    },
    /// A word of a binary secret key is neither 0 nor 1.
    #[error("the {part} holds a word that is not a key bit: the key is damaged")]
    KeyBits {
        /// The part.
        part: &'static str,
    },
    /// A block of a block-binary secret key has several bits equal to 1.
    #[error("a block of {block_bits} bits of the LWE key has several ones: the key is damaged")]
    KeyBlock {
        /// Bits of a block.
        block_bits: usize,
    },
    /// A server key is to be made from a client key that was read from a file.
    #[error(
        "this client key was read from a file, which lacks the seed of its server key: use the server key that was made with it"
    )]
    NoSeed,
    /// A file cannot be read.
    #[error("{} cannot be read: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The problem.
        problem: String,
    },
    /// A chosen seed for encryptions by a key that was not made from one.
    #[error(
        "a chosen seed would show what a key from the operating system's randomness encrypts: give no seed, or use a key made from one"
    )]
    ChosenSeed,
    /// A run uses a slot that it does not have, or reads an empty one. This is a fault of Solinas.
    #[error("slot {slot} is empty or missing; please report this as a fault of Solinas")]
    NoSlot {
        /// The number of the slot.
        slot: u32,
    },
    /// A device failed, or has too little memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The caller cancelled the work.
    #[error(transparent)]
    Cancelled(#[from] crate::Cancelled),
    /// The operating system gave no randomness.
    #[error(transparent)]
    Entropy(#[from] crate::NoEntropy),
    /// The parameters have no slots, or the numbers do not fit them.
    #[cfg(feature = "slots")]
    #[error("{error}{remedy}")]
    Slots {
        /// The error.
        error: slots::Error,
        /// How to find parameters with slots, in parentheses, or nothing.
        remedy: String,
    },
    /// From the ring.
    #[cfg(feature = "leveled")]
    #[error(transparent)]
    Ring(#[from] solinas_ring::Error),
    /// From the finite fields and their kernels.
    #[error(transparent)]
    Field(#[from] solinas_field::Error),
    /// From the integers.
    #[cfg(any(feature = "gh", feature = "lwe"))]
    #[error(transparent)]
    Integer(#[from] solinas_bigint::Error),
}

impl Error {
    /// Operands at these levels, in a scheme with an automatic evaluator.
    pub(crate) fn level_mismatch(lhs: Level, rhs: Level) -> Self {
        let remedy = "bring the higher one down to the lower level first, or let an automatic evaluator do so";
        Self::LevelMismatch { lhs, rhs, remedy }
    }
}

#[cfg(feature = "slots")]
impl From<slots::Error> for Error {
    fn from(error: slots::Error) -> Self {
        Self::Slots { error, remedy: String::new() }
    }
}

/// A part of the text of [`Error::Memory`].
fn at(params: &Option<String>) -> String {
    params.as_ref().map_or_else(String::new, |name| format!(" at parameters {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bgv, gh, lwe, ntru, tfhe};

    #[test]
    fn texts_name_the_scheme() {
        let texts = [
            ("BGV", bgv::Params::named("x").unwrap_err()),
            ("NTRU", ntru::Params::named("x").unwrap_err()),
            ("LWE", lwe::Params::named("x").unwrap_err()),
            ("LWE", lwe::fresh::Params::named("x").unwrap_err()),
            ("TFHE", tfhe::Params::named("x").unwrap_err()),
            ("Gentry-Halevi", gh::Params::named("x").unwrap_err()),
        ];
        for (scheme, error) in texts {
            let text = format!("there is no {scheme} parameter set \"x\"; choose one of ");
            assert!(error.to_string().starts_with(&text), "{error}");
        }
    }

    #[test]
    fn texts_of_optional_parts() {
        let error = |params, alternative: &str| {
            let (what, alternative) = ("a key", alternative.into());
            Error::Memory { what, params, need_mib: 2, limit_mib: 1, alternative }.to_string()
        };
        assert_eq!(error(None, "stream it"), "a key takes 2 MiB, and 1 MiB are allowed: allow more, or stream it");
        assert_eq!(
            error(Some("toy".into()), "choose x"),
            "a key takes 2 MiB at parameters \"toy\", and 1 MiB are allowed: allow more, or choose x"
        );
        let slots = ntru::Params::named("tight-512-3").unwrap().slots().err().unwrap().to_string();
        assert!(slots.ends_with("--slots` finds parameters)"), "{slots}");
        let slots = bgv::Params::named("bits-64-2").unwrap().slots().err().unwrap().to_string();
        assert!(!slots.contains("solinas params find"), "{slots}");
    }
}
