//! Work on another processor.

use std::panic::resume_unwind;
use std::thread;

/// Runs `other` on another thread while `own` runs on this one. If this process has only one
/// processor, or there can be no thread, `other` runs afterwards.
///
/// # Panics
///
/// If one of them panics.
pub fn both<A: Send, B>(other: impl FnOnce() -> A + Send, own: impl FnOnce() -> B) -> (A, B) {
    let mut waiting = Some(other);
    let (first, second) = thread::scope(|scope| {
        let run = || waiting.take().map(|other| other());
        let thread = has_processors().then(|| thread::Builder::new().spawn_scoped(scope, run));
        let second = own();
        let first = thread.and_then(Result::ok).map(|thread| thread.join());
        (first.map(|first| first.unwrap_or_else(|panic| resume_unwind(panic))), second)
    });
    let first = first.flatten().or_else(|| waiting.map(|other| other()));
    (first.expect("it has run on one of the threads"), second)
}

/// On one processor, a thread would only take turns with its creator.
fn has_processors() -> bool {
    thread::available_parallelism().is_ok_and(|count| count.get() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_results_are_returned() {
        let own = thread::current().id();
        let (other, second) = both(|| thread::current().id(), || 7);
        assert_eq!(other != own, has_processors());
        assert_eq!(second, 7);
    }

    #[test]
    fn a_panic_of_the_other_thread_is_passed_on() {
        let panics = || both(|| panic!("on the other thread"), || ());
        assert!(std::panic::catch_unwind(panics).is_err());
    }
}
