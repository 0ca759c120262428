//! The user and group database of the system.
//!
//! A lookup may query a server over the network, or even over the message bus. So a bus looks up
//! the names in its configuration when it starts or reloads, never while it routes messages.

use crate::raw::{self, DatabaseKey, PasswdEntry};
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// An entry of the user database (passwd(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAccount {
    uid: u32,
    gid: u32,
    name: CString,
    home: PathBuf,
}

impl UserAccount {
    /// Finds a user by name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails with the errors of getpwnam(3), if the database cannot be read.
    pub fn by_name(name: &str) -> io::Result<Option<Self>> {
        // A user name cannot contain a NUL byte.
        let Ok(name) = CString::new(name) else { return Ok(None) };
        Ok(raw::account(DatabaseKey::Name(&name))?.map(Self::from))
    }

    /// Finds a user by id; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Fails with the errors of getpwuid(3), if the database cannot be read.
    pub fn by_id(uid: u32) -> io::Result<Option<Self>> {
        Ok(raw::account(DatabaseKey::Id(uid))?.map(Self::from))
    }

    /// The id of the user.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The id of the user's primary group.
    #[must_use]
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The user name, with replacement characters for invalid UTF-8.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// The path of the home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the ids of all groups of the user, including the primary group. This is a separate
    /// lookup, because it can be much slower than the lookup of the user.
    ///
    /// # Errors
    ///
    /// `ERANGE` if there are more groups than the kernel allows.
    pub fn groups(&self) -> io::Result<Vec<u32>> {
        raw::group_list(&self.name, self.gid)
    }
}

impl From<PasswdEntry> for UserAccount {
    fn from(account: PasswdEntry) -> Self {
        let PasswdEntry { uid, gid, name, home } = account;
        Self { uid, gid, name, home: OsString::from_vec(home.into_bytes()).into() }
    }
}

/// Finds the id of a group by its name; `None` if there is none (group(5)).
///
/// # Errors
///
/// Fails with the errors of getgrnam(3), if the database cannot be read.
pub fn group_id(name: &str) -> io::Result<Option<u32>> {
    let Ok(name) = CString::new(name) else { return Ok(None) };
    raw::group_id(&name)
}

/// Finds the name of a group by its id; `None` if there is none (group(5)). Replaces invalid UTF-8.
///
/// # Errors
///
/// Fails with the errors of getgrgid(3), if the database cannot be read.
pub fn group_name(gid: u32) -> io::Result<Option<String>> {
    Ok(raw::group_name(gid)?.map(|name| name.to_string_lossy().into_owned()))
}
