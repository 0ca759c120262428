//! What an object has, with names that a language can have: what code is written from.

mod build;

use inspector::introspection::{EmitsChange, PropertyAccess};
use serde::{Deserialize, Serialize, Serializer};
use wire::signature::Type;

pub(super) use build::proxies;

/// What a language has and has not.
pub(super) struct LanguageRules {
    /// Lists of words, with blanks between them, that cannot be names of arguments.
    pub(super) of_arguments: &'static [&'static str],
    /// The same for members.
    pub(super) of_members: &'static [&'static str],
    /// The same for types.
    pub(super) of_types: &'static [&'static str],
    /// What names of results begin with.
    pub(super) result: &'static str,
    /// All that is made of the name of an argument.
    pub(super) made_of_argument: fn(&str) -> Vec<String>,
    /// All that is made of the name of a member of the type that is called so.
    pub(super) made: fn(&str, Generated<'_>, &str) -> Vec<String>,
    /// Where the names of members must differ.
    pub(super) scope: NameScope,
    /// Why a member cannot be had, if it cannot.
    pub(super) refused: fn(&MemberTypes<'_>) -> Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameScope {
    Interface,
    File,
}

/// What is generated for a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Generated<'a> {
    Method,
    /// What reads a property, if it can be read.
    Getter(PropertyAccess),
    /// What sets a property, if it can be set.
    Setter(PropertyAccess),
    Signal(&'a str),
}

/// The types of a member, for the decision whether a language can have it.
pub(super) struct MemberTypes<'a> {
    pub(super) kind: Generated<'a>,
    pub(super) arguments: &'a [Type<'a>],
    pub(super) results: &'a [Type<'a>],
}

/// Where the interfaces were found.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProxySource<'a> {
    pub(super) service: &'a str,
    pub(super) path: &'a str,
}

impl ProxySource<'_> {
    /// What the file begins with, a line each.
    pub(super) fn heading(&self) -> impl Iterator<Item = String> {
        let Self { service, path } = self;
        [
            format!("What {path} of {service} has, as it says itself."),
            String::from("Made by `diligence introspect --code`; a beginning, yours to change."),
        ]
        .into_iter()
    }
}

/// An interface.
#[derive(Debug, Serialize)]
pub(super) struct InterfaceModel<'d> {
    /// Its name on the bus.
    pub(super) interface: &'d str,
    /// What its type is called.
    pub(super) name: String,
    pub(super) methods: Vec<MethodModel<'d>>,
    pub(super) properties: Vec<PropertyModel<'d>>,
    pub(super) signals: Vec<SignalModel<'d>>,
    /// A line for each member that cannot be had.
    pub(super) left_out: Vec<String>,
    /// Whether the object announces changes of one of its properties.
    pub(super) announces_changes: bool,
    pub(super) about: MemberNotes,
}

/// A method.
#[derive(Debug, Serialize)]
pub(super) struct MethodModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    pub(super) arguments: Vec<ArgumentModel<'d>>,
    pub(super) results: Vec<ArgumentModel<'d>>,
    /// Whether it answers.
    pub(super) answer: ReplyModel,
    /// `Play(s song) -> (u length)`
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ReplyModel {
    Comes,
    None,
}

/// A property.
#[derive(Debug, Serialize)]
pub(super) struct PropertyModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    /// The name of what sets it, as far as the language has it otherwise.
    pub(super) setter: String,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Type<'d>,
    pub(super) access: PropertyAccess,
    pub(super) emits_change: EmitsChange,
    /// `Volume: d; it never changes`
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

/// A signal.
#[derive(Debug, Serialize)]
pub(super) struct SignalModel<'d> {
    pub(super) member: &'d str,
    pub(super) name: String,
    pub(super) arguments: Vec<ArgumentModel<'d>>,
    /// `Played(s song)`
    pub(super) declared: String,
    pub(super) about: MemberNotes,
}

/// An argument or result.
#[derive(Debug, Serialize)]
pub(super) struct ArgumentModel<'d> {
    pub(super) name: String,
    /// As the object calls it.
    told: Option<&'d str>,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Type<'d>,
}

fn as_text<S: Serializer>(kind: &Type<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(kind)
}

/// What is said for people.
#[derive(Debug, Serialize)]
pub(super) struct MemberNotes {
    /// The lines of the documentation, safe for a comment.
    pub(super) documentation: Option<Vec<String>>,
    pub(super) is_deprecated: bool,
}

/// The types of arguments, one behind the other.
pub(super) fn signature(arguments: &[ArgumentModel<'_>]) -> String {
    arguments.iter().map(|argument| argument.kind.to_string()).collect()
}

fn declared(arguments: &[ArgumentModel<'_>]) -> String {
    let all = arguments.iter().map(|argument| match argument.told {
        Some(told) => format!("{} {told}", argument.kind),
        None => argument.kind.to_string(),
    });
    all.collect::<Vec<_>>().join(", ")
}

/// Whether a type is in another, or is it.
pub(super) fn contains(kind: Type<'_>, wanted: for<'a> fn(Type<'a>) -> bool) -> bool {
    let (Type::Array(inside) | Type::Struct(inside) | Type::DictEntry(inside)) = kind else {
        return wanted(kind);
    };
    wanted(kind) || inside.types().any(|kind| contains(kind, wanted))
}
