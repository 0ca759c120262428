//! Watches and timeouts: what the main loop of a program must wait for.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::c::{Bool, FALSE, FreeFunction, Handle, SharedObject, TRUE, UserData};
use crate::checks::{given, warn};

/// The condition that a descriptor is readable.
pub(crate) const READABLE: u32 = 1;
/// The condition that a descriptor is writable.
pub(crate) const WRITABLE: u32 = 2;
/// The condition that a descriptor has an error.
pub(crate) const ERROR: u32 = 4;
/// The condition that the peer has closed the connection.
pub(crate) const HANGUP: u32 = 8;

/// The part that watches and timeouts have in common.
struct EventState {
    enabled: AtomicBool,
    data: Mutex<Option<UserData>>,
}

impl EventState {
    const fn new(enabled: bool) -> Self {
        Self { enabled: AtomicBool::new(enabled), data: Mutex::new(None) }
    }

    fn set_data(&self, data: UserData) {
        // The previous data is dropped without the lock.
        let _previous = self.data.lock().unwrap_or_else(PoisonError::into_inner).replace(data);
    }

    fn data(&self) -> *mut c_void {
        let data = self.data.lock().unwrap_or_else(PoisonError::into_inner);
        data.as_ref().map_or(ptr::null_mut(), |data| data.data)
    }
}

/// An object for which a main loop waits.
pub(crate) trait MainLoopEvent: SharedObject + Send + Sync + 'static {
    /// Whether the main loop must wait for it now.
    fn enabled(&self) -> &AtomicBool;
}

/// A descriptor that the main loop watches.
pub(crate) struct DBusWatch {
    fd: AtomicI32,
    flags: u32,
    state: EventState,
    /// A mark of a main loop that it could not handle the watch because memory was lacking.
    pub(crate) lacked_memory: AtomicBool,
    handler: Box<dyn Fn(u32) -> bool + Send + Sync>,
}

impl SharedObject for DBusWatch {}

impl MainLoopEvent for DBusWatch {
    fn enabled(&self) -> &AtomicBool {
        &self.state.enabled
    }
}

impl DBusWatch {
    pub(crate) fn new(
        fd: c_int,
        flags: u32,
        enabled: bool,
        handler: impl Fn(u32) -> bool + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (fd, state) = (AtomicI32::new(fd), EventState::new(enabled));
        let lacked_memory = AtomicBool::new(false);
        Arc::new(Self { fd, flags, state, lacked_memory, handler: Box::new(handler) })
    }

    /// The descriptor, or -1 if it is closed.
    pub(crate) fn fd(&self) -> c_int {
        self.fd.load(Ordering::Relaxed)
    }

    /// Forgets the descriptor, which is closed.
    pub(crate) fn invalidate(&self) {
        self.fd.store(-1, Ordering::Relaxed);
    }
}

/// A time after which the main loop calls this library.
pub(crate) struct DBusTimeout {
    interval: c_int,
    state: EventState,
    handler: Box<dyn Fn() -> bool + Send + Sync>,
}

impl SharedObject for DBusTimeout {}

impl MainLoopEvent for DBusTimeout {
    fn enabled(&self) -> &AtomicBool {
        &self.state.enabled
    }
}

impl DBusTimeout {
    /// A timeout after an interval in milliseconds.
    pub(crate) fn new(
        interval: c_int,
        handler: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { interval, state: EventState::new(true), handler: Box::new(handler) })
    }
}

/// The function of a main loop that adds an event.
pub(crate) type AddFunction<T> = Option<unsafe extern "C" fn(*const T, *mut c_void) -> Bool>;
/// The function of a main loop that removes an event, or learns that it was enabled or disabled.
pub(crate) type ChangeFunction<T> = Option<unsafe extern "C" fn(*const T, *mut c_void)>;

/// The functions of a main loop for one type of event.
pub(crate) struct MainLoopFunctions<T> {
    add: AddFunction<T>,
    remove: ChangeFunction<T>,
    toggled: ChangeFunction<T>,
    data: UserData,
}

impl<T: MainLoopEvent> MainLoopFunctions<T> {
    /// The functions that a program has passed, unless it has passed none to remove the old ones.
    pub(crate) fn of_program(
        add: AddFunction<T>,
        remove: ChangeFunction<T>,
        toggled: ChangeFunction<T>,
        data: *mut c_void,
        free: FreeFunction,
    ) -> Option<Arc<Self>> {
        let data = UserData::new(data, free);
        add.is_some().then(|| Arc::new(Self { add, remove, toggled, data }))
    }

    /// Calls the function that adds an event. It fails if the program has no memory.
    pub(crate) fn add(&self, event: &Arc<T>) -> bool {
        // SAFETY: the program has passed the function for this data, and the event is alive.
        self.add.is_none_or(|add| unsafe { add(Arc::as_ptr(event), self.data.data) } != FALSE)
    }

    pub(crate) fn remove(&self, event: &Arc<T>) {
        if let Some(remove) = self.remove {
            // SAFETY: as for `add`.
            unsafe { remove(Arc::as_ptr(event), self.data.data) };
        }
    }

    pub(crate) fn toggled(&self, event: &Arc<T>) {
        match self.toggled {
            // SAFETY: as for `add`.
            Some(toggled) => unsafe { toggled(Arc::as_ptr(event), self.data.data) },
            None if event.enabled().load(Ordering::Relaxed) => {
                self.add(event);
            }
            None => self.remove(event),
        }
    }
}

/// A call into the program that is made after the lock was released.
pub(crate) type DeferredCall = Box<dyn FnOnce() + Send>;

/// The events of one connection or server, and the functions of its main loop.
pub(crate) struct EventList<T> {
    events: Vec<Arc<T>>,
    functions: Option<Arc<MainLoopFunctions<T>>>,
}

impl<T: MainLoopEvent> EventList<T> {
    pub(crate) const fn new() -> Self {
        Self { events: Vec::new(), functions: None }
    }

    /// Adds an event, and returns the functions of the main loop, to which the caller adds it.
    pub(crate) fn add(&mut self, event: Arc<T>) -> Option<Arc<MainLoopFunctions<T>>> {
        self.events.push(event);
        self.functions.clone()
    }

    /// Removes an event. The deferred call removes it from the main loop.
    pub(crate) fn remove(&mut self, event: &Arc<T>) -> Option<DeferredCall> {
        let at = self.events.iter().position(|found| Arc::ptr_eq(found, event))?;
        let event = self.events.swap_remove(at);
        let functions = self.functions.clone()?;
        Some(Box::new(move || functions.remove(&event)))
    }

    /// Enables or disables an event. The deferred call notifies the main loop.
    pub(crate) fn toggle(&self, event: &Arc<T>, enabled: bool) -> Option<DeferredCall> {
        if event.enabled().swap(enabled, Ordering::Relaxed) == enabled {
            return None;
        }
        let (event, functions) = (Arc::clone(event), self.functions.clone()?);
        Some(Box::new(move || functions.toggled(&event)))
    }

    /// Replaces the functions. Returns the old functions, and the events to move to the new ones.
    pub(crate) fn replace(
        &mut self,
        functions: Option<Arc<MainLoopFunctions<T>>>,
    ) -> (Option<Arc<MainLoopFunctions<T>>>, Vec<Arc<T>>) {
        (std::mem::replace(&mut self.functions, functions), self.events.clone())
    }
}

/// Gives functions to a list of events with `replace`, which calls [`EventList::replace`], and
/// moves the events to them. If an event cannot be added, the list keeps its old functions, and the
/// program keeps its data. No lock may be held.
pub(crate) fn install<T: MainLoopEvent>(
    functions: Option<Arc<MainLoopFunctions<T>>>,
    replace: impl Fn(
        Option<Arc<MainLoopFunctions<T>>>,
    ) -> (Option<Arc<MainLoopFunctions<T>>>, Vec<Arc<T>>),
) -> Bool {
    let (old, events) = replace(functions.clone());
    let moved = move_events(old.as_deref(), functions.as_deref(), &events);
    if !moved {
        replace(old);
        std::mem::forget(functions);
    }
    moved.into()
}

/// Moves events from one main loop to another. Returns false if an event could not be added.
fn move_events<T: MainLoopEvent>(
    old: Option<&MainLoopFunctions<T>>,
    new: Option<&MainLoopFunctions<T>>,
    events: &[Arc<T>],
) -> bool {
    if let Some(new) = new {
        for (index, event) in events.iter().enumerate() {
            if !new.add(event) {
                events[..index].iter().for_each(|added| new.remove(added));
                return false;
            }
        }
    }
    if let Some(old) = old {
        events.iter().for_each(|event| old.remove(event));
    }
    true
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_unix_fd(watch: Handle<DBusWatch>) -> c_int {
    let watch = given!("dbus_watch_get_unix_fd", watch, -1);
    watch.fd()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_socket(watch: Handle<DBusWatch>) -> c_int {
    let watch = given!("dbus_watch_get_socket", watch, -1);
    watch.fd()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_fd(watch: Handle<DBusWatch>) -> c_int {
    dbus_watch_get_unix_fd(watch)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_flags(watch: Handle<DBusWatch>) -> u32 {
    let watch = given!("dbus_watch_get_flags", watch, 0);
    watch.flags
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_data(watch: Handle<DBusWatch>) -> *mut c_void {
    let watch = given!("dbus_watch_get_data", watch, ptr::null_mut());
    watch.state.data()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_set_data(
    watch: Handle<DBusWatch>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let watch = given!("dbus_watch_set_data", watch);
    watch.state.set_data(UserData::new(data, free_data_function));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_get_enabled(watch: Handle<DBusWatch>) -> Bool {
    let watch = given!("dbus_watch_get_enabled", watch, FALSE);
    watch.state.enabled.load(Ordering::Relaxed).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_watch_handle(watch: Handle<DBusWatch>, flags: u32) -> Bool {
    given!("dbus_watch_handle", watch, FALSE);
    let Some(watch) = watch.share() else { return FALSE };
    if watch.fd() < 0 {
        warn("Tried to handle an invalidated watch; this watch should have been removed\n");
        return TRUE;
    }
    let flags = flags & (watch.flags | ERROR | HANGUP);
    (flags == 0 || (watch.handler)(flags)).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_timeout_get_interval(timeout: Handle<DBusTimeout>) -> c_int {
    timeout.get().map_or(0, |timeout| timeout.interval)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_timeout_get_data(timeout: Handle<DBusTimeout>) -> *mut c_void {
    timeout.get().map_or(ptr::null_mut(), |timeout| timeout.state.data())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_timeout_set_data(
    timeout: Handle<DBusTimeout>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    if let Some(timeout) = timeout.get() {
        timeout.state.set_data(UserData::new(data, free_data_function));
    }
}

#[unsafe(no_mangle)]
extern "C" fn dbus_timeout_handle(timeout: Handle<DBusTimeout>) -> Bool {
    timeout.share().is_none_or(|timeout| (timeout.handler)()).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_timeout_get_enabled(timeout: Handle<DBusTimeout>) -> Bool {
    timeout.get().is_some_and(|timeout| timeout.state.enabled.load(Ordering::Relaxed)).into()
}
