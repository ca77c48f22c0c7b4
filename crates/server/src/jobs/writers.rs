//! Turns of the requests for one upload: a later one asks an earlier one to leave, and waits until it has. The earlier one has lost its client, usually, and
//! has not noticed yet.

use crate::jobs::progress::JobKey;
use crate::lock::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{OwnedMutexGuard, watch};

/// The turns of all uploads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Writers(Arc<Mutex<HashMap<JobKey, Place>>>);

/// What the requests for one upload share.
#[derive(Debug, Clone, Default)]
struct Place {
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The number of the last request.
    last: Arc<watch::Sender<u64>>,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Writer {
    writers: Writers,
    key: JobKey,
    number: u64,
    last: Arc<watch::Sender<u64>>,
    held: Option<OwnedMutexGuard<()>>,
}

impl Writers {
    fn places(&self) -> MutexGuard<'_, HashMap<JobKey, Place>> {
        lock(&self.0)
    }

    /// Waits for the turn.
    pub(crate) async fn take(&self, key: JobKey) -> Writer {
        let place = self.places().entry(key.clone()).or_default().clone();
        let mut number = 0;
        place.last.send_modify(|last| {
            *last += 1;
            number = *last;
        });
        // Made before the wait, so that a request that is dropped in it leaves nothing.
        let mut turn = Writer { writers: self.clone(), key, number, last: Arc::clone(&place.last), held: None };
        turn.held = Some(place.turn.lock_owned().await);
        turn
    }
}

impl Writer {
    /// Waits until another request asks for the turn.
    pub(crate) fn wanted(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut last, number) = (self.last.subscribe(), self.number);
        // The sender lives as long as the turn.
        async move { _ = last.wait_for(|last| *last > number).await }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut places = self.writers.places();
        self.held = None;
        // Those who wait hold the place too.
        if places.get(&self.key).is_some_and(|place| Arc::strong_count(&place.turn) == 1) {
            places.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{Id, Tenant};
    use std::time::Duration;

    #[tokio::test]
    async fn a_later_request_follows_an_earlier_one_and_nothing_is_left() {
        let writers = Writers::default();
        let key = (Tenant::new("a").unwrap(), Id::new());
        let first = writers.take(key.clone()).await;
        let wanted = tokio::spawn(first.wanted());
        tokio::time::sleep(Duration::from_millis(10)).await;
        let mut second = tokio::spawn({
            let (writers, key) = (writers.clone(), key.clone());
            async move { writers.take(key).await }
        });
        wanted.await.unwrap();
        assert!(tokio::time::timeout(Duration::from_millis(10), &mut second).await.is_err());
        drop(first);
        drop(second.await.unwrap());
        assert!(writers.places().is_empty());
    }
}
