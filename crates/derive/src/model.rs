//! The D-Bus form of a type, parsed once from its definition.

use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DataEnum, DataStruct, DeriveInput, Field, Fields, GenericArgument, Generics,
    Ident, Path, PathArguments, Type,
};

use crate::attributes::{DerivedForm, TypeAttributes, rename};
use crate::case::NameCase;

/// A type for which the traits can be derived.
pub(crate) struct DeriveModel<'i> {
    pub(crate) name: &'i Ident,
    pub(crate) generics: &'i Generics,
    /// The path of the crate `diligence-wire`.
    pub(crate) wire: Path,
    pub(crate) kind: DerivedType<'i>,
}

/// The D-Bus form of the type.
pub(crate) enum DerivedType<'i> {
    /// A struct with the fields in order.
    Struct(&'i Fields),
    /// The form of its only field.
    Transparent(&'i Field),
    /// A dict of type `a{sv}`.
    Dict(Vec<DerivedEntry<'i>>),
    /// An integer of the type `repr`.
    Number { repr: Ident, variants: Vec<&'i Ident> },
    /// A string for each variant.
    Text(Vec<EnumWord<'i>>),
}

/// A field of a dict.
pub(crate) struct DerivedEntry<'i> {
    pub(crate) field: &'i Ident,
    pub(crate) key: String,
    pub(crate) presence: Presence<'i>,
}

/// Whether an entry is required, and the type of its value.
pub(crate) enum Presence<'i> {
    Required(&'i Type),
    Optional(&'i Type),
}

/// A variant of an enum that is marshaled as a string.
pub(crate) struct EnumWord<'i> {
    pub(crate) variant: &'i Ident,
    pub(crate) text: String,
}

impl<'i> DeriveModel<'i> {
    pub(crate) fn new(input: &'i DeriveInput) -> syn::Result<Self> {
        let attributes = TypeAttributes::parse(&input.attrs)?;
        let kind = match &input.data {
            Data::Struct(data) => struct_kind(&input.ident, data, &attributes)?,
            Data::Enum(data) => enum_kind(input, data, &attributes)?,
            Data::Union(_) => return Err(error(&input.ident, "a union has no D-Bus type")),
        };
        check_rename_all(&kind, &attributes)?;
        Ok(Self { name: &input.ident, generics: &input.generics, wire: attributes.wire, kind })
    }
}

fn struct_kind<'i>(
    name: &Ident,
    data: &'i DataStruct,
    attributes: &TypeAttributes,
) -> syn::Result<DerivedType<'i>> {
    match attributes.form {
        Some((DerivedForm::Dict, _)) => dict(name, &data.fields, attributes),
        Some((DerivedForm::Transparent, span)) => transparent(&data.fields, span),
        Some((DerivedForm::String, span)) => Err(syn::Error::new(span, "`string` is for enums")),
        None if data.fields.is_empty() => {
            Err(error(name, "D-Bus has no struct without fields; is `#[dbus(dict)]` meant?"))
        }
        None => {
            for field in &data.fields {
                refuse_rename(&field.attrs)?;
            }
            Ok(DerivedType::Struct(&data.fields))
        }
    }
}

fn dict<'i>(
    name: &Ident,
    fields: &'i Fields,
    attributes: &TypeAttributes,
) -> syn::Result<DerivedType<'i>> {
    let case = attributes.rename_all.map(|(case, _)| case);
    let entry = |field: &'i Field| {
        let unnamed = || error(name, "the fields of a dict need names");
        let ident = field.ident.as_ref().ok_or_else(unnamed)?;
        let key = spell(ident, &field.attrs, case)?;
        Ok(DerivedEntry { field: ident, key, presence: Presence::of(&field.ty) })
    };
    fields.iter().map(entry).collect::<syn::Result<_>>().map(DerivedType::Dict)
}

impl<'i> Presence<'i> {
    fn of(kind: &'i Type) -> Self {
        option_argument(kind).map_or(Self::Required(kind), Self::Optional)
    }
}

/// The `T` of a type that is written `Option<T>`, with or without its path.
fn option_argument(kind: &Type) -> Option<&Type> {
    let Type::Path(path) = kind else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    }
}

fn transparent(fields: &Fields, span: Span) -> syn::Result<DerivedType<'_>> {
    let mut iter = fields.iter();
    match (iter.next(), iter.next()) {
        (Some(field), None) => Ok(DerivedType::Transparent(field)),
        _ => Err(syn::Error::new(span, "`transparent` is for structs of one field")),
    }
}

fn enum_kind<'i>(
    input: &'i DeriveInput,
    data: &'i DataEnum,
    attributes: &TypeAttributes,
) -> syn::Result<DerivedType<'i>> {
    if data.variants.is_empty() {
        return Err(error(&input.ident, "an enum without variants has no value to travel"));
    }
    if let Some(variant) = data.variants.iter().find(|variant| !variant.fields.is_empty()) {
        return Err(error(variant, "D-Bus has no type for a variant with data"));
    }
    match attributes.form {
        Some((DerivedForm::String, _)) => words(data, attributes),
        Some((_, span)) => Err(syn::Error::new(span, "`dict` and `transparent` are for structs")),
        None => {
            for variant in &data.variants {
                refuse_rename(&variant.attrs)?;
            }
            let variants = data.variants.iter().map(|variant| &variant.ident).collect();
            Ok(DerivedType::Number { repr: repr(input)?, variants })
        }
    }
}

fn words<'i>(data: &'i DataEnum, attributes: &TypeAttributes) -> syn::Result<DerivedType<'i>> {
    let case = attributes.rename_all.map(|(case, _)| case);
    let word = |variant: &'i syn::Variant| {
        let text = spell(&variant.ident, &variant.attrs, case)?;
        Ok(EnumWord { variant: &variant.ident, text })
    };
    data.variants.iter().map(word).collect::<syn::Result<_>>().map(DerivedType::Text)
}

/// The integer that `#[repr(...)]` names.
fn repr(input: &DeriveInput) -> syn::Result<Ident> {
    let mut found = Ident::new("u32", Span::call_site());
    for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        let integer: Ident = attribute.parse_args()?;
        if !INTEGERS.iter().any(|allowed| integer == allowed) {
            let text = format!("D-Bus has no such integer; expected one of {INTEGERS:?}");
            return Err(error(&integer, &text));
        }
        found = integer;
    }
    Ok(found)
}

/// The name of a field or variant on D-Bus.
fn spell(ident: &Ident, attributes: &[Attribute], case: Option<NameCase>) -> syn::Result<String> {
    if let Some(name) = rename(attributes)? {
        return Ok(name.value());
    }
    let text = ident.to_string();
    let name = text.strip_prefix("r#").unwrap_or(&text);
    Ok(case.map_or_else(|| name.to_owned(), |case| case.apply(name)))
}

fn refuse_rename(attributes: &[Attribute]) -> syn::Result<()> {
    match rename(attributes)? {
        None => Ok(()),
        Some(name) => Err(error(&name, "only fields of dicts and words of enums have a name")),
    }
}

fn check_rename_all(kind: &DerivedType<'_>, attributes: &TypeAttributes) -> syn::Result<()> {
    match (kind, attributes.rename_all) {
        (DerivedType::Dict(_) | DerivedType::Text(_), _) | (_, None) => Ok(()),
        (_, Some((_, span))) => {
            Err(syn::Error::new(span, "only `dict` and `string` have names to spell"))
        }
    }
}

fn error(place: &(impl ToTokens + Spanned), text: &str) -> syn::Error {
    syn::Error::new(place.span(), text)
}

/// The integers that are D-Bus types.
const INTEGERS: [&str; 7] = ["u8", "i16", "u16", "i32", "u32", "i64", "u64"];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &str) {
        let input: DeriveInput = syn::parse_str(source).expect(source);
        let found =
            DeriveModel::new(&input).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{found}");
    }

    #[test]
    fn supported_types_can_be_derived() {
        for source in [
            "struct A { x: u8 }",
            "struct A(u8, u16);",
            "#[dbus(transparent)] struct A(u8);",
            "#[dbus(dict, rename_all = \"kebab-case\")] struct A { #[dbus(rename = \"X\")] x: u8 }",
            "#[dbus(dict)] struct A {}",
            "#[dbus(crate = crate::wire)] #[repr(i16)] enum A { X, Y = 7 }",
            "enum A { X }",
            "#[dbus(string)] enum A { #[dbus(rename = \"x\")] X }",
        ] {
            check(source, "");
        }
    }

    #[test]
    fn unsupported_types_are_rejected_with_a_reason() {
        for (source, expected) in [
            ("struct A;", "no struct without fields"),
            ("union A { x: u8 }", "a union"),
            ("enum A {}", "without variants"),
            ("enum A { X(u8) }", "variant with data"),
            ("#[repr(usize)] enum A { X }", "no such integer"),
            ("#[dbus(dict)] struct A(u8);", "need names"),
            ("#[dbus(dict)] enum A { X }", "are for structs"),
            ("#[dbus(string)] struct A(u8);", "is for enums"),
            ("#[dbus(transparent)] struct A(u8, u8);", "of one field"),
            ("#[dbus(dict, dict)] struct A {}", "repeats"),
            ("#[dbus(rename_all = \"x\")] struct A(u8);", "expected \"lowercase\""),
            ("#[dbus(rename_all = \"lowercase\")] struct A(u8);", "names to spell"),
            ("#[dbus(map)] struct A(u8);", "expected `dict`"),
            ("struct A { #[dbus(rename = \"y\")] x: u8 }", "have a name"),
            ("enum A { #[dbus(key)] X }", "expected `rename`"),
        ] {
            check(source, expected);
        }
    }
}
