//! Error type of the crate.

use crate::{Form, Scheme, Type};
use solinas_circuits::counted;
use solinas_schemes::{bgv, gh, lwe, ntru, slots, tfhe};
use std::path::{Path, PathBuf};

/// Everything that can go wrong for a caller of the runtime.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No scheme has that name.
    #[error("there is no scheme {name:?}; choose one of {known}")]
    UnknownScheme {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A scheme without a recommended parameter set.
    #[error("scheme {scheme} has no recommended parameter set; choose one of {known}")]
    NoDefaultParams {
        /// The scheme.
        scheme: Scheme,
        /// The sets there are.
        known: String,
    },
    /// No parameter set is as deep and as secure (BGV).
    #[error("there are no BGV parameters of {wanted}; take {nearest}")]
    OutOfReach {
        /// What was wanted.
        wanted: String,
        /// What there is instead.
        nearest: String,
    },
    /// A request for parameters that cannot be met by any, such as one with options of another scheme.
    #[error("{what}; {help}")]
    Request {
        /// What is wrong with it.
        what: String,
        /// What to ask for instead.
        help: String,
    },
    /// A ciphertext of another scheme than its key.
    #[error(
        "{what} is of scheme {got}, and the key of scheme {want}: they do not go together; use the files of one `keygen`"
    )]
    Scheme {
        /// Which ciphertext.
        what: String,
        /// The ciphertext's.
        got: Scheme,
        /// The key's.
        want: Scheme,
    },
    /// A text that is no value of a type.
    #[error("{text:?} is not {ty}: give {expected}")]
    Value {
        /// The text or number.
        text: String,
        /// The type wanted, with its article.
        ty: String,
        /// What is right.
        expected: String,
    },
    /// Sizes of an array that do not match.
    #[error("shape {shape:?} holds {want} elements, {got} were given")]
    Shape {
        /// The shape.
        shape: Vec<usize>,
        /// Elements it holds.
        want: usize,
        /// Elements given.
        got: usize,
    },
    /// Arrays that do not go together.
    #[error(
        "inputs of {lhs} and {rhs} elements do not go together: elementwise work needs arrays of one shape, or scalars"
    )]
    Broadcast {
        /// Elements of one.
        lhs: usize,
        /// Elements of the other.
        rhs: usize,
    },
    /// A sum of no elements, or another single value beside them.
    #[error(
        "output {output:?} is one value, and the inputs are arrays without elements; give arrays of one element or more"
    )]
    Empty {
        /// The output.
        output: String,
    },
    /// Rotation keys of a scheme without slots.
    #[error("scheme {scheme} has no slots to rotate: leave rotation keys out, or take scheme bgv or ntru")]
    NoSlots {
        /// The scheme.
        scheme: Scheme,
    },
    /// A program that goes across elements under a key that cannot rotate slots.
    #[error("{}", no_rotations(params, reason.as_deref()))]
    NoRotations {
        /// The parameter set.
        params: String,
        /// Why no key of it can, if so.
        reason: Option<String>,
    },
    /// An element that does not exist.
    #[error("there is no element {index}: the array has {len}")]
    Index {
        /// The index.
        index: usize,
        /// Elements there are.
        len: usize,
    },
    /// A ciphertext of another key.
    #[error("{what} belongs to key {got}, not to key {want}; use the files of one `keygen`")]
    KeyMismatch {
        /// Which ciphertext.
        what: String,
        /// Its key.
        got: String,
        /// The key at hand.
        want: String,
    },
    /// A ciphertext that names another parameter set than its key: no program of ours writes one.
    #[error("{what} names the parameters {got:?}, and its key the parameters {want:?}; copy or compute it again")]
    ForeignParams {
        /// Which ciphertext.
        what: String,
        /// What it names.
        got: String,
        /// The key's.
        want: String,
    },
    /// A parameter set of another scheme.
    #[error("parameter set {params:?} is one of scheme {has}, not of {scheme}; ask for that scheme (--scheme {has}, scheme={:?})", has.name())]
    OtherScheme {
        /// The parameter set.
        params: String,
        /// The scheme that has it.
        has: Scheme,
        /// The scheme asked for.
        scheme: Scheme,
    },
    /// A wrong number of inputs.
    #[error("expected {}, got {got}; give one value for each of {names}", counted(*want, "input"))]
    InputCount {
        /// Given.
        got: usize,
        /// Needed.
        want: usize,
        /// Names and types of the inputs.
        names: String,
    },
    /// An input of another type.
    #[error("input {name:?} is {want}, a ciphertext of {got} was given; encrypt with `--type {want}` or cast it")]
    InputType {
        /// Name of the input.
        name: String,
        /// Its type.
        want: Type,
        /// The type given.
        got: Type,
    },
    /// A circuit port wider than an integer, and no array of bools for it.
    #[error(
        "input {name:?} has {width} bits, got {got}; give an array of {width} bools (`solinas encrypt --bits {width}`, in Python `sl.bits`)"
    )]
    PortWidth {
        /// Name of the port.
        name: String,
        /// Its bits.
        width: usize,
        /// What was given.
        got: String,
    },
    /// Values that a key does not hold: its plaintexts are of another modulus.
    #[error("key {params} holds {holds}, not {wanted}; use values of that type, or a key of another parameter set")]
    Modular {
        /// The parameter set.
        params: String,
        /// What it holds.
        holds: String,
        /// What was to be held.
        wanted: String,
    },
    /// Values in slots, which cannot be taken apart without the key.
    #[error(
        "{slots} values share a ciphertext, which is not taken apart or put together; decrypt all of it, or encrypt the values you want"
    )]
    Packed {
        /// Values that share one.
        slots: usize,
    },
    /// A bit that decrypts to something else (NTRU, BGV).
    #[error(
        "a bit decrypts to a polynomial that is none; the ciphertext is damaged or was computed by a faulty server"
    )]
    NotABit,
    /// More products in a row than the levels of ciphertexts allow (NTRU, BGV, LWE).
    #[error("{}", levels(params, *depth, *left, *need, keys))]
    Levels {
        /// The parameter set.
        params: String,
        /// Products in a row that fresh ciphertexts allow.
        depth: usize,
        /// Those that the inputs allow.
        left: usize,
        /// Those that the circuit takes.
        need: usize,
        /// Keys that allow them, and how to find them.
        keys: String,
    },
    /// A ciphertext form that the scheme does not have.
    #[error("scheme {scheme} has no {form} ciphertexts: key {params} holds {holds}; leave them as they are")]
    SchemeForm {
        /// The scheme.
        scheme: Scheme,
        /// The parameter set.
        params: String,
        /// What it holds.
        holds: Form,
        /// The form asked for.
        form: Form,
    },
    /// A ciphertext form that the key cannot hold.
    #[error("key {params} cannot hold {form} ciphertexts; use a key of the integers family")]
    Form {
        /// The parameter set.
        params: String,
        /// The form.
        form: &'static str,
    },
    /// Decryption gave a value out of range: the noise was too large or the key is not the right one.
    #[error(
        "a block decrypts to {value}, more than {max}: the ciphertext is damaged or was computed by a faulty server"
    )]
    Overflow {
        /// The value.
        value: u32,
        /// The largest right one.
        max: u32,
    },
    /// A bit of an input that carries too much noise to be computed on (Gentry-Halevi).
    #[error(
        "bit {bit} of input {input} leaves {margin:.2} bits of margin where {need:.2} are needed: it can no longer be computed on; encrypt it again"
    )]
    Exhausted {
        /// Number of the input, from 1.
        input: usize,
        /// Number of its bit, from 0.
        bit: usize,
        /// Bits between the bound of its noise and the modulus.
        margin: f64,
        /// Bits it takes.
        need: f64,
    },
    /// A bit that carries too much noise to be decrypted (Gentry-Halevi).
    #[error(
        "bit {bit} leaves {margin:.2} bits of margin where decryption needs {need:.2}; encrypt its inputs again, or compute it anew from others"
    )]
    Undecryptable {
        /// Number of the bit, from 0.
        bit: usize,
        /// Bits between the bound of its noise and the modulus.
        margin: f64,
        /// Bits it takes.
        need: f64,
    },
    /// A gate that no recryption makes possible (Gentry-Halevi).
    #[error(
        "parameters {params:?} cannot evaluate this circuit: a {operation} leaves {margin:.2} bits of margin where {need:.2} are needed, even of recrypted ciphertexts; use toy, small, medium or ci-15"
    )]
    TooDeep {
        /// Name of the parameter set.
        params: String,
        /// `product` or `sum`.
        operation: &'static str,
        /// Bits between the bound of its noise and the modulus.
        margin: f64,
        /// Bits it takes.
        need: f64,
    },
    /// A plan that needs more than planning may take.
    #[error("{stop} of {setting}")]
    Planning {
        /// The limit that it met.
        stop: solinas_circuits::Stop,
        /// The setting of the limit.
        setting: &'static str,
    },
    /// Less memory than the least method takes.
    #[error("{method} takes {need_mib} MiB at parameters {params:?}, and {limit_mib} MiB are allowed; {remedy}")]
    Memory {
        /// The method.
        method: &'static str,
        /// Name of the parameter set.
        params: String,
        /// What it takes.
        need_mib: u64,
        /// What is allowed.
        limit_mib: u64,
        /// The setting that would fit.
        remedy: String,
    },
    /// Less room on a disk than a file takes.
    #[error("{} takes {need_mib} MiB, and {free_mib} MiB are free there; free some space, or write elsewhere", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// What it takes.
        need_mib: u64,
        /// What there is.
        free_mib: u64,
    },
    /// A public matrix of a scheme that has none.
    #[error(
        "scheme {scheme} has no public matrix to store: only keys of scheme lwe have one; encrypt without `--matrix`"
    )]
    NoMatrix {
        /// The scheme.
        scheme: Scheme,
    },
    /// A server key of a scheme in which the client key alone encrypts.
    #[error("keys of scheme {scheme} have no public key: encrypt with the client key")]
    NoPublicKey {
        /// The scheme.
        scheme: Scheme,
    },
    /// A setting of the environment that is none.
    #[error("{name} is {value:?}; give {expected}, or unset it")]
    Setting {
        /// Name of the variable.
        name: &'static str,
        /// What it is.
        value: String,
        /// What is right.
        expected: &'static str,
    },
    /// The caller asked to stop.
    #[error("cancelled; nothing was written")]
    Cancelled,
    /// A job that a parent process started and that had not ended when it forked.
    #[error(
        "the job runs in the process that started it, of which this one is a fork; wait for its result there, or start \
         the job in this process"
    )]
    Forked,
    /// A bug of this library, such as a caught panic.
    #[error("internal error of solinas: {0}; please report it with the steps that led here")]
    Internal(String),
    /// Threads that could not be started.
    #[error("cannot start {}: {reason}; ask for fewer, or allow more memory or processes (ulimit)", if *threads == 0 { "a thread for each core".to_owned() } else { counted(*threads, "thread") })]
    Threads {
        /// Threads asked for; 0 for one for each core.
        threads: usize,
        /// Why not.
        reason: String,
    },
    /// What is wrong with the contents of a file.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<Error>,
    },
    /// From a file.
    #[error(transparent)]
    Format(solinas_formats::Error),
    /// From the scheme.
    #[error(transparent)]
    Tfhe(tfhe::Error),
    /// From the scheme.
    #[error(transparent)]
    Ntru(ntru::Error),
    /// From the slots of a plaintext.
    #[error(transparent)]
    Slots(#[from] slots::Error),
    /// From the scheme.
    #[error(transparent)]
    Bgv(bgv::Error),
    /// From the scheme.
    #[error(transparent)]
    Lwe(lwe::Error),
    /// From the scheme.
    #[error(transparent)]
    Gh(gh::Error),
    /// From a program or circuit.
    #[error(transparent)]
    Circuit(solinas_circuits::Error),
    /// From a program as lookup tables.
    #[error(transparent)]
    Radix(solinas_circuits::radix::Error),
    /// From lookup tables.
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
    let noise = "the noise of its sums and rotations takes more levels than are left";
    let takes = match need {
        _ if need > left => format!("it takes {products}"),
        0 => noise.into(),
        _ => format!("it takes {products}, and {noise}"),
    };
    let here = if left < depth { format!("{left} of the {depth}") } else { left.to_string() };
    // Noise alone, or levels that fresh ciphertexts have.
    let again = if need <= depth { "encrypt its inputs again, or " } else { "" };
    let fewer = "have fewer products in a row (a circuit: `solinas circuit build --recipe lowest-depth`), or ";
    let fewer = if need > left { fewer } else { "" };
    format!("{takes}, and the ciphertexts of key {params} allow {here}; {again}{fewer}{keys}")
}

impl Error {
    /// The same error, about a file: with its name, unless it is told.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match &self {
            Self::Format(error) if error.path().is_some() => self,
            Self::Cancelled | Self::InFile { .. } | Self::Lwe(lwe::Error::File { .. }) => self,
            _ => Self::InFile { path: path.to_path_buf(), source: Box::new(self) },
        }
    }
}

impl From<solinas_schemes::Cancelled> for Error {
    fn from(_: solinas_schemes::Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<tfhe::Error> for Error {
    fn from(error: tfhe::Error) -> Self {
        match error {
            tfhe::Error::Cancelled(_) => Self::Cancelled,
            other => Self::Tfhe(other),
        }
    }
}

impl From<ntru::Error> for Error {
    fn from(error: ntru::Error) -> Self {
        match error {
            ntru::Error::Cancelled(_) => Self::Cancelled,
            other => Self::Ntru(other),
        }
    }
}

impl From<bgv::Error> for Error {
    fn from(error: bgv::Error) -> Self {
        match error {
            bgv::Error::Cancelled(_) => Self::Cancelled,
            other => Self::Bgv(other),
        }
    }
}

impl From<lwe::Error> for Error {
    fn from(error: lwe::Error) -> Self {
        match error {
            lwe::Error::Cancelled(_) => Self::Cancelled,
            other => Self::Lwe(other),
        }
    }
}

impl From<solinas_circuits::Error> for Error {
    fn from(error: solinas_circuits::Error) -> Self {
        match error {
            solinas_circuits::Error::Stopped(stop) => stop.into(),
            other => Self::Circuit(other),
        }
    }
}

impl From<solinas_circuits::lut::Error> for Error {
    fn from(error: solinas_circuits::lut::Error) -> Self {
        match error {
            solinas_circuits::lut::Error::Stopped(stop) => stop.into(),
            other => Self::Lut(other),
        }
    }
}

impl From<solinas_circuits::radix::Error> for Error {
    fn from(error: solinas_circuits::radix::Error) -> Self {
        match error {
            solinas_circuits::radix::Error::Stopped(stop) => stop.into(),
            other => Self::Radix(other),
        }
    }
}

impl From<gh::Error> for Error {
    fn from(error: gh::Error) -> Self {
        match error {
            gh::Error::Cancelled(_) => Self::Cancelled,
            gh::Error::Memory { method, params, need_mib, limit_mib, alternative } => {
                // Tables have an option of their own.
                let option = if method.contains("recryption") { "--memory or " } else { "" };
                let variable = crate::options::MEMORY_VARIABLE;
                let remedy = format!("allow {need_mib} MiB by {option}{variable}, or choose {alternative}");
                Self::Memory { method, params, need_mib, limit_mib, remedy }
            }
            other => Self::Gh(other),
        }
    }
}

impl From<solinas_formats::Error> for Error {
    fn from(error: solinas_formats::Error) -> Self {
        match error {
            solinas_formats::Error::Keygen(error) => error.into(),
            solinas_formats::Error::Matrix(error) => error.into(),
            other => Self::Format(other),
        }
    }
}
