//! Lists of places on a device, one after the other.

use crate::{Buffer, Error, Stream};

/// A list of places for each item of a batch. List i is `members[starts[i] .. starts[i + 1]]`, in units of the values of a
/// member.
#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) starts: Buffer<u32>,
    pub(crate) members: Buffer<u32>,
    pub(crate) items: usize,
}

impl Lists {
    /// Copies lists to the device. Each member is `N` numbers: a place, or a pair of places.
    ///
    /// # Errors
    /// [`Error::Memory`]; the errors of the device.
    pub(crate) fn new<const N: usize>(stream: &Stream, lists: &[Vec<[u32; N]>]) -> Result<Self, Error> {
        let mut starts = vec![0];
        for list in lists {
            starts.push(starts[starts.len() - 1] + list.len() as u32);
        }
        let mut members: Vec<u32> = lists.iter().flatten().flatten().copied().collect();
        // A buffer has at least one value.
        members.resize(members.len().max(1), 0);
        let what = "the lists of sums";
        let (starts, members) = (stream.buffer_of(&starts, what)?, stream.buffer_of(&members, what)?);
        Ok(Self { starts, members, items: lists.len() })
    }
}
