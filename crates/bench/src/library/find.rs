//! Finds libraries in the system, and builds their programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{env, fs, io};

use client::SystemError;

use super::cache::{Cache, unusable};
use super::ours::{self, FrontEnd};
use super::source::{
    C_SHARED, File, PYTHON_SHARED, Recipe, Remedy, ZBUS, ZBUS_PROGRAM, ZBUS_VERSION, fingerprint,
};
use super::{Library, ProgramMode};

/// An installed library, whose program may still have to be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundLibrary {
    /// Which library it is.
    pub library: Library,
    version: String,
    program: LibraryProgram,
}

/// The program of a library.
#[derive(Clone, PartialEq, Eq, Debug)]
enum LibraryProgram {
    /// This program, in another mode.
    Ours(FrontEnd),
    /// A C file, compiled with the flags that pkg-config reports for the package.
    Compiled { files: [File; 2], package: &'static str },
    /// A script, the first of the files, run by this interpreter.
    Script { files: [File; 2], interpreter: PathBuf },
    /// A package, built by Cargo.
    Package,
}

/// A library whose program is ready to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuiltLibrary {
    /// Which library it is.
    pub library: Library,
    /// The version that the library reports.
    pub version: String,
    program: PathBuf,
    /// Arguments before the arguments of the mode.
    leading: Vec<OsString>,
}

impl Library {
    /// Searches for the library in the system. This takes as long as its tools need to report a
    /// version.
    ///
    /// # Errors
    ///
    /// Fails if the library is not installed; the error says how to install it.
    pub fn find(self, cache: &Cache) -> Result<FoundLibrary, MissingLibrary> {
        let (version, program) = match self.recipe() {
            Recipe::Ours(front_end) => {
                (env!("CARGO_PKG_VERSION").to_owned(), LibraryProgram::Ours(front_end))
            }
            Recipe::C { source, package, debian } => {
                let files = [source, C_SHARED];
                (c_version(package, debian)?, LibraryProgram::Compiled { files, package })
            }
            Recipe::Python { source, version, remedy } => {
                let (interpreter, version) = interpreter(self, cache, version, remedy)?;
                (version, LibraryProgram::Script { files: [source, PYTHON_SHARED], interpreter })
            }
            Recipe::Cargo => {
                output(Command::new(CARGO).arg("--version"), CARGO, CARGO)?;
                (ZBUS_VERSION.to_owned(), LibraryProgram::Package)
            }
        };
        Ok(FoundLibrary { library: self, version, program })
    }
}

impl FoundLibrary {
    /// True if the program is built already. Otherwise, building the zbus program takes a minute or
    /// more and downloads packages; the others take a second.
    #[must_use]
    pub fn is_built(&self, cache: &Cache) -> bool {
        matches!(self.program, LibraryProgram::Ours(_)) || cache.existing(&self.folder()).is_some()
    }

    /// Builds its program, unless it is in the cache.
    ///
    /// # Errors
    ///
    /// Fails if a required tool is missing or fails, or if the cache cannot be written.
    pub fn prepare(self, cache: &Cache) -> Result<BuiltLibrary, MissingLibrary> {
        let folder = self.folder();
        let (program, leading) = match self.program {
            LibraryProgram::Ours(front_end) => {
                (own_program()?, vec![ours::COMMAND.into(), front_end.word().into()])
            }
            LibraryProgram::Compiled { files, package } => {
                let build = |unfinished: &Path| compile(unfinished, files[0], package);
                (cache.folder(&folder, &files, build)?.join(PROGRAM), vec![])
            }
            LibraryProgram::Script { files, interpreter } => {
                let folder = cache.folder(&folder, &files, |_| Ok(()))?;
                (interpreter, vec![folder.join(files[0].name).into()])
            }
            LibraryProgram::Package => {
                (cache.folder(&folder, &ZBUS, cargo_build)?.join(PROGRAM), vec![])
            }
        };
        Ok(BuiltLibrary { library: self.library, version: self.version, program, leading })
    }

    /// The name of its folder in the cache.
    fn folder(&self) -> String {
        let files: &[File] = match &self.program {
            LibraryProgram::Ours(_) => &[],
            LibraryProgram::Compiled { files, .. } | LibraryProgram::Script { files, .. } => files,
            LibraryProgram::Package => &ZBUS,
        };
        format!("{}-{}-{:016x}", self.library, self.version, fingerprint(files))
    }
}

impl BuiltLibrary {
    /// Returns the command for a [`RunningProgram`](super::RunningProgram).
    #[must_use]
    pub fn command(&self, mode: &ProgramMode) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.leading).args(mode.words());
        command
    }
}

/// A library cannot be measured; the message says how to fix that.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MissingLibrary {
    /// A required tool is not installed.
    #[error("{tool} is missing; install it, on Debian with: apt install {debian}")]
    Tool {
        /// The name of the tool.
        tool: &'static str,
        /// The Debian package that has it.
        debian: &'static str,
    },
    /// The headers of a C library are not installed.
    #[error(
        "pkg-config does not find {package}; install its headers, on Debian with: apt install {debian}"
    )]
    Headers {
        /// Its name in pkg-config.
        package: &'static str,
        /// The Debian package that has them.
        debian: &'static str,
    },
    /// No Python interpreter has the library.
    #[error("no Python interpreter has {library}; install it with: {remedy}")]
    Module {
        /// The library that is missing.
        library: Library,
        /// The command that installs it.
        remedy: String,
    },
    /// Its program cannot be built.
    #[error("cannot build {program}: {error}")]
    Build {
        /// The source file or package of the program.
        program: String,
        /// The first error of the compiler.
        error: String,
    },
    /// A tool cannot be started.
    #[error("cannot start {tool}: {error}")]
    Broken {
        /// The name of the tool.
        tool: &'static str,
        /// The error of the system.
        error: SystemError,
    },
    /// The environment does not name a folder for the cache.
    #[error("no cache directory: set HOME or XDG_CACHE_HOME")]
    CacheFolder,
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    Unusable {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        error: SystemError,
    },
}

fn c_version(package: &'static str, debian: &'static str) -> Result<String, MissingLibrary> {
    let asked = pkg_config(&["--modversion", package])?;
    let known = asked.status.success().then(|| printed(&asked));
    known.ok_or(MissingLibrary::Headers { package, debian })
}

/// Returns the first Python interpreter that has a library, and the version of the library.
fn interpreter(
    library: Library,
    cache: &Cache,
    version: &str,
    remedy: Remedy,
) -> Result<(PathBuf, String), MissingLibrary> {
    let of_cache = match remedy {
        Remedy::Pip(_) => Some(cache.python()),
        Remedy::Debian(_) => None,
    };
    let candidates = of_cache.into_iter().chain([PYTHON.into(), PYTHON_OF_SYSTEM.into()]);
    for candidate in candidates {
        // An interpreter that does not start does not have the library either.
        let asked = Command::new(&candidate).args(["-c", version]).stdin(Stdio::null()).output();
        if let Some(asked) = asked.ok().filter(|asked| asked.status.success()) {
            return Ok((candidate, printed(&asked)));
        }
    }
    Err(MissingLibrary::Module { library, remedy: spelled(remedy, cache) })
}

fn spelled(remedy: Remedy, cache: &Cache) -> String {
    match remedy {
        Remedy::Debian(packages) => format!("apt install {packages}"),
        Remedy::Pip(package) => {
            let folder = cache.virtual_environment();
            let folder = folder.display();
            format!("python3 -m venv {folder} && {folder}/bin/pip install {package}")
        }
    }
}

fn own_program() -> Result<PathBuf, MissingLibrary> {
    env::current_exe().map_err(|error| unusable(Path::new(OWN_LINK), error))
}

fn compile(folder: &Path, source: File, package: &str) -> Result<(), MissingLibrary> {
    let flags = printed(&pkg_config(&["--cflags", "--libs", package])?);
    let mut compiler = Command::new("cc");
    compiler.current_dir(folder).args(["-std=c11", "-O2", "-o", PROGRAM, source.name]);
    built(output(compiler.args(flags.split_whitespace()), "cc", "gcc")?, source.name)
}

fn cargo_build(folder: &Path) -> Result<(), MissingLibrary> {
    let mut cargo = Command::new(CARGO);
    cargo.current_dir(folder).args(["build", "--release", "--locked", "--target-dir", TARGET]);
    built(output(&mut cargo, CARGO, CARGO)?, ZBUS_PROGRAM)?;
    let (target, program) = (folder.join(TARGET), folder.join(PROGRAM));
    fs::rename(target.join("release").join(ZBUS_PROGRAM), &program)
        .and_then(|()| fs::remove_dir_all(&target))
        .map_err(|error| unusable(&target, error))
}

fn built(output: Output, program: &str) -> Result<(), MissingLibrary> {
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let first = text.lines().find(|line| line.contains("error")).or_else(|| text.lines().last());
    let error = first.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned());
    Err(MissingLibrary::Build { program: program.to_owned(), error })
}

fn pkg_config(words: &[&str]) -> Result<Output, MissingLibrary> {
    output(Command::new("pkg-config").args(words), "pkg-config", "pkg-config")
}

/// Runs a tool, and returns its output.
fn output(
    command: &mut Command,
    tool: &'static str,
    debian: &'static str,
) -> Result<Output, MissingLibrary> {
    command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => MissingLibrary::Tool { tool, debian },
        _ => MissingLibrary::Broken { tool, error: error.into() },
    })
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The name of a program in its folder.
const PROGRAM: &str = "program";
/// The name of the tool, and of its Debian package.
const CARGO: &str = "cargo";
const TARGET: &str = "target";
/// The Python interpreter that is first in `PATH`.
const PYTHON: &str = "python3";
/// The Python interpreter for libraries from system packages.
const PYTHON_OF_SYSTEM: &str = "/usr/bin/python3";
/// The link to this program.
const OWN_LINK: &str = "/proc/self/exe";
