//! Tells the kernels whether this build optimises: `cfg(unoptimised)`.
//!
//! A kernel is one function for each instruction set, into which its parts are inlined by force. Without optimisation
//! every local of every part then has its own place in that one stack frame, which grows to more than a mebibyte. So
//! the parts stay functions where nothing is optimised.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
