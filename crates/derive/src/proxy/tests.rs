//! Declarations of proxies that are accepted, and errors with their places.

use super::proxy;
use crate::testing::{check_accepted, check_error, tokens};

const ARGUMENTS: &str = "interface = \"org.example.A\"";

fn expand(arguments: &str, item: &str) -> syn::Result<proc_macro2::TokenStream> {
    proxy(tokens(arguments), tokens(item))
}

fn check_member(member: &str, place: &str, expected: &str) {
    let item = format!("trait A {{ {member} }}");
    check_error(expand(ARGUMENTS, &item), member, place, expected);
}

#[test]
fn valid_proxies_are_accepted() {
    for member in [
        "",
        "fn play(&self, song: &str) -> Result<u32, CallError>;",
        "fn play<T: Encode>(&self, song: T) -> std::result::Result<(u32, String), E>;",
        "#[method(no_reply, no_auto_start, name = \"X\")] fn play(&self) -> Result<(), E>;",
        "#[method(timeout = Timeout::Never, interactive)] fn play(&self) -> Result<()>;",
        "fn open(&self, file: OwnedFd) -> Result<std::os::fd::OwnedFd, E>;",
        "fn open(&self, file: UnixFd, #[descriptors] all: Vec<OwnedFd>) -> Result<(), E>;",
        "fn play(&self) -> Result<ReceivedMessage, E>;",
        "/// The volume.\n #[property] fn volume(&self) -> Result<f64, E>;\
         #[property] fn set_volume(&self, value: f64) -> Result<(), E>;",
        "#[property(name = \"X\")] fn write(&self, value: &str) -> Result<(), E>;",
        "#[signal] #[deprecated] fn ended(&self, song: String);",
    ] {
        check_accepted(expand(ARGUMENTS, &format!("pub trait A {{ {member} }}")), member);
    }
    let all = "interface = \"a.b\", default_service = \"a.b\", default_path = \"/\", crate = x::y";
    check_accepted(expand(all, "trait A {}"), all);
}

#[test]
fn invalid_traits_are_rejected_with_a_reason() {
    for (arguments, item, place, expected) in [
        ("", "trait A {}", "", "`interface = \"...\"` is missing"),
        ("name = \"a.b\"", "trait A {}", "name", "expected `interface`"),
        ("interface = \"a.b\", interface = \"a.c\"", "trait A {}", "interface", "repeats"),
        ("interface = \"A\"", "trait A {}", "\"A\"", "\"A\" is not a valid interface name"),
        (
            "interface = \"a.b\", default_service = \":1.1\"",
            "trait A {}",
            "\":1.1\"",
            "not a valid well-known bus name",
        ),
        (
            "interface = \"a.b\", default_path = \"a\"",
            "trait A {}",
            "\"a\"",
            "not a valid object path: the object path does not begin with '/'",
        ),
        (ARGUMENTS, "struct A;", "struct", "expected `trait`"),
        (ARGUMENTS, "trait A<T> {}", "<T>", "no parameters"),
        (ARGUMENTS, "trait A: B {}", "B", "one interface"),
        (ARGUMENTS, "trait A { const X: u8; }", "const X: u8;", "functions only"),
    ] {
        check_error(expand(arguments, item), item, place, expected);
    }
}

#[test]
fn invalid_members_are_rejected_with_a_reason() {
    for (member, place, expected) in [
        ("fn a() -> Result<(), E>;", "a", "takes `&self`"),
        ("fn a(&mut self) -> Result<(), E>;", "&mut self", "takes `&self`"),
        ("fn a(&self) -> Result<(), E> {}", "{}", "no body"),
        ("async fn a(&self) -> Result<(), E>;", "async", "plain function"),
        ("unsafe fn a(&self) -> Result<(), E>;", "unsafe", "unsafe"),
        (
            "#[method(name = \"a b\")] fn a(&self) -> Result<(), E>;",
            "\"a b\"",
            "\"a b\" is not a valid member name",
        ),
        ("fn a(&self);", "a", "return a `Result`"),
        ("fn a(&self) -> u32;", "u32", "return a `Result`"),
        ("fn a(&self) -> Result<&str, E>;", "&str", "must own their data"),
        ("fn a(&self) -> Result<ObjectPath<'_>, E>;", "ObjectPath<'_>", "must own their data"),
        ("fn a(&self, (x, y): (u8, u8)) -> Result<(), E>;", "(x, y)", "needs a name"),
        ("fn a(&self, x: impl Encode) -> Result<(), E>;", "impl Encode", "no D-Bus type"),
        ("fn a<'a>(&self, x: &'a str) -> Result<(), E>;", "'a", "inferred"),
        ("fn a(&self, x: BorrowedFd<'_>) -> Result<(), E>;", "BorrowedFd<'_>", "`OwnedFd`"),
        ("fn a(&self, #[file] x: u8) -> Result<(), E>;", "#[file]", "expected `descriptors`"),
        ("fn new(&self) -> Result<(), E>;", "new", "of this name"),
        ("#[method(no_reply)] fn a(&self) -> Result<u8, E>;", "no_reply", "returns `()`"),
        ("#[method(no_reply, timeout = X)] fn a(&self) -> Result<(), E>;", "X", "has no timeout"),
        (
            "#[method(emits_change = true)] fn a(&self) -> Result<(), E>;",
            "emits_change",
            "expected",
        ),
        ("#[method] #[property] fn a(&self) -> Result<(), E>;", "property", "repeats"),
        ("#[cfg(test)] fn a(&self) -> Result<(), E>;", "cfg", "`cfg`"),
        ("#[property] fn a(&self) -> u8;", "u8", "return a `Result`"),
        ("#[property] fn a(&self) -> Result<&str, E>;", "&str", "own its data"),
        ("#[property] fn a(&self) -> Result<OwnedFd, E>;", "OwnedFd", "only methods"),
        ("#[property] fn a(&self, x: u8) -> Result<(), E>;", "a", "starts with `set_`"),
        ("#[property] fn set_a(&self, x: u8) -> Result<u8, E>;", "Result<u8, E>", "Result<(), E>"),
        (
            "#[property] fn set_a(&self, x: u8, y: u8) -> Result<(), E>;",
            "&self, x: u8, y: u8",
            "or one",
        ),
        ("#[signal] fn a(&self) -> Result<(), E>;", "Result<(), E>", "returns nothing"),
        ("#[signal] fn a(&self, x: &str);", "&str", "own their data"),
        ("#[signal] fn a(&self, x: OwnedFd);", "OwnedFd", "only methods"),
        ("#[signal(no_reply)] fn a(&self);", "no_reply", "expected `name`"),
        (
            "#[property] fn a(&self) -> Result<u8, E>; #[property(name = \"A\")] fn b(&self) -> Result<u8, E>;",
            "\"A\"",
            "another member",
        ),
    ] {
        check_member(member, place, expected);
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let item = "trait A { fn a(&self); fn b(&self) -> u32; }";
    let error = expand(ARGUMENTS, item).unwrap_err();
    assert_eq!(error.into_iter().count(), 2);
}
