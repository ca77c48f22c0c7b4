//! `solinas keygen`: the client's and the server's key.

use crate::error::{Error, Result, input};
use crate::output::Output;
use crate::progress::watch;
use serde::Serialize;
use solinas_runtime::{KeygenOptions, Scheme};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas keygen --scheme tfhe --out keys
  solinas keygen --params gates-128 --out keys

keys/client.key decrypts: it is readable by you alone and stays with you. keys/server.key goes to the server.
`solinas params` lists the parameter sets.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The encryption scheme
    #[arg(long, default_value = "tfhe")]
    scheme: Scheme,
    /// The parameter set; by default the scheme's recommended one
    #[arg(long, value_name = "NAME")]
    params: Option<String>,
    /// Allow parameter sets that are for research only
    #[arg(long)]
    research: bool,
    /// Derive the keys from this number, for tests that repeat; protects nothing
    #[arg(long, value_name = "N")]
    insecure_seed: Option<u64>,
    /// Replace keys that exist; what they encrypted is lost
    #[arg(long)]
    force: bool,
    /// Folder for client.key and server.key; made if needed
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    client_key: &'a Path,
    server_key: &'a Path,
    key_id: String,
    params: &'a str,
    insecure: bool,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let client_path = args.out.join("client.key");
    let server_path = args.out.join("server.key");
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io("make the folder", &args.out, e))?;
    if let Some(old) = [&client_path, &server_path].into_iter().find(|path| path.exists() && !args.force) {
        let what = format!("{} already exists, and keys cannot be made again", old.display());
        return Err(input(what, "use another folder, or --force to replace it"));
    }
    crate::files::check_writable(&client_path)?;
    if args.insecure_seed.is_some() {
        out.warn("keys from a fixed seed protect nothing; use them for tests only");
    }
    let options = KeygenOptions {
        scheme: args.scheme,
        params: args.params,
        research: args.research,
        insecure_seed: args.insecure_seed,
    };
    let (client, server) = watch(out, "making keys", |control| Ok(solinas_runtime::keygen(&options, control)?))?;
    // The server key first: a client key alone would look like a whole pair.
    server.save(&server_path, args.force)?;
    if let Err(error) = client.save(&client_path, args.force) {
        // Of no use without its client key; that it stays is not worth hiding the cause.
        let _ = std::fs::remove_file(&server_path);
        return Err(error.into());
    }
    let params = client.params();
    let report = Report {
        client_key: &client_path,
        server_key: &server_path,
        key_id: client.key_id().to_string(),
        params: &params.name,
        insecure: args.insecure_seed.is_some(),
    };
    out.report(&report, || {
        format!(
            "{}: secret, keep it\n{}: for the server\nkey {}, parameters {} ({} bits of security, failure probability 2^{:.0})\n",
            client_path.display(),
            server_path.display(),
            client.key_id().short(),
            params.name,
            params.classical_bits,
            params.log2_failure
        )
    })
}
