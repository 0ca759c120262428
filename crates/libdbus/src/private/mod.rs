//! Functions of libdbus that are not in its headers, but that Debian's command line tools and the
//! tests of dbus-daemon use.

mod events;
mod text;
mod uuid;

use std::ffi::{CStr, c_char, c_int, c_long};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::io::FdFlags;

use crate::c::{Bool, CText, FALSE, Out, TRUE, copy_text};

/// Stores the time of the realtime clock, as dbus-send and dbus-monitor print it.
#[unsafe(no_mangle)]
extern "C" fn _dbus_get_real_time(seconds: Out<c_long>, microseconds: Out<c_long>) {
    let now = sys::clock::realtime();
    seconds.set(c_long::try_from(now.as_secs()).unwrap_or(c_long::MAX));
    microseconds.set(now.subsec_micros().into());
}

/// Waits for this time, for dbus-test-tool.
#[unsafe(no_mangle)]
extern "C" fn _dbus_sleep_milliseconds(milliseconds: c_int) {
    std::thread::sleep(Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0)));
}

/// Makes a descriptor inheritable, for dbus-run-session.
#[unsafe(no_mangle)]
extern "C" fn _dbus_fd_clear_close_on_exec(fd: c_int) {
    set_flags(fd, FdFlags::empty());
}

/// Makes all descriptors except the standard ones not inheritable, for dbus-run-session.
#[unsafe(no_mangle)]
extern "C" fn _dbus_fd_set_all_close_on_exec() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    for fd in names.filter_map(|name| name.parse().ok()).filter(|&fd: &c_int| fd > 2) {
        set_flags(fd, FdFlags::CLOEXEC);
    }
}

fn set_flags(fd: c_int, flags: FdFlags) {
    if fd >= 0 {
        // SAFETY: if the descriptor is closed, the call fails without an effect.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        // A closed descriptor needs no flags.
        let _ = rustix::io::fcntl_setfd(fd, flags);
    }
}

/// Opens /dev/null at each standard descriptor that is closed, for dbus-launch. Each bit of `flags`
/// also replaces an open one. On failure, errno has the reason and `reason` what failed.
#[unsafe(no_mangle)]
extern "C" fn _dbus_ensure_standard_fds(flags: c_int, reason: Out<*const c_char>) -> Bool {
    match ensure_standard_fds(flags) {
        Ok(()) => {
            reason.set(std::ptr::null());
            TRUE
        }
        Err(failed) => {
            reason.set(failed.as_ptr());
            FALSE
        }
    }
}

fn ensure_standard_fds(flags: c_int) -> Result<(), &'static CStr> {
    let mut null = -1;
    for standard in 0..=2 {
        // The lowest descriptor that is closed is opened, so all below `null` are open.
        if null < standard {
            // SAFETY: the path is a terminated string.
            null = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) };
        }
        if null < 0 {
            return Err(c"Failed to open /dev/null");
        }
        let is_replaced = null != standard && flags & 1 << standard != 0;
        // SAFETY: the program asks for the replacement of this descriptor.
        if is_replaced && unsafe { libc::dup2(null, standard) } < 0 {
            return Err(c"Failed to dup2 /dev/null onto a standard fd");
        }
    }
    if null > 2 {
        // SAFETY: this function has opened the descriptor.
        unsafe { libc::close(null) };
    }
    Ok(())
}

/// Copies a string, for dbus-launch.
#[unsafe(no_mangle)]
extern "C" fn _dbus_strdup(text: CText) -> *mut c_char {
    text.get().map_or(std::ptr::null_mut(), |text| copy_text(text.to_bytes()))
}

/// The text for a value of errno, for dbus-launch.
#[unsafe(no_mangle)]
extern "C" fn _dbus_strerror(number: c_int) -> *const c_char {
    // SAFETY: the function has no preconditions. The text is valid until the next call of it.
    unsafe { libc::strerror(number) }
}
