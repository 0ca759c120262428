//! Functions of libdbus that are not in its headers, but that Debian's command line tools use.

use std::ffi::{c_int, c_long};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::io::FdFlags;

use crate::c::Out;

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
