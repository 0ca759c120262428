//! Proxies for an interface of a remote object.

use wire::body::{Decode, Encode, ReadError, Shape, Variant};
use wire::message::Builder;
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use super::call::{CallOptions, StartedCall};
use super::connection::Connection;
use super::error::CallError;
use super::subscription::{StartedSubscription, SubscribeError, Subscription};
use crate::core::{CalledMethod, MessageBody};
use crate::link::ReceivedMessage;
use crate::name::{IntoName, InvalidName};

impl Connection {
    /// Creates a proxy for an interface of an object. This sends no message.
    ///
    /// # Errors
    ///
    /// If one of the names is malformed. The existence of the object is not checked.
    pub fn proxy<'n>(
        &self,
        destination: impl IntoName<BusName<'n>>,
        path: impl IntoName<ObjectPath<'n>>,
        interface: impl IntoName<InterfaceName<'n>>,
    ) -> Result<Proxy<'n>, InvalidName> {
        Ok(Proxy {
            connection: self.clone(),
            destination: Some(destination.into_name()?),
            path: path.into_name()?,
            interface: interface.into_name()?,
        })
    }

    /// Creates a proxy for an interface of an object of the [peer](Self::open_peer) at the other
    /// end. This sends no message.
    ///
    /// # Errors
    ///
    /// If one of the names is malformed. The existence of the object is not checked.
    pub fn peer_proxy<'n>(
        &self,
        path: impl IntoName<ObjectPath<'n>>,
        interface: impl IntoName<InterfaceName<'n>>,
    ) -> Result<Proxy<'n>, InvalidName> {
        let (path, interface) = (path.into_name()?, interface.into_name()?);
        Ok(Proxy { connection: self.clone(), destination: None, path, interface })
    }
}

/// An interface of a remote object: its methods, properties and signals.
///
/// ```no_run
/// use diligence_client::Connection;
///
/// let bus = Connection::session()?;
/// let player = bus.proxy("org.example.Player", "/org/example/Player", "org.example.Player")?;
/// player.call("Play", &("a song", 1_u32))?;
/// let volume: f64 = player.get("Volume")?;
/// player.set("Volume", &(volume / 2.0))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Proxy<'n> {
    connection: Connection,
    /// `None` on a connection to a peer without a bus.
    destination: Option<BusName<'n>>,
    path: ObjectPath<'n>,
    interface: InterfaceName<'n>,
}

impl<'n> Proxy<'n> {
    /// The connection that the proxy uses.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The path of the object.
    pub const fn path(&self) -> ObjectPath<'n> {
        self.path
    }

    /// Starts the message of a call, for calls that need flags.
    pub const fn message<'m>(&self, member: MemberName<'m>) -> Builder<'m>
    where
        'n: 'm,
    {
        let message = Builder::method_call(self.path, member).interface(self.interface);
        match self.destination {
            Some(destination) => message.destination(destination),
            None => message,
        }
    }

    /// Calls a method, and waits for the reply.
    ///
    /// # Errors
    ///
    /// As for [`Connection::call`].
    pub fn call<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
    ) -> Result<ReceivedMessage, CallError> {
        self.connection.call_method(&self.message(member.into_name()?), arguments)
    }

    /// Sends a call, and returns without waiting for the reply.
    ///
    /// # Errors
    ///
    /// [`CallError::Name`] if `member` is malformed; [`CallError::Send`] if the arguments cannot be
    /// encoded, or have descriptors that the bus does not pass; [`CallError::Disconnected`] if the
    /// connection ended.
    pub fn start_call<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
        options: CallOptions,
    ) -> Result<StartedCall, CallError> {
        let message = self.message(member.into_name()?);
        self.connection.start_call(&message, arguments, options)
    }

    /// Reads a property. A [`Value`](wire::body::Value) accepts any type.
    ///
    /// # Errors
    ///
    /// [`CallError::Read`] if the property has another type; otherwise as for [`Connection::call`].
    pub fn get<'m, T: for<'a> Decode<'a>>(
        &self,
        property: impl IntoName<MemberName<'m>>,
    ) -> Result<T, CallError> {
        let property = property.into_name()?;
        self.property_in(property, &self.start_get(property)?.wait()?)
    }

    /// Decodes the reply to a call of `Get`.
    pub(crate) fn property_in<T: for<'a> Decode<'a>>(
        &self,
        property: MemberName<'_>,
        reply: &ReceivedMessage,
    ) -> Result<T, CallError> {
        let value = match T::SHAPE {
            // A type that decodes any variant also decodes the variant around the value.
            Shape::Variant => reply.read().map(|(value,)| value),
            _ => reply.read().map(|(Variant(value),)| value),
        };
        value.map_err(|error| self.unreadable(property, error))
    }

    fn unreadable(&self, member: MemberName<'_>, error: ReadError) -> CallError {
        CallError::Read { error, member: Some(self.called(member).into()) }
    }

    /// A method or property of the interface, for errors.
    fn called(&self, member: MemberName<'_>) -> CalledMethod {
        CalledMethod::of(&self.message(member))
    }

    pub(crate) fn start_get<'m>(
        &self,
        property: impl IntoName<MemberName<'m>>,
    ) -> Result<StartedCall, CallError> {
        let property = property.into_name()?;
        let call = self.start_properties_call(GET, &(self.interface, property))?;
        Ok(call.about(self.called(property)))
    }

    /// Reads all properties, as a map or as a struct that derives a dict.
    ///
    /// # Errors
    ///
    /// [`CallError::Read`] if the properties do not fit into `T`; otherwise as for
    /// [`Connection::call`].
    pub fn get_all<T: for<'a> Decode<'a>>(&self) -> Result<T, CallError> {
        self.all_in(&self.start_get_all()?.wait()?)
    }

    /// Decodes the reply to a call of `GetAll`.
    pub(crate) fn all_in<T: for<'a> Decode<'a>>(
        &self,
        reply: &ReceivedMessage,
    ) -> Result<T, CallError> {
        let all = reply.read().map(|(all,)| all);
        all.map_err(|error| self.unreadable(GET_ALL, error))
    }

    pub(crate) fn start_get_all(&self) -> Result<StartedCall, CallError> {
        self.start_properties_call(GET_ALL, &(self.interface,))
    }

    /// Writes a property.
    ///
    /// # Errors
    ///
    /// As for [`Connection::call`].
    pub fn set<'m, T: Encode>(
        &self,
        property: impl IntoName<MemberName<'m>>,
        value: &T,
    ) -> Result<(), CallError> {
        self.start_set(property, value)?.wait().map(drop)
    }

    pub(crate) fn start_set<'m, T: Encode>(
        &self,
        property: impl IntoName<MemberName<'m>>,
        value: &T,
    ) -> Result<StartedCall, CallError> {
        let (interface, property) = (self.interface, property.into_name()?);
        let call = match T::SHAPE {
            Shape::Variant => self.start_properties_call(SET, &(interface, property, value)),
            _ => self.start_properties_call(SET, &(interface, property, Variant(value))),
        };
        Ok(call?.about(self.called(property)))
    }

    /// Subscribes to a signal of the object. The sender must own the destination's name.
    ///
    /// # Errors
    ///
    /// As for [`Connection::subscribe`].
    pub fn signals<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
    ) -> Result<Subscription, SubscribeError> {
        self.start_signals(member)?.wait()
    }

    /// Starts a subscription to a signal of the object, so that its rule leaves in one write with
    /// the next call; see [`Connection::start_subscription`].
    ///
    /// # Errors
    ///
    /// As for [`Connection::start_subscription`].
    pub fn start_signals<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
    ) -> Result<StartedSubscription, SubscribeError> {
        self.connection.start_subscription(self.signal_rule(member)?.as_str())
    }

    /// Subscribes to the signal that announces changed properties of the interface:
    /// `PropertiesChanged`, whose arguments are `(&str, BTreeMap<&str, Value>, Vec<&str>)`.
    ///
    /// # Errors
    ///
    /// As for [`Connection::subscribe`].
    pub fn property_changes(&self) -> Result<Subscription, SubscribeError> {
        self.start_property_changes()?.wait()
    }

    /// Starts a subscription to changes of properties, so that its rule leaves in one write with
    /// the call that reads them; see [`Connection::start_subscription`].
    ///
    /// # Errors
    ///
    /// As for [`Connection::start_subscription`].
    pub fn start_property_changes(&self) -> Result<StartedSubscription, SubscribeError> {
        self.connection.start_subscription(self.changes_rule().as_str())
    }

    fn signal_rule<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
    ) -> Result<String, InvalidName> {
        let member = member.into_name()?;
        Ok(self.rule(&format!("interface='{}',member='{member}'", self.interface)))
    }

    fn changes_rule(&self) -> String {
        let (properties, interface) = (PROPERTIES, self.interface);
        let member = "PropertiesChanged";
        self.rule(&format!("interface='{properties}',member='{member}',arg0='{interface}'"))
    }

    fn rule(&self, keys: &str) -> String {
        let sender = self.destination.map_or_else(String::new, |name| format!("sender='{name}',"));
        format!("type='signal',{sender}path='{}',{keys}", self.path)
    }

    /// Calls the interface that gives access to the properties of all interfaces.
    fn start_properties_call(
        &self,
        method: MemberName<'_>,
        arguments: &impl MessageBody,
    ) -> Result<StartedCall, CallError> {
        let message = self.message(method).interface(PROPERTIES);
        self.connection.start_call(&message, arguments, CallOptions::default())
    }
}

const PROPERTIES: InterfaceName<'static> =
    InterfaceName::literal("org.freedesktop.DBus.Properties");
const GET: MemberName<'static> = MemberName::literal("Get");
const GET_ALL: MemberName<'static> = MemberName::literal("GetAll");
const SET: MemberName<'static> = MemberName::literal("Set");
