//! Calls methods of objects on a bus.

use capture::record::nanos;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use client::{CallOptions, Connection, Flushed, IntoName, ReceivedMessage, StartedCall, Values};
use serde::{Deserialize, Serialize};
use wire::body::{ReadError, Value};
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::introspection::Introspection;
use crate::json::{Json, read_arguments};
use crate::requests::{checked, introspect, with_timeout};
use crate::tree::read;
use crate::{Inspector, InspectorFailure, Starting, TypedValue};

/// A method of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodName {
    /// The bus name of the service.
    pub service: String,
    /// The path of the object.
    pub path: String,
    /// The interface of the method. Without one, the object chooses the interface.
    #[serde(default)]
    pub interface: Option<String>,
    /// The name of the method.
    pub method: String,
}

/// A method call with its arguments in JSON.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Call"))]
pub struct ObjectCall {
    /// The method to call.
    #[serde(flatten)]
    pub method: MethodName,
    /// The signature of the arguments. Without it, the object is introspected first.
    #[serde(default)]
    pub signature: Option<String>,
    /// The arguments in JSON ([`json`](crate::json)).
    #[serde(default)]
    pub arguments: Vec<Json>,
}

/// How a method is called: its timeout and its message flags.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CallSettings"))]
#[serde(default)]
pub struct CallSettings {
    /// The timeout for the reply, in milliseconds.
    pub timeout_ms: u64,
    /// Controls whether the bus may start the service.
    pub starting: Starting,
    /// Controls whether the caller waits for a reply.
    pub reply: ReplyExpectation,
    /// Controls whether the service may ask the user for authorization.
    pub authorization: Authorization,
}

/// Controls whether a call expects a reply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Reply"))]
#[serde(rename_all = "kebab-case")]
pub enum ReplyExpectation {
    /// The caller waits for results or an error.
    #[default]
    Expected,
    /// The message has the flag `NO_REPLY_EXPECTED`.
    Unwanted,
}

/// Controls whether a service may ask the user to authorize a call, for example through polkit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Authorization {
    /// The service must not ask, and refuses a call that needs authorization.
    #[default]
    Silent,
    /// The message has the flag `ALLOW_INTERACTIVE_AUTHORIZATION`.
    Interactive,
}

/// The result of a call that was sent, with its duration.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CallAnswer"))]
pub struct CallAnswer {
    /// The results, an error, or nothing.
    #[serde(flatten)]
    pub outcome: ObjectCallOutcome,
    /// Nanoseconds from the call to its reply.
    pub took_ns: u64,
}

/// The outcome of a call that was sent.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CallOutcome"))]
#[serde(rename_all = "kebab-case")]
pub enum ObjectCallOutcome {
    /// The method returned without an error.
    Returned {
        /// The unique name of the sender of the reply.
        sender: String,
        /// The values that the method returned.
        results: Vec<TypedValue>,
        /// The file descriptors of the reply, in order of their indexes. They are already closed.
        descriptors: Vec<Descriptor>,
        /// The header fields of the reply that `dbus-send` prints.
        #[serde(skip)]
        heading: ReplyHeading,
    },
    /// The reply was an error, no reply came, or the reply could not be decoded.
    Failed(InspectorFailure),
    /// The call was sent, and no reply is expected.
    Sent {},
}

/// Header fields of a reply that the other fields lack.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplyHeading {
    /// The destination, which is the unique name of the inspector.
    pub destination: String,
    /// The serial of the reply.
    pub serial: u32,
    /// The serial of the call.
    pub reply_serial: u32,
}

/// A file descriptor in a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Descriptor {
    /// The target of its link in `/proc/self/fd`: a path, `socket:[…]` or `pipe:[…]`. Empty if the
    /// link cannot be read.
    pub what: String,
}

/// The arguments and file descriptors of a message.
#[derive(Debug, Default)]
pub struct CallPayload {
    /// The arguments of the message.
    pub arguments: Vec<Value>,
    /// The file descriptors, to which arguments of type `h` refer by index.
    pub descriptors: Vec<OwnedFd>,
}

impl ObjectCall {
    /// Creates a call without an interface and without arguments.
    pub fn new(service: &str, path: &str, method: &str) -> Self {
        Self {
            method: MethodName {
                service: service.to_owned(),
                path: path.to_owned(),
                interface: None,
                method: method.to_owned(),
            },
            signature: None,
            arguments: Vec::new(),
        }
    }
}

impl From<Vec<Value>> for CallPayload {
    fn from(arguments: Vec<Value>) -> Self {
        Self { arguments, descriptors: Vec::new() }
    }
}

impl ObjectCallOutcome {
    /// Returns the failure, if the call failed.
    pub const fn failure(&self) -> Option<&InspectorFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Returned { .. } | Self::Sent {} => None,
        }
    }
}

impl Default for CallSettings {
    /// A timeout of 25 s, as in other D-Bus programs. No service is started, and the user is not
    /// asked for authorization.
    fn default() -> Self {
        Self {
            timeout_ms: 25_000,
            starting: Starting::default(),
            reply: ReplyExpectation::default(),
            authorization: Authorization::default(),
        }
    }
}

impl Inspector {
    /// Calls a method with arguments in JSON. Without a signature, the types come from the
    /// introspection data of the object.
    ///
    /// # Errors
    ///
    /// If the call could not be sent: a name is invalid, the types are unknown, or an argument does
    /// not match them. An error reply is an [`ObjectCallOutcome::Failed`].
    pub fn call(
        &self,
        call: &ObjectCall,
        settings: &CallSettings,
    ) -> Result<CallAnswer, InspectorFailure> {
        let begun = Instant::now();
        let target = MethodTarget::of(&call.method)?;
        let signature = match &call.signature {
            Some(signature) => signature.clone(),
            None => self.signature_of(&call.method, &target, settings)?,
        };
        // The introspection counts toward the timeout.
        let timeout = settings.timeout().saturating_sub(begun.elapsed());
        let arguments = read_arguments(&signature, &call.arguments)?;
        self.send(&target, arguments.into(), settings, timeout)
    }

    /// Calls a method whose arguments are D-Bus values.
    ///
    /// # Errors
    ///
    /// If the call could not be sent, for example because a name is invalid. An error reply is an
    /// [`ObjectCallOutcome::Failed`].
    pub fn invoke(
        &self,
        method: &MethodName,
        payload: CallPayload,
        settings: &CallSettings,
    ) -> Result<CallAnswer, InspectorFailure> {
        self.send(&MethodTarget::of(method)?, payload, settings, settings.timeout())
    }

    /// Returns the parsed introspection data of an object.
    ///
    /// # Errors
    ///
    /// If the object does not reply, or its reply is not valid introspection data.
    pub fn introspection(
        &self,
        service: &str,
        path: &str,
        settings: &CallSettings,
    ) -> Result<Introspection, InspectorFailure> {
        self.introspect(service.into_name()?, path.into_name()?, settings)
    }

    /// Returns the signature of a method from the introspection data of its object.
    fn signature_of(
        &self,
        method: &MethodName,
        target: &MethodTarget<'_>,
        settings: &CallSettings,
    ) -> Result<String, InspectorFailure> {
        let found = self.introspect(target.service, target.path, settings)?;
        let mut interfaces = found.interfaces.iter();
        let declared = match &method.interface {
            Some(name) => found.interface(name).and_then(|one| one.method(&method.method)),
            None => interfaces.find_map(|one| one.method(&method.method)),
        };
        let declared =
            declared.ok_or_else(|| undescribed("method", &method.method, &method.interface))?;
        Ok(declared.signature())
    }

    pub(crate) fn introspect(
        &self,
        service: BusName<'_>,
        path: ObjectPath<'_>,
        settings: &CallSettings,
    ) -> Result<Introspection, InspectorFailure> {
        let timeout = self.timeouts.reply.min(settings.timeout());
        let call = introspect(&self.connection, service, path, settings.starting, timeout);
        read(&checked(call.and_then(StartedCall::wait))?)
    }

    /// Sends a call, and waits for its reply if one is expected.
    pub(crate) fn send(
        &self,
        target: &MethodTarget<'_>,
        payload: CallPayload,
        settings: &CallSettings,
        timeout: Duration,
    ) -> Result<CallAnswer, InspectorFailure> {
        let message = target.message(settings);
        let begun = Instant::now();
        let outcome = match settings.reply {
            ReplyExpectation::Expected => wait(&self.connection, &message, payload, timeout)?,
            ReplyExpectation::Unwanted => {
                self.post(&message, payload, timeout)?;
                ObjectCallOutcome::Sent {}
            }
        };
        Ok(CallAnswer { outcome, took_ns: nanos(begun.elapsed()) })
    }
}

impl Inspector {
    /// Sends a message without a reply, and waits until the bus's socket has accepted it.
    pub(crate) fn post(
        &self,
        message: &Builder<'_>,
        payload: CallPayload,
        timeout: Duration,
    ) -> Result<(), InspectorFailure> {
        let CallPayload { arguments, descriptors } = payload;
        let sent = self.connection.send(message, &Values(&arguments), descriptors);
        sent.map_err(InspectorFailure::Unsendable)?;
        match self.connection.flush_within(timeout)? {
            Flushed::Whole => Ok(()),
            Flushed::InPart => Err(InspectorFailure::Untaken { after: timeout }),
        }
    }
}

/// A method call target, with validated names.
pub(crate) struct MethodTarget<'a> {
    pub(crate) service: BusName<'a>,
    pub(crate) path: ObjectPath<'a>,
    pub(crate) interface: Option<InterfaceName<'a>>,
    pub(crate) method: MemberName<'a>,
}

impl<'a> MethodTarget<'a> {
    fn of(method: &'a MethodName) -> Result<Self, InspectorFailure> {
        let interface = method.interface.as_deref().map(IntoName::into_name).transpose()?;
        Ok(Self {
            service: method.service.as_str().into_name()?,
            path: method.path.as_str().into_name()?,
            interface,
            method: method.method.as_str().into_name()?,
        })
    }

    fn message(&self, settings: &CallSettings) -> Builder<'a> {
        let message = Builder::method_call(self.path, self.method)
            .destination(self.service)
            .flags(settings.flags());
        match self.interface {
            Some(interface) => message.interface(interface),
            None => message,
        }
    }
}

impl CallSettings {
    /// The timeout for the reply.
    pub const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    fn flags(&self) -> Flags {
        let reply = match self.reply {
            ReplyExpectation::Expected => Flags::NONE,
            ReplyExpectation::Unwanted => Flags::NO_REPLY_EXPECTED,
        };
        let authorization = match self.authorization {
            Authorization::Silent => Flags::NONE,
            Authorization::Interactive => Flags::ALLOW_INTERACTIVE_AUTHORIZATION,
        };
        self.starting.flags().with(reply).with(authorization)
    }
}

fn wait(
    connection: &Connection,
    message: &Builder<'_>,
    payload: CallPayload,
    timeout: Duration,
) -> Result<ObjectCallOutcome, InspectorFailure> {
    let CallPayload { arguments, descriptors } = payload;
    let options = CallOptions { descriptors, ..with_timeout(timeout) };
    let call = connection.start_call(message, &Values(&arguments), options);
    let reply = checked(call.map_err(InspectorFailure::of_call)?.wait());
    let returned = reply.and_then(|reply| Ok(returned(&reply)?));
    Ok(returned.unwrap_or_else(ObjectCallOutcome::Failed))
}

fn returned(reply: &ReceivedMessage) -> Result<ObjectCallOutcome, ReadError> {
    Ok(ObjectCallOutcome::Returned {
        sender: reply.sender().unwrap_or_default().to_owned(),
        results: values(reply)?,
        descriptors: reply.descriptors().iter().map(descriptor).collect(),
        heading: heading(reply),
    })
}

fn heading(reply: &ReceivedMessage) -> ReplyHeading {
    let message = reply.message();
    ReplyHeading {
        destination: message.destination().map(|name| name.to_string()).unwrap_or_default(),
        serial: message.serial().get(),
        reply_serial: message.reply_serial().map_or(0, NonZeroU32::get),
    }
}

/// Decodes all arguments of a message.
pub(crate) fn values(message: &ReceivedMessage) -> Result<Vec<TypedValue>, ReadError> {
    let mut reader = message.reader();
    let types = message.signature().types();
    types.map(|kind| Value::read(kind, &mut reader).map(TypedValue)).collect()
}

pub(crate) fn descriptor(descriptor: &OwnedFd) -> Descriptor {
    let link = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let what = std::fs::read_link(link).map(|target| target.to_string_lossy().into_owned());
    Descriptor { what: what.unwrap_or_default() }
}

/// Creates the error for a member that the introspection data lacks.
pub(crate) fn undescribed(
    member_kind: &'static str,
    name: &str,
    interface: &Option<String>,
) -> InspectorFailure {
    let interface = interface.clone();
    InspectorFailure::Undescribed { member_kind, member: name.to_owned(), interface }
}
