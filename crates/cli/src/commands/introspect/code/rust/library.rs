//! The differences between the libraries for which Rust code is generated.

use wire::signature::Type;

use super::super::model::{InterfaceModel, ReplyModel};
use super::super::template::{MethodResults, TemplateValue};
use super::imports;
use super::types::{LibraryTypes, OF_DILIGENCE, OF_ZBUS, has_inner_descriptor};

/// A library with an attribute macro `proxy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RustLibrary {
    Diligence,
    Zbus,
}

impl RustLibrary {
    /// The name and version for the comment at the start of the file.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Diligence => concat!("diligence-client ", env!("CARGO_PKG_VERSION")),
            Self::Zbus => "zbus 6",
        }
    }

    pub(super) const fn crate_name(self) -> &'static str {
        match self {
            Self::Diligence => "diligence_client",
            Self::Zbus => "zbus",
        }
    }

    pub(super) const fn types(self) -> &'static LibraryTypes {
        match self {
            Self::Diligence => &OF_DILIGENCE,
            Self::Zbus => &OF_ZBUS,
        }
    }

    /// The lines that import the types in the code.
    pub(super) fn imports(self, code: &str) -> Vec<String> {
        match self {
            Self::Diligence => imports::of_diligence(code),
            Self::Zbus => imports::of_zbus(code),
        }
    }

    /// The attribute of a member; empty if it needs none.
    pub(super) fn mark(self, role: &str, options: &[String]) -> String {
        let options = options.join(", ");
        match (self, role, options.as_str()) {
            (_, "method", "") => String::new(),
            (Self::Zbus, "method", options) => format!("#[zbus({options})]"),
            (Self::Zbus, role, options) if options.starts_with('(') => {
                format!("#[zbus({role}{options})]")
            }
            (Self::Zbus, role, "") => format!("#[zbus({role})]"),
            (Self::Zbus, role, options) => format!("#[zbus({role}, {options})]"),
            (Self::Diligence, role, "") => format!("#[{role}]"),
            (Self::Diligence, role, options) => format!("#[{role}({options})]"),
        }
    }

    /// The options for how changes of a property are announced, which only zbus uses.
    pub(super) fn change_option(self, emitted: &str) -> Vec<String> {
        let value = match (self, emitted) {
            (Self::Zbus, "invalidates" | "const") => emitted,
            (Self::Zbus, "no") => "false",
            _ => return Vec::new(),
        };
        vec![format!("(emits_changed_signal = \"{value}\")")]
    }

    /// The type that a function with this result returns.
    pub(super) fn returned(self, result: &str) -> String {
        match self {
            Self::Diligence => format!("Result<{result}, CallError>"),
            Self::Zbus => format!("zbus::Result<{result}>"),
        }
    }

    pub(super) fn signal_result(self) -> String {
        match self {
            Self::Diligence => String::new(),
            Self::Zbus => self.returned("()"),
        }
    }

    /// The type for all results of a method together.
    pub(super) fn results(self, method: &MethodResults) -> String {
        let results = match method.answer {
            ReplyModel::None => &[],
            ReplyModel::Comes => &method.results[..],
        };
        let types = self.types();
        let has_inner = results.iter().any(|one| has_inner_descriptor(one.kind()));
        match (self, results) {
            (_, []) => String::from("()"),
            // The descriptors are in the message.
            (Self::Diligence, _) if has_inner => String::from("ReceivedMessage"),
            // A tuple is several results, so a single struct is wrapped in a tuple.
            (_, [one]) if matches!(one.kind(), Type::Struct(_)) => {
                format!("({},)", types.owned(one.kind()))
            }
            (_, [one]) => self.result(one.kind()),
            (_, several) => {
                let all: Vec<_> = several.iter().map(|one| self.result(one.kind())).collect();
                format!("({})", all.join(", "))
            }
        }
    }

    fn result(self, kind: Type<'_>) -> String {
        match (self, kind) {
            (Self::Diligence, Type::UnixFd) => String::from("OwnedFd"),
            _ => self.types().owned(kind),
        }
    }

    /// The parameters of a method.
    pub(super) fn parameters(self, values: &[TemplateValue]) -> Vec<String> {
        let has_inner = values.iter().any(|one| has_inner_descriptor(one.kind()));
        let parameter = |one: &TemplateValue| match (self, one.kind()) {
            // If some descriptors are indexes, all are.
            (Self::Diligence, Type::UnixFd) if has_inner => format!("{}: UnixFd", one.name),
            (_, kind) => format!("{}: {}", one.name, self.types().parameter(kind)),
        };
        let mut parameters: Vec<_> = values.iter().map(parameter).collect();
        if has_inner && self == Self::Diligence {
            parameters.push(String::from("#[descriptors] descriptors: Vec<OwnedFd>"));
        }
        parameters
    }

    /// The type of the parameter of a setter.
    pub(super) fn property_parameter(self, kind: Type<'_>) -> String {
        match (self, kind) {
            (Self::Diligence, Type::UnixFd) => String::from("UnixFd"),
            _ => self.types().parameter(kind),
        }
    }

    pub(super) fn signal_arguments(self, values: &[TemplateValue]) -> Vec<String> {
        // zbus treats a single struct as several arguments, so it is wrapped in a tuple.
        let (start, end) = match (self, values) {
            (Self::Zbus, [one]) if matches!(one.kind(), Type::Struct(_)) => ("(", ",)"),
            _ => ("", ""),
        };
        let types = self.types();
        let shown = |one: &TemplateValue| {
            let kind = match self {
                Self::Diligence => types.owned(one.kind()),
                Self::Zbus => types.borrowed(one.kind()),
            };
            format!("{}: {start}{kind}{end}", one.name)
        };
        values.iter().map(shown).collect()
    }

    /// The names of all types that the macro generates for an interface.
    pub(super) fn generated_types(self, proxy: &InterfaceModel<'_>) -> Vec<String> {
        let name = &proxy.name;
        match self {
            Self::Diligence => {
                vec![
                    format!("{name}Proxy"),
                    format!("Async{name}Proxy"),
                    format!("{name}Properties"),
                ]
            }
            Self::Zbus => {
                let own = [name.clone(), format!("{name}Proxy")];
                let ends = ["", "Stream", "Args"];
                let of_signals = proxy
                    .signals
                    .iter()
                    .flat_map(move |signal| ends.map(|end| format!("{}{end}", signal.member)));
                own.into_iter().chain(of_signals).collect()
            }
        }
    }
}
