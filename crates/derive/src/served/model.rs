//! A served interface, parsed once from the impl block that declares it.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, LitStr, Path, Receiver, ReturnType,
    Signature, Token, Visibility, parse_quote,
};
use wire::names::InterfaceName;

use super::property::{PropertyPart, ServedProperty};
use crate::attributes::{parse_library, set_once};
use crate::members::{
    Declaration, DeclaredAnnotation, MemberAttributes, MemberRole, check_name, check_signature,
    check_unique, collect, error,
};
use crate::signature_types::{
    ArgumentType, DeclaredArgument, ReturnedForm, ReturnedType, ReturnedValue, is_reference_to,
    wrapped_type,
};

/// The arguments of the attribute `interface`.
pub(crate) struct InterfaceArguments {
    pub(crate) name: LitStr,
    /// The path of the crate `diligence-client`.
    pub(crate) library: Path,
}

/// An impl block that declares a served interface.
pub(crate) struct ServedModel {
    pub(crate) arguments: InterfaceArguments,
    /// The block without signals and without the attributes of this macro.
    pub(crate) item: ItemImpl,
    pub(crate) annotations: Vec<DeclaredAnnotation>,
    pub(crate) methods: Vec<ServedMethod>,
    pub(crate) properties: Vec<ServedProperty>,
    pub(crate) signals: Vec<ServedSignal>,
}

/// The name of a member, and what introspection says about it.
pub(crate) struct ServedHead {
    pub(crate) member: LitStr,
    pub(crate) annotations: Vec<DeclaredAnnotation>,
}

pub(crate) struct ServedMethod {
    pub(crate) head: ServedHead,
    pub(crate) ident: Ident,
    pub(crate) parameters: Vec<ServedParameter>,
    pub(crate) answer: ServedAnswer,
    /// The names of the results on D-Bus; empty for those without a name.
    pub(crate) result_names: Vec<String>,
    /// The place of the returned type.
    pub(crate) place: Span,
}

/// A parameter of a method or setter, after `self`.
pub(crate) enum ServedParameter {
    /// An argument of the call.
    Argument(DeclaredArgument),
    /// The call itself, by reference.
    Call,
    /// The reply, which is sent later.
    Reply(Vec<ArgumentType>),
}

/// How a method answers.
pub(crate) enum ServedAnswer {
    /// By the value that it returns.
    Returned(ReturnedType),
    /// With a parameter of the type `DeferredReply`, which has these results.
    Deferred(Vec<ArgumentType>),
}

pub(crate) struct ServedSignal {
    pub(crate) head: ServedHead,
    pub(crate) ident: Ident,
    pub(crate) visibility: Visibility,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) arguments: Vec<DeclaredArgument>,
}

/// A function without a body.
struct BodylessFunction {
    attributes: Vec<Attribute>,
    visibility: Visibility,
    signature: Signature,
}

enum DeclaredMember {
    Method(ServedMethod),
    Property(PropertyPart),
    Signal(ServedSignal),
    /// A constant, which is not a member of the interface.
    Other,
}

impl Parse for InterfaceArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut name = None;
        let mut library = parse_quote!(::diligence_client);
        let parser = syn::meta::parser(|meta| {
            let span = meta.path.span();
            if meta.path.is_ident("name") {
                set_once(&mut name, meta.value()?.parse()?, span)
            } else if meta.path.is_ident("crate") {
                library = parse_library(meta.value()?)?;
                Ok(())
            } else {
                Err(meta.error("expected `name` or `crate`"))
            }
        });
        syn::parse::Parser::parse2(parser, input.parse()?)?;
        let missing = || syn::Error::new(Span::call_site(), "`name = \"...\"` is missing");
        let name = name.ok_or_else(missing)?;
        check_name(&name, "interface name", |text| InterfaceName::new(text).map(drop))?;
        Ok(Self { name, library })
    }
}

impl Parse for BodylessFunction {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        let signature = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { attributes, visibility, signature })
    }
}

impl ServedModel {
    pub(crate) fn new(arguments: InterfaceArguments, mut item: ItemImpl) -> syn::Result<Self> {
        if let Some((_, path, _)) = &item.trait_ {
            return Err(error(path, "an interface is an inherent impl block, without a trait"));
        }
        let annotations = take_annotations(&mut item.attrs)?;
        let members = collect(item.items.iter_mut().map(DeclaredMember::take))?;
        item.items.retain(|item| !matches!(item, ImplItem::Verbatim(_)));
        let mut model = Self {
            arguments,
            item,
            annotations,
            methods: Vec::new(),
            properties: Vec::new(),
            signals: Vec::new(),
        };
        for member in members {
            match member {
                DeclaredMember::Method(method) => model.methods.push(method),
                DeclaredMember::Property(part) => ServedProperty::add(&mut model.properties, part)?,
                DeclaredMember::Signal(signal) => model.signals.push(signal),
                DeclaredMember::Other => {}
            }
        }
        check_unique(model.methods.iter().map(|method| &method.head.member))?;
        check_unique(model.signals.iter().map(|signal| &signal.head.member))?;
        model.properties.iter().try_for_each(ServedProperty::check)?;
        Ok(model)
    }
}

fn take_annotations(attributes: &mut Vec<Attribute>) -> syn::Result<Vec<DeclaredAnnotation>> {
    let (ours, others): (Vec<_>, Vec<_>) =
        std::mem::take(attributes).into_iter().partition(|one| one.path().is_ident("annotate"));
    *attributes = others;
    collect(ours.iter().map(DeclaredAnnotation::parse))
}

impl DeclaredMember {
    /// Parses a function, and leaves it without the attributes of this macro.
    fn take(item: &mut ImplItem) -> syn::Result<Self> {
        match item {
            ImplItem::Fn(function) => Self::take_function(function),
            ImplItem::Verbatim(tokens) => Self::bodyless(tokens.clone()),
            ImplItem::Const(_) => Ok(Self::Other),
            other => Err(error(other, "an interface has functions only")),
        }
    }

    fn take_function(function: &mut ImplItemFn) -> syn::Result<Self> {
        let mut attributes = MemberAttributes::parse(&function.attrs, Declaration::Interface)?;
        function.attrs = std::mem::take(&mut attributes.kept);
        let signature = &function.sig;
        check_signature(signature)?;
        if let Some(token) = &signature.asyncness {
            let text = "methods run at once; a method that waits takes a `DeferredReply`, and \
                        answers in a thread or a task";
            return Err(error(token, text));
        }
        if let Some(parameter) = signature.generics.type_params().next() {
            return Err(error(parameter, "a member has no type parameters"));
        }
        match attributes.role {
            MemberRole::Signal => {
                Err(error(&function.block, "a signal has no body: end it with `;`"))
            }
            MemberRole::Method => {
                check_receiver(signature)?;
                ServedMethod::parse(signature, attributes).map(Self::Method)
            }
            MemberRole::Property => {
                check_receiver(signature)?;
                PropertyPart::parse(function, attributes).map(Self::Property)
            }
        }
    }

    fn bodyless(tokens: TokenStream) -> syn::Result<Self> {
        let function: BodylessFunction = syn::parse2(tokens)?;
        let attributes = MemberAttributes::parse(&function.attributes, Declaration::Interface)?;
        match attributes.role {
            MemberRole::Signal => ServedSignal::parse(function, attributes).map(Self::Signal),
            MemberRole::Method | MemberRole::Property => {
                let text = "only a signal, with the attribute `signal`, has no body";
                Err(error(&function.signature.ident, text))
            }
        }
    }
}

fn check_receiver(signature: &Signature) -> syn::Result<()> {
    match signature.receiver() {
        Some(Receiver { reference: Some(_), colon_token: None, .. }) => Ok(()),
        Some(other) => Err(error(other, "a member takes `&self` or `&mut self`")),
        None => {
            let text = "a member takes `&self` or `&mut self`; move other functions to another \
                        impl block";
            Err(error(&signature.ident, text))
        }
    }
}

impl ServedHead {
    pub(super) fn new(ident: &Ident, attributes: MemberAttributes) -> syn::Result<Self> {
        let member = attributes.name(ident)?;
        let mut annotations = attributes.annotations;
        let standard = |name: &str, span: Span| DeclaredAnnotation {
            name: LitStr::new(&format!("org.freedesktop.DBus.{name}"), span),
            value: LitStr::new("true", span),
        };
        annotations.extend(attributes.deprecated.map(|span| standard("Deprecated", span)));
        let no_reply = attributes.options.no_reply;
        annotations.extend(no_reply.map(|span| standard("Method.NoReply", span)));
        Ok(Self { member, annotations })
    }
}

impl ServedMethod {
    fn parse(signature: &Signature, mut attributes: MemberAttributes) -> syn::Result<Self> {
        let parameters = collect(signature.inputs.iter().skip(1).map(ServedParameter::parse))?;
        let answer = ServedAnswer::new(signature, &parameters)?;
        let results = answer.results();
        if let (Some(span), false) = (attributes.options.no_reply, results.is_empty()) {
            return Err(syn::Error::new(span, "a method without reply has no results"));
        }
        let names = attributes.options.results.take();
        let result_names = match names {
            None => vec![String::new(); results.len()],
            Some(names) if names.len() == results.len() => {
                names.iter().map(LitStr::value).collect()
            }
            Some(names) => {
                let (named, returned) = (names.len(), results.len());
                let text = format!(
                    "the number of names, {named}, is not the number of results, {returned}"
                );
                let span = names.first().map_or_else(|| signature.ident.span(), LitStr::span);
                return Err(syn::Error::new(span, text));
            }
        };
        let place = match &signature.output {
            ReturnType::Default => signature.ident.span(),
            ReturnType::Type(_, kind) => kind.span(),
        };
        let ident = signature.ident.clone();
        let head = ServedHead::new(&ident, attributes)?;
        Ok(Self { head, ident, parameters, answer, result_names, place })
    }
}

impl ServedParameter {
    pub(super) fn parse(input: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(typed) = input else {
            return Err(error(input, "expected an argument with a type"));
        };
        if is_reference_to(&typed.ty, "IncomingCall") {
            return Ok(Self::Call);
        }
        match wrapped_type(&typed.ty, "DeferredReply") {
            Some(results) => {
                let ReturnedValue { results: values, form } = ReturnedValue::of(results);
                match form {
                    ReturnedForm::Tuple => Ok(Self::Reply(values)),
                    ReturnedForm::Single => {
                        Err(error(results, "the results are a tuple, such as `(u32,)`"))
                    }
                }
            }
            None => DeclaredArgument::parse(input).map(Self::Argument),
        }
    }
}

impl ServedAnswer {
    fn new(signature: &Signature, parameters: &[ServedParameter]) -> syn::Result<Self> {
        let deferred = parameters.iter().find_map(|parameter| match parameter {
            ServedParameter::Reply(results) => Some(results),
            ServedParameter::Argument(_) | ServedParameter::Call => None,
        });
        let Some(results) = deferred else {
            return Ok(Self::Returned(ReturnedType::parse(&signature.output)));
        };
        if let ReturnType::Type(_, kind) = &signature.output {
            return Err(error(kind, "a method with a `DeferredReply` returns nothing"));
        }
        for parameter in parameters {
            match parameter {
                ServedParameter::Argument(argument) => argument.kind.check_owned(
                    "arguments must own their data if the reply is deferred: `String` instead \
                     of `&str`",
                )?,
                ServedParameter::Call => {
                    let text = "the `DeferredReply` has the call";
                    return Err(error(&signature.inputs, text));
                }
                ServedParameter::Reply(_) => {}
            }
        }
        let results = results.iter().map(|result| result.plain().map(ArgumentType::of));
        Ok(Self::Deferred(collect(results)?))
    }

    pub(crate) fn results(&self) -> &[ArgumentType] {
        match self {
            Self::Returned(returned) => &returned.value().results,
            Self::Deferred(results) => results,
        }
    }
}

impl ServedSignal {
    fn parse(function: BodylessFunction, attributes: MemberAttributes) -> syn::Result<Self> {
        let BodylessFunction { visibility, signature, .. } = function;
        check_signature(&signature)?;
        if let Some(receiver) = signature.receiver() {
            let text = "a signal has no `self`; its function takes the object or the call to it";
            return Err(error(receiver, text));
        }
        if let ReturnType::Type(_, kind) = &signature.output {
            return Err(error(kind, "a signal returns nothing"));
        }
        if !signature.generics.params.is_empty() {
            let text = "lifetimes are inferred: write `&str` or `Name<'_>`";
            return Err(error(&signature.generics, text));
        }
        let argument = |input: &FnArg| {
            let argument = DeclaredArgument::parse(input)?;
            argument.kind.plain()?;
            Ok(argument)
        };
        let arguments = collect(signature.inputs.iter().map(argument))?;
        let (ident, kept) = (signature.ident, attributes.kept.clone());
        let head = ServedHead::new(&ident, attributes)?;
        Ok(Self { head, ident, visibility, attributes: kept, arguments })
    }
}
