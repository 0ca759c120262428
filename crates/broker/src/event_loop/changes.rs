//! Changes of the directories from which the configuration is read.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use services::Naming;

use super::alarm::Alarm;
use crate::activation::service_folders;
use crate::busconfig::Document;
use crate::fault::Fault;
use crate::folders::{ChangeBurst, FolderChange, Folders, SavedFolders, Unwatched};
use crate::saved_state::{FdCollector, RestoredFds, StateError};

/// The watched directories, and their recent changes.
#[derive(Debug)]
pub(super) struct ConfigChanges {
    /// `None` if the system cannot watch directories.
    pub(super) folders: Option<Folders>,
    burst: Option<ChangeBurst>,
}

/// The watched directories in a saved state.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SavedChanges {
    folders: Option<SavedFolders>,
    burst: Option<ChangeBurst>,
}

impl ConfigChanges {
    /// Saves the watches and the recent changes.
    pub(super) fn save<'f>(&'f self, fds: &mut FdCollector<'f>) -> SavedChanges {
        let folders = self.folders.as_ref().map(|folders| folders.save(fds));
        SavedChanges { folders, burst: self.burst }
    }

    /// Restores the watches and the recent changes.
    pub(super) fn restore(
        SavedChanges { folders, burst }: SavedChanges,
        fds: &mut RestoredFds,
    ) -> Result<Self, StateError> {
        let folders = folders.map(|folders| Folders::restore(folders, fds)).transpose()?;
        Ok(Self { folders, burst })
    }

    /// Watches the directories of a configuration.
    pub(super) fn of(document: &Document) -> (Self, Vec<Fault>) {
        let (folders, failed) = match Folders::new() {
            Ok(folders) => (Some(folders), None),
            Err(error) => (None, Some(Fault::UnwatchedFolders(error.into()))),
        };
        let mut changes = Self { folders, burst: None };
        let unwatched = changes.watch(document).into_iter().chain(failed).collect();
        (changes, unwatched)
    }

    /// Watches exactly the directories of a configuration.
    pub(super) fn watch(&mut self, document: &Document) -> Vec<Fault> {
        let Some(folders) = &mut self.folders else { return Vec::new() };
        // The other directories are changed by programs that then ask for a reload.
        let services = service_folders(&document.service_dirs).into_iter();
        let services = services.filter(|folder| folder.naming != Naming::Strict);
        let services = services.map(|folder| folder.path);
        let wanted = document.include_dirs.iter().cloned().chain(services);
        named(folders.watch(wanted.collect::<BTreeSet<PathBuf>>()))
    }

    /// Called before a reload: forgets earlier changes and renews the watches, so that later
    /// changes count.
    pub(super) fn settle(&mut self) -> Vec<Fault> {
        self.burst = None;
        self.folders.as_mut().map_or_else(Vec::new, |folders| named(folders.renew()))
    }

    /// Reads the changes of the directories, and sets the alarm for the time when they have
    /// settled.
    pub(super) fn look(&mut self, now: Duration, alarm: &mut Alarm) -> io::Result<()> {
        let Some(folders) = &mut self.folders else { return Ok(()) };
        if folders.look()? == FolderChange::Changed {
            let burst = ChangeBurst::extended(self.burst, now);
            self.burst = Some(burst);
            alarm.no_later_than(burst.due());
        }
        Ok(())
    }

    /// Whether the directories have settled after a change.
    pub(super) fn are_due(&self, now: Duration, alarm: &mut Alarm) -> bool {
        let Some(due) = self.burst.map(ChangeBurst::due) else { return false };
        if due > now {
            alarm.no_later_than(due);
        }
        due <= now
    }
}

fn named(unwatched: Vec<Unwatched>) -> Vec<Fault> {
    unwatched.into_iter().map(Fault::UnwatchedFolder).collect()
}
