//! Builds the command and the environment of a service.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;

use bus::{ForeignError, HelperFailure, StartFailure};
use serde::{Deserialize, Serialize};
use sys::launch::LaunchedProgram;
use sys::rlimit::OpenFiles;
use sys::spawn::ChildSetup;

use super::catalog::Catalog;
use crate::busconfig::BusType;
use crate::os_error::OsError;
use crate::saved_state::is_state_variable;

/// Settings that all services of a bus share.
#[derive(Clone, Debug)]
pub(crate) struct Launcher {
    /// The environment that this process was started with.
    inherited: Vec<(OsString, OsString)>,
    /// The variables with the address and the type of the bus.
    whereabouts: Vec<(&'static str, String)>,
    setup: ChildSetup,
}

/// The program that is executed, which decides the meaning of the exit status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Origin {
    /// The program of the service itself.
    Direct,
    /// The launch helper, which starts services as other users.
    Helper,
}

impl Launcher {
    /// Creates a launcher for a bus with this `address` for clients. `open_files` is the limit of
    /// this process when it was started.
    pub(crate) fn new(address: &str, bus_type: Option<&BusType>, open_files: OpenFiles) -> Self {
        let setup = ChildSetup::new().open_files(open_files).without_protection();
        let inherited = std::env::vars_os().collect();
        Self { inherited, whereabouts: whereabouts(address, bus_type), setup }
    }

    pub(crate) const fn setup(&self) -> &ChildSetup {
        &self.setup
    }

    /// The program of a service. `changes` are the requested changes of the environment.
    pub(crate) fn program<'a>(
        &self,
        name: &str,
        catalog: &Catalog,
        changes: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Result<(LaunchedProgram, Origin), StartFailure> {
        let (words, origin) = words(name, catalog)?;
        let environment = self.environment(changes);
        let program = LaunchedProgram::new(words, environment);
        program.map(|program| (program, origin)).map_err(failed_to_execute)
    }

    fn environment<'a>(
        &self,
        changes: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> BTreeMap<OsString, OsString> {
        let is_ours = |name: &OsString| {
            is_state_variable(name) || NOT_PASSED_ON.iter().any(|ours| name == ours)
        };
        let inherited = self.inherited.iter().filter(|(name, _)| !is_ours(name)).cloned();
        let whereabouts = self.whereabouts.iter().map(|(name, value)| (*name, value.as_str()));
        // A name with "=" would be ambiguous.
        let changes = changes.filter(|(name, _)| !name.is_empty() && !name.contains('='));
        let os = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        inherited.chain(changes.map(os)).chain(whereabouts.map(os)).collect()
    }
}

/// The environment variables with the address and the type of the bus.
fn whereabouts(address: &str, bus_type: Option<&BusType>) -> Vec<(&'static str, String)> {
    let mut variables = vec![("DBUS_STARTER_ADDRESS", address.to_owned())];
    let bus_type = match bus_type {
        None => return variables,
        Some(BusType::Session) => {
            variables.push(("DBUS_SESSION_BUS_ADDRESS", address.to_owned()));
            "session"
        }
        Some(BusType::System) => {
            variables.push(("DBUS_SYSTEM_BUS_ADDRESS", address.to_owned()));
            "system"
        }
        Some(BusType::Other(name)) => name,
    };
    variables.push(("DBUS_STARTER_BUS_TYPE", bus_type.to_owned()));
    variables
}

/// The command line of the service, or of the launch helper, which finds the service file itself.
fn words(name: &str, catalog: &Catalog) -> Result<(Vec<OsString>, Origin), StartFailure> {
    let entry = catalog.table.get(name);
    let entry = entry.ok_or_else(|| failed_to_execute(io::ErrorKind::NotFound.into()))?;
    if let Some(helper) = &catalog.helper {
        return match entry.service.user {
            Some(_) => Ok((vec![helper.into(), name.into()], Origin::Helper)),
            None => Err(StartFailure::Helper(HelperFailure::FileInvalid)),
        };
    }
    match &entry.service.command {
        Ok(command) => Ok((command.words().iter().map(Into::into).collect(), Origin::Direct)),
        Err(error) => Err(StartFailure::Command(ForeignError::new(*error))),
    }
}

/// The failure of executing a program, in the words of the C library.
pub(super) fn failed_to_execute(error: io::Error) -> StartFailure {
    StartFailure::Exec(ForeignError::new(OsError::from(error)))
}

/// Variables for this process only, which services do not inherit.
const NOT_PASSED_ON: [&str; 6] =
    ["FDSTORE", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PID", "NOTIFY_SOCKET", "JOURNAL_STREAM"];

#[cfg(test)]
mod tests {
    use super::*;
    use services::{Folder, Table};

    fn launcher(inherited: &[(&str, &str)], bus_type: Option<&BusType>) -> Launcher {
        let inherited = inherited.iter().map(|(name, value)| (name.into(), value.into()));
        let whereabouts = whereabouts("unix:path=/x", bus_type);
        Launcher { inherited: inherited.collect(), whereabouts, setup: ChildSetup::new() }
    }

    #[test]
    fn services_get_the_bus_address_but_no_private_variables() {
        let check = |bus_type: Option<&BusType>, expected: &[&str]| {
            let own = [("A", "1"), ("B", "2"), ("LISTEN_FDS", "1"), ("NOTIFY_SOCKET", "/x")];
            let changes = [("B", "3"), ("C", "4=5"), ("D=E", "6"), ("DBUS_STARTER_ADDRESS", "no")];
            let environment = launcher(&own, bus_type).environment(changes.into_iter());
            let shown = environment.iter().map(|(name, value)| {
                format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
            });
            let shown: Vec<_> = shown.collect();
            assert_eq!(shown[..3], ["A=1", "B=3", "C=4=5"]);
            assert_eq!(shown[3..], *expected, "{bus_type:?}");
        };
        let starter = "DBUS_STARTER_ADDRESS=unix:path=/x";
        check(None, &[starter]);
        let session = "DBUS_SESSION_BUS_ADDRESS=unix:path=/x";
        check(Some(&BusType::Session), &[session, starter, "DBUS_STARTER_BUS_TYPE=session"]);
        let system = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=/x";
        let bus_type = "DBUS_STARTER_BUS_TYPE=system";
        check(Some(&BusType::System), &[starter, bus_type, system]);
        let other = BusType::Other("x".to_owned());
        check(Some(&other), &[starter, "DBUS_STARTER_BUS_TYPE=x"]);
    }

    #[test]
    fn the_helper_finds_services_by_itself() {
        let folder = std::env::temp_dir().join(format!("diligence-helper-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, user) in [("a.With", "User=me"), ("a.Without", "")] {
            let text = format!("[D-BUS Service]\nName={name}\nExec=/bin/x y\n{user}\n");
            std::fs::write(folder.join(format!("{name}.service")), text).unwrap();
        }
        let (table, _) = Table::read(&[Folder::new(folder.clone())]);
        std::fs::remove_dir_all(&folder).unwrap();
        let direct = Catalog { table, helper: None };
        let helped = Catalog { helper: Some("/helper".into()), ..direct.clone() };
        let check = |catalog: &Catalog, name: &str, expected: Result<(&str, Origin), _>| {
            let found = words(name, catalog).map(|(words, origin)| {
                let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
                (words.join(" "), origin)
            });
            let expected = expected.map(|(words, origin)| (words.to_owned(), origin));
            assert_eq!(found, expected, "{name}");
        };
        check(&direct, "a.With", Ok(("/bin/x y", Origin::Direct)));
        check(&direct, "a.Without", Ok(("/bin/x y", Origin::Direct)));
        check(&helped, "a.With", Ok(("/helper a.With", Origin::Helper)));
        let no_user = StartFailure::Helper(HelperFailure::FileInvalid);
        check(&helped, "a.Without", Err(no_user));
        let gone = failed_to_execute(io::ErrorKind::NotFound.into());
        check(&direct, "a.Gone", Err(gone));
    }
}
