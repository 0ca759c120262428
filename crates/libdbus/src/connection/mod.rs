//! Connections.
//!
//! The state of a connection is behind one lock. No function of the program is called while the
//! lock is held: such calls are deferred until the [`ConnectionGuard`] is dropped.

mod blocking;
mod dispatch;
mod event_loop;
mod filters;
mod io;
mod lanes;
mod lifetime;
mod limits;
mod objects;
mod paths;
mod peers;
mod queue;
mod sending;
mod slots;

use std::collections::{HashMap, VecDeque};
use std::ffi::{CString, c_int, c_void};
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use rustix::event::{EventfdFlags, eventfd};
use wire::guid::Guid;
use wire::sasl::server::AuthenticatedIdentity;

use crate::c::{Bool, SharedObject, UserData};
use crate::event::{DBusTimeout, DBusWatch, DeferredCall, EventList, READABLE, WRITABLE};
use crate::message::{DBusMessage, DBusMessageContent, MessageRef, ReceivedSize, signal};
use crate::pending::DBusPendingCall;
use crate::slots::SlotData;
use crate::transport::{OutgoingMessage, ReceiveLimits, SocketTransport, TransferState};
use filters::MessageFilter;
use lanes::MergedLanes;
use objects::ObjectTree;

pub(crate) use lifetime::{connection_for, dbus_connection_set_exit_on_disconnect};
pub(crate) use sending::{call, call_without_reply};

/// A connection of the C interface.
pub(crate) struct DBusConnection {
    state: Mutex<ConnectionState>,
    /// Notified when a thread stops to wait for the socket, or to dispatch.
    released: Condvar,
    /// Sizes of received messages that the program has not freed.
    live: LiveMessages,
    /// Readable after [`wake`](Self::wake), for a thread that waits for the socket.
    wake: Option<OwnedFd>,
}

impl SharedObject for DBusConnection {}

/// The received messages that exist now.
#[derive(Default)]
struct LiveMessages {
    bytes: AtomicUsize,
    fds: AtomicUsize,
    /// Set when messages were freed, so that the connection may read again.
    changed: AtomicBool,
}

/// The result of a function that handles a message.
pub(crate) type HandlerResult = c_int;
/// The message was handled.
pub(crate) const HANDLED: HandlerResult = 0;
/// The next handler gets the message.
pub(crate) const NOT_YET_HANDLED: HandlerResult = 1;
/// The message must be handled again later.
pub(crate) const NEED_MEMORY: HandlerResult = 2;

/// Whether received messages are waiting for dispatch.
type DispatchStatus = c_int;
/// At least one message is waiting.
const DATA_REMAINS: DispatchStatus = 0;
/// No message is waiting.
const COMPLETE: DispatchStatus = 1;

/// A function that handles messages, of an object or a filter.
pub(crate) type HandleFunction = Option<
    unsafe extern "C" fn(*const DBusConnection, *const DBusMessage, *mut c_void) -> HandlerResult,
>;
/// The function that is called when an object is unregistered.
type UnregisterFunction = Option<unsafe extern "C" fn(*const DBusConnection, *mut c_void)>;
/// The functions of an object.
type ObjectFunctions = (HandleFunction, UnregisterFunction);
/// The function that wakes the main loop.
type WakeupFunction = Option<unsafe extern "C" fn(*mut c_void)>;
/// The function that is called for a new dispatch status.
type StatusFunction =
    Option<unsafe extern "C" fn(*const DBusConnection, DispatchStatus, *mut c_void)>;
/// The function that decides about a user.
type UserFunction =
    Option<unsafe extern "C" fn(*const DBusConnection, libc::c_ulong, *mut c_void) -> Bool>;

/// A function of the program with its data.
type Callback<F> = Option<(F, Arc<UserData>)>;

/// The state of a connection, behind its lock.
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts and settings")]
pub(crate) struct ConnectionState {
    this: Weak<DBusConnection>,
    /// `None` after the connection was closed.
    transport: Option<SocketTransport>,
    incoming: VecDeque<MessageRef>,
    outgoing: VecDeque<OutgoingMessage>,
    outgoing_size: usize,
    outgoing_fds: usize,
    last_serial: u32,
    pending: HashMap<u32, Arc<DBusPendingCall>>,
    lanes: MergedLanes,
    filters: Vec<Arc<MessageFilter>>,
    objects: ObjectTree<ObjectFunctions>,
    watches: EventList<DBusWatch>,
    read_watch: Arc<DBusWatch>,
    write_watch: Arc<DBusWatch>,
    timeouts: EventList<DBusTimeout>,
    wakeup: Callback<WakeupFunction>,
    status_function: Callback<StatusFunction>,
    /// The status that the program knows.
    last_status: DispatchStatus,
    /// Whether the status has to be compared with `last_status` when the lock is released.
    reports_status: bool,
    user_function: Callback<UserFunction>,
    windows_user_data: Option<UserData>,
    /// The number of threads that wait for another thread.
    waiting_threads: usize,
    /// True while a thread waits for the socket without the lock.
    waits_for_socket: bool,
    /// The thread that handles messages, and how many times it has begun to.
    dispatcher: Option<(usize, usize)>,
    borrowed: Option<MessageRef>,
    /// Whether the signal Disconnected was put into the queue.
    has_reported_end: bool,
    exits_on_disconnect: bool,
    /// Whether the library keeps a reference, so that the program must not close the connection.
    pub(crate) is_shared: bool,
    /// Removes the connection from the table of shared connections.
    pub(crate) forget: Option<DeferredCall>,
    allows_anonymous: bool,
    routes_peer_messages: bool,
    has_builtin_filters: bool,
    /// The process that connected. A copy of it (fork(2)) must not end the connection.
    process: u32,
    /// Facts about the connection that remain after its end.
    guid: Option<Guid>,
    identity: Option<AuthenticatedIdentity>,
    is_authenticated: bool,
    passes_fds: bool,
    peer: Option<sys::credentials::Ids>,
    pub(crate) unique_name: Option<CString>,
    /// Names that were replaced. The program may still use them, because it did not get copies.
    pub(crate) former_names: Vec<CString>,
    limits: ReceiveLimits,
    received_bytes_max: usize,
    received_fds_max: usize,
    slots: SlotData,
    deferred: Vec<DeferredCall>,
}

impl DBusConnection {
    /// A connection over a socket. A server has accepted it, or this end has connected.
    pub(crate) fn new(transport: SocketTransport, is_server: bool) -> Arc<Self> {
        let fd = transport.socket.as_raw_fd();
        let peer = match is_server {
            true => sys::credentials::peer_ids(&*transport.socket).ok(),
            false => None,
        };
        Arc::new_cyclic(|this: &Weak<Self>| {
            let lanes = MergedLanes::new(&transport.socket, is_server);
            let readable = lanes.group().map_or(fd, |group| group.as_fd().as_raw_fd());
            let watch = |fd, flags, enabled| {
                let this = this.clone();
                DBusWatch::new(fd, flags, enabled, move |flags| {
                    this.upgrade().is_none_or(|connection| connection.handle_watch(flags))
                })
            };
            let (read_watch, write_watch) =
                (watch(readable, READABLE, true), watch(fd, WRITABLE, false));
            let mut watches = EventList::new();
            watches.add(Arc::clone(&write_watch));
            watches.add(Arc::clone(&read_watch));
            let state = ConnectionState {
                this: this.clone(),
                guid: if is_server { None } else { transport.guid.or(transport.expected_guid) },
                transport: Some(transport),
                incoming: VecDeque::new(),
                outgoing: VecDeque::new(),
                outgoing_size: 0,
                outgoing_fds: 0,
                last_serial: 0,
                pending: HashMap::new(),
                lanes,
                filters: Vec::new(),
                objects: ObjectTree::new(),
                watches,
                read_watch,
                write_watch,
                timeouts: EventList::new(),
                wakeup: None,
                status_function: None,
                last_status: COMPLETE,
                reports_status: false,
                user_function: None,
                windows_user_data: None,
                waiting_threads: 0,
                waits_for_socket: false,
                dispatcher: None,
                borrowed: None,
                has_reported_end: false,
                exits_on_disconnect: false,
                is_shared: false,
                forget: None,
                allows_anonymous: false,
                routes_peer_messages: false,
                has_builtin_filters: true,
                process: std::process::id(),
                identity: None,
                is_authenticated: false,
                passes_fds: false,
                peer,
                unique_name: None,
                former_names: Vec::new(),
                limits: ReceiveLimits {
                    message_bytes: MESSAGE_BYTES_MAX,
                    message_fds: MESSAGE_FDS_MAX,
                },
                received_bytes_max: RECEIVED_BYTES_MAX,
                received_fds_max: RECEIVED_FDS_MAX,
                slots: SlotData::EMPTY,
                deferred: Vec::new(),
            };
            Self {
                state: Mutex::new(state),
                released: Condvar::new(),
                live: LiveMessages::default(),
                wake: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok(),
            }
        })
    }

    pub(crate) fn lock(&self) -> ConnectionGuard<'_> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ConnectionGuard { connection: self, state: Some(state) }
    }

    /// Subtracts a message that was freed, and reads again if the queue was full.
    fn message_was_freed(&self, bytes: usize, fds: usize) {
        self.live.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.live.fds.fetch_sub(fds, Ordering::Relaxed);
        self.live.changed.store(true, Ordering::Release);
        // If another thread has the lock, it sees the change when it releases the lock.
        if let Ok(state) = self.state.try_lock() {
            drop(ConnectionGuard { connection: self, state: Some(state) });
        }
    }

    /// True if the program has too many received messages.
    fn is_full(&self, state: &ConnectionState) -> bool {
        self.live.bytes.load(Ordering::Relaxed) >= state.received_bytes_max
            || self.live.fds.load(Ordering::Relaxed) >= state.received_fds_max
    }
}

/// The lock of a connection. When it is dropped, the deferred calls are made.
pub(crate) struct ConnectionGuard<'c> {
    connection: &'c DBusConnection,
    /// Always `Some` until the guard is dropped.
    state: Option<MutexGuard<'c, ConnectionState>>,
}

impl Deref for ConnectionGuard<'_> {
    type Target = ConnectionState;

    fn deref(&self) -> &ConnectionState {
        self.state.as_ref().expect("the lock is held")
    }
}

impl DerefMut for ConnectionGuard<'_> {
    fn deref_mut(&mut self) -> &mut ConnectionState {
        self.state.as_mut().expect("the lock is held")
    }
}

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        loop {
            if self.connection.live.changed.swap(false, Ordering::Acquire) {
                self.connection.resume_reading(self);
            }
            self.report_status();
            let deferred = std::mem::take(&mut self.deferred);
            // A function of the program may drop the last other reference.
            let _keeps_alive = if deferred.is_empty() { None } else { self.this.upgrade() };
            self.state = None;
            for call in deferred {
                call();
            }
            if !self.connection.live.changed.load(Ordering::Acquire) {
                return;
            }
            match self.connection.state.try_lock() {
                Ok(state) => self.state = Some(state),
                Err(_) => return,
            }
        }
    }
}

impl ConnectionState {
    pub(crate) const fn is_connected(&self) -> bool {
        self.transport.is_some()
    }

    fn defer(&mut self, call: Option<DeferredCall>) {
        self.deferred.extend(call);
    }

    /// Frees a value of the program after the lock was released.
    fn defer_drop<T: Send + 'static>(&mut self, value: T) {
        self.deferred.push(Box::new(move || drop(value)));
    }

    /// Enables the watches for what the connection needs.
    fn update_watches(&mut self, is_full: bool) {
        let Some(transport) = &self.transport else { return };
        let (reads, writes) =
            (!(is_full && transport.is_ready()), transport.has_output(&self.outgoing));
        let calls = [
            self.watches.toggle(&self.read_watch, reads),
            self.watches.toggle(&self.write_watch, writes),
        ];
        self.deferred.extend(calls.into_iter().flatten());
    }

    /// Wakes the main loop of the program.
    fn wake_main_loop(&mut self) {
        if let Some((Some(function), data)) = &self.wakeup {
            let (function, data) = (*function, Arc::clone(data));
            // SAFETY: the program has passed this function for this data.
            self.deferred.push(Box::new(move || unsafe { function(data.data) }));
        }
    }

    /// Closes the socket and drops unsent messages.
    fn disconnect(&mut self) {
        let Some(transport) = self.transport.take() else { return };
        // The peer notices even if the program still has a copy of the descriptor.
        if self.process == std::process::id() {
            let _ = sys::transfer::shut_down(&*transport.socket);
        }
        for watch in [Arc::clone(&self.write_watch), Arc::clone(&self.read_watch)] {
            let removal = self.watches.remove(&watch);
            self.defer(removal);
            self.deferred.push(Box::new(move || watch.invalidate()));
        }
        self.forget_lanes();
        // The socket is closed after the main loop has removed the watches.
        self.defer_drop(transport);
        let outgoing = std::mem::take(&mut self.outgoing);
        self.defer_drop(outgoing);
        (self.outgoing_size, self.outgoing_fds) = (0, 0);
    }

    /// Puts a received message into the queue.
    fn enqueue(&mut self, connection: &DBusConnection, content: DBusMessageContent, bytes: usize) {
        let mut content = content;
        let fds = content.fds.len();
        connection.live.bytes.fetch_add(bytes, Ordering::Relaxed);
        connection.live.fds.fetch_add(fds, Ordering::Relaxed);
        let this = self.this.clone();
        let counter = Arc::new(move |bytes, fds| {
            if let Some(connection) = this.upgrade() {
                connection.message_was_freed(bytes, fds);
            }
        });
        content.received = Some(ReceivedSize { bytes, fds, counter });
        if content.is_reply() {
            self.stop_timeout(content.reply_serial());
            self.note_reply(content.reply_serial());
        }
        self.incoming.push_back(MessageRef::new(content));
    }

    /// Puts a message with a serial into the queue of messages to the bus.
    fn queue_for_bus(&mut self, message: MessageRef) {
        self.lanes.count_sent();
        let outgoing = OutgoingMessage::new(message);
        self.outgoing_size += outgoing.size();
        self.outgoing_fds += outgoing.fds();
        self.outgoing.push_back(outgoing);
    }

    /// The serial of the next message of this connection.
    fn next_serial(&mut self) -> u32 {
        self.last_serial = self.last_serial.checked_add(1).unwrap_or(1);
        self.last_serial
    }

    /// Removes the timeout of a call whose reply has arrived.
    fn stop_timeout(&mut self, serial: u32) {
        let timeout = self.pending.get(&serial).and_then(|pending| pending.take_timeout());
        if let Some(timeout) = timeout {
            let removal = self.timeouts.remove(&timeout);
            self.defer(removal);
            self.defer_drop(timeout);
        }
    }

    /// Returns whether messages are waiting. After the end of the connection, the last messages are
    /// errors for calls without a reply, and the signal Disconnected.
    fn status(&mut self) -> DispatchStatus {
        if self.incoming.is_empty() && !self.is_connected() && !self.has_reported_end {
            self.has_reported_end = true;
            let forget = self.forget.take();
            self.defer(forget);
            let pending: Vec<_> = self.pending.values().cloned().collect();
            for call in pending {
                self.stop_timeout(call.serial);
                self.incoming.push_back(call.timeout_error());
            }
            let disconnected = signal(LOCAL_PATH, LOCAL_INTERFACE, DISCONNECTED);
            self.incoming.push_back(disconnected);
        }
        if self.incoming.is_empty() { COMPLETE } else { DATA_REMAINS }
    }

    /// Returns the dispatch status. If it is new, the program is notified when the lock is
    /// released.
    fn update_status(&mut self) -> DispatchStatus {
        self.reports_status = true;
        self.status()
    }

    /// Notifies the program of a new dispatch status. Only the last of several changes counts,
    /// because programs rely on the status that they are notified of.
    fn report_status(&mut self) {
        if !std::mem::take(&mut self.reports_status) {
            return;
        }
        let status = self.status();
        if std::mem::replace(&mut self.last_status, status) == status {
            return;
        }
        let Some((Some(function), data)) = &self.status_function else { return };
        let (function, data, this) = (*function, Arc::clone(data), self.this.clone());
        self.deferred.push(Box::new(move || {
            if let Some(connection) = this.upgrade() {
                // SAFETY: the program has passed this function for this data.
                unsafe { function(Arc::as_ptr(&connection), status, data.data) };
            }
        }));
    }

    /// Writes what the socket takes now.
    fn write(&mut self) {
        let mut sent = Vec::new();
        let Some(transport) = &mut self.transport else { return };
        let outcome = transport.write(&mut self.outgoing, &mut sent);
        for message in &sent {
            self.outgoing_size -= message.size();
            self.outgoing_fds -= message.fds();
        }
        self.defer_drop(sent);
        if outcome == TransferState::Closed {
            // Messages of the peer that have arrived are still read: reading reports the end.
            self.outgoing.clear();
            (self.outgoing_size, self.outgoing_fds) = (0, 0);
        }
    }
}

/// The interface of signals that the library sends to the program.
pub(super) const LOCAL_INTERFACE: &std::ffi::CStr = c"org.freedesktop.DBus.Local";
/// The path of signals that the library sends to the program.
pub(super) const LOCAL_PATH: &std::ffi::CStr = c"/org/freedesktop/DBus/Local";
/// The signal at the end of a connection.
const DISCONNECTED: &std::ffi::CStr = c"Disconnected";

/// The default limits of libdbus.
const MESSAGE_BYTES_MAX: usize = 128 << 20;
const MESSAGE_FDS_MAX: usize = 16;
const RECEIVED_BYTES_MAX: usize = 63 << 20;
const RECEIVED_FDS_MAX: usize = 4096;
