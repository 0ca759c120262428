//! Generates `Typed`, the D-Bus type.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Fields, Generics, Path, parse_quote};

use crate::model::{DeriveModel, DerivedType};

pub(crate) fn expand(model: &DeriveModel<'_>) -> syn::Result<TokenStream> {
    let DeriveModel { name, wire, kind, generics } = model;
    let generics = with_bound(generics, &parse_quote!(#wire::body::Typed));
    let (parameters, arguments, clause) = generics.split_for_impl();
    let shape = shape(kind, wire);
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #wire::body::Typed for #name #arguments #clause {
            const SHAPE: #wire::body::Shape = #shape;
        }
    })
}

/// The generics with `bound` on each type parameter.
pub(crate) fn with_bound(generics: &Generics, bound: &syn::TypeParamBound) -> Generics {
    let mut bounded = generics.clone();
    for parameter in bounded.type_params_mut() {
        parameter.bounds.push(bound.clone());
    }
    bounded
}

fn shape(kind: &DerivedType<'_>, wire: &Path) -> TokenStream {
    match kind {
        DerivedType::Struct(fields) => struct_shape(fields, wire),
        DerivedType::Transparent(field) => shape_of(&field.ty, wire),
        DerivedType::Dict(_) => quote! {
            #wire::body::Shape::Array(&#wire::body::Shape::DictEntry(
                &#wire::body::Shape::Basic(b's'),
                &#wire::body::Shape::Variant,
            ))
        },
        DerivedType::Number { repr, .. } => shape_of(repr, wire),
        DerivedType::Text(_) => quote!(#wire::body::Shape::Basic(b's')),
    }
}

fn struct_shape(fields: &Fields, wire: &Path) -> TokenStream {
    let shapes = fields.iter().map(|field| shape_of(&field.ty, wire));
    quote!(#wire::body::Shape::Struct(&[#(&#shapes),*]))
}

pub(crate) fn shape_of(kind: &impl ToTokens, wire: &Path) -> TokenStream {
    quote!(<#kind as #wire::body::Typed>::SHAPE)
}
