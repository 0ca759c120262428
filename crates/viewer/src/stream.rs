//! The stream of frames that a page gets: the recording or bus, and what is new while it grows.

use std::time::Duration;

use analyst::frame::{HelloHead, PageMode, VERSION};
use analyst::{Feed, FrameHead, PageFrame};
use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::bus::CallPermission;
use crate::missing::MissedMessages;
use crate::subject::{SubjectContent, SubjectState, ViewerSubject};

/// All frames as the body of an HTTP response. It ends with the recording, or when the page is closed.
/// `calls` is what the page may do on the bus; `None` for a recording.
pub(crate) fn body(subject: ViewerSubject, calls: Option<CallPermission>) -> Body {
    subject.look();
    let changes = subject.changes();
    let (stage, feed) = (StreamStage::Start, Feed::default());
    let missing = MissedMessages::default();
    let page = PageStream { subject, calls, changes, stage, feed, before: 0, missing };
    Body::from_stream(stream::unfold(page, |mut page| async move {
        let frame = page.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(frame.into_bytes())), page))
    }))
}

/// The stream of one page.
#[derive(Debug)]
struct PageStream {
    subject: ViewerSubject,
    calls: Option<CallPermission>,
    changes: watch::Receiver<SubjectState>,
    stage: StreamStage,
    feed: Feed,
    /// How many messages were dropped before the first one that the page has.
    before: u64,
    missing: MissedMessages,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StreamStage {
    Start,
    Running,
    End,
}

impl PageStream {
    /// The next frame; `None` at the end.
    async fn next(&mut self) -> Option<PageFrame> {
        match self.stage {
            StreamStage::Start => {
                self.stage = StreamStage::Running;
                Some(self.hello())
            }
            StreamStage::Running => Some(self.wait().await),
            StreamStage::End => None,
        }
    }

    fn hello(&self) -> PageFrame {
        let mode = match self.subject.place() {
            Some(_) => PageMode::Live,
            None => PageMode::Recording,
        };
        PageFrame::new(&FrameHead::Hello(HelloHead {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION"),
            title: self.subject.title(),
            mode,
            objects: self.calls.is_some(),
            calls: self.calls == Some(CallPermission::Allowed),
        }))
    }

    /// Waits until something is new.
    async fn wait(&mut self) -> PageFrame {
        loop {
            let state = self.changes.borrow_and_update().clone();
            match &state {
                SubjectState::Loading => {}
                SubjectState::Failed(error) => return self.end(Some(error.to_string())),
                SubjectState::Whole | SubjectState::Live | SubjectState::Gone => {
                    if let Some(frame) = self.news() {
                        return frame;
                    }
                    match state {
                        SubjectState::Whole => return self.end(None),
                        SubjectState::Gone => return self.end(Some("the bus is gone".into())),
                        _ => sleep(REST).await,
                    }
                }
            }
            if self.changes.changed().await.is_err() {
                return self.end(None);
            }
        }
    }

    fn news(&mut self) -> Option<PageFrame> {
        let subject = self.subject.clone();
        subject.with(|shown| self.news_of(shown))
    }

    fn news_of(&mut self, shown: &SubjectContent) -> Option<PageFrame> {
        if let Some(frame) = self.news_of_missing(shown.missing()) {
            return Some(frame);
        }
        let before = shown.before();
        if before != self.before {
            // The oldest messages were dropped, so all others have other rows.
            (self.before, self.feed) = (before, Feed::default());
            return Some(PageFrame::new(&FrameHead::Reset { before }));
        }
        self.feed.next(shown.capture())
    }

    fn news_of_missing(&mut self, missing: MissedMessages) -> Option<PageFrame> {
        if missing == self.missing {
            return None;
        }
        self.missing = missing;
        let MissedMessages { overrun, disconnected } = missing;
        Some(PageFrame::new(&FrameHead::Missing { overrun, disconnected }))
    }

    fn end(&mut self, why: Option<String>) -> PageFrame {
        self.stage = StreamStage::End;
        PageFrame::new(&FrameHead::End { why })
    }
}

/// Pause between two frames of a bus, so that a frame has many messages.
const REST: Duration = Duration::from_millis(50);
