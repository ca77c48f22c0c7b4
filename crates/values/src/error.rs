//! Error type of the crate. `convert.rs` says which errors of other crates become which variant.

mod convert;

use crate::{Form, Scheme, Type};
use solinas_circuits::{Help, counted};
use solinas_schemes::{DeviceError, Error as SchemeError};
use std::path::{Path, PathBuf};

/// Errors of keys, ciphertexts, plans and runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name of a scheme is unknown.
    #[error("there is no scheme {name:?}; choose one of {known}")]
    UnknownScheme {
        /// The requested name.
        name: String,
        /// The known names.
        known: String,
    },
    /// The scheme has no recommended parameter set.
    #[error("scheme {scheme} has no recommended parameter set; choose one of {known}")]
    NoDefaultParams {
        /// The scheme.
        scheme: Scheme,
        /// The known sets.
        known: String,
    },
    /// No parameters meet a request, for example one with options of another scheme.
    #[error("{what}; {help}")]
    Request {
        /// The problem.
        what: String,
        /// The fix.
        help: String,
    },
    /// A ciphertext and a key are of different schemes.
    #[error("{what} is of scheme {got}, but the key is of scheme {want}; use the files of one `keygen`")]
    SchemeMismatch {
        /// The ciphertext.
        what: String,
        /// Scheme of the ciphertext.
        got: Scheme,
        /// Scheme of the key.
        want: Scheme,
    },
    /// A text or number is not a value of the type.
    #[error("{text:?} is not {ty}: give {expected}")]
    Value {
        /// The text or number.
        text: String,
        /// The type with its article.
        ty: String,
        /// The expected form and range.
        expected: String,
    },
    /// The shape of an array does not match its number of elements.
    #[error("shape {shape:?} holds {want} elements, {got} were given")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Number of elements of the shape.
        want: usize,
        /// Number of elements given.
        got: usize,
    },
    /// The inputs are empty arrays, and the output is a single value.
    #[error("output {output:?} is one value, but the inputs are empty arrays; give arrays of at least one element")]
    Empty {
        /// Name of the output.
        output: String,
    },
    /// An array without elements where one is needed: in a ciphertext file, or as a stack of no ciphertexts.
    #[error("this array is empty, but an encrypted array has at least one element; encrypt one value or more")]
    EmptyArray,
    /// The build has no engine of the scheme.
    #[error("this build computes nothing under scheme {scheme}; build `solinas-engine` with the feature `{scheme}`")]
    NoEvaluation {
        /// The scheme.
        scheme: Scheme,
    },
    /// Rotation keys were requested for a scheme without slots.
    #[error("scheme {scheme} has no slots to rotate: leave out rotation keys, or use scheme bgv or ntru")]
    NoSlots {
        /// The scheme.
        scheme: Scheme,
    },
    /// The program rotates or sums elements, but the key cannot rotate slots.
    #[error("{}", no_rotations(params, reason.as_deref()))]
    NoRotations {
        /// The parameter set.
        params: String,
        /// The reason why no key of this set can rotate slots, if that is so.
        reason: Option<String>,
    },
    /// The array has no such element.
    #[error("there is no element {index}: the array has {len}")]
    Index {
        /// The index.
        index: usize,
        /// Number of elements of the array.
        len: usize,
    },
    /// A ciphertext belongs to another key.
    #[error("{what} belongs to key {got}, not to key {want}; use the files of one `keygen`")]
    KeyMismatch {
        /// The ciphertext.
        what: String,
        /// Key of the ciphertext.
        got: String,
        /// The expected key.
        want: String,
    },
    /// Other users of the machine can read the file of a secret key.
    #[error(
        "other users of this machine can read the secret key {}; run `chmod 600` on it, or consent (--allow-exposed-key, exposed=True)",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// A key has another fingerprint than its owner's.
    #[error(
        "the key has the fingerprint {found}, not {wanted}: it is another key; ask its owner for the key and the fingerprint, each on a way of its own"
    )]
    Fingerprint {
        /// The fingerprint of the owner's key.
        wanted: String,
        /// The fingerprint of this key.
        found: String,
    },
    /// A ciphertext names another parameter set than its key. Only a forged or damaged file does.
    #[error("{what} names the parameters {got:?}, and its key the parameters {want:?}; copy or compute it again")]
    ForeignParams {
        /// The ciphertext.
        what: String,
        /// The set that it names.
        got: String,
        /// The set of the key.
        want: String,
    },
    /// The parameter set belongs to another scheme.
    #[error("parameter set {params:?} is one of scheme {has}, not of {scheme}; ask for that scheme (--scheme {has}, scheme={:?})", has.name())]
    OtherScheme {
        /// The parameter set.
        params: String,
        /// The scheme of the set.
        has: Scheme,
        /// The requested scheme.
        scheme: Scheme,
    },
    /// The number of inputs is wrong.
    #[error("expected {}, got {got}; {}", counted(*want, "input"), if *want == 0 { "leave them out".to_owned() } else { format!("give one value for each of {names}") })]
    InputCount {
        /// Number of inputs given.
        got: usize,
        /// Number of inputs needed.
        want: usize,
        /// Names and types of the needed inputs.
        names: String,
    },
    /// An input has the wrong type.
    #[error("input {name:?} is {want}, a ciphertext of {got} was given; encrypt with `--type {want}` or cast it")]
    InputType {
        /// Name of the input.
        name: String,
        /// The expected type.
        want: Type,
        /// The type given.
        got: Type,
    },
    /// A circuit port is wider than an integer, and its input is not an array of bools.
    #[error(
        "input {name:?} has {width} bits, got {got}; give an array of {width} bools (`solinas encrypt --bits {width}`, in Python `sl.bits`)"
    )]
    PortWidth {
        /// Name of the port.
        name: String,
        /// Number of bits of the port.
        width: usize,
        /// The input given.
        got: String,
    },
    /// The key cannot hold the values, because its plaintext modulus is another.
    #[error(
        "key {params} holds {holds}, not {wanted}; encrypt values of such a type, or use a key of another parameter set (`solinas params` says what each holds)"
    )]
    Modular {
        /// The parameter set.
        params: String,
        /// The values that the key holds.
        holds: String,
        /// The requested values.
        wanted: String,
    },
    /// Values share the slots of a ciphertext, and the operation would have to separate or join them.
    #[error(
        "{slots} values share a ciphertext, which cannot be split or joined without the key; decrypt all of it, or encrypt the values separately"
    )]
    Packed {
        /// Number of values in a ciphertext.
        slots: usize,
    },
    /// A ciphertext of a bit decrypts to something else (NTRU, BGV).
    #[error(
        "a ciphertext of a bit decrypts to a polynomial that is not a bit; it is damaged or was computed by a faulty server"
    )]
    NotABit,
    /// The circuit has more sequential products than the ciphertexts allow (NTRU, BGV, LWE).
    #[error("{}", levels(params, *depth, *left, *need, keys))]
    Levels {
        /// The parameter set.
        params: String,
        /// Number of sequential products that fresh ciphertexts allow.
        depth: usize,
        /// Number of sequential products that the inputs allow.
        left: usize,
        /// Number of sequential products of the circuit.
        need: usize,
        /// Keys that allow them, or how to find such keys.
        keys: String,
    },
    /// The scheme does not have this form of ciphertexts.
    #[error("scheme {scheme} has no {form} ciphertexts: key {params} holds {holds}; leave them as they are")]
    SchemeForm {
        /// The scheme.
        scheme: Scheme,
        /// The parameter set.
        params: String,
        /// The form that the key holds.
        holds: Form,
        /// The requested form.
        form: Form,
    },
    /// The key cannot hold this form of ciphertexts.
    #[error("key {params} cannot hold {form} ciphertexts; use a key of the integers family")]
    Form {
        /// The parameter set.
        params: String,
        /// The form.
        form: &'static str,
    },
    /// A decrypted block is out of range: its noise is too large, or the key is wrong.
    #[error(
        "a block decrypts to {value}, more than {max}: the ciphertext is damaged or was computed by a faulty server"
    )]
    Overflow {
        /// The value.
        value: u32,
        /// The largest valid value.
        max: u32,
    },
    /// An input bit has too much noise for further operations (Gentry-Halevi).
    #[error(
        "bit {bit} of input {input} leaves {margin:.2} bits of margin where {need:.2} are needed: it can no longer be computed on; encrypt it again"
    )]
    Exhausted {
        /// Index of the input, from 1.
        input: usize,
        /// Index of the bit, from 0.
        bit: usize,
        /// Margin that the bound of its noise leaves, in bits.
        margin: f64,
        /// Margin that operations need, in bits.
        need: f64,
    },
    /// A bit has too much noise for decryption (Gentry-Halevi).
    #[error(
        "bit {bit} leaves {margin:.2} bits of margin where decryption needs {need:.2}; encrypt its inputs again, or compute it from other inputs"
    )]
    Undecryptable {
        /// Index of the bit, from 0.
        bit: usize,
        /// Margin that the bound of its noise leaves, in bits.
        margin: f64,
        /// Margin that decryption needs, in bits.
        need: f64,
    },
    /// A gate is impossible even with recrypted operands (Gentry-Halevi).
    #[error(
        "parameters {params:?} cannot evaluate this circuit: a {operation} leaves {margin:.2} bits of margin where {need:.2} are needed, even of recrypted ciphertexts; use toy, small, medium or ci-15"
    )]
    TooDeep {
        /// Name of the parameter set.
        params: String,
        /// `product` or `sum`.
        operation: &'static str,
        /// Margin that the bound of its noise leaves, in bits.
        margin: f64,
        /// Margin that the operation needs, in bits.
        need: f64,
    },
    /// A plan exceeds a limit of planning.
    #[error("{stop} of {setting}")]
    Planning {
        /// The exceeded limit.
        stop: solinas_circuits::Stop,
        /// The setting of this limit.
        setting: &'static str,
    },
    /// The smallest method needs more memory than is allowed.
    #[error("{method} takes {need_mib} MiB at parameters {params:?}, and {limit_mib} MiB are allowed; {remedy}")]
    Memory {
        /// The method.
        method: &'static str,
        /// Name of the parameter set.
        params: String,
        /// Memory that the method needs, in MiB.
        need_mib: u64,
        /// Memory that is allowed, in MiB.
        limit_mib: u64,
        /// The remedy.
        remedy: String,
    },
    /// The disk has less free space than the file needs.
    #[error("{} takes {need_mib} MiB, and {free_mib} MiB are free there; free some space, or write elsewhere", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// Space that the file needs, in MiB.
        need_mib: u64,
        /// Free space, in MiB.
        free_mib: u64,
    },
    /// The scheme has no public matrix.
    #[error(
        "scheme {scheme} has no public matrix to store: only keys of scheme lwe have one; encrypt without `--matrix`"
    )]
    NoMatrix {
        /// The scheme.
        scheme: Scheme,
    },
    /// The server key of the scheme holds no public key.
    #[error(
        "server keys of scheme {scheme} do not encrypt: encrypt with the public key (public.key) or with the client key"
    )]
    NoPublicKey {
        /// The scheme.
        scheme: Scheme,
    },
    /// The scheme has no public keys of their own, because its server keys hold them.
    #[error("scheme {scheme} has no file public.key: encrypt with the server key, which holds the public key")]
    PublicInServerKey {
        /// The scheme.
        scheme: Scheme,
    },
    /// A compact result is an operand.
    #[error(
        "{what} is a compact result, which can be decrypted but not computed with; compute it again in the full form, without `--compact`"
    )]
    Compact {
        /// The ciphertext.
        what: String,
    },
    /// A ciphertext of this scheme has no compact form.
    #[error(
        "ciphertexts of scheme {scheme} have no compact form: only results of scheme tfhe do; leave `--compact` out"
    )]
    NoCompact {
        /// The scheme.
        scheme: Scheme,
    },
    /// Results of this scheme cannot hide the program.
    #[error(
        "results of scheme {scheme} cannot hide the program: only those of scheme tfhe can; leave `--private-program` out, or use a key of tfhe"
    )]
    NoPrivateProgram {
        /// The scheme.
        scheme: Scheme,
    },
    /// Servers of this scheme make no random values.
    #[error(
        "servers of scheme {scheme} make no random values: only those of scheme tfhe do; encrypt values that you drew yourself, or use a key of tfhe"
    )]
    NoRandom {
        /// The scheme.
        scheme: Scheme,
    },
    /// There is no cost model of this name.
    #[error(
        "{name:?} is not a cost model; give fewest, shallow, or threads-N with a number of threads from 1 to 1048576"
    )]
    UnknownModel {
        /// The requested name.
        name: String,
    },
    /// A plan does not fit the work.
    #[error("the plan is {what}; {help}")]
    OtherPlan {
        /// The purpose of the plan.
        what: String,
        /// The fix.
        help: String,
    },
    /// A paused run belongs to other work.
    #[error(
        "the paused run is {what}; give the key, the program and the inputs with which it began, or delete it to begin anew"
    )]
    OtherRun {
        /// The work that it belongs to.
        what: String,
    },
    /// Runs of this scheme cannot pause.
    #[error("runs of scheme {scheme} cannot pause: only those of scheme tfhe can; leave the checkpoint out")]
    NoPause {
        /// The scheme.
        scheme: Scheme,
    },
    /// Plans of this scheme are not stored.
    #[error(
        "work of scheme {scheme} has no plan to choose or to keep: only that of scheme tfhe has; leave the model, the plan and the checkpoint out"
    )]
    NoPlan {
        /// The scheme.
        scheme: Scheme,
    },
    /// An environment variable has an invalid value.
    #[error("{name} is {value:?}; give {expected}, or unset it")]
    Setting {
        /// Name of the variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// The caller cancelled the work.
    #[error("cancelled; nothing was written")]
    Cancelled,
    /// The job belongs to the parent process. It was not finished when that process forked.
    #[error(
        "the job runs in the process that started it, of which this one is a fork; wait for its result there, or start \
         the job in this process"
    )]
    Forked,
    /// An error in this library, such as a caught panic.
    #[error("internal error of solinas: {0}; please report it with the steps that led here")]
    Internal(String),
    /// The threads could not be started.
    #[error("cannot start {}: {reason}; ask for fewer, or allow more memory or processes (ulimit)", if *threads == 0 { "a thread for each core".to_owned() } else { counted(*threads, "thread") })]
    Threads {
        /// Requested number of threads; 0 for one for each core.
        threads: usize,
        /// The reason.
        reason: String,
    },
    /// The contents of a file are not valid.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// The problem.
        source: Box<Error>,
    },
    /// An error of a file.
    #[error(transparent)]
    Format(solinas_formats::Error),
    /// A device cannot be opened, or failed.
    #[error(transparent)]
    Device(DeviceError),
    /// An error of the scheme of a key or ciphertext.
    #[error(transparent)]
    Scheme(SchemeError),
    /// An error of a program or circuit.
    #[error(transparent)]
    Circuit(solinas_circuits::Error),
    /// An error of the conversion of a program to lookup tables.
    #[error(transparent)]
    Radix(solinas_circuits::radix::Error),
    /// An error of lookup tables.
    #[error(transparent)]
    Lut(solinas_circuits::lut::Error),
}

/// The message of [`Error::NoRotations`].
fn no_rotations(params: &str, reason: Option<&str>) -> String {
    let what = format!("the program rotates or sums the elements of arrays, for which this key of {params}");
    match reason {
        Some(reason) => format!("{what} has no rotation keys: {reason}"),
        None => format!(
            "{what} was made without rotation keys; make keys with them (`solinas keygen --rotations --research`, \
             keygen(.., rotations=True, research=True)), or decrypt and sum there"
        ),
    }
}

/// The message of [`Error::Levels`].
fn levels(params: &str, depth: usize, left: usize, need: usize, keys: &str) -> String {
    let products = if need == 1 { "1 product".to_owned() } else { format!("{need} products in a row") };
    let noise = "the noise of its operations (sums, constants, rotations) takes more levels than are left";
    let takes = match need {
        _ if need > left => format!("it takes {products}"),
        0 => noise.into(),
        _ => format!("it takes {products}, and {noise}"),
    };
    let here = if left < depth { format!("{left} of the {depth}") } else { left.to_string() };
    // The levels do not suffice for the noise alone, or fresh ciphertexts have enough levels.
    let again = if need <= depth { "encrypt its inputs again, or " } else { "" };
    let fewer = "have fewer products in a row (a circuit: `solinas circuit build --recipe lowest-depth`), or ";
    let fewer = if need > left { fewer } else { "" };
    format!("{takes}, and the ciphertexts of key {params} allow {here}; {again}{fewer}{keys}")
}

impl Help for Error {
    fn kept_help(&self) -> Option<&str> {
        match self {
            Self::Request { help, .. } | Self::OtherPlan { help, .. } | Self::Memory { remedy: help, .. } => Some(help),
            Self::InFile { source, .. } => source.kept_help(),
            Self::Circuit(error) => error.kept_help(),
            _ => None,
        }
    }
}

impl Error {
    /// Adds the name of a file to the error, unless it already names one.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match &self {
            Self::Format(error) if error.path().is_some() => self,
            Self::Cancelled | Self::InFile { .. } | Self::Scheme(SchemeError::File { .. }) => self,
            _ => Self::InFile { path: path.to_path_buf(), source: Box::new(self) },
        }
    }
}
