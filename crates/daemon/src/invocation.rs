//! The name by which the program was called.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use broker::startup::Interrupt;

/// The name by which the program was called, which decides about names in output and about SIGINT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Invocation {
    /// As `dbus-daemon`, by programs that expect exactly that.
    DbusDaemon,
    /// By another name, probably by a person.
    Diligence {
        /// The name: `diligence-bus`, or `diligence bus` from that command.
        command: String,
    },
}

impl Invocation {
    /// Decides by the file name in the first word of the process.
    pub(crate) fn from_argv0(argv0: Option<OsString>) -> Self {
        match file_name(argv0.as_deref()) {
            Some(name) if name == DBUS_DAEMON => Self::DbusDaemon,
            name => {
                let command = name.unwrap_or(OsStr::new(daemon_command::PROGRAM));
                Self::Diligence { command: command.to_string_lossy().into_owned() }
            }
        }
    }

    /// The command in usage lines.
    pub(crate) fn command(&self) -> &str {
        match self {
            Self::DbusDaemon => DBUS_DAEMON,
            Self::Diligence { command } => command,
        }
    }

    /// The name in the log.
    pub(crate) const fn log_name(&self) -> &'static str {
        match self {
            Self::DbusDaemon => DBUS_DAEMON,
            Self::Diligence { .. } => "diligence",
        }
    }

    /// A person who interrupts a bus in a terminal wants its sockets removed. dbus-daemon is killed.
    pub(crate) const fn interrupt(&self) -> Interrupt {
        match self {
            Self::DbusDaemon => Interrupt::Kills,
            Self::Diligence { .. } => Interrupt::Stops,
        }
    }
}

/// Returns true if the program was called to run a proxy instead of a bus.
pub(crate) fn is_proxy(argv0: Option<&OsStr>) -> bool {
    file_name(argv0).is_some_and(|name| name == proxy::PROGRAM)
}

fn file_name(argv0: Option<&OsStr>) -> Option<&OsStr> {
    Path::new(argv0?).file_name()
}

/// The name of the program that this one can replace.
const DBUS_DAEMON: &str = "dbus-daemon";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        let check = |argv0: Option<&str>, command: &str, log_name: &str, interrupt| {
            let invocation = Invocation::from_argv0(argv0.map(OsString::from));
            assert_eq!(invocation.command(), command, "{argv0:?}");
            assert_eq!(invocation.log_name(), log_name, "{argv0:?}");
            assert_eq!(invocation.interrupt(), interrupt, "{argv0:?}");
        };
        let (kills, stops) = (Interrupt::Kills, Interrupt::Stops);
        check(Some("dbus-daemon"), "dbus-daemon", "dbus-daemon", kills);
        check(Some("/usr/libexec/diligence/dbus-daemon"), "dbus-daemon", "dbus-daemon", kills);
        check(Some("/usr/bin/diligence-bus"), "diligence-bus", "diligence", stops);
        check(Some("diligence bus"), "diligence bus", "diligence", stops);
        check(Some(""), "diligence-bus", "diligence", stops);
        check(None, "diligence-bus", "diligence", stops);
    }

    #[test]
    fn a_proxy_has_its_own_name() {
        for (argv0, expected) in [
            (Some("xdg-dbus-proxy"), true),
            (Some("/usr/bin/xdg-dbus-proxy"), true),
            (Some("dbus-daemon"), false),
            (Some("xdg-dbus-proxy/diligence-bus"), false),
            (Some(""), false),
            (None, false),
        ] {
            assert_eq!(is_proxy(argv0.map(OsStr::new)), expected, "{argv0:?}");
        }
    }
}
