//! Well-known names: requesting them, releasing them, and waiting for their owners.

use std::time::Duration;

use derive::{Decode, Typed};
use unix::clock;
use wire::names::{MemberName, WellKnownName};

use super::connection::Connection;
use super::error::CallError;
use super::subscription::{SubscribeError, SubscriptionError};
use crate::core::MessageBody;
use crate::driver;
use crate::link::{ReceivedMessage, deadline};
use crate::name::IntoName;

impl Connection {
    /// Requests a name from the bus (`RequestName`).
    ///
    /// ```no_run
    /// use diligence_client::{Connection, NameFlags, RequestReply};
    ///
    /// let bus = Connection::session()?;
    /// let reply = bus.request_name("org.example.Player", NameFlags::DO_NOT_QUEUE)?;
    /// assert_eq!(reply, RequestReply::PrimaryOwner, "another instance is running");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// If another connection owns the name, this is a [`RequestReply`], not an error.
    ///
    /// # Errors
    ///
    /// [`CallError::Remote`] if the policy of the bus forbids this connection to own the name, or
    /// if it owns too many names; [`SendError::NoBus`](crate::SendError) on a connection to a peer
    /// without a bus; otherwise as for [`call`](Self::call).
    pub fn request_name<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
        flags: NameFlags,
    ) -> Result<RequestReply, CallError> {
        let name = name.into_name()?;
        let arguments = (name, flags.bits());
        let (reply,) = self.call_driver(driver::REQUEST_NAME, &arguments)?.read()?;
        self.remember_name(name, flags, reply);
        Ok(reply)
    }

    /// Waits until a connection owns `name`, and returns true; returns false if none does within
    /// `timeout`. `None` waits forever. This does not start a service.
    ///
    /// Calls that arrive meanwhile are answered afterwards.
    ///
    /// # Errors
    ///
    /// As for [`subscribe`](Self::subscribe): the wait is a subscription to `NameOwnerChanged`.
    pub fn wait_for_owner<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
        timeout: Option<Duration>,
    ) -> Result<bool, SubscribeError> {
        let name = name.into_name()?;
        let deadline = deadline(timeout);
        let changes = self.subscribe(owner_rule(name).as_str())?;
        loop {
            // Only after the subscription, so that no change is missed in between.
            let reply = self.call_driver(driver::NAME_HAS_OWNER, &(name,))?;
            let (owned,) = reply.read().map_err(CallError::from)?;
            if owned {
                return Ok(true);
            }
            match changes.next(deadline.map(|end| end.saturating_sub(clock::monotonic()))) {
                Ok(None) => return Ok(false),
                Ok(Some(_))
                | Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
                Err(SubscriptionError::Disconnected(ended)) => {
                    return Err(CallError::Disconnected(ended).into());
                }
            }
        }
    }

    /// Releases a name, or leaves its queue (`ReleaseName`).
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub fn release_name<'a>(
        &self,
        name: impl IntoName<WellKnownName<'a>>,
    ) -> Result<ReleaseReply, CallError> {
        let name = name.into_name()?;
        self.core(|core| core.forget_name(name.as_str()));
        let (reply,) = self.call_driver(driver::RELEASE_NAME, &(name,))?.read()?;
        Ok(reply)
    }

    /// Remembers a requested name, to request it again after the bus went away.
    pub(crate) fn remember_name(
        &self,
        name: WellKnownName<'_>,
        flags: NameFlags,
        reply: RequestReply,
    ) {
        if reply != RequestReply::Exists {
            self.core(|core| core.remember_name(name.as_str(), flags.bits()));
        }
    }

    fn call_driver(
        &self,
        member: MemberName<'_>,
        arguments: &impl MessageBody,
    ) -> Result<ReceivedMessage, CallError> {
        self.core(|core| core.check_bus())?;
        self.call_method(&driver::method(member), arguments)
    }
}

/// The match rule for changes of the owner of a name.
pub(crate) fn owner_rule(name: WellKnownName<'_>) -> String {
    let (bus, member) = (driver::NAME, driver::OWNER_CHANGED);
    format!("type='signal',sender='{bus}',member='{member}',arg0='{name}'")
}

/// Flags of `RequestName`. Without flags, the connection waits in the queue and cannot be replaced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct NameFlags(u32);

impl NameFlags {
    /// No flags are set.
    pub const NONE: Self = Self(0);
    /// Other connections may replace this owner.
    pub const ALLOW_REPLACEMENT: Self = Self(1);
    /// Replace the current owner, if it allows replacement.
    pub const REPLACE_EXISTING: Self = Self(2);
    /// Fail instead of waiting in the queue for the name.
    pub const DO_NOT_QUEUE: Self = Self(4);

    /// The union of both sets of flags.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags as an argument of `RequestName`.
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// The reply to `RequestName`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Typed, Decode)]
#[repr(u32)]
pub enum RequestReply {
    /// The connection now owns the name.
    PrimaryOwner = 1,
    /// Another connection owns the name, and this one waits in the queue.
    InQueue = 2,
    /// Another connection owns the name, and this one does not wait.
    Exists = 3,
    /// The connection already owned the name.
    AlreadyOwner = 4,
}

impl RequestReply {
    /// True if the connection owns the name.
    pub const fn is_owner(self) -> bool {
        matches!(self, Self::PrimaryOwner | Self::AlreadyOwner)
    }
}

/// The reply to `ReleaseName`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Typed, Decode)]
#[repr(u32)]
pub enum ReleaseReply {
    /// The connection released the name or left its queue.
    Released = 1,
    /// The name has no owner.
    NonExistent = 2,
    /// Another connection owns the name, and this one was not in the queue.
    NotOwner = 3,
}

#[cfg(test)]
mod tests {
    use wire::body::ReadError;

    use super::*;

    #[test]
    fn unknown_reply_codes_are_errors() {
        let number = 9_u32.to_ne_bytes();
        let mut reader = wire::body::Reader::new(&number, wire::Endian::NATIVE, 0);
        let read: Result<RequestReply, _> = wire::body::Decode::decode(&mut reader);
        assert_eq!(read, Err(ReadError::Value("9 is not a value of RequestReply".into())));
    }
}
