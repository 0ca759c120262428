//! Builds the shared library and C programs for the tests.

#![allow(dead_code, clippy::allow_attributes, reason = "each test uses a part of this file")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The libdbus of the system, with which the tests compare ours.
pub(crate) fn reference() -> PathBuf {
    let output = succeed(Command::new("cc").arg("-print-file-name=libdbus-1.so.3"));
    PathBuf::from(String::from_utf8(output.stdout).expect("text").trim_end())
}

/// The folder of this package.
pub(crate) fn package() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A new folder for the files of one test.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("the folder can be created")
}

/// Links the shared library in `folder`, as `make libdbus` does.
pub(crate) fn link_library(folder: &Path) {
    let script = package().join("symbols.map");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-o"])
        .arg(folder.join("libdbus-1.so.3"))
        .arg("-Wl,-soname,libdbus-1.so.3,--gc-sections")
        .arg(format!("-Wl,--version-script={}", script.display()))
        .arg("-Wl,--whole-archive")
        .arg(static_library())
        .args(["-Wl,--no-whole-archive", "-lgcc_s"]);
    succeed(&mut command);
}

/// The newest static library of the build that this test is a part of.
fn static_library() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let folder = test.parent().expect("a folder");
    let is_library = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("liblibdbus") && name.ends_with(".a")
    };
    let folders = [folder, folder.parent().expect("a folder")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let libraries =
        entries.map(|entry| entry.expect("an entry of a folder").path()).filter(is_library);
    let modified = |path: &PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
    libraries.max_by_key(modified).expect("cargo builds the static library before the tests")
}

/// Compiles a program of `tests/programs` for the libdbus of the system.
pub(crate) fn compile(program: &str, folder: &Path) -> PathBuf {
    let flags = Command::new("pkg-config").args(["--cflags", "dbus-1"]).output();
    let flags = flags.expect("pkg-config is installed");
    assert!(flags.status.success(), "install libdbus-1-dev");
    let flags = String::from_utf8(flags.stdout).expect("text");
    let output = folder.join(program);
    let source = package().join("tests/programs").join(format!("{program}.c"));
    let mut command = Command::new("cc");
    command.args(["-O1", "-Wall", "-Wno-missing-field-initializers", "-c", "-o"]);
    command.arg(output.with_extension("o")).arg(source).args(flags.split_whitespace());
    command.args(sanitizer().map(|(name, _)| format!("-fsanitize={name}")));
    succeed(&mut command);
    let mut command = Command::new("cc");
    command.arg("-o").arg(&output).arg(output.with_extension("o"));
    if let Some((_, runtime)) = sanitizer() {
        command.arg("-Wl,--export-dynamic,--whole-archive").arg(runtime);
        command.args(["-Wl,--no-whole-archive", "-lm", "-lgcc_s"]);
    }
    succeed(command.args(["-ldbus-1", "-pthread"]));
    output
}

/// Compiles a program of the tests that uses Qt, and returns its path.
pub(crate) fn compile_with_qt(program: &str, folder: &Path) -> PathBuf {
    let pkg_config = |arguments: &[&str]| {
        let flags = succeed(Command::new("pkg-config").args(arguments)).stdout;
        let flags = String::from_utf8(flags).expect("text");
        flags.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let output = folder.join(program);
    let source = package().join("tests/programs").join(format!("{program}.cpp"));
    let tools = pkg_config(&["--variable=host_bins", "Qt5Core"]).remove(0);
    let mut command = Command::new(Path::new(&tools).join("moc"));
    succeed(command.arg(&source).arg("-o").arg(output.with_extension("moc")));
    let mut command = Command::new("c++");
    command.args(["-O1", "-Wall", "-fPIC", "-I"]).arg(folder).arg("-o").arg(&output).arg(source);
    succeed(command.args(pkg_config(&["--cflags", "--libs", "Qt5DBus"])));
    output
}

/// The sanitizer with which the library is compiled, and the library of the compiler for it. The
/// programs must be linked with the same one.
fn sanitizer() -> Option<(String, PathBuf)> {
    let name = env::var("DILIGENCE_SANITIZER").ok()?;
    let runtime = env::var("DILIGENCE_SANITIZER_RUNTIME").expect("the path of a static library");
    Some((name, runtime.into()))
}

/// Runs a command that must succeed, and returns its output.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program can be started");
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
