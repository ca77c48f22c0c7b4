//! A file that comes into the folder of the page, such as its WebAssembly, goes into the program.

fn main() {
    println!("cargo::rerun-if-changed=web");
}
