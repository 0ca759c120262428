//! Generates the conversions between error enums and errors of D-Bus.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Fields, Ident, LitStr, Path, Type, Variant, parse_quote};
use wire::names::ErrorName;

use crate::attributes::{ours, parse_library, set_once};
use crate::members::{check_name, collect, error};
use crate::signature_types::last_word;

/// An enum of errors.
struct ErrorModel<'i> {
    name: &'i Ident,
    /// The path of the crate `diligence-client`.
    library: Path,
    variants: Vec<ErrorVariant<'i>>,
}

struct ErrorVariant<'i> {
    ident: &'i Ident,
    fields: &'i Fields,
    kind: VariantKind,
}

enum VariantKind {
    /// The error with this name.
    Named(LitStr),
    /// All other errors of a call.
    Other,
}

pub(crate) fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let model = ErrorModel::new(input)?;
    let to_reply = model.reply_conversion();
    let from_call = model.call_conversion()?;
    Ok(quote!(#to_reply #from_call))
}

impl<'i> ErrorModel<'i> {
    fn new(input: &'i DeriveInput) -> syn::Result<Self> {
        let Data::Enum(data) = &input.data else {
            return Err(error(&input.ident, "only enums are errors with names"));
        };
        if !input.generics.params.is_empty() {
            return Err(error(&input.generics, "an error enum has no parameters"));
        }
        let (mut prefix, mut library) = (None, parse_quote!(::diligence_client));
        for attribute in ours(&input.attrs) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("prefix") {
                    set_once(&mut prefix, meta.value()?.parse()?, meta.path.span())
                } else if meta.path.is_ident("crate") {
                    library = parse_library(meta.value()?)?;
                    Ok(())
                } else {
                    Err(meta.error("expected `prefix` or `crate`"))
                }
            })?;
        }
        let variant = |variant: &'i Variant| {
            let (ident, fields) = (&variant.ident, &variant.fields);
            let kind = VariantKind::parse(variant, prefix.as_ref())?;
            Ok(ErrorVariant { ident, fields, kind })
        };
        let variants = collect(data.variants.iter().map(variant))?;
        Ok(Self { name: &input.ident, library, variants })
    }

    /// The conversion to the error that a served method replies with.
    fn reply_conversion(&self) -> TokenStream {
        let Self { name, library, variants } = self;
        let arms = variants.iter().map(|variant| {
            let ident = variant.ident;
            match &variant.kind {
                VariantKind::Named(text) => {
                    let constant = quote_spanned! {text.span()=>
                        const { #library::wire::names::ErrorName::literal(#text) }
                    };
                    quote! {
                        #name::#ident { .. } => #constant,
                    }
                }
                VariantKind::Other => quote! {
                    #name::#ident(other) => return Self::from(other),
                },
            }
        });
        quote! {
            #[automatically_derived]
            impl ::core::convert::From<#name> for #library::MethodError {
                fn from(error: #name) -> Self {
                    let text = ::std::string::ToString::to_string(&error);
                    let name = match error { #(#arms)* };
                    Self::new(name, text)
                }
            }
        }
    }

    /// The conversion from the error of a call, if the enum has a variant for all other errors.
    fn call_conversion(&self) -> syn::Result<Option<TokenStream>> {
        let Self { name, library, variants } = self;
        let is_other = |variant: &&ErrorVariant<'_>| matches!(variant.kind, VariantKind::Other);
        let mut others = variants.iter().filter(is_other);
        let Some(other) = others.next().map(|variant| variant.ident) else { return Ok(None) };
        if let Some(second) = others.next() {
            return Err(error(second.ident, "only one variant is for all other errors"));
        }
        let arms = collect(variants.iter().filter_map(|variant| match &variant.kind {
            VariantKind::Named(text) => Some(variant.built().map(|built| quote!(#text => #built,))),
            VariantKind::Other => None,
        }))?;
        Ok(Some(quote! {
            #[automatically_derived]
            impl ::core::convert::From<#library::CallError> for #name {
                fn from(error: #library::CallError) -> Self {
                    let #library::CallError::Remote { name, message, method } = error else {
                        return Self::#other(error);
                    };
                    match name.as_str() {
                        #(#arms)*
                        _ => Self::#other(#library::CallError::Remote { name, message, method }),
                    }
                }
            }
        }))
    }
}

impl ErrorVariant<'_> {
    /// The variant for a received error, whose text is `message`.
    fn built(&self) -> syn::Result<TokenStream> {
        let ident = self.ident;
        let mut fields = self.fields.iter();
        match (self.fields, fields.next(), fields.next()) {
            (Fields::Unit, ..) => Ok(quote!(Self::#ident)),
            (Fields::Unnamed(_), Some(one), None) if is_string(&one.ty) => {
                Ok(quote!(Self::#ident(message)))
            }
            _ => {
                let text = "an error that is received has a text only: use a variant without \
                            fields, or with one `String`";
                Err(error(self.fields, text))
            }
        }
    }
}

fn is_string(kind: &Type) -> bool {
    last_word(kind).as_deref() == Some("String")
}

impl VariantKind {
    fn parse(variant: &Variant, prefix: Option<&LitStr>) -> syn::Result<Self> {
        let (mut name, mut other) = (None::<LitStr>, None);
        for attribute in ours(&variant.attrs) {
            attribute.parse_nested_meta(|meta| {
                let span = meta.path.span();
                if meta.path.is_ident("rename") {
                    set_once(&mut name, meta.value()?.parse()?, span)
                } else if meta.path.is_ident("other") {
                    set_once(&mut other, span, span)
                } else {
                    Err(meta.error("expected `rename` or `other`"))
                }
            })?;
        }
        if let Some(span) = other {
            return match (&variant.fields, &name) {
                (Fields::Unnamed(fields), None) if fields.unnamed.len() == 1 => Ok(Self::Other),
                _ => Err(syn::Error::new(span, "`other` is for a variant with one `CallError`")),
            };
        }
        let own = name.unwrap_or_else(|| {
            LitStr::new(&variant.ident.unraw().to_string(), variant.ident.span())
        });
        let name = match prefix {
            _ if own.value().contains('.') => own,
            Some(prefix) => LitStr::new(&format!("{}.{}", prefix.value(), own.value()), own.span()),
            None => {
                let text = "the name needs a prefix: `#[dbus(prefix = \"...\")]` on the enum, or \
                            a complete name with `#[dbus(rename = \"...\")]`";
                return Err(error(&variant.ident, text));
            }
        };
        check_name(&name, "error name", |text| ErrorName::new(text).map(drop))?;
        Ok(Self::Named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_accepted, check_error};

    fn expand_text(source: &str) -> syn::Result<TokenStream> {
        expand(&syn::parse_str(source).expect(source))
    }

    #[test]
    fn error_enums_with_names_are_accepted() {
        for source in [
            "#[dbus(prefix = \"a.b\")] enum E { X, Y(u8, u8), Z { z: u8 } }",
            "enum E { #[dbus(rename = \"a.b.X\")] X(String) }",
            "#[dbus(prefix = \"a.b\", crate = x)] enum E { X, Y(String), #[dbus(other)] Z(C) }",
        ] {
            check_accepted(expand_text(source), source);
        }
    }

    #[test]
    fn unsuitable_error_types_are_rejected_with_a_reason() {
        for (source, place, expected) in [
            ("struct E;", "E", "only enums"),
            ("enum E<T> { X(T) }", "<T>", "no parameters"),
            ("enum E { X }", "X", "needs a prefix"),
            ("#[dbus(prefix = \"a b\")] enum E { X }", "X", "\"a b.X\" is not a valid error name"),
            ("#[dbus(name = \"a\")] enum E {}", "name", "expected `prefix`"),
            ("#[dbus(prefix = \"a.b\")] enum E { #[dbus(name)] X }", "name", "expected `rename`"),
            ("enum E { #[dbus(other)] X }", "other", "one `CallError`"),
            ("enum E { #[dbus(other)] X(C), #[dbus(other)] Y(C) }", "Y", "only one variant"),
            (
                "#[dbus(prefix = \"a.b\")] enum E { X(u8), #[dbus(other)] Y(C) }",
                "(u8)",
                "has a text only",
            ),
        ] {
            check_error(expand_text(source), source, place, expected);
        }
    }
}
