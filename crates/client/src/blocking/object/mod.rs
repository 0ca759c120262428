//! Objects that a program serves.
//!
//! An [`Interface`] is defined once; [`Connection::add_object`] joins it with the state of an
//! object at a path. What every object can do besides, `Introspectable`, `Properties` and `Peer`,
//! is done here, and errors are those of other bindings.

mod error;
mod interface;
mod members;
mod served;
mod standard;
mod tree;

use std::cell::{Ref, RefCell, RefMut};
use std::fmt;
use std::rc::Rc;

pub use error::{MethodError, error_name};
pub use interface::{Interface, InterfaceBuilder, InterfaceError};
pub use members::ArgTypes;
use served::{Mounted, Served};
use standard::MANAGER_XML;
pub(super) use tree::Objects;
use tree::{Change, Manages, Target};
use wire::body::Writer;
pub use wire::introspection::EmitsChange;
use wire::message::Builder;
use wire::names::{InterfaceName, MemberName, ObjectPath, ObjectPathBuf};

use super::{Connection, EmitError, Request, Taking};
use crate::core::{Body, SendError, Written};
use crate::name::{IntoName, InvalidName};

/// Serving.
impl Connection {
    /// Serves `interface` at `path`, for an object with this state. An object may have several
    /// interfaces, each with a state of its own.
    ///
    /// Calls are answered in [`process`](Connection::process) and [`serve`](Connection::serve).
    /// The object stays until it is [removed](Object::remove).
    ///
    /// # Errors
    ///
    /// [`ServeError::Name`] if the path is malformed; [`ServeError::Taken`] if the object has an
    /// interface of this name already.
    pub fn add_object<'p, S: 'static>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
        interface: &Interface<S>,
        state: S,
    ) -> Result<Object<S>, ServeError> {
        let path = path.into_name()?;
        let definition = interface.definition.clone();
        let mounted = Rc::new(Mounted { definition, state: RefCell::new(state) });
        let mut objects = self.shared.objects.borrow_mut();
        let node = objects.node_or_new(path.as_str());
        if node.interfaces.iter().any(|served| served.name() == mounted.name()) {
            return Err(ServeError::Taken);
        }
        node.interfaces.push(mounted.clone());
        drop(objects);
        self.take(Taking::Requests);
        let object = Object { connection: self.clone(), path: path.into(), mounted };
        object.announce_added();
        Ok(object)
    }

    /// Lets the object at `path` list all objects below it, and tell of those that are added and
    /// removed later: `org.freedesktop.DBus.ObjectManager`.
    ///
    /// # Errors
    ///
    /// If the path is malformed.
    pub fn add_object_manager<'p>(
        &self,
        path: impl IntoName<ObjectPath<'p>>,
    ) -> Result<(), InvalidName> {
        let path = path.into_name()?;
        let mut objects = self.shared.objects.borrow_mut();
        objects.node_or_new(path.as_str()).manages = Manages::ObjectsBelow;
        self.take(Taking::Requests);
        Ok(())
    }

    fn objects(&self) -> Ref<'_, Objects> {
        self.shared.objects.borrow()
    }
}

/// An interface of an object that is served: a handle to its state and its signals.
pub struct Object<S> {
    connection: Connection,
    path: ObjectPathBuf,
    mounted: Rc<Mounted<S>>,
}

impl<S> Clone for Object<S> {
    fn clone(&self) -> Self {
        Self {
            connection: self.connection.clone(),
            path: self.path.clone(),
            mounted: self.mounted.clone(),
        }
    }
}

impl<S: 'static> Object<S> {
    /// Where the object is.
    pub fn path(&self) -> ObjectPath<'_> {
        self.path.as_path()
    }

    /// The state of the object. While it is held, calls to the object fail.
    ///
    /// # Panics
    ///
    /// While the state is held already, or one of the object's methods runs.
    pub fn state(&self) -> RefMut<'_, S> {
        self.mounted.state.borrow_mut()
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
        arguments: &impl Body,
    ) -> Result<(), EmitError> {
        let signal = signal.into_name()?;
        self.connection.emit(self.path(), self.mounted.definition.name(), signal, arguments)
    }

    /// Tells that properties of the interface changed, each in [its way](EmitsChange): queues
    /// `PropertiesChanged`. While the state is held, or a method of the object runs, this is put
    /// off until it no longer is. Names that are no properties are passed over.
    pub fn properties_changed(&self, properties: &[&str]) {
        announce(
            &self.connection,
            Change {
                path: self.path.as_str().into(),
                served: self.mounted.clone(),
                properties: properties.iter().map(|name| (*name).into()).collect(),
            },
        );
    }

    /// Ends serving the interface at this path.
    pub fn remove(self) {
        let mut objects = self.connection.shared.objects.borrow_mut();
        let (path, name) = (self.path.as_str(), self.mounted.name());
        let manager = objects.manager_of(path);
        if objects.remove(path, name).is_none() {
            return;
        }
        drop(objects);
        if let Some(manager) = manager {
            let body = (self.path(), [name]);
            // If it cannot be told, the connection is over.
            let _ = emit_standard(&self.connection, manager, INTERFACES_REMOVED, &body);
        }
    }

    fn announce_added(&self) {
        let path = self.path.as_str();
        let Some(manager) = self.connection.objects().manager_of(path) else { return };
        let served: Rc<dyn Served> = self.mounted.clone();
        let write = |writer: &mut Writer<'_>| {
            writer.object_path(self.path());
            standard::write_interfaces(std::slice::from_ref(&served), writer);
        };
        let body = Written { signature: standard::signature("oa{sa{sv}}"), write };
        // If it cannot be told, the connection is over.
        let _ = emit_standard(&self.connection, manager, INTERFACES_ADDED, &body);
    }
}

impl<S> fmt::Debug for Object<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interface = &self.mounted.definition.name;
        let mut debug = f.debug_struct("Object");
        debug.field("path", &self.path).field("interface", interface).finish_non_exhaustive()
    }
}

/// Why an object is not served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ServeError {
    /// The path is malformed.
    Name(InvalidName),
    /// The object has this interface already.
    Taken,
}

impl From<InvalidName> for ServeError {
    fn from(error: InvalidName) -> Self {
        Self::Name(error)
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(error) => error.fmt(f),
            Self::Taken => f.write_str("the object has this interface already"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Finds who is to answer a call, and lets him.
pub(super) fn serve(request: Request) {
    let found = request.connection().objects().find(request.message());
    match found {
        Ok(Target::Served(served)) => served.invoke(request),
        Ok(Target::Standard(standard)) => standard.run(&request),
        Err(error) => answer::<()>(&request, Err(error)),
    }
}

/// Tells of a change that a call brings about in the interface that it is for.
pub(super) fn changed_by(request: &Request, properties: &[&str]) {
    let (connection, message) = (request.connection(), request.message());
    let Ok(Target::Served(served)) = connection.objects().find(message) else { return };
    announce(
        connection,
        Change {
            path: message.path().unwrap_or("/").into(),
            served,
            properties: properties.iter().map(|name| (*name).into()).collect(),
        },
    );
}

/// Queues a signal of the interface that a call is for. A call may name no interface; then it is
/// the interface in which the method was found.
pub(super) fn emit_from(
    request: &Request,
    signal: MemberName<'_>,
    arguments: &impl Body,
) -> Result<(), EmitError> {
    let (connection, message) = (request.connection(), request.message());
    let served = match connection.objects().find(message) {
        Ok(Target::Served(served)) => Some(served),
        _ => None,
    };
    let interface = served.as_deref().map(Served::name).or(message.interface());
    let path = message.path().unwrap_or_default();
    connection.emit(path, interface.unwrap_or_default(), signal, arguments)
}

/// Answers a call with what came of it.
fn answer<Out: Body>(request: &Request, done: Result<Out, MethodError>) {
    match done {
        Ok(results) => answer_with(request, &results),
        // An answer that cannot be sent is one that nobody waits for.
        Err(error) => drop(error.send(request)),
    }
}

fn answer_with(request: &Request, results: &impl Body) {
    if let Err(SendError::Write(error)) = request.reply(results) {
        let error = MethodError::failed(format!("the results cannot be written: {error}"));
        answer::<()>(request, Err(error));
    }
}

/// Tells what could not be told before.
pub(super) fn announce_untold(connection: &Connection) {
    if connection.objects().untold.is_empty() {
        return;
    }
    let untold = std::mem::take(&mut connection.shared.objects.borrow_mut().untold);
    untold.into_iter().for_each(|change| announce(connection, change));
}

/// Tells of a change, now or as soon as the object is free.
fn announce(connection: &Connection, change: Change) {
    if change.served.check_free().is_err() {
        return connection.shared.objects.borrow_mut().untold.push(change);
    }
    let served = &*change.served;
    let changed = change.emitting(EmitsChange::Value);
    let invalidated = change.emitting(EmitsChange::Invalidates);
    if changed.is_empty() && invalidated.is_empty() {
        return;
    }
    let write = |writer: &mut Writer<'_>| {
        writer.string(served.name());
        writer.array(8, |writer| {
            for name in &changed {
                writer.structure(|writer| {
                    writer.string(name);
                    served.write_property(name, writer);
                });
            }
        });
        writer.array(4, |writer| invalidated.iter().for_each(|name| writer.string(name)));
    };
    let body = Written { signature: standard::signature("sa{sv}as"), write };
    // If it cannot be told, the connection is over.
    let _ = emit_standard(connection, &change.path, PROPERTIES_CHANGED, &body);
}

impl Change {
    /// The properties whose changes are told in this way.
    fn emitting(&self, emits: EmitsChange) -> Vec<&str> {
        let told = |name: &&str| {
            let found = self.served.property(name);
            found.is_some_and(|(access, way)| way == emits && access.is_readable())
        };
        self.properties.iter().map(|name| &**name).filter(told).collect()
    }
}

/// Queues a signal of a standard interface.
fn emit_standard(
    connection: &Connection,
    path: &str,
    (interface, member): (&'static str, &'static str),
    body: &impl Body,
) -> Result<(), SendError> {
    let names = (ObjectPath::new(path), InterfaceName::new(interface), MemberName::new(member));
    let (Ok(path), Ok(interface), Ok(member)) = names else {
        unreachable!("served paths are checked, and the others are literals")
    };
    connection.send(&Builder::signal(path, interface, member), body, Vec::new()).map(|_| ())
}

const PROPERTIES_CHANGED: (&str, &str) = (standard::PROPERTIES, "PropertiesChanged");
const INTERFACES_ADDED: (&str, &str) = (standard::OBJECT_MANAGER, "InterfacesAdded");
const INTERFACES_REMOVED: (&str, &str) = (standard::OBJECT_MANAGER, "InterfacesRemoved");
