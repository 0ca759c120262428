//! What can be started, by whom, and what the bus is told of it.

use std::env;
use std::path::PathBuf;

use bus::{Service, ServiceManager, Services};
use services::{Folder, SessionPlaces, Table, Warning, session_folders, system_folders};
use sys::privileges::effective_user;
use sys::users::User;

use crate::busconfig::ServiceDir;

/// What can be started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Catalog {
    /// The service files.
    pub table: Table,
    /// The program that starts services as other users, if they are started by one.
    pub helper: Option<PathBuf>,
}

impl Catalog {
    /// What the bus has to know, if `manager` starts units.
    #[must_use]
    pub fn services(&self, manager: ServiceManager) -> Services {
        let mut services = Services::new(manager);
        for entry in self.table.iter() {
            let text = |text: &Option<String>| text.as_deref().map(Into::into);
            let (unit, label) = (text(&entry.service.unit), text(&entry.service.label));
            services.add(&entry.service.name, Service { unit, label });
        }
        services
    }
}

/// Reads the service files of these folders; what cannot be used is named in the warnings.
#[must_use]
pub fn read(dirs: &[ServiceDir], helper: Option<PathBuf>) -> (Catalog, Vec<Warning>) {
    let (table, warnings) = Table::read(&service_folders(dirs));
    (Catalog { table, helper }, warnings)
}

/// The folders of a configuration, in the order in which they count.
pub(crate) fn service_folders(dirs: &[ServiceDir]) -> Vec<Folder> {
    let folders = dirs.iter().flat_map(|dir| match dir {
        ServiceDir::Path(path) => vec![Folder::new(path.clone())],
        ServiceDir::StandardSession => session_folders(&session_places()),
        ServiceDir::StandardSystem => system_folders(),
    });
    folders.collect()
}

/// What the environment says, and the user database: that is where services were always found,
/// wherever a test or a desktop moves `HOME`.
fn session_places() -> SessionPlaces {
    let path = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    SessionPlaces {
        runtime_dir: path("XDG_RUNTIME_DIR"),
        data_home: path("XDG_DATA_HOME"),
        home: home_of_user().or_else(|| path("HOME")),
        data_dirs: env::var("XDG_DATA_DIRS").ok().filter(|value| !value.is_empty()),
    }
}

/// The home directory of who runs the bus, if the database knows.
fn home_of_user() -> Option<PathBuf> {
    let user = User::by_id(effective_user()).ok().flatten();
    user.map(|user| user.home().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
