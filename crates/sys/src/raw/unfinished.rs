//! Files that are removed if a signal ends the process.

use std::ffi::{CStr, CString, c_char, c_int};
use std::sync::Once;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::{mem, ptr};

/// The paths of the files; null if the place is free. Each path is owned by its place: by the handler
/// or by its [`Place`], whichever takes it out.
static PATHS: [AtomicPtr<c_char>; FILES_MAX] = [const { AtomicPtr::new(ptr::null_mut()) }; _];
/// The process that created the files: its children do not remove them.
static PROCESS: AtomicI32 = AtomicI32::new(0);
static HANDLERS: Once = Once::new();

/// The place of a path. Once it is dropped, the file is not removed any more.
#[derive(Debug)]
pub(crate) struct Place(usize);

/// From now on, removes the file at `path` if the process is ended by a signal that asks it to end.
/// `None` if there are too many such files.
pub(crate) fn remember(path: CString) -> Option<Place> {
    HANDLERS.call_once(handle_signals);
    let path = path.into_raw();
    let free = PATHS.iter().position(|place| {
        let null = ptr::null_mut();
        place.compare_exchange(null, path, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    });
    if free.is_none() {
        // SAFETY: it comes from `into_raw`, and no place has it.
        drop(unsafe { CString::from_raw(path) });
    }
    free.map(Place)
}

impl Drop for Place {
    fn drop(&mut self) {
        let path = PATHS[self.0].swap(ptr::null_mut(), Ordering::AcqRel);
        if !path.is_null() {
            // SAFETY: it comes from `into_raw`, and it was taken out, so the handler does not have it.
            drop(unsafe { CString::from_raw(path) });
        }
    }
}

/// Handles the signals that would end the process. Those that are ignored or handled already keep their
/// actions.
fn handle_signals() {
    // SAFETY: getpid(2) has no conditions.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Release);
    for signal in SIGNALS {
        // SAFETY: zeroes are valid for all fields of this C structure.
        let (mut old, mut new): (libc::sigaction, libc::sigaction) = unsafe { mem::zeroed() };
        new.sa_sigaction = handle as *const () as usize;
        new.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        // SAFETY: `old` is a live local variable.
        let asked = unsafe { libc::sigaction(signal, ptr::null(), &raw mut old) };
        if asked == 0 && old.sa_sigaction == libc::SIG_DFL {
            // SAFETY: `new` is initialized, and its handler calls only functions that signal handlers
            // may call (signal-safety(7)).
            unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) };
        }
    }
}

/// Calls only what may be called in a signal handler. `SA_RESETHAND` has restored the default action,
/// so the signal that is raised again ends the process.
extern "C" fn handle(signal: c_int) {
    // SAFETY: getpid(2) has no conditions.
    if PROCESS.load(Ordering::Acquire) == unsafe { libc::getpid() } {
        for place in &PATHS {
            let path = place.swap(ptr::null_mut(), Ordering::AcqRel);
            if !path.is_null() {
                // SAFETY: it is a string that ends with a zero. It was taken out, so nobody frees it.
                let path = unsafe { CStr::from_ptr(path) };
                // SAFETY: as above.
                unsafe { libc::unlink(path.as_ptr()) };
            }
        }
    }
    // SAFETY: raise(3) has no conditions.
    unsafe { libc::raise(signal) };
}

/// Signals that ask a process to end, or that the kernel sends when a limit is reached.
const SIGNALS: [c_int; 6] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGXCPU, libc::SIGXFSZ];

/// Files that are removed at most. A program has one or two at a time.
const FILES_MAX: usize = 16;
