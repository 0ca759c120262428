//! Calling a method.

use capture::record::nanos;
use std::num::NonZeroU32;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use client::{CallOptions, Connection, Flushed, IntoName, ReceivedMessage, StartedCall, Values};
use serde::{Deserialize, Serialize};
use wire::body::{ReadError, Value};
use wire::message::{Builder, Flags};
use wire::names::{BusName, InterfaceName, MemberName, ObjectPath};

use crate::asking::{checked, introspect, within};
use crate::introspection::Introspection;
use crate::json::{Json, read_arguments};
use crate::tree::read;
use crate::{Inspector, InspectorFailure, Starting, TypedValue};

/// A method of somebody.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MethodName {
    /// Who is called: a name on the bus.
    pub service: String,
    /// Which object.
    pub path: String,
    /// The interface of the method. Without one the object chooses.
    #[serde(default)]
    pub interface: Option<String>,
    /// The method.
    pub method: String,
}

/// A method to be called.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Call"))]
pub struct ObjectCall {
    /// The method.
    #[serde(flatten)]
    pub method: MethodName,
    /// The types of the arguments. Without them the object is asked first.
    #[serde(default)]
    pub signature: Option<String>,
    /// The arguments ([`json`](crate::json)).
    #[serde(default)]
    pub arguments: Vec<Json>,
}

/// How something is called.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Manner {
    /// Milliseconds that are waited for the answer.
    pub timeout_ms: u64,
    /// Whether the service may be started.
    pub starting: Starting,
    /// Whether there is an answer.
    pub reply: ReplyExpectation,
    /// Whether somebody may be asked for a password.
    pub authorization: Authorization,
}

/// Whether a call is answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Reply"))]
#[serde(rename_all = "kebab-case")]
pub enum ReplyExpectation {
    /// It is, by results or an error.
    #[default]
    Expected,
    /// It is not: the other side is told that nobody waits.
    Unwanted,
}

/// Whether the user may be asked to allow what he may not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Authorization {
    /// He is not: it is refused.
    #[default]
    Silent,
    /// He may be.
    Interactive,
}

/// What came of a call that was sent.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CallAnswer"))]
pub struct CallAnswer {
    /// Results, an error, or nothing.
    #[serde(flatten)]
    pub outcome: ObjectCallOutcome,
    /// Nanoseconds from the call to its answer.
    pub took_ns: u64,
}

/// What a call brought.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CallOutcome"))]
#[serde(rename_all = "kebab-case")]
pub enum ObjectCallOutcome {
    /// It was done.
    Returned {
        /// The unique name of who answered.
        sender: String,
        /// The results.
        results: Vec<TypedValue>,
        /// The descriptors that came along, in the order of their places. They are closed again.
        descriptors: Vec<Descriptor>,
        /// What else dbus-send tells of an answer.
        #[serde(skip)]
        heading: ReplyHeading,
    },
    /// It was not, or nobody said so.
    Failed(InspectorFailure),
    /// It was sent, and no answer is wanted.
    Sent {},
}

/// What the header of an answer says besides.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReplyHeading {
    /// To whom it goes: our own name.
    pub destination: String,
    /// Its number.
    pub serial: u32,
    /// The number of the call.
    pub reply_serial: u32,
}

/// A descriptor that came with a message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Descriptor {
    /// What it is, as the system tells: a path, `socket:[…]`, `pipe:[…]`.
    pub what: String,
}

/// What is sent along.
#[derive(Debug, Default)]
pub struct CallPayload {
    /// The arguments.
    pub arguments: Vec<Value>,
    /// The descriptors, which arguments name by their places.
    pub descriptors: Vec<OwnedFd>,
}

impl ObjectCall {
    /// A call without arguments that names no interface.
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
    /// Why it was not done.
    pub const fn failure(&self) -> Option<&InspectorFailure> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Returned { .. } | Self::Sent {} => None,
        }
    }
}

impl Default for Manner {
    /// 25 s, as other programs wait; nothing is started, nobody is asked.
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
    /// Calls a method.
    ///
    /// # Errors
    ///
    /// If nothing was sent: names or arguments are none, or their types are not known. An error that
    /// comes as the answer is an [`ObjectCallOutcome::Failed`].
    pub fn call(&self, call: &ObjectCall, manner: &Manner) -> Result<CallAnswer, InspectorFailure> {
        let begun = Instant::now();
        let target = MethodTarget::of(&call.method)?;
        let signature = match &call.signature {
            Some(signature) => signature.clone(),
            None => self.signature_of(&call.method, &target, manner)?,
        };
        // The object was asked in the same time.
        let left = manner.timeout().saturating_sub(begun.elapsed());
        let arguments = read_arguments(&signature, &call.arguments)?;
        self.send(&target, arguments.into(), manner, left)
    }

    /// Calls a method with values.
    ///
    /// # Errors
    ///
    /// If nothing was sent: names are none. An error that comes as the answer is an
    /// [`ObjectCallOutcome::Failed`].
    pub fn invoke(
        &self,
        method: &MethodName,
        load: CallPayload,
        manner: &Manner,
    ) -> Result<CallAnswer, InspectorFailure> {
        self.send(&MethodTarget::of(method)?, load, manner, manner.timeout())
    }

    /// What an object says it has.
    ///
    /// # Errors
    ///
    /// If it does not answer, or not with such a document.
    pub fn introspection(
        &self,
        service: &str,
        path: &str,
        manner: &Manner,
    ) -> Result<Introspection, InspectorFailure> {
        self.introspect(service.into_name()?, path.into_name()?, manner)
    }

    /// The types of what a method takes, as its object tells.
    fn signature_of(
        &self,
        called: &MethodName,
        target: &MethodTarget<'_>,
        manner: &Manner,
    ) -> Result<String, InspectorFailure> {
        let found = self.introspect(target.service, target.path, manner)?;
        let mut interfaces = found.interfaces.iter();
        let method = match &called.interface {
            Some(name) => found.interface(name).and_then(|one| one.method(&called.method)),
            None => interfaces.find_map(|one| one.method(&called.method)),
        };
        let method =
            method.ok_or_else(|| undescribed("method", &called.method, &called.interface))?;
        Ok(method.signature())
    }

    /// What an object says it has.
    pub(crate) fn introspect(
        &self,
        service: BusName<'_>,
        path: ObjectPath<'_>,
        manner: &Manner,
    ) -> Result<Introspection, InspectorFailure> {
        let patience = self.patience.answer.min(manner.timeout());
        let call = introspect(&self.connection, service, path, manner.starting, patience);
        read(&checked(call.and_then(StartedCall::wait), patience)?)
    }

    /// Sends a call, and waits for its answer if one is wanted.
    pub(crate) fn send(
        &self,
        target: &MethodTarget<'_>,
        load: CallPayload,
        manner: &Manner,
        patience: Duration,
    ) -> Result<CallAnswer, InspectorFailure> {
        let message = target.message(manner);
        let begun = Instant::now();
        let outcome = match manner.reply {
            ReplyExpectation::Expected => wait(&self.connection, &message, load, patience)?,
            ReplyExpectation::Unwanted => {
                self.post(&message, load, patience)?;
                ObjectCallOutcome::Sent {}
            }
        };
        Ok(CallAnswer { outcome, took_ns: nanos(begun.elapsed()) })
    }
}

impl Inspector {
    /// Sends what nobody answers.
    pub(crate) fn post(
        &self,
        message: &Builder<'_>,
        load: CallPayload,
        patience: Duration,
    ) -> Result<(), InspectorFailure> {
        let CallPayload { arguments, descriptors } = load;
        let sent = self.connection.send(message, &Values(&arguments), descriptors);
        sent.map_err(InspectorFailure::Unsendable)?;
        match self.connection.flush_within(patience)? {
            Flushed::Whole => Ok(()),
            Flushed::InPart => Err(InspectorFailure::Untaken { after: patience }),
        }
    }
}

/// What is called, by names that are names.
pub(crate) struct MethodTarget<'a> {
    pub(crate) service: BusName<'a>,
    pub(crate) path: ObjectPath<'a>,
    pub(crate) interface: Option<InterfaceName<'a>>,
    pub(crate) method: MemberName<'a>,
}

impl<'a> MethodTarget<'a> {
    fn of(called: &'a MethodName) -> Result<Self, InspectorFailure> {
        let interface = called.interface.as_deref().map(IntoName::into_name).transpose()?;
        Ok(Self {
            service: called.service.as_str().into_name()?,
            path: called.path.as_str().into_name()?,
            interface,
            method: called.method.as_str().into_name()?,
        })
    }

    fn message(&self, manner: &Manner) -> Builder<'a> {
        let message = Builder::method_call(self.path, self.method)
            .destination(self.service)
            .flags(manner.flags());
        match self.interface {
            Some(interface) => message.interface(interface),
            None => message,
        }
    }
}

impl Manner {
    /// How long is waited for the answer.
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
    load: CallPayload,
    patience: Duration,
) -> Result<ObjectCallOutcome, InspectorFailure> {
    let failed = |error| InspectorFailure::of_call(error, patience);
    let CallPayload { arguments, descriptors } = load;
    let options = CallOptions { descriptors, ..within(patience) };
    let call = connection.start_call(message, &Values(&arguments), options);
    let answer = checked(call.map_err(failed)?.wait(), patience);
    let returned = answer.and_then(|reply| Ok(returned(&reply)?));
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

/// All arguments of a message.
pub(crate) fn values(message: &ReceivedMessage) -> Result<Vec<TypedValue>, ReadError> {
    let mut reader = message.reader();
    let types = message.signature().types();
    types.map(|kind| Value::read(kind, &mut reader).map(TypedValue)).collect()
}

pub(crate) fn descriptor(descriptor: &OwnedFd) -> Descriptor {
    let place = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let what = std::fs::read_link(place).map(|what| what.to_string_lossy().into_owned());
    Descriptor { what: what.unwrap_or_default() }
}

/// That the types of a member are not known.
pub(crate) fn undescribed(
    what: &'static str,
    name: &str,
    interface: &Option<String>,
) -> InspectorFailure {
    let interface = interface.clone();
    InspectorFailure::Undescribed { what, member: name.to_owned(), interface }
}
