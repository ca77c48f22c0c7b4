//! What fuzz targets call. It is no part of the interface of this crate.

use crate::http::check_head;
use crate::jobs::message::{self, Ask, Granted, LeaseName, News};
use crate::jobs::spec::Spec;
use crate::jobs::storage::Outcome;
use serde::Serialize;
use solinas_engine::StepSchedule;
use solinas_engine::{Ciphertext, RunState};

/// The number of kinds of [`read_message`].
pub const KINDS: u8 = 6;

/// Reads bytes of a kind that workers and the service send each other: 0 is the name of a lease, 1 a request for a job, 2 news, 3 the end of a run, 4 a
/// granted lease, and 5 a file of progress. Returns what was read, as it would be sent again. None if it is refused.
pub fn read_message(kind: u8, bytes: &[u8]) -> Option<Vec<u8>> {
    fn again(message: &impl Serialize) -> Option<Vec<u8>> {
        serde_json::to_vec(message).ok()
    }
    let steps = [StepSchedule { lanes: 3, waves: vec![2, 5] }];
    match kind {
        0 => Some(std::str::from_utf8(bytes).ok()?.parse::<LeaseName>().ok()?.to_string().into_bytes()),
        1 => again(&message::read::<Ask>(bytes).ok()?.bounded()),
        2 => again(&message::read::<News>(bytes).ok()?.bounded(&steps)),
        3 => again(&message::read::<Outcome>(bytes).ok()?.bounded(1000, &steps)),
        4 => {
            let granted: Granted = serde_json::from_slice(bytes).ok()?;
            let spec: Spec = serde_json::from_value(granted.spec.clone()).ok()?;
            again(&Granted { spec: serde_json::to_value(spec).ok()?, ..granted })
        }
        _ => {
            check_head(bytes).ok()?;
            let state = RunState::from_bytes(bytes).ok().and_then(|state| state.to_bytes().ok());
            state.or_else(|| Ciphertext::from_bytes(bytes).ok()?.to_bytes().ok())
        }
    }
}
