//! Test clients in `tests/clients`, each a small program that uses a common library.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::program::ExternalProgram;
use crate::scratch::ScratchFolder;

/// The time limit for the download and the build of a library.
pub const BUILD_LIMIT: Duration = Duration::from_secs(600);

/// The path of a source file of the clients.
#[must_use]
pub fn client_source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name)
}

/// Builds a program of a Rust package of the clients in the folder, and returns its path. Cargo
/// downloads the library, which nothing else here needs.
///
/// # Panics
///
/// If the build fails.
#[must_use]
pub fn build_rust_client(folder: &ScratchFolder, package: &str, program: &str) -> PathBuf {
    let script = "\
        exec cargo build --quiet --locked --manifest-path \"$1\" --target-dir \"$2\" --bin \"$3\"";
    let manifest = client_source(package).join("Cargo.toml");
    let build = ExternalProgram::shell(script).arg(manifest).arg(folder.path()).arg(program);
    let _ = build.limit(BUILD_LIMIT).run().success();
    folder.join("debug").join(program)
}
