//! Times what a user waits for before the first bootstrap: `cargo measure starting`.
//!
//! It times the making of a server from a key, and the planning of every operation on integers, for the first and for the
//! second time. With `--solinas` it also times a whole command, from the start of the process to the file of the result.
//! With `--python` it times `import solinas`. Times are the least of the samples.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use bench_common::command;
use bench_measure::{Result, least, try_least};
use clap::Parser;
use solinas_engine::program::OPERATIONS;
use solinas_engine::{Control, KeygenOptions, Program, Server, Type, Work, keygen};

/// Times the start of a server, plans, and commands.
#[derive(Parser)]
struct Args {
    /// Bits of the integers whose operations are planned
    #[arg(long, default_value_t = 64)]
    bits: u16,
    /// Threads of the servers
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The command `solinas`, to time `solinas eval add` of two u8
    #[arg(long)]
    solinas: Option<PathBuf>,
    /// A Python that has the package, to time `import solinas`
    #[arg(long)]
    python: Option<PathBuf>,
}

fn main() -> ExitCode {
    command::main(run)
}

fn run(args: &Args) -> Result<()> {
    let control = Control::default();
    for set in ["integers-128", "gates-128"] {
        let options = KeygenOptions { params: Some(set.into()), ..KeygenOptions::default() };
        let (_, key) = keygen(&options, &control)?;
        let (time, server) = try_least(5, 1.0, || Server::new(&key, Some(args.threads)))?;
        println!("{set}: a server with {} threads: {:.0} ms", args.threads, time.milliseconds());
        let mut times = Vec::new();
        for operation in OPERATIONS {
            let ty = Type::Uint(args.bits);
            let types = if operation.name == "select" { vec![Type::Bool, ty, ty] } else { vec![ty; operation.arity] };
            let Ok(program) = Program::from_op(operation.name, &types) else { continue };
            let time = || {
                let start = Instant::now();
                let _prepared = server.prepare(Work::from(&program), &control)?;
                Ok::<_, solinas_engine::Error>(1e3 * start.elapsed().as_secs_f64())
            };
            times.push((time()?, time()?, operation.name));
        }
        times.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!("{set}: the longest planning at {} bits, first and second time:", args.bits);
        for (first, second, name) in times.iter().take(8) {
            println!("  {name:<16} {first:>8.1} ms {second:>8.2} ms");
        }
    }
    if let Some(solinas) = &args.solinas {
        let folder = std::env::temp_dir().join(format!("solinas-starting-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let run = |args: &[&str]| {
            let status = Command::new(solinas).args(args).current_dir(&folder).stdout(Stdio::null()).status();
            assert!(status.is_ok_and(|status| status.success()), "solinas {args:?}");
        };
        run(&["keygen", "--out", "keys"]);
        run(&["encrypt", "--key", "keys/client.key", "--type", "u8", "200", "-o", "a.ct"]);
        run(&["encrypt", "--key", "keys/client.key", "--type", "u8", "100", "-o", "b.ct"]);
        let eval = ["eval", "--key", "keys/server.key", "add", "a.ct", "b.ct", "-o", "c.ct"];
        let time = least(10, 2.0, || run(&eval));
        println!(
            "solinas eval add of two u8, from the start of the process to the file: {:.0} ms",
            time.milliseconds()
        );
        std::fs::remove_dir_all(&folder)?;
    }
    if let Some(python) = &args.python {
        let import = |code: &str| {
            let time = least(10, 2.0, || {
                let status = Command::new(python).args(["-c", code]).status();
                assert!(status.is_ok_and(|status| status.success()), "python -c {code:?}");
            });
            time.milliseconds()
        };
        let (nothing, whole) = (import(""), import("import solinas"));
        println!("import solinas: {:.0} ms beyond the {nothing:.0} ms of Python itself", whole - nothing);
    }
    Ok(())
}
