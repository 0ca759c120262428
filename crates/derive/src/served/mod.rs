//! The attribute `interface`: from an impl block to the definition of a served interface.

mod expand;
mod model;
mod property;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::ItemImpl;

use model::{InterfaceArguments, ServedModel};

pub(crate) fn interface(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: InterfaceArguments = syn::parse2(arguments)?;
    let item: ItemImpl = syn::parse2(item)?;
    Ok(expand::expand(&ServedModel::new(arguments, item)?))
}
