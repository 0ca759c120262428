//! Output files that replace others when they are complete.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use sys::replace::ReplacedFile;
use tempfile::TempDir;

fn write(target: &Path, content: &str) {
    let mut file = ReplacedFile::create(target).expect("the file can be made");
    file.write_all(content.as_bytes()).expect("it takes bytes");
    file.commit().expect("it can be renamed");
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it exists").permissions().mode() & 0o777
}

fn names(directory: &TempDir) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("it can be read");
    entries.map(|entry| entry.expect("it can be read").file_name().into()).collect()
}

#[test]
fn a_new_file_is_readable_by_its_owner_only() {
    let directory = TempDir::new().expect("a new folder");
    let target = directory.path().join("new");
    write(&target, "content");
    assert_eq!((fs::read(&target).unwrap(), mode(&target)), (b"content".to_vec(), 0o600));
    assert_eq!(names(&directory), [Path::new("new")]);
}

#[test]
fn the_target_keeps_its_content_until_the_commit() {
    let directory = TempDir::new().expect("a new folder");
    let target = directory.path().join("target");
    fs::write(&target, "old").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o644)).unwrap();
    let mut file = ReplacedFile::create(&target).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"old");
    drop(file);
    assert_eq!((fs::read(&target).unwrap(), mode(&target)), (b"old".to_vec(), 0o644));
    assert_eq!(names(&directory), [Path::new("target")], "the unfinished file is removed");

    write(&target, "new");
    assert_eq!((fs::read(&target).unwrap(), mode(&target)), (b"new".to_vec(), 0o600));
}

#[test]
fn a_committed_file_can_be_written_on() {
    let directory = TempDir::new().expect("a new folder");
    let target = directory.path().join("growing");
    let mut file = ReplacedFile::create(&target).unwrap();
    file.write_all(b"one ").unwrap();
    let mut file = file.commit().unwrap();
    file.write_all(b"two").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"one two");
}

#[test]
fn an_unfinished_file_that_is_taken_over_stays() {
    let directory = TempDir::new().expect("a new folder");
    let target = directory.path().join("target");
    fs::write(&target, "old").unwrap();
    let (mut file, path) = ReplacedFile::create(&target).unwrap().into_parts();
    file.write_all(b"half").unwrap();
    drop(file);
    assert_eq!(fs::read(path.expect("the target is a file")).unwrap(), b"half");
    assert_eq!(fs::read(&target).unwrap(), b"old");
    let (_, path) = ReplacedFile::create(Path::new("/dev/null")).unwrap().into_parts();
    assert_eq!(path, None);
}

#[test]
fn own_symbolic_links_are_followed_and_other_names_of_a_file_keep_their_content() {
    let directory = TempDir::new().expect("a new folder");
    let [file, link, chain, second_name, dangling] =
        ["file", "link", "chain", "second", "dangling"].map(|name| directory.path().join(name));
    fs::create_dir(directory.path().join("folder")).unwrap();
    symlink("file", &link).unwrap();
    symlink("../link", directory.path().join("folder/back")).unwrap();
    symlink("folder/back", &chain).unwrap();
    symlink(directory.path().join("folder/new"), &dangling).unwrap();
    for (target, leads_to) in
        [(&link, &file), (&chain, &file), (&dangling, &directory.path().join("folder/new"))]
    {
        fs::write(&file, "old").unwrap();
        let _ = fs::remove_file(&second_name);
        fs::hard_link(&file, &second_name).unwrap();
        write(target, "content");
        assert!(target.is_symlink(), "{target:?}");
        assert!(leads_to.symlink_metadata().unwrap().is_file(), "{target:?}");
        assert_eq!(fs::read(leads_to).unwrap(), b"content", "{target:?}");
        assert_eq!(fs::read(&second_name).unwrap(), b"old", "{target:?}");
    }
    write(&second_name, "content");
    assert_eq!(
        (fs::read(&second_name).unwrap(), fs::read(&file).unwrap()),
        (b"content".to_vec(), b"old".to_vec())
    );

    symlink("loop", directory.path().join("loop")).unwrap();
    let error = ReplacedFile::create(&directory.path().join("loop")).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ELOOP));
}

#[test]
fn symbolic_links_of_other_users_are_refused() {
    let directory = TempDir::new().expect("a new folder");
    let [precious, link] = ["precious", "link"].map(|name| directory.path().join(name));
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, &link).unwrap();
    if lchown(&link, Some(OTHER_USER), None).is_err() {
        // Only root can change the owner of a link.
        return;
    }
    let error = ReplacedFile::create(&link).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("another user"), "{error}");
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert!(link.is_symlink());
}

const OTHER_USER: u32 = 65_534;

/// The error number for too many symbolic links.
const ELOOP: i32 = 40;

#[test]
fn pipes_devices_and_descriptors_are_written_directly() {
    let directory = TempDir::new().expect("a new folder");
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Opened for reading and writing, so that neither end waits for the other.
    let mut reader = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    write(&pipe, "through");
    let mut read = [0; 7];
    reader.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"through");
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

    let link = directory.path().join("link");
    symlink(&pipe, &link).unwrap();
    write(&link, "again!!");
    reader.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"again!!");

    write(Path::new("/dev/null"), "nothing");
    assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());

    let mut log = File::create(directory.path().join("log")).unwrap();
    log.write_all(b"before ").unwrap();
    let descriptor = PathBuf::from(format!("/dev/fd/{}", log.as_raw_fd()));
    write(&descriptor, "behind");
    assert_eq!(fs::read(directory.path().join("log")).unwrap(), b"before behind");
}

#[test]
fn irreplaceable_targets_are_errors_before_anything_is_written() {
    let directory = TempDir::new().expect("a new folder");
    let create = |path: &Path| ReplacedFile::create(path).unwrap_err().kind();
    assert_eq!(create(directory.as_ref()), ErrorKind::IsADirectory);
    assert_eq!(create(Path::new("/")), ErrorKind::IsADirectory);
    assert_eq!(create(&directory.path().join("absent/file")), ErrorKind::NotFound);
    assert!(names(&directory).is_empty());
}

#[test]
fn a_long_name_and_a_relative_one_are_replaced() {
    let directory = TempDir::new().expect("a new folder");
    write(&directory.path().join("n".repeat(255)), "content");
    let file = ReplacedFile::create(Path::new("relative")).unwrap();
    assert_eq!(file.path().unwrap().parent(), Some(Path::new("")));
    drop(file);
}

#[test]
fn an_unfinished_file_is_for_its_owner_only_whatever_the_umask_allows() {
    let directory = TempDir::new().expect("a new folder");
    let file = ReplacedFile::create(&directory.path().join("target")).unwrap();
    assert_eq!(mode(file.path().unwrap()), 0o600);
    // An existing file is opened again by its path, as SQLite does.
    let again = OpenOptions::new().write(true).mode(0o666).open(file.path().unwrap());
    again.unwrap().write_all(b"by path").unwrap();
    file.commit().unwrap();
    assert_eq!(fs::read(directory.path().join("target")).unwrap(), b"by path");
}
