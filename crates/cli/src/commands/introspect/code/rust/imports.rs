//! The imports of generated Rust code.

use std::collections::BTreeSet;

/// Returns the lines that import what code for diligence-client uses.
pub(super) fn of_diligence(code: &str) -> Vec<String> {
    let used = words(code);
    let of_standard = STANDARD.iter().filter(|(name, _)| used.contains(name));
    let mut lines: Vec<_> = of_standard.map(|(_, line)| (*line).to_owned()).collect();
    let separator = lines.len();
    for (module, names) in OF_DILIGENCE {
        let used: Vec<_> = names.iter().copied().filter(|name| used.contains(name)).collect();
        match used[..] {
            [] => {}
            // The name of a type sorts before the names of modules.
            [name] if module == CRATE => lines.insert(separator, format!("use {module}::{name};")),
            [name] => lines.push(format!("use {module}::{name};")),
            _ => lines.push(format!("use {module}::{{{}}};", used.join(", "))),
        }
    }
    if (1..lines.len()).contains(&separator) {
        lines.insert(separator, String::new());
    }
    lines
}

/// Returns the lines that import what code for zbus uses.
pub(super) fn of_zbus(code: &str) -> Vec<String> {
    let is_used = words(code).contains("HashMap");
    is_used.then(|| String::from("use std::collections::HashMap;")).into_iter().collect()
}

/// The identifiers in code, without comments and texts.
fn words(code: &str) -> BTreeSet<&str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let outside = lines.flat_map(|line| line.split('"').step_by(2));
    outside.flat_map(|part| part.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

const STANDARD: [(&str, &str); 2] =
    [("HashMap", "use std::collections::HashMap;"), ("OwnedFd", "use std::os::fd::OwnedFd;")];

const CRATE: &str = "diligence_client";

/// Modules in the order of rustfmt, with the types that the code can use.
const OF_DILIGENCE: [(&str, &[&str]); 4] = [
    ("diligence_client::wire::body", &["UnixFd", "Value"]),
    ("diligence_client::wire::names", &["ObjectPath", "ObjectPathBuf"]),
    ("diligence_client::wire::signature", &["Signature", "SignatureBuf"]),
    (CRATE, &["CallError", "ReceivedMessage"]),
];
