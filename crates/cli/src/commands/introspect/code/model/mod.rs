//! The model from which code is rendered: interfaces and members with valid identifiers.
//!
//! Types of the model are serialized for the templates.

mod build;

use inspector::introspection::{EmitsChange, PropertyAccess};
use serde::{Deserialize, Serialize, Serializer};
use wire::signature::Type;

pub(super) use build::proxies;

/// The rules of a language for identifiers and types.
pub(super) struct LanguageRules {
    /// Words that cannot be names of arguments. Each string is a list that is separated by spaces.
    pub(super) of_arguments: &'static [&'static str],
    /// Words that cannot be names of members.
    pub(super) of_members: &'static [&'static str],
    /// Words that cannot be names of types.
    pub(super) of_types: &'static [&'static str],
    /// The prefix for the names of results.
    pub(super) result: &'static str,
    /// Returns all identifiers that the code derives from the name of an argument.
    pub(super) made_of_argument: fn(&str) -> Vec<String>,
    /// Returns all identifiers that the code derives from the name of a member; the first argument
    /// is the name of its type.
    pub(super) made: fn(&str, Generated<'_>, &str) -> Vec<String>,
    /// The scope in which the names of members must be unique.
    pub(super) scope: NameScope,
    /// Returns the reason if the language cannot express a member.
    pub(super) refused: fn(&MemberTypes<'_>) -> Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameScope {
    Interface,
    File,
}

/// The kinds of generated functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Generated<'a> {
    Method,
    /// The function that reads a property, if it is readable.
    Getter(PropertyAccess),
    /// The function that sets a property, if it is writable.
    Setter(PropertyAccess),
    Signal(&'a str),
}

/// The types of a member, from which a language decides whether it can express it.
pub(super) struct MemberTypes<'a> {
    pub(super) kind: Generated<'a>,
    pub(super) arguments: &'a [Type<'a>],
    pub(super) results: &'a [Type<'a>],
}

/// The object that was introspected.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProxySource<'a> {
    pub(super) service: &'a str,
    pub(super) path: &'a str,
}

impl ProxySource<'_> {
    /// The lines of the comment at the start of the file.
    pub(super) fn heading(&self) -> impl Iterator<Item = String> {
        let Self { service, path } = self;
        [
            format!("What {path} of {service} has, as it says itself."),
            String::from("Made by `diligence introspect --code`; a beginning, yours to change."),
        ]
        .into_iter()
    }
}

/// An interface and its members.
#[derive(Debug, Serialize)]
pub(super) struct InterfaceModel<'d> {
    /// The name of the interface on the bus.
    pub(super) interface: &'d str,
    /// The identifier of its type.
    pub(super) name: String,
    pub(super) methods: Vec<MethodModel<'d>>,
    pub(super) properties: Vec<PropertyModel<'d>>,
    pub(super) signals: Vec<SignalModel<'d>>,
    /// A line for each member that is left out.
    pub(super) left_out: Vec<String>,
    /// True if the object emits a signal when one of its properties changes.
    pub(super) announces_changes: bool,
    pub(super) about: MemberNotes,
}

/// A method and its identifiers.
#[derive(Debug, Serialize)]
pub(super) struct MethodModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    pub(super) arguments: Vec<ArgumentModel<'d>>,
    pub(super) results: Vec<ArgumentModel<'d>>,
    /// Says if the method replies to calls.
    pub(super) answer: ReplyModel,
    /// The declaration for comments: `Play(s song) -> (u length)`.
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReplyModel {
    Comes,
    None,
}

/// A property and its identifiers.
#[derive(Debug, Serialize)]
pub(super) struct PropertyModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    /// The identifier of the setter, without the prefix that the template adds.
    pub(super) setter: String,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Type<'d>,
    pub(super) access: PropertyAccess,
    pub(super) emits_change: EmitsChange,
    /// The declaration for comments: `Volume: d; it never changes`.
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

/// A signal and its identifiers.
#[derive(Debug, Serialize)]
pub(super) struct SignalModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    pub(super) arguments: Vec<ArgumentModel<'d>>,
    /// The declaration for comments: `Played(s song)`.
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

/// An argument or result of a member.
#[derive(Debug, Serialize)]
pub(super) struct ArgumentModel<'d> {
    pub(super) name: String,
    /// The name in the introspection data.
    declared_name: Option<&'d str>,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Type<'d>,
}

fn as_text<S: Serializer>(kind: &Type<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

/// Information for the comment of a member.
#[derive(Debug, Serialize)]
pub(super) struct MemberNotes {
    /// The lines of the documentation, safe for a comment.
    pub(super) documentation: Option<Vec<String>>,
    pub(super) is_deprecated: bool,
}

/// Concatenates the types of arguments.
pub(super) fn signature(arguments: &[ArgumentModel<'_>]) -> String {
    arguments.iter().map(|argument| argument.kind.to_string()).collect()
}

fn declared(arguments: &[ArgumentModel<'_>]) -> String {
    let all = arguments.iter().map(|argument| match argument.declared_name {
        Some(name) => format!("{} {name}", argument.kind),
        None => argument.kind.to_string(),
    });
    all.collect::<Vec<_>>().join(", ")
}

/// Returns true if a type is or contains a type that the function accepts.
pub(super) fn contains(kind: Type<'_>, wanted: for<'a> fn(Type<'a>) -> bool) -> bool {
    let (Type::Array(inside) | Type::Struct(inside) | Type::DictEntry(inside)) = kind else {
        return wanted(kind);
    };
    wanted(kind) || inside.types().any(|kind| contains(kind, wanted))
}
