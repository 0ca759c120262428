//! Saving memory to a file when the process crashes.

use std::ffi::{CString, c_char, c_int};
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use std::{io, ptr};

/// The descriptors to copy from, in this order; -1 for none. The handler or this process owns a descriptor, whichever
/// takes it out first.
static FROM: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];
/// The file to copy to.
static TO: AtomicPtr<c_char> = AtomicPtr::new(ptr::null_mut());
/// The process that asked for this. Its children do not copy anything.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Arranges that a crash of this process copies the contents of `from` to a new file `to`. It keeps own descriptors of
/// both until [`forget`] is called.
pub(crate) fn save(from: [BorrowedFd<'_>; 2], to: CString) -> io::Result<()> {
    let [first, second] = from.map(|from| from.try_clone_to_owned());
    let from = [first?, second?];
    // It is never freed, since a handler may be reading it.
    TO.store(to.into_raw(), Ordering::Release);
    // SAFETY: getpid(2) has no conditions.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Release);
    for (place, from) in FROM.iter().zip(from) {
        put(place, from.into_raw_fd());
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
    FROM.iter().for_each(|place| put(place, -1));
}

/// Puts a descriptor into a place, or none, and closes the one that was there.
fn put(place: &AtomicI32, from: c_int) {
    let before = place.swap(from, Ordering::AcqRel);
    if before >= 0 {
        // SAFETY: the number comes from `into_raw_fd`. It was taken out, so nothing else owns the descriptor.
        drop(unsafe { OwnedFd::from_raw_fd(before) });
    }
}

/// Handles a signal. It calls only functions that signal handlers may call. `SA_RESETHAND` has restored the default
/// action, so raising the signal again ends the process.
extern "C" fn handle(signal: c_int) {
    let from = FROM.each_ref().map(|place| place.swap(-1, Ordering::AcqRel));
    let to = TO.load(Ordering::Acquire);
    // SAFETY: getpid(2) has no conditions.
    let is_own = PROCESS.load(Ordering::Acquire) == unsafe { libc::getpid() };
    if from[0] >= 0 && is_own && !to.is_null() {
        // SAFETY: `to` comes from `CString::into_raw`, so it is NUL-terminated, and it is never freed.
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
