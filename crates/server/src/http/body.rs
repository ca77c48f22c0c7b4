//! Bodies of requests: uploads on their way from the network to a thread that writes them to the disk, and what is left of a body after its answer.

use crate::error::{Code, Problem};
use crate::lock::lock;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::http::{HeaderMap, header};
use futures_util::StreamExt;
use hyper::body::{Frame, SizeHint};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A client that sends nothing for so long has gone.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// A body that brings fewer bytes in a minute would hold its place for nothing.
const LEAST: usize = 64 << 10;
const MINUTE: Duration = Duration::from_secs(60);
/// The most bytes that are read of a body that nobody needs.
const DISCARDED: usize = 32 << 20;
/// Pieces of a body on their way to the disk.
pub(super) const WINDOW: usize = 4;

/// Watches how fast a body comes.
struct Pace {
    since: Instant,
    bytes: usize,
}

impl Pace {
    /// Counts bytes. Returns whether the last minute or more brought too few.
    fn is_too_slow(&mut self, bytes: usize, now: Instant) -> bool {
        self.bytes += bytes;
        if now - self.since < MINUTE {
            return false;
        }
        let came = std::mem::replace(self, Self { since: now, bytes: 0 }).bytes;
        came < LEAST
    }
}

/// Passes the pieces of a body on. `None` follows the last piece of a whole body. It ends early if `leave` does, or if nobody takes the pieces.
pub(super) async fn pass(
    mut body: BodyDataStream,
    pieces: mpsc::Sender<Option<Bytes>>,
    leave: impl Future<Output = ()>,
) {
    let mut leave = pin!(leave);
    let mut pace = Pace { since: Instant::now(), bytes: 0 };
    loop {
        let piece = tokio::select! {
            piece = tokio::time::timeout(SILENCE, body.next()) => piece,
            () = &mut leave => return,
        };
        match piece {
            Ok(Some(Ok(piece))) => {
                if pace.is_too_slow(piece.len(), Instant::now()) {
                    return;
                }
                // The other side has an answer already.
                if pieces.send(Some(piece)).await.is_err() {
                    return;
                }
            }
            Ok(None) => {
                let _ = pieces.send(None).await;
                return;
            }
            Ok(Some(Err(_))) | Err(_) => return,
        }
    }
}

/// A body whose rest can be read after its handler has dropped it.
#[derive(Clone)]
pub(super) struct Shared {
    body: Arc<Mutex<Body>>,
    /// Whether the client sends the body only after leave to do so, which it gets when somebody begins to read.
    waits: Arc<AtomicBool>,
}

impl Shared {
    pub(super) fn new(body: Body, headers: &HeaderMap) -> Self {
        let waits = headers.contains_key(header::EXPECT);
        Self { body: Arc::new(Mutex::new(body)), waits: Arc::new(waits.into()) }
    }

    /// Reads what nobody needs, but only a part of a long body. Clients read an answer after they have sent their body, and lose it if the
    /// connection ends before. A client that waits for leave to send its body sends nothing after another answer.
    pub(super) async fn discard(self) {
        if self.waits.load(Ordering::Relaxed) {
            return;
        }
        let mut body = Body::new(self).into_data_stream();
        let mut read = 0;
        let rest = async {
            while let Some(Ok(piece)) = body.next().await {
                read += piece.len();
                if read > DISCARDED {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(SILENCE, rest).await;
    }
}

impl HttpBody for Shared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.waits.store(false, Ordering::Relaxed);
        Pin::new(&mut *lock(&self.body)).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.body).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        lock(&self.body).size_hint()
    }
}

/// The answer to a body that broke off.
pub(super) fn cut_off(fix: &str) -> Problem {
    let what = format!(
        "the body broke off, or nothing came for {} seconds, or fewer than {LEAST} bytes in a minute",
        SILENCE.as_secs()
    );
    Problem::new(Code::Timeout, what, fix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_body_is_noticed_after_a_minute() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut pace = Pace { since: start, bytes: 0 };
        assert!(!pace.is_too_slow(1, at(59)));
        assert!(!pace.is_too_slow(LEAST - 1, at(60)));
        assert!(!pace.is_too_slow(LEAST - 1, at(119)));
        assert!(pace.is_too_slow(0, at(120)));
    }
}
