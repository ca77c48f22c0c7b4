//! `solinas params`: lists the parameter sets and their claims.

use crate::error::Result;
use crate::output::{Output, columns};
use solinas_runtime::{ParamsInfo, Scheme};

const EXAMPLES: &str = "\
Examples:
  solinas params
  solinas params --json
  solinas params find --scheme bgv --depth 5 --modulus 65537
  solinas params find --scheme ntru --depth 2

Sets `integers` are fastest on integers, sets `gates` on single gates. The failure column bounds the failure probability of a bootstrap (tfhe), of a recryption (gh), or of an operation or a decryption (others).
For sets of schemes bgv and ntru, the name states the number of products in a row; sets named boot allow any number. For scheme lwe, sets named leveled state it too, and the other sets allow sums only. \
All sets of scheme gh (Gentry-Halevi), and most sets of schemes ntru and lwe, are for research only: keygen needs --research.";

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
        let sets = |scheme| all.iter().filter(|set| set.scheme == scheme).collect::<Vec<_>>();
        let tables = [
            tfhe(&sets(Scheme::Tfhe)),
            bgv(&sets(Scheme::Bgv)),
            ntru(&sets(Scheme::Ntru)),
            lwe(&sets(Scheme::Lwe)),
            gentry_halevi(&sets(Scheme::Gh)),
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

/// Upper bound of the failure probability, as text.
fn failure(set: &ParamsInfo) -> String {
    format!("2^{:.0}", set.log2_failure.ceil())
}

/// The purpose of a set, in one or two words.
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
        + "holds: content of a ciphertext, a bit or a vector of numbers modulo p; products: allowed in a row"
}

fn ntru(all: &[&ParamsInfo]) -> String {
    leveled("ntru", "ring dimension", all)
        + ", any if ciphertexts are bootstrapped\nMore sets by name: tight-N-DEPTH and paper-N-DEPTH (bits), slots-N-DEPTH (vectors of N numbers), boot-N (bits that are \
           bootstrapped); N is a power of two\n"
}

fn bgv(all: &[&ParamsInfo]) -> String {
    leveled("bgv", "ring dimension", all)
        + ", any if ciphertexts are bootstrapped; client keys make ciphertexts of half the size\nMore sets by name: slots-N-DEPTH and wide-N-DEPTH (vectors of N numbers), bits-N-DEPTH (bits), boot-N-DEPTH (bits that are \
           bootstrapped); N is a power of two\n"
}

fn lwe(all: &[&ParamsInfo]) -> String {
    leveled("lwe", "dimension", all)
        + ", 0 if only sums are allowed\nMore sets by name: leveled-N-DEPTH (N up to 128), toy-N-WORDS and paper-N (the paper's dimensions), for research only\n"
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
    text += "\nn: dimension of the lattice; bit: size of an encrypted bit; in memory: with the largest tables, smaller if memory is short\n";
    for set in all.iter().filter(|set| !set.test_size) {
        text += &format!("{}: {}\n", set.name, set.research_only.as_deref().unwrap_or_default());
    }
    text
}
