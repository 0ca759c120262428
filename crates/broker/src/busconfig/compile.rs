//! From what a configuration says to what a bus does.
//!
//! The bus enforces one kind of policy: everybody who may connect may send, receive and own
//! everything, with a switch for unrequested replies and one for eavesdropping. A configuration
//! that asks for less, or for more of something only for some, is refused: a bus that lets pass
//! what it was told to stop is worse than none.

mod judge;

use std::fmt;

use bus::{Configuration, ServiceHelper, Verdict};

use super::document::{AppArmor, AppArmorMode, Document};
use super::environment::{Environment, SecurityModule};
use super::error::{ConfigError, ConfigErrorKind};
use super::policy::Right;
use judge::{Judgement, Refusal};

/// Who may connect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Admission {
    /// The user that the bus runs as.
    OwnUser,
    /// Every user.
    Everybody,
}

/// What a configuration asks for that this bus cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotEnforced {
    /// A rule allows or denies something to some, but not to all.
    Rule {
        /// What the rule does.
        verdict: Verdict,
        /// What it is about.
        right: Right,
    },
    /// No rule allows this to anybody.
    NoRule(Right),
    /// AppArmor is to have a say.
    AppArmor,
    /// SELinux is to say who may own a name.
    Selinux,
}

impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule { verdict: Verdict::Deny, right } => {
                write!(f, "This <deny> restricts {right}")?;
            }
            Self::Rule { verdict: Verdict::Allow, right } => {
                write!(f, "This <allow> permits {right} only in part")?;
            }
            Self::NoRule(right) => write!(f, "No <allow> permits {right}")?,
            Self::AppArmor => f.write_str("AppArmor is to decide what is allowed on the bus")?,
            Self::Selinux => f.write_str("SELinux is to decide who may own a name")?,
        }
        f.write_str(
            "; this bus cannot enforce that yet, and refuses to start rather than allow more",
        )
    }
}

/// What the bus is to do.
pub(super) struct Compiled {
    pub(super) admission: Admission,
    pub(super) configuration: Configuration,
}

/// Works out what the bus is to do.
pub(super) fn compile(
    document: &Document,
    environment: &Environment<'_>,
) -> Result<Compiled, ConfigError> {
    check_security_modules(document, environment)?;
    let Judgement { admission, policy } =
        Judgement::on(&document.policy).map_err(|refusal| refuse(refusal, document))?;
    let service_helper = match document.service_helper {
        Some(_) => ServiceHelper::Present,
        None => ServiceHelper::Absent,
    };
    let limits = document.limits.clone();
    let user_limits = document.user_limits();
    let configuration =
        Configuration { limits, user_limits, policy, service_helper, ..Configuration::default() };
    Ok(Compiled { admission, configuration })
}

/// A bus without `<apparmor>` does not ask AppArmor; one that says that it should be asked does not
/// get a bus that does not ask.
fn check_security_modules(
    document: &Document,
    environment: &Environment<'_>,
) -> Result<(), ConfigError> {
    if let Some(AppArmor { origin, mode }) = &document.app_armor {
        match (mode, environment.app_armor) {
            (AppArmorMode::Required, _) | (AppArmorMode::Enabled, SecurityModule::Active) => {
                return Err(origin.error(NotEnforced::AppArmor));
            }
            _ => {}
        }
    }
    match (document.associations.first(), environment.selinux) {
        (Some(first), SecurityModule::Active) => Err(first.origin.error(NotEnforced::Selinux)),
        _ => Ok(()),
    }
}

/// Names the rule that stands in the way.
fn refuse(refusal: Refusal, document: &Document) -> ConfigError {
    match refusal {
        Refusal::Rule(index) => {
            let rule = &document.policy.rules[index];
            let right = rule.subject.right();
            rule.origin.error(NotEnforced::Rule { verdict: rule.verdict, right })
        }
        Refusal::NoRule(right) => {
            let kind = ConfigErrorKind::NotEnforced(NotEnforced::NoRule(right));
            ConfigError { file: document.file.clone(), position: None, kind }
        }
    }
}
