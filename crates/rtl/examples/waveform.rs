//! Writes the waveform of one small product, for GTKWave or Surfer: `cargo run -p solinas-rtl --example waveform -- out.vcd`.

use std::path::PathBuf;

use solinas_bigint::Natural;
use solinas_rtl::Timing;
use solinas_rtl::multiplier::{Multiplier, Part, Size};

fn main() -> Result<(), solinas_rtl::Error> {
    let path = std::env::args().nth(1).map_or_else(|| PathBuf::from("product.vcd"), PathBuf::from);
    let mut multiplier =
        Multiplier::traced(Size::Small, Timing::default(), &path, &mut |step| eprintln!("{}", step.name()))?;
    let a = &Natural::one() << 20_000;
    let product = multiplier.multiply(&[(&a, &a)], Part::All)?;
    println!("{}: one product, {} cycles", path.display(), product[0].last_beat + 1 - product[0].first_load);
    Ok(())
}
