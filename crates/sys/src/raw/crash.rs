//! What a process does last when it crashes.

use std::ffi::{CString, c_char, c_int};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::{io, ptr};

/// The descriptors to copy from, one after the other; -1 for none.
static FROM: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
/// The file to copy to.
static TO: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
/// The process that this is about: not its children.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// From now on, copies all of `from` to the new file `to` if this process crashes. They must stay open
/// until [`forget`] is called.
pub(crate) fn save(from: [BorrowedFd<'_>; 2], to: CString) -> io::Result<()> {
    // It is never freed: a handler may be reading it.
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
        // SAFETY: `action` is initialised, and its handler calls only functions that signal handlers
        // may call (signal-safety(7)).
        super::check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
    }
    Ok(())
}

/// Copies nothing any more.
pub(crate) fn forget() {
    FROM.iter().for_each(|place| place.store(-1, Ordering::Release));
}

/// Calls only what may be called in a signal handler. `SA_RESETHAND` has restored the default action,
/// so the signal that is raised again ends the process.
extern "C" fn handle(signal: c_int) {
    let from = FROM.each_ref().map(|place| place.swap(-1, Ordering::AcqRel));
    let to = TO.load(Ordering::Acquire);
    // SAFETY: getpid(2) has no conditions.
    let is_own = PROCESS.load(Ordering::Acquire) == unsafe { libc::getpid() };
    if from[0] >= 0 && is_own && !to.is_null() {
        // SAFETY: `to` is a string that ends with a zero and is never freed.
        unsafe { copy(from, to) };
    }
    // SAFETY: raise(3) has no conditions.
    unsafe { libc::raise(signal) };
}

/// # Safety
///
/// `to` is a string that ends with a zero.
unsafe fn copy(from: [c_int; 2], to: *const c_char) {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC;
    // SAFETY: as the caller says; the other calls have no conditions but for `offset`, which is a
    // live local variable.
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
/// `text` is a string that ends with a zero.
unsafe fn say(text: *const c_char) {
    // SAFETY: as the caller says.
    unsafe { libc::write(libc::STDERR_FILENO, text.cast(), libc::strlen(text)) };
}

/// Signals that end a process because of a fault of its own, a failed assertion among them.
const SIGNALS: [c_int; 6] =
    [libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGSEGV, libc::SIGSYS];

const COPIED_AT_ONCE: usize = 1 << 30;
