//! Memory of polynomials. Threads keep it from one polynomial to the next.
//!
//! An allocator returns megabytes to the system and gets them back as pages of zeros. Each page costs a fault, and the
//! memory one more pass: longer than the sum that is written into it.

use core::cell::RefCell;
use core::ops::{Deref, DerefMut};

use solinas_field::buffer::AlignedVec;

thread_local! {
    static KEPT: RefCell<Vec<AlignedVec<u64>>> = const { RefCell::new(Vec::new()) };
}

/// Number of buffers that a thread keeps.
const MOST: usize = 16;
/// Words of the shortest kept buffer, and of all buffers of a thread. An allocator is fast for shorter buffers, and 32
/// MiB are enough for the operands of one operation.
const SHORTEST: usize = 1 << 14;
const ALL: usize = 1 << 22;

/// Words that go back to the thread on drop. A holder of secrets must wipe them before.
pub(crate) struct PooledWords(AlignedVec<u64>);

impl PooledWords {
    /// Returns a kept buffer of at least `len` words, and not many more, with arbitrary contents.
    pub(crate) fn kept(len: usize) -> Option<Self> {
        if len < SHORTEST {
            return None;
        }
        let found = KEPT.try_with(|kept| {
            let mut kept = kept.try_borrow_mut().ok()?;
            // The last one first, because a buffer that was dropped a moment ago is still in a cache.
            let fits = kept.iter().rposition(|words| (len..=len + len / 2).contains(&words.len()))?;
            Some(Self(kept.remove(fits)))
        });
        found.ok().flatten()
    }

    /// Returns at least `len` words, of which the first `len` are zeros. The others are left over from a kept buffer.
    pub(crate) fn zeroed(len: usize) -> Self {
        match Self::kept(len) {
            Some(mut words) => {
                words[..len].fill(0);
                words
            }
            None => Self(AlignedVec::zeroed(len)),
        }
    }
}

impl From<AlignedVec<u64>> for PooledWords {
    fn from(words: AlignedVec<u64>) -> Self {
        Self(words)
    }
}

impl Clone for PooledWords {
    fn clone(&self) -> Self {
        match Self::kept(self.len()) {
            Some(mut words) => {
                words[..self.len()].copy_from_slice(self);
                words
            }
            None => Self(self.0.clone()),
        }
    }
}

impl Deref for PooledWords {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl DerefMut for PooledWords {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Drop for PooledWords {
    fn drop(&mut self) {
        let words = core::mem::take(&mut self.0);
        if words.len() < SHORTEST || words.len() > ALL / 2 {
            return;
        }
        // The thread may be ending, so an error is ignored.
        let _ = KEPT.try_with(|kept| {
            if let Ok(mut kept) = kept.try_borrow_mut() {
                kept.push(words);
                while kept.len() > MOST || kept.iter().map(|words| words.len()).sum::<usize>() > ALL {
                    kept.remove(0);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_buffer_is_the_next_of_its_length() {
        let len = 3 * SHORTEST;
        let mut words = PooledWords::zeroed(len);
        words.fill(7);
        let at = words.as_ptr();
        drop(words);
        assert!(PooledWords::kept(SHORTEST).is_none() && PooledWords::kept(len + 1).is_none());
        let again = PooledWords::zeroed(len);
        assert!(again.as_ptr() == at && again.iter().all(|&word| word == 0));
        assert!(PooledWords::kept(len).is_none());
    }

    #[test]
    fn a_thread_keeps_no_more_than_its_share() {
        let many: Vec<_> = (0..2 * MOST).map(|_| PooledWords::zeroed(SHORTEST)).collect();
        drop(many);
        drop(vec![
            PooledWords::zeroed(ALL / 2),
            PooledWords::zeroed(ALL / 2),
            PooledWords::zeroed(ALL / 2),
            PooledWords::zeroed(ALL),
        ]);
        let (count, all) = KEPT.with_borrow(|kept| (kept.len(), kept.iter().map(|words| words.len()).sum::<usize>()));
        assert!(count <= MOST && all <= ALL, "{count} buffers of {all} words");
    }
}
