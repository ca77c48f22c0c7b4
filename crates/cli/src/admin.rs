//! `solinas admin`: tokens and quotas of a service, for its operator.

use crate::error::Result;
use crate::output::{Output, columns};
use crate::serve::StoreArgs;
use serde_json::json;
use solinas_server::{Scope, Store};

const EXAMPLES: &str = "\
Examples:
  solinas admin token create --tenant lab --scope keys,jobs --expires 90
  solinas admin token list
  solinas admin token revoke 01JD0000000000000000000000
  solinas admin tenant lab --core-seconds-a-day 1e6 --stored-bytes 1e11

The commands work on the folder of the store, while the service runs or not. Changes hold from the next request on.";

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
    /// Set quotas of a tenant
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
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(clap::Subcommand)]
enum TokenCommand {
    /// Make a token, and its tenant if that is new. The token is printed once
    Create {
        /// The tenant, of lower-case letters, digits and hyphens
        #[arg(long, value_name = "NAME")]
        tenant: String,
        /// What it allows: read, jobs, keys, admin
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

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.command {
        Command::Tenant { name, core_seconds_a_day, stored_bytes, live_jobs, store } => {
            // A cast of a float saturates.
            let stored_bytes = stored_bytes.map(|bytes| bytes as u64);
            Store::open(&store.folder()?)?.set_quota(&name, core_seconds_a_day, stored_bytes, live_jobs)?;
            out.report(&json!({ "tenant": name }), || format!("the quotas of {name} are set\n"))
        }
        Command::Token { command: TokenCommand::Create { tenant, scope, expires, store } } => {
            let token = Store::open(&store.folder()?)?.create_token(&tenant, &scope, expires)?;
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
