//! The functions that the worker of the page calls, and those that it gives.
//!
//! Texts and files lie in the memory of the module. A call has a request in JSON and a file, each in a buffer of [`buffer`]. Its answer, a JSON text and a
//! file, stays at [`output`] until [`forget`] or the next call.
#![expect(unsafe_code, reason = "the interface of WebAssembly has numbers and addresses alone")]

use crate::{Answer, Fault, Request, Session};
use serde_json::json;
use solinas_values::{Control, Progress};
use std::cell::RefCell;
use zeroize::Zeroizing;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Writes random bytes.
    fn random(bytes: *mut u8, count: usize);
    /// Takes the progress of a long call.
    fn progress(done: f64, total: f64);
    /// Takes the message of a panic.
    fn panicked(text: *const u8, count: usize);
}

#[derive(Default)]
struct Module {
    session: Session,
    inputs: [Zeroizing<Vec<u8>>; 2],
    outputs: [Zeroizing<Vec<u8>>; 2],
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// Makes room for an input: the request at place 0, or its file at place 1. Returns its address.
#[unsafe(no_mangle)]
extern "C" fn buffer(place: usize, count: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        let input = &mut module.inputs[place.min(1)];
        *input = Zeroizing::new(vec![0; count]);
        input.as_mut_ptr()
    })
}

/// Answers the request in the buffers, and wipes them. Returns whether there was no fault.
#[unsafe(no_mangle)]
extern "C" fn call() -> bool {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.to_string();
        // SAFETY: the page reads the bytes of a text that lives.
        unsafe { panicked(text.as_ptr(), text.len()) };
    }));
    MODULE.with_borrow_mut(|module| {
        let [request, file] = std::mem::take(&mut module.inputs);
        let report = |step: Progress| {
            // SAFETY: the page takes two numbers.
            unsafe { progress(step.done as f64, step.total as f64) };
        };
        let control = Control { progress: Some(&report), cancel: None };
        let answer = serde_json::from_slice::<Request>(&request).map_err(Fault::from);
        let answer = answer.and_then(|request| module.session.answer(request, &file, &control));
        let is_good = answer.is_ok();
        let Answer { value, file } =
            answer.unwrap_or_else(|Fault(text)| Answer { value: json!({ "error": text }), file: Zeroizing::default() });
        module.outputs = [Zeroizing::new(value.to_string().into_bytes()), file];
        is_good
    })
}

/// The address of an output: the JSON text of the answer at place 0, or its file at place 1.
#[unsafe(no_mangle)]
extern "C" fn output(place: usize) -> *const u8 {
    MODULE.with_borrow(|module| module.outputs[place.min(1)].as_ptr())
}

/// The bytes of an output.
#[unsafe(no_mangle)]
extern "C" fn output_bytes(place: usize) -> usize {
    MODULE.with_borrow(|module| module.outputs[place.min(1)].len())
}

/// Wipes the outputs.
#[unsafe(no_mangle)]
extern "C" fn forget() {
    MODULE.with_borrow_mut(|module| module.outputs = Default::default());
}

/// Randomness for `getrandom`: versions 0.3 and 0.4 both call this function.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(bytes: *mut u8, count: usize) -> Result<(), getrandom::Error> {
    // SAFETY: the caller gives the address of `count` bytes.
    unsafe { random(bytes, count) };
    Ok(())
}
