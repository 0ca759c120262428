//! What a word stands for that no definition of a command tells: services, objects, members, queries.

use clap::Arg;

use super::walk::Standing;

/// What a word can be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// Something that the bus is asked for.
    Live(Question),
    /// A part of a query.
    Query,
    /// A rule of `lint`.
    Rule,
}

/// What the bus is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// A name.
    Name(Names),
    /// A path, of an object of this service, or of any.
    Path { service: Option<String> },
    /// An interface of an object.
    Interface(Object),
    /// An interface, a member, or an argument of it.
    Member {
        /// Whose.
        object: Object,
        /// Of which kind.
        kind: Kind,
        /// How it can be written.
        spelling: Spelling,
        /// What was said of it already.
        words: Vec<String>,
    },
}

/// Which names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Names {
    /// Of whom somebody can ask something: who is there, and who can be started.
    All,
    /// Who can be started.
    Startable,
}

/// Which object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Object {
    /// Its service; `None` for those of all that run.
    pub service: Option<String>,
    /// Its path.
    pub path: String,
}

/// The kinds of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Method,
    /// A property that can be read.
    Readable,
    /// A property that can be set.
    Writable,
    Signal,
    /// A signal that is waited for, with whatever arguments.
    Awaited,
}

/// How a member can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spelling {
    /// `INTERFACE MEMBER`, `INTERFACE.MEMBER` or `MEMBER`.
    Any,
    /// With its interface, in one word or two.
    WithInterface,
    /// `INTERFACE.MEMBER`.
    OneWord,
}

impl Object {
    fn of(service: &str, path: &str) -> Self {
        Self { service: Some(service.to_owned()), path: path.to_owned() }
    }
}

/// What the next word can be, of which so much is written.
pub(super) fn of_word(standing: &Standing<'_>, written: &str) -> Vec<Meaning> {
    let words = &standing.words;
    let question = match (standing.command.get_name(), words.as_slice()) {
        ("call", _) => return call(standing),
        ("get", words) => object_of(words, Kind::Readable),
        ("set", words) => object_of(words, Kind::Writable),
        ("introspect", [service, path]) => Question::Interface(Object::of(service, path)),
        ("introspect", words @ ([] | [_])) => object_of(words, Kind::Method),
        ("emit", []) => Question::Path { service: None },
        ("wait", []) if written.starts_with('/') => Question::Path { service: None },
        ("emit", [path, words @ ..]) => signal(None, path, Kind::Signal, words),
        ("wait", [path, words @ ..]) if path.starts_with('/') => {
            signal(None, path, Kind::Awaited, words)
        }
        ("wait", [service]) => Question::Path { service: Some((*service).to_owned()) },
        ("wait", [service, path, words @ ..]) => signal(Some(service), path, Kind::Awaited, words),
        ("start", []) => Question::Name(Names::Startable),
        ("wait" | "own" | "status", []) | ("tree", _) => Question::Name(Names::All),
        ("monitor", _) => {
            return vec![Meaning::Live(Question::Name(Names::All)), Meaning::Query];
        }
        ("top", _) | ("show", [_, ..]) | ("diff", [_, _, ..]) => return vec![Meaning::Query],
        _ => return Vec::new(),
    };
    vec![Meaning::Live(question)]
}

/// What the value of an option can be.
pub(super) fn of_value(standing: &Standing<'_>, option: &Arg) -> Vec<Meaning> {
    let slots = Slots::of(standing);
    let question = match (standing.command.get_name(), option.get_id().as_str()) {
        ("call" | "introspect", "dest") | ("emit", "destination") => Question::Name(Names::All),
        ("wait", "activate") => Question::Name(Names::Startable),
        ("call" | "introspect", "object_path") => Question::Path { service: slots.service },
        ("call", "method") => match slots.object() {
            Some(object) => member(object, Kind::Method, Spelling::OneWord, &[]),
            None => return Vec::new(),
        },
        ("lint", "rules" | "explain") => return vec![Meaning::Rule],
        ("record", "trigger") => return vec![Meaning::Query],
        _ => return Vec::new(),
    };
    vec![Meaning::Live(question)]
}

/// What `call` is told of what is to be called: by its words, or by the options that other tools have
/// for the first of them.
struct Slots {
    service: Option<String>,
    path: Option<String>,
    rest: Vec<String>,
}

impl Slots {
    fn of(standing: &Standing<'_>) -> Self {
        let mut words = standing.words.iter().copied();
        let mut slot = |id| standing.value(id).or_else(|| words.next()).map(str::to_owned);
        let (service, path) = (slot("dest"), slot("object_path"));
        let method = standing.value("method").into_iter();
        Self { service, path, rest: method.chain(words).map(str::to_owned).collect() }
    }

    fn object(&self) -> Option<Object> {
        let path = self.path.clone()?;
        Some(Object { service: self.service.clone(), path })
    }
}

fn call(standing: &Standing<'_>) -> Vec<Meaning> {
    let slots = Slots::of(standing);
    let question = match (&slots.service, slots.object()) {
        (None, _) => Question::Name(Names::All),
        (service, None) => Question::Path { service: service.clone() },
        (_, Some(object)) => Question::Member {
            object,
            kind: Kind::Method,
            spelling: Spelling::Any,
            words: slots.rest,
        },
    };
    vec![Meaning::Live(question)]
}

/// `SERVICE PATH WORD...`
fn object_of(words: &[&str], kind: Kind) -> Question {
    match words {
        [] => Question::Name(Names::All),
        [service] => Question::Path { service: Some((*service).to_owned()) },
        [service, path, rest @ ..] => member(Object::of(service, path), kind, Spelling::Any, rest),
    }
}

fn signal(service: Option<&str>, path: &str, kind: Kind, words: &[&str]) -> Question {
    let object = Object { service: service.map(str::to_owned), path: path.to_owned() };
    member(object, kind, Spelling::WithInterface, words)
}

fn member(object: Object, kind: Kind, spelling: Spelling, words: &[&str]) -> Question {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    Question::Member { object, kind, spelling, words }
}
