//! The macros of `diligence-client` and `diligence-wire`.
//!
//! [`proxy`](macro@proxy), [`interface`](macro@interface) and [`ErrorReply`](derive@ErrorReply) are
//! documented, with examples, where `diligence-client` exports them. This page is about
//! [`Typed`](derive@Typed), [`Encode`](derive@Encode) and [`Decode`](derive@Decode), which derive
//! the traits that map Rust types to D-Bus types.
//!
//! A type derives `Typed`, and one or both of the other traits:
//!
//! | the Rust type | the D-Bus type |
//! | --- | --- |
//! | struct, its fields in order | `(...)` |
//! | struct of one field with `#[dbus(transparent)]` | the type of that field |
//! | struct with `#[dbus(dict)]`, its fields as entries | `a{sv}` |
//! | enum without data, with `#[repr(u8)]` or another integer | that integer; `u` without `repr` |
//! | enum without data, with `#[dbus(string)]` | `s` |
//!
//! In a dict, a field of type `Option<T>` may be absent: `None` writes no entry, and a missing
//! entry is read as `None`. Unknown entries are skipped. A field that is already a variant is not
//! wrapped in another one.
//!
//! The attributes, all inside `#[dbus(...)]`:
//!
//! | attribute | on | effect |
//! | --- | --- | --- |
//! | `dict` | struct | is marshaled as `a{sv}` |
//! | `transparent` | struct of one field | is marshaled as that field |
//! | `string` | enum | is marshaled as `s` |
//! | `rename_all = "kebab-case"` | dict, string enum | sets the spelling of all keys or words |
//! | `rename = "Name"` | field of a dict, variant of a string enum | sets the key or word |
//! | `crate = path` | any | the path of `diligence-wire`; the default is `::diligence_client::wire` |
//!
//! The spellings are `lowercase`, `UPPERCASE`, `PascalCase`, `camelCase`, `snake_case`,
//! `SCREAMING_SNAKE_CASE` and `kebab-case`.
//!
//! A type that borrows has one lifetime parameter, which is the lifetime of the message.

mod attributes;
mod case;
mod decode;
mod encode;
mod error_reply;
mod members;
mod model;
mod proxy;
mod served;
mod signature_types;
#[cfg(test)]
mod testing;
mod typed;

use model::DeriveModel;
use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives the D-Bus type of a Rust type. See the [crate] for the supported types.
#[proc_macro_derive(Typed, attributes(dbus))]
pub fn derive_typed(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input), typed::expand)
}

/// Derives writing of values. Requires `Typed`. See the [crate] for the supported types.
#[proc_macro_derive(Encode, attributes(dbus))]
pub fn derive_encode(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input), encode::expand)
}

/// Derives reading of values. Requires `Typed`. See the [crate] for the supported types.
#[proc_macro_derive(Decode, attributes(dbus))]
pub fn derive_decode(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input), decode::expand)
}

fn derive(
    input: &DeriveInput,
    expand: impl Fn(&DeriveModel<'_>) -> syn::Result<TokenStream>,
) -> proc_macro::TokenStream {
    let expanded = DeriveModel::new(input).and_then(|model| expand(&model));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Converts an enum of errors to D-Bus errors, and back. The documentation, with examples, is where
/// `diligence-client` exports this macro.
#[proc_macro_derive(ErrorReply, attributes(dbus))]
pub fn derive_error_reply(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = error_reply::expand(&parse_macro_input!(input));
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a blocking and an asynchronous proxy from a trait. The documentation, with examples, is
/// where `diligence-client` exports this macro.
#[proc_macro_attribute]
pub fn proxy(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let expanded = proxy::proxy(arguments.into(), item.into());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a served interface from an impl block. The documentation, with examples, is where
/// `diligence-client` exports this macro.
#[proc_macro_attribute]
pub fn interface(
    arguments: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    let expanded = served::interface(arguments.into(), item.into());
    expanded.unwrap_or_else(|error| error.to_compile_error()).into()
}
