//! Warnings about programs that misuse the interface.
//!
//! As with libdbus, a wrong argument prints a warning and ends the process, unless the environment
//! variable `DBUS_FATAL_WARNINGS` is 0. Then the function returns a failure.

use std::env;
use std::fmt::Display;
use std::io::Write;
use std::process;
use std::sync::OnceLock;

/// The kinds of warnings that end the process.
#[derive(Clone, Copy)]
struct FatalWarnings {
    /// Warnings about anything else.
    ordinary: bool,
    /// Warnings about wrong arguments.
    arguments: bool,
}

fn fatal() -> FatalWarnings {
    static FATAL: OnceLock<FatalWarnings> = OnceLock::new();
    *FATAL.get_or_init(|| match env::var("DBUS_FATAL_WARNINGS").as_deref() {
        Ok("0") => FatalWarnings { ordinary: false, arguments: false },
        Ok("1") => FatalWarnings { ordinary: true, arguments: true },
        found => {
            if let Ok(text) = found {
                print(format_args!(
                    "DBUS_FATAL_WARNINGS should be set to 0 or 1 if set, not '{text}'"
                ));
            }
            FatalWarnings { ordinary: false, arguments: true }
        }
    })
}

fn print(text: impl Display) {
    // If standard error is closed, nobody can read the warning.
    let _ = write!(std::io::stderr(), "dbus[{}]: {text}", process::id());
}

/// Prints a warning, which ends the process only if `DBUS_FATAL_WARNINGS` is 1.
pub(crate) fn warn(text: impl Display) {
    print(text);
    if fatal().ordinary {
        process::abort();
    }
}

/// Prints a warning about a wrong use of a function, and ends the process unless
/// `DBUS_FATAL_WARNINGS` is 0.
pub(crate) fn warn_misuse(text: impl Display) {
    print(text);
    if fatal().arguments {
        process::abort();
    }
}

/// Reports an argument that violates `condition`.
#[cold]
pub(crate) fn report(function: &str, condition: &str, file: &str, line: u32) {
    warn_misuse(format_args!(
        "arguments to {function}() were incorrect, assertion \"{condition}\" failed in file \
         {file} line {line}.\nThis is normally a bug in some application using the D-Bus \
         library.\n\n"
    ));
}

/// Checks a condition on the arguments of an exported function. If it is false, prints a warning
/// and returns the last argument, if there is one.
macro_rules! check {
    ($function:literal, $condition:expr, $text:literal $(,)?) => {
        if !$condition {
            $crate::checks::report($function, $text, file!(), line!());
            return;
        }
    };
    ($function:literal, $condition:expr, $text:literal, $result:expr) => {
        if !$condition {
            $crate::checks::report($function, $text, file!(), line!());
            return $result;
        }
    };
}

/// Returns the object of a [`Handle`](crate::c::Handle). If it is NULL, prints a warning and
/// returns the last argument from the function.
macro_rules! given {
    ($function:literal, $handle:ident) => {
        match $handle.get() {
            Some(object) => object,
            None => {
                let condition = concat!(stringify!($handle), " != NULL");
                $crate::checks::report($function, condition, file!(), line!());
                return;
            }
        }
    };
    ($function:literal, $handle:ident, $result:expr) => {
        match $handle.get() {
            Some(object) => object,
            None => {
                let condition = concat!(stringify!($handle), " != NULL");
                $crate::checks::report($function, condition, file!(), line!());
                return $result;
            }
        }
    };
}

pub(crate) use {check, given};
