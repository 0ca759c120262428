//! Changes that a watch reports.

use tempfile::TempDir;

use std::fs;

use sys::watch::{DirectoryChange, DirectoryWatch, WatchId};

/// Returns the changes as text: `a` for an entry, `-` for the directory itself.
fn taken(watch: &DirectoryWatch, directory: WatchId) -> Vec<String> {
    let mut all = Vec::new();
    let note = |change: DirectoryChange<'_>| match change {
        DirectoryChange::Entry { directory: found, name } => {
            assert_eq!(found, directory);
            all.push(name.to_string_lossy().into_owned());
        }
        DirectoryChange::Gone(found) => {
            assert_eq!(found, directory);
            all.push("-".into());
        }
        DirectoryChange::Lost => panic!("so little is not lost"),
    };
    watch.take(note).expect("it can be read");
    all.dedup();
    all
}

#[test]
fn changes_of_an_entry_are_reported_once_when_complete() {
    let parent = TempDir::new().expect("a new folder");
    let folder = parent.path().join("watched");
    fs::create_dir(&folder).unwrap();
    let watch = DirectoryWatch::new().unwrap();
    let id = watch.add(&folder).unwrap();
    assert_eq!(watch.add(&folder).unwrap(), id, "it is the same directory");
    assert!(taken(&watch, id).is_empty());
    let check = |change: &dyn Fn(), expected: &[&str]| {
        change();
        assert_eq!(taken(&watch, id), expected);
    };
    let at = |name: &str| folder.join(name);
    check(&|| fs::write(at("a"), "text").unwrap(), &["a"]);
    check(&|| fs::rename(at("a"), at("b")).unwrap(), &["a", "b"]);
    check(&|| std::os::unix::fs::symlink("b", at("link")).unwrap(), &["link"]);
    check(&|| drop(fs::read(at("b")).unwrap()), &[]);
    check(&|| fs::create_dir(at("c")).unwrap(), &["c"]);
    check(&|| fs::write(at("c/d"), "").unwrap(), &[]);
    check(&|| fs::remove_dir_all(at("c")).unwrap(), &["c"]);
    check(&|| fs::remove_dir_all(&folder).unwrap(), &["b", "link", "-"]);
}

/// The watch reports that changes were lost if there are more than the kernel keeps (inotify(7),
/// `max_queued_events`).
#[test]
fn too_many_changes_are_reported_as_lost() {
    let queued = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let queued: usize = queued.trim().parse().unwrap();
    let folder = TempDir::new().expect("a new folder");
    let watch = DirectoryWatch::new().unwrap();
    watch.add(folder.as_ref()).unwrap();
    // Alternates between files, because the kernel merges a change with an identical predecessor.
    let files = ["a", "b"].map(|name| folder.path().join(name));
    for file in files.iter().cycle().take(queued + 1) {
        fs::File::create(file).unwrap();
    }
    let mut last_is_lost = false;
    watch.take(|change| last_is_lost = matches!(change, DirectoryChange::Lost)).unwrap();
    assert!(last_is_lost);
}

#[test]
fn missing_directories_cannot_be_watched() {
    let folder = TempDir::new().expect("a new folder");
    let watch = DirectoryWatch::new().unwrap();
    let missing = watch.add(&folder.path().join("no")).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    fs::write(folder.path().join("file"), "").unwrap();
    assert!(watch.add(&folder.path().join("file")).is_err(), "only directories");
    let id = watch.add(folder.as_ref()).unwrap();
    watch.remove(id);
    fs::write(folder.path().join("other"), "").unwrap();
    assert!(taken(&watch, id).is_empty());
}
