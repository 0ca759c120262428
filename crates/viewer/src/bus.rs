//! What the page asks of a running bus, and has done there.
//!
//! A connection serves one question at a time, so there are a few, each in a thread of its own. They
//! come when they are needed and go when nobody has asked for a while: somebody who looks at the traffic
//! sees them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, thread};

use axum::body::{Body, Bytes};
use futures_util::stream;
use inspector::{Call, Failure, Inspector, Manner, PropertyName, TreeOptions};
use recorder::Place;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::arguments;
use crate::watch::{self, Watched};

/// Whether the page may call methods, and set properties.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Calls {
    /// It may not.
    #[default]
    Refused,
    /// It may.
    Allowed,
}

/// A question, or something to be done.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum Wish {
    /// All names.
    Names,
    /// One name.
    Name { name: String },
    /// The objects of a service.
    Tree { service: String },
    /// What an object has, with the values of its properties.
    Object { service: String, path: String },
    /// The value of a property.
    Get { property: PropertyName },
    /// Sets a property.
    Set {
        property: PropertyName,
        signature: Option<String>,
        value: Value,
        #[serde(default)]
        manner: Manner,
    },
    /// Calls a method.
    Call {
        call: Call,
        #[serde(default)]
        manner: Manner,
    },
    /// Reads the arguments of a call that somebody types. Nothing is sent.
    Read { signature: String, text: String },
}

/// A bus that is asked.
#[derive(Debug)]
pub(crate) struct Bus {
    place: Place,
    calls: Calls,
    desk: Arc<Desk>,
    listeners: Arc<Mutex<HashMap<String, std::sync::mpsc::Sender<Watched>>>>,
}

/// Where wishes wait for who fulfils them.
#[derive(Debug, Default)]
struct Desk {
    queue: Mutex<Queue>,
    comes: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Job>,
    /// Threads that have nothing to do.
    idle: usize,
    threads: usize,
}

#[derive(Debug)]
struct Job {
    wish: Wish,
    answer: oneshot::Sender<Value>,
}

impl Bus {
    pub(crate) fn new(place: Place, calls: Calls) -> Self {
        Self { place, calls, desk: Arc::default(), listeners: Arc::default() }
    }

    pub(crate) const fn calls(&self) -> Calls {
        self.calls
    }

    /// Turns what hears the bus under this name to something else; false if nothing does.
    pub(crate) fn turn(&self, name: &str, watched: Watched) -> bool {
        lock(&self.listeners).get(name).is_some_and(|turn| turn.send(watched).is_ok())
    }

    /// What is told to a wish: under `answer` what was found or done, or under `failure` why not.
    pub(crate) async fn fulfil(&self, wish: Wish) -> Value {
        if wish.changes_something() && self.calls == Calls::Refused {
            return failed(NOT_ALLOWED);
        }
        let (answer, answered) = oneshot::channel();
        self.hand_in(Job { wish, answer });
        answered.await.unwrap_or_else(|_| failed("the connection to the bus has ended"))
    }

    fn hand_in(&self, job: Job) {
        let mut queue = self.desk.lock();
        queue.jobs.push_back(job);
        if queue.idle < queue.jobs.len() && queue.threads < THREADS_MAX {
            queue.threads += 1;
            let (desk, place) = (Arc::clone(&self.desk), self.place.clone());
            thread::spawn(move || desk.serve(&place));
        }
        self.desk.comes.notify_one();
    }

    /// What is heard of the bus, a line of JSON each ([`watch`](crate::watch)), for as long as
    /// somebody reads them. Under `name` it can be turned to something else.
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
                let _ = lines.blocking_send(line(&failed(&failure.to_string())));
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

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        lock(&self.queue)
    }

    /// Fulfils wishes until none has come for a while.
    fn serve(&self, place: &Place) {
        let mut inspector = None;
        while let Some(Job { wish, answer }) = self.next() {
            let told = fulfil(&mut inspector, place, wish);
            // Who has asked may have gone.
            let _ = answer.send(told.unwrap_or_else(|why| failed(&why)));
        }
    }

    /// The next wish; `None` if none has come for a while.
    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        queue.idle += 1;
        let is_empty = |queue: &mut Queue| queue.jobs.is_empty();
        let waited = self.comes.wait_timeout_while(queue, IDLE_MAX, is_empty);
        (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
        let job = queue.jobs.pop_front();
        if job.is_none() {
            queue.threads -= 1;
        }
        job
    }
}

fn fulfil(kept: &mut Option<Inspector>, place: &Place, wish: Wish) -> Result<Value, String> {
    let inspector = match kept.take() {
        Some(inspector) => inspector,
        None => Inspector::new(place.connect().map_err(|error| error.to_string())?),
    };
    let told = wish.act(&inspector);
    // A connection that has ended is good for nothing more.
    if inspector.connection().ended().is_none() {
        *kept = Some(inspector);
    }
    told.map_err(|failure| failure.to_string())
}

impl Wish {
    const fn changes_something(&self) -> bool {
        match self {
            Self::Set { .. } | Self::Call { .. } => true,
            Self::Names
            | Self::Name { .. }
            | Self::Tree { .. }
            | Self::Object { .. }
            | Self::Get { .. }
            | Self::Read { .. } => false,
        }
    }

    fn act(self, inspector: &Inspector) -> Result<Value, Failure> {
        Ok(match self {
            Self::Names => answered(&inspector.names()?),
            Self::Name { name } => answered(&inspector.name(&name)?),
            Self::Tree { service } => answered(&inspector.tree(&service, &TreeOptions::default())?),
            Self::Object { service, path } => answered(&inspector.object(&service, &path)?),
            Self::Get { property } => answered(&inspector.get(&property, &Manner::default())?),
            Self::Set { property, signature, value, manner } => {
                answered(&inspector.set(&property, signature.as_deref(), &value, &manner)?)
            }
            Self::Call { call, manner } => answered(&inspector.call(&call, &manner)?),
            Self::Read { signature, text } => answered(&arguments::read(&signature, &text)),
        })
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

pub(crate) fn answered(found: &impl Serialize) -> Value {
    json!({ "answer": found })
}

fn failed(why: &str) -> Value {
    json!({ "failure": why })
}

const NOT_ALLOWED: &str =
    "this page may not call methods or set properties: start `diligence` with --allow-calls";

/// Pages that watch the bus at the same time. Each takes a thread and a connection to the bus.
const WATCHES_MAX: usize = 32;

/// Connections that ask at once.
const THREADS_MAX: usize = 8;

/// How long a connection stays of which nothing is asked.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// Signals that wait for who reads them.
const LINES_MAX: usize = 256;
