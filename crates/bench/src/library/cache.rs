//! The cache of built library programs.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use client::SystemError;

use super::MissingLibrary;
use super::source::File;

/// The folder that keeps the library programs after they are built.
///
/// Each program has its own folder, named after the library, its version and the sources, so a
/// program in the cache is always current. A folder is filled under a temporary name, so it never
/// appears incomplete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Returns the cache of the user: `$XDG_CACHE_HOME/diligence/bench`, or below `~/.cache`.
    ///
    /// # Errors
    ///
    /// [`MissingLibrary::CacheFolder`] if the environment names neither folder.
    pub fn of_user() -> Result<Self, MissingLibrary> {
        let set = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        Ok(Self::at(caches.ok_or(MissingLibrary::CacheFolder)?.join("diligence/bench")))
    }

    /// Returns the cache in any folder, which is created when needed.
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

    /// Returns the folder of a program, if it exists.
    pub(super) fn existing(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.join(name)).filter(|folder| folder.is_dir())
    }

    /// Returns the folder of a program. If it does not exist, `build` completes a new folder with
    /// the sources.
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
        // After success, the folder has been renamed; after a failure, there is nothing else to do.
        let _ = fs::remove_dir_all(&unfinished);
        built
    }

    /// Renames a complete folder, unless another process was faster.
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
    fn cache_folders_appear_only_when_complete() {
        let folder = env::temp_dir().join(format!("diligence-bench-cache-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        check(&folder);
        fs::remove_dir_all(&folder).unwrap();
    }
}
