//! The functions of the shared library.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use common::{folder, link_library, reference, succeed};

/// The functions that a library exports with their versions, such as `dbus_free@@LIBDBUS_1_3`.
fn exports(library: &Path) -> BTreeSet<String> {
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only", "--with-symbol-versions"]).arg(library);
    let text = String::from_utf8(succeed(&mut command).stdout).expect("text");
    let functions = text.lines().filter(|line| line.contains(" T ") || line.contains(" W "));
    functions.filter_map(|line| line.split(' ').next_back()).map(str::to_owned).collect()
}

/// The functions that the installed headers declare.
fn declared() -> BTreeSet<String> {
    let mut command = Command::new("pkg-config");
    let flags = succeed(command.args(["--cflags", "dbus-1"])).stdout;
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!(
        "echo '#include <dbus/dbus.h>' | cc -E -P {} -",
        String::from_utf8(flags).expect("text").trim()
    ));
    let text = String::from_utf8(succeed(&mut command).stdout).expect("text");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut functions = BTreeSet::new();
    for (parenthesis, _) in text.match_indices('(') {
        let before = text[..parenthesis].trim_end();
        let name = &before[before.trim_end_matches(is_name).len()..];
        if name.starts_with("dbus_") && !name.ends_with("_t") {
            functions.insert(name.to_owned());
        }
    }
    // These functions are inline.
    functions.retain(|name| !name.starts_with("dbus_clear_"));
    functions
}

/// Functions that the patches of CommonAPI add to libdbus.
const ADDED: [&str; 6] = [
    "dbus_connection_send_with_reply_set_notify",
    "dbus_message_get_body",
    "dbus_message_get_body_allocated",
    "dbus_message_get_body_length",
    "dbus_message_set_body_length",
    "dbus_message_set_signature",
];

/// Functions of the development headers of libdbus 1.15.10 that 1.14 does not have.
const NEWER: [&str; 1] = ["dbus_connection_set_builtin_filters_enabled"];

/// Functions that are not in the headers, but that Debian's command line tools or the tests of
/// dbus-daemon use.
const PRIVATE: [&str; 22] = [
    "_dbus_connection_set_builtin_filters_enabled",
    "_dbus_create_uuid",
    "_dbus_ensure_standard_fds",
    "_dbus_fd_clear_close_on_exec",
    "_dbus_fd_set_all_close_on_exec",
    "_dbus_get_real_time",
    "_dbus_get_uuid",
    "_dbus_lookup_user_bus",
    "_dbus_set_error_valist",
    "_dbus_sleep_milliseconds",
    "_dbus_strdup",
    "_dbus_strerror",
    "_dbus_string_free",
    "_dbus_string_init",
    "_dbus_timeout_needs_restart",
    "_dbus_timeout_restarted",
    "_dbus_watch_get_oom_last_time",
    "_dbus_watch_get_pollable",
    "_dbus_watch_invalidate",
    "_dbus_watch_ref",
    "_dbus_watch_set_oom_last_time",
    "_dbus_watch_unref",
];

#[test]
fn all_public_functions_are_exported_with_their_version() {
    let folder = folder();
    link_library(folder.path());
    let ours = exports(&folder.path().join("libdbus-1.so.3"));
    let mut expected: BTreeSet<String> =
        exports(&reference()).into_iter().filter(|name| name.ends_with("@@LIBDBUS_1_3")).collect();
    assert!(expected.len() > 230, "{}", expected.len());
    expected.extend(ADDED.iter().chain(&NEWER).map(|name| format!("{name}@@LIBDBUS_1_3")));
    expected.extend(PRIVATE.map(|name| format!("{name}@@LIBDBUS_PRIVATE_1.14.10")));
    assert_eq!(ours, expected);
}

#[test]
fn all_functions_of_the_headers_are_exported() {
    let folder = folder();
    link_library(folder.path());
    let ours = exports(&folder.path().join("libdbus-1.so.3"));
    let declared = declared();
    assert!(declared.len() > 230, "{declared:?}");
    for function in declared {
        assert!(ours.contains(&format!("{function}@@LIBDBUS_1_3")), "{function}");
    }
}
