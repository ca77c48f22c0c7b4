//! `solinas params`: the parameter sets and what they claim.

use crate::error::Result;
use crate::output::{Output, columns};
use solinas_runtime::{ParamsInfo, Scheme};

const EXAMPLES: &str = "\
Examples:
  solinas params
  solinas params --json
  solinas params find --scheme bgv --depth 5 --modulus 65537
  solinas params find --scheme ntru --depth 2

`integers` sets are fastest on integers, `gates` sets on single gates. A bound of the failure probability is shown for each set: of a bootstrap (tfhe), of a recryption (gh), of an operation or a decryption (others).
Sets of schemes bgv and ntru allow as many products in a row as their names say (those named boot any number), those of scheme lwe that are named leveled, too; its others take sums alone. Those of scheme gh (Gentry-Halevi), and most of schemes ntru and lwe, are for research only: \
keygen wants --research.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Find the smallest parameters for a depth, a plaintext modulus and a level of security
    Find(crate::find::Args),
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    if let Some(Command::Find(args)) = args.command {
        return crate::find::run(args, out);
    }
    let all = solinas_runtime::params();
    out.result(&all, || {
        let of = |scheme| all.iter().filter(|set| set.scheme == scheme).collect::<Vec<_>>();
        let tables = [
            tfhe(&of(Scheme::Tfhe)),
            bgv(&of(Scheme::Bgv)),
            ntru(&of(Scheme::Ntru)),
            lwe(&of(Scheme::Lwe)),
            gentry_halevi(&of(Scheme::Gh)),
        ];
        tables.join("\n")
    })
}

/// `11.2 GB`, `17 MB`, `24 kB`, `486 B`.
pub(crate) fn size(bytes: usize) -> String {
    let bytes = bytes as f64;
    if bytes < 1e4 {
        format!("{bytes:.0} B")
    } else if bytes < 1e6 {
        format!("{:.0} kB", bytes / 1e3)
    } else if bytes < 1e10 {
        format!("{:.0} MB", bytes / 1e6)
    } else {
        format!("{:.1} GB", bytes / 1e9)
    }
}

/// The bound of the failure probability.
fn failure(set: &ParamsInfo) -> String {
    format!("2^{:.0}", set.log2_failure.ceil())
}

/// What a set is for, in a word or two.
fn note(set: &ParamsInfo) -> String {
    match set.status {
        _ if set.test_size => "for tests".to_owned(),
        "limited" => "not recommended".to_owned(),
        status => status.replace('_', " "),
    }
}

fn tfhe(all: &[&ParamsInfo]) -> String {
    let mut rows =
        vec![["tfhe", "family", "security", "failure", "n", "N", "k", "key file", "in memory", ""].map(str::to_owned)];
    let number = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
    for set in all {
        rows.push([
            set.name.to_string(),
            set.family.to_string(),
            format!("{}/{} bits", set.classical_bits, set.quantum_bits),
            failure(set),
            number(set.lwe_dimension),
            set.ring_dimension.to_string(),
            number(set.glwe_dimension),
            size(set.server_key_bytes),
            size(set.memory_bytes),
            note(set),
        ]);
    }
    let mut text = columns(&rows);
    text += "\nsecurity: classical/quantum; n, N, k: dimensions of LWE, ring, GLWE\n";
    let mut notes: Vec<String> = Vec::new();
    for set in all {
        notes.push(format!("{}: {}", set.family, set.description));
        notes.extend(set.limited.iter().map(|why| format!("{}: {why}", set.name)));
        notes.push(format!("estimated on {}: {}", set.date, set.estimator));
    }
    notes.sort();
    notes.dedup();
    notes.iter().for_each(|note| text += &format!("{note}\n"));
    text
}

fn leveled(name: &str, dimension: &str, all: &[&ParamsInfo]) -> String {
    let heads = [name, "security", "failure", "n", "bits of Q", "p", "holds", "products", "ciphertext", "key file", ""];
    let mut rows = vec![heads.map(str::to_owned)];
    for set in all {
        rows.push([
            set.name.clone(),
            match set.recommended {
                true => format!("{}/{} bits", set.classical_bits, set.quantum_bits),
                false => "none".to_owned(),
            },
            failure(set),
            set.ring_dimension.to_string(),
            set.modulus_bits.map_or_else(String::new, |bits| format!("{bits:.0}")),
            set.plaintext_modulus.map_or_else(String::new, |p| p.to_string()),
            match set.slots {
                None => "bits".to_owned(),
                Some(1) => "numbers".to_owned(),
                Some(slots) => format!("{slots} numbers"),
            },
            match set.depth {
                _ if set.bootstraps => "any".to_owned(),
                depth => depth.map_or_else(String::new, |depth| depth.to_string()),
            },
            size(set.ciphertext_bytes),
            size(set.server_key_bytes),
            note(set),
        ]);
    }
    let notes = format!("\nn: {dimension}; p: plaintext modulus; ");
    columns(&rows)
        + &notes
        + "holds: of a ciphertext, a bit or a vector of so many numbers modulo p; products: in a row"
}

fn ntru(all: &[&ParamsInfo]) -> String {
    leveled("ntru", "ring dimension", all)
        + ", any where ciphertexts are bootstrapped\nOther sets by name: tight-N-DEPTH and paper-N-DEPTH of bits, slots-N-DEPTH of vectors of N numbers, boot-N of bits that are \
           bootstrapped; N a power of two\n"
}

fn bgv(all: &[&ParamsInfo]) -> String {
    leveled("bgv", "ring dimension", all)
        + ", any where ciphertexts are bootstrapped; client keys make ciphertexts of half the size\nOther sets by name: slots-N-DEPTH and wide-N-DEPTH of vectors of N numbers, bits-N-DEPTH of bits, boot-N-DEPTH of bits that are \
           bootstrapped; N a power of two\n"
}

fn lwe(all: &[&ParamsInfo]) -> String {
    leveled("lwe", "dimension", all)
        + ", 0 where there are sums alone\nOther sets by name: leveled-N-DEPTH of N up to 128, toy-N-WORDS, and paper-N of the paper's dimensions; for research only\n"
}

fn gentry_halevi(all: &[&ParamsInfo]) -> String {
    let mut rows =
        vec![["gh", "security", "failure", "n", "bits of d", "bit", "key file", "in memory", ""].map(str::to_owned)];
    for set in all {
        rows.push([
            set.name.clone(),
            "none".to_owned(),
            failure(set),
            set.ring_dimension.to_string(),
            set.modulus_bits.map_or_else(String::new, |bits| format!("{bits:.0}")),
            size(set.ciphertext_bytes),
            size(set.server_key_bytes),
            size(set.memory_bytes),
            note(set),
        ]);
    }
    let mut text = columns(&rows);
    text += "\nn: dimension of the lattice; bit: an encrypted bit; in memory: with the largest tables, less where memory is short\n";
    for set in all.iter().filter(|set| !set.test_size) {
        text += &format!("{}: {}\n", set.name, set.research_only.as_deref().unwrap_or_default());
    }
    text
}
