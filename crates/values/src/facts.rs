//! Facts about a scheme by which users choose, as data: its options, its table of parameter sets, its benchmark.

use crate::ParamsInfo;

/// Options that some schemes have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Whether the memory for tables beside the server key is an option.
    pub table_memory: bool,
    /// Whether key generation can continue from a checkpoint.
    pub checkpoint: bool,
    /// Whether the first estimate for a key takes long: its measured operations read gigabytes, or are slow themselves.
    pub slow_estimate: bool,
    /// Whether keys have a public matrix, which can be stored in a file.
    pub public_matrix: bool,
    /// Whether results have a compact form.
    pub compact: bool,
    /// Whether results can hide the program from the holder of the client key.
    pub private_program: bool,
    /// Whether servers make encrypted random values.
    pub random: bool,
    /// Whether plans are values: chosen by a model, kept in files, and run in parts.
    pub plans: bool,
}

impl Capabilities {
    /// None of them.
    const NONE: Self = Self {
        table_memory: false,
        checkpoint: false,
        slow_estimate: false,
        public_matrix: false,
        compact: false,
        private_program: false,
        random: false,
        plans: false,
    };
}

/// A table of the parameter sets of a scheme.
#[derive(Debug)]
pub struct ParamsTable {
    /// Place among the tables of all schemes.
    pub position: u8,
    /// The columns, with their headings.
    pub columns: &'static [(&'static str, Column)],
    /// Explains the columns, one line or more.
    pub legend: &'static str,
    /// Notes about the sets, one line each.
    pub notes: fn(&[&ParamsInfo]) -> Vec<String>,
}

/// A column of a [`ParamsTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// Name of the set.
    Name,
    /// Family of the set.
    Family,
    /// Bits of security, classical and quantum, unless the set is for research only.
    Security,
    /// Bound of the failure probability.
    Failure,
    /// LWE dimension.
    LweDimension,
    /// Ring or lattice dimension.
    RingDimension,
    /// GLWE dimension.
    GlweDimension,
    /// Bits of the modulus.
    ModulusBits,
    /// Plaintext modulus.
    PlaintextModulus,
    /// Content of a ciphertext.
    Holds,
    /// Products in a row.
    Products,
    /// Size of a ciphertext.
    CiphertextBytes,
    /// Size of the file of a server key.
    KeyBytes,
    /// Size of a server key in memory.
    MemoryBytes,
    /// Purpose of the set, in one or two words.
    Status,
}

/// The operations that a benchmark of a scheme measures.
#[derive(Debug)]
pub struct BenchCases {
    /// The parameter set, unless another is chosen. Without it, gates and integers have a set each.
    pub params: Option<&'static str>,
    /// Gates of a large batch: in a quick benchmark, and in a full one.
    pub batch: [usize; 2],
    /// Widths of the integers: in a quick benchmark, and in a full one.
    pub widths: [&'static [u16]; 2],
    /// Whether a recryption is measured alone.
    pub recryption: bool,
    /// Whether every set must run all operations. If not, the benchmark omits operations that need more products in a
    /// row than the set allows.
    pub complete: bool,
}

/// The columns of a leveled scheme of that name.
macro_rules! leveled_columns {
    ($name:literal) => {
        &[
            ($name, Column::Name),
            ("security", Column::Security),
            ("failure", Column::Failure),
            ("n", Column::RingDimension),
            ("bits of Q", Column::ModulusBits),
            ("p", Column::PlaintextModulus),
            ("holds", Column::Holds),
            ("products", Column::Products),
            ("ciphertext", Column::CiphertextBytes),
            ("key file", Column::KeyBytes),
            ("", Column::Status),
        ]
    };
}

/// The legend of a leveled scheme.
macro_rules! leveled_legend {
    ($dimension:literal, $products:literal) => {
        concat!(
            "n: ",
            $dimension,
            "; p: plaintext modulus; holds: content of a ciphertext, a bit or a vector of numbers modulo p; products: \
             allowed in a row, ",
            $products
        )
    };
}

const LEVELED: BenchCases =
    BenchCases { params: None, batch: [64; 2], widths: [&[8], &[8, 16]], recryption: false, complete: false };

fn no_notes(_: &[&ParamsInfo]) -> Vec<String> {
    Vec::new()
}

/// Facts about a scheme that its operations do not need.
#[derive(Debug)]
pub(crate) struct SchemeFacts {
    pub(crate) capabilities: Capabilities,
    pub(crate) table: ParamsTable,
    pub(crate) bench: BenchCases,
}

pub(crate) static TFHE: SchemeFacts = SchemeFacts {
    capabilities: Capabilities {
        compact: true,
        private_program: true,
        random: true,
        plans: true,
        ..Capabilities::NONE
    },
    table: ParamsTable {
        position: 0,
        columns: &[
            ("tfhe", Column::Name),
            ("family", Column::Family),
            ("security", Column::Security),
            ("failure", Column::Failure),
            ("n", Column::LweDimension),
            ("N", Column::RingDimension),
            ("k", Column::GlweDimension),
            ("key file", Column::KeyBytes),
            ("in memory", Column::MemoryBytes),
            ("", Column::Status),
        ],
        legend: "security: classical/quantum; n, N, k: dimensions of LWE, ring, GLWE",
        notes: claims,
    },
    bench: BenchCases {
        params: None,
        batch: [64, 512],
        widths: [&[8, 16], &[8, 16, 32, 64]],
        recryption: false,
        complete: true,
    },
};

/// Families, limits and estimates of security, each once.
fn claims(sets: &[&ParamsInfo]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for set in sets {
        notes.push(format!("{}: {}", set.family, set.description));
        notes.extend(set.limited.iter().map(|why| format!("{}: {why}", set.name)));
        notes.push(format!("estimated on {}: {}", set.date, set.estimator));
    }
    notes.sort();
    notes.dedup();
    notes
}

pub(crate) static GH: SchemeFacts = SchemeFacts {
    capabilities: Capabilities { table_memory: true, checkpoint: true, slow_estimate: true, ..Capabilities::NONE },
    table: ParamsTable {
        position: 4,
        columns: &[
            ("gh", Column::Name),
            ("security", Column::Security),
            ("failure", Column::Failure),
            ("n", Column::RingDimension),
            ("bits of d", Column::ModulusBits),
            ("bit", Column::CiphertextBytes),
            ("key file", Column::KeyBytes),
            ("in memory", Column::MemoryBytes),
            ("", Column::Status),
        ],
        legend: "n: dimension of the lattice; bit: size of an encrypted bit; in memory: with the largest tables, smaller if \
                 memory is short",
        notes: weaknesses,
    },
    bench: BenchCases { params: Some("toy"), recryption: true, complete: true, ..LEVELED },
};

/// The reasons why sets are for research only. Sets for tests have no reason here.
fn weaknesses(sets: &[&ParamsInfo]) -> Vec<String> {
    let sets = sets.iter().filter(|set| !set.test_size);
    sets.map(|set| format!("{}: {}", set.name, set.research_only.as_deref().unwrap_or_default())).collect()
}

pub(crate) static NTRU: SchemeFacts = SchemeFacts {
    capabilities: Capabilities::NONE,
    table: ParamsTable {
        position: 2,
        columns: leveled_columns!("ntru"),
        legend: leveled_legend!(
            "ring dimension",
            "any if ciphertexts are bootstrapped\nMore sets by name: tight-N-DEPTH and paper-N-DEPTH (bits), \
             slots-N-DEPTH (vectors of N numbers), boot-N (bits that are bootstrapped); N is a power of two"
        ),
        notes: no_notes,
    },
    bench: BenchCases { params: Some("tight-512-12"), ..LEVELED },
};

pub(crate) static BGV: SchemeFacts = SchemeFacts {
    capabilities: Capabilities::NONE,
    table: ParamsTable {
        position: 1,
        columns: leveled_columns!("bgv"),
        legend: leveled_legend!(
            "ring dimension",
            "any if ciphertexts are bootstrapped; client keys make ciphertexts of half the size\nMore sets by name: \
             slots-N-DEPTH and wide-N-DEPTH (vectors of N numbers), bits-N-DEPTH (bits), boot-N-DEPTH (bits that are \
             bootstrapped); N is a power of two"
        ),
        notes: no_notes,
    },
    bench: BenchCases { params: Some("slots128-16384-7"), ..LEVELED },
};

pub(crate) static LWE: SchemeFacts = SchemeFacts {
    capabilities: Capabilities { slow_estimate: true, public_matrix: true, ..Capabilities::NONE },
    table: ParamsTable {
        position: 3,
        columns: leveled_columns!("lwe"),
        legend: leveled_legend!(
            "dimension",
            "0 if only sums are allowed\nMore sets by name: leveled-N-DEPTH (N up to 128), toy-N-WORDS and paper-N (the \
             paper's dimensions), for research only"
        ),
        notes: no_notes,
    },
    bench: BenchCases { params: Some("leveled-32-9"), ..LEVELED },
};
