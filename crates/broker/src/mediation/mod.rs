//! Mediation by security modules of the kernel.
//!
//! ```text
//!   bus ── may this peer own, eavesdrop, send? ──▶ Mediation ──▶ Selinux, AppArmor ──▶ a file of the kernel
//! ```
//!
//! Each module is queried through its kernel file, so no library is needed. If the kernel does not
//! answer, the operation is denied.

mod app_armor;
mod selinux;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use bus::ForeignError;
use bus::mediation::{Claim, Mediator, MediatorDecision, MediatorKind, Transit};

use crate::busconfig::{AppArmorMode, BusType};
use crate::os_error::OsError;
pub(crate) use app_armor::AppArmorClient;
pub(crate) use selinux::Selinux;

/// The security modules that mediate on a bus.
#[derive(Debug)]
pub(crate) struct Mediation {
    clients: Vec<Box<dyn ModuleClient>>,
    modules: Vec<MediatorKind>,
}

/// The interface to one security module.
trait ModuleClient: fmt::Debug {
    /// Which security module it is.
    fn module(&self) -> MediatorKind;

    /// Whether a connection may own a name.
    fn owning(&mut self, claim: &Claim<'_>) -> Result<Answer, OsError>;

    /// Whether a connection may eavesdrop on messages to other connections.
    fn eavesdropping(&mut self, label: &[u8]) -> Result<Answer, OsError>;

    /// Whether a message may be delivered.
    fn message(&mut self, transit: &Transit<'_>) -> Result<Answer, OsError>;
}

/// The decision of a module.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Answer {
    /// The operation is allowed.
    Yes,
    /// The operation is allowed, and has to be logged.
    YesAudited,
    /// The operation is denied.
    No,
}

/// Why a security module cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MediationError {
    module: MediatorKind,
    path: PathBuf,
    error: OsError,
}

impl Mediation {
    /// The modules that mediate on a bus of this type; `None` if there are none. SELinux mediates
    /// wherever it is active, AppArmor unless `app_armor` in the configuration disables it.
    ///
    /// # Errors
    ///
    /// A module has to mediate, but cannot be used.
    pub(crate) fn of(
        bus_type: Option<&BusType>,
        app_armor: Option<AppArmorMode>,
    ) -> Result<Option<Self>, MediationError> {
        let mut clients: Vec<Box<dyn ModuleClient>> = Vec::new();
        if Selinux::is_active() {
            clients.push(Box::new(Selinux::open()?));
        }
        let is_excluded = app_armor == Some(AppArmorMode::Disabled);
        if !is_excluded && AppArmorClient::is_active() {
            let bus_type = bus_type.map_or("", BusType::name);
            clients.push(Box::new(AppArmorClient::open(bus_type)?));
        }
        Ok((!clients.is_empty()).then(|| Self::new(clients)))
    }

    fn new(clients: Vec<Box<dyn ModuleClient>>) -> Self {
        let modules = clients.iter().map(|client| client.module()).collect();
        Self { clients, modules }
    }

    /// The combined decision of all modules: the first denial, or else the first that has to be
    /// logged.
    fn ask(
        &mut self,
        question: impl Fn(&mut dyn ModuleClient) -> Result<Answer, OsError>,
    ) -> MediatorDecision {
        let mut decision = MediatorDecision::Allows;
        for client in &mut self.clients {
            let module = client.module();
            match question(&mut **client) {
                Ok(Answer::Yes) => {}
                Ok(Answer::YesAudited) => decision = MediatorDecision::AllowsAudited(module),
                Ok(Answer::No) => return MediatorDecision::Denies(module),
                Err(error) => {
                    return MediatorDecision::Silent { module, error: ForeignError::new(error) };
                }
            }
        }
        decision
    }
}

impl Mediator for Mediation {
    fn modules(&self) -> &[MediatorKind] {
        &self.modules
    }

    fn on_owning(&mut self, claim: &Claim<'_>) -> MediatorDecision {
        self.ask(|client| client.owning(claim))
    }

    fn on_eavesdropping(&mut self, label: Option<&[u8]>) -> MediatorDecision {
        self.ask(|client| label.map_or(Ok(Answer::No), |label| client.eavesdropping(label)))
    }

    fn on_message(&mut self, transit: &Transit<'_>) -> MediatorDecision {
        self.ask(|client| client.message(transit))
    }
}

impl MediationError {
    fn new(module: MediatorKind, path: &Path, error: io::Error) -> Self {
        Self { module, path: path.into(), error: error.into() }
    }
}

impl fmt::Display for MediationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, path, error } = self;
        let (module, path) = (module.name(), path.display());
        write!(f, "Cannot enable {module} mediation: cannot use {path}: {error}")
    }
}

impl std::error::Error for MediationError {}

/// The label of this process, read from the first of `paths` that exists.
fn own_label(module: MediatorKind, paths: &[&str]) -> Result<Box<[u8]>, MediationError> {
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    let mut paths = paths.iter().map(Path::new);
    let mut last = Path::new("");
    while let (Err(_), Some(path)) = (&outcome, paths.next()) {
        last = path;
        outcome = std::fs::read(path);
    }
    let mut label = outcome.map_err(|error| MediationError::new(module, last, error))?;
    while label.last().is_some_and(|byte| matches!(byte, b'\0' | b'\n')) {
        label.pop();
    }
    Ok(label.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(MediatorKind, Result<Answer, OsError>);

    impl ModuleClient for Fixed {
        fn module(&self) -> MediatorKind {
            self.0
        }

        fn owning(&mut self, _: &Claim<'_>) -> Result<Answer, OsError> {
            self.1
        }

        fn eavesdropping(&mut self, _: &[u8]) -> Result<Answer, OsError> {
            self.1
        }

        fn message(&mut self, _: &Transit<'_>) -> Result<Answer, OsError> {
            self.1
        }
    }

    fn decision(
        first: Result<Answer, OsError>,
        second: Result<Answer, OsError>,
    ) -> MediatorDecision {
        let clients: Vec<Box<dyn ModuleClient>> = vec![
            Box::new(Fixed(MediatorKind::Selinux, first)),
            Box::new(Fixed(MediatorKind::AppArmor, second)),
        ];
        Mediation::new(clients).on_eavesdropping(Some(b"label"))
    }

    #[test]
    fn an_operation_needs_the_consent_of_all_modules() {
        use Answer::{No, Yes, YesAudited};
        use MediatorKind::{AppArmor, Selinux};
        let failed = Err(OsError::Number(2));
        let silent = |module| MediatorDecision::Silent {
            module,
            error: ForeignError::new(OsError::Number(2)),
        };
        let cases = [
            (Ok(Yes), Ok(Yes), MediatorDecision::Allows),
            (Ok(YesAudited), Ok(Yes), MediatorDecision::AllowsAudited(Selinux)),
            (Ok(Yes), Ok(YesAudited), MediatorDecision::AllowsAudited(AppArmor)),
            (Ok(No), Ok(Yes), MediatorDecision::Denies(Selinux)),
            (Ok(YesAudited), Ok(No), MediatorDecision::Denies(AppArmor)),
            (failed, Ok(Yes), silent(Selinux)),
            (Ok(Yes), failed, silent(AppArmor)),
        ];
        for (first, second, expected) in cases {
            assert_eq!(decision(first, second), expected, "{first:?} {second:?}");
        }
    }

    #[test]
    fn peers_without_a_label_must_not_eavesdrop() {
        let clients: Vec<Box<dyn ModuleClient>> =
            vec![Box::new(Fixed(MediatorKind::Selinux, Ok(Answer::Yes)))];
        let decision = Mediation::new(clients).on_eavesdropping(None);
        assert_eq!(decision, MediatorDecision::Denies(MediatorKind::Selinux));
    }

    #[test]
    fn mediation_errors_name_the_module_and_the_file() {
        let error = io::Error::from_raw_os_error(13);
        let error = MediationError::new(MediatorKind::AppArmor, Path::new("/sys/x"), error);
        assert_eq!(
            error.to_string(),
            "Cannot enable AppArmor mediation: cannot use /sys/x: Permission denied"
        );
        let missing = own_label(MediatorKind::Selinux, &["/no/such", "/no/other"]).unwrap_err();
        assert_eq!(missing.path, Path::new("/no/other"));
    }
}
