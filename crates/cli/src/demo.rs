//! `solinas demo`: runs a sealed-bid auction. The server finds the price and the winner without seeing a bid.
//!
//! With scheme tfhe, each bidder encrypts with the public key, in a process and a folder of its own. No bidder and not the server
//! has the client key.

use crate::csv_rows::{Row, csv_rows};
use crate::error::{Error, Result, input};
use crate::output::Output;
use crate::progress::{interrupt_control, watch};
use serde::Serialize;
use solinas_circuits::counted;
use solinas_circuits::program::{Program, Type};
use solinas_engine::{
    Ciphertext, ClientKey, Estimate, KeygenOptions, Natural, Plain, Scheme, Server, ServerKey, ServerOptions, Work,
};
use solinas_formats::{Kind, Summary, TemporaryFolder};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The bids where no file is given.
const BIDS: &str = include_str!("bids.csv");
const BID: Type = Type::Uint(16);

const EXAMPLES: &str = "\
Examples:
  solinas demo
  solinas demo --bids bids.csv --keep auction
  solinas demo --scheme gh --params ci-15 --research --quick
  solinas demo --scheme ntru --params tight-512-20 --research
  solinas demo --scheme bgv --params bits-512-20 --research
  solinas demo --scheme lwe --params leveled-16-20 --research --quick
  solinas demo --json

Bids come from a CSV file with the header bidder,bid: 1 to 64 bids of 0 to 65535. If the highest bids are equal, the first of them wins.
The log shows every file that the server held. The exit code is 1 if the result differs from that of plain arithmetic.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The encryption scheme: tfhe, ntru, bgv, lwe, or gh for research
    #[arg(long, default_value = "tfhe")]
    scheme: Scheme,
    /// Parameter set; defaults to the recommended set of the scheme
    #[arg(long, value_name = "NAME")]
    params: Option<String>,
    /// Allow parameter sets for research only
    #[arg(long)]
    research: bool,
    /// CSV file of the bids; defaults to eight built-in bids
    #[arg(long, value_name = "FILE")]
    bids: Option<PathBuf>,
    /// Number of threads of the server; defaults to the number of processors
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Device of the server: cpu, cuda:N, several as cuda:0,cuda:1 or cuda:all, auto, or emulated for tests; defaults to SOLINAS_DEVICE, else to cpu
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Use the first four bids only
    #[arg(long)]
    quick: bool,
    /// Keep the files of the client and the server in this new folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// A bidder's name and bid.
struct Bid {
    bidder: String,
    amount: u16,
}

/// A file that the server holds.
#[derive(Serialize)]
struct Held {
    file: String,
    kind: Kind,
    bytes: u64,
    first_bytes: String,
}

/// Result of the auction.
#[derive(Serialize)]
struct Report {
    bids: usize,
    price: u16,
    winner: String,
    winner_index: usize,
    correct: bool,
    server_held: Vec<Held>,
    bootstraps: u64,
    recrypts: u64,
    products: u64,
    server_seconds: f64,
    seconds: f64,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let start = Instant::now();
    let limits = crate::limits::server_options(args.threads, None, args.device.as_deref())?;
    let mut bids = read_bids(args.bids.as_deref())?;
    if args.quick {
        bids.truncate(4);
    }
    check_auction(args.scheme, args.params.as_deref(), bids.len())?;
    let place = std::env::temp_dir();
    crate::files::remove_leftovers(&place);
    let temporary = TemporaryFolder::create_in(&place).map_err(|e| Error::io("make a folder in", &place, e))?;
    let root = match &args.keep {
        Some(folder) => {
            if folder.exists() {
                return Err(input(format!("{} already exists", folder.display()), "name a new folder"));
            }
            std::fs::create_dir(folder).map_err(|e| Error::io("make the folder", folder, e))?;
            folder.as_path()
        }
        None => temporary.path(),
    };
    let (client, server) = (root.join("client"), root.join("server"));
    for folder in [&client, &server] {
        make_folder(folder)?;
    }

    let options =
        KeygenOptions { scheme: args.scheme, params: args.params, research: args.research, ..Default::default() };
    prepare(&options, &bids, root, out)?;
    let (server_held, estimate, server_seconds) = serve(&server, bids.len(), &limits, out)?;
    let (price, winner_index) = open(&client, &server)?;

    let winner = bids.get(winner_index).map_or_else(|| "nobody".to_owned(), |bid| bid.bidder.clone());
    let expected = bids.iter().map(|bid| bid.amount).max().unwrap_or(0);
    let first = bids.iter().position(|bid| bid.amount == expected);
    let correct = price == expected && first == Some(winner_index);
    out.note(&format!("client: decrypted price {price} and index {winner_index}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let report = Report {
        bids: bids.len(),
        price,
        winner,
        winner_index,
        correct,
        server_held,
        bootstraps: estimate.bootstraps,
        recrypts: estimate.recrypts,
        products: estimate.products,
        server_seconds,
        seconds,
    };
    out.result(&report, || {
        let Report { price, winner, .. } = &report;
        let verdict = if correct { "equal to the plain maximum" } else { "WRONG" };
        format!("result: {winner} wins at {price} ({verdict}; {seconds:.1} s in all)\n")
    })?;
    if correct {
        return Ok(());
    }
    let right = first.and_then(|index| bids.get(index)).map_or("nobody", |bid| &bid.bidder);
    Err(Error::Wrong(format!(
        "the auction gave a wrong result: by plain arithmetic {right} wins at {expected}; report this as a bug"
    )))
}

/// Checks, before key generation, that the parameters can run the auction. If the set does not exist, key generation reports it.
fn check_auction(scheme: Scheme, params: Option<&str>, bids: usize) -> Result<()> {
    let default = || scheme.param_names().into_iter().next();
    if let Some(name) = params.map(str::to_owned).or_else(default)
        && scheme.has_params(&name)
    {
        let auction = Program::auction(bids, BID).map_err(Error::circuit("the auction"))?;
        solinas_engine::cost_under(scheme, &auction, &name, &interrupt_control()?)?;
    }
    Ok(())
}

fn read_bids(path: Option<&Path>) -> Result<Vec<Bid>> {
    let text = match path {
        Some(path) => crate::files::read_text(path)?,
        None => BIDS.to_owned(),
    };
    let place = path.unwrap_or(Path::new("the built-in bids")).display();
    let mut rows = csv_rows(&place, &text)?.into_iter();
    let wrong = |line: usize, what: String| {
        input(
            format!("{place}, line {line}: {what}"),
            "each line is a bidder and a bid of 0 to 65535, under the header bidder,bid",
        )
    };
    let headers = rows.next().map(|row| row.fields).unwrap_or_default();
    let column = |name: &str| {
        headers.iter().position(|header| header == name).ok_or_else(|| wrong(1, format!("there is no column '{name}'")))
    };
    let (bidder, amount) = (column("bidder")?, column("bid")?);
    let mut bids = Vec::new();
    for row in rows {
        let Row { line, fields } = row;
        if fields.len() != headers.len() {
            return Err(wrong(line, format!("it has {}, not {}", counted(fields.len(), "field"), headers.len())));
        }
        let text = &fields[amount];
        let amount = text.parse().map_err(|_| wrong(line, format!("'{text}' is not a bid")))?;
        bids.push(Bid { bidder: fields[bidder].to_owned(), amount });
    }
    match bids.len() {
        1..=64 => Ok(bids),
        count => Err(input(format!("{place} has {count} bids"), "give 1 to 64")),
    }
}

fn make_folder(folder: &Path) -> Result<()> {
    std::fs::create_dir(folder).map_err(|e| Error::io("make the folder", folder, e))
}

/// The client's first part: makes keys. Only public files go to the server's folder. With a public key, the bidders encrypt
/// their bids; without one, the client encrypts them all.
fn prepare(options: &KeygenOptions, bids: &[Bid], root: &Path, out: &Output) -> Result<()> {
    let (client, server) = (root.join("client"), root.join("server"));
    let (client_key, server_key) = watch(out, "making keys", |control| Ok(solinas_engine::keygen(options, control)?))?;
    out.note(&format!("client: sealed bids of 16 bits: {}", bids.len()))?;
    client_key.save(&client.join("client.key"), false)?;
    let params = client_key.params();
    out.note(&format!("client: made keys, parameters {} ({})", params.name, crate::keygen::claim(&params)))?;
    server_key.save(&server.join("server.key"), false)?;
    if let Some(public) = crate::keygen::public_key(&client_key)? {
        public.save(&client.join("public.key"), false)?;
        out.note(
            "client: sent server.key to the server and public.key to the bidders; client.key stays with the client",
        )?;
        return seal(bids, options.research, root, out);
    }
    for (i, bid) in bids.iter().enumerate() {
        let sealed = client_key.encrypt(&Plain::scalar(BID, bid.amount)?)?;
        sealed.save(&server.join(sealed_name(i)))?;
    }
    out.note("client: sent server.key and the sealed bids to the server; client.key stays with the client")
}

/// The name of the file of a sealed bid.
fn sealed_name(index: usize) -> String {
    format!("bid-{:02}.ct", index + 1)
}

/// The bidders' part: each of them encrypts the bid in a process of its own, with a folder that holds the public key alone, and
/// sends it to the server.
fn seal(bids: &[Bid], research: bool, root: &Path, out: &Output) -> Result<()> {
    let program = std::env::current_exe().map_err(|e| Error::io("find", Path::new("this program"), e))?;
    let bidders = root.join("bidders");
    make_folder(&bidders)?;
    for (i, Bid { bidder, amount }) in bids.iter().enumerate() {
        let folder = bidders.join(format!("{:02}", i + 1));
        make_folder(&folder)?;
        let (key, sealed) = (folder.join("public.key"), folder.join("bid.ct"));
        std::fs::copy(root.join("client").join("public.key"), &key).map_err(|e| Error::io("write", &key, e))?;
        // The bid goes through standard input, because other users can read the arguments of a process.
        let mut encrypt = Command::new(&program)
            .current_dir(&folder)
            .args(["--quiet", "encrypt", "--key", "public.key", "--type", "u16", "-", "-o", "bid.ct"])
            .args(research.then_some("--research"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| Error::io("start", &program, e))?;
        if let Some(mut stdin) = encrypt.stdin.take() {
            // If the process has ended, its status tells why.
            let _ = writeln!(stdin, "{amount}");
        }
        let ended = encrypt.wait_with_output().map_err(|e| Error::io("wait for", &program, e))?;
        if !ended.status.success() {
            let problem = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
            return Err(input(format!("{bidder} could not encrypt the bid: {problem}"), "report this as a bug"));
        }
        let sent = root.join("server").join(sealed_name(i));
        std::fs::copy(&sealed, &sent).map_err(|e| Error::io("write", &sent, e))?;
    }
    out.note(&format!("bidders: {} processes, each with public.key alone, encrypted and sent their bids", bids.len()))
}

/// The server's part, which reads its own folder only.
fn serve(folder: &Path, count: usize, limits: &ServerOptions, out: &Output) -> Result<(Vec<Held>, Estimate, f64)> {
    let held = holdings(folder)?;
    out.note("server: holds")?;
    for Held { file, kind, bytes, first_bytes } in &held {
        // Format widths apply to text only.
        let kind = kind.to_string();
        let line = format!("  {file:<12}{kind:<12}{bytes:>10} bytes   {first_bytes}");
        out.note(line.trim_end())?;
    }
    if held.iter().any(|file| file.kind.is_secret()) {
        return Err(Error::Wrong("the server holds a secret key; report this as a bug".to_owned()));
    }
    out.note("server: none of these is a client key")?;
    let key = ServerKey::load(&folder.join("server.key"))?;
    let server = Server::with_options(&key, limits)?;
    let program = Program::auction(count, BID).map_err(Error::circuit("the auction"))?;
    let bids = (0..count).map(|i| Ok(Ciphertext::load(&folder.join(sealed_name(i)))?)).collect::<Result<Vec<_>>>()?;
    let control = interrupt_control()?;
    let auction = server.prepare(Work::program(&program, &bids), &control)?;
    let estimate = auction.estimate(&control)?;
    let workers = crate::limits::workers(&server, &estimate);
    out.note(&format!("server: {estimate}, about {:.1} s on {workers}", estimate.seconds))?;
    let start = Instant::now();
    let results = watch(out, "finding the highest bid", |control| Ok(auction.run(control)?))?;
    let seconds = start.elapsed().as_secs_f64();
    crate::limits::warn_of_device(&server);
    for (name, result) in ["price.ct", "winner.ct"].iter().zip(&results) {
        result.save(&folder.join(name))?;
    }
    out.note(&format!("server: found price.ct and winner.ct in {seconds:.1} s, both encrypted"))?;
    Ok((held, estimate, seconds))
}

/// Opens and verifies every file of a folder. For a ciphertext, adds the first bytes of its data.
fn holdings(folder: &Path) -> Result<Vec<Held>> {
    let listed = std::fs::read_dir(folder).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
    let mut paths: Vec<PathBuf> = listed.map_err(|e| Error::io("list the folder", folder, e))?;
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let Summary { kind, bytes, .. } = solinas_formats::inspect(path)?;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let first_bytes = if kind == Kind::Ciphertext { first_bytes(path)? } else { String::new() };
            Ok(Held { file, kind, bytes, first_bytes })
        })
        .collect()
}

fn first_bytes(path: &Path) -> Result<String> {
    let reader = solinas_formats::Reader::open(path, solinas_formats::Expect::kind(Kind::Ciphertext))?;
    // The longest section holds the encrypted numbers.
    let Some((name, _)) = reader.sections().max_by_key(|&(_, bytes)| bytes) else { return Ok(String::new()) };
    let bytes = reader.section(name)?;
    Ok(bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ") + " ...")
}

/// The client's last part: decrypts the price and the winner.
fn open(client: &Path, server: &Path) -> Result<(u16, usize)> {
    let key = ClientKey::load(&client.join("client.key"))?;
    let value = |name: &str| -> Result<Option<u128>> {
        let plain = key.decrypt(&Ciphertext::load(&server.join(name))?)?;
        Ok(plain.values.first().and_then(Natural::to_u128))
    };
    // A value that is out of range is wrong. The comparison with plain arithmetic reports it.
    let price = value("price.ct")?.and_then(|price| price.try_into().ok()).unwrap_or(u16::MAX);
    Ok((price, value("winner.ct")?.and_then(|place| place.try_into().ok()).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bids_are_read_and_bad_ones_named_by_line() {
        assert_eq!(read_bids(None).unwrap().len(), 8);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bids.csv");
        for (text, part) in [
            ("bidder,bid\na,1\nb,65536\n", "line 3: '65536'"),
            ("bidder,bid\na,-1\n", "line 2: '-1'"),
            ("bidder,price\na,1\n", "no column 'bid'"),
            ("bidder,bid\na\n", "line 2"),
            ("bidder,bid\n", "has 0 bids"),
        ] {
            std::fs::write(&path, text).unwrap();
            let message = read_bids(Some(&path)).err().unwrap().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
