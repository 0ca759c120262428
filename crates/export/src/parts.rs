//! Work on parts of the selected messages, with all processors.

use std::io;
use std::thread;

use capture::Capture;
use capture::model::{CapturedMessage, MessageBuffer};
use capture::workers::OrderedWorkers;

/// Returns the selected messages, in parts.
pub(crate) fn selected_parts<'c>(
    capture: &'c Capture,
    mut selects: impl FnMut(&CapturedMessage<'c>) -> bool,
) -> impl Iterator<Item = Vec<CapturedMessage<'c>>> {
    let mut messages = capture.messages().filter(move |message| selects(message));
    std::iter::from_fn(move || {
        let part: Vec<_> = messages.by_ref().take(PART_LEN).collect();
        (!part.is_empty()).then_some(part)
    })
}

/// Applies `work` to the parts, with all processors, and passes the results to `then` in order.
///
/// # Errors
///
/// The first error of `work` or `then`.
pub(crate) fn for_each_part<P: Send, T: Send, E: From<io::Error>>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(P, &mut MessageBuffer) -> io::Result<T> + Sync,
    mut then: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let work = &work;
    thread::scope(|scope| {
        let workers = OrderedWorkers::start(scope, || {
            let mut buffer = MessageBuffer::default();
            move |part| work(part, &mut buffer)
        });
        workers.process(parts).try_for_each(|result| then(result?))
    })
}

/// The number of messages in a part. Parts with large bodies should still fit into memory.
const PART_LEN: usize = 1 << 9;
