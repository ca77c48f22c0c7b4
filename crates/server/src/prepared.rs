//! Server keys in memory, ready for work. The least used ones make room for others.

use crate::error::Problem;
use crate::id::Tenant;
use solinas_runtime::Server;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keys in memory, the last used first.
#[derive(Debug, Default)]
pub(crate) struct PreparedKeys(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    tenant: Tenant,
    key_id: String,
    server: Server,
}

impl Entry {
    fn is(&self, tenant: &Tenant, key_id: &str) -> bool {
        self.tenant == *tenant && self.key_id == key_id
    }
}

impl PreparedKeys {
    fn all(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server of a key, which `load` makes if it is not here. The least used keys are removed until all take at most `limit` bytes. Returns the number
    /// of removed ones too.
    pub(crate) fn get(
        &self,
        tenant: &Tenant,
        key_id: &str,
        limit: u64,
        load: impl FnOnce() -> Result<Server, Problem>,
    ) -> Result<(Server, u64), Problem> {
        // The lock is held while a key is read, so that no key is read twice.
        let mut keys = self.all();
        let server = match keys.iter().position(|entry| entry.is(tenant, key_id)) {
            Some(at) => keys.remove(at).server,
            None => load()?,
        };
        keys.insert(0, Entry { tenant: tenant.clone(), key_id: key_id.to_owned(), server: server.clone() });
        let bytes = |keys: &[Entry]| keys.iter().map(|entry| entry.server.memory_bytes() as u64).sum::<u64>();
        let mut removed = 0;
        while keys.len() > 1 && bytes(&keys) > limit {
            keys.pop();
            removed += 1;
        }
        Ok((server, removed))
    }

    /// Forgets a key that was removed.
    pub(crate) fn forget(&self, tenant: &Tenant, key_id: &str) {
        self.all().retain(|entry| !entry.is(tenant, key_id));
    }

    /// The number of keys.
    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }
}
