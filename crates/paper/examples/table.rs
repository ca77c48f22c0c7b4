//! Measures a table and prints it: `table NAME [--quick] [--markdown] [--save FILE]`.

use solinas_paper::{Control, Options, list, run};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut name, mut markdown, mut options) = (None, false, Options::default());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--quick" => options.quick = true,
            "--markdown" => markdown = true,
            "--save" => options.save = args.next().map(Into::into),
            _ => name = Some(arg),
        }
    }
    let Some(name) = name else {
        list().iter().for_each(|entry| println!("{:<10} {}", entry.name, entry.summary));
        return Ok(());
    };
    let report = run(&name, &options, &Control::default())?;
    print!("{}", if markdown { report.to_markdown() } else { report.to_string() });
    Ok(())
}
