//! The catalog of activatable services.

use std::env;
use std::path::PathBuf;

use bus::{Service, ServiceManager, Services};
use services::{Folder, SessionPlaces, Table, Warning, session_folders, system_folders};
use sys::privileges::effective_user;
use sys::users::UserAccount;

use super::units::UnitActivation;
use crate::busconfig::ServiceDir;

/// The services that can be started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Catalog {
    /// The table of service files by name.
    pub table: Table,
    /// The launch helper, if services are started by it.
    pub helper: Option<PathBuf>,
}

impl Catalog {
    /// The activatable names for the bus core, if services are started in this way.
    #[must_use]
    pub fn services(&self, activation: &UnitActivation) -> Services {
        let (manager, template) = match activation {
            UnitActivation::Direct => (ServiceManager::Absent, None),
            UnitActivation::Systemd => (ServiceManager::Systemd, None),
            UnitActivation::SystemdAlone(template) => (ServiceManager::Systemd, Some(template)),
        };
        let mut services = Services::new(manager);
        for entry in self.table.iter() {
            let text = |text: &Option<String>| text.as_deref().map(Into::into);
            let (name, label) = (&entry.service.name, text(&entry.service.label));
            let made = || template.map(|template| template.instance(name).into());
            services.add(name, Service { unit: text(&entry.service.unit).or_else(made), label });
        }
        services
    }
}

/// Reads the service files of these directories. Files that cannot be used are reported in the
/// warnings.
#[must_use]
pub fn read(dirs: &[ServiceDir], helper: Option<PathBuf>) -> (Catalog, Vec<Warning>) {
    let (table, warnings) = Table::read(&service_folders(dirs));
    (Catalog { table, helper }, warnings)
}

/// The directories of service files, in the order of precedence.
pub(crate) fn service_folders(dirs: &[ServiceDir]) -> Vec<Folder> {
    let folders = dirs.iter().flat_map(|dir| match dir {
        ServiceDir::Path(path) => vec![Folder::new(path.clone())],
        ServiceDir::StandardSession => session_folders(&session_places()),
        ServiceDir::StandardSystem => system_folders(),
    });
    folders.collect()
}

/// The places of the environment, and the home directory of the user database as dbus-daemon uses
/// it, even if a test or a desktop changes `HOME`.
fn session_places() -> SessionPlaces {
    let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    SessionPlaces {
        runtime_dir: path("XDG_RUNTIME_DIR"),
        data_home: path("XDG_DATA_HOME"),
        home: home_of_user().or_else(|| path("HOME")),
        data_dirs: env::var("XDG_DATA_DIRS").ok().filter(|value| !value.is_empty()),
    }
}

/// The home directory of the user of the bus, if the user database has it.
fn home_of_user() -> Option<PathBuf> {
    let user = UserAccount::by_id(effective_user()).ok().flatten();
    user.map(|user| user.home().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activation::UnitTemplate;

    #[test]
    fn folders_come_in_the_order_of_the_configuration() {
        let paths = |dirs: &[ServiceDir]| {
            service_folders(dirs).into_iter().map(|folder| folder.path).collect::<Vec<_>>()
        };
        let [first, last] = ["/first", "/last"].map(|path| ServiceDir::Path(path.into()));
        let all = paths(&[first, ServiceDir::StandardSystem, last]);
        assert_eq!(all.first(), Some(&PathBuf::from("/first")));
        assert_eq!(all.get(1), Some(&PathBuf::from("/etc/dbus-1/system-services")));
        assert_eq!(all.last(), Some(&PathBuf::from("/last")));
        assert_eq!(paths(&[]), Vec::<PathBuf>::new());
    }

    #[test]
    fn services_without_a_unit_get_one_if_systemd_starts_all() {
        let folder = env::temp_dir().join(format!("diligence-units-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, unit) in [("a.With", "SystemdService=w.service"), ("a.With-out", "")] {
            let text = format!("[D-BUS Service]\nName={name}\nExec=/bin/x\n{unit}\n");
            std::fs::write(folder.join(format!("{name}.service")), text).unwrap();
        }
        let (catalog, _) = read(&[ServiceDir::Path(folder.clone())], None);
        std::fs::remove_dir_all(&folder).unwrap();
        let expected = |manager, without: Option<&str>| {
            let mut services = Services::new(manager);
            let unit = |unit: Option<&str>| Service { unit: unit.map(Into::into), label: None };
            services.add("a.With", unit(Some("w.service")));
            services.add("a.With-out", unit(without));
            services
        };
        let template = UnitTemplate::parse("x@.service").expect("a template");
        let alone = UnitActivation::SystemdAlone(template);
        let made = Some(r"x@a.With\x2dout.service");
        let check = |activation, services| assert_eq!(catalog.services(&activation), services);
        check(UnitActivation::Direct, expected(ServiceManager::Absent, None));
        check(UnitActivation::Systemd, expected(ServiceManager::Systemd, None));
        check(alone, expected(ServiceManager::Systemd, made));
    }
}
