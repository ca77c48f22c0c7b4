//! The allocator of the command. If no memory is left, it ends the command with an error.
//!
//! By default, Rust aborts after a failed allocation, with a backtrace and a core dump that holds keys. This allocator prints an error and exits instead.
//! No destructor runs here either, so the command does not wipe its secrets. The system clears the pages before another process gets them. The next command
//! removes the temporary files.
#![allow(unsafe_code, reason = "a global allocator is unsafe to implement")]

use crate::output;
use solinas_field::allocation;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

macro_rules! remedy {
    () => {
        "free some memory, allow more (ulimit -v), set SOLINAS_MEMORY_MIB, or take smaller parameters"
    };
}
const TEXT: &str = concat!("error: not enough memory\n  help: ", remedy!(), "\n");
const JSON: &str = concat!("{\"code\":1,\"error\":\"not enough memory\",\"help\":\"", remedy!(), "\"}\n");

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: each method passes its arguments to the system's allocator, whose contract with the caller is the same, and returns the result.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: see above.
        checked(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: see above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The result of an allocation. If it failed and the caller does not handle failures, the command ends.
fn checked(memory: *mut u8) -> *mut u8 {
    if memory.is_null() && !allocation::is_fallible() {
        end();
    }
    memory
}

/// Writes the error and ends the process. It allocates no memory and takes no lock.
#[cold]
fn end() -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    while ENDING.swap(true, Ordering::Relaxed) {
        // Another thread writes the error, and ends this one.
        std::thread::sleep(Duration::from_secs(1));
    }
    let text = if output::is_json() { JSON } else { TEXT };
    // If the write fails, the exit code still reports the error.
    let _ = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
    signal_hook::low_level::exit(1)
}
