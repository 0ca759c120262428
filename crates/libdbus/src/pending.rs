//! Calls that wait for a reply.

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::c::{
    Bool, FALSE, FreeFunction, Handle, Out, SharedObject, TRUE, UserData, give, take_back,
};
use crate::checks::{check, given};
use crate::connection::DBusConnection;
use crate::errors::names;
use crate::event::DBusTimeout;
use crate::message::{DBusMessage, MessageRef, error_reply};
use crate::slots::{SlotAllocator, SlotData};

/// The function that a program gets called for the reply.
pub(crate) type NotifyFunction = Option<unsafe extern "C" fn(*const DBusPendingCall, *mut c_void)>;

/// A call that waits for a reply.
pub(crate) struct DBusPendingCall {
    pub(crate) connection: Weak<DBusConnection>,
    pub(crate) serial: u32,
    /// The time in milliseconds after which the call fails; `None` without limit.
    pub(crate) interval: Option<c_int>,
    /// The name of the connection, to which an error for the timeout is addressed.
    unique_name: Option<CString>,
    state: Mutex<PendingState>,
}

/// The changing part of a call that waits.
struct PendingState {
    reply: Option<MessageRef>,
    completed: bool,
    notify: Option<(NotifyFunction, Arc<UserData>)>,
    timeout: Option<Arc<DBusTimeout>>,
    slots: SlotData,
}

impl SharedObject for DBusPendingCall {}

static SLOTS: SlotAllocator = SlotAllocator::new();

impl DBusPendingCall {
    pub(crate) fn new(
        connection: &Arc<DBusConnection>,
        serial: u32,
        interval: Option<c_int>,
        unique_name: Option<CString>,
    ) -> Arc<Self> {
        let state = PendingState {
            reply: None,
            completed: false,
            notify: None,
            timeout: None,
            slots: SlotData::EMPTY,
        };
        let (connection, state) = (Arc::downgrade(connection), Mutex::new(state));
        Arc::new(Self { connection, serial, interval, unique_name, state })
    }

    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.lock().completed
    }

    /// Sets the function that is called for the reply.
    pub(crate) fn set_notify(&self, function: NotifyFunction, data: UserData) {
        let previous = self.lock().notify.replace((function, Arc::new(data)));
        drop(previous);
    }

    pub(crate) fn set_timeout(&self, timeout: Option<Arc<DBusTimeout>>) {
        self.lock().timeout = timeout;
    }

    pub(crate) fn take_timeout(&self) -> Option<Arc<DBusTimeout>> {
        self.lock().timeout.take()
    }

    pub(crate) fn take_reply(&self) -> Option<MessageRef> {
        self.lock().reply.take()
    }

    /// The error that replaces a reply which did not arrive.
    pub(crate) fn timeout_error(&self) -> MessageRef {
        error_reply(self.serial, self.unique_name.as_deref(), names::NO_REPLY, Some(NO_REPLY_TEXT))
    }

    /// The error that replaces a reply because the connection was closed.
    pub(crate) fn disconnected_error(&self) -> MessageRef {
        let text = b"Connection was disconnected before a reply was received";
        error_reply(self.serial, self.unique_name.as_deref(), names::DISCONNECTED, Some(text))
    }

    /// Stores the reply and calls the notify function. The caller holds no lock.
    pub(crate) fn complete(self: &Arc<Self>, reply: MessageRef) {
        let notify = {
            let mut state = self.lock();
            if state.completed {
                return;
            }
            state.reply = Some(reply);
            state.completed = true;
            state.notify.as_ref().map(|(function, data)| (*function, Arc::clone(data)))
        };
        if let Some((Some(function), data)) = notify {
            // SAFETY: the program has passed this function for this data.
            unsafe { function(Arc::as_ptr(self), data.data) };
        }
    }
}

/// The text of the error for a call without a reply.
const NO_REPLY_TEXT: &[u8] = b"Did not receive a reply. Possible causes include: the remote \
application did not send a reply, the message bus security policy blocked the reply, the reply \
timeout expired, or the network connection was broken.";

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_ref(pending: Handle<DBusPendingCall>) -> *const DBusPendingCall {
    given!("dbus_pending_call_ref", pending, ptr::null());
    pending.share().map_or(ptr::null(), give)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_unref(pending: Handle<DBusPendingCall>) {
    let pending = given!("dbus_pending_call_unref", pending);
    drop(take_back(pending));
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_set_notify(
    pending: Handle<DBusPendingCall>,
    function: NotifyFunction,
    user_data: *mut c_void,
    free_user_data: FreeFunction,
) -> Bool {
    let pending = given!("dbus_pending_call_set_notify", pending, FALSE);
    pending.set_notify(function, UserData::new(user_data, free_user_data));
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_get_completed(pending: Handle<DBusPendingCall>) -> Bool {
    let pending = given!("dbus_pending_call_get_completed", pending, FALSE);
    pending.is_completed().into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_steal_reply(
    pending: Handle<DBusPendingCall>,
) -> *const DBusMessage {
    let pending = given!("dbus_pending_call_steal_reply", pending, ptr::null());
    check!(
        "dbus_pending_call_steal_reply",
        pending.is_completed(),
        "pending->completed",
        ptr::null()
    );
    let reply = pending.lock().reply.take();
    check!("dbus_pending_call_steal_reply", reply.is_some(), "pending->reply != NULL", ptr::null());
    MessageRef::give(reply)
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_allocate_data_slot(slot_p: Out<i32>) -> Bool {
    check!("dbus_pending_call_allocate_data_slot", !slot_p.is_null(), "slot_p != NULL", FALSE);
    SLOTS.allocate(slot_p).into()
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_free_data_slot(slot_p: Out<i32>) {
    let slot = given!("dbus_pending_call_free_data_slot", slot_p);
    check!("dbus_pending_call_free_data_slot", slot >= 0, "*slot_p >= 0");
    SLOTS.free(slot_p);
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_set_data(
    pending: Handle<DBusPendingCall>,
    slot: i32,
    data: *mut c_void,
    free_data_func: FreeFunction,
) -> Bool {
    let pending = given!("dbus_pending_call_set_data", pending, FALSE);
    check!("dbus_pending_call_set_data", slot >= 0, "slot >= 0", FALSE);
    let Some(index) = SLOTS.index(slot) else { return FALSE };
    let previous = pending.lock().slots.set(index, UserData::new(data, free_data_func));
    drop(previous);
    TRUE
}

#[unsafe(no_mangle)]
extern "C" fn dbus_pending_call_get_data(
    pending: Handle<DBusPendingCall>,
    slot: i32,
) -> *mut c_void {
    let pending = given!("dbus_pending_call_get_data", pending, ptr::null_mut());
    SLOTS.index(slot).map_or(ptr::null_mut(), |index| pending.lock().slots.get(index))
}
