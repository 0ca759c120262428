//! Proxies for an interface of a remote object.

use wire::body::{Decode, Encode};
use wire::message::Builder;
use wire::names::{MemberName, ObjectPath};

use super::call::StartedCall;
use super::connection::Connection;
use super::subscription::StartedSubscription;
use crate::core::MessageBody;
use crate::{CallError, CallOptions, IntoName, blocking};

/// An interface of a remote object: its methods, properties and signals.
#[derive(Clone, Debug)]
pub struct Proxy<'n> {
    connection: Connection,
    inner: blocking::Proxy<'n>,
}

impl<'n> Proxy<'n> {
    pub(super) const fn new(connection: Connection, inner: blocking::Proxy<'n>) -> Self {
        Self { connection, inner }
    }

    /// The connection that the proxy uses.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The path of the object.
    pub const fn path(&self) -> ObjectPath<'n> {
        self.inner.path()
    }

    /// Starts the message of a call, for calls that need flags.
    pub const fn message<'m>(&self, member: MemberName<'m>) -> Builder<'m>
    where
        'n: 'm,
    {
        self.inner.message(member)
    }

    /// Calls a method. The returned future waits for the reply; the call is queued already.
    ///
    /// # Errors
    ///
    /// The future has the errors of [`Connection::call`](crate::Connection::call).
    pub fn call<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
    ) -> StartedCall {
        self.start_call(member, arguments, CallOptions::default())
    }

    /// Sends a call with options. The returned future waits for the reply.
    ///
    /// # Errors
    ///
    /// The future has the errors of [`Connection::call`](crate::Connection::call).
    pub fn start_call<'m>(
        &self,
        member: impl IntoName<MemberName<'m>>,
        arguments: &impl MessageBody,
        options: CallOptions,
    ) -> StartedCall {
        let call = self.inner.start_call(member, arguments, options);
        StartedCall::new(self.connection.clone(), call)
    }

    /// Reads a property. A [`Value`](wire::body::Value) accepts any type.
    ///
    /// # Errors
    ///
    /// [`CallError::Read`] if the property has another type; otherwise as for [`Connection::call`].
    pub async fn get<'m, T: for<'a> Decode<'a>>(
        &self,
        property: impl IntoName<MemberName<'m>>,
    ) -> Result<T, CallError> {
        let property = property.into_name()?;
        let call = self.inner.start_get(property);
        let reply = StartedCall::new(self.connection.clone(), call).await?;
        self.inner.property_in(property, &reply)
    }

    /// Reads all properties, as a map or as a struct that derives a dict.
    ///
    /// # Errors
    ///
    /// [`CallError::Read`] if the properties do not fit into `T`; otherwise as for
    /// [`Connection::call`].
    pub async fn get_all<T: for<'a> Decode<'a>>(&self) -> Result<T, CallError> {
        let call = self.inner.start_get_all();
        self.inner.all_in(&StartedCall::new(self.connection.clone(), call).await?)
    }

    /// Writes a property.
    ///
    /// # Errors
    ///
    /// As for [`Connection::call`].
    pub async fn set<'m, T: Encode>(
        &self,
        property: impl IntoName<MemberName<'m>>,
        value: &T,
    ) -> Result<(), CallError> {
        let call = self.inner.start_set(property, value);
        StartedCall::new(self.connection.clone(), call).await.map(drop)
    }

    /// Subscribes to a signal of the object. The sender must own the destination's name. The rule
    /// is queued already, so that it leaves in one write with the next call.
    ///
    /// # Errors
    ///
    /// As for [`Connection::subscribe`].
    pub fn signals<'m>(&self, member: impl IntoName<MemberName<'m>>) -> StartedSubscription {
        StartedSubscription::new(&self.connection, self.inner.start_signals(member))
    }

    /// Subscribes to the signal that announces changed properties of the interface:
    /// `PropertiesChanged`, whose arguments are `(&str, BTreeMap<&str, Value>, Vec<&str>)`.
    /// The rule is queued already, so that it leaves in one write with the call that reads them.
    ///
    /// # Errors
    ///
    /// As for [`Connection::subscribe`].
    pub fn property_changes(&self) -> StartedSubscription {
        StartedSubscription::new(&self.connection, self.inner.start_property_changes())
    }
}
