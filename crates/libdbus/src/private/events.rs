//! Functions for the main loop of dbus-daemon, which its tests use too.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::Ordering;

use crate::c::{Bool, FALSE, Handle, give, take_back};
use crate::event::{DBusTimeout, DBusWatch};

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_ref(watch: Handle<DBusWatch>) -> *const DBusWatch {
    watch.share().map_or(ptr::null(), give)
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_unref(watch: Handle<DBusWatch>) {
    drop(watch.get().map(take_back));
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_invalidate(watch: Handle<DBusWatch>) {
    if let Some(watch) = watch.get() {
        watch.invalidate();
    }
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_get_pollable(watch: Handle<DBusWatch>) -> c_int {
    watch.get().map_or(-1, DBusWatch::fd)
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_get_oom_last_time(watch: Handle<DBusWatch>) -> Bool {
    watch.get().is_some_and(|watch| watch.lacked_memory.load(Ordering::Relaxed)).into()
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_watch_set_oom_last_time(watch: Handle<DBusWatch>, lacked_memory: Bool) {
    if let Some(watch) = watch.get() {
        watch.lacked_memory.store(lacked_memory != FALSE, Ordering::Relaxed);
    }
}

/// Returns whether the interval has changed. A timeout of this library never changes.
#[unsafe(no_mangle)]
extern "C" fn _dbus_timeout_needs_restart(_timeout: Handle<DBusTimeout>) -> Bool {
    FALSE
}

#[unsafe(no_mangle)]
extern "C" fn _dbus_timeout_restarted(_timeout: Handle<DBusTimeout>) {}
