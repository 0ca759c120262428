//! What the handshake needs to know of this machine: login names and files of cookies.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sys::filesystem::{LockFile, Privacy, ensure_private_directory};
use sys::users::User;
use wire::sasl::cookie::{CHALLENGE_LEN, Cookie, Keyring, NEW_COOKIE_LEN, Refresh};
use wire::sasl::server::{Authority, CookieRequest};

/// Answers from the system itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemAuthority {
    /// The user of the bus: whose cookies it may read and write.
    pub(crate) uid: u32,
}

impl Authority for SystemAuthority {
    fn uid_of(&mut self, login_name: &str) -> Option<u32> {
        User::by_name(login_name).ok().flatten().map(|user| user.uid())
    }

    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie> {
        // A file in another user's home cannot be trusted to be the one that he reads.
        if request.uid != self.uid {
            return None;
        }
        let home = User::by_id(request.uid).ok()??.home().to_owned();
        let file = home.join(".dbus-keyrings").join(request.context.as_str());
        usable_cookie(&file, request.now_unix).ok()
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        random_bytes()
    }
}

/// Reads the file, makes a fresh cookie if it has none, and saves it.
fn usable_cookie(file: &Path, now_unix: u64) -> io::Result<Cookie> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    if ensure_private_directory(folder)? != Privacy::Private {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let _lock = LockFile::create(with_suffix(file, ".lock"))?;
    let mut keyring = match fs::read(file) {
        Ok(bytes) => Keyring::parse(&bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Keyring::default(),
        Err(error) => return Err(error),
    };
    if keyring.refresh(now_unix, random_bytes::<NEW_COOKIE_LEN>) == Refresh::Changed {
        save(file, &keyring)?;
    }
    keyring.newest(now_unix).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Replaces the file at once, so that no reader sees half of it.
fn save(file: &Path, keyring: &Keyring) -> io::Result<()> {
    let new = with_suffix(file, ".new");
    fs::write(&new, keyring.to_string())?;
    fs::rename(new, file)
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn random_bytes<const LEN: usize>() -> [u8; LEN] {
    let mut bytes = [0; LEN];
    sys::random::fill(&mut bytes).expect("the kernel gives random bytes to everybody");
    bytes
}
