//! Compiles a configuration document into the settings of the bus core.

use std::collections::BTreeMap;

use bus::{Configuration, Policy, ServiceHelper};

use super::document::Document;
use super::environment::{Environment, SecurityModule};
use super::error::ConfigError;
use super::not_enforced::NotEnforced;
use super::vocabulary::{AppArmor, AppArmorMode, Association};

/// Compiles the settings of the bus. Running without a configured restriction would be unsafe, so a
/// restriction that cannot be enforced is an error.
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
        traces: document.own.traces.clone(),
        lanes: document.own.lanes.clone(),
        flight_recorder: document.own.recorder(),
        policy: Policy::new(rules.collect()),
        security_contexts: security_contexts(document),
        service_helper,
        ..Configuration::default()
    })
}

/// Fails if AppArmor mediation is required but not available.
fn check_security_modules(
    document: &Document,
    environment: &Environment<'_>,
) -> Result<(), ConfigError> {
    match (&document.app_armor, environment.app_armor) {
        (Some(AppArmor { origin, mode: AppArmorMode::Required }), SecurityModule::Inactive) => {
            Err(origin.error(NotEnforced::AppArmor))
        }
        _ => Ok(()),
    }
}

/// The SELinux context of each name; the last association for a name counts.
fn security_contexts(document: &Document) -> BTreeMap<Box<str>, Box<str>> {
    let pair = |it: &Association| (it.name.as_str().into(), it.context.as_str().into());
    document.associations.iter().map(pair).collect()
}
