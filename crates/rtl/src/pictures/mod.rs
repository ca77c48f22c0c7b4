//! The pictures of the book, drawn from the parameters of the designs: `cargo run -p solinas-rtl --example pictures`.

mod bank_map;
mod blocks;
mod constants;
mod diagram;
mod gantt;

use crate::Error;
use crate::multiplier::Size;
use crate::rsa::Shape;
use crate::schedule::Schedule;

/// All pictures: the name of the file in `docs/book/images`, and its text.
///
/// # Errors
/// [`Error::NoSource`] if a source lacks a constant that a picture states.
pub fn all() -> Result<Vec<(&'static str, String)>, Error> {
    Ok(vec![
        ("multiplier.svg", Schedule::new(Size::Full)?.svg()),
        ("multiplier-blocks.svg", blocks::multiplier()?.svg()),
        ("gh-blocks.svg", blocks::gentry_halevi()?.svg()),
        ("rsa-blocks.svg", blocks::rsa()?.svg()),
        ("rsa-whole.svg", gantt::svg(Shape::WHOLE, 1, "A modular product of 8192 bits, by cycle")),
        ("rsa-halves.svg", gantt::svg(Shape::HALF, 2, "Products modulo two numbers of 4096 bits, by cycle")),
        ("bank-map.svg", bank_map::svg()),
    ])
}
