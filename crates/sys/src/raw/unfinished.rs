//! Removing unfinished files when a signal ends the process.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::{mem, ptr};

/// The paths of the files, or null. The handler or the [`UnfinishedSlot`] owns a path, whichever takes it out first.
static PATHS: [AtomicPtr<c_char>; FILES_MAX] =
    [const { AtomicPtr::new(ptr::null_mut()) }; FILES_MAX];
/// The process that created the files. Its children do not remove them.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static HANDLERS: Once = Once::new();

/// The place of a path. After it is dropped, a signal does not remove the file.
#[derive(Debug)]
pub(crate) struct UnfinishedSlot(usize);

/// Arranges that a signal that ends the process also removes the file at `path`. Returns `None` if there are
/// [`FILES_MAX`] such files already.
pub(crate) fn remember(path: CString) -> Option<UnfinishedSlot> {
    HANDLERS.call_once(handle_signals);
    let path = path.into_raw();
    let free = PATHS.iter().position(|place| {
        let null = ptr::null_mut();
        place.compare_exchange(null, path, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    });
    if free.is_none() {
        // SAFETY: the pointer comes from `into_raw`, and is not in any place.
        drop(unsafe { CString::from_raw(path) });
    }
    free.map(UnfinishedSlot)
}

impl Drop for UnfinishedSlot {
    fn drop(&mut self) {
        let path = PATHS[self.0].swap(ptr::null_mut(), Ordering::AcqRel);
        if !path.is_null() {
            // SAFETY: the pointer comes from `into_raw`. It was taken out, so the handler does not have it.
            drop(unsafe { CString::from_raw(path) });
        }
    }
}

/// Installs the handler for signals that would end the process. Signals that are ignored or handled already keep
/// their actions.
fn handle_signals() {
    // SAFETY: getpid(2) has no conditions.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Release);
    for signal in SIGNALS {
        // SAFETY: zeroes are valid for all fields of this C structure.
        let (mut old, mut new): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
        new.sa_sigaction = handle as *const () as usize;
        new.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        // SAFETY: `old` is an existing local variable.
        let asked = unsafe { libc::sigaction(signal, ptr::null(), &raw mut old) };
        if asked == 0 && old.sa_sigaction == libc::SIG_DFL {
            // SAFETY: `new` is initialized, and its handler calls only functions that signal handlers
            // may call (signal-safety(7)).
            unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
        }
    }
}

/// Handles a signal. It calls only functions that signal handlers may call. `SA_RESETHAND` has restored the default
/// action, so raising the signal again ends the process.
extern "C" fn handle(signal: c_int) {
    // SAFETY: getpid(2) has no conditions.
    if PROCESS.load(Ordering::Acquire) == unsafe { libc::getpid() } {
        for place in &PATHS {
            let path = place.swap(ptr::null_mut(), Ordering::AcqRel);
            if !path.is_null() {
                // SAFETY: the pointer comes from `CString::into_raw`. It was taken out, so its `Place` does not free it.
                let path = unsafe { CStr::from_ptr(path) };
                // SAFETY: a `CStr` is NUL-terminated.
                unsafe { libc::unlink(path.as_ptr()) };
            }
        }
    }
    // SAFETY: raise(3) has no conditions.
    unsafe { libc::raise(signal) };
}

/// Signals that ask the process to end, or that the kernel sends when a limit is reached.
const SIGNALS: [c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGXCPU, libc::SIGXFSZ];

/// The maximum number of files. A program has one or two at a time.
const FILES_MAX: usize = 16;
