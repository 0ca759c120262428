//! Changes of the folders from which the configuration is read.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use services::Naming;

use super::EventLoop;
use crate::activation::service_folders;
use crate::busconfig::Document;
use crate::folders::{Folders, Seen, Unrest, Unwatched};
use crate::log::{Log, Severity};

/// What watches the folders, and what it has seen of late.
#[derive(Debug)]
pub(super) struct Changes {
    /// Absent where the system gives none.
    pub(super) folders: Option<Folders>,
    unrest: Option<Unrest>,
}

impl Changes {
    /// Watches the folders of a configuration.
    pub(super) fn of(document: &Document, log: &Log) -> Self {
        let folders = Folders::new().inspect_err(|error| warn(log, "folders", error));
        let mut changes = Self { folders: folders.ok(), unrest: None };
        changes.watch(document, log);
        changes
    }

    /// Watches the folders of a configuration, and no others.
    pub(super) fn watch(&mut self, document: &Document, log: &Log) {
        let Some(folders) = &mut self.folders else { return };
        // What comes into the others comes by programs that say so afterwards.
        let services = service_folders(&document.service_dirs).into_iter();
        let services = services.filter(|folder| folder.naming != Naming::Strict);
        let services = services.map(|folder| folder.path);
        let wanted = document.include_dirs.iter().cloned().chain(services);
        complain(log, folders.watch(wanted.collect::<BTreeSet<PathBuf>>()));
    }

    /// What is about to be read is what is there now, and changes from now on are news.
    pub(super) fn settle(&mut self, log: &Log) {
        self.unrest = None;
        if let Some(folders) = &mut self.folders {
            complain(log, folders.renew());
        }
    }
}

impl EventLoop {
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

fn complain(log: &Log, unwatched: Vec<Unwatched>) {
    for Unwatched { folder, error } in unwatched {
        warn(log, &format!("{:?}", folder.display().to_string()), &error);
    }
}

fn warn(log: &Log, what: &str, error: &dyn std::fmt::Display) {
    let line = format!(
        "Cannot watch {what} for changes: {error}; after a change, reload by SIGHUP or ReloadConfig"
    );
    log.write(Severity::Warning, line);
}
