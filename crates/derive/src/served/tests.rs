//! Declarations of interfaces that are accepted, and errors with their places.

use super::interface;
use crate::testing::{check_accepted, check_error, tokens};

const ARGUMENTS: &str = "name = \"org.example.A\"";

fn expand(arguments: &str, item: &str) -> syn::Result<proc_macro2::TokenStream> {
    interface(tokens(arguments), tokens(item))
}

fn check_member(member: &str, place: &str, expected: &str) {
    let item = format!("impl A {{ {member} }}");
    check_error(expand(ARGUMENTS, &item), member, place, expected);
}

#[test]
fn valid_interfaces_are_accepted() {
    for member in [
        "",
        "const X: u8 = 1;",
        "fn play(&mut self, song: &str) -> Result<u32, E> { Ok(1) }",
        "#[method(results(\"a\", \"b\"))] fn play<'a>(&self, x: &'a str) -> (u8, &'a str) { (1, x) }",
        "#[method(no_reply, name = \"X\")] #[deprecated] fn play(&self, call: &IncomingCall) {}",
        "fn play(&self, x: u8, reply: DeferredReply<(u8,)>) {}",
        "fn open(&self, a: OwnedFd, b: BorrowedFd<'_>) -> OwnedFd { a }",
        "#[property(emits_change = false)] #[annotate(\"a.b\", \"c\")] fn x(&self) -> &str { \"\" }",
        "#[property] fn x(&self) -> u8 { 1 } #[property] fn set_x(&mut self, x: u8) {}",
        "#[property] fn set_x(&mut self, call: &IncomingCall, x: &str) -> Result<(), E> { Ok(()) }",
        "#[signal] pub fn ended(song: &str);",
    ] {
        check_accepted(expand(ARGUMENTS, &format!("impl A {{ {member} }}")), member);
    }
    check_accepted(expand("name = \"a.b\", crate = x", "impl<T: X> A<T> where T: Y {}"), "crate");
}

#[test]
fn invalid_blocks_are_rejected_with_a_reason() {
    for (arguments, item, place, expected) in [
        ("", "impl A {}", "", "`name = \"...\"` is missing"),
        ("interface = \"a.b\"", "impl A {}", "interface", "expected `name`"),
        ("name = \"A\"", "impl A {}", "\"A\"", "\"A\" is not a valid interface name"),
        (ARGUMENTS, "struct A;", "struct", "expected `impl`"),
        (ARGUMENTS, "impl B for A {}", "B", "inherent impl block"),
        (ARGUMENTS, "impl A { type X = u8; }", "type X = u8;", "functions only"),
        (ARGUMENTS, "#[annotate(\"a\")] impl A {}", "#[annotate(\"a\")]", "expected `annotate("),
    ] {
        check_error(expand(arguments, item), item, place, expected);
    }
}

#[test]
fn invalid_members_are_rejected_with_a_reason() {
    for (member, place, expected) in [
        ("fn a() {}", "a", "another impl block"),
        ("fn a(self) {}", "self", "takes `&self`"),
        ("async fn a(&self) {}", "async", "`DeferredReply`"),
        ("fn a<T>(&self, x: T) {}", "T", "no type parameters"),
        ("fn a(&self, _: u8) {}", "_", "needs a name"),
        ("fn a(&self, r: DeferredReply<u8>) {}", "u8", "a tuple"),
        ("fn a(&self, r: DeferredReply<(u8,)>) -> u8 { 1 }", "u8", "returns nothing"),
        ("fn a(&self, x: &str, r: DeferredReply<()>) {}", "&str", "own their data"),
        (
            "fn a(&self, c: &IncomingCall, r: DeferredReply<()>) {}",
            "&self, c: &IncomingCall, r: DeferredReply<()>",
            "has the call",
        ),
        ("#[signal(name = \"1\")] fn a();", "\"1\"", "\"1\" is not a valid member name"),
        ("fn a(&self);", "a", "only a signal"),
        ("#[method(no_reply)] fn a(&self) -> u8 { 1 }", "no_reply", "no results"),
        ("#[method(results(\"x\"))] fn a(&self) {}", "\"x\"", "1, is not the number of results, 0"),
        ("#[method(timeout = 1)] fn a(&self) {}", "timeout", "expected `name`, `no_reply` or"),
        ("fn a(&self) {} #[method(name = \"A\")] fn b(&self) {}", "\"A\"", "another member"),
        ("#[property] fn a(&self) {}", "a", "returns the value"),
        ("#[property] fn a(&self) -> Result<u8, E> { Ok(1) }", "Result<u8, E>", "cannot fail"),
        ("#[property] fn a(&mut self) -> u8 { 1 }", "mut", "takes `&self`"),
        ("#[property] fn a(&self) -> OwnedFd { x() }", "OwnedFd", "only methods"),
        ("#[property(emits_change = 1)] fn a(&self) -> u8 { 1 }", "1", "expected true"),
        ("#[property] fn a(&mut self, x: u8) {}", "a", "starts with `set_`"),
        ("#[property] fn set_a(&mut self, x: u8, y: u8) {}", "y", "one argument"),
        (
            "#[property] fn set_a(&mut self, c: &IncomingCall) {}",
            "&mut self, c: &IncomingCall",
            "one",
        ),
        ("#[property] fn set_a(&mut self, x: u8) -> u8 { x }", "-> u8", "returns `()`"),
        (
            "#[property] fn a(&self) -> u8 { 1 } #[property(name = \"A\")] fn b(&self) -> u8 { 1 }",
            "b",
            "another function",
        ),
        (
            "#[property] fn a(&self) -> u8 { 1 } \
             #[property(emits_change = false)] fn set_a(&mut self, x: u8) {}",
            "emits_change",
            "belongs to the getter",
        ),
        (
            "#[property(emits_change = true)] fn set_a(&mut self, x: u8) {}",
            "emits_change",
            "cannot be read",
        ),
        (
            "#[property(emits_change = \"const\")] fn a(&self) -> u8 { 1 } \
             #[property] fn set_a(&mut self, x: u8) {}",
            "emits_change",
            "has no setter",
        ),
        ("#[signal] fn a() {}", "{}", "no body"),
        ("#[signal] fn a(&self);", "&self", "no `self`"),
        ("#[signal] fn a() -> u8;", "u8", "returns nothing"),
        ("#[signal] fn a<'a>(x: &'a str);", "<'a>", "inferred"),
        ("#[signal] fn a(x: OwnedFd);", "OwnedFd", "only methods"),
    ] {
        check_member(member, place, expected);
    }
}
