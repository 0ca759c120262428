//! Conversion of introspection data to a model, by the rules of a language.

use inspector::introspection::{
    Annotation, Argument, EmitsChange, Interface, Method, Property, Signal,
};
use wire::names::{InterfaceName, MemberName};
use wire::signature::{Signature, Type};

use super::super::names::{Namespace, pascal, snake};
use super::super::text;
use super::{
    ArgumentModel, Generated, InterfaceModel, LanguageRules, MemberNotes, MemberTypes, MethodModel,
    NameScope, PropertyModel, ReplyModel, SignalModel, declared, signature,
};
use crate::commands::introspect::members::{DEPRECATED, NO_REPLY, is_true};

/// Returns the models of the interfaces, and a line for each interface that is left out.
pub(crate) fn proxies<'d>(
    interfaces: &'d [Interface],
    rules: &LanguageRules,
) -> (Vec<InterfaceModel<'d>>, Vec<String>) {
    let (mut types, mut members) =
        (Namespace::new(rules.of_types), Namespace::new(rules.of_members));
    let (mut proxies, mut left_out) = (Vec::<InterfaceModel<'d>>::new(), Vec::new());
    for interface in interfaces {
        let name = interface.name.as_str();
        if InterfaceName::new(name).is_err() {
            left_out.push(format!("interface {name}: not a valid interface name"));
        } else if proxies.iter().any(|known| known.interface == name) {
            left_out.push(format!("interface {name}: it is declared twice"));
        } else {
            let name = types.reserve_alone(&type_name(name, interfaces));
            if rules.scope == NameScope::Interface {
                members = Namespace::new(rules.of_members);
            }
            proxies.push(proxy(interface, name, rules, &mut members));
        }
    }
    (proxies, left_out)
}

/// The shortest end of an interface name that is unique among the interfaces.
fn type_name(name: &str, interfaces: &[Interface]) -> String {
    let elements: Vec<_> = name.split('.').collect();
    let tail = |count| elements[elements.len() - count..].join(".");
    let is_only = |tail: &String| {
        let others = interfaces.iter().filter(|other| other.name != name);
        others.into_iter().all(|other| !other.name.ends_with(&format!(".{tail}")))
    };
    let tail = (1..elements.len()).map(tail).find(is_only).unwrap_or_else(|| name.to_owned());
    pascal(&tail, "Unnamed")
}

fn proxy<'d>(
    interface: &'d Interface,
    name: String,
    rules: &LanguageRules,
    names: &mut Namespace,
) -> InterfaceModel<'d> {
    let mut builder = ModelBuilder { rules, of: &name, names, left_out: Vec::new() };
    let mut methods: Vec<MethodModel<'d>> = Vec::new();
    for method in &interface.methods {
        let is_same = |other: &MethodModel<'_>| {
            other.member == method.name && signature(&other.arguments) == method.signature()
        };
        if methods.iter().any(is_same) {
            builder.leave_out("method", &method.name, "it is declared twice");
        } else if let Some(modeled) = builder.method(method) {
            methods.push(modeled);
        }
    }
    let mut properties: Vec<PropertyModel<'d>> = Vec::new();
    for property in &interface.properties {
        if properties.iter().any(|other| other.member == property.name) {
            builder.leave_out("property", &property.name, "it is declared twice");
        } else if let Some(described) = builder.property(property) {
            properties.push(described);
        }
    }
    let mut signals: Vec<SignalModel<'d>> = Vec::new();
    for signal in &interface.signals {
        if signals.iter().any(|other| other.member == signal.name) {
            builder.leave_out("signal", &signal.name, "it is declared twice");
        } else if let Some(emitted) = builder.signal(signal) {
            signals.push(emitted);
        }
    }
    let about = about(&interface.documentation, &interface.annotations);
    let left_out = builder.left_out;
    let is_announced = |property: &PropertyModel<'_>| {
        matches!(property.emits_change, EmitsChange::Value | EmitsChange::Invalidates)
    };
    let announces_changes = properties.iter().any(is_announced);
    let interface = &interface.name;
    InterfaceModel {
        interface,
        name,
        methods,
        properties,
        signals,
        left_out,
        announces_changes,
        about,
    }
}

struct ModelBuilder<'r> {
    rules: &'r LanguageRules,
    /// The name of the generated type.
    of: &'r str,
    names: &'r mut Namespace,
    left_out: Vec<String>,
}

impl ModelBuilder<'_> {
    fn leave_out(&mut self, what: &str, name: &str, why: &str) {
        self.left_out.push(format!("{what} {name}: {why}"));
    }

    fn method<'d>(&mut self, method: &'d Method) -> Option<MethodModel<'d>> {
        let Method { name, annotations, documentation, .. } = method;
        let mut names = Namespace::new(self.rules.of_arguments);
        let result = self.rules.result;
        let answer =
            if is_true(annotations, NO_REPLY) { ReplyModel::None } else { ReplyModel::Comes };
        let (arguments, results) = (types(&method.arguments), types(&method.results));
        let (Some(arguments), Some(results)) = (arguments, results) else {
            self.leave_out("method", name, NOT_ONE_TYPE);
            return None;
        };
        self.check("method", name, Generated::Method, &arguments, &results)?;
        let own_name = self.reserve(Generated::Method, name);
        let arguments = self.named(&method.arguments, &arguments, ("", "arg"), &mut names);
        let results = self.named(&method.results, &results, (result, "result"), &mut names);
        let gives = match results.is_empty() {
            true => String::new(),
            false => format!(" -> ({})", declared(&results)),
        };
        Some(MethodModel {
            member: name,
            name: own_name,
            declared: format!("{name}({}){gives}", declared(&arguments)),
            arguments,
            results,
            answer,
            about: about(documentation, annotations),
        })
    }

    fn property<'d>(&mut self, property: &'d Property) -> Option<PropertyModel<'d>> {
        let Property { name, annotations, documentation, .. } = property;
        let Some(kind) = single(&property.types) else {
            self.leave_out("property", name, NOT_ONE_TYPE);
            return None;
        };
        let getter = Generated::Getter(property.access);
        self.check("property", name, getter, &[kind], &[kind])?;
        let changes = match property.emits_change {
            EmitsChange::Value => "",
            EmitsChange::Invalidates => "; changes are announced without the value",
            EmitsChange::Const => "; it never changes",
            EmitsChange::No => "; changes are not announced",
        };
        Some(PropertyModel {
            declared: format!("{name}: {kind}{changes}"),
            member: name,
            name: self.reserve(getter, name),
            setter: self.reserve(Generated::Setter(property.access), name),
            kind,
            access: property.access,
            emits_change: property.emits_change,
            about: about(documentation, annotations),
        })
    }

    fn signal<'d>(&mut self, signal: &'d Signal) -> Option<SignalModel<'d>> {
        let Signal { name, annotations, documentation, .. } = signal;
        let mut names = Namespace::new(self.rules.of_arguments);
        let Some(arguments) = types(&signal.arguments) else {
            self.leave_out("signal", name, NOT_ONE_TYPE);
            return None;
        };
        self.check("signal", name, Generated::Signal(name), &arguments, &[])?;
        let begin = (self.rules.result, "arg");
        let own_name = self.reserve(Generated::Signal(name), name);
        let arguments = self.named(&signal.arguments, &arguments, begin, &mut names);
        Some(SignalModel {
            member: name,
            name: own_name,
            declared: format!("{name}({})", declared(&arguments)),
            arguments,
            about: about(documentation, annotations),
        })
    }

    /// Returns `None` and notes the reason if the language cannot express a member.
    fn check(
        &mut self,
        what: &str,
        name: &str,
        kind: Generated<'_>,
        arguments: &[Type<'_>],
        results: &[Type<'_>],
    ) -> Option<()> {
        let why = match MemberName::new(name) {
            Err(_) => Some(String::from("not a valid member name")),
            Ok(_) => (self.rules.unsupported)(&MemberTypes { kind, arguments, results }),
        };
        let Some(why) = why else { return Some(()) };
        self.leave_out(what, name, &why);
        None
    }

    fn named<'d>(
        &self,
        described: &'d [Argument],
        types: &[Type<'d>],
        (begin, fallback): (&str, &str),
        names: &mut Namespace,
    ) -> Vec<ArgumentModel<'d>> {
        let pairs = described.iter().zip(types).enumerate();
        let named = pairs.map(|(number, (argument, &kind))| {
            let declared_name = argument.name.as_deref();
            let fallback = format!("{fallback}{number}");
            let name = begin.to_owned() + &snake(declared_name.unwrap_or_default(), &fallback);
            ArgumentModel {
                name: names.reserve(&name, self.rules.derived_from_argument),
                declared_name,
                kind,
            }
        });
        named.collect()
    }

    fn reserve(&mut self, kind: Generated<'_>, member: &str) -> String {
        let (of_language, of) = (self.rules.derived_names, self.of);
        self.names.reserve(&snake(member, "unnamed"), |name| of_language(of, kind, name))
    }
}

fn types(arguments: &[Argument]) -> Option<Vec<Type<'_>>> {
    arguments.iter().map(|argument| single(&argument.types)).collect()
}

fn single(types: &str) -> Option<Type<'_>> {
    Signature::new(types).ok()?.single()
}

fn about(documentation: &Option<String>, annotations: &[Annotation]) -> MemberNotes {
    let documentation = documentation.as_deref().map(|text| text::lines(text).collect());
    MemberNotes { documentation, is_deprecated: is_true(annotations, DEPRECATED) }
}

const NOT_ONE_TYPE: &str = "its signature is invalid, or has several types";
