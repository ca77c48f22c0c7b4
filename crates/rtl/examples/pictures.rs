//! Draws the pictures of the book: `cargo run -p solinas-rtl --example pictures`. Another folder may be named.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let book = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/images");
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from(book), PathBuf::from);
    for (name, svg) in solinas_rtl::pictures::all()? {
        std::fs::write(folder.join(name), svg)?;
    }
    Ok(())
}
