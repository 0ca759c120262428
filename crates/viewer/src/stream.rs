//! The stream of frames that a page receives: the recording, or a live bus with new messages as
//! they arrive.

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

/// All frames of a subject as the body of an HTTP response. The body ends with the recording, or
/// when the page is closed. `calls` is the page's permission on the bus; `None` for a recording.
pub(crate) fn body(subject: ViewerSubject, calls: Option<CallPermission>) -> Body {
    subject.start_watch();
    let changes = subject.changes();
    let (stage, feed) = (StreamStage::Start, Feed::default());
    let missing = MissedMessages::default();
    let page = PageStream { subject, calls, changes, stage, feed, before: 0, missing };
    Body::from_stream(stream::unfold(page, |mut page| async move {
        let frame = page.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(frame.into_bytes())), page))
    }))
}

/// The state of the stream of one page.
#[derive(Debug)]
struct PageStream {
    subject: ViewerSubject,
    calls: Option<CallPermission>,
    changes: watch::Receiver<SubjectState>,
    stage: StreamStage,
    feed: Feed,
    /// The number of messages that were dropped before the first one that the page has.
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

    /// Waits until there is something new to send.
    async fn wait(&mut self) -> PageFrame {
        loop {
            let state = self.changes.borrow_and_update().clone();
            match &state {
                SubjectState::Loading => {}
                SubjectState::Failed(error) => return self.end(Some(error.to_string())),
                SubjectState::Complete | SubjectState::Live | SubjectState::Ended => {
                    if let Some(frame) = self.next_frame() {
                        return frame;
                    }
                    match state {
                        SubjectState::Complete => return self.end(None),
                        SubjectState::Ended => {
                            return self.end(Some("the bus closed the connection".into()));
                        }
                        _ => sleep(FRAME_INTERVAL).await,
                    }
                }
            }
            if self.changes.changed().await.is_err() {
                return self.end(None);
            }
        }
    }

    fn next_frame(&mut self) -> Option<PageFrame> {
        let subject = self.subject.clone();
        subject.with(|content| self.next_frame_of(content))
    }

    fn next_frame_of(&mut self, content: &SubjectContent) -> Option<PageFrame> {
        if let Some(frame) = self.missing_frame(content.missing()) {
            return Some(frame);
        }
        let before = content.before();
        if before != self.before {
            // The oldest messages were dropped, so the rows of all others have changed.
            (self.before, self.feed) = (before, Feed::default());
            return Some(PageFrame::new(&FrameHead::Reset { before }));
        }
        self.feed.next(content.capture())
    }

    fn missing_frame(&mut self, missing: MissedMessages) -> Option<PageFrame> {
        if missing == self.missing {
            return None;
        }
        self.missing = missing;
        let MissedMessages { overrun, disconnected } = missing;
        Some(PageFrame::new(&FrameHead::Missing { overrun, disconnected }))
    }

    fn end(&mut self, reason: Option<String>) -> PageFrame {
        self.stage = StreamStage::End;
        PageFrame::new(&FrameHead::End { why: reason })
    }
}

/// The pause between two frames of a live bus, so that each frame has many messages.
const FRAME_INTERVAL: Duration = Duration::from_millis(50);
