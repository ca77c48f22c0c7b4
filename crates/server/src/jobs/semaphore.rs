//! A semaphore for work of which only a little may run at a time. No tenant takes the places of the others.

use crate::error::{Code, Error, Problem};
use crate::id::Tenant;
use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests of a tenant that wait for a permit. A tenant with more gets 503.
const WAITING: usize = 100;

/// Places for one kind of work.
pub(crate) struct TenantSemaphore {
    places: Arc<Semaphore>,
    /// Places that a tenant has at most.
    each: usize,
    tenants: Mutex<BTreeMap<Tenant, Arc<TenantQueue>>>,
}

/// The requests of a tenant.
struct TenantQueue {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A place, until it is dropped.
pub(crate) struct TenantPermit {
    _own: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

impl TenantSemaphore {
    pub(crate) fn new(places: usize, each: usize) -> Self {
        Self { places: Arc::new(Semaphore::new(places)), each, tenants: Mutex::default() }
    }

    /// Waits for a permit. Requests of a tenant wait for each other first, so that a tenant with many of them does not delay others.
    ///
    /// # Errors
    /// [`Code::Busy`] if many requests of the tenant wait.
    pub(crate) async fn take(&self, tenant: &Tenant) -> Result<TenantPermit, Problem> {
        let queue = Arc::clone(lock(&self.tenants).entry(tenant.clone()).or_insert_with(|| {
            Arc::new(TenantQueue { places: Arc::new(Semaphore::new(self.each)), waiting: AtomicUsize::new(0) })
        }));
        let _waits = Waits::new(&queue.waiting)?;
        let closed = |error: tokio::sync::AcquireError| Error::System(error.to_string());
        let own = Arc::clone(&queue.places).acquire_owned().await.map_err(closed)?;
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(closed)?;
        Ok(TenantPermit { _own: own, _place: place })
    }
}

/// Counts a request while it waits. A client may leave meanwhile.
struct Waits<'a>(&'a AtomicUsize);

impl<'a> Waits<'a> {
    fn new(waiting: &'a AtomicUsize) -> Result<Self, Problem> {
        let this = Self(waiting);
        match waiting.fetch_add(1, Ordering::Relaxed) >= WAITING {
            true => {
                let what = format!("{WAITING} requests of the tenant wait for this");
                Err(Problem::new(Code::Busy, what, "send fewer requests at a time").retry_after(1.0))
            }
            false => Ok(this),
        }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tenant_leaves_places_to_others_and_does_not_queue_for_ever() {
        let (a, b) = (Tenant::new("a").unwrap(), Tenant::new("b").unwrap());
        let semaphore = TenantSemaphore::new(2, 1);
        let first = semaphore.take(&a).await.unwrap();
        let queue: Vec<_> = (0..WAITING).map(|_| Box::pin(semaphore.take(&a))).collect();
        let mut queue: Vec<_> = queue.into_iter().map(polled).collect();
        assert!(queue.iter_mut().all(|(_, ready)| !*ready), "the tenant has its place");
        assert!(semaphore.take(&a).await.is_err_and(|problem| problem.code == Code::Busy));
        let other = semaphore.take(&b).await.unwrap();
        drop((other, queue));
        drop(first);
        semaphore.take(&a).await.unwrap();
    }

    /// A future after one poll, and whether it was ready.
    fn polled<F: Future + Unpin>(mut future: F) -> (F, bool) {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let ready = std::pin::Pin::new(&mut future).poll(&mut context).is_ready();
        (future, ready)
    }
}
