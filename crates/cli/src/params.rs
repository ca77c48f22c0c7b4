//! `solinas params`: lists the parameter sets and their claims.

use crate::error::Result;
use crate::output::{Output, columns};
use solinas_engine::{Column, GpuList, ParamsInfo, ParamsTable, Scheme, schemes, size};

const EXAMPLES: &str = "\
Examples:
  solinas params
  solinas params --json
  solinas params --devices
  solinas params find --scheme bgv --depth 5 --modulus 65537
  solinas params find --scheme ntru --depth 2

Sets `integers` are fastest on integers, sets `gates` on single gates. The failure column bounds the failure probability of a bootstrap (tfhe), of a recryption (gh), or of an operation or a decryption (others).
For sets of schemes bgv and ntru, the name states the number of products in a row; sets named boot allow any number. For scheme lwe, sets named leveled state it too, and the other sets allow sums only. \
All sets of scheme gh (Gentry-Halevi), and most sets of schemes ntru and lwe, are for research only: keygen needs --research.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// List the GPUs of this machine, which --device of other commands takes
    #[arg(long)]
    devices: bool,
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
    if args.devices {
        let list = solinas_engine::gpus();
        return out.result(&list, || devices(&list));
    }
    let all = solinas_engine::params();
    out.result(&all, || {
        let mut schemes: Vec<Scheme> = schemes().collect();
        schemes.sort_by_key(|scheme| scheme.table().position);
        let sets = |scheme: &Scheme| all.iter().filter(|set| set.scheme == *scheme).collect::<Vec<_>>();
        schemes.iter().map(|scheme| table(scheme.table(), &sets(scheme))).collect::<Vec<_>>().join("\n")
    })
}

/// The GPUs as a table, or the reason why there are none.
fn devices(list: &GpuList) -> String {
    let mut rows = vec![["device", "model", "memory", "multiprocessors", "driver", "note"].map(str::to_owned).to_vec()];
    rows.extend(list.gpus.iter().map(|gpu| {
        let (memory, note) = (size(gpu.memory_bytes as usize), gpu.problem.clone().unwrap_or_default());
        vec![gpu.name.clone(), gpu.model.clone(), memory, gpu.multiprocessors.to_string(), gpu.driver.clone(), note]
    }));
    let others = if cfg!(feature = "gpu") { "devices cpu and emulated" } else { "device cpu" };
    let gpus = match &list.problem {
        Some(problem) => format!("{problem}\nEvery machine has the {others}.\n"),
        None => columns(&rows) + &format!("\nEvery machine also has the {others}.\n"),
    };
    gpus + &designs()
}

/// Whether the hardware designs can be simulated here.
fn designs() -> String {
    #[cfg(feature = "rtl")]
    return match solinas_rtl::available() {
        Ok(version) => format!("The device rtl simulates the hardware designs with {version}.\n"),
        Err(problem) => format!("The device rtl is not available: {problem}.\n"),
    };
    #[cfg(not(feature = "rtl"))]
    "This build of the command has no device rtl (feature `rtl`).\n".to_owned()
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

fn table(table: &ParamsTable, sets: &[&ParamsInfo]) -> String {
    let mut rows = vec![table.columns.iter().map(|(head, _)| (*head).to_owned()).collect::<Vec<_>>()];
    rows.extend(sets.iter().map(|set| table.columns.iter().map(|(_, column)| cell(*column, set)).collect()));
    let mut text = columns(&rows) + "\n" + table.legend + "\n";
    (table.notes)(sets).iter().for_each(|note| text += &format!("{note}\n"));
    text
}

/// A property of a set; empty if the set has none.
fn cell(column: Column, set: &ParamsInfo) -> String {
    let number = |number: Option<usize>| number.map_or_else(String::new, |number| number.to_string());
    match column {
        Column::Name => set.name.clone(),
        Column::Family => set.family.to_owned(),
        Column::Security if set.research_only.is_some() => "none".to_owned(),
        Column::Security => format!("{}/{} bits", set.classical_bits, set.quantum_bits),
        Column::Failure => failure(set),
        Column::LweDimension => number(set.lwe_dimension),
        Column::RingDimension => set.ring_dimension.to_string(),
        Column::GlweDimension => number(set.glwe_dimension),
        Column::ModulusBits => set.modulus_bits.map_or_else(String::new, |bits| format!("{bits:.0}")),
        Column::PlaintextModulus => set.plaintext_modulus.map_or_else(String::new, |p| p.to_string()),
        Column::Holds => match set.slots {
            None => "bits".to_owned(),
            Some(1) => "numbers".to_owned(),
            Some(slots) => format!("{slots} numbers"),
        },
        Column::Products if set.bootstraps => "any".to_owned(),
        Column::Products => number(set.depth),
        Column::CiphertextBytes => size(set.ciphertext_bytes),
        Column::KeyBytes => size(set.server_key_bytes),
        Column::MemoryBytes => size(set.memory_bytes),
        Column::Status => note(set),
    }
}
