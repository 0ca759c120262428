//! The members of an interface, as both attribute macros declare them: functions with attributes.

use proc_macro2::Span;
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Lit, LitBool, LitStr, Signature, Token, parenthesized};

use wire::names::{MemberName, NameError};

use crate::attributes::set_once;
use crate::case::NameCase;

/// The macro in which a member is declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Declaration {
    Proxy,
    Interface,
}

/// What a function declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MemberRole {
    Method,
    Property,
    Signal,
}

/// The attributes of a function that declares a member.
pub(crate) struct MemberAttributes {
    pub(crate) role: MemberRole,
    pub(crate) options: MemberOptions,
    pub(crate) annotations: Vec<DeclaredAnnotation>,
    /// The attribute `deprecated` of Rust.
    pub(crate) deprecated: Option<Span>,
    /// The other attributes, which the generated function keeps.
    pub(crate) kept: Vec<Attribute>,
}

/// The options of a member: the arguments of `method`, `property` or `signal`.
#[derive(Default)]
pub(crate) struct MemberOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) no_reply: Option<Span>,
    pub(crate) no_auto_start: Option<Span>,
    pub(crate) interactive: Option<Span>,
    pub(crate) timeout: Option<Expr>,
    pub(crate) results: Option<Vec<LitStr>>,
    pub(crate) emits_change: Option<(ChangeSignal, Span)>,
}

/// An annotation of introspection data.
pub(crate) struct DeclaredAnnotation {
    pub(crate) name: LitStr,
    pub(crate) value: LitStr,
}

/// How changes of a property are announced: the values of the annotation `EmitsChangedSignal`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChangeSignal {
    Value,
    Invalidates,
    Const,
    No,
}

impl MemberAttributes {
    pub(crate) fn parse(attributes: &[Attribute], declared: Declaration) -> syn::Result<Self> {
        let mut role = None;
        let mut found = Self {
            role: MemberRole::Method,
            options: MemberOptions::default(),
            annotations: Vec::new(),
            deprecated: None,
            kept: Vec::new(),
        };
        for attribute in attributes {
            let path = attribute.path();
            if let Some(named) = MemberRole::of(attribute) {
                set_once(&mut role, named, path.span())?;
                found.role = named;
                found.options.parse(attribute, named, declared)?;
            } else if path.is_ident("annotate") && declared == Declaration::Interface {
                found.annotations.push(DeclaredAnnotation::parse(attribute)?);
            } else if path.is_ident("cfg") || path.is_ident("cfg_attr") {
                let text = "members cannot depend on `cfg`; declare two interfaces";
                return Err(syn::Error::new(path.span(), text));
            } else {
                if path.is_ident("deprecated") {
                    found.deprecated = Some(path.span());
                }
                found.kept.push(attribute.clone());
            }
        }
        Ok(found)
    }

    /// The name of the member on D-Bus: the option `name`, or else the name of the function.
    pub(crate) fn name(&self, function: &Ident) -> syn::Result<LitStr> {
        let name = self.options.name.clone().unwrap_or_else(|| {
            let text = function.unraw().to_string();
            LitStr::new(&NameCase::Pascal.apply(&text), function.span())
        });
        check_name(&name, "member name", |text| MemberName::new(text).map(drop))?;
        Ok(name)
    }
}

impl MemberRole {
    fn of(attribute: &Attribute) -> Option<Self> {
        let path = attribute.path();
        [Self::Method, Self::Property, Self::Signal]
            .into_iter()
            .find(|role| path.is_ident(role.word()))
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Property => "property",
            Self::Signal => "signal",
        }
    }

    /// The options that a member of this kind can have.
    const fn options(self, declared: Declaration) -> &'static [&'static str] {
        match (declared, self) {
            (Declaration::Proxy, Self::Method) => {
                &["name", "no_reply", "no_auto_start", "interactive", "timeout"]
            }
            (Declaration::Interface, Self::Method) => &["name", "no_reply", "results"],
            (Declaration::Interface, Self::Property) => &["name", "emits_change"],
            (Declaration::Proxy, Self::Property) | (_, Self::Signal) => &["name"],
        }
    }
}

impl MemberOptions {
    fn parse(
        &mut self,
        attribute: &Attribute,
        role: MemberRole,
        declared: Declaration,
    ) -> syn::Result<()> {
        if let syn::Meta::Path(_) = attribute.meta {
            return Ok(());
        }
        let allowed = role.options(declared);
        attribute.parse_nested_meta(|meta| {
            let span = meta.path.span();
            let Some(option) = allowed.iter().find(|option| meta.path.is_ident(option)) else {
                return Err(meta.error(expected(allowed)));
            };
            match *option {
                "name" => set_once(&mut self.name, meta.value()?.parse()?, span),
                "no_reply" => set_once(&mut self.no_reply, span, span),
                "no_auto_start" => set_once(&mut self.no_auto_start, span, span),
                "interactive" => set_once(&mut self.interactive, span, span),
                "timeout" => set_once(&mut self.timeout, meta.value()?.parse()?, span),
                "results" => {
                    let content;
                    parenthesized!(content in meta.input);
                    let names = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
                    set_once(&mut self.results, names.into_iter().collect(), span)
                }
                _ => {
                    let change = ChangeSignal::parse(&meta.value()?.parse()?)?;
                    set_once(&mut self.emits_change, (change, span), span)
                }
            }
        })
    }
}

impl DeclaredAnnotation {
    pub(crate) fn parse(attribute: &Attribute) -> syn::Result<Self> {
        let texts = attribute.parse_args_with(Punctuated::<LitStr, Token![,]>::parse_terminated)?;
        let mut texts = texts.into_iter();
        match (texts.next(), texts.next(), texts.next()) {
            (Some(name), Some(value), None) => Ok(Self { name, value }),
            _ => Err(error(attribute, "expected `annotate(\"name\", \"value\")`")),
        }
    }
}

impl ChangeSignal {
    fn parse(literal: &Lit) -> syn::Result<Self> {
        let text = match literal {
            Lit::Str(text) => text.value(),
            Lit::Bool(LitBool { value, .. }) => value.to_string(),
            _ => String::new(),
        };
        Ok(match text.as_str() {
            "true" => Self::Value,
            "invalidates" => Self::Invalidates,
            "const" => Self::Const,
            "false" => Self::No,
            _ => {
                let text = "expected true, false, \"invalidates\" or \"const\"";
                return Err(error(literal, text));
            }
        })
    }
}

/// Checks what all declarations have in common.
pub(crate) fn check_signature(signature: &Signature) -> syn::Result<()> {
    if let Some(token) = &signature.unsafety {
        return Err(error(token, "a member cannot be unsafe"));
    }
    if let Some(token) = &signature.constness {
        return Err(error(token, "a member cannot be constant"));
    }
    if let Some(abi) = &signature.abi {
        return Err(error(abi, "a member has the calling convention of Rust"));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(error(variadic, "a member has a fixed number of arguments"));
    }
    Ok(())
}

/// Checks a name on D-Bus.
pub(crate) fn check_name(
    name: &LitStr,
    kind: &str,
    check: impl FnOnce(&str) -> Result<(), NameError>,
) -> syn::Result<()> {
    let text = name.value();
    check(&text).map_err(|why| error(name, &format!("{text:?} is not a valid {kind}: {why}")))
}

/// Checks that no two members of a kind have the same name.
pub(crate) fn check_unique<'m>(names: impl IntoIterator<Item = &'m LitStr>) -> syn::Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name.value()) {
            let text = format!("another member of this kind has the name {}", name.value());
            return Err(error(name, &text));
        }
    }
    Ok(())
}

/// The name of an argument on D-Bus.
pub(crate) fn argument_name(ident: &Ident) -> String {
    ident.unraw().to_string().trim_matches('_').to_owned()
}

pub(crate) fn expected(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("expected {} or {last}", others.join(", "))
        }
        _ => format!("expected {}", quoted.concat()),
    }
}

pub(crate) fn error(place: &impl ToTokens, text: &str) -> syn::Error {
    syn::Error::new_spanned(place, text)
}

/// The values of all members, or the errors of all members, combined.
pub(crate) fn collect<T>(results: impl IntoIterator<Item = syn::Result<T>>) -> syn::Result<Vec<T>> {
    let mut all = Vec::new();
    let mut errors: Option<syn::Error> = None;
    for result in results {
        match (result, &mut errors) {
            (Ok(one), _) => all.push(one),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), None) => errors = Some(error),
        }
    }
    errors.map_or(Ok(all), Err)
}

impl MemberAttributes {
    /// Sets the name of a property from its setter, whose name starts with `set_`.
    pub(crate) fn name_setter(&mut self, function: &Ident) -> syn::Result<()> {
        if self.options.name.is_some() {
            return Ok(());
        }
        let text = function.unraw().to_string();
        let Some(property) = text.strip_prefix("set_") else {
            let text = "the name of a setter starts with `set_`, or has `name = \"...\"`";
            return Err(error(function, text));
        };
        let name = NameCase::Pascal.apply(property);
        self.options.name = Some(LitStr::new(&name, function.span()));
        Ok(())
    }
}
