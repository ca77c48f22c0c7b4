//! Bodies of uploads, on their way from the network to a thread that writes them to the disk.

use crate::error::{Code, Problem};
use axum::body::{BodyDataStream, Bytes};
use futures_util::StreamExt;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc;

/// A client that sends nothing for so long has gone.
pub(super) const SILENCE: Duration = Duration::from_secs(30);
/// The most bytes that are read of a body that nobody needs.
const DISCARDED: usize = 32 << 20;
/// Pieces of a body on their way to the disk.
pub(super) const WINDOW: usize = 4;

/// Passes the pieces of a body on. `None` follows the last piece of a whole body. It ends early if `leave` does, or if nobody takes the pieces.
pub(super) async fn pass(
    mut body: BodyDataStream,
    pieces: mpsc::Sender<Option<Bytes>>,
    leave: impl Future<Output = ()>,
) {
    let mut leave = pin!(leave);
    loop {
        let piece = tokio::select! {
            piece = tokio::time::timeout(SILENCE, body.next()) => piece,
            () = &mut leave => return,
        };
        match piece {
            Ok(Some(Ok(piece))) => {
                // The other side has an answer already.
                if pieces.send(Some(piece)).await.is_err() {
                    return discard(body).await;
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

/// Reads the rest of a body that nobody needs, but only a part of a long one: clients read an answer after they have sent their body.
pub(super) async fn discard(mut body: BodyDataStream) {
    let mut read = 0;
    while let Ok(Some(Ok(piece))) = tokio::time::timeout(SILENCE, body.next()).await {
        read += piece.len();
        if read > DISCARDED {
            return;
        }
    }
}

/// The answer to a body that broke off.
pub(super) fn cut_off(fix: &str) -> Problem {
    let what = format!("the body broke off, or nothing came for {} seconds", SILENCE.as_secs());
    Problem::new(Code::Timeout, what, fix)
}
