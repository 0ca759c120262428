//! Which file of which folder counts.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use services::{
    Folder, Naming, ServiceFileError, SessionPlaces, Table, WarningKind, session_folders,
    system_folders,
};

/// Some folders that are removed at the end.
struct ServicesScratch(PathBuf);

impl ServicesScratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("diligence-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for tests");
        Self(path)
    }

    fn folder(&self, name: &str, naming: Naming) -> Folder {
        let path = self.0.join(name);
        fs::create_dir_all(&path).expect("a folder for tests");
        Folder { path, naming }
    }
}

impl Drop for ServicesScratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(folder: &Folder, file: &str, name: &str, exec: &str) {
    let text = format!("[D-BUS Service]\nName={name}\nExec={exec}\n");
    fs::write(folder.path.join(file), text).expect("a folder for tests");
}

fn program(table: &Table, name: &str) -> Option<String> {
    let command = table.get(name)?.service.command.clone();
    Some(command.expect("a line that can be split").program().to_owned())
}

#[test]
fn the_first_folder_counts_and_in_it_the_first_file() {
    let scratch = ServicesScratch::new("first");
    let [first, second] = ["first", "second"].map(|name| scratch.folder(name, Naming::Any));
    write(&first, "b.service", "a.Both", "/first/b");
    write(&first, "a.service", "a.Both", "/first/a");
    write(&second, "a.service", "a.Both", "/second");
    write(&second, "b.service", "a.Second", "/second");
    let missing = Folder::new(scratch.0.join("missing"));
    let (table, warnings) = Table::read(&[missing, first.clone(), second]);
    assert_eq!(program(&table, "a.Both").as_deref(), Some("/first/a"));
    assert_eq!(program(&table, "a.Second").as_deref(), Some("/second"));
    assert_eq!(table.iter().count(), 2);
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert_eq!(warning.path, first.path.join("b.service"));
    assert_eq!(warning.kind, WarningKind::Repeated("a.Both".into()));
}

#[test]
fn only_files_by_the_right_ending_are_read() {
    let scratch = ServicesScratch::new("endings");
    let folder = scratch.folder("services", Naming::Any);
    for (index, file) in ["x.service", ".service", ".y.service", "y", "y.SERVICE", "y.service.old"]
        .iter()
        .enumerate()
    {
        write(&folder, file, &format!("a.N{index}"), "/x");
    }
    fs::create_dir(folder.path.join("folder.service")).unwrap();
    symlink("/nonexistent", folder.path.join("dangling.service")).unwrap();
    symlink(folder.path.join("y"), folder.path.join("link.service")).unwrap();
    let (table, warnings) = Table::read(&[folder]);
    let names: Vec<_> = table.iter().map(|entry| entry.service.name.as_str()).collect();
    assert_eq!(names, ["a.N0", "a.N1", "a.N2", "a.N3"]);
    assert_eq!(warnings, []);
}

#[test]
fn file_names_must_match_the_names_of_services_only_if_required() {
    let check = |naming, is_used: bool, expected: Option<WarningKind>| {
        let scratch = ServicesScratch::new("naming");
        let folder = scratch.folder("services", naming);
        write(&folder, "a.Good.service", "a.Good", "/good");
        write(&folder, "other.service", "a.Misnamed", "/misnamed");
        let (table, warnings) = Table::read(&[folder]);
        assert!(table.get("a.Good").is_some(), "{naming:?}");
        assert_eq!(table.get("a.Misnamed").is_some(), is_used, "{naming:?}");
        let kinds: Vec<_> = warnings.into_iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds, Vec::from_iter(expected), "{naming:?}");
    };
    check(Naming::Any, true, None);
    check(Naming::Advised, true, Some(WarningKind::Unfindable("a.Misnamed".into())));
    check(Naming::Strict, false, Some(WarningKind::Misnamed("a.Misnamed".into())));
}

#[test]
fn unusable_files_give_warnings() {
    let scratch = ServicesScratch::new("unusable");
    let folder = scratch.folder("services", Naming::Any);
    fs::write(folder.path.join("a.service"), "nonsense").unwrap();
    fs::write(folder.path.join("b.service"), vec![b'#'; 200_000]).unwrap();
    fs::write(folder.path.join("c.service"), "[D-BUS Service]\nName=a.b\n").unwrap();
    let file = Folder::new(folder.path.join("c.service"));
    let (table, warnings) = Table::read(&[folder, file]);
    assert_eq!(table.iter().count(), 0);
    let [syntax, large, missing, no_folder] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(matches!(syntax.kind, WarningKind::Invalid(ServiceFileError::Syntax(_))));
    assert_eq!(large.kind, WarningKind::TooLarge);
    assert_eq!(missing.kind, WarningKind::Invalid(ServiceFileError::Missing("Exec")));
    assert!(matches!(no_folder.kind, WarningKind::Unreadable(_)), "{no_folder:?}");
    for warning in &warnings {
        let text = warning.to_string();
        assert!(text.contains(&*warning.path.to_string_lossy()), "{text}");
    }
}

#[test]
fn the_folders_of_a_session() {
    let check = |places: &SessionPlaces, expected: &[&str]| {
        let folders = session_folders(places);
        let paths: Vec<_> = folders.iter().map(|folder| folder.path.to_str().unwrap()).collect();
        let expected: Vec<_> = expected.iter().map(|it| format!("{it}/dbus-1/services")).collect();
        assert_eq!(paths, expected, "{places:?}");
        for folder in &folders {
            let is_runtime =
                places.runtime_dir.as_deref().is_some_and(|dir| folder.path.starts_with(dir));
            let naming = if is_runtime { Naming::Strict } else { Naming::Any };
            assert_eq!(folder.naming, naming, "{folder:?}");
        }
    };
    check(&SessionPlaces::default(), &["/usr/local/share", "/usr/share"]);
    let places = SessionPlaces {
        runtime_dir: Some("/run/user/7".into()),
        data_home: None,
        home: Some("/home/me".into()),
        data_dirs: Some("/opt/share::relative:/usr/share".into()),
    };
    check(&places, &["/run/user/7", "/home/me/.local/share", "/opt/share", "/usr/share"]);
    let places = SessionPlaces { data_home: Some("/data".into()), ..places };
    check(&places, &["/run/user/7", "/data", "/opt/share", "/usr/share"]);
}

#[test]
fn the_folders_of_the_system() {
    let folders = system_folders();
    let paths: Vec<_> = folders.iter().map(|folder| folder.path.as_path()).collect();
    let expected = ["/etc", "/run", "/usr/local/share", "/usr/share", "/lib"];
    assert_eq!(paths, expected.map(|base| Path::new(base).join("dbus-1/system-services")));
    let strict = folders.iter().filter(|folder| folder.naming == Naming::Strict);
    assert_eq!(strict.count(), 2, "where files come and go");
}
