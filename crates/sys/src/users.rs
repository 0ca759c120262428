//! The user and group database of the system.
//!
//! A lookup may ask a server over the network, or even over the message bus. So a bus looks up
//! what its configuration names when it starts or reloads, never while it routes messages.

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
    /// Finds a user by name; `None` when there is none.
    ///
    /// # Errors
    ///
    /// Those of getpwnam(3): the database cannot be read.
    pub fn by_name(name: &str) -> io::Result<Option<Self>> {
        // A name with a NUL byte is nobody's.
        let Ok(name) = CString::new(name) else { return Ok(None) };
        Ok(raw::account(DatabaseKey::Name(&name))?.map(Self::from))
    }

    /// Finds a user by number; `None` when there is none.
    ///
    /// # Errors
    ///
    /// Those of getpwuid(3): the database cannot be read.
    pub fn by_id(uid: u32) -> io::Result<Option<Self>> {
        Ok(raw::account(DatabaseKey::Id(uid))?.map(Self::from))
    }

    /// The user number.
    #[must_use]
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// The number of the user's primary group.
    #[must_use]
    pub fn gid(&self) -> u32 {
        self.gid
    }

    /// The name, with replacement characters for what is not UTF-8.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    /// The home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The numbers of all groups that the user belongs to, the primary one among them. A lookup of
    /// its own, as it can be much slower than that of the user.
    ///
    /// # Errors
    ///
    /// `ERANGE` when there are more than the kernel allows.
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

/// Finds the number of a group by its name; `None` when there is none (group(5)).
///
/// # Errors
///
/// Those of getgrnam(3): the database cannot be read.
pub fn group_id(name: &str) -> io::Result<Option<u32>> {
    let Ok(name) = CString::new(name) else { return Ok(None) };
    raw::group_id(&name)
}

/// Finds the name of a group by its number; `None` when there is none (group(5)). What is not UTF-8
/// in it is replaced.
///
/// # Errors
///
/// Those of getgrgid(3): the database cannot be read.
pub fn group_name(gid: u32) -> io::Result<Option<String>> {
    Ok(raw::group_name(gid)?.map(|name| name.to_string_lossy().into_owned()))
}
