//! Draws the schedule of the multiplier: `cargo run -p solinas-rtl --example schedule > docs/book/images/multiplier.svg`.

use solinas_rtl::multiplier::Size;
use solinas_rtl::schedule::Schedule;

fn main() -> Result<(), solinas_rtl::Error> {
    print!("{}", Schedule::new(Size::Full)?.svg());
    Ok(())
}
