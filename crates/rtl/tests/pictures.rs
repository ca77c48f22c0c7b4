//! The pictures of the book against the parameters of the designs.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

#[test]
fn pictures_of_the_book_are_those_of_the_parameters() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/images");
    // A packaged crate has no book.
    if !folder.exists() {
        return;
    }
    for (name, svg) in solinas_rtl::pictures::all().unwrap() {
        let file = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(file == svg, "{name} is old; draw it again: cargo run -p solinas-rtl --example pictures");
    }
}
