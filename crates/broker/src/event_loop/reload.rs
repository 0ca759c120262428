//! Changes of the folders from which the configuration is read.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use bus::{ForeignError, Input, PeerId};
use services::Naming;

use super::{EventLoop, Loaded};
use crate::activation::service_folders;
use crate::busconfig::{ConfigError, Document};
use crate::fault::Fault;
use crate::folders::{Folders, Seen, Unrest, Unwatched};
use crate::report::ReloadReport;

/// What watches the folders, and what it has seen of late.
#[derive(Debug)]
pub(super) struct Changes {
    /// Absent where the system gives none.
    pub(super) folders: Option<Folders>,
    unrest: Option<Unrest>,
}

impl Changes {
    /// Watches the folders of a configuration.
    pub(super) fn of(document: &Document) -> (Self, Vec<Fault>) {
        let (folders, failed) = match Folders::new() {
            Ok(folders) => (Some(folders), None),
            Err(error) => (None, Some(Fault::UnwatchedFolders(error.into()))),
        };
        let mut changes = Self { folders, unrest: None };
        let unwatched = changes.watch(document).into_iter().chain(failed).collect();
        (changes, unwatched)
    }

    /// Watches the folders of a configuration, and no others.
    pub(super) fn watch(&mut self, document: &Document) -> Vec<Fault> {
        let Some(folders) = &mut self.folders else { return Vec::new() };
        // What comes into the others comes by programs that say so afterwards.
        let services = service_folders(&document.service_dirs).into_iter();
        let services = services.filter(|folder| folder.naming != Naming::Strict);
        let services = services.map(|folder| folder.path);
        let wanted = document.include_dirs.iter().cloned().chain(services);
        named(folders.watch(wanted.collect::<BTreeSet<PathBuf>>()))
    }

    /// What is about to be read is what is there now, and changes from now on are news.
    pub(super) fn settle(&mut self) -> Vec<Fault> {
        self.unrest = None;
        self.folders.as_mut().map_or_else(Vec::new, |folders| named(folders.renew()))
    }
}

fn named(unwatched: Vec<Unwatched>) -> Vec<Fault> {
    unwatched.into_iter().map(Fault::UnwatchedFolder).collect()
}

impl EventLoop {
    /// Reads the configuration again; if that fails, the old one stays. `caller` is the connection
    /// whose call of ReloadConfig causes this, if one does.
    pub(super) fn reconfigure(&mut self, caller: Option<PeerId>) {
        let mut unwatched = self.changes.settle();
        let outcome = match self.reload.read() {
            Ok(Loaded { config, catalog }) => {
                unwatched.extend(self.changes.watch(&config.document));
                self.describe_anew(&config.configuration.policy);
                self.config.document.own = config.document.own;
                self.config.configuration = config.configuration;
                self.catalog = catalog;
                self.report_reload(caller, Ok(()));
                Ok(Box::new(self.config.configuration.clone()))
            }
            Err(error) => {
                self.report_reload(caller, Err(&error));
                Err(ForeignError::new(error))
            }
        };
        self.tell_unwatched(unwatched);
        self.move_metrics();
        self.set_recorder();
        self.answer(Input::Reconfigured { outcome }, None);
        let peers: Vec<PeerId> = self.table.iter_mut().map(|connection| connection.peer).collect();
        peers.into_iter().for_each(|peer| self.limits_changed(peer));
        // A time limit may have become shorter.
        self.alarm.no_later_than(self.now);
        self.reload.done();
    }

    fn report_reload(&mut self, caller: Option<PeerId>, result: Result<(), &ConfigError>) {
        let reload = ReloadReport { caller, result, warnings: self.reload.warnings() };
        let described = self.reporter.reload(&self.log, &self.bus, &reload, self.now);
        self.describe(described);
    }

    /// Tells of folders that changes will not be seen in.
    pub(super) fn tell_unwatched(&mut self, unwatched: Vec<Fault>) {
        for fault in unwatched {
            self.fault(fault);
        }
    }

    /// Takes note of what has changed in the folders.
    pub(super) fn folders_changed(&mut self) -> io::Result<()> {
        let Some(folders) = &mut self.changes.folders else { return Ok(()) };
        if folders.look()? == Seen::AChange {
            let unrest = Unrest::goes_on(self.changes.unrest, self.now);
            self.changes.unrest = Some(unrest);
            self.alarm.no_later_than(unrest.due());
        }
        Ok(())
    }

    /// Reads the configuration again when its folders have come to rest.
    pub(super) fn check_folders(&mut self) {
        match self.changes.unrest.map(Unrest::due) {
            Some(due) if due <= self.now => self.reconfigure(None),
            Some(due) => self.alarm.no_later_than(due),
            None => {}
        }
    }
}
