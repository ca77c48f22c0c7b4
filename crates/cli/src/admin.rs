//! `solinas admin`: tokens, quotas and backups of a service, for its operator.

use crate::error::{Result, input, usage};
use crate::output::{Output, columns};
use crate::serve::{StoreArgs, database};
use serde_json::json;
use solinas_server::{Contents, Scope, Store};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  solinas admin token create --tenant lab --scope keys,jobs --expires 90
  solinas admin token create --scope work
  solinas admin token list
  solinas admin token revoke 01JD0000000000000000000000
  solinas admin tenant biology --create
  solinas admin tenant lab --core-seconds-a-day 1e6 --stored-bytes 1e11
  solinas admin backup monday.tar
  solinas admin restore monday.tar --store new
  solinas admin check --store new
  solinas admin move --to postgres:///solinas

The commands work on the folder of the store, while the service runs or not; only move needs a stop of the service. Changes hold from the next request on.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make, list and revoke tokens
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
    /// Make a tenant, and set its quotas
    Tenant {
        /// The tenant
        name: String,
        /// Core-seconds that its jobs may take in a day
        #[arg(long, value_name = "SECONDS", value_parser = quantity)]
        core_seconds_a_day: Option<f64>,
        /// Bytes that it may store
        #[arg(long, value_name = "BYTES", value_parser = quantity)]
        stored_bytes: Option<f64>,
        /// Jobs that may wait or run
        #[arg(long, value_name = "N")]
        live_jobs: Option<u64>,
        /// Make the tenant if it is new
        #[arg(long)]
        create: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write the database and all files of the store to a tar archive
    Backup {
        /// The archive to write
        file: PathBuf,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Make a store of a backup, in an empty folder
    Restore {
        /// The archive
        file: PathBuf,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Move the records of a stopped service from SQLite to an empty database of PostgreSQL
    Move {
        /// The database, as postgres://USER:PASSWORD@HOST/DATABASE; defaults to the variable SOLINAS_DATABASE
        #[arg(long, value_name = "ADDRESS")]
        to: Option<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Compare all files of the store with their hashes
    Check {
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(clap::Subcommand)]
enum TokenCommand {
    /// Make a token, and its tenant if that is new. The token is printed once
    Create {
        /// The tenant, of lower-case letters, digits and hyphens. A token for workers has none
        #[arg(long, value_name = "NAME")]
        tenant: Option<String>,
        /// What it allows: read, jobs, keys, admin; or work alone, for `solinas work`
        #[arg(long, value_name = "SCOPES", value_delimiter = ',', default_value = "read,jobs,keys")]
        scope: Vec<Scope>,
        /// Days after which it ends
        #[arg(long, value_name = "DAYS")]
        expires: Option<u32>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// List the tokens, without their secrets
    List {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// End a token at once
    Revoke {
        /// The identity, from the list
        id: String,
        #[command(flatten)]
        store: StoreArgs,
    },
}

/// A finite number that is not negative.
fn quantity(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "give a number from 0 on, such as 1e9".to_owned())
}

fn counted(contents: &Contents) -> String {
    format!("{} ({} bytes)", solinas_circuits::counted(contents.blobs, "file"), contents.bytes)
}

/// The store, which is made if it is missing.
fn open_or_make(folder: &Path, out: &Output) -> Result<Store> {
    if !Store::exists(folder) {
        out.remark(&format!("made a new store in {}", folder.display()));
    }
    Ok(Store::open_or_make(folder)?)
}

/// Prints what is wrong with a store.
fn check(store: &Store, out: &Output) -> Result<()> {
    let checked = store.check()?;
    let (missing, damaged) = (&checked.missing, &checked.damaged);
    out.result(&checked, || {
        let line = |what: &'static str| move |name: &String| format!("{what}: {name}\n");
        let wrong = missing.iter().map(line("missing")).chain(damaged.iter().map(line("damaged")));
        format!("checked {}\n", counted(&checked.contents)) + &wrong.collect::<String>()
    })?;
    match missing.len() + damaged.len() {
        0 => Ok(()),
        wrong => Err(input(
            format!("{} of the store cannot be used", solinas_circuits::counted(wrong, "file")),
            "restore a backup, or let the tenants send the files again",
        )),
    }
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.command {
        Command::Backup { file, store } => {
            let contents = Store::open(&store.folder()?)?.backup(&file)?;
            out.report(&contents, || format!("{} has the database and {}\n", file.display(), counted(&contents)))
        }
        Command::Restore { file, store } => {
            let folder = store.folder()?;
            let contents = Store::restore(&file, &folder)?;
            out.report(&contents, || format!("{} has the database and {}\n", folder.display(), counted(&contents)))
        }
        Command::Move { to, store } => {
            let to = database(to)?.ok_or_else(|| usage("no database is named", "name one with --to"))?;
            let moved = Store::move_to(&store.folder()?, &to)?;
            out.report(&moved, || format!("{} are in {to} now\n", solinas_circuits::counted(moved.rows, "record")))
        }
        Command::Check { store } => check(&Store::open(&store.folder()?)?, out),
        Command::Tenant { name, core_seconds_a_day, stored_bytes, live_jobs, create, store } => {
            // A cast of a float saturates.
            let stored_bytes = stored_bytes.map(|bytes| bytes as u64);
            let folder = store.folder()?;
            let store = if create { open_or_make(&folder, out)? } else { Store::open(&folder)? };
            if create {
                store.create_tenant(&name)?;
            }
            store.set_quota(&name, core_seconds_a_day, stored_bytes, live_jobs)?;
            out.report(&json!({ "tenant": name }), || {
                let done = if create { "is ready" } else { "has these quotas" };
                format!("the tenant {name} {done}\n")
            })
        }
        Command::Token { command: TokenCommand::Create { tenant, scope, expires, store } } => {
            let store = open_or_make(&store.folder()?, out)?;
            let token = match (&tenant, &scope[..]) {
                (None, [Scope::Work]) => store.create_worker_token(expires)?,
                (None, [first, ..]) if *first != Scope::Work => {
                    let what = "the token has no tenant";
                    return Err(usage(
                        what,
                        "name its tenant with --tenant, or make a token for workers with --scope work",
                    ));
                }
                _ => store.create_token(tenant.as_deref().unwrap_or_default(), &scope, expires)?,
            };
            out.result(&json!({ "tenant": tenant, "token": token.secret() }), || format!("{}\n", token.secret()))
        }
        Command::Token { command: TokenCommand::List { store } } => {
            let tokens = Store::open(&store.folder()?)?.tokens()?;
            out.result(&tokens, || {
                let head = ["id", "tenant", "scopes", "expires", "last used"].map(String::from).to_vec();
                let rows = tokens.iter().cloned().map(|token| {
                    let never = || "never".to_owned();
                    let (expires, used) = (token.expires.unwrap_or_else(never), token.last_used.unwrap_or_else(never));
                    vec![token.id, token.tenant, token.scopes, expires, used]
                });
                columns(&[head].into_iter().chain(rows).collect::<Vec<_>>())
            })
        }
        Command::Token { command: TokenCommand::Revoke { id, store } } => {
            Store::open(&store.folder()?)?.revoke(&id)?;
            out.report(&json!({ "revoked": id }), || format!("token {id} is revoked\n"))
        }
    }
}
