//! Reading configuration files and the files that they include.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directives::{
    Directive, Directives, Include, IncludeCondition, IncludeDir, IncludePath, Missing,
};
use super::document::Document;
use super::environment::{Environment, SecurityModule};
use super::error::{
    ConfigError, ConfigErrorKind, ConfigReadError, ConfigWarning, ConfigWarningKind, ElementOrigin,
    FILE_LEN_MAX, Position,
};
use super::paths::absolute;

/// Reads a configuration file and everything that it includes.
pub(super) fn read(file: &Path, environment: &Environment<'_>) -> Result<Document, ConfigError> {
    let content = Content::of(file).map_err(|error| unreadable(file, error))?;
    let mut document = Document::of(file);
    ConfigReader { environment, open: Vec::new() }.file(file, &content, &mut document)?;
    Ok(document)
}

/// Reads a configuration file whose content is given, and everything that it includes.
pub(super) fn read_content(
    file: &Path,
    content: &[u8],
    environment: &Environment<'_>,
) -> Result<Document, ConfigError> {
    let content = Content { bytes: content.to_owned(), id: None };
    let mut document = Document::of(file);
    ConfigReader { environment, open: Vec::new() }.file(file, &content, &mut document)?;
    Ok(document)
}

/// Reads the whole content of `file` if it is a pipe, which can be read only once.
pub(super) fn drain_pipe(file: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
    let is_pipe = fs::metadata(file).is_ok_and(|found| found.file_type().is_fifo());
    if !is_pipe {
        return Ok(None);
    }
    let read = || {
        let mut content = Vec::new();
        File::open(file)?.take(FILE_LEN_MAX + 1).read_to_end(&mut content)?;
        Ok(content)
    };
    let content = read().map_err(|error: io::Error| {
        unreadable(file, ConfigReadError::Open { path: file.into(), error: error.into() })
    })?;
    if content.len() as u64 > FILE_LEN_MAX {
        return Err(unreadable(file, ConfigReadError::TooLarge(file.into())));
    }
    Ok(Some(content))
}

fn unreadable(file: &Path, error: ConfigReadError) -> ConfigError {
    ConfigError { file: file.into(), position: None, kind: ConfigErrorKind::Read(error) }
}

/// Parses a text without includes, as if it were the content of `file`.
pub(super) fn read_text(
    file: &Path,
    text: &str,
    environment: &Environment<'_>,
) -> Result<Document, ConfigError> {
    let mut document = Document::of(file);
    ConfigReader { environment, open: Vec::new() }.text(&file.into(), text, &mut document)?;
    Ok(document)
}

struct ConfigReader<'a> {
    environment: &'a Environment<'a>,
    /// The files that are being read, each included by the one before it.
    open: Vec<FileId>,
}

impl ConfigReader<'_> {
    fn file(
        &mut self,
        file: &Path,
        content: &Content,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        document.sources.insert(file.into());
        let file = Arc::from(file);
        let text = content.text(&file)?;
        let depth = self.open.len();
        self.open.extend(content.id);
        let outcome = self.text(&file, text, document);
        self.open.truncate(depth);
        outcome
    }

    fn text(
        &mut self,
        file: &Arc<Path>,
        text: &str,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let directives = Directives::parse(file, text, self.environment.accounts)?;
        document.warnings.extend(directives.warnings);
        for directive in directives.list {
            match directive {
                Directive::Set(setting) => document.apply(setting),
                Directive::Include(include) => self.include(include, document)?,
                Directive::IncludeDir(include) => self.include_dir(&include, document)?,
            }
        }
        Ok(())
    }

    fn include(&mut self, include: Include, document: &mut Document) -> Result<(), ConfigError> {
        let Include { origin, path, condition, missing } = include;
        let is_skipped = condition == IncludeCondition::IfSelinux
            && self.environment.selinux == SecurityModule::Inactive;
        if is_skipped {
            return Ok(());
        }
        let path = match path {
            IncludePath::Complete(path) => path,
            IncludePath::InSelinuxPolicy(path) => self.environment.selinux_root.join(path),
        };
        self.included_file(&origin, &path, missing, document)
    }

    /// Includes the files of a directory in the order of their names. A file with an error is
    /// skipped as a whole: the files come from many packages, and one of them must not break the
    /// bus for the others.
    fn include_dir(
        &mut self,
        include: &IncludeDir,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let IncludeDir { origin, path } = include;
        for file in configuration_files(path).map_err(|error| origin.error(error))? {
            let mut with_file = document.clone();
            match self.included_file(origin, &file, Missing::Ignored, &mut with_file) {
                Ok(()) => *document = with_file,
                Err(error) => {
                    let kind = ConfigWarningKind::FileSkipped(Box::new(error));
                    document.warnings.push(ConfigWarning { origin: origin.clone(), kind });
                    document.sources.extend(with_file.sources);
                }
            }
        }
        document.include_dirs.insert(absolute(path));
        if path.is_dir() {
            document.sources.insert(path.clone());
        }
        Ok(())
    }

    fn included_file(
        &mut self,
        origin: &ElementOrigin,
        path: &Path,
        missing: Missing,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let content = match Content::of(path) {
            Ok(content) => content,
            Err(error) if missing == Missing::Ignored && error.is_missing() => return Ok(()),
            Err(error) => return Err(origin.error(error)),
        };
        if content.id.is_some_and(|id| self.open.contains(&id)) {
            return Err(origin.error(ConfigReadError::Circular(path.into())));
        }
        self.file(path, &content, document)
    }
}

/// The content of a file.
struct Content {
    bytes: Vec<u8>,
    /// `None` if the content did not come from a regular file.
    id: Option<FileId>,
}

/// Identifies a file by device and inode, whatever path leads to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct FileId {
    device: u64,
    inode: u64,
}

impl Content {
    fn of(file: &Path) -> Result<Self, ConfigReadError> {
        let refuse =
            |error: io::Error| ConfigReadError::Open { path: file.into(), error: error.into() };
        let found = fs::metadata(file).map_err(refuse)?;
        if !found.is_file() {
            return Err(ConfigReadError::NotAFile(file.into()));
        }
        if found.len() > FILE_LEN_MAX {
            return Err(ConfigReadError::TooLarge(file.into()));
        }
        let bytes = fs::read(file).map_err(refuse)?;
        let id = FileId { device: found.dev(), inode: found.ino() };
        Ok(Self { bytes, id: Some(id) })
    }

    fn text(&self, file: &Arc<Path>) -> Result<&str, ConfigError> {
        str::from_utf8(&self.bytes).map_err(|error| {
            let position = Position::START.after(&self.bytes[..error.valid_up_to()]);
            ElementOrigin { file: Arc::clone(file), position }.error(ConfigErrorKind::NotUtf8)
        })
    }
}

/// The configuration files in a directory, sorted by name so that the result does not depend on the
/// file system. A missing directory has no files.
fn configuration_files(directory: &Path) -> Result<Vec<PathBuf>, ConfigReadError> {
    let mut names = match file_names(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(ConfigReadError::Directory { path: directory.into(), error: error.into() });
        }
        Ok(names) => names,
    };
    names.retain(|name| name.as_bytes().ends_with(b".conf"));
    names.sort();
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

fn file_names(directory: &Path) -> io::Result<Vec<OsString>> {
    fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name())).collect()
}
