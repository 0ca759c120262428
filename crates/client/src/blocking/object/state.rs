//! The state of an object, which one method uses at a time.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The state of an object. A second thread waits until the first has left it. A thread that is
/// inside already cannot enter again: it would wait for itself.
#[derive(Debug)]
pub(super) struct ObjectState<S> {
    state: Mutex<S>,
    /// The thread that is inside, by [`this_thread`]; 0 for none.
    inside: AtomicUsize,
}

/// The state is used by the current thread already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AlreadyInside;

/// The state of an object, for as long as a thread is inside.
#[derive(Debug)]
pub(super) struct EnteredState<'o, S> {
    state: MutexGuard<'o, S>,
    inside: &'o AtomicUsize,
}

impl<S> ObjectState<S> {
    pub(super) const fn new(state: S) -> Self {
        Self { state: Mutex::new(state), inside: AtomicUsize::new(0) }
    }

    /// Enters the state, and waits while another thread is inside.
    pub(super) fn enter(&self) -> Result<EnteredState<'_, S>, AlreadyInside> {
        let this = this_thread();
        if self.inside.load(Ordering::Relaxed) == this {
            return Err(AlreadyInside);
        }
        // If a method panicked, its object is as valid as the method has left it.
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.inside.store(this, Ordering::Relaxed);
        Ok(EnteredState { state, inside: &self.inside })
    }

    /// True if the current thread could enter, at once or after another thread has left.
    pub(super) fn can_enter(&self) -> bool {
        self.inside.load(Ordering::Relaxed) != this_thread()
    }

    /// True if no thread is inside.
    pub(super) fn is_free(&self) -> bool {
        !matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
    }
}

impl<S> Deref for EnteredState<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S> DerefMut for EnteredState<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

impl<S> Drop for EnteredState<'_, S> {
    fn drop(&mut self) {
        self.inside.store(0, Ordering::Relaxed);
    }
}

/// A number that only the current thread has, not 0. It reads its own number only if it stored it.
fn this_thread() -> usize {
    thread_local! {
        static MARK: u8 = const { 0 };
    }
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}
