//! What a program and its memory allocator agree on.
//!
//! A program may end itself when an allocation fails, as the `solinas` command does in its global allocator. [`fallible`] tells it which failures to leave to
//! the caller.

use core::cell::Cell;

thread_local! {
    static FALLIBLE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `reserve`, which returns an error if one of its allocations fails, such as [`Vec::try_reserve_exact`].
pub fn fallible<T>(reserve: impl FnOnce() -> T) -> T {
    let before = FALLIBLE.replace(true);
    let result = reserve();
    FALLIBLE.set(before);
    result
}

/// Whether the current thread is within [`fallible`].
pub fn is_fallible() -> bool {
    FALLIBLE.get()
}

/// Lets the allocator of glibc keep up to 64 MiB of freed memory for later allocations. A program calls this once, at its start; on other systems it does
/// nothing.
///
/// By default, an operation on ciphertexts may give its buffers back to the system at its end, and the next one then waits for new pages. Whether it does
/// depends on how blocks happen to lie. The two limits are those that glibc reaches by itself after a block of 32 MiB was freed (`mallopt(3)`).
pub fn keep_freed_memory() {
    // SAFETY: the calls set numbers of the allocator, and it locks itself. A refused value leaves the default.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 64 << 20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_fallible_within_the_closure_alone() {
        assert!(!is_fallible());
        assert!(fallible(|| fallible(is_fallible) && is_fallible()));
        assert!(!is_fallible());
    }
}
