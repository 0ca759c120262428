//! The recording as it is told to the page, and on while it grows.

use std::time::Duration;

use analyst::{Feed, Frame, frame};
use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::bus::Calls;
use crate::missing::Missing;
use crate::subject::{Shown, State, Subject};

/// All frames, one behind the other, for as long as there is something to tell.
/// `calls` is what the page may do on the bus, if it is one.
pub(crate) fn body(subject: Subject, calls: Option<Calls>) -> Body {
    subject.look();
    let changes = subject.changes();
    let (stage, feed) = (Stage::Start, Feed::default());
    let missing = Missing::default();
    let teller = Teller { subject, calls, changes, stage, feed, before: 0, missing };
    Body::from_stream(stream::unfold(teller, |mut teller| async move {
        let frame = teller.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(frame.into_bytes())), teller))
    }))
}

/// What one page was told.
#[derive(Debug)]
struct Teller {
    subject: Subject,
    calls: Option<Calls>,
    changes: watch::Receiver<State>,
    stage: Stage,
    feed: Feed,
    /// Messages that had come and gone before the first one that the page has.
    before: u64,
    missing: Missing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Start,
    Telling,
    End,
}

impl Teller {
    /// The next frame; `None` at the end.
    async fn next(&mut self) -> Option<Frame> {
        match self.stage {
            Stage::Start => {
                self.stage = Stage::Telling;
                Some(self.hello())
            }
            Stage::Telling => Some(self.tell().await),
            Stage::End => None,
        }
    }

    fn hello(&self) -> Frame {
        let mode = match self.subject.place() {
            Some(_) => "live",
            None => "recording",
        };
        Frame::new("hello")
            .with("version", frame::VERSION)
            .with("program", env!("CARGO_PKG_VERSION"))
            .with("title", self.subject.title())
            .with("mode", mode)
            .with("objects", self.calls.is_some())
            .with("calls", self.calls == Some(Calls::Allowed))
    }

    /// Waits until there is something to tell.
    async fn tell(&mut self) -> Frame {
        loop {
            let state = self.changes.borrow_and_update().clone();
            match &state {
                State::Loading => {}
                State::Failed(error) => return self.end(Some(error.to_string())),
                State::Whole | State::Live | State::Gone => {
                    if let Some(frame) = self.news() {
                        return frame;
                    }
                    match state {
                        State::Whole => return self.end(None),
                        State::Gone => return self.end(Some("the bus is gone".into())),
                        _ => sleep(REST).await,
                    }
                }
            }
            if self.changes.changed().await.is_err() {
                return self.end(None);
            }
        }
    }

    fn news(&mut self) -> Option<Frame> {
        let subject = self.subject.clone();
        subject.with(|shown| self.news_of(shown))
    }

    fn news_of(&mut self, shown: &Shown) -> Option<Frame> {
        if let Some(frame) = self.news_of_missing(shown.missing()) {
            return Some(frame);
        }
        let before = shown.before();
        if before != self.before {
            // The oldest messages are gone, so all others have other places.
            (self.before, self.feed) = (before, Feed::default());
            return Some(Frame::new("reset").with("before", before));
        }
        self.feed.next(shown.capture())
    }

    fn news_of_missing(&mut self, missing: Missing) -> Option<Frame> {
        if missing == self.missing {
            return None;
        }
        self.missing = missing;
        let Missing { overrun, disconnected } = missing;
        let frame = Frame::new("missing").with("overrun", overrun);
        Some(frame.with("disconnected", disconnected))
    }

    fn end(&mut self, why: Option<String>) -> Frame {
        self.stage = Stage::End;
        Frame::new("end").with("why", why)
    }
}

/// Between looks at a bus, so that a page gets many messages at once.
const REST: Duration = Duration::from_millis(50);
