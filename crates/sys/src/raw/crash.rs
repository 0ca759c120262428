//! Saving memory to a file when the process crashes.

use std::ffi::{CString, c_char, c_int};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::{io, ptr};

/// The descriptors to copy from, in this order; -1 for none.
static FROM: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
/// The file to copy to.
static TO: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
/// The process that asked for this. Its children do not copy anything.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Arranges that a crash of this process copies the contents of `from` to a new file `to`. The descriptors must stay open
/// until [`forget`] is called.
pub(crate) fn save(from: [BorrowedFd<'_>; 2], to: CString) -> io::Result<()> {
    // It is never freed, since a handler may be reading it.
    TO.store(to.into_raw(), Ordering::Release);
    // SAFETY: getpid(2) has no conditions.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Release);
    for (place, from) in FROM.iter().zip(from) {
        place.store(from.as_raw_fd(), Ordering::Release);
    }
    for signal in SIGNALS {
        // SAFETY: zeroes are valid for all fields of this C structure.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle as *const () as usize;
        action.sa_flags = libc::SA_ONSTACK | libc::SA_RESETHAND;
        // SAFETY: `action` is initialized, and its handler calls only functions that signal handlers may call
        // (signal-safety(7)).
        super::check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
    }
    Ok(())
}

/// Arranges that a crash copies nothing.
pub(crate) fn forget() {
    FROM.iter().for_each(|place| place.store(-1, Ordering::Release));
}

/// Handles a signal. It calls only functions that signal handlers may call. `SA_RESETHAND` has restored the default
/// action, so raising the signal again ends the process.
extern "C" fn handle(signal: c_int) {
    let from = FROM.each_ref().map(|place| place.swap(-1, Ordering::AcqRel));
    let to = TO.load(Ordering::Acquire);
    // SAFETY: getpid(2) has no conditions.
    let is_own = PROCESS.load(Ordering::Acquire) == unsafe { libc::getpid() };
    if from[0] >= 0 && is_own && !to.is_null() {
        // SAFETY: `to` is NUL-terminated, and is never freed.
        unsafe { copy(from, to) };
    }
    // SAFETY: raise(3) has no conditions.
    unsafe { libc::raise(signal) };
}

/// # Safety
///
/// `to` is a NUL-terminated string.
unsafe fn copy(from: [c_int; 2], to: *const c_char) {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: the caller promises that `to` is a NUL-terminated string, the other strings are literals, and `offset` is
    // an existing local variable.
    unsafe {
        let file = libc::open(to, flags, 0o600);
        if file < 0 {
            say(c"This process has crashed. Its last record cannot be written to ".as_ptr());
            say(to);
            say(c"\n".as_ptr());
            return;
        }
        let mut is_whole = true;
        for from in from {
            let mut offset: libc::off_t = 0;
            let mut copied = 1;
            while copied > 0 {
                copied = libc::sendfile(file, from, &raw mut offset, COPIED_AT_ONCE);
            }
            is_whole &= copied == 0;
        }
        libc::close(file);
        say(match is_whole {
            true => c"This process has crashed. Its last record is in ".as_ptr(),
            false => c"This process has crashed. Only a part of its last record is in ".as_ptr(),
        });
        say(to);
        say(c"\n".as_ptr());
    }
}

/// # Safety
///
/// `text` is a NUL-terminated string.
unsafe fn say(text: *const c_char) {
    // SAFETY: the caller promises a NUL-terminated string.
    unsafe { libc::write(libc::STDERR_FILENO, text.cast(), libc::strlen(text)) };
}

/// Signals that end a process because of a fault of its own, a failed assertion among them.
const SIGNALS: [c_int; 6] =
    [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGSYS];

const COPIED_AT_ONCE: usize = 1 << 30;
