//! A proxy, parsed once from the trait that declares it.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, Expr, FnArg, Ident, ItemTrait, LitStr, Path, Receiver, ReturnType, Signature,
    TraitItem, TraitItemFn, Type, Visibility, parse_quote,
};
use wire::names::{InterfaceName, ObjectPath, WellKnownName};

use crate::attributes::{parse_library, set_once};
use crate::members::{
    Declaration, MemberAttributes, MemberRole, check_name, check_signature, check_unique, collect,
    error,
};
use crate::signature_types::{
    ArgumentType, DeclaredArgument, ReturnedType, ReturnedValue, last_word, result_argument,
};

/// The arguments of the attribute `proxy`.
pub(crate) struct ProxyArguments {
    pub(crate) interface: LitStr,
    pub(crate) default_service: Option<LitStr>,
    pub(crate) default_path: Option<LitStr>,
    /// The path of the crate `diligence-client`.
    pub(crate) library: Path,
}

/// A trait that declares a proxy.
pub(crate) struct ProxyModel {
    pub(crate) arguments: ProxyArguments,
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    /// Attributes for the generated types, such as documentation.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) methods: Vec<ProxyMethod>,
    pub(crate) getters: Vec<ProxyGetter>,
    pub(crate) setters: Vec<ProxySetter>,
    pub(crate) signals: Vec<ProxySignal>,
}

/// The parts that all members have.
pub(crate) struct MemberHead {
    pub(crate) ident: Ident,
    pub(crate) member: LitStr,
    pub(crate) attributes: Vec<Attribute>,
}

pub(crate) struct ProxyMethod {
    pub(crate) head: MemberHead,
    pub(crate) generics: syn::Generics,
    pub(crate) parameters: Vec<ProxyParameter>,
    pub(crate) returns: Type,
    pub(crate) reply: ProxyReply,
    pub(crate) timeout: Option<Expr>,
    pub(crate) flags: Vec<&'static str>,
}

/// A parameter of a method.
pub(crate) enum ProxyParameter {
    /// An argument of the call.
    Argument(DeclaredArgument),
    /// The descriptors of the message, which the arguments refer to by their indexes.
    Descriptors(DeclaredArgument),
}

/// What a method does with the reply.
pub(crate) enum ProxyReply {
    /// It asks for none.
    Unwanted,
    /// It returns the whole message.
    Whole,
    Results(ReturnedValue),
}

pub(crate) struct ProxyGetter {
    pub(crate) head: MemberHead,
    pub(crate) kind: Type,
    pub(crate) returns: Type,
}

pub(crate) struct ProxySetter {
    pub(crate) head: MemberHead,
    pub(crate) argument: DeclaredArgument,
    pub(crate) returns: Type,
}

pub(crate) struct ProxySignal {
    pub(crate) head: MemberHead,
    pub(crate) arguments: Vec<Type>,
}

enum ProxyMember {
    Method(ProxyMethod),
    Getter(ProxyGetter),
    Setter(ProxySetter),
    Signal(ProxySignal),
}

impl Parse for ProxyArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut interface, mut default_service, mut default_path) = (None, None, None);
        let mut library = parse_quote!(::diligence_client);
        let parser = syn::meta::parser(|meta| {
            let span = meta.path.span();
            if meta.path.is_ident("interface") {
                set_once(&mut interface, meta.value()?.parse()?, span)
            } else if meta.path.is_ident("default_service") {
                set_once(&mut default_service, meta.value()?.parse()?, span)
            } else if meta.path.is_ident("default_path") {
                set_once(&mut default_path, meta.value()?.parse()?, span)
            } else if meta.path.is_ident("crate") {
                library = parse_library(meta.value()?)?;
                Ok(())
            } else {
                Err(meta
                    .error("expected `interface`, `default_service`, `default_path` or `crate`"))
            }
        });
        syn::parse::Parser::parse2(parser, input.parse()?)?;
        let missing = || syn::Error::new(Span::call_site(), "`interface = \"...\"` is missing");
        let interface = interface.ok_or_else(missing)?;
        check_name(&interface, "interface name", |text| InterfaceName::new(text).map(drop))?;
        if let Some(service) = &default_service {
            let check = |text: &str| WellKnownName::new(text).map(drop);
            check_name(service, "well-known bus name", check)?;
        }
        if let Some(path) = &default_path {
            check_name(path, "object path", |text| ObjectPath::new(text).map(drop))?;
        }
        Ok(Self { interface, default_service, default_path, library })
    }
}

impl ProxyModel {
    pub(crate) fn new(arguments: ProxyArguments, item: ItemTrait) -> syn::Result<Self> {
        check_trait(&item)?;
        let mut model = Self {
            arguments,
            name: item.ident,
            visibility: item.vis,
            attributes: item.attrs,
            methods: Vec::new(),
            getters: Vec::new(),
            setters: Vec::new(),
            signals: Vec::new(),
        };
        for member in collect(item.items.iter().map(ProxyMember::parse))? {
            match member {
                ProxyMember::Method(method) => model.methods.push(method),
                ProxyMember::Getter(getter) => model.getters.push(getter),
                ProxyMember::Setter(setter) => model.setters.push(setter),
                ProxyMember::Signal(signal) => model.signals.push(signal),
            }
        }
        // They are fields of a struct with all properties.
        check_unique(model.getters.iter().map(|getter| &getter.head.member))?;
        Ok(model)
    }
}

fn check_trait(item: &ItemTrait) -> syn::Result<()> {
    if let Some(token) = &item.unsafety {
        return Err(error(token, "a proxy is a safe trait"));
    }
    if !item.generics.params.is_empty() {
        return Err(error(&item.generics, "the trait of a proxy has no parameters"));
    }
    if !item.supertraits.is_empty() {
        let text = "a proxy is for one interface; declare a proxy for each";
        return Err(error(&item.supertraits, text));
    }
    Ok(())
}

impl ProxyMember {
    fn parse(item: &TraitItem) -> syn::Result<Self> {
        let TraitItem::Fn(function) = item else {
            return Err(error(item, "a proxy has functions only"));
        };
        let attributes = MemberAttributes::parse(&function.attrs, Declaration::Proxy)?;
        check_function(function)?;
        let signature = &function.sig;
        match attributes.role {
            MemberRole::Method => ProxyMethod::parse(signature, attributes).map(Self::Method),
            MemberRole::Property if signature.inputs.len() == 1 => {
                ProxyGetter::parse(signature, attributes).map(Self::Getter)
            }
            MemberRole::Property => ProxySetter::parse(signature, attributes).map(Self::Setter),
            MemberRole::Signal => ProxySignal::parse(signature, attributes).map(Self::Signal),
        }
    }
}

fn check_function(function: &TraitItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    check_signature(signature)?;
    if let Some(body) = &function.default {
        return Err(error(body, "a member of a proxy has no body; the macro generates it"));
    }
    if let Some(token) = &signature.asyncness {
        let text = "declare a plain function: the macro makes a blocking and an asynchronous one";
        return Err(error(token, text));
    }
    match signature.receiver() {
        Some(Receiver { reference: Some(_), mutability: None, colon_token: None, .. }) => {}
        Some(other) => return Err(error(other, "a member of a proxy takes `&self`")),
        None => return Err(error(&signature.ident, "a member of a proxy takes `&self`")),
    }
    let name = signature.ident.to_string();
    if RESERVED.contains(&name.as_str()) {
        let text = "proxies have a function of this name; use another one with `name = \"...\"`";
        return Err(error(&signature.ident, text));
    }
    Ok(())
}

impl MemberHead {
    fn new(ident: &Ident, attributes: MemberAttributes) -> syn::Result<Self> {
        let member = attributes.name(ident)?;
        Ok(Self { ident: ident.clone(), member, attributes: attributes.kept })
    }
}

impl ProxyMethod {
    fn parse(signature: &Signature, attributes: MemberAttributes) -> syn::Result<Self> {
        let parameters = collect(signature.inputs.iter().skip(1).map(ProxyParameter::parse))?;
        if let Some(lifetime) = signature.generics.lifetimes().next() {
            let text = "lifetimes are inferred: write `&str` or `Name<'_>`";
            return Err(error(lifetime, text));
        }
        let (returns, value) = fallible(signature)?;
        let options = &attributes.options;
        let reply = match (options.no_reply, &value.results[..]) {
            (Some(_), []) => ProxyReply::Unwanted,
            (Some(span), _) => {
                return Err(syn::Error::new(span, "a method without reply returns `()`"));
            }
            (None, [ArgumentType::Plain(kind)])
                if last_word(kind).as_deref() == Some("ReceivedMessage") =>
            {
                ProxyReply::Whole
            }
            (None, results) => {
                for result in results {
                    let text = "results must own their data: `String` instead of `&str`";
                    result.check_owned(text)?;
                }
                ProxyReply::Results(value)
            }
        };
        if let (Some(_), Some(timeout)) = (options.no_reply, &options.timeout) {
            return Err(error(timeout, "a method without reply has no timeout"));
        }
        let flags = [
            (options.no_reply, "NO_REPLY_EXPECTED"),
            (options.no_auto_start, "NO_AUTO_START"),
            (options.interactive, "ALLOW_INTERACTIVE_AUTHORIZATION"),
        ];
        let flags = flags.into_iter().filter_map(|(set, flag)| set.map(|_| flag)).collect();
        Ok(Self {
            generics: signature.generics.clone(),
            parameters,
            returns,
            reply,
            timeout: options.timeout.clone(),
            flags,
            head: MemberHead::new(&signature.ident, attributes)?,
        })
    }
}

impl ProxyParameter {
    fn parse(input: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(typed) = input else {
            return Err(error(input, "expected an argument with a type"));
        };
        let argument = DeclaredArgument::parse(input)?;
        match &typed.attrs[..] {
            [] => match argument.kind {
                ArgumentType::BorrowedDescriptor(kind) => {
                    Err(error(&kind, "a call takes an `OwnedFd`, which it closes"))
                }
                _ => Ok(Self::Argument(argument)),
            },
            [one] if one.path().is_ident("descriptors") => Ok(Self::Descriptors(argument)),
            [other, ..] => Err(error(other, "expected `descriptors`")),
        }
    }
}

impl ProxyGetter {
    fn parse(signature: &Signature, attributes: MemberAttributes) -> syn::Result<Self> {
        let (returns, _) = fallible(signature)?;
        let kind = result_argument(&returns).cloned();
        let kind = kind.ok_or_else(|| error(&returns, RESULT))?;
        let value = ArgumentType::of(&kind);
        value.plain()?;
        value.check_owned("the value must own its data: `String` instead of `&str`")?;
        Ok(Self { kind, returns, head: MemberHead::new(&signature.ident, attributes)? })
    }
}

impl ProxySetter {
    fn parse(signature: &Signature, mut attributes: MemberAttributes) -> syn::Result<Self> {
        let mut inputs = signature.inputs.iter().skip(1);
        let argument = match (inputs.next(), inputs.next()) {
            (Some(one), None) => DeclaredArgument::parse(one)?,
            _ => {
                let text = "a property has no argument, to read it, or one, to write it";
                return Err(error(&signature.inputs, text));
            }
        };
        argument.kind.plain()?;
        let (returns, value) = fallible(signature)?;
        if !value.results.is_empty() {
            return Err(error(&returns, "a setter returns `Result<(), E>`"));
        }
        attributes.name_setter(&signature.ident)?;
        Ok(Self { argument, returns, head: MemberHead::new(&signature.ident, attributes)? })
    }
}

impl ProxySignal {
    fn parse(signature: &Signature, attributes: MemberAttributes) -> syn::Result<Self> {
        if let ReturnType::Type(_, kind) = &signature.output {
            return Err(error(kind, "a signal returns nothing"));
        }
        let argument = |input: &FnArg| {
            let argument = DeclaredArgument::parse(input)?;
            let text = "arguments of signals must own their data: `String` instead of `&str`";
            argument.kind.check_owned(text)?;
            argument.kind.plain().cloned()
        };
        let arguments = collect(signature.inputs.iter().skip(1).map(argument))?;
        Ok(Self { arguments, head: MemberHead::new(&signature.ident, attributes)? })
    }
}

/// The type that a function returns, which must be a `Result`, and the results in it.
fn fallible(signature: &Signature) -> syn::Result<(Type, ReturnedValue)> {
    match (&signature.output, ReturnedType::parse(&signature.output)) {
        (ReturnType::Type(_, kind), ReturnedType::Fallible(value)) => Ok(((**kind).clone(), value)),
        (ReturnType::Type(_, kind), _) => Err(error(kind, RESULT)),
        (ReturnType::Default, _) => Err(error(&signature.ident, RESULT)),
    }
}

const RESULT: &str = "a call can fail: return a `Result`, for example `Result<(), CallError>`";

/// The functions that proxies have anyway.
const RESERVED: [&str; 6] = ["new", "at", "of_peer", "proxy", "properties", "property_changes"];
