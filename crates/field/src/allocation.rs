//! Allocations whose failure is an error that their caller reports.
//!
//! A program may end itself when an allocation fails, as the `solinas` command does in its global allocator. This module tells it which failures to leave to
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
