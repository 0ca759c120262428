//! The meaning of words that the command definitions do not describe: services, objects, members
//! and queries.

use clap::Arg;

use super::walk::LinePosition;

/// The possible meanings of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A word that only the bus can complete.
    Live(BusQuestion),
    /// A part of a query.
    Query,
    /// The name of a rule of `lint`.
    Rule,
}

/// A question to the bus, whose answers are completions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum BusQuestion {
    /// The name of a connection or service.
    Name(OfferedNames),
    /// The path of an object of this service, or of any running service.
    Path { service: Option<String> },
    /// An interface of an object.
    Interface(CompletedObject),
    /// An interface, a member, or an argument of the member.
    Member {
        /// The object that has the member.
        object: CompletedObject,
        /// The kind of the member.
        kind: CompletedMemberKind,
        /// The spellings that the command accepts.
        spelling: Spelling,
        /// The words after the object that are already given.
        words: Vec<String>,
    },
}

/// The names to offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OfferedNames {
    /// All names that can be called: names with an owner and activatable names.
    All,
    /// Names of activatable services.
    Activatable,
}

/// The object that a command line names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CompletedObject {
    /// The service; `None` means all running services.
    pub service: Option<String>,
    /// The path of the object.
    pub path: String,
}

/// The kinds of members, and what the command does with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CompletedMemberKind {
    Method,
    /// A property that can be read.
    Readable,
    /// A property that can be set.
    Writable,
    Signal,
    /// A signal to wait for, which takes no arguments on the command line.
    Awaited,
}

/// The accepted spellings of a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spelling {
    /// `INTERFACE MEMBER`, `INTERFACE.MEMBER` or `MEMBER`.
    Any,
    /// The interface and the member, in one word or two.
    WithInterface,
    /// `INTERFACE.MEMBER` in one word.
    OneWord,
}

impl CompletedObject {
    fn of(service: &str, path: &str) -> Self {
        Self { service: Some(service.to_owned()), path: path.to_owned() }
    }
}

/// Returns the possible meanings of the next word, which begins with `written`.
pub(super) fn of_word(position: &LinePosition<'_>, written: &str) -> Vec<Meaning> {
    let words = &position.words;
    let question = match (position.command.get_name(), words.as_slice()) {
        ("call", _) => return call(position),
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
        ("start", []) => BusQuestion::Name(OfferedNames::Activatable),
        ("wait" | "own" | "status", []) | ("tree", _) => BusQuestion::Name(OfferedNames::All),
        ("monitor", _) => {
            return vec![Meaning::Live(BusQuestion::Name(OfferedNames::All)), Meaning::Query];
        }
        ("top", _) | ("show", [_, ..]) | ("diff", [_, _, ..]) => return vec![Meaning::Query],
        _ => return Vec::new(),
    };
    vec![Meaning::Live(question)]
}

/// Returns the possible meanings of the value of an option.
pub(super) fn of_value(position: &LinePosition<'_>, option: &Arg) -> Vec<Meaning> {
    let slots = CalleeWords::of(position);
    let question = match (position.command.get_name(), option.get_id().as_str()) {
        ("call" | "introspect", "dest") | ("emit", "destination") => {
            BusQuestion::Name(OfferedNames::All)
        }
        ("wait", "activate") => BusQuestion::Name(OfferedNames::Activatable),
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

/// The callee in the words of `call`. Options with the names of other tools can replace the first
/// words.
struct CalleeWords {
    service: Option<String>,
    path: Option<String>,
    rest: Vec<String>,
}

impl CalleeWords {
    fn of(position: &LinePosition<'_>) -> Self {
        let mut words = position.words.iter().copied();
        let mut slot = |id| position.value(id).or_else(|| words.next()).map(str::to_owned);
        let (service, path) = (slot("dest"), slot("object_path"));
        let method = position.value("method").into_iter();
        Self { service, path, rest: method.chain(words).map(str::to_owned).collect() }
    }

    fn object(&self) -> Option<CompletedObject> {
        let path = self.path.clone()?;
        Some(CompletedObject { service: self.service.clone(), path })
    }
}

fn call(position: &LinePosition<'_>) -> Vec<Meaning> {
    let slots = CalleeWords::of(position);
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

/// Returns the question for the next word of `SERVICE PATH WORD...`.
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
