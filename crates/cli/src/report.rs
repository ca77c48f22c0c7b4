//! `solinas report`: pages with tables and charts, from saved runs of `solinas paper`.

use crate::error::{Error, Result, usage};
use crate::files::{read_text, write_bytes};
use crate::output::Output;
use solinas_paper::{Report, compare, site};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  solinas paper oh2018 --quick --save oh2018.json
  solinas paper wang2014-3.1 wang2014-5.1 --save wang2014.json
  solinas report oh2018.json wang2014.json --out report
  solinas report --compare before.json after.json --out compared

Open report/index.html in a browser: the pages need no network, no server and no JavaScript. The same runs give the same bytes. A page is replaced if it has the name of a new one, and other files stay.";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Files of `solinas paper --save`
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
    /// Put two runs of the same tables side by side
    #[arg(long)]
    compare: bool,
    /// Folder for the pages; created if needed
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(args: Args, out: &Output) -> Result<()> {
    let read = |path: &PathBuf| Ok(Report::read(path, &read_text(path)?)?);
    let runs = args.runs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let reports = match (args.compare, runs.as_slice()) {
        (false, _) => runs.concat(),
        (true, [first, second]) => compare(first, second)?,
        (true, _) => {
            return Err(usage(
                "--compare takes two runs",
                "name the file of the earlier run and that of the later one",
            ));
        }
    };
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io("make the folder", &args.out, e))?;
    let mut files = Vec::new();
    for page in site(&reports) {
        let path = args.out.join(&page.name);
        write_bytes(Some(&path), page.html.as_bytes(), out)?;
        files.push(path);
    }
    let index = args.out.join("index.html");
    out.report(&serde_json::json!({ "files": files }), || format!("{}: {} pages\n", index.display(), files.len()))
}
