//! A copy of the bus program, whose file a test can replace while the bus runs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bus::{BusUnderTest, TestConfig, copy_bus, copy_program};
use crate::program::ExternalProgram;
use crate::scratch::{ScratchFolder, set_mode};

/// The installed program of a bus: a file in a folder of its own, removed on drop. A bus that is
/// replaced executes the file that is there at that time.
#[derive(Debug)]
pub struct InstalledProgram {
    folder: ScratchFolder,
    path: PathBuf,
}

impl InstalledProgram {
    /// Installs the program under test.
    #[must_use]
    pub fn new() -> Self {
        let folder = ScratchFolder::new();
        let path = copy_bus(&folder);
        Self { folder, path }
    }

    /// Starts a bus whose program is this file.
    #[must_use]
    pub fn start_bus(&self, config: &TestConfig) -> BusUnderTest {
        BusUnderTest::start_with(config, |_| ExternalProgram::at(&self.path))
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder for files of the test.
    #[must_use]
    pub fn folder(&self) -> &ScratchFolder {
        &self.folder
    }

    /// Replaces the file by one with these contents and permission bits, like an upgrade of a
    /// package.
    ///
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn replace(&self, contents: &str, mode: u32) {
        let (text, new) = (self.folder.file("contents", contents), self.folder.join("new"));
        copy_program(&text, &new);
        set_mode(&new, mode);
        fs::rename(&new, &self.path).expect("a scratch folder is writable");
    }

    /// Replaces the file by an executable script of the shell.
    ///
    /// # Panics
    ///
    /// If the file cannot be written.
    pub fn replace_by_script(&self, script: &str) {
        self.replace(&format!("#!/bin/sh\n{script}\n"), 0o755);
    }

    /// Installs the program under test again.
    ///
    /// # Panics
    ///
    /// If the copy cannot be created.
    pub fn restore(&self) {
        fs::remove_file(&self.path).ok();
        let _ = copy_bus(&self.folder);
    }
}

impl Default for InstalledProgram {
    fn default() -> Self {
        Self::new()
    }
}
