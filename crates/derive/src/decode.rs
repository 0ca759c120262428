//! Generates `Decode`, which reads values.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Fields, Generics, Ident, Lifetime, Path, Type, parse_quote};

use crate::model::{DeriveModel, DerivedEntry, DerivedType, EnumWord, Presence};
use crate::typed::{shape_of, with_bound};

pub(crate) fn expand(model: &DeriveModel<'_>) -> syn::Result<TokenStream> {
    let DeriveModel { name, wire, kind, generics } = model;
    let message = message_lifetime(generics)?;
    let bound = parse_quote!(#wire::body::Decode<#message>);
    let mut impl_generics = with_bound(generics, &bound);
    if generics.lifetimes().next().is_none() {
        impl_generics.params.insert(0, parse_quote!(#message));
    }
    let (parameters, _, clause) = impl_generics.split_for_impl();
    let (_, arguments, _) = generics.split_for_impl();
    let body = body(model, kind, &message);
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #wire::body::Decode<#message> for #name #arguments #clause {
            fn decode(
                reader: &mut #wire::body::Reader<#message>,
            ) -> ::core::result::Result<Self, #wire::body::ReadError> {
                #body
            }
        }
    })
}

/// The lifetime of the message that values are read from: the type's own, if it borrows.
fn message_lifetime(generics: &Generics) -> syn::Result<Lifetime> {
    let mut lifetimes = generics.lifetimes();
    let own = lifetimes.next().map(|parameter| parameter.lifetime.clone());
    if let Some(second) = lifetimes.next() {
        let text = "a type that is read may borrow from the message only, with one lifetime";
        return Err(syn::Error::new(second.lifetime.span(), text));
    }
    Ok(own.unwrap_or_else(|| Lifetime::new("'message", Span::call_site())))
}

fn body(model: &DeriveModel<'_>, kind: &DerivedType<'_>, message: &Lifetime) -> TokenStream {
    let wire = &model.wire;
    match kind {
        DerivedType::Struct(fields) => struct_body(fields, wire),
        DerivedType::Transparent(field) => {
            let value = quote!(#wire::body::Decode::decode(reader)?);
            let built = field
                .ident
                .as_ref()
                .map_or(quote!(Self(#value)), |name| quote!(Self { #name: #value }));
            quote!(::core::result::Result::Ok(#built))
        }
        DerivedType::Dict(entries) => dict_body(entries, wire, message),
        DerivedType::Number { repr, variants } => number_body(model.name, repr, variants, wire),
        DerivedType::Text(words) => text_body(model.name, words, wire),
    }
}

/// Fields are read in the order of their declaration, which is the order of evaluation.
fn struct_body(fields: &Fields, wire: &Path) -> TokenStream {
    let members = fields.members();
    quote! {
        reader.start_struct()?;
        ::core::result::Result::Ok(Self { #(#members: #wire::body::Decode::decode(reader)?,)* })
    }
}

fn dict_body(entries: &[DerivedEntry<'_>], wire: &Path, message: &Lifetime) -> TokenStream {
    let slots: Vec<Ident> =
        entries.iter().map(|entry| format_ident!("slot_{}", entry.field)).collect();
    let types: Vec<&Type> = entries.iter().map(|entry| entry.presence.value_type()).collect();
    let keys = entries.iter().map(|entry| &entry.key);
    let values = types.iter().map(|kind| entry_value(kind, wire, message));
    let fields = entries.iter().zip(&slots).map(|(entry, slot)| entry_field(entry, slot, wire));
    quote! {
        #(let mut #slots: ::core::option::Option<#types> = ::core::option::Option::None;)*
        let end = reader.start_array(8)?;
        while reader.has_more(end)? {
            reader.start_struct()?;
            match reader.string()? {
                #(#keys => #slots = ::core::option::Option::Some(#values),)*
                _ => {
                    <#wire::body::Value as #wire::body::Decode<#message>>::decode(reader)?;
                }
            }
        }
        ::core::result::Result::Ok(Self { #(#fields,)* })
    }
}

impl<'i> Presence<'i> {
    fn value_type(&self) -> &'i Type {
        match self {
            Self::Required(kind) | Self::Optional(kind) => kind,
        }
    }
}

/// Reads the value of an entry; a variant is not wrapped in another one.
fn entry_value(kind: &Type, wire: &Path, message: &Lifetime) -> TokenStream {
    let shape = shape_of(kind, wire);
    let plain = quote!(<#kind as #wire::body::Decode<#message>>::decode(reader)?);
    let wrapped = quote!(#wire::body::Variant<#kind>);
    quote! {
        match #shape {
            #wire::body::Shape::Variant => #plain,
            _ => <#wrapped as #wire::body::Decode<#message>>::decode(reader)?.0,
        }
    }
}

fn entry_field(entry: &DerivedEntry<'_>, slot: &Ident, wire: &Path) -> TokenStream {
    let field = entry.field;
    if let Presence::Optional(_) = entry.presence {
        return quote!(#field: #slot);
    }
    let text = format!("the entry \"{}\" is missing", entry.key);
    quote! {
        #field: #slot.ok_or_else(|| {
            #wire::body::ReadError::Value(::std::string::String::from(#text))
        })?
    }
}

fn number_body(name: &Ident, repr: &Ident, variants: &[&Ident], wire: &Path) -> TokenStream {
    let text = format!("{{}} is not a value of {name}");
    quote! {
        let number = <#repr as #wire::body::Decode<'_>>::decode(reader)?;
        #(
            if number == Self::#variants as #repr {
                return ::core::result::Result::Ok(Self::#variants);
            }
        )*
        let text = ::std::format!(#text, number);
        ::core::result::Result::Err(#wire::body::ReadError::Value(text))
    }
}

fn text_body(name: &Ident, words: &[EnumWord<'_>], wire: &Path) -> TokenStream {
    let variants = words.iter().map(|word| word.variant);
    let texts = words.iter().map(|word| &word.text);
    let text = format!("{{:?}} is not a value of {name}");
    quote! {
        match reader.string()? {
            #(#texts => ::core::result::Result::Ok(Self::#variants),)*
            other => {
                let text = ::std::format!(#text, other);
                ::core::result::Result::Err(#wire::body::ReadError::Value(text))
            }
        }
    }
}
