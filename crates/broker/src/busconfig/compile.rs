//! From what a configuration says to what a bus does.

use std::fmt;

use bus::{Configuration, Policy, ServiceHelper};

use super::document::{AppArmor, AppArmorMode, Document};
use super::environment::{Environment, SecurityModule};
use super::error::ConfigError;

/// What a configuration asks for that this bus cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NotEnforced {
    /// AppArmor is to have a say.
    AppArmor,
    /// SELinux is to say who may own a name.
    Selinux,
}

impl fmt::Display for NotEnforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::AppArmor => "AppArmor is to decide what is allowed on the bus",
            Self::Selinux => "SELinux is to decide who may own a name",
        };
        write!(
            f,
            "{what}; this bus cannot enforce that yet, and refuses to start rather than allow more"
        )
    }
}

/// Works out what the bus is to do. A bus that lets pass what it was told to stop is worse than
/// none, so what it cannot enforce is an error.
pub(super) fn compile(
    document: &Document,
    environment: &Environment<'_>,
) -> Result<Configuration, ConfigError> {
    check_security_modules(document, environment)?;
    let service_helper = match document.service_helper {
        Some(_) => ServiceHelper::Present,
        None => ServiceHelper::Absent,
    };
    let rules = document.policy.rules.iter().map(|rule| rule.without_origin());
    Ok(Configuration {
        limits: document.limits.clone(),
        user_limits: document.user_limits(),
        policy: Policy::new(rules.collect()),
        service_helper,
        ..Configuration::default()
    })
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
