//! Functions of libdbus that are not in its headers, but that Debian's command line tools use.

use std::ffi::{c_int, c_long};
use std::time::Duration;

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
