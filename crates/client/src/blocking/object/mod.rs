//! Objects that a program serves.
//!
//! A [`ServedInterface`] is defined once; [`Connection::add_object`] combines it with the state of
//! an object at a path. The interfaces that every object has, `Introspectable`, `Properties` and
//! `Peer`, are implemented here ("Standard Interfaces"). Errors have the same names as in other
//! bindings.

mod answer;
mod deferred;
mod error;
mod exported;
mod interface;
mod members;
mod served;
mod signals;
mod standard;
mod standard_methods;
mod state;
mod tree;
mod typed;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::{fmt, thread};

pub use deferred::DeferredReply;
pub use error::{MethodError, error_name};
use exported::ExportedInterface;
pub use interface::{InterfaceBuilder, InterfaceError, ServedInterface};
pub use members::{ArgTypes, PropertyFunctions, PropertyGetter, PropertySetter};
use served::DynInterface;
use signals::{INTERFACES_ADDED, INTERFACES_REMOVED, announce, emit_standard, signature};
pub(super) use signals::{emit_late_changes, emit_pending_changes};
use standard_methods::write_interfaces;
use state::{AlreadyInside, EnteredState, ObjectState};
use tree::{CallTarget, ChangedProperties, ManagedScope};
pub(super) use tree::{PendingChanges, ServedObjects};
pub use typed::{ServedObject, SignalEmitter};
use wire::body::Writer;
pub use wire::introspection::EmitsChange;
use wire::names::{MemberName, ObjectPath, ObjectPathBuf};

use super::connection::Connection;
use super::error::EmitError;
use super::request::IncomingCall;
use crate::core::{EncodedBody, MessageBody};
use crate::link::ReadMode;
use crate::name::{IntoName, InvalidName};

/// Serving objects on a connection.
impl Connection {
    /// Serves `interface` at `path`, for an object with this state. An object can have several
    /// interfaces, each with its own state.
    ///
    /// Calls are answered in [`process`](Connection::process) and [`serve`](Connection::serve). The
    /// object stays until it is [removed](Object::remove).
    ///
    /// # Errors
    ///
    /// [`ServeError::Name`] if the path is malformed; [`ServeError::Taken`] if the object already
    /// has an interface of this name.
    pub fn add_object<'p, S: Send + 'static>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
        interface: &ServedInterface<S>,
        state: S,
    ) -> Result<Object<S>, ServeError> {
        let path = path.into_name()?;
        let definition = interface.definition.clone();
        let exported = Arc::new(ExportedInterface { definition, state: ObjectState::new(state) });
        let mut objects = self.objects();
        let node = objects.node_or_new(path.as_str());
        if node.interfaces.iter().any(|served| served.name() == exported.name()) {
            let interface = exported.name().into();
            return Err(ServeError::Taken { path: path.into(), interface });
        }
        node.interfaces.push(exported.clone());
        drop(objects);
        self.set_read_mode(ReadMode::Requests);
        let object = Object { connection: self.clone(), path: path.into(), exported };
        object.announce_added();
        Ok(object)
    }

    /// Gives the object at `path` the interface `org.freedesktop.DBus.ObjectManager`: it lists all
    /// objects below it, and emits signals when objects are added and removed.
    ///
    /// # Errors
    ///
    /// If the path is malformed.
    pub fn add_object_manager<'p>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
    ) -> Result<(), InvalidName> {
        let path = path.into_name()?;
        let mut objects = self.objects();
        objects.node_or_new(path.as_str()).manages = ManagedScope::ObjectsBelow;
        self.set_read_mode(ReadMode::Requests);
        Ok(())
    }
}

/// An interface of a served object: a handle to its state and its signals.
pub struct Object<S> {
    connection: Connection,
    path: ObjectPathBuf,
    exported: Arc<ExportedInterface<S>>,
}

impl<S> Clone for Object<S> {
    fn clone(&self) -> Self {
        Self {
            connection: self.connection.clone(),
            path: self.path.clone(),
            exported: self.exported.clone(),
        }
    }
}

impl<S: Send + 'static> Object<S> {
    /// The path of the object.
    pub fn path(&self) -> ObjectPath<'_> {
        self.path.as_path()
    }

    /// The state of the object. While it is held, calls to the object wait, or fail if the same
    /// thread answers them. Waits while another thread uses the state.
    ///
    /// # Panics
    ///
    /// If this thread holds the state already, or runs one of the object's methods.
    #[track_caller]
    pub fn state(&self) -> StateGuard<'_, S> {
        let state = self.exported.state.enter().unwrap_or_else(|AlreadyInside| {
            panic!("this thread holds the state of {} already: drop the first guard", self.path)
        });
        StateGuard { state, _announcer: ChangeAnnouncer(&self.connection) }
    }

    /// Queues one of the signals of the interface.
    ///
    /// # Errors
    ///
    /// [`EmitError::Name`] if `signal` is not a member name; [`EmitError::Send`] if the arguments
    /// cannot be encoded, or if the connection ended.
    pub fn emit<'m>(
        &self,
        signal: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
    ) -> Result<(), EmitError> {
        let signal = signal.into_name()?;
        self.connection.emit(self.path(), self.exported.definition.name(), signal, arguments)
    }

    /// Announces that properties of the interface changed, as configured with [`EmitsChange`]:
    /// queues `PropertiesChanged`. While the state is borrowed or a method of the object runs, the
    /// signal is deferred. Names that are not properties are ignored.
    pub fn properties_changed(&self, properties: &[&str]) {
        let change = ChangedProperties::new(self.path.as_str(), self.exported.clone(), properties);
        announce(&self.connection, change);
    }

    /// Stops serving the interface at this path.
    pub fn remove(self) {
        let mut objects = self.connection.objects();
        let (path, name) = (self.path.as_str(), self.exported.name());
        let manager = objects.manager_of(path);
        if objects.remove(path, name).is_none() {
            return;
        }
        drop(objects);
        if let Some(manager) = manager {
            let body = (self.path(), [name]);
            // If the signal cannot be sent, the connection ended.
            let _ = emit_standard(&self.connection, manager, INTERFACES_REMOVED, &body);
        }
    }

    fn announce_added(&self) {
        let path = self.path.as_str();
        let Some(manager) = self.connection.objects().manager_of(path) else { return };
        let served: Arc<dyn DynInterface> = self.exported.clone();
        let write = |writer: &mut Writer<'_>| {
            writer.object_path(self.path());
            write_interfaces(std::slice::from_ref(&served), writer);
        };
        let body = EncodedBody::new(signature("oa{sa{sv}}"), write);
        // If the signal cannot be sent, the connection ended.
        let _ = emit_standard(&self.connection, manager, INTERFACES_ADDED, &body);
        emit_pending_changes(&self.connection);
    }
}

impl<S> fmt::Debug for Object<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interface = &self.exported.definition.name;
        let mut debug = f.debug_struct("Object");
        debug.field("path", &self.path).field("interface", interface).finish_non_exhaustive()
    }
}

/// The state of an object, for as long as a program holds it. Calls of the object that other
/// threads answer wait meanwhile, and so do signals for changes of its properties.
#[derive(Debug)]
pub struct StateGuard<'o, S> {
    state: EnteredState<'o, S>,
    /// Dropped behind the state.
    _announcer: ChangeAnnouncer<'o>,
}

/// Sends the pending change signals when it is dropped.
#[derive(Debug)]
struct ChangeAnnouncer<'o>(&'o Connection);

impl Drop for ChangeAnnouncer<'_> {
    fn drop(&mut self) {
        // Otherwise the next thread that serves does it. A second panic would end the program.
        if !thread::panicking() {
            emit_pending_changes(self.0);
        }
    }
}

impl<S> Deref for StateGuard<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S> DerefMut for StateGuard<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.state
    }
}

/// The reason why an object cannot be served.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServeError {
    /// The path is malformed.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// The object already has an interface of this name.
    #[error("{path} already has the interface {interface}")]
    Taken {
        /// The path of the object.
        path: ObjectPathBuf,
        /// The name of the interface.
        interface: Box<str>,
    },
    /// The definition of the interface is invalid.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
}

/// Dispatches a call to the interface or the standard method that answers it.
pub(super) fn serve(request: IncomingCall) {
    let found = request.connection().objects().find(request.message());
    match found {
        Ok(CallTarget::Served(served)) => served.interface.invoke(served.method, request),
        Ok(CallTarget::Standard(standard)) => standard.run(&request),
        Err(error) => request.answer(Err::<(), _>(error)),
    }
}
