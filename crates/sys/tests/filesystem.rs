//! Socket files, private directories and lock files.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use sys::filesystem::{
    FileOwner, LockFile, Privacy, StaleSocket, allow_everyone, ensure_private_directory,
    give_socket, remove_stale_socket,
};
use tempfile::TempDir;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it exists").permissions().mode() & 0o777
}

#[test]
fn only_sockets_are_removed() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("bus");
    let check = |expected| assert_eq!(remove_stale_socket(&path).unwrap(), expected);
    check(StaleSocket::Absent);
    drop(UnixListener::bind(&path).unwrap());
    check(StaleSocket::Removed);
    check(StaleSocket::Absent);
    fs::write(&path, "precious").unwrap();
    check(StaleSocket::NotASocket);
    assert_eq!(fs::read(&path).unwrap(), b"precious");

    fs::remove_file(&path).unwrap();
    let target = directory.path().join("target");
    let _listener = UnixListener::bind(&target).unwrap();
    symlink(&target, &path).unwrap();
    check(StaleSocket::NotASocket);
    assert!(target.exists());
}

#[test]
fn a_socket_is_opened_to_everyone() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("bus");
    let _listener = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    allow_everyone(&path).unwrap();
    assert_eq!(mode(&path), 0o777);
}

#[test]
fn a_directory_is_made_private_or_found_not_to_be() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("keyrings");
    let check = |expected| assert_eq!(ensure_private_directory(&path).unwrap(), expected);
    check(Privacy::Private);
    assert_eq!(mode(&path), 0o700);
    check(Privacy::Private);
    fs::set_permissions(&path, Permissions::from_mode(0o750)).unwrap();
    check(Privacy::OpenToOthers { mode: 0o750 });
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    // Only root can change the owner of a directory.
    if chown(&path, Some(1234), None).is_ok() {
        check(Privacy::OwnedBy { uid: 1234 });
    }
    fs::remove_dir(&path).unwrap();
    fs::write(&path, "").unwrap();
    check(Privacy::NotADirectory);
    let below_nothing = ensure_private_directory(&directory.path().join("absent/keyrings"));
    assert_eq!(below_nothing.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_lock_file_has_one_holder() {
    let directory = TempDir::new().expect("a new folder");
    let path = directory.path().join("lock");
    let lock = LockFile::create(path.clone()).unwrap();
    assert_eq!(mode(&path), 0o600);
    let second = LockFile::create(path.clone()).unwrap_err();
    assert_eq!(second.kind(), ErrorKind::AlreadyExists);
    assert!(path.exists(), "the failed attempt leaves the lock alone");
    drop(lock);
    assert!(!path.exists());
    LockFile::create(path).unwrap();
}

#[test]
fn only_a_socket_is_given_away() {
    let folder = TempDir::new().expect("a new folder");
    let [file, socket, link] = ["file", "socket", "link"].map(|name| folder.path().join(name));
    fs::write(&file, "").unwrap();
    symlink(&file, &link).unwrap();
    let _listener = UnixListener::bind(&socket).unwrap();
    let own = fs::metadata(&file).unwrap();
    let owner = FileOwner { uid: own.uid(), gid: own.gid() };
    give_socket(&socket, owner).unwrap();
    for (path, kind) in [
        (&file, ErrorKind::InvalidInput),
        (&link, ErrorKind::InvalidInput),
        (&folder.path().join("missing"), ErrorKind::NotFound),
    ] {
        assert_eq!(give_socket(path, owner).unwrap_err().kind(), kind, "{path:?}");
    }
}
