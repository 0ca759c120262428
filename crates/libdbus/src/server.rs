//! Servers: programs that accept connections without a bus.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sys::socket::{Accepted, SocketKind, accept, socket_kind};
use wire::guid::Guid;
use wire::sasl::{Mechanism, Mechanisms};

use crate::c::{
    Bool, CText, FALSE, FreeFunction, Handle, Out, SharedObject, TRUE, UserData, copy_text, give,
    take_back,
};
use crate::checks::{check, given, warn_misuse};
use crate::connect::NONCE_LEN;
use crate::connection::DBusConnection;
use crate::errors::{DBusError, reported};
use crate::event::{
    AddFunction, ChangeFunction, DBusTimeout, DBusWatch, DeferredCall, EventList,
    MainLoopFunctions, READABLE, install,
};
use crate::listen::{ListeningSockets, listen};
use crate::login::{Login, random_bytes};
use crate::slots::{SlotAllocator, SlotData};
use crate::transport::SocketTransport;

/// The function of the program that takes new connections.
type NewConnectionFunction =
    Option<unsafe extern "C" fn(*const DBusServer, *const DBusConnection, *mut c_void)>;

/// A server of the C interface.
pub(crate) struct DBusServer {
    guid: Guid,
    address: Vec<u8>,
    state: Mutex<DBusServerState>,
}

impl SharedObject for DBusServer {}

/// The state of a server, behind its lock.
struct DBusServerState {
    /// `None` after the server was disconnected.
    listening: Option<ListeningSockets>,
    socket_watches: Vec<Arc<DBusWatch>>,
    watches: EventList<DBusWatch>,
    timeouts: EventList<DBusTimeout>,
    new_connection: Option<(NewConnectionFunction, Arc<UserData>)>,
    mechanisms: Mechanisms,
    slots: SlotData,
}

static SLOTS: SlotAllocator = SlotAllocator::new();

/// The time within which a client must send the nonce.
const NONCE_TIME_MAX: Duration = Duration::from_secs(1);

impl DBusServer {
    fn new(listening: ListeningSockets) -> Arc<Self> {
        // The time fits until 2106.
        let now = sys::clock::realtime().as_secs() as u32;
        let guid = Guid::from_random(random_bytes(), now);
        let address = [listening.address.as_slice(), format!(",guid={guid}").as_bytes()].concat();
        Arc::new_cyclic(|this: &Weak<Self>| {
            let mut watches = EventList::new();
            let mut socket_watches = Vec::new();
            for (index, socket) in listening.sockets.iter().enumerate() {
                let this = this.clone();
                let watch = DBusWatch::new(socket.as_raw_fd(), READABLE, true, move |_| {
                    if let Some(server) = this.upgrade() {
                        server.accept_from(index);
                    }
                    true
                });
                watches.add(Arc::clone(&watch));
                socket_watches.push(watch);
            }
            let state = Mutex::new(DBusServerState {
                listening: Some(listening),
                socket_watches,
                watches,
                timeouts: EventList::new(),
                new_connection: None,
                mechanisms: Mechanisms::ALL,
                slots: SlotData::EMPTY,
            });
            Self { guid, address, state }
        })
    }

    fn lock(&self) -> MutexGuard<'_, DBusServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts one connection and gives it to the program.
    fn accept_from(self: &Arc<Self>, index: usize) {
        let state = self.lock();
        let Some(listening) = &state.listening else { return };
        let Some(Ok(Accepted::Connection(socket))) = listening.sockets.get(index).map(accept)
        else {
            return;
        };
        let nonce = listening.nonce.as_ref().map(|(nonce, _)| *nonce);
        let passes_fds = listening.passes_fds;
        let mechanisms = state.mechanisms;
        let function = state.new_connection.as_ref();
        let function = function.map(|(function, data)| (*function, Arc::clone(data)));
        drop(state);
        if nonce.is_some_and(|nonce| !has_sent(&socket, nonce)) {
            return;
        }
        let uid = match socket_kind(&socket) {
            Ok(SocketKind::Unix) => sys::credentials::peer_ids(&socket).ok().map(|ids| ids.uid),
            _ => None,
        };
        let socket = Arc::new(socket);
        let login = Login::server(&socket, self.guid, mechanisms, uid, passes_fds);
        let connection =
            DBusConnection::new(SocketTransport::server(socket, login, self.guid), true);
        if let Some((Some(function), data)) = function {
            // SAFETY: the program has passed this function for this data.
            unsafe { function(Arc::as_ptr(self), Arc::as_ptr(&connection), data.data) };
        }
        // If the program has not kept the connection, it is closed.
        if Arc::strong_count(&connection) == 1 {
            connection.close();
        }
    }

    fn disconnect(&self) {
        let mut state = self.lock();
        let Some(listening) = state.listening.take() else { return };
        let watches = std::mem::take(&mut state.socket_watches);
        let removals: Vec<DeferredCall> =
            watches.iter().filter_map(|watch| state.watches.remove(watch)).collect();
        drop(state);
        removals.into_iter().for_each(|remove| remove());
        watches.iter().for_each(|watch| watch.invalidate());
        if let Some(path) = &listening.path {
            // Another process may have removed the file already.
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Drop for DBusServer {
    fn drop(&mut self) {
        if self.lock().listening.is_some() {
            warn_misuse("The last reference on a server was dropped without disconnecting it.\n");
            self.disconnect();
        }
    }
}

/// Returns true if the client sends the nonce in time. Nobody else can connect meanwhile.
fn has_sent(socket: &OwnedFd, nonce: [u8; NONCE_LEN]) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut found = Vec::new();
    let deadline = Instant::now() + NONCE_TIME_MAX;
    while found.len() < NONCE_LEN {
        let rest = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(rest).ok();
        let ready = poll(&mut [PollFd::new(socket, PollFlags::IN)], timeout.as_ref());
        if !matches!(ready, Ok(1..)) {
            return false;
        }
        let mut buffer = [0; NONCE_LEN];
        match rustix::io::read(socket, &mut buffer[..NONCE_LEN - found.len()]) {
            Ok(0) | Err(_) => return false,
            Ok(count) => found.extend_from_slice(&buffer[..count]),
        }
    }
    found == nonce
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_listen(address: CText, error: Out<DBusError>) -> *const DBusServer {
    let address = given!("dbus_server_listen", address, ptr::null());
    check!(
        "dbus_server_listen",
        !error.is_set(),
        "(error) == NULL || !dbus_error_is_set ((error))",
        ptr::null()
    );
    reported(listen(address), error).map_or(ptr::null(), |found| give(DBusServer::new(found)))
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_ref(server: Handle<DBusServer>) -> *const DBusServer {
    given!("dbus_server_ref", server, ptr::null());
    server.share().map_or(ptr::null(), give)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_unref(server: Handle<DBusServer>) {
    let server = given!("dbus_server_unref", server);
    drop(take_back(server));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_disconnect(server: Handle<DBusServer>) {
    let server = given!("dbus_server_disconnect", server);
    server.disconnect();
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_get_is_connected(server: Handle<DBusServer>) -> Bool {
    let server = given!("dbus_server_get_is_connected", server, FALSE);
    server.lock().listening.is_some().into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_get_address(server: Handle<DBusServer>) -> *mut c_char {
    let server = given!("dbus_server_get_address", server, ptr::null_mut());
    copy_text(&server.address)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_get_id(server: Handle<DBusServer>) -> *mut c_char {
    let server = given!("dbus_server_get_id", server, ptr::null_mut());
    copy_text(server.guid.to_string().as_bytes())
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_set_new_connection_function(
    server: Handle<DBusServer>,
    function: NewConnectionFunction,
    data: *mut c_void,
    free_data_function: FreeFunction,
) {
    let server = given!("dbus_server_set_new_connection_function", server);
    let data = Arc::new(UserData::new(data, free_data_function));
    let old = server.lock().new_connection.replace((function, data));
    drop(old);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_set_watch_functions(
    server: Handle<DBusServer>,
    add_function: AddFunction<DBusWatch>,
    remove_function: ChangeFunction<DBusWatch>,
    toggled_function: ChangeFunction<DBusWatch>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) -> Bool {
    let server = given!("dbus_server_set_watch_functions", server, FALSE);
    let functions = MainLoopFunctions::of_program(
        add_function,
        remove_function,
        toggled_function,
        data,
        free_data_function,
    );
    install(functions, |functions| server.lock().watches.replace(functions))
}

/// Keeps the functions. A server has no timeouts.
#[unsafe(no_mangle)]
extern "C" fn dbus_server_set_timeout_functions(
    server: Handle<DBusServer>,
    add_function: AddFunction<DBusTimeout>,
    remove_function: ChangeFunction<DBusTimeout>,
    toggled_function: ChangeFunction<DBusTimeout>,
    data: *mut c_void,
    free_data_function: FreeFunction,
) -> Bool {
    let server = given!("dbus_server_set_timeout_functions", server, FALSE);
    let functions = MainLoopFunctions::of_program(
        add_function,
        remove_function,
        toggled_function,
        data,
        free_data_function,
    );
    let old = server.lock().timeouts.replace(functions);
    drop(old);
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_set_auth_mechanisms(
    server: Handle<DBusServer>,
    mechanisms: *const *const c_char,
) -> Bool {
    let server = given!("dbus_server_set_auth_mechanisms", server, FALSE);
    let mut allowed = Mechanisms::NONE;
    let mut next = mechanisms;
    while !next.is_null() {
        // SAFETY: the caller passes an array of strings that ends with NULL.
        let name = unsafe { next.read() };
        if name.is_null() {
            break;
        }
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(name) };
        // Unknown mechanisms cannot be offered.
        if let Some(mechanism) = name.to_str().ok().and_then(Mechanism::from_name) {
            allowed = allowed.with(mechanism);
        }
        // SAFETY: as above; this was not the end.
        next = unsafe { next.add(1) };
    }
    server.lock().mechanisms = if mechanisms.is_null() { Mechanisms::ALL } else { allowed };
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_allocate_data_slot(slot_p: Out<i32>) -> Bool {
    SLOTS.allocate(slot_p).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_free_data_slot(slot_p: Out<i32>) {
    let slot = given!("dbus_server_free_data_slot", slot_p);
    check!("dbus_server_free_data_slot", slot >= 0, "*slot_p >= 0");
    SLOTS.free(slot_p);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_set_data(
    server: Handle<DBusServer>,
    slot: c_int,
    data: *mut c_void,
    free_data_func: FreeFunction,
) -> Bool {
    let server = given!("dbus_server_set_data", server, FALSE);
    check!("dbus_server_set_data", slot >= 0, "slot >= 0", FALSE);
    let Some(index) = SLOTS.index(slot) else { return FALSE };
    let previous = server.lock().slots.set(index, UserData::new(data, free_data_func));
    drop(previous);
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_server_get_data(server: Handle<DBusServer>, slot: c_int) -> *mut c_void {
    let server = given!("dbus_server_get_data", server, ptr::null_mut());
    SLOTS.index(slot).map_or(ptr::null_mut(), |index| server.lock().slots.get(index))
}
