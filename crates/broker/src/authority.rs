//! System access for the handshake: login names and cookie files.

use std::cell::OnceCell;
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use sys::filesystem::{LockFile, Privacy, ensure_private_directory};
use sys::users::UserAccount;
use wire::sasl::cookie::{CHALLENGE_LEN, Cookie, Keyring, NEW_COOKIE_LEN, Refresh};
use wire::sasl::server::{Authority, CookieRequest};

/// Answers the questions of the handshake from the system's databases and files.
#[derive(Clone, Debug)]
pub(crate) struct SystemAuthority {
    /// The user of the bus, whose cookies it may read and write.
    pub(crate) uid: u32,
    /// The entry of that user in the user database, looked up on first use.
    own_account: OnceCell<UserAccount>,
    /// Whether a client has used a user id of its user namespace.
    pub(crate) has_translated: bool,
}

impl SystemAuthority {
    pub(crate) const fn new(uid: u32) -> Self {
        Self { uid, own_account: OnceCell::new(), has_translated: false }
    }

    fn own_account(&self) -> Option<&UserAccount> {
        if self.own_account.get().is_none() {
            let found = UserAccount::by_id(self.uid).ok().flatten()?;
            return Some(self.own_account.get_or_init(|| found));
        }
        self.own_account.get()
    }

    /// The home directory of the user of the bus, where programs of the same user look too. This is
    /// `HOME`, unless it belongs to another user that started the bus.
    fn home(&self) -> Option<PathBuf> {
        let named = env::var_os("HOME").map(PathBuf::from);
        let own =
            named.filter(|home| fs::metadata(home).is_ok_and(|found| found.uid() == self.uid));
        own.or_else(|| Some(self.own_account()?.home().to_owned()))
    }

    fn uid_of(&self, login_name: &str) -> Option<u32> {
        // Only this name can be right. Other names are not looked up: a look-up may take long, and
        // the client has not proved anything yet.
        self.own_account().filter(|own| own.name() == login_name).map(UserAccount::uid)
    }

    fn cookie(&self, request: CookieRequest<'_>) -> Option<Cookie> {
        // A file in another user's home may not be the file that this user reads.
        if request.uid != self.uid {
            return None;
        }
        let file = self.home()?.join(KEYRINGS).join(request.context.as_str());
        usable_cookie(&file, request.now_unix).ok()
    }
}

/// Answers the questions of the handshake of one connection.
#[derive(Debug)]
pub(crate) struct ConnectionAuthority<'a> {
    pub(crate) system: &'a SystemAuthority,
    pub(crate) socket: BorrowedFd<'a>,
    /// Whether a client must use the user ids of the bus, even in another user namespace.
    pub(crate) rejects_namespace_ids: bool,
    /// The id inside of the client's user namespace and the id outside of it that were compared last.
    pub(crate) translated: Option<(u32, u32)>,
}

impl Authority for ConnectionAuthority<'_> {
    fn uid_outside(&mut self, inside: u32) -> Option<u32> {
        if self.rejects_namespace_ids {
            return None;
        }
        let outside = sys::credentials::uid_outside_of_peer(self.socket, inside).ok().flatten()?;
        self.translated = Some((inside, outside));
        Some(outside)
    }

    fn uid_of(&mut self, login_name: &str) -> Option<u32> {
        self.system.uid_of(login_name)
    }

    fn cookie(&mut self, request: CookieRequest<'_>) -> Option<Cookie> {
        self.system.cookie(request)
    }

    fn random(&mut self) -> [u8; CHALLENGE_LEN] {
        random_bytes()
    }
}

/// Returns a fresh cookie from the file, or creates and saves one.
fn usable_cookie(file: &Path, now_unix: u64) -> io::Result<Cookie> {
    let folder = file.parent().ok_or(io::ErrorKind::NotFound)?;
    if ensure_private_directory(folder)? != Privacy::Private {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    // Files are replaced atomically, so reading needs no lock.
    match read(file)?.newest(now_unix) {
        Some(cookie) => Ok(cookie.clone()),
        None => fresh_cookie(file, now_unix),
    }
}

fn fresh_cookie(file: &Path, now_unix: u64) -> io::Result<Cookie> {
    let _lock = lock(with_suffix(file, ".lock"), now_unix)?;
    let mut keyring = read(file)?;
    if keyring.refresh(now_unix, random_bytes::<NEW_COOKIE_LEN>) == Refresh::Changed {
        save(file, &keyring)?;
    }
    keyring.newest(now_unix).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
}

fn read(file: &Path) -> io::Result<Keyring> {
    match fs::read(file) {
        Ok(bytes) => Ok(Keyring::parse(&bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Keyring::default()),
        Err(error) => Err(error),
    }
}

/// Takes the lock. A process that holds it for too long has crashed, and loses it.
fn lock(path: PathBuf, now_unix: u64) -> io::Result<LockFile> {
    match LockFile::create(path.clone()) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let made = fs::symlink_metadata(&path)?.mtime();
            if now_unix.saturating_sub(made.unsigned_abs()) < LOCK_SECONDS_MAX {
                return Err(error);
            }
            fs::remove_file(&path)?;
            LockFile::create(path)
        }
        outcome => outcome,
    }
}

/// Replaces the file atomically, so that no reader sees a part of it.
fn save(file: &Path, keyring: &Keyring) -> io::Result<()> {
    let new = with_suffix(file, ".new");
    let mut opened =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    opened.write_all(keyring.to_string().as_bytes())?;
    fs::rename(new, file)
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn random_bytes<const LEN: usize>() -> [u8; LEN] {
    let mut bytes = [0; LEN];
    sys::random::fill(&mut bytes).expect("the kernel gives random bytes to all processes");
    bytes
}

/// The directory of cookie files in a home directory.
const KEYRINGS: &str = ".dbus-keyrings";

/// A lock is held only while a small file is read and written.
const LOCK_SECONDS_MAX: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, SystemTime};

    use sys::private_directory::PrivateDirectory;

    const NOW: u64 = 1_000_000;

    #[test]
    fn the_user_of_the_bus_is_known_by_name_and_no_other_user() {
        let uid = sys::privileges::effective_user();
        let authority = SystemAuthority::new(uid);
        let own =
            UserAccount::by_id(uid).unwrap().expect("a user who runs tests has an account").name();
        assert_eq!(authority.uid_of(&own), Some(uid));
        let other = if uid == 0 { "nobody" } else { "root" };
        assert!(UserAccount::by_name(other).unwrap().is_some());
        assert_eq!(authority.uid_of(other), None);
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_cookie_is_made_when_there_is_no_fresh_one_and_the_folder_is_private() {
        let home = PrivateDirectory::new("keyrings-").unwrap();
        let file = home.path().join(KEYRINGS).join("context");
        let first = usable_cookie(&file, NOW).unwrap();
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        assert_eq!(usable_cookie(&file, NOW + 10).unwrap(), first, "it is still fresh");
        let second = usable_cookie(&file, NOW + 400).unwrap();
        assert_ne!(second, first);
        assert_eq!(read(&file).unwrap().cookies(), [first, second], "the old one is kept a while");
        fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o750)).unwrap();
        let error = usable_cookie(&file, NOW).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_lock_is_respected_until_it_is_old() {
        let home = PrivateDirectory::new("lock-").unwrap();
        let file = home.path().join(KEYRINGS).join("context");
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::set_permissions(file.parent().unwrap(), fs::Permissions::from_mode(0o700)).unwrap();
        let held = fs::File::create(with_suffix(&file, ".lock")).unwrap();
        held.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)).unwrap();
        let busy = usable_cookie(&file, NOW + 1).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::AlreadyExists);
        let cookie = usable_cookie(&file, NOW + LOCK_SECONDS_MAX).unwrap();
        assert!(!with_suffix(&file, ".lock").exists());
        fs::write(with_suffix(&file, ".lock"), "").unwrap();
        assert_eq!(usable_cookie(&file, NOW + 9).unwrap(), cookie, "reading needs no lock");
    }
}
