//! The stream of frames that a page gets: the recording or bus, and what is new while it grows.

use std::time::Duration;

use analyst::frame::{HelloHead, PageMode, VERSION};
use analyst::{Feed, Frame, FrameHead};
use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::bus::Calls;
use crate::missing::Missing;
use crate::subject::{Shown, State, Subject};

/// All frames as the body of an HTTP response. It ends with the recording, or when the page is closed.
/// `calls` is what the page may do on the bus; `None` for a recording.
pub(crate) fn body(subject: Subject, calls: Option<Calls>) -> Body {
    subject.look();
    let changes = subject.changes();
    let (stage, feed) = (Stage::Start, Feed::default());
    let missing = Missing::default();
    let page = PageStream { subject, calls, changes, stage, feed, before: 0, missing };
    Body::from_stream(stream::unfold(page, |mut page| async move {
        let frame = page.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(frame.into_bytes())), page))
    }))
}

/// The stream of one page.
#[derive(Debug)]
struct PageStream {
    subject: Subject,
    calls: Option<Calls>,
    changes: watch::Receiver<State>,
    stage: Stage,
    feed: Feed,
    /// How many messages were dropped before the first one that the page has.
    before: u64,
    missing: Missing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Start,
    Running,
    End,
}

impl PageStream {
    /// The next frame; `None` at the end.
    async fn next(&mut self) -> Option<Frame> {
        match self.stage {
            Stage::Start => {
                self.stage = Stage::Running;
                Some(self.hello())
            }
            Stage::Running => Some(self.wait().await),
            Stage::End => None,
        }
    }

    fn hello(&self) -> Frame {
        let mode = match self.subject.place() {
            Some(_) => PageMode::Live,
            None => PageMode::Recording,
        };
        Frame::new(&FrameHead::Hello(HelloHead {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION"),
            title: self.subject.title(),
            mode,
            objects: self.calls.is_some(),
            calls: self.calls == Some(Calls::Allowed),
        }))
    }

    /// Waits until something is new.
    async fn wait(&mut self) -> Frame {
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
            // The oldest messages were dropped, so all others have other rows.
            (self.before, self.feed) = (before, Feed::default());
            return Some(Frame::new(&FrameHead::Reset { before }));
        }
        self.feed.next(shown.capture())
    }

    fn news_of_missing(&mut self, missing: Missing) -> Option<Frame> {
        if missing == self.missing {
            return None;
        }
        self.missing = missing;
        let Missing { overrun, disconnected } = missing;
        Some(Frame::new(&FrameHead::Missing { overrun, disconnected }))
    }

    fn end(&mut self, why: Option<String>) -> Frame {
        self.stage = Stage::End;
        Frame::new(&FrameHead::End { why })
    }
}

/// Pause between two frames of a bus, so that a frame has many messages.
const REST: Duration = Duration::from_millis(50);
