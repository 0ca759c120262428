//! Requests of the page for a running bus.
//!
//! A connection serves one request at a time, so there are several, each with a thread of its own. They
//! are opened when they are needed and closed when they have been idle for a while, because they are
//! visible in the traffic.

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

/// Whether the page may call methods, and set properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CallPermission {
    /// It may not.
    #[default]
    Refused,
    /// It may.
    Allowed,
}

/// A request for the bus.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum BusRequest {
    /// All names.
    Names,
    /// One name.
    Name {
        /// The name.
        name: String,
    },
    /// The objects of a service.
    Tree {
        /// A name of the service.
        service: String,
    },
    /// The interfaces of an object, with the values of its properties.
    Object {
        /// A name of the service.
        service: String,
        /// The path of the object.
        path: String,
    },
    /// The value of a property.
    Get {
        /// The property.
        property: PropertyName,
    },
    /// Sets a property.
    Set {
        /// The property.
        property: PropertyName,
        /// The type of the value; without it the object is asked first.
        signature: Option<String>,
        /// The value.
        value: Json,
        /// How the call is made.
        #[serde(default)]
        manner: CallSettings,
    },
    /// Calls a method.
    Call {
        /// The call.
        call: ObjectCall,
        /// How the call is made.
        #[serde(default)]
        manner: CallSettings,
    },
    /// Reads arguments from a GVariant text. Nothing is sent to the bus.
    Read {
        /// The types of the arguments.
        signature: String,
        /// The text.
        text: String,
    },
    /// Writes arguments as a GVariant text. Nothing is sent to the bus.
    Write {
        /// The types of the arguments.
        signature: String,
        /// The arguments.
        arguments: Vec<Json>,
    },
    /// Commands that make a call. Nothing is sent to the bus.
    Commands {
        /// The call.
        call: ObjectCall,
    },
    /// Parses a signature. Nothing is sent to the bus.
    Types {
        /// The text, which need not be a signature.
        signature: String,
    },
}

/// The answer to a [`BusRequest`], under the name of the request.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BusAnswer {
    /// All names.
    Names(Vec<Name>),
    /// The name; `None` if it has no owner and cannot be activated.
    Name(Option<Box<Name>>),
    /// The objects.
    Tree(Tree),
    /// The object.
    Object(InspectedObject),
    /// The answer to the call of Get.
    Get(CallAnswer),
    /// The answer to the call of Set.
    Set(CallAnswer),
    /// The answer to the call.
    Call(CallAnswer),
    /// The arguments, or what is wrong with the text.
    Read(ReadText),
    /// The text.
    Write(String),
    /// The commands.
    Commands(CallCommands),
    /// The types; `None` if the text is not a signature.
    Types(Option<Vec<ValueType>>),
}

/// Commands that make a call.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct CallCommands {
    /// With busctl.
    busctl: String,
    /// With gdbus.
    gdbus: String,
}

/// What the page gets: an answer with all types that it mentions, or why there is none.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Reply{T}"))]
#[serde(untagged)]
pub(crate) enum PageReply<T> {
    /// There is an answer.
    Answered {
        /// The answer.
        answer: T,
        /// All types that it mentions.
        types: TypeTable,
    },
    /// There is none.
    Failed {
        /// The reason, as a sentence.
        failure: String,
    },
}

/// A bus that requests are for.
#[derive(Debug)]
pub(crate) struct PageBus {
    place: BusPlace,
    calls: CallPermission,
    queue: Arc<RequestQueue>,
    listeners: Arc<Mutex<HashMap<String, std::sync::mpsc::Sender<Watched>>>>,
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
    /// Threads that wait for a request.
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
        Self { place, calls, queue: Arc::default(), listeners: Arc::default() }
    }

    pub(crate) const fn calls(&self) -> CallPermission {
        self.calls
    }

    /// Changes what the watch with this name reports; false if there is no such watch.
    pub(crate) fn turn(&self, name: &str, watched: Watched) -> bool {
        lock(&self.listeners).get(name).is_some_and(|turn| turn.send(watched).is_ok())
    }

    /// Serves a request.
    pub(crate) async fn reply(&self, request: BusRequest) -> PageReply<BusAnswer> {
        if request.changes_something() && self.calls == CallPermission::Refused {
            return PageReply::failed(NOT_ALLOWED);
        }
        let (reply, replied) = oneshot::channel();
        self.add(QueuedRequest { request, reply });
        replied.await.unwrap_or_else(|_| PageReply::failed("the connection to the bus has ended"))
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

    /// Watches the bus: a line of JSON for each event ([`watch`](crate::watch)), until the body is
    /// dropped. What the watch reports can be changed under its `name`.
    pub(crate) fn watch(&self, name: String, watched: Watched) -> Result<Body, WatchRefusal> {
        let (lines, taken) = mpsc::channel(LINES_MAX);
        let (turn, turns) = std::sync::mpsc::channel();
        {
            let mut listeners = lock(&self.listeners);
            if listeners.contains_key(&name) {
                return Err(WatchRefusal::NameTaken);
            }
            if listeners.len() >= WATCHES_MAX {
                return Err(WatchRefusal::TooMany);
            }
            listeners.insert(name.clone(), turn);
        }
        let (place, listeners) = (self.place.clone(), Arc::clone(&self.listeners));
        thread::spawn(move || {
            if let Err(failure) = watch::listen(&place, watched, &turns, &lines) {
                let reply = PageReply::<WatchEvent>::failed(&failure.to_string());
                let _ = lines.blocking_send(reply.to_line());
            }
            lock(&listeners).remove(&name);
        });
        Ok(Body::from_stream(stream::unfold(taken, |mut taken| async move {
            let line = taken.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(line), taken))
        })))
    }
}

/// Why a page cannot watch the bus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WatchRefusal {
    /// As many as possible watch already.
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

    /// Serves requests until none has come for a while.
    fn serve(&self, place: &BusPlace) {
        let mut inspector = None;
        while let Some(QueuedRequest { request, reply }) = self.next() {
            let served = serve(&mut inspector, place, request);
            // The page may be closed by now.
            let _ = reply.send(served.unwrap_or_else(|reason| PageReply::failed(&reason)));
        }
    }

    /// The next request; `None` if none has come for a while.
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
    // A connection that has ended cannot be used again.
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
            Self::Set { property, signature, value, manner } => {
                let answer = inspector.set(&property, signature.as_deref(), &value, &manner)?;
                BusAnswer::Set(with_types(answer, &mut types))
            }
            Self::Call { call, manner } => {
                BusAnswer::Call(with_types(inspector.call(&call, &manner)?, &mut types))
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
    /// If the arguments are not of the types of the call.
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

    /// The reply as one line, with its end.
    pub(crate) fn to_line(&self) -> Bytes {
        Bytes::from(self.to_json() + "\n")
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

const NOT_ALLOWED: &str =
    "this page may not call methods or set properties: start `diligence` with --allow-calls";

/// Pages that watch the bus at the same time. Each takes a thread and a connection to the bus.
const WATCHES_MAX: usize = 32;

/// Connections that serve requests at the same time.
const THREADS_MAX: usize = 8;

/// How long an idle connection is kept.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// Events that wait until the page reads them.
const LINES_MAX: usize = 256;
