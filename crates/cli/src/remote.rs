//! `solinas remote`: a service, as a client sees it.

use crate::connection::{ServiceArgs, ciphertexts, connect, fetch, key_bytes};
use crate::error::{Error, Result, input};
use crate::files::write_text;
use crate::output::{Output, columns};
use crate::progress::watch;
use serde_json::{Value, json};
use solinas_client::JobState;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  export SOLINAS_SERVER=http://127.0.0.1:7470 SOLINAS_TOKEN=slk_...
  solinas remote register keys/server.key
  solinas eval --server mul a.ct b.ct -o c.ct
  solinas remote jobs --state running
  solinas remote watch 01JD0000000000000000000000
  solinas remote result 01JD0000000000000000000000 -o results/
  solinas remote schedule 01JD0000000000000000000000 -o schedule.svg

SOLINAS_SERVER is the address of the service, and SOLINAS_TOKEN is the token that its operator gave you.
Requests are repeated for two minutes while the service is busy or cannot be reached.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    service: ServiceArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Send a server key, unless the service has it
    Register {
        /// The server key
        file: PathBuf,
    },
    /// List the newest jobs
    Jobs {
        /// Only jobs of this state: queued, running, succeeded, failed, cancelled or expired
        #[arg(long)]
        state: Option<String>,
        /// The most jobs to list
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        limit: usize,
    },
    /// Show the progress of a job until its end
    Watch {
        /// Identity of the job, which `solinas remote jobs` lists
        id: String,
    },
    /// Cancel a job
    Cancel {
        /// Identity of the job, which `solinas remote jobs` lists
        id: String,
    },
    /// Wait for a job, and write its results
    Result {
        /// Identity of the job, which `solinas remote jobs` lists
        id: String,
        /// The ciphertext file to write, or a folder
        #[arg(long, short, value_name = "PATH")]
        output: PathBuf,
    },
    /// List the waves of a job, with expected and measured times, or draw them
    Schedule {
        /// Identity of the job, which `solinas remote jobs` lists
        id: String,
        /// The picture to write, in SVG: a bar for each wave
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove a job that has ended, and its results
    Rm {
        /// Identity of the job, which `solinas remote jobs` lists
        id: String,
    },
    /// List the registered keys
    Keys,
    /// Print quotas, limits, and what was used today
    Usage,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    match args.command {
        Command::Register { file } => {
            let key = key_bytes(&file)?;
            let registered = connect(&args.service)?.register(&key).map_err(|error| match error {
                solinas_client::Error::Secret => {
                    input(format!("{} is a secret key, which no service may have", file.display()), "name server.key")
                }
                solinas_client::Error::Values(error) => Error::from(error).with_place(&file.display().to_string()),
                other => other.into(),
            })?;
            let data = json!({ "key_id": registered.key_id, "sent": registered.sent });
            out.report(&data, || match registered.sent {
                0 => format!("already there: key {}\n", &registered.key_id[..16]),
                sent => format!("registered key {} ({sent} bytes sent)\n", &registered.key_id[..16]),
            })
        }
        Command::Jobs { state, limit } => {
            let jobs = Value::Array(connect(&args.service)?.jobs(state.as_deref(), limit)?);
            out.result(&jobs, || table(&jobs, &["id", "state", "name", "created"]))
        }
        Command::Keys => {
            let keys = connect(&args.service)?.keys()?;
            out.result(&keys, || table(&keys, &["key_id", "name", "last_used", "expires"]))
        }
        Command::Usage => {
            let usage = connect(&args.service)?.usage()?;
            out.result(&usage, || lines("", &usage))
        }
        Command::Watch { id } => {
            let job = connect(&args.service)?.job(&id);
            let state = watch(out, &format!("job {id}"), |control| Ok(job.wait_for_end(control)?))?;
            out.result(state.json(), || described(&id, &state))?;
            match state.name() {
                "failed" | "cancelled" => {
                    let fix = state.json()["error"]["fix"].as_str().unwrap_or("submit it again").to_owned();
                    Err(input(format!("job {id} has no results"), fix))
                }
                _ => Ok(()),
            }
        }
        Command::Cancel { id } => {
            let state = connect(&args.service)?.job(&id).cancel()?;
            out.report(state.json(), || described(&id, &state))
        }
        Command::Schedule { id, output: None } => {
            let schedule = connect(&args.service)?.job(&id).schedule()?;
            let fields = ["step", "width", "bootstraps", "done", "estimated_ms", "measured_ms"];
            out.result(&schedule, || table(&schedule["waves"], &fields))
        }
        Command::Schedule { id, output: Some(file) } => {
            let svg = connect(&args.service)?.job(&id).schedule_svg()?;
            write_text(Some(&file), &svg, out)?;
            out.report(&json!({ "file": file }), || format!("{}\n", file.display()))
        }
        Command::Rm { id } => {
            connect(&args.service)?.job(&id).remove()?;
            out.report(&json!({ "removed": id }), || format!("job {id} is removed\n"))
        }
        Command::Result { id, output } => {
            let job = connect(&args.service)?.job(&id);
            let results = fetch(out, &job)?;
            let names: Vec<_> = results.iter().map(|result| result.name.clone()).collect();
            let targets = crate::eval::targets(&[output], &names)?;
            crate::eval::write(&targets, &ciphertexts(&results)?, out)
        }
    }
}

fn described(id: &str, state: &JobState) -> String {
    let (done, total) = state.progress();
    let error = state.json()["error"]["detail"].as_str().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!(
        "job {id} has {}{error} ({done} of {total} steps)\n",
        match state.name() {
            "cancelled" => "been cancelled",
            name => name,
        }
    )
}

/// A value of JSON as text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn table(rows: &Value, fields: &[&str]) -> String {
    let head = fields.iter().map(|field| field.replace('_', " ")).collect::<Vec<_>>();
    let rows = rows.as_array().into_iter().flatten();
    let rows = rows.map(|row| fields.iter().map(|field| text(&row[*field])).collect());
    columns(&[head].into_iter().chain(rows).collect::<Vec<_>>())
}

/// The fields of a value, a line each.
fn lines(prefix: &str, value: &Value) -> String {
    match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| lines(&format!("{prefix}{name} "), value)).collect(),
        other => format!("{prefix}{}\n", text(other)),
    }
}
