//! Where the programs are kept once they are built.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use client::SystemError;

use super::MissingLibrary;
use super::source::File;

/// A folder where the programs are kept once they are built.
///
/// Each has a folder of its own, named after the library, its version and the sources, so what is
/// there fits. It appears whole or not at all: it is filled under another name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The one of the user: `$XDG_CACHE_HOME/diligence/bench`, or below `~/.cache`.
    ///
    /// # Errors
    ///
    /// [`MissingLibrary::CacheFolder`] when the environment does not say where that is.
    pub fn of_user() -> Result<Self, MissingLibrary> {
        let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        Ok(Self::at(caches.ok_or(MissingLibrary::CacheFolder)?.join("diligence/bench")))
    }

    /// Any folder; it is made when it is needed.
    #[must_use]
    pub const fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The interpreter of the virtual environment for libraries that pip installs.
    #[must_use]
    pub fn python(&self) -> PathBuf {
        self.virtual_environment().join("bin/python3")
    }

    pub(super) fn virtual_environment(&self) -> PathBuf {
        self.folder.join("venv")
    }

    /// The folder of a program that is there.
    pub(super) fn existing(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|folder| folder.is_dir())
    }

    /// The folder of a program, which `build` completes in a folder with the sources if it is not
    /// there yet.
    pub(super) fn folder(
        &self,
        name: &str,
        files: &[File],
        build: impl FnOnce(&Path) -> Result<(), MissingLibrary>,
    ) -> Result<PathBuf, MissingLibrary> {
        if let Some(existing) = self.existing(name) {
            return Ok(existing);
        }
        let unfinished = self.folder.join(format!(".{name}.{}", process::id()));
        let built = fill(&unfinished, files)
            .and_then(|()| build(&unfinished))
            .and_then(|()| self.publish(&unfinished, name));
        // After success it is gone already; otherwise nothing can be done if it stays.
        let _ = fs::remove_dir_all(&unfinished);
        built
    }

    /// Gives a folder that is complete its name, unless another process was faster.
    fn publish(&self, complete: &Path, name: &str) -> Result<PathBuf, MissingLibrary> {
        let folder = self.folder.join(name);
        match fs::rename(complete, &folder) {
            Err(_) if folder.is_dir() => Ok(folder),
            Err(error) => Err(unusable(&folder, error)),
            Ok(()) => Ok(folder),
        }
    }
}

fn fill(folder: &Path, files: &[File]) -> Result<(), MissingLibrary> {
    fs::create_dir_all(folder).map_err(|error| unusable(folder, error))?;
    for file in files {
        let path = folder.join(file.name);
        fs::write(&path, file.text).map_err(|error| unusable(&path, error))?;
    }
    Ok(())
}

pub(super) fn unusable(path: &Path, error: io::Error) -> MissingLibrary {
    MissingLibrary::Unusable { path: path.to_owned(), error: SystemError::from(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [File; 1] = [File { name: "a", text: "text" }];

    fn check(folder: &Path) {
        let cache = Cache::at(folder.join("cache"));
        let failed = MissingLibrary::Build { program: "a".into(), error: "no".into() };
        assert_eq!(cache.folder("x", &FILES, |_| Err(failed.clone())), Err(failed));
        assert_eq!(fs::read_dir(folder.join("cache")).unwrap().count(), 0);

        let built = cache.folder("x", &FILES, |unfinished| {
            assert_eq!(fs::read_to_string(unfinished.join("a")).unwrap(), "text");
            assert_eq!(cache.existing("x"), None);
            Ok(())
        });
        assert_eq!(built, Ok(folder.join("cache/x")));
        assert_eq!(cache.folder("x", &[], |_| unreachable!("it is there")), built);
        assert_eq!(fs::read_dir(folder.join("cache")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_there_when_it_is_complete() {
        let folder = env::temp_dir().join(format!("diligence-bench-cache-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        check(&folder);
        fs::remove_dir_all(&folder).unwrap();
    }
}
