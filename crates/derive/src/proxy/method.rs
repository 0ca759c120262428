//! Generates the methods of a proxy.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Path};

use super::expand::ProxyFrontEnd;
use super::model::{ProxyMethod, ProxyModel, ProxyParameter, ProxyReply};
use crate::signature_types::ArgumentType;

pub(super) fn method(
    model: &ProxyModel,
    method: &ProxyMethod,
    front_end: ProxyFrontEnd,
) -> TokenStream {
    let (ident, attributes) = (&method.head.ident, &method.head.attributes);
    let parameters = method.parameters.iter().map(|parameter| {
        let argument = parameter.argument();
        let (ident, kind) = (&argument.ident, argument.kind.written());
        quote!(#ident: #kind)
    });
    let (generics, clause) = (&method.generics.params, &method.generics.where_clause);
    let returns = &method.returns;
    let call = MethodCall::new(model, method);
    let (is_async, returned, body) = match (front_end, &method.reply) {
        (ProxyFrontEnd::Blocking, _) => (None, quote!(#returns), call.blocking(method)),
        (ProxyFrontEnd::Asynchronous, ProxyReply::Unwanted) => {
            (Some(quote!(async)), quote!(#returns), call.unanswered(method, front_end))
        }
        (ProxyFrontEnd::Asynchronous, _) => {
            let types = method.generics.params.iter().filter_map(|parameter| match parameter {
                GenericParam::Type(parameter) => Some(&parameter.ident),
                GenericParam::Const(parameter) => Some(&parameter.ident),
                GenericParam::Lifetime(_) => None,
            });
            let future = quote! {
                impl ::core::future::Future<Output = #returns> + use<#(#types),*>
            };
            (None, future, call.asynchronous(method))
        }
    };
    quote! {
        #(#attributes)*
        pub #is_async fn #ident<#generics>(&self, #(#parameters),*) -> #returned #clause {
            #body
        }
    }
}

impl ProxyParameter {
    const fn argument(&self) -> &crate::signature_types::DeclaredArgument {
        match self {
            Self::Argument(argument) | Self::Descriptors(argument) => argument,
        }
    }
}

/// The parts of a call that both front ends share.
struct MethodCall<'m> {
    library: &'m Path,
    /// The names of local variables differ from all names in the declaration. They are located at
    /// the returned type, which errors of conversions are about.
    place: Span,
    this: TokenStream,
    /// The name of the method.
    constant: TokenStream,
    /// Statements that prepare the descriptors.
    descriptors: TokenStream,
    message: TokenStream,
    arguments: TokenStream,
    options: TokenStream,
}

impl<'m> MethodCall<'m> {
    fn new(model: &'m ProxyModel, method: &ProxyMethod) -> Self {
        let library = &model.arguments.library;
        let place = Span::mixed_site().located_at(method.returns.span());
        let this = quote!(self);
        let constant = method.head.constant(model);
        let flags = method.flags.iter().map(|flag| {
            let flag = Ident::new(flag, place);
            quote_spanned!(place=> .flags(#library::wire::message::Flags::#flag))
        });
        let timeout = match &method.timeout {
            Some(timeout) => quote!(::core::convert::Into::into(#timeout)),
            None => quote!(#library::Timeout::OfConnection),
        };
        let arguments = method.parameters.iter().filter_map(|parameter| match parameter {
            ProxyParameter::Argument(argument) => Some(&argument.ident),
            ProxyParameter::Descriptors(_) => None,
        });
        Self {
            library,
            place,
            descriptors: descriptors(method, library, place),
            message: quote_spanned!(place=> #this.proxy.message(#constant) #(#flags)*),
            arguments: quote_spanned!(place=> (#(#arguments,)*)),
            options: quote_spanned! {place=>
                #library::CallOptions { timeout: #timeout, descriptors }
            },
            this,
            constant,
        }
    }

    fn blocking(&self, method: &ProxyMethod) -> TokenStream {
        if let ProxyReply::Unwanted = method.reply {
            return self.unanswered(method, ProxyFrontEnd::Blocking);
        }
        let Self { place, this, descriptors, message, arguments, options, .. } = self;
        let outcome = self.outcome(method);
        let checks = self.argument_checks(method);
        quote_spanned! {*place=>
            #checks
            #descriptors
            let connection = #this.proxy.connection();
            let call = connection.start_call(&#message, &#arguments, #options)?;
            let reply = call.wait()?;
            #outcome
        }
    }

    fn asynchronous(&self, method: &ProxyMethod) -> TokenStream {
        let Self { place, this, descriptors, message, arguments, options, .. } = self;
        let outcome = self.outcome(method);
        quote_spanned! {*place=>
            #descriptors
            let connection = #this.proxy.connection();
            let call = connection.start_call(&#message, &#arguments, #options);
            async move {
                let reply = call.await?;
                #outcome
            }
        }
    }

    fn unanswered(&self, _: &ProxyMethod, front_end: ProxyFrontEnd) -> TokenStream {
        let Self { library, place, this, descriptors, message, arguments, .. } = self;
        let wait = front_end.wait(*place);
        quote_spanned! {*place=>
            #descriptors
            let connection = #this.proxy.connection();
            let sent = connection.send(&#message, &#arguments, descriptors) #wait;
            sent.map_err(#library::CallError::from)?;
            ::core::result::Result::Ok(())
        }
    }

    /// Statements without effect, so that the error for a type that cannot be sent is at the type.
    fn argument_checks(&self, method: &ProxyMethod) -> TokenStream {
        let library = self.library;
        let checks = method.parameters.iter().filter_map(|parameter| match parameter {
            ProxyParameter::Argument(argument) => {
                let kind = argument.kind.in_body(library);
                let place = argument.kind.written().span();
                Some(quote_spanned!(place=> #library::macro_support::check_encode::<#kind>();))
            }
            ProxyParameter::Descriptors(_) => None,
        });
        checks.collect()
    }

    /// Turns the reply into what the method returns.
    fn outcome(&self, method: &ProxyMethod) -> TokenStream {
        let Self { library, place, constant, .. } = self;
        let value = match &method.reply {
            ProxyReply::Results(value) => value,
            ProxyReply::Whole | ProxyReply::Unwanted => {
                return quote_spanned!(*place=> ::core::result::Result::Ok(reply));
            }
        };
        let results = &value.results;
        let kinds = results.iter().map(|result| result.in_body(library));
        let names: Vec<_> =
            (0..results.len()).map(|place| format_ident!("result_{place}")).collect();
        let values = results.iter().zip(&names).map(|(result, name)| match result {
            ArgumentType::Plain(_) => quote!(#name),
            ArgumentType::OwnedDescriptor(_) | ArgumentType::BorrowedDescriptor(_) => {
                quote_spanned! {*place=>
                    #library::macro_support::owned_descriptor(&reply, #name)
                        .map_err(unreadable)?
                }
            }
        });
        let built = value.built(&values.collect::<Vec<_>>());
        quote_spanned! {*place=>
            let unreadable = |error| {
                #library::macro_support::unreadable(&reply, Self::INTERFACE, #constant, error)
            };
            let (#(#names,)*) = reply.read::<(#(#kinds,)*)>().map_err(unreadable)?;
            ::core::result::Result::Ok(#built)
        }
    }
}

/// Collects the descriptors of a call, and replaces the arguments by their indexes.
fn descriptors(method: &ProxyMethod, library: &Path, place: Span) -> TokenStream {
    let mut start = quote_spanned!(place=> let descriptors = ::std::vec::Vec::new(););
    let mut steps = TokenStream::new();
    for parameter in &method.parameters {
        match parameter {
            ProxyParameter::Descriptors(argument) => {
                let ident = &argument.ident;
                start = quote_spanned!(place=> let descriptors = #ident;);
            }
            ProxyParameter::Argument(argument) => {
                if let ArgumentType::OwnedDescriptor(_) = argument.kind {
                    let ident = &argument.ident;
                    steps.extend(quote_spanned! {place=>
                        let #ident = #library::macro_support::attach(&mut descriptors, #ident);
                    });
                }
            }
        }
    }
    if steps.is_empty() {
        return start;
    }
    quote_spanned! {place=>
        #start
        let mut descriptors: ::std::vec::Vec<::std::os::fd::OwnedFd> = descriptors;
        #steps
    }
}
