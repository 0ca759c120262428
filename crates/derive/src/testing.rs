//! Checks of the errors that the macros report.

use proc_macro2::TokenStream;

/// Checks that the macro accepts the item.
pub(crate) fn check_accepted(expanded: syn::Result<TokenStream>, item: &str) {
    let tokens = expanded.unwrap_or_else(|error| panic!("{item}: {error}"));
    let parsed = syn::parse2::<syn::File>(tokens);
    assert!(parsed.is_ok(), "{item}: {:?}", parsed.err());
}

/// Checks that the macro reports an error with this text at this place, which is a part of the
/// source, or empty for the attribute itself.
pub(crate) fn check_error(
    expanded: syn::Result<TokenStream>,
    item: &str,
    place: &str,
    expected: &str,
) {
    let Err(error) = expanded else { panic!("{item}: no error") };
    let found = error.span().source_text().unwrap_or_default();
    assert!(error.to_string().contains(expected), "{item}: {error}");
    assert_eq!(found, place, "{item}: {error}");
}

pub(crate) fn tokens(source: &str) -> TokenStream {
    source.parse().unwrap_or_else(|error| panic!("{source}: {error}"))
}
