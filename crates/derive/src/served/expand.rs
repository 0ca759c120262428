//! Generates the definition of a served interface, and functions for its signals.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{LitStr, Path};

use super::model::{
    ServedAnswer, ServedHead, ServedMethod, ServedModel, ServedParameter, ServedSignal,
};
use super::property::{PartKind, PropertyPart, ServedProperty};
use crate::members::{ChangeSignal, DeclaredAnnotation};
use crate::signature_types::{ArgumentType, ReturnedForm, ReturnedType};

pub(super) fn expand(model: &ServedModel) -> TokenStream {
    let item = &model.item;
    let kind = &item.self_ty;
    let (generics, _, clause) = item.generics.split_for_impl();
    let signals = model.signals.iter().map(|signal| signal_function(signal, model));
    let changes = model.properties.iter().map(|property| change_function(property, model));
    let served = served_object(model);
    quote! {
        #[allow(clippy::needless_pass_by_value, clippy::unused_self)]
        #item

        #[allow(dead_code)]
        impl #generics #kind #clause {
            #(#signals)*
            #(#changes)*
        }

        #served
    }
}

fn served_object(model: &ServedModel) -> TokenStream {
    let library = &model.arguments.library;
    let item = &model.item;
    let kind = &item.self_ty;
    let (generics, _, clause) = item.generics.split_for_impl();
    let name = &model.arguments.name;
    let checked = quote_spanned! {name.span()=>
        const { #library::wire::names::InterfaceName::literal(#name) }.as_str()
    };
    let annotations = annotations(&model.annotations);
    let methods = model.methods.iter().map(|one| method(one, library));
    let properties = model.properties.iter().map(|one| property(one, library));
    let signals = model.signals.iter().map(|one| signal(one, library));
    let definition = quote! {
        #library::ServedInterface::<#kind>::builder(#checked)
            #annotations
            #(#methods)*
            #(#properties)*
            #(#signals)*
            .build()
    };
    let returned = quote! {
        ::core::result::Result<#library::ServedInterface<#kind>, #library::InterfaceError>
    };
    // A static variable cannot have a type with parameters.
    let body = match item.generics.params.is_empty() {
        true => quote! {
            static DEFINITION: ::std::sync::OnceLock<#returned> = ::std::sync::OnceLock::new();
            DEFINITION.get_or_init(|| #definition).clone()
        },
        false => definition,
    };
    quote! {
        #[allow(deprecated)]
        impl #generics #library::ServedObject for #kind #clause {
            fn served_interface() -> #returned {
                #body
            }
        }
    }
}

fn annotations(annotations: &[DeclaredAnnotation]) -> TokenStream {
    let names = annotations.iter().map(|one| &one.name);
    let values = annotations.iter().map(|one| &one.value);
    quote!(#(.annotate(#names, #values))*)
}

/// The name of a member, which the compiler checks.
fn member_name(member: &LitStr, library: &Path) -> TokenStream {
    quote_spanned! {member.span()=>
        const { #library::wire::names::MemberName::literal(#member) }
    }
}

impl ServedHead {
    fn text(&self, library: &Path) -> TokenStream {
        let constant = member_name(&self.member, library);
        quote!(#constant.as_str())
    }
}

fn method(method: &ServedMethod, library: &Path) -> TokenStream {
    let place = Span::mixed_site().located_at(method.place);
    let (name, annotations) = (method.head.text(library), annotations(&method.head.annotations));
    let arguments = BodyArguments::new(&method.parameters, library);
    let (kinds, names) = (&arguments.kinds, &arguments.names);
    let results = method.answer.results();
    let result_kinds = results.iter().map(|result| result.in_body(library));
    let result_names = &method.result_names;
    let run = match &method.answer {
        ServedAnswer::Returned(returned) => answer_now(method, returned, &arguments, library),
        ServedAnswer::Deferred(_) => answer_later(method, &arguments, library),
    };
    quote_spanned! {place=>
        .typed_raw_method::<(#(#kinds,)*), (#(#result_kinds,)*)>(
            #name, &[#(#names),*], &[#(#result_names),*],
            |state: &mut Self, call: #library::IncomingCall| { #run },
        )
        #annotations
    }
}

/// The arguments of a call: their types in the body, variables for them, and what the function
/// gets.
struct BodyArguments {
    kinds: Vec<TokenStream>,
    names: Vec<String>,
    variables: Vec<Ident>,
    /// Statements that find the descriptors.
    descriptors: TokenStream,
    passed: Vec<TokenStream>,
    /// The type of the first argument, which errors of the decoding are about.
    place: Span,
}

impl BodyArguments {
    fn new(parameters: &[ServedParameter], library: &Path) -> Self {
        let mut found = Self {
            kinds: Vec::new(),
            names: Vec::new(),
            variables: Vec::new(),
            descriptors: TokenStream::new(),
            passed: Vec::new(),
            place: Span::mixed_site(),
        };
        let place = Span::mixed_site();
        let call = Ident::new("call", place);
        for parameter in parameters {
            let argument = match parameter {
                ServedParameter::Argument(argument) => argument,
                ServedParameter::Call => {
                    found.passed.push(quote!(&#call));
                    continue;
                }
                ServedParameter::Reply(_) => {
                    found.passed.push(quote!(#library::DeferredReply::new(#call)));
                    continue;
                }
            };
            let variable = format_ident!("argument_{}", found.variables.len(), span = place);
            if found.kinds.is_empty() {
                found.place = place.located_at(argument.kind.written().span());
            }
            found.kinds.push(argument.kind.in_body(library));
            found.names.push(argument.name());
            let function = match argument.kind {
                ArgumentType::Plain(_) => None,
                ArgumentType::OwnedDescriptor(_) => Some(quote!(owned_descriptor)),
                ArgumentType::BorrowedDescriptor(_) => Some(quote!(borrowed_descriptor)),
            };
            found.descriptors.extend(function.map(|function| {
                quote! {
                    let #variable =
                        #library::macro_support::#function(#call.message(), #variable)?;
                }
            }));
            found.passed.push(variable.to_token_stream());
            found.variables.push(variable);
        }
        found
    }

    /// An expression with the decoded arguments, or an error.
    fn read(&self, library: &Path) -> TokenStream {
        let Self { kinds, variables, descriptors, .. } = self;
        let call = Ident::new("call", Span::mixed_site());
        if descriptors.is_empty() {
            return quote_spanned!(self.place=> #call.read::<(#(#kinds,)*)>());
        }
        quote! {
            (|| {
                let (#(#variables,)*) = #call.read::<(#(#kinds,)*)>()?;
                #descriptors
                ::core::result::Result::<_, #library::wire::body::ReadError>::Ok((#(#variables,)*))
            })()
        }
    }
}

fn answer_now(
    method: &ServedMethod,
    returned: &ReturnedType,
    arguments: &BodyArguments,
    library: &Path,
) -> TokenStream {
    let place = Span::mixed_site().located_at(method.place);
    let (ident, read) = (&method.ident, arguments.read(library));
    let (variables, passed) = (&arguments.variables, &arguments.passed);
    let results = &returned.value().results;
    let has_descriptors = results.iter().any(|result| !matches!(result, ArgumentType::Plain(_)));
    let invoked = quote_spanned!(place=> Self::#ident(state, #(#passed),*));
    let outcome = outcome(returned, &invoked, library, place);
    let answer = match has_descriptors {
        false => quote_spanned!(place=> call.answer(answered);),
        true => {
            let names: Vec<_> =
                (0..results.len()).map(|place| format_ident!("result_{place}")).collect();
            let attached = results.iter().zip(&names).map(|(result, name)| match result {
                ArgumentType::Plain(_) => quote!(#name),
                ArgumentType::OwnedDescriptor(_) | ArgumentType::BorrowedDescriptor(_) => {
                    quote_spanned! {place=>
                        #library::macro_support::attach(&mut descriptors, #name)
                    }
                }
            });
            quote_spanned! {place=>
                let mut descriptors = ::std::vec::Vec::new();
                let answered = answered.map(|(#(#names,)*)| (#(#attached,)*));
                call.answer_with_descriptors(answered, descriptors);
            }
        }
    };
    quote_spanned! {place=>
        let answered = match #read {
            ::core::result::Result::Ok((#(#variables,)*)) => #outcome,
            ::core::result::Result::Err(error) => {
                ::core::result::Result::Err(#library::MethodError::from(error))
            }
        };
        #answer
    }
}

/// The outcome of a function, as a `Result` with a tuple of results.
fn outcome(
    returned: &ReturnedType,
    invoked: &TokenStream,
    library: &Path,
    place: Span,
) -> TokenStream {
    let value = match returned.value().form {
        ReturnedForm::Tuple => quote_spanned!(place=> results),
        ReturnedForm::Single => quote_spanned!(place=> (results,)),
    };
    match returned {
        ReturnedType::Plain(_) => quote_spanned! {place=> {
            let results = #invoked;
            ::core::result::Result::<_, #library::MethodError>::Ok(#value)
        }},
        ReturnedType::Fallible(_) => quote_spanned! {place=>
            match #invoked {
                ::core::result::Result::Ok(results) => ::core::result::Result::Ok(#value),
                ::core::result::Result::Err(error) => {
                    ::core::result::Result::Err(::core::convert::From::from(error))
                }
            }
        },
    }
}

fn answer_later(method: &ServedMethod, arguments: &BodyArguments, library: &Path) -> TokenStream {
    let (ident, read) = (&method.ident, arguments.read(library));
    let (variables, passed) = (&arguments.variables, &arguments.passed);
    quote_spanned! {Span::mixed_site()=>
        match #read {
            ::core::result::Result::Ok((#(#variables,)*)) => Self::#ident(state, #(#passed),*),
            ::core::result::Result::Err(error) => call.answer(
                ::core::result::Result::<(), _>::Err(#library::MethodError::from(error))
            ),
        }
    }
}

fn property(property: &ServedProperty, library: &Path) -> TokenStream {
    let get = property.getter.as_ref().map(|getter| get_function(getter, library));
    let set = property.setter.as_ref().map(|setter| set_function(setter, library));
    let functions = quote!(#library::PropertyFunctions);
    let functions = match (get, set) {
        (Some(get), Some(set)) => quote!(#functions::ReadWrite(#get, #set)),
        (Some(get), None) => quote!(#functions::Read(#get)),
        (None, set) => quote!(#functions::Write(#set)),
    };
    let change = match property.change_signal() {
        ChangeSignal::Value => None,
        _ if property.getter.is_none() => None,
        ChangeSignal::Invalidates => Some(quote!(Invalidates)),
        ChangeSignal::Const => Some(quote!(Const)),
        ChangeSignal::No => Some(quote!(No)),
    };
    let emits = change.map(|change| quote!(.emits_change(#library::EmitsChange::#change)));
    let parts = || property.getter.iter().chain(&property.setter);
    let kind = parts().next().map(|part| ArgumentType::of(&part.value).in_body(library));
    let name = member_name(&property.member, library);
    let annotations = parts().map(|part| annotations(&part.head.annotations));
    let setter = property.getter.as_ref().and(property.setter.as_ref()).map(|setter| {
        let kind = ArgumentType::of(&setter.value).in_body(library);
        quote!(.setter_type::<#kind>())
    });
    quote! {
        .raw_property::<#kind>(#name.as_str(), #functions)
        #setter
        #emits
        #(#annotations)*
    }
}

fn get_function(getter: &PropertyPart, library: &Path) -> TokenStream {
    let ident = &getter.ident;
    let body = quote!(#library::wire::body);
    let place = Span::mixed_site().located_at(getter.value.span());
    quote_spanned! {place=>
        ::std::boxed::Box::new(|state: &Self, writer: &mut #body::Writer<'_>| {
            #body::Encode::encode(&#body::Variant(Self::#ident(state)), writer)
        })
    }
}

fn set_function(setter: &PropertyPart, library: &Path) -> TokenStream {
    let PartKind::Setter { parameters, returned } = &setter.kind else {
        unreachable!("the parts are sorted by their kinds");
    };
    let place = Span::mixed_site().located_at(setter.value.span());
    let ident = &setter.ident;
    let kind = ArgumentType::of(&setter.value).in_body(library);
    let passed = parameters.iter().map(|parameter| match parameter {
        ServedParameter::Call => quote_spanned!(place=> call),
        ServedParameter::Argument(_) | ServedParameter::Reply(_) => quote_spanned!(place=> value),
    });
    let invoked = quote_spanned!(place=> Self::#ident(state, #(#passed),*));
    let outcome = outcome(returned, &invoked, library, place);
    let variant = quote!(#library::wire::body::Variant);
    let returned_type = quote!(-> ::core::result::Result<(), #library::MethodError>);
    quote_spanned! {place=>
        ::std::boxed::Box::new(|state: &mut Self, call: &#library::IncomingCall| #returned_type {
            let (_, _, #variant(value)) = call.read::<(&str, &str, #variant<#kind>)>()?;
            #outcome
        })
    }
}

fn signal(signal: &ServedSignal, library: &Path) -> TokenStream {
    let (name, annotations) = (signal.head.text(library), annotations(&signal.head.annotations));
    let kinds = signal.arguments.iter().map(|argument| argument.kind.in_body(library));
    let names = signal.arguments.iter().map(|argument| argument.name());
    quote!(.signal::<(#(#kinds,)*)>(#name, &[#(#names),*]) #annotations)
}

/// The function that emits a signal.
fn signal_function(signal: &ServedSignal, model: &ServedModel) -> TokenStream {
    let library = &model.arguments.library;
    let ServedSignal { ident, visibility, attributes, arguments, head } = signal;
    let constant = member_name(&head.member, library);
    let emitter = Ident::new("emitter", Span::mixed_site());
    let parameters = arguments.iter().map(|argument| {
        let (ident, kind) = (&argument.ident, argument.kind.written());
        quote!(#ident: #kind)
    });
    let values = arguments.iter().map(|argument| &argument.ident);
    quote! {
        #(#attributes)*
        ///
        /// Emits the signal from the object, or from the object that a call is to.
        ///
        /// # Errors
        ///
        /// If an argument cannot be encoded, or the connection ended.
        #visibility fn #ident(
            #emitter: &impl #library::SignalEmitter<Self>,
            #(#parameters),*
        ) -> ::core::result::Result<(), #library::EmitError> {
            #library::SignalEmitter::<Self>::emit_signal(#emitter, #constant, &(#(#values,)*))
        }
    }
}

/// The function that announces a changed property.
fn change_function(property: &ServedProperty, model: &ServedModel) -> Option<TokenStream> {
    let library = &model.arguments.library;
    let getter = property.getter.as_ref()?;
    if let ChangeSignal::Const | ChangeSignal::No = property.change_signal() {
        return None;
    }
    let (visibility, member) = (&getter.visibility, &property.member);
    let ident = format_ident!("{}_changed", getter.ident, span = getter.ident.span());
    let about = format!("Announces that the property `{}` changed.", member.value());
    Some(quote! {
        #[doc = #about]
        #visibility fn #ident(emitter: &impl #library::SignalEmitter<Self>) {
            #library::SignalEmitter::<Self>::announce_changes(emitter, &[#member]);
        }
    })
}
