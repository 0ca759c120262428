//! What a word stands for that no definition of a command tells: services, objects, members, queries.

use clap::Arg;

use super::walk::LinePosition;

/// What a word can be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// Something that the bus is asked for.
    Live(BusQuestion),
    /// A part of a query.
    Query,
    /// A rule of `lint`.
    Rule,
}

/// What the bus is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BusQuestion {
    /// A name.
    Name(OfferedNames),
    /// A path, of an object of this service, or of any.
    Path { service: Option<String> },
    /// An interface of an object.
    Interface(CompletedObject),
    /// An interface, a member, or an argument of it.
    Member {
        /// Whose.
        object: CompletedObject,
        /// Of which kind.
        kind: CompletedMemberKind,
        /// How it can be written.
        spelling: Spelling,
        /// What was said of it already.
        words: Vec<String>,
    },
}

/// Which names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfferedNames {
    /// Of whom somebody can ask something: who is there, and who can be started.
    All,
    /// Who can be started.
    Startable,
}

/// Which object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CompletedObject {
    /// Its service; `None` for those of all that run.
    pub service: Option<String>,
    /// Its path.
    pub path: String,
}

/// The kinds of members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompletedMemberKind {
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

impl CompletedObject {
    fn of(service: &str, path: &str) -> Self {
        Self { service: Some(service.to_owned()), path: path.to_owned() }
    }
}

/// What the next word can be, of which so much is written.
pub(super) fn of_word(standing: &LinePosition<'_>, written: &str) -> Vec<Meaning> {
    let words = &standing.words;
    let question = match (standing.command.get_name(), words.as_slice()) {
        ("call", _) => return call(standing),
        ("get", words) => object_of(words, CompletedMemberKind::Readable),
        ("set", words) => object_of(words, CompletedMemberKind::Writable),
        ("introspect", [service, path]) => {
            BusQuestion::Interface(CompletedObject::of(service, path))
        }
        ("introspect", words @ ([] | [_])) => object_of(words, CompletedMemberKind::Method),
        ("emit", []) => BusQuestion::Path { service: None },
        ("wait", []) if written.starts_with('/') => BusQuestion::Path { service: None },
        ("emit", [path, words @ ..]) => signal(None, path, CompletedMemberKind::Signal, words),
        ("wait", [path, words @ ..]) if path.starts_with('/') => {
            signal(None, path, CompletedMemberKind::Awaited, words)
        }
        ("wait", [service]) => BusQuestion::Path { service: Some((*service).to_owned()) },
        ("wait", [service, path, words @ ..]) => {
            signal(Some(service), path, CompletedMemberKind::Awaited, words)
        }
        ("start", []) => BusQuestion::Name(OfferedNames::Startable),
        ("wait" | "own" | "status", []) | ("tree", _) => BusQuestion::Name(OfferedNames::All),
        ("monitor", _) => {
            return vec![Meaning::Live(BusQuestion::Name(OfferedNames::All)), Meaning::Query];
        }
        ("top", _) | ("show", [_, ..]) | ("diff", [_, _, ..]) => return vec![Meaning::Query],
        _ => return Vec::new(),
    };
    vec![Meaning::Live(question)]
}

/// What the value of an option can be.
pub(super) fn of_value(standing: &LinePosition<'_>, option: &Arg) -> Vec<Meaning> {
    let slots = Slots::of(standing);
    let question = match (standing.command.get_name(), option.get_id().as_str()) {
        ("call" | "introspect", "dest") | ("emit", "destination") => {
            BusQuestion::Name(OfferedNames::All)
        }
        ("wait", "activate") => BusQuestion::Name(OfferedNames::Startable),
        ("call" | "introspect", "object_path") => BusQuestion::Path { service: slots.service },
        ("call", "method") => match slots.object() {
            Some(object) => member(object, CompletedMemberKind::Method, Spelling::OneWord, &[]),
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
    fn of(standing: &LinePosition<'_>) -> Self {
        let mut words = standing.words.iter().copied();
        let mut slot = |id| standing.value(id).or_else(|| words.next()).map(str::to_owned);
        let (service, path) = (slot("dest"), slot("object_path"));
        let method = standing.value("method").into_iter();
        Self { service, path, rest: method.chain(words).map(str::to_owned).collect() }
    }

    fn object(&self) -> Option<CompletedObject> {
        let path = self.path.clone()?;
        Some(CompletedObject { service: self.service.clone(), path })
    }
}

fn call(standing: &LinePosition<'_>) -> Vec<Meaning> {
    let slots = Slots::of(standing);
    let question = match (&slots.service, slots.object()) {
        (None, _) => BusQuestion::Name(OfferedNames::All),
        (service, None) => BusQuestion::Path { service: service.clone() },
        (_, Some(object)) => BusQuestion::Member {
            object,
            kind: CompletedMemberKind::Method,
            spelling: Spelling::Any,
            words: slots.rest,
        },
    };
    vec![Meaning::Live(question)]
}

/// `SERVICE PATH WORD...`
fn object_of(words: &[&str], kind: CompletedMemberKind) -> BusQuestion {
    match words {
        [] => BusQuestion::Name(OfferedNames::All),
        [service] => BusQuestion::Path { service: Some((*service).to_owned()) },
        [service, path, rest @ ..] => {
            member(CompletedObject::of(service, path), kind, Spelling::Any, rest)
        }
    }
}

fn signal(
    service: Option<&str>,
    path: &str,
    kind: CompletedMemberKind,
    words: &[&str],
) -> BusQuestion {
    let object = CompletedObject { service: service.map(str::to_owned), path: path.to_owned() };
    member(object, kind, Spelling::WithInterface, words)
}

fn member(
    object: CompletedObject,
    kind: CompletedMemberKind,
    spelling: Spelling,
    words: &[&str],
) -> BusQuestion {
    let words = words.iter().map(|&word| word.to_owned()).collect();
    BusQuestion::Member { object, kind, spelling, words }
}
