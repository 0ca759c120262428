//! The types in the signature of a member: arguments, results, and what they are on D-Bus.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    FnArg, GenericArgument, Pat, PatType, Path, PathArguments, ReturnType, Type, TypeReference,
    TypeTuple,
};

use crate::members::{argument_name, error};

/// The type of an argument or result.
pub(crate) enum ArgumentType {
    /// A Rust type that has a D-Bus type.
    Plain(Box<Type>),
    /// `OwnedFd`: a descriptor of the message. The body has its index.
    OwnedDescriptor(Box<Type>),
    /// `BorrowedFd`: a descriptor of the message. The body has its index.
    BorrowedDescriptor(Box<Type>),
}

/// An argument with a name.
pub(crate) struct DeclaredArgument {
    pub(crate) ident: Ident,
    pub(crate) kind: ArgumentType,
}

/// What a function returns.
pub(crate) enum ReturnedType {
    /// The results, without a `Result`.
    Plain(ReturnedValue),
    /// A `Result`, and the results in its `Ok`.
    Fallible(ReturnedValue),
}

/// The results of a method, and how the function returns them.
pub(crate) struct ReturnedValue {
    pub(crate) results: Vec<ArgumentType>,
    pub(crate) form: ReturnedForm,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReturnedForm {
    /// One value, which is not in a tuple.
    Single,
    /// The fields of a tuple.
    Tuple,
}

impl ArgumentType {
    pub(crate) fn of(kind: &Type) -> Self {
        match last_word(kind).as_deref() {
            Some("OwnedFd") => Self::OwnedDescriptor(Box::new(kind.clone())),
            Some("BorrowedFd") => Self::BorrowedDescriptor(Box::new(kind.clone())),
            _ => Self::Plain(Box::new(kind.clone())),
        }
    }

    /// The type as it is declared.
    pub(crate) const fn written(&self) -> &Type {
        match self {
            Self::Plain(kind) | Self::OwnedDescriptor(kind) | Self::BorrowedDescriptor(kind) => {
                kind
            }
        }
    }

    /// The type, unless it is a descriptor.
    pub(crate) fn plain(&self) -> syn::Result<&Type> {
        match self {
            Self::Plain(kind) => Ok(kind),
            Self::OwnedDescriptor(kind) | Self::BorrowedDescriptor(kind) => {
                let text = "only methods pass descriptors as `OwnedFd`; use `UnixFd`, the index";
                Err(error(kind, text))
            }
        }
    }

    /// The type of the value in the body, with inferred lifetimes.
    pub(crate) fn in_body(&self, library: &Path) -> TokenStream {
        match self {
            Self::Plain(kind) => without_lifetimes(kind.to_token_stream()),
            Self::OwnedDescriptor(_) | Self::BorrowedDescriptor(_) => {
                quote!(#library::wire::body::UnixFd)
            }
        }
    }

    /// Checks that a value of this type can be kept without the message.
    pub(crate) fn check_owned(&self, text: &str) -> syn::Result<()> {
        match borrows(self.written().to_token_stream()) {
            true => Err(error(self.written(), text)),
            false => Ok(()),
        }
    }
}

impl DeclaredArgument {
    pub(crate) fn parse(argument: &FnArg) -> syn::Result<Self> {
        let FnArg::Typed(PatType { pat, ty, .. }) = argument else {
            return Err(error(argument, "expected an argument with a type"));
        };
        let Pat::Ident(pattern) = &**pat else {
            return Err(error(pat, "the argument needs a name, which introspection shows"));
        };
        if let Type::ImplTrait(_) = &**ty {
            return Err(error(ty, "the argument needs a type; `impl Trait` has no D-Bus type"));
        }
        Ok(Self { ident: pattern.ident.clone(), kind: ArgumentType::of(ty) })
    }

    /// The name of the argument on D-Bus.
    pub(crate) fn name(&self) -> String {
        argument_name(&self.ident)
    }
}

impl ReturnedType {
    pub(crate) fn parse(output: &ReturnType) -> Self {
        let ReturnType::Type(_, kind) = output else {
            return Self::Plain(ReturnedValue::nothing());
        };
        match result_argument(kind) {
            Some(inside) => Self::Fallible(ReturnedValue::of(inside)),
            None => Self::Plain(ReturnedValue::of(kind)),
        }
    }

    pub(crate) const fn value(&self) -> &ReturnedValue {
        match self {
            Self::Plain(value) | Self::Fallible(value) => value,
        }
    }
}

impl ReturnedValue {
    const fn nothing() -> Self {
        Self { results: Vec::new(), form: ReturnedForm::Tuple }
    }

    pub(crate) fn of(kind: &Type) -> Self {
        match kind {
            Type::Tuple(TypeTuple { elems, .. }) => {
                let results = elems.iter().map(ArgumentType::of).collect();
                Self { results, form: ReturnedForm::Tuple }
            }
            one => Self { results: vec![ArgumentType::of(one)], form: ReturnedForm::Single },
        }
    }

    /// The returned value, made from its results.
    pub(crate) fn built(&self, results: &[TokenStream]) -> TokenStream {
        match self.form {
            ReturnedForm::Single => quote!(#(#results)*),
            ReturnedForm::Tuple => quote!((#(#results,)*)),
        }
    }
}

/// The `T` of a type that is written `Result<T>` or `Result<T, E>`, with or without its path.
pub(crate) fn result_argument(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Result")?;
    argument_of(&last.arguments)
}

/// The `T` of a type that is written `Name<T>`, with or without its path.
pub(crate) fn wrapped_type<'t>(kind: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = kind else { return None };
    argument_of(&path.path.segments.last().filter(|last| last.ident == name)?.arguments)
}

fn argument_of(arguments: &PathArguments) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    })
}

/// The last word of the path of a type, without its arguments.
pub(crate) fn last_word(kind: &Type) -> Option<String> {
    let Type::Path(path) = kind else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// True for a reference to a type of this name.
pub(crate) fn is_reference_to(kind: &Type, name: &str) -> bool {
    match kind {
        Type::Reference(TypeReference { elem, .. }) => last_word(elem).as_deref() == Some(name),
        _ => false,
    }
}

/// True if a type has a reference or a lifetime.
fn borrows(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => matches!(punct.as_char(), '&' | '\''),
        TokenTree::Group(group) => borrows(group.stream()),
        TokenTree::Ident(_) | TokenTree::Literal(_) => false,
    })
}

/// The tokens with `'_` instead of other lifetimes, for a place where the compiler infers them.
fn without_lifetimes(tokens: TokenStream) -> TokenStream {
    let mut follows_quote = false;
    let replaced = tokens.into_iter().map(|token| {
        let is_name = std::mem::take(&mut follows_quote);
        match token {
            TokenTree::Ident(name) if is_name && name != "static" => {
                TokenTree::Ident(Ident::new("_", name.span()))
            }
            TokenTree::Punct(punct) => {
                follows_quote = punct.as_char() == '\'';
                TokenTree::Punct(punct)
            }
            TokenTree::Group(group) => {
                let inside = without_lifetimes(group.stream());
                let mut replaced = Group::new(group.delimiter(), inside);
                replaced.set_span(group.span());
                TokenTree::Group(replaced)
            }
            other => other,
        }
    });
    replaced.collect()
}
