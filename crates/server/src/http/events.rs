//! The events of a job, as server-sent events. Each event is the whole state of the job, and its `id` is a number that grows. So a client that lost its
//! connection misses nothing: the first event of the next one is the present state.

use super::extract::{Caller, Named};
use super::jobs::view;
use crate::error::Problem;
use crate::id::Id;
use crate::jobs::app::App;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use serde_json::Value;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Least time between two events of progress.
const PACE: Duration = Duration::from_millis(250);
/// A silent stream sends a comment, so that no proxy closes it.
const COMMENT: Duration = Duration::from_secs(15);
/// When a client connects again, after a stream that the service ended.
const RETRY: Duration = Duration::from_secs(2);

/// The state of a stream.
struct Stream {
    app: Arc<App>,
    caller: Caller,
    id: Id,
    listener: crate::jobs::progress::Listener,
    /// The last event.
    last: Option<Value>,
    ended: bool,
    events: u64,
}

/// `GET` of the events.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<Id>,
) -> Result<Response, Problem> {
    let listener = app.live.listen((caller.tenant.clone(), id));
    let stream = Stream { app, caller, id, listener, last: None, ended: false, events: 0 };
    // An unknown job is an error of the request, not of the stream.
    let first = stream.now().await?;
    let events = unfold((stream, Some(first)), |(mut stream, now)| async move {
        let event = match now {
            Some(first) => stream.event(first),
            None => stream.next().await?,
        };
        Some((Ok::<_, Infallible>(event), (stream, None)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(COMMENT)).into_response())
}

impl Stream {
    async fn now(&self) -> Result<Value, Problem> {
        let (tenant, id) = (self.caller.tenant.clone(), self.id);
        self.app
            .blocking(move |app| {
                let job = app.store.job(&tenant, id)?.ok_or_else(Problem::unknown)?;
                Ok(view(app, &tenant, &job))
            })
            .await
    }

    /// The next change. None after the end.
    async fn next(&mut self) -> Option<Event> {
        while !self.ended {
            tokio::select! {
                () = self.listener.changed() => {}
                () = self.app.stopped() => {
                    self.ended = true;
                    return Some(Event::default().retry(RETRY).comment("the service stops"));
                }
            }
            tokio::time::sleep(PACE).await;
            // A job that was deleted meanwhile ends the stream.
            let now = self.now().await.ok()?;
            if self.last.as_ref() != Some(&now) {
                return Some(self.event(now));
            }
        }
        None
    }

    fn event(&mut self, now: Value) -> Event {
        let state = now["state"].as_str().unwrap_or_default();
        self.ended = !matches!(state, "queued" | "running");
        let changed = self.last.as_ref().is_none_or(|last| last["state"] != now["state"]);
        let kind = match (self.ended, changed) {
            (true, _) => "done",
            (false, true) => "state",
            (false, false) => "progress",
        };
        self.events += 1;
        let id = format!("{}.{}", now["version"], self.events);
        let event = Event::default().event(kind).id(id).data(now.to_string());
        self.last = Some(now);
        event
    }
}
