//! Activatable names, and the ways to start their services.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::well_known::SYSTEMD;

/// The names of the service files, with the data that the bus needs of each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Services {
    by_name: BTreeMap<Box<str>, Service>,
    /// The program that starts services that have a unit.
    pub manager: ServiceManager,
}

/// A service that can be activated.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Service {
    /// The unit of the service manager that it runs in (`SystemdService`).
    pub unit: Option<Box<str>>,
    /// The AppArmor label that it will have (`AssumedAppArmorLabel`).
    pub label: Option<Box<str>>,
}

/// Whether a service manager starts the services that have a unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum ServiceManager {
    /// All services are started as processes.
    #[default]
    Absent,
    /// The bus requests units from systemd (`--systemd-activation`).
    Systemd,
}

/// The way in which the service of a name is started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ActivationMethod {
    /// The bus starts a process.
    Process,
    /// The bus requests this unit from the service manager.
    Unit(Box<str>),
    /// The service, such as the service manager, starts by itself: the bus only waits for it.
    ByItself,
}

impl Services {
    /// Creates an empty list of services, to be started by `manager`.
    #[must_use]
    pub fn new(manager: ServiceManager) -> Self {
        Self { manager, ..Self::default() }
    }

    /// Adds a service, unless the name is already in the list.
    pub fn add(&mut self, name: &str, service: Service) {
        self.by_name.entry(name.into()).or_insert(service);
    }

    /// The activatable names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(|name| &**name)
    }

    /// The AppArmor label that a service will have, if its file says so.
    pub(crate) fn assumed_label(&self, name: &str) -> Option<&str> {
        self.by_name.get(name)?.label.as_deref()
    }

    pub(crate) fn method(&self, name: &str) -> Option<ActivationMethod> {
        if self.manager == ServiceManager::Absent {
            return self.by_name.get(name).map(|_| ActivationMethod::Process);
        }
        if name == SYSTEMD {
            return Some(ActivationMethod::ByItself);
        }
        let service = self.by_name.get(name)?;
        Some(service.unit.clone().map_or(ActivationMethod::Process, ActivationMethod::Unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_manager_starts_units_and_it_comes_by_itself() {
        let check = |manager, name: &str, expected: Option<ActivationMethod>| {
            let mut services = Services::new(manager);
            services.add("a.Plain", Service::default());
            services.add("a.Unit", Service { unit: Some("a.service".into()), label: None });
            services.add("a.Unit", Service { unit: Some("late.service".into()), label: None });
            assert_eq!(services.method(name), expected, "{name} with {manager:?}");
        };
        check(ServiceManager::Absent, "a.Plain", Some(ActivationMethod::Process));
        check(ServiceManager::Absent, "a.Unit", Some(ActivationMethod::Process));
        check(ServiceManager::Absent, "a.Other", None);
        check(ServiceManager::Absent, SYSTEMD, None);
        check(ServiceManager::Systemd, "a.Plain", Some(ActivationMethod::Process));
        check(ServiceManager::Systemd, "a.Unit", Some(ActivationMethod::Unit("a.service".into())));
        check(ServiceManager::Systemd, "a.Other", None);
        check(ServiceManager::Systemd, SYSTEMD, Some(ActivationMethod::ByItself));
    }
}
