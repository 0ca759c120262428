//! The functions that a page calls if it contains this crate as WebAssembly.
//!
//! There is one recording, and one buffer for input and output. The page reserves space, writes a
//! recording or a question into it, and calls a function. Then the output is in the buffer. The
//! program has a single thread.
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

/// Reserves space for the input, and returns its address.
#[unsafe(no_mangle)]
extern "C" fn reserve(len: usize) -> *mut u8 {
    with(|page| {
        page.buffer.clear();
        page.buffer.resize(len, 0);
        page.buffer.as_mut_ptr()
    })
}

/// Returns the address of the output.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    with(|page| page.buffer.as_ptr())
}

/// Reads the recording in the buffer. Returns 0 on success, otherwise the length of the error
/// message.
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

/// Writes the next frame of the recording and returns its length; 0 at the end of the recording.
#[unsafe(no_mangle)]
extern "C" fn next() -> usize {
    with(|page| match page.feed.next(&page.capture) {
        Some(frame) => page.put_frame(frame),
        None => 0,
    })
}

/// Answers the question in the buffer and returns the length of the answer.
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
