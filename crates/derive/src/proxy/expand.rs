//! Generates the two proxies and the struct of properties.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::method::method;
use super::model::{MemberHead, ProxyGetter, ProxyModel, ProxySetter, ProxySignal};

/// The front end that a proxy uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProxyFrontEnd {
    Blocking,
    Asynchronous,
}

pub(super) fn expand(model: &ProxyModel) -> TokenStream {
    let blocking = proxy(model, ProxyFrontEnd::Blocking);
    let asynchronous = proxy(model, ProxyFrontEnd::Asynchronous);
    let properties = (!model.getters.is_empty()).then(|| properties(model));
    quote! {
        #blocking
        #asynchronous
        #properties
    }
}

impl ProxyFrontEnd {
    /// The module of the client library.
    fn module(self, model: &ProxyModel) -> TokenStream {
        let library = &model.arguments.library;
        match self {
            Self::Blocking => quote!(#library),
            Self::Asynchronous => quote!(#library::asynchronous),
        }
    }

    /// The keyword in front of functions that wait.
    fn keyword(self) -> Option<TokenStream> {
        match self {
            Self::Blocking => None,
            Self::Asynchronous => Some(quote!(async)),
        }
    }

    /// What follows an expression that waits.
    pub(super) fn wait(self, place: Span) -> Option<TokenStream> {
        match self {
            Self::Blocking => None,
            Self::Asynchronous => Some(quote_spanned!(place=> .await)),
        }
    }
}

impl ProxyModel {
    fn type_name(&self, front_end: ProxyFrontEnd) -> Ident {
        match front_end {
            ProxyFrontEnd::Blocking => format_ident!("{}Proxy", self.name),
            ProxyFrontEnd::Asynchronous => format_ident!("Async{}Proxy", self.name),
        }
    }

    fn properties_name(&self) -> Ident {
        format_ident!("{}Properties", self.name)
    }
}

impl MemberHead {
    /// The constant with the name of the member, which the compiler checks.
    pub(super) fn constant(&self, model: &ProxyModel) -> TokenStream {
        let (library, member) = (&model.arguments.library, &self.member);
        quote_spanned! {member.span()=>
            const { #library::wire::names::MemberName::literal(#member) }
        }
    }
}

fn proxy(model: &ProxyModel, front_end: ProxyFrontEnd) -> TokenStream {
    let (name, module) = (model.type_name(front_end), front_end.module(model));
    let (visibility, attributes) = (&model.visibility, &model.attributes);
    let library = &model.arguments.library;
    let interface = &model.arguments.interface;
    let constant = quote_spanned! {interface.span()=>
        #library::wire::names::InterfaceName::literal(#interface)
    };
    let constructors = constructors(model, front_end);
    let methods = model.methods.iter().map(|one| method(model, one, front_end));
    let getters = model.getters.iter().map(|one| getter(model, one, front_end));
    let setters = model.setters.iter().map(|one| setter(model, one, front_end));
    let signals = model.signals.iter().map(|one| signal(model, one, front_end));
    let all = (!model.getters.is_empty()).then(|| all_properties(model, front_end));
    quote! {
        #(#attributes)*
        #[derive(Clone, Debug)]
        #[allow(dead_code)]
        #visibility struct #name<'n> {
            proxy: #module::Proxy<'n>,
        }

        #[allow(
            dead_code,
            deprecated,
            clippy::too_many_arguments,
            clippy::type_complexity
        )]
        impl<'n> #name<'n> {
            /// The name of the interface.
            pub const INTERFACE: #library::wire::names::InterfaceName<'static> = #constant;

            #constructors

            /// The proxy without types, for other calls, and for subscriptions with more
            /// conditions.
            pub const fn proxy(&self) -> &#module::Proxy<'n> {
                &self.proxy
            }

            #(#methods)*
            #(#getters)*
            #(#setters)*
            #(#signals)*
            #all
        }
    }
}

/// The functions `new`, whose parameters have no default, `at` and `of_peer`.
fn constructors(model: &ProxyModel, front_end: ProxyFrontEnd) -> TokenStream {
    let (library, module) = (&model.arguments.library, front_end.module(model));
    let names = quote!(#library::wire::names);
    let service =
        model.arguments.default_service.as_ref().map(
            |name| quote_spanned!(name.span()=> const { #names::WellKnownName::literal(#name) }),
        );
    let path = model
        .arguments
        .default_path
        .as_ref()
        .map(|path| quote_spanned!(path.span()=> const { #names::ObjectPath::literal(#path) }));
    let destination = quote!(destination: impl #library::IntoName<#names::BusName<'n>>);
    let object = quote!(path: impl #library::IntoName<#names::ObjectPath<'n>>);
    let returned = quote!(::core::result::Result<Self, #library::InvalidName>);
    let new = match (service, path) {
        (Some(service), Some(path)) => quote! {
            /// Creates a proxy for the object with the default path of the default service. This
            /// sends no message.
            pub fn new(connection: &#module::Connection) -> Self {
                let proxy = connection.proxy(#service, #path, Self::INTERFACE);
                Self { proxy: #library::macro_support::checked(proxy) }
            }
        },
        (Some(service), None) => quote! {
            /// Creates a proxy for an object of the default service. This sends no message.
            ///
            /// # Errors
            ///
            /// If the path is malformed.
            pub fn new(connection: &#module::Connection, #object) -> #returned {
                Self::at(connection, #service, path)
            }
        },
        (None, Some(path)) => quote! {
            /// Creates a proxy for the object with the default path of a service. This sends no
            /// message.
            ///
            /// # Errors
            ///
            /// If the name of the service is malformed.
            pub fn new(connection: &#module::Connection, #destination) -> #returned {
                Self::at(connection, destination, #path)
            }
        },
        (None, None) => TokenStream::new(),
    };
    quote! {
        #new

        /// Creates a proxy for any object of any service. This sends no message.
        ///
        /// # Errors
        ///
        /// If one of the names is malformed.
        pub fn at(connection: &#module::Connection, #destination, #object) -> #returned {
            let proxy = connection.proxy(destination, path, Self::INTERFACE)?;
            ::core::result::Result::Ok(Self { proxy })
        }

        /// Creates a proxy for an object of the peer at the other end of a connection without a
        /// bus. This sends no message.
        ///
        /// # Errors
        ///
        /// If the path is malformed.
        pub fn of_peer(connection: &#module::Connection, #object) -> #returned {
            let proxy = connection.peer_proxy(path, Self::INTERFACE)?;
            ::core::result::Result::Ok(Self { proxy })
        }
    }
}

fn getter(model: &ProxyModel, getter: &ProxyGetter, front_end: ProxyFrontEnd) -> TokenStream {
    let ProxyGetter { head, kind, returns } = getter;
    let (ident, attributes, constant) = (&head.ident, &head.attributes, head.constant(model));
    let place = Span::mixed_site().located_at(returns.span());
    let (keyword, wait) = (front_end.keyword(), front_end.wait(place));
    let this = quote!(self);
    let body = quote_spanned! {place=>
        let value = #this.proxy.get::<#kind>(#constant) #wait?;
        ::core::result::Result::Ok(value)
    };
    quote! {
        #(#attributes)*
        pub #keyword fn #ident(&self) -> #returns {
            #body
        }
    }
}

fn setter(model: &ProxyModel, setter: &ProxySetter, front_end: ProxyFrontEnd) -> TokenStream {
    let ProxySetter { head, argument, returns } = setter;
    let (ident, attributes, constant) = (&head.ident, &head.attributes, head.constant(model));
    let (value, kind) = (&argument.ident, argument.kind.written());
    let place = Span::mixed_site().located_at(returns.span());
    let (keyword, wait) = (front_end.keyword(), front_end.wait(place));
    let this = quote!(self);
    let body = quote_spanned! {place=>
        #this.proxy.set(#constant, &#value) #wait?;
        ::core::result::Result::Ok(())
    };
    quote! {
        #(#attributes)*
        pub #keyword fn #ident(&self, #value: #kind) -> #returns {
            #body
        }
    }
}

fn signal(model: &ProxyModel, signal: &ProxySignal, front_end: ProxyFrontEnd) -> TokenStream {
    let ProxySignal { head, arguments } = signal;
    let (library, module) = (&model.arguments.library, front_end.module(model));
    let (attributes, constant) = (&head.attributes, head.constant(model));
    let ident = format_ident!("subscribe_{}", head.ident, span = head.ident.span());
    let (keyword, wait) = (front_end.keyword(), front_end.wait(Span::call_site()));
    let about = format!("Subscribes to the signal `{}`.", head.member.value());
    let separator = (!attributes.is_empty()).then(|| quote!(#[doc = ""]));
    quote! {
        #[doc = #about]
        #separator
        #(#attributes)*
        ///
        /// # Errors
        ///
        /// If the bus refuses the match rule, or the connection ended.
        pub #keyword fn #ident(
            &self,
        ) -> ::core::result::Result<
            #module::SignalSubscription<(#(#arguments,)*)>,
            #library::SubscribeError,
        > {
            let subscription = self.proxy.signals(#constant) #wait?;
            ::core::result::Result::Ok(#module::SignalSubscription::new(subscription))
        }
    }
}

/// The functions for all properties at once.
fn all_properties(model: &ProxyModel, front_end: ProxyFrontEnd) -> TokenStream {
    let (library, module) = (&model.arguments.library, front_end.module(model));
    let properties = model.properties_name();
    let (keyword, wait) = (front_end.keyword(), front_end.wait(Span::call_site()));
    quote! {
        /// Reads all properties.
        ///
        /// # Errors
        ///
        /// If the call fails, or a property has another type.
        pub #keyword fn properties(
            &self,
        ) -> ::core::result::Result<#properties, #library::CallError> {
            self.proxy.get_all() #wait
        }

        /// Subscribes to changes of the properties.
        ///
        /// # Errors
        ///
        /// If the bus refuses the match rule, or the connection ended.
        pub #keyword fn property_changes(
            &self,
        ) -> ::core::result::Result<
            #module::SignalSubscription<#library::PropertyChanges<#properties>>,
            #library::SubscribeError,
        > {
            let subscription = self.proxy.property_changes() #wait?;
            ::core::result::Result::Ok(#module::SignalSubscription::new(subscription))
        }
    }
}

/// The struct with all properties that can be read.
fn properties(model: &ProxyModel) -> TokenStream {
    let (name, visibility) = (model.properties_name(), &model.visibility);
    let library = &model.arguments.library;
    let fields: Vec<_> = model.getters.iter().map(|getter| &getter.head.ident).collect();
    let members: Vec<_> = model.getters.iter().map(|getter| &getter.head.member).collect();
    let kinds = model.getters.iter().map(|getter| &getter.kind);
    let documented = model.getters.iter().map(|getter| {
        let is_doc = |attribute: &&syn::Attribute| attribute.path().is_ident("doc");
        let own: Vec<_> = getter.head.attributes.iter().filter(is_doc).collect();
        let about = format!("The property `{}`.", getter.head.member.value());
        if own.is_empty() { quote!(#[doc = #about]) } else { quote!(#(#own)*) }
    });
    let about = format!("The properties of `{}`.", model.arguments.interface.value());
    let wire = quote!(#library::wire);
    quote! {
        #[doc = #about]
        /// A property that the object does not have, or that did not change, is `None`.
        #[derive(Clone, Debug, Default, PartialEq, #library::Typed, #library::Decode)]
        #[dbus(dict, crate = #wire)]
        #[allow(dead_code, clippy::type_complexity)]
        #visibility struct #name {
            #(
                #documented
                #[dbus(rename = #members)]
                pub #fields: ::core::option::Option<#kinds>,
            )*
        }

        #[allow(dead_code)]
        impl #name {
            /// Applies a change: takes over the changed values, and removes the invalidated ones.
            pub fn apply(&mut self, change: #library::PropertyChanges<Self>) {
                #(
                    if let ::core::option::Option::Some(value) = change.changed.#fields {
                        self.#fields = ::core::option::Option::Some(value);
                    } else if change.invalidated.iter().any(|name| name == #members) {
                        self.#fields = ::core::option::Option::None;
                    }
                )*
            }
        }
    }
}
