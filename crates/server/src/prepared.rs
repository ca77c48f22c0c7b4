//! Server keys in memory, ready for work. The least used ones make room for others.

use crate::app::App;
use crate::error::{Code, Problem, parts};
use crate::id::Tenant;
use solinas_runtime::{Server, ServerKey, ServerOptions};
use std::sync::{Mutex, PoisonError};

/// Keys in memory, the last used first.
#[derive(Debug, Default)]
pub(crate) struct PreparedKeys(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    tenant: Tenant,
    key_id: String,
    server: Server,
}

impl App {
    /// The server of a registered key.
    ///
    /// # Errors
    /// [`Code::KeyMissing`]; [`Code::BadParams`] for a key that does not fit in memory.
    pub(crate) fn server(&self, tenant: &Tenant, key_id: &str) -> Result<Server, Problem> {
        let Some(key) = self.store.key(tenant, key_id)? else {
            return Err(Problem::new(
                Code::KeyMissing,
                format!("the key {key_id} is not registered"),
                "upload the server key as a blob, then register it",
            )
            .link(format!("/v1/keys/{key_id}")));
        };
        // The lock is held while a key is read, so that no key is read twice.
        let mut keys = self.prepared.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = keys.iter().position(|entry| entry.tenant == *tenant && entry.key_id == key_id) {
            let entry = keys.remove(at);
            let server = entry.server.clone();
            keys.insert(0, entry);
            return Ok(server);
        }
        let path = self.store.path(tenant, &key.blob);
        let loaded = ServerKey::load(&path).map_err(|error| {
            let (detail, fix) = parts(&error.to_string());
            Problem::new(Code::BadFile, detail, fix)
        })?;
        let options = ServerOptions { threads: self.config.threads, ..ServerOptions::default() };
        let server = Server::with_options(&loaded, &options)?;
        keys.insert(0, Entry { tenant: tenant.clone(), key_id: key_id.to_owned(), server: server.clone() });
        let limit = self.config.limits.key_memory();
        let bytes = |keys: &[Entry]| keys.iter().map(|entry| entry.server.memory_bytes() as u64).sum::<u64>();
        while keys.len() > 1 && bytes(&keys) > limit {
            keys.pop();
            self.metrics.key_evictions.inc();
        }
        self.metrics.keys_prepared.set(keys.len() as i64);
        Ok(server)
    }

    /// Forgets a key that was removed.
    pub(crate) fn forget_key(&self, tenant: &Tenant, key_id: &str) {
        let mut keys = self.prepared.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|entry| entry.tenant != *tenant || entry.key_id != key_id);
        self.metrics.keys_prepared.set(keys.len() as i64);
    }
}
