//! Changes of the folders from which the configuration is read.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use services::Naming;

use super::alarm::Alarm;
use crate::activation::service_folders;
use crate::busconfig::Document;
use crate::fault::Fault;
use crate::folders::{FolderChange, Folders, Unrest, Unwatched};

/// What watches the folders, and what it has seen of late.
#[derive(Debug)]
pub(super) struct ConfigChanges {
    /// Absent where the system gives none.
    pub(super) folders: Option<Folders>,
    unrest: Option<Unrest>,
}

impl ConfigChanges {
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

    /// Looks at what has changed in the folders, and lets the alarm ring when they have come to rest.
    pub(super) fn look(&mut self, now: Duration, alarm: &mut Alarm) -> io::Result<()> {
        let Some(folders) = &mut self.folders else { return Ok(()) };
        if folders.look()? == FolderChange::Changed {
            let unrest = Unrest::goes_on(self.unrest, now);
            self.unrest = Some(unrest);
            alarm.no_later_than(unrest.due());
        }
        Ok(())
    }

    /// Whether the folders have come to rest after a change.
    pub(super) fn are_due(&self, now: Duration, alarm: &mut Alarm) -> bool {
        let Some(due) = self.unrest.map(Unrest::due) else { return false };
        if due > now {
            alarm.no_later_than(due);
        }
        due <= now
    }
}

fn named(unwatched: Vec<Unwatched>) -> Vec<Fault> {
    unwatched.into_iter().map(Fault::UnwatchedFolder).collect()
}
