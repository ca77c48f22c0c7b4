//! Rotations of slots of NTRU on a device.

use crate::Error;
use crate::ring::basis::Ring;
use crate::ring::{Hybrid, Keys, ModDown, Polys};
use solinas_ring::Eval;
use solinas_schemes::Level;
use solinas_schemes::ntru::SlotSwitch;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The key switches of rotations. The first rotation of each kind at a level copies its key.
#[derive(Debug)]
pub(super) struct Rotations {
    /// The constants of each level, lowest first.
    levels: Vec<OnceLock<Constants>>,
    /// The keys, by level and exponent of the automorphism.
    keys: Mutex<BTreeMap<(Level, usize), Arc<Keys>>>,
}

#[derive(Debug)]
struct Constants {
    hybrid: Hybrid,
    down: ModDown,
}

impl Rotations {
    pub(super) fn new(levels: usize) -> Self {
        Self { levels: (0..levels).map(|_| OnceLock::new()).collect(), keys: Mutex::default() }
    }

    /// The slots of a polynomial of a level permuted.
    pub(super) fn apply(
        &self,
        ring: &Ring,
        level: Level,
        x: &Polys<Eval>,
        switch: &SlotSwitch<'_>,
    ) -> Result<Polys<Eval>, Error> {
        let Constants { hybrid, down } = self.constants(ring, level, switch)?;
        let keys = self.keys(hybrid, level, switch)?;
        down.apply(hybrid.dot(&hybrid.digits(x)?, &keys)?)
    }

    fn constants(&self, ring: &Ring, level: Level, switch: &SlotSwitch<'_>) -> Result<&Constants, Error> {
        let place = &self.levels[level.index()];
        if let Some(constants) = place.get() {
            return Ok(constants);
        }
        let extended = ring.another(switch.hybrid().extended())?;
        let down = ModDown::new(&extended, ring, switch.down())?;
        let made = Constants { hybrid: Hybrid::new(ring, &extended, switch.hybrid())?, down };
        Ok(place.get_or_init(|| made))
    }

    fn keys(&self, hybrid: &Hybrid, level: Level, switch: &SlotSwitch<'_>) -> Result<Arc<Keys>, Error> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (level, switch.automorphism.exponent());
        if let Some(keys) = keys.get(&place) {
            return Ok(Arc::clone(keys));
        }
        let term = (Some(switch.automorphism), switch.rows.iter().collect());
        let made = Arc::new(Keys::new(hybrid.extended(), 1, &[term])?);
        keys.insert(place, Arc::clone(&made));
        Ok(made)
    }
}
