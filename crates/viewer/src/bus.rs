//! What the page asks of a running bus, and has done there.
//!
//! A connection serves one question at a time, so there are a few, each in a thread of its own. They
//! come when they are needed and go when nobody has asked for a while: somebody who looks at the traffic
//! sees them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use inspector::{Call, Failure, Inspector, Manner, PropertyName, TreeOptions};
use recorder::Place;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

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
}

/// A bus that is asked.
#[derive(Debug)]
pub(crate) struct Bus {
    place: Place,
    calls: Calls,
    desk: Arc<Desk>,
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
        Self { place, calls, desk: Arc::default() }
    }

    pub(crate) const fn calls(&self) -> Calls {
        self.calls
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

    /// The signals of an object, a line of JSON each, for as long as somebody reads them.
    pub(crate) fn watch(&self, service: String, path: String) -> Body {
        let (lines, taken) = mpsc::channel(LINES_MAX);
        let place = self.place.clone();
        thread::spawn(move || {
            if let Err(failure) = listen(&place, &service, &path, &lines) {
                let _ = lines.blocking_send(line(&failed(&failure.to_string())));
            }
        });
        Body::from_stream(stream::unfold(taken, |mut taken| async move {
            let line = taken.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(line), taken))
        }))
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
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
            Self::Names | Self::Tree { .. } | Self::Object { .. } | Self::Get { .. } => false,
        }
    }

    fn act(self, inspector: &Inspector) -> Result<Value, Failure> {
        Ok(match self {
            Self::Names => answered(&inspector.names()?),
            Self::Tree { service } => answered(&inspector.tree(&service, &TreeOptions::default())?),
            Self::Object { service, path } => answered(&inspector.object(&service, &path)?),
            Self::Get { property } => answered(&inspector.get(&property, &Manner::default())?),
            Self::Set { property, signature, value, manner } => {
                answered(&inspector.set(&property, signature.as_deref(), &value, &manner)?)
            }
            Self::Call { call, manner } => answered(&inspector.call(&call, &manner)?),
        })
    }
}

fn listen(
    place: &Place,
    service: &str,
    path: &str,
    lines: &mpsc::Sender<Bytes>,
) -> Result<(), Box<dyn std::error::Error>> {
    let inspector = Inspector::new(place.connect()?);
    let watch = inspector.watch(service, path)?;
    while !lines.is_closed() {
        if let Some(heard) = watch.next(Some(GONE_WITHIN))? {
            // Who reads too slowly hears of what was lost from the subscription itself.
            let _ = lines.blocking_send(line(&answered(&heard)));
        }
    }
    Ok(())
}

fn line(value: &Value) -> Bytes {
    Bytes::from(format!("{value}\n"))
}

fn answered(found: &impl Serialize) -> Value {
    json!({ "answer": found })
}

fn failed(why: &str) -> Value {
    json!({ "failure": why })
}

const NOT_ALLOWED: &str = "this page may not call methods: start `diligence` with --allow-calls";

/// Connections that ask at once.
const THREADS_MAX: usize = 8;

/// How long a connection stays of which nothing is asked.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// How soon it is noticed that nobody reads any more.
const GONE_WITHIN: Duration = Duration::from_millis(500);

/// Signals that wait for who reads them.
const LINES_MAX: usize = 256;
