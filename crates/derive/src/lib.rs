//! Derives [`TypedKeys`](derive@Typed), [`Encode`](derive@Encode) and [`Decode`](derive@Decode): the
//! traits by which Rust types are D-Bus types.
//!
//! A type derives `Typed` and whichever of the other two it needs:
//!
//! | the Rust type | the D-Bus type |
//! | --- | --- |
//! | struct, its fields in order | `(...)` |
//! | struct of one field with `#[dbus(transparent)]` | that field's |
//! | struct with `#[dbus(dict)]`, its fields as entries | `a{sv}` |
//! | enum without data, with `#[repr(u8)]` and the like | that integer; `u` without `repr` |
//! | enum without data, with `#[dbus(string)]` | `s` |
//!
//! In a dict, a field of type `Option<T>` may be absent: nothing is written for `None`, and an
//! entry that did not come is read as `None`. Entries that the struct does not know are skipped. A
//! field that is a variant already is not put into another one.
//!
//! The attributes, all inside `#[dbus(...)]`:
//!
//! | attribute | on | does |
//! | --- | --- | --- |
//! | `dict` | struct | travels as `a{sv}` |
//! | `transparent` | struct of one field | travels as that field |
//! | `string` | enum | travels as `s` |
//! | `rename_all = "kebab-case"` | dict, string enum | spells all keys or words so |
//! | `rename = "Name"` | field of a dict, variant of a string enum | spells this one so |
//! | `crate = path` | any | where `diligence-wire` is; otherwise `::diligence_client::wire` |
//!
//! The spellings are `lowercase`, `UPPERCASE`, `PascalCase`, `camelCase`, `snake_case`,
//! `SCREAMING_SNAKE_CASE` and `kebab-case`.
//!
//! A type that borrows has one lifetime, that of the message which it is read from.

mod attributes;
mod case;
mod decode;
mod encode;
mod model;
mod typed;

use model::DeriveModel;
use proc_macro2::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives which D-Bus type a Rust type is. See the [crate] for what can be derived.
#[proc_macro_derive(Typed, attributes(dbus))]
pub fn derive_typed(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input), typed::expand)
}

/// Derives how values are written. Needs `Typed`. See the [crate] for what can be derived.
#[proc_macro_derive(Encode, attributes(dbus))]
pub fn derive_encode(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    derive(&parse_macro_input!(input), encode::expand)
}

/// Derives how values are read. Needs `Typed`. See the [crate] for what can be derived.
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
