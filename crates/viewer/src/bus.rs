//! Requests of the page to a running bus.
//!
//! A connection serves one request at a time, so there are several connections, each with its own
//! thread. They are visible in the traffic that the page shows. Therefore a connection is opened
//! only when a request needs it, and closed when it has been idle for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

use analyst::value_type::{TypeTable, ValueType, value_types};
use axum::body::{Body, Bytes};
use capture::show::{CommandBus, CommandKind, CommandParts};
use futures_util::stream;
use inspector::call::{CallAnswer, ObjectCallOutcome};
use inspector::json::{self, Json};
use inspector::names::Name;
use inspector::object::{InspectedObject, PropertyReading};
use inspector::tree::Tree;
use inspector::{
    ArgumentError, CallSettings, Inspector, InspectorFailure, MethodName, ObjectCall, PropertyName,
    TreeOptions,
};
use recorder::BusPlace;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use crate::arguments::{self, ReadText};
use crate::watch::{self, WatchEvent, Watched};

/// Permission of the page to call methods and set properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CallPermission {
    /// The page can only read.
    #[default]
    Refused,
    /// The page can call methods and set properties.
    Allowed,
}

/// A request of the page to the bus.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum BusRequest {
    /// List all names on the bus.
    Names,
    /// Look up one name.
    Name {
        /// The name to look up.
        name: String,
    },
    /// List the objects of a service.
    Tree {
        /// A unique or well-known name of the service.
        service: String,
    },
    /// Read the interfaces of an object and the values of its properties.
    Object {
        /// A unique or well-known name of the service.
        service: String,
        /// The path of the object.
        path: String,
    },
    /// Read the value of a property.
    Get {
        /// The property to read.
        property: PropertyName,
    },
    /// Set the value of a property.
    Set {
        /// The property to set.
        property: PropertyName,
        /// The type of the value. If it is absent, the object is introspected first.
        signature: Option<String>,
        /// The new value of the property.
        value: Json,
        /// Options of the call.
        #[serde(default, rename = "manner")]
        settings: CallSettings,
    },
    /// Call a method of an object.
    Call {
        /// The method and its arguments.
        call: ObjectCall,
        /// Options of the call.
        #[serde(default, rename = "manner")]
        settings: CallSettings,
    },
    /// Parse arguments from a GVariant text. This sends nothing to the bus.
    Read {
        /// The types of the arguments.
        signature: String,
        /// The text to parse.
        text: String,
    },
    /// Write arguments as a GVariant text. This sends nothing to the bus.
    Write {
        /// The types of the arguments.
        signature: String,
        /// The arguments to write.
        arguments: Vec<Json>,
    },
    /// Write shell commands that make a call. This sends nothing to the bus.
    Commands {
        /// The call that the commands make.
        call: ObjectCall,
    },
    /// Parse a signature. This sends nothing to the bus.
    Types {
        /// The text to parse, which can be invalid.
        signature: String,
    },
}

/// The answer to a [`BusRequest`], under the name of the request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BusAnswer {
    /// All names on the bus.
    Names(Vec<Name>),
    /// The name; `None` if it has no owner and cannot be activated.
    Name(Option<Box<Name>>),
    /// The objects of the service.
    Tree(Tree),
    /// The interfaces and properties of the object.
    Object(InspectedObject),
    /// The reply to the call of Get.
    Get(CallAnswer),
    /// The reply to the call of Set.
    Set(CallAnswer),
    /// The reply to the method call.
    Call(CallAnswer),
    /// The arguments, or an error in the text.
    Read(ReadText),
    /// The arguments as a GVariant text.
    Write(String),
    /// Shell commands that make the call.
    Commands(CallCommands),
    /// The complete types in the signature; `None` if the text is not a signature.
    Types(Option<Vec<ValueType>>),
}

/// Shell commands that make a call.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallCommands {
    /// The command line for busctl.
    busctl: String,
    /// The command line for gdbus.
    gdbus: String,
}

/// An answer with all types that it mentions, or the reason why the request failed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Reply{T}"))]
#[serde(untagged)]
pub(crate) enum PageReply<T> {
    /// The request was successful, with an answer.
    Answered {
        /// The answer to the request.
        answer: T,
        /// All types that the answer mentions.
        types: TypeTable,
    },
    /// The request could not be served.
    Failed {
        /// The reason for the failure, as a sentence.
        failure: String,
    },
}

/// The bus that the page shows, and the connections and watches of the page on it.
#[derive(Debug)]
pub(crate) struct PageBus {
    place: BusPlace,
    calls: CallPermission,
    queue: Arc<RequestQueue>,
    watches: Arc<Mutex<HashMap<String, std::sync::mpsc::Sender<Watched>>>>,
}

/// Requests that wait for a connection.
#[derive(Debug, Default)]
struct RequestQueue {
    state: Mutex<QueueState>,
    added: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    jobs: VecDeque<QueuedRequest>,
    /// The number of threads that wait for a request.
    idle: usize,
    threads: usize,
}

#[derive(Debug)]
struct QueuedRequest {
    request: BusRequest,
    reply: oneshot::Sender<PageReply<BusAnswer>>,
}

impl PageBus {
    pub(crate) fn new(place: BusPlace, calls: CallPermission) -> Self {
        Self { place, calls, queue: Arc::default(), watches: Arc::default() }
    }

    pub(crate) const fn calls(&self) -> CallPermission {
        self.calls
    }

    /// Changes what the watch with this name reports. Returns false if there is no such watch.
    pub(crate) fn change_watch(&self, name: &str, watched: Watched) -> bool {
        lock(&self.watches).get(name).is_some_and(|changes| changes.send(watched).is_ok())
    }

    /// Serves a request. Requests that change something need [`CallPermission::Allowed`].
    pub(crate) async fn reply(&self, request: BusRequest) -> PageReply<BusAnswer> {
        if request.changes_something() && self.calls == CallPermission::Refused {
            return PageReply::failed(NOT_ALLOWED);
        }
        let (reply, replied) = oneshot::channel();
        self.add(QueuedRequest { request, reply });
        replied.await.unwrap_or_else(|_| {
            PageReply::failed("the connection to the bus was closed before the answer arrived")
        })
    }

    fn add(&self, job: QueuedRequest) {
        let mut state = self.queue.lock();
        state.jobs.push_back(job);
        if state.idle < state.jobs.len() && state.threads < THREADS_MAX {
            state.threads += 1;
            let (queue, place) = (Arc::clone(&self.queue), self.place.clone());
            thread::spawn(move || queue.serve(&place));
        }
        self.queue.added.notify_one();
    }

    /// Watches the bus. The body has a line of JSON for each event ([`watch`](crate::watch)); the
    /// watch ends when the body is dropped. [`change_watch`](Self::change_watch) changes what the
    /// watch with this `name` reports.
    pub(crate) fn watch(&self, name: String, watched: Watched) -> Result<Body, WatchRefusal> {
        let (lines, events) = mpsc::channel(LINES_MAX);
        let (changes, new_scopes) = std::sync::mpsc::channel();
        {
            let mut watches = lock(&self.watches);
            if watches.contains_key(&name) {
                return Err(WatchRefusal::NameTaken);
            }
            if watches.len() >= WATCHES_MAX {
                return Err(WatchRefusal::TooMany);
            }
            watches.insert(name.clone(), changes);
        }
        let (place, watches) = (self.place.clone(), Arc::clone(&self.watches));
        thread::spawn(move || {
            if let Err(failure) = watch::listen(&place, watched, &new_scopes, &lines) {
                let reply = PageReply::<WatchEvent>::failed(&failure.to_string());
                let _ = lines.blocking_send(reply.to_line());
            }
            lock(&watches).remove(&name);
        });
        Ok(Body::from_stream(stream::unfold(events, |mut events| async move {
            let line = events.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(line), events))
        })))
    }
}

/// The reason why a watch cannot begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WatchRefusal {
    /// [`WATCHES_MAX`] watches are active.
    TooMany,
    /// Another watch has this name.
    NameTaken,
}

impl fmt::Display for WatchRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(
                f,
                "{WATCHES_MAX} pages watch this bus already, which is the limit: close one of them"
            ),
            Self::NameTaken => f.write_str("another watch has this name"),
        }
    }
}

impl RequestQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }

    /// Serves requests until the connection has been idle for [`IDLE_MAX`].
    fn serve(&self, place: &BusPlace) {
        let mut inspector = None;
        while let Some(QueuedRequest { request, reply }) = self.next() {
            let served = serve(&mut inspector, place, request);
            // Sending fails if the page was closed in the meantime.
            let _ = reply.send(served.unwrap_or_else(|reason| PageReply::failed(&reason)));
        }
    }

    /// Waits for the next request; `None` if none arrives within [`IDLE_MAX`].
    fn next(&self) -> Option<QueuedRequest> {
        let mut state = self.lock();
        state.idle += 1;
        let is_empty = |state: &mut QueueState| state.jobs.is_empty();
        let waited = self.added.wait_timeout_while(state, IDLE_MAX, is_empty);
        (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        let job = state.jobs.pop_front();
        if job.is_none() {
            state.threads -= 1;
        }
        job
    }
}

fn serve(
    kept: &mut Option<Inspector>,
    place: &BusPlace,
    request: BusRequest,
) -> Result<PageReply<BusAnswer>, String> {
    let inspector = match kept.take() {
        Some(inspector) => inspector,
        None => Inspector::new(place.connect().map_err(|error| error.to_string())?),
    };
    let reply = request.serve(&inspector, place);
    // A closed connection cannot be used again.
    if inspector.connection().ended().is_none() {
        *kept = Some(inspector);
    }
    reply.map_err(|failure| failure.to_string())
}

impl BusRequest {
    const fn changes_something(&self) -> bool {
        match self {
            Self::Set { .. } | Self::Call { .. } => true,
            Self::Names
            | Self::Name { .. }
            | Self::Tree { .. }
            | Self::Object { .. }
            | Self::Get { .. }
            | Self::Read { .. }
            | Self::Write { .. }
            | Self::Commands { .. }
            | Self::Types { .. } => false,
        }
    }

    fn serve(
        self,
        inspector: &Inspector,
        place: &BusPlace,
    ) -> Result<PageReply<BusAnswer>, InspectorFailure> {
        let mut types = TypeTable::default();
        let answer = match self {
            Self::Names => BusAnswer::Names(inspector.names()?),
            Self::Name { name } => BusAnswer::Name(inspector.name(&name)?.map(Box::new)),
            Self::Tree { service } => {
                BusAnswer::Tree(inspector.tree(&service, &TreeOptions::default())?)
            }
            Self::Object { service, path } => {
                let object = inspector.object(&service, &path)?;
                add_object_types(&object, &mut types);
                BusAnswer::Object(object)
            }
            Self::Get { property } => BusAnswer::Get(with_types(
                inspector.get(&property, &CallSettings::default())?,
                &mut types,
            )),
            Self::Set { property, signature, value, settings } => {
                let answer = inspector.set(&property, signature.as_deref(), &value, &settings)?;
                BusAnswer::Set(with_types(answer, &mut types))
            }
            Self::Call { call, settings } => {
                BusAnswer::Call(with_types(inspector.call(&call, &settings)?, &mut types))
            }
            Self::Read { signature, text } => {
                BusAnswer::Read(arguments::read(&signature, &text, &mut types))
            }
            Self::Write { signature, arguments } => {
                BusAnswer::Write(arguments::write(&signature, &arguments)?)
            }
            Self::Commands { call } => BusAnswer::Commands(CallCommands::of(&call, place)?),
            Self::Types { signature } => BusAnswer::Types(value_types(&signature)),
        };
        Ok(PageReply::Answered { answer, types })
    }
}

fn with_types(answer: CallAnswer, types: &mut TypeTable) -> CallAnswer {
    if let ObjectCallOutcome::Returned { results, .. } = &answer.outcome {
        results.iter().for_each(|value| types.add_value(&value.0));
    }
    answer
}

fn add_object_types(object: &InspectedObject, types: &mut TypeTable) {
    for interface in &object.interfaces {
        let methods = interface.methods.iter();
        let arguments = methods.flat_map(|method| method.arguments.iter().chain(&method.results));
        let signals = interface.signals.iter().flat_map(|signal| &signal.arguments);
        arguments.chain(signals).for_each(|argument| types.add(&argument.types));
        for property in &interface.properties {
            types.add(&property.description.types);
            if let Some(PropertyReading::Value(value)) = &property.reading {
                types.add_value(&value.0);
            }
        }
        interface.undescribed.values().for_each(|value| types.add_value(&value.0));
    }
}

impl CallCommands {
    /// # Errors
    ///
    /// If the arguments do not have the types of the call.
    fn of(call: &ObjectCall, place: &BusPlace) -> Result<Self, ArgumentError> {
        let signature = call.signature.as_deref().unwrap_or_default();
        let values = json::read_arguments(signature, &call.arguments)?;
        let address = place.address().unwrap_or_default();
        let MethodName { service, path, interface, method } = &call.method;
        let parts = CommandParts {
            kind: CommandKind::Call,
            bus: CommandBus::Address(&address),
            destination: service,
            path,
            interface: interface.as_deref().unwrap_or_default(),
            member: method,
            signature,
            values: &values,
        };
        Ok(Self { busctl: parts.busctl(), gdbus: parts.gdbus() })
    }
}

impl<T: Serialize> PageReply<T> {
    pub(crate) fn failed(reason: &str) -> Self {
        Self::Failed { failure: reason.to_owned() }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("all keys are texts")
    }

    /// The reply in one line of JSON, with the line break.
    pub(crate) fn to_line(&self) -> Bytes {
        Bytes::from(self.to_json() + "\n")
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

const NOT_ALLOWED: &str =
    "this page may not call methods or set properties: start `diligence` with --allow-calls";

/// The maximum number of pages that watch the bus at the same time. Each needs a thread and a
/// connection to the bus.
const WATCHES_MAX: usize = 32;

/// The maximum number of connections that serve requests at the same time.
const THREADS_MAX: usize = 8;

/// The time after which an idle connection is closed.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// The maximum number of events that wait for the page to read them.
const LINES_MAX: usize = 256;
