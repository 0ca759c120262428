//! Generates `Encode`, which writes values.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Fields, Ident, Member, Path, parse_quote};

use crate::model::{DeriveModel, DerivedEntry, DerivedType, EnumWord, Presence};
use crate::typed::{shape_of, with_bound};

pub(crate) fn expand(model: &DeriveModel<'_>) -> syn::Result<TokenStream> {
    let DeriveModel { name, wire, kind, generics } = model;
    let generics = with_bound(generics, &parse_quote!(#wire::body::Encode));
    let (parameters, arguments, clause) = generics.split_for_impl();
    let body = body(kind, wire);
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #wire::body::Encode for #name #arguments #clause {
            fn encode(&self, writer: &mut #wire::body::Writer<'_>) {
                #body
            }
        }
    })
}

fn body(kind: &DerivedType<'_>, wire: &Path) -> TokenStream {
    match kind {
        DerivedType::Struct(fields) => struct_body(fields, wire),
        DerivedType::Transparent(field) => {
            let member = field.ident.clone().map_or_else(|| parse_quote!(0), Member::from);
            quote!(#wire::body::Encode::encode(&self.#member, writer);)
        }
        DerivedType::Dict(entries) => dict_body(entries, wire),
        DerivedType::Number { repr, variants } => number_body(repr, variants, wire),
        DerivedType::Text(words) => text_body(words),
    }
}

fn struct_body(fields: &Fields, wire: &Path) -> TokenStream {
    let members = fields.members();
    quote! {
        writer.structure(|writer| {
            #(#wire::body::Encode::encode(&self.#members, writer);)*
        });
    }
}

fn dict_body(entries: &[DerivedEntry<'_>], wire: &Path) -> TokenStream {
    let entries = entries.iter().map(|entry| {
        let field = entry.field;
        match entry.presence {
            Presence::Required(kind) => {
                let written = entry_body(entry, kind, wire);
                quote!({ let value = &self.#field; #written })
            }
            Presence::Optional(kind) => {
                let written = entry_body(entry, kind, wire);
                quote! {
                    if let ::core::option::Option::Some(value) = &self.#field { #written }
                }
            }
        }
    });
    quote!(writer.array(8, |writer| { #(#entries)* });)
}

/// Writes one entry, whose value is `value: &kind`. A variant is not wrapped in another one.
fn entry_body(entry: &DerivedEntry<'_>, kind: &syn::Type, wire: &Path) -> TokenStream {
    let key = &entry.key;
    let shape = shape_of(kind, wire);
    quote! {
        writer.structure(|writer| {
            writer.string(#key);
            match #shape {
                #wire::body::Shape::Variant => #wire::body::Encode::encode(value, writer),
                _ => #wire::body::Encode::encode(&#wire::body::Variant(value), writer),
            }
        });
    }
}

fn number_body(repr: &Ident, variants: &[&Ident], wire: &Path) -> TokenStream {
    quote! {
        let number: #repr = match self {
            #(Self::#variants => Self::#variants as #repr,)*
        };
        #wire::body::Encode::encode(&number, writer);
    }
}

fn text_body(words: &[EnumWord<'_>]) -> TokenStream {
    let variants = words.iter().map(|word| word.variant);
    let texts = words.iter().map(|word| &word.text);
    quote! {
        writer.string(match self {
            #(Self::#variants => #texts,)*
        });
    }
}
