//! What a page calls that has this crate as WebAssembly in it.
//!
//! There is one recording, and one buffer for what goes in and out: the page reserves room, puts a
//! recording or a question there, and calls; what comes out is in the buffer then. All is of one
//! thread, as such a program is.
#![expect(unsafe_code, reason = "the names of functions that the page calls must not be changed")]

use std::cell::RefCell;

use capture::Capture;

use crate::{Feed, PageFrame, answer};

#[derive(Default)]
struct EmbeddedPage {
    buffer: Vec<u8>,
    capture: Capture,
    feed: Feed,
}

thread_local! {
    static PAGE: RefCell<EmbeddedPage> = RefCell::default();
}

/// Makes room for what goes in, and says where it is.
#[unsafe(no_mangle)]
extern "C" fn reserve(len: usize) -> *mut u8 {
    with(|page| {
        page.buffer.clear();
        page.buffer.resize(len, 0);
        page.buffer.as_mut_ptr()
    })
}

/// Where what came out is.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    with(|page| page.buffer.as_ptr())
}

/// Reads the recording that was put in. How long the sentence is that says why there is none; 0 if
/// there is one.
#[unsafe(no_mangle)]
extern "C" fn open() -> usize {
    with(|page| match Capture::from_bytes(std::mem::take(&mut page.buffer)) {
        Ok(capture) => {
            (page.capture, page.feed) = (capture, Feed::default());
            0
        }
        Err(error) => page.put(error.to_string().into_bytes()),
    })
}

/// How long the next frame of the recording is; 0 at its end.
#[unsafe(no_mangle)]
extern "C" fn next() -> usize {
    with(|page| match page.feed.next(&page.capture) {
        Some(frame) => page.put_frame(frame),
        None => 0,
    })
}

/// Answers the question that was put in, and says how long the answer is.
#[unsafe(no_mangle)]
extern "C" fn ask() -> usize {
    with(|page| {
        let question = std::mem::take(&mut page.buffer);
        let frame = answer(&page.capture, &question);
        page.put_frame(frame)
    })
}

impl EmbeddedPage {
    fn put_frame(&mut self, frame: PageFrame) -> usize {
        self.put(frame.into_bytes())
    }

    fn put(&mut self, bytes: Vec<u8>) -> usize {
        self.buffer = bytes;
        self.buffer.len()
    }
}

fn with<T>(act: impl FnOnce(&mut EmbeddedPage) -> T) -> T {
    PAGE.with_borrow_mut(act)
}
