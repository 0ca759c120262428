//! The secret of `nonce-tcp:`: 16 bytes in a file. A client sends them first, to prove that it can
//! read the file.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, lchown};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sys::filesystem::FileOwner;
use sys::private_directory::PrivateDirectory;

/// The secret that a `nonce-tcp:` client sends before the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonce([u8; Self::LEN]);

impl Nonce {
    /// Length of a nonce in bytes.
    pub const LEN: usize = 16;

    /// Creates a nonce from random bytes of the kernel.
    fn new() -> io::Result<Self> {
        let mut bytes = [0; Self::LEN];
        sys::random::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Whether a client sent this nonce. Compares in constant time, so the duration reveals
    /// nothing.
    pub(crate) fn is(&self, sent: &[u8; Self::LEN]) -> bool {
        self.0.iter().zip(sent).fold(0, |differences, (own, sent)| differences | (own ^ sent)) == 0
    }
}

/// Does not show the secret.
impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nonce").finish_non_exhaustive()
    }
}

/// The nonce file, in a directory that only this user can enter; both are removed on drop.
#[derive(Debug)]
pub(crate) struct NonceFile {
    pub(crate) nonce: Nonce,
    pub(crate) path: PathBuf,
    folder: PrivateDirectory,
}

impl NonceFile {
    /// Creates a nonce and its file in a new directory below `parent`.
    pub(crate) fn new_in(parent: &Path) -> io::Result<Self> {
        let nonce = Nonce::new()?;
        let folder = PrivateDirectory::new_in(parent, "dbus_nonce-")?;
        let path = folder.path().join("nonce");
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(&nonce.0)?;
        Ok(Self { nonce, path, folder })
    }

    /// Takes the ownership of a file that an earlier program of this process has created.
    pub(crate) fn adopt(nonce: Nonce, path: PathBuf) -> Self {
        let folder = path.parent().unwrap_or(&path).to_owned();
        Self { nonce, path, folder: PrivateDirectory::adopt(folder) }
    }

    /// Changes the owner of the file and its directory, so that the new owner can remove them. Only
    /// root could enter the directory so far, so it contains nothing else.
    pub(crate) fn hand_over(&self, owner: FileOwner) -> io::Result<()> {
        lchown(&self.path, Some(owner.uid), Some(owner.gid))?;
        lchown(self.folder.path(), Some(owner.uid), Some(owner.gid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_has_the_secret_and_goes_with_its_folder() {
        let made = NonceFile::new_in(&std::env::temp_dir()).unwrap();
        let content: [u8; Nonce::LEN] = fs::read(&made.path).unwrap().try_into().unwrap();
        assert!(made.nonce.is(&content));
        assert!((0..Nonce::LEN).all(|at| {
            let mut wrong = content;
            wrong[at] ^= 0x80;
            !made.nonce.is(&wrong)
        }));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = made.path.clone();
        let folder = path.parent().unwrap();
        assert_eq!((mode(&path), mode(folder)), (0o600, 0o700));
        drop(made);
        assert!(!folder.exists());
    }
}
