//! The contents of `#[dbus(...)]`.

use proc_macro2::Span;
use quote::ToTokens as _;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{Attribute, LitStr, Path, parse_quote};

use crate::case::NameCase;

/// The attributes of a type.
pub(crate) struct TypeAttributes {
    /// The D-Bus form of the type, if the attributes set it.
    pub(crate) form: Option<(DerivedForm, Span)>,
    pub(crate) rename_all: Option<(NameCase, Span)>,
    /// The path of the crate `diligence-wire`.
    pub(crate) wire: Path,
}

/// The D-Bus forms that attributes can set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DerivedForm {
    Dict,
    Transparent,
    String,
}

impl TypeAttributes {
    pub(crate) fn parse(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut found =
            Self { form: None, rename_all: None, wire: parse_quote!(::diligence_client::wire) };
        for attribute in ours(attributes) {
            attribute.parse_nested_meta(|meta| {
                let span = meta.path.span();
                if meta.path.is_ident("dict") {
                    set_once(&mut found.form, (DerivedForm::Dict, span), span)
                } else if meta.path.is_ident("transparent") {
                    set_once(&mut found.form, (DerivedForm::Transparent, span), span)
                } else if meta.path.is_ident("string") {
                    set_once(&mut found.form, (DerivedForm::String, span), span)
                } else if meta.path.is_ident("rename_all") {
                    let case = parse_case(&meta.value()?.parse()?)?;
                    set_once(&mut found.rename_all, (case, span), span)
                } else if meta.path.is_ident("crate") {
                    found.wire = parse_library(meta.value()?)?;
                    Ok(())
                } else {
                    Err(meta
                        .error("expected `dict`, `transparent`, `string`, `rename_all` or `crate`"))
                }
            })?;
        }
        Ok(found)
    }
}

/// The name that `rename` gives to a field or a variant.
pub(crate) fn rename(attributes: &[Attribute]) -> syn::Result<Option<LitStr>> {
    let mut found = None;
    for attribute in ours(attributes) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("rename") {
                return Err(meta.error("expected `rename`"));
            }
            let name: LitStr = meta.value()?.parse()?;
            set_once(&mut found, name, meta.path.span())
        })?;
    }
    Ok(found)
}

pub(crate) fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("dbus"))
}

fn parse_case(text: &LitStr) -> syn::Result<NameCase> {
    let unknown = || syn::Error::new(text.span(), format!("expected {}", NameCase::spellings()));
    NameCase::parse(&text.value()).ok_or_else(unknown)
}

pub(crate) fn set_once<T>(slot: &mut Option<T>, value: T, span: Span) -> syn::Result<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(syn::Error::new(span, "this contradicts or repeats an earlier attribute")),
    }
}

/// Parses the path of a library after `crate =`. It gets the place of the whole attribute, so that
/// lints about paths do not take the generated code for code of the program.
pub(crate) fn parse_library(input: ParseStream<'_>) -> syn::Result<Path> {
    let path: Path = input.parse()?;
    let placed = path.into_token_stream().into_iter().map(|mut token| {
        token.set_span(Span::call_site());
        token
    });
    syn::parse2(placed.collect())
}
