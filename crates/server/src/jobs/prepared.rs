//! Server keys in memory, ready for work. The least used ones make room for others.

use crate::error::Problem;
use crate::id::Tenant;
use crate::lock::lock;
use solinas_engine::Server;
use std::sync::{Arc, Mutex, MutexGuard};

/// Keys in memory, the last used first.
#[derive(Debug, Default)]
pub(crate) struct PreparedKeys(Mutex<Vec<Entry>>);

#[derive(Debug)]
struct Entry {
    tenant: Tenant,
    key_id: String,
    /// Locked while the key is read, so that no key is read twice at a time. Other keys go on.
    server: Arc<Mutex<Option<Server>>>,
    /// Its memory. 0 until it is read.
    bytes: u64,
}

impl Entry {
    fn is(&self, tenant: &Tenant, key_id: &str) -> bool {
        self.tenant == *tenant && self.key_id == key_id
    }
}

impl PreparedKeys {
    fn all(&self) -> MutexGuard<'_, Vec<Entry>> {
        lock(&self.0)
    }

    /// The server of a key, which `load` makes if it is not here. The least used keys are removed until all take at most `limit` bytes. Returns the number
    /// of removed ones too. Keys on a device that has failed are removed first, since a device opens again only when nothing holds it.
    pub(crate) fn get(
        &self,
        tenant: &Tenant,
        key_id: &str,
        limit: u64,
        load: impl FnOnce() -> Result<Server, Problem>,
    ) -> Result<(Server, u64), Problem> {
        let gone = self.take(|server| server.has_failed_device());
        if !gone.is_empty() {
            tracing::error!(keys = gone.len(), "a device has failed, and is opened again");
        }
        drop(gone);
        let place = self.place(tenant, key_id);
        let mut held = lock(&place);
        let server = match &*held {
            Some(server) => server.clone(),
            None => load().inspect_err(|_| self.all().retain(|entry| !Arc::ptr_eq(&entry.server, &place)))?,
        };
        *held = Some(server.clone());
        drop(held);
        let mut keys = self.all();
        // Plans that a key keeps grow with its use. A key that is being read has no memory yet.
        for entry in keys.iter_mut() {
            if let Ok(held) = entry.server.try_lock()
                && let Some(server) = &*held
            {
                entry.bytes = (server.memory_bytes() + server.plan_bytes()) as u64;
            }
        }
        let mut removed = Vec::new();
        while keys.len() > 1 && keys.iter().map(|entry| entry.bytes).sum::<u64>() > limit {
            removed.extend(keys.pop());
        }
        // The end of a server may wait for its device.
        drop(keys);
        Ok((server, removed.len() as u64))
    }

    /// Removes the keys whose servers are ready, and meet a condition.
    fn take(&self, condition: impl Fn(&Server) -> bool) -> Vec<Entry> {
        let ready = |entry: &Entry| entry.server.try_lock().is_ok_and(|server| server.as_ref().is_some_and(&condition));
        self.all().extract_if(.., |entry| ready(entry)).collect()
    }

    /// The place of a key, which becomes the last used one. It is empty for a new key.
    fn place(&self, tenant: &Tenant, key_id: &str) -> Arc<Mutex<Option<Server>>> {
        let mut keys = self.all();
        let entry = match keys.iter().position(|entry| entry.is(tenant, key_id)) {
            Some(at) => keys.remove(at),
            None => Entry { tenant: tenant.clone(), key_id: key_id.to_owned(), server: Arc::default(), bytes: 0 },
        };
        let place = Arc::clone(&entry.server);
        keys.insert(0, entry);
        place
    }

    /// Forgets a key that was removed.
    pub(crate) fn forget(&self, tenant: &Tenant, key_id: &str) {
        self.all().retain(|entry| !entry.is(tenant, key_id));
    }

    /// The number of keys.
    pub(crate) fn count(&self) -> usize {
        self.all().iter().filter(|entry| entry.bytes > 0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;
    use solinas_engine::{Control, KeygenOptions, ServerOptions, keygen};
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn keys_load_side_by_side_and_each_once() {
        let options = KeygenOptions {
            params: Some("gates-toy".into()),
            research: true,
            insecure_seed: Some(9),
            ..KeygenOptions::default()
        };
        let (_, key) = keygen(&options, &Control::default()).unwrap();
        let server =
            Server::with_options(&key, &ServerOptions { threads: Some(1), ..ServerOptions::default() }).unwrap();
        let (keys, tenant) = (PreparedKeys::default(), Tenant::new("a").unwrap());
        // Both loads must run to end.
        let (both, loads) = (Barrier::new(2), AtomicUsize::new(0));
        let load = || {
            loads.fetch_add(1, Ordering::Relaxed);
            both.wait();
            Ok(server.clone())
        };
        std::thread::scope(|scope| {
            for name in ["x", "y", "x", "y"] {
                scope.spawn(|| keys.get(&tenant, name, u64::MAX, load).unwrap());
            }
        });
        assert_eq!((loads.into_inner(), keys.count()), (2, 2));
        let failed = keys.get(&tenant, "z", u64::MAX, || Err(Problem::new(Code::Internal, "no", "no")));
        assert!(failed.is_err() && keys.all().len() == 2);
        assert_eq!(keys.get(&tenant, "z", 1, || Ok(server.clone())).unwrap().1, 2, "the others make room");
        keys.forget(&tenant, "z");
        assert_eq!(keys.count(), 0);
    }
}
