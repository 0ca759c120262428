//! The attribute `proxy`: from a trait to a blocking and an asynchronous proxy.

mod expand;
mod method;
mod model;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use syn::ItemTrait;

use model::{ProxyArguments, ProxyModel};

pub(crate) fn proxy(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: ProxyArguments = syn::parse2(arguments)?;
    let item: ItemTrait = syn::parse2(item)?;
    Ok(expand::expand(&ProxyModel::new(arguments, item)?))
}
