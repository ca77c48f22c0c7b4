//! `solinas keygen`: generates the client's key, the server's key, and the public key of schemes that have a file of it.

use crate::error::{Error, Result, input, keep_progress_in};
use crate::output::Output;
use crate::progress::watch;
use serde::Serialize;
use solinas_engine::{ClientKey, KeygenOptions, ParamsInfo, PublicKey, Scheme, ServerKey, size};
use solinas_formats::{Expect, Kind, NewPair, Reader};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

const EXAMPLES: &str = "\
Examples:
  solinas keygen --scheme tfhe --out keys
  solinas keygen --params gates-128 --out keys
  solinas keygen --scheme gh --params toy --research --out keys
  solinas keygen --scheme bgv --out keys
  solinas keygen --scheme bgv --params slots128-8192-3 --out keys
  solinas keygen --scheme ntru --params secure-16384-2 --out keys
  solinas keygen --scheme ntru --params tight-512-12 --research --out keys
  solinas keygen --scheme ntru --params slots-8192-3 --rotations --research --out keys
  solinas keygen --scheme lwe --out keys
  solinas keygen --scheme lwe --params leveled-64-9 --research --out keys

keys/client.key decrypts: only you can read the file, and you keep it. keys/server.key goes to the server.
Scheme tfhe also writes keys/public.key, with which anyone encrypts. In the other schemes, anyone encrypts with server.key.
`solinas params` lists the parameter sets.
Scheme bgv: a name states security, dimension and depth. slots128-16384-7 (the default) has 128 bits of security, holds vectors of 16384 integers modulo 65537, \
and allows 7 products in a row. Sets wide128-... hold vectors modulo 1073479681, sets bits128-... hold bits. boot128-16384-8 holds bits that are bootstrapped, for circuits of any depth.
Scheme ntru: a name states dimension and depth. tight-512-12 holds bits and allows 12 products in a row. slots-8192-3 holds vectors of 8192 integers modulo a prime and allows 3.
Scheme lwe: leveled-secure-1 (the default) has 128 bits of security, holds bits and allows one product.
Scheme gh (Gentry-Halevi): all sets are for research only and need --research. Key generation can take long. If it fails, or after Ctrl-C, \
run the same command again: it continues from DIR/client.key.partial. That file is as secret as the key.";

/// Name of the file that keeps the progress of a long key generation.
const CHECKPOINT: &str = "client.key.partial";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The encryption scheme: tfhe, ntru, bgv, lwe, or gh for research
    #[arg(long, default_value = "tfhe")]
    scheme: Scheme,
    /// Parameter set; defaults to the recommended set of the scheme
    #[arg(long, value_name = "NAME")]
    params: Option<String>,
    /// Add keys that rotate slots, for operations across the elements of arrays: rotate, sum and dot (scheme ntru, for research only; keys of bgv always have them)
    #[arg(long)]
    rotations: bool,
    /// Allow parameter sets for research only
    #[arg(long)]
    research: bool,
    /// Derive the keys from this number, for reproducible tests; such keys protect nothing
    #[arg(long, value_name = "N")]
    insecure_seed: Option<u64>,
    /// Replace existing keys; nobody can decrypt their ciphertexts any more
    #[arg(long)]
    force: bool,
    /// Folder for client.key, server.key and public.key; created if needed
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    client_key: &'a Path,
    server_key: &'a Path,
    public_key: Option<&'a Path>,
    key_id: String,
    fingerprint: String,
    params: &'a str,
    insecure: bool,
    /// Purpose and limits of the set.
    holds: &'a str,
    client_key_bytes: u64,
    server_key_bytes: u64,
    public_key_bytes: Option<u64>,
    classical_bits: f64,
    research_only: Option<&'a str>,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let client_path = args.out.join("client.key");
    let server_path = args.out.join("server.key");
    let new = !args.out.exists();
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io("make the folder", &args.out, e))?;
    crate::files::remove_leftovers(&args.out);
    remove_used(&args.out.join(CHECKPOINT), &client_path, out)?;
    let done = make(args, &client_path, &server_path, out);
    if let (Err(_), true, Some(folder)) = (&done, new, client_path.parent()) {
        // If the folder is empty, it is removed. If it is not, this fails, and the folder stays.
        let _ = std::fs::remove_dir(folder);
    }
    done
}

/// Removes the checkpoint of a stored key, which remains if the command was killed just before its end.
fn remove_used(checkpoint: &Path, client: &Path, out: &Output) -> Result<()> {
    let modulus = |path: &Path, kind| {
        let reader = Reader::open(path, Expect::kind(kind)).ok()?;
        Some(Zeroizing::new(reader.section("d").ok()?.into_owned()))
    };
    match (modulus(checkpoint, Kind::Checkpoint), modulus(client, Kind::ClientKey)) {
        (Some(made), Some(stored)) if made == stored => {
            std::fs::remove_file(checkpoint).map_err(|e| Error::io("remove", checkpoint, e))?;
            let (checkpoint, client) = (checkpoint.display(), client.display());
            out.warn(&format!("removed {checkpoint}, which a killed command had left: its key is {client}"));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn make(args: Args, client_path: &Path, server_path: &Path, out: &Output) -> Result<()> {
    let public_path = &args.out.join("public.key");
    let paths = [client_path, server_path, public_path];
    if let Some(old) = paths.into_iter().find(|path| path.exists() && !args.force) {
        let what = match client_path.exists() {
            true => format!("{} already exists, and a replaced key cannot be recovered", old.display()),
            false => format!("{} already exists, a key without its client key", old.display()),
        };
        return Err(input(what, "use another folder, or --force to replace it"));
    }
    for path in paths {
        crate::files::check_no_private_key(path)?;
    }
    crate::files::check_writable(client_path)?;
    if args.insecure_seed.is_some() {
        out.warn("keys from a fixed seed protect nothing; use them for tests only");
    }
    let options = KeygenOptions {
        scheme: args.scheme,
        params: args.params,
        rotations: args.rotations,
        research: args.research,
        insecure_seed: args.insecure_seed,
        checkpoint: args.scheme.capabilities().checkpoint.then(|| args.out.join(CHECKPOINT)),
    };
    options.checkpoint.iter().for_each(|path| keep_progress_in(path));
    if let Some(path) = options.checkpoint.as_ref().filter(|path| path.exists()) {
        out.warn(&format!("continuing the key generation of {}", path.display()));
    }
    let keygen = || {
        let made = watch(out, "making keys", |control| Ok(solinas_engine::keygen(&options, control)?));
        made.map_err(|error| match &options.checkpoint {
            Some(path) if is_unusable(&error) => {
                let (what, help) = error.parts();
                let help = help.map_or_else(String::new, |help| format!("{help}; or "));
                input(what, format!("{help}move {} away to start again", path.display()))
            }
            _ => error,
        })
    };
    let (mut client, mut server) = keygen()?;
    // A run that was killed after it had stored its keys leaves its checkpoint. From that checkpoint the next run would make the replaced key again.
    let is_old =
        |client: &ClientKey| ClientKey::load_exposed(client_path).is_ok_and(|old| old.key_id() == client.key_id());
    if let (Some(path), None) = (&options.checkpoint, args.insecure_seed)
        && is_old(&client)
    {
        std::fs::remove_file(path).map_err(|e| Error::io("remove", path, e))?;
        (client, server) = keygen()?;
    }
    let public = public_key(&client)?;
    save(&client, &server, public.as_ref(), &args.out, args.force)?;
    if let Some(path) = &options.checkpoint
        && let Err(error) = std::fs::remove_file(path)
    {
        let what = format!("{} holds the secret key and could not be removed", path.display());
        out.warn(&format!("{what} ({error}): remove it, otherwise the next keygen makes the same key"));
    }
    let params = client.params();
    let report = Report {
        client_key: client_path,
        server_key: server_path,
        public_key: public.as_ref().map(|_| &**public_path),
        key_id: client.key_id().to_string(),
        fingerprint: client.fingerprint()?.to_string(),
        params: &params.name,
        insecure: args.insecure_seed.is_some(),
        holds: &params.description,
        client_key_bytes: bytes(client_path)?,
        server_key_bytes: bytes(server_path)?,
        public_key_bytes: public.as_ref().map(|_| bytes(public_path)).transpose()?,
        classical_bits: params.classical_bits,
        research_only: params.research_only.as_deref(),
    };
    out.report(&report, || {
        format!(
            "{}: secret, keep it ({})\n{}: for the server ({})\n{}key {}, parameters {} ({})\nfingerprint {}\n{}",
            client_path.display(),
            size(report.client_key_bytes as usize),
            server_path.display(),
            size(report.server_key_bytes as usize),
            report.public_key_bytes.map_or_else(String::new, |bytes| {
                format!("{}: for anyone who encrypts ({})\n", public_path.display(), size(bytes as usize))
            }),
            client.key_id().short(),
            params.name,
            claim(&params),
            report.fingerprint,
            params.depth.map_or_else(String::new, |_| format!("holds {}\n", params.description))
        )
    })
}

/// The public key, if the scheme has a file of it.
pub(crate) fn public_key(client: &ClientKey) -> Result<Option<PublicKey>> {
    match client.public_key() {
        Ok(key) => Ok(Some(key)),
        Err(solinas_engine::Error::PublicInServerKey { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Size of a file, bytes.
fn bytes(path: &Path) -> Result<u64> {
    Ok(std::fs::metadata(path).map_err(|e| Error::io("inspect", path, e))?.len())
}

/// Whether the error says that key generation cannot continue from the existing checkpoint.
fn is_unusable(error: &Error) -> bool {
    use solinas_formats::Error::{
        Damaged, Empty, Field, Link, MissingSection, NewerVersion, NotAFile, NotSolinas, Section, Truncated, WrongKind,
        WrongScheme,
    };
    let Error::Engine(error) = error else { return false };
    let solinas_engine::Error::Format(error) = &**error else { return false };
    matches!(
        error,
        Damaged { .. }
            | Empty { .. }
            | Field { .. }
            | MissingSection { .. }
            | NewerVersion { .. }
            | Link { .. }
            | NotAFile { .. }
            | NotSolinas { .. }
            | Section { .. }
            | Truncated { .. }
            | WrongKind { .. }
            | WrongScheme { .. }
    )
}

/// The security claim of a parameter set, as text.
pub(crate) fn claim(params: &ParamsInfo) -> String {
    match (&params.research_only, &params.limited) {
        (Some(why), _) => {
            let size = if params.test_size { ", and of a size for tests" } else { "" };
            format!("no security: for research only{size}: {why}")
        }
        (None, limited) => {
            let note = limited.as_ref().map_or_else(String::new, |why| format!("; not recommended: {why}"));
            format!(
                "{} bits of security, failure probability 2^{:.0}{note}",
                params.classical_bits.floor(),
                params.log2_failure.ceil()
            )
        }
    }
}

/// Writes both keys or neither. An existing pair stays complete until it is replaced, and stays if replacing fails.
fn save(client: &ClientKey, server: &ServerKey, public: Option<&PublicKey>, folder: &Path, force: bool) -> Result<()> {
    let pair = NewPair::create_in(folder)?;
    client.save(&pair.client(), false)?;
    server.save(&pair.server(), false)?;
    if let Some(public) = public {
        public.save(&pair.public(), false)?;
    }
    pair.place(force).map_err(|error| match error {
        solinas_formats::Error::Exists { path, .. } => {
            input(format!("{} already exists", path.display()), "use another folder, or --force to replace it")
        }
        other => other.into(),
    })
}
