//! The introspection data of the bus at different object paths, compared with the files in
//! `introspection/`. Each file is a test.

use std::path::Path;
use std::process::ExitCode;

use bus::introspection_xml;
use libtest_mimic::{Arguments, Trial};
use testkit::golden;
use wire::names::ObjectPath;

fn main() -> ExitCode {
    let trials = FILES.map(|(file, paths)| {
        Trial::test(format!("introspection/{file}"), move || {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/introspection");
            for path in paths {
                let path = ObjectPath::new(path)?;
                golden::check(folder.join(file), &introspection_xml(path));
            }
            Ok(())
        })
    });
    // Miri runs a test in the main thread, which is the simplest to interpret.
    let threads = cfg!(miri).then_some(1);
    let arguments = Arguments::from_args();
    let arguments = Arguments { test_threads: arguments.test_threads.or(threads), ..arguments };
    libtest_mimic::run(&arguments, trials.into()).exit_code()
}

/// The files, with the object paths whose introspection data they contain.
const FILES: [(&str, &[&str]); 5] = [
    ("bus.xml", &["/org/freedesktop/DBus"]),
    ("root.xml", &["/"]),
    ("parent.xml", &["/org/freedesktop"]),
    ("child.xml", &["/org/freedesktop/DBus/x"]),
    ("unrelated.xml", &["/org/example", "/org/free"]),
];
