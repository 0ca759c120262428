//! Files that include files.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directives::{Directive, Directives, Include, IncludeBase, IncludeCondition, Missing};
use super::document::{Document, beside};
use super::element::end_of;
use super::environment::{Environment, SecurityModule};
use super::error::{
    ConfigError, ConfigErrorKind, FILE_LEN_MAX, Origin, ReadError, Warning, WarningKind,
};

/// Reads a configuration file and all that it includes.
pub(super) fn read(file: &Path, environment: &Environment<'_>) -> Result<Document, ConfigError> {
    let whole_file = |kind| ConfigError { file: file.into(), position: None, kind };
    let text = open(file).map_err(|error| whole_file(error.into()))?;
    let mut document = Document::of(file);
    Reader { environment, open: Vec::new() }.file(file, text, &mut document)?;
    Ok(document)
}

/// Obeys a text that includes nothing, as if it stood in `file`.
pub(super) fn read_text(
    file: &Path,
    text: &str,
    environment: &Environment<'_>,
) -> Result<Document, ConfigError> {
    let mut document = Document::of(file);
    Reader { environment, open: Vec::new() }.text(&file.into(), text, &mut document)?;
    Ok(document)
}

struct Reader<'a> {
    environment: &'a Environment<'a>,
    /// The files that are being read, each included by the one before it, by their true paths.
    open: Vec<PathBuf>,
}

impl Reader<'_> {
    fn file(
        &mut self,
        file: &Path,
        content: Content,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        document.sources.insert(file.into());
        let text = str::from_utf8(&content.bytes).map_err(|error| {
            let position = end_of(&content.bytes[..error.valid_up_to()]);
            ConfigErrorKind::NotUtf8.at(position).in_file(file)
        })?;
        self.open.push(content.true_path);
        let outcome = self.text(&file.into(), text, document);
        self.open.pop();
        outcome
    }

    fn text(
        &mut self,
        file: &Arc<Path>,
        text: &str,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let directives = Directives::parse(text, self.environment.accounts)
            .map_err(|problem| problem.in_file(file))?;
        let origin = |position| Origin { file: Arc::clone(file), position };
        let warnings = directives.warnings.into_iter();
        document
            .warnings
            .extend(warnings.map(|(position, kind)| Warning { origin: origin(position), kind }));
        for (position, directive) in directives.list {
            match directive {
                Directive::Include(include) => {
                    self.include(&origin(position), include, document)?
                }
                Directive::IncludeDir(dir) => self.directory(&origin(position), &dir, document)?,
                directive => document.apply(file, position, directive),
            }
        }
        Ok(())
    }

    fn include(
        &mut self,
        origin: &Origin,
        include: Include,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let Include { path, base, condition, missing } = include;
        if condition == IncludeCondition::IfSelinux
            && self.environment.selinux == SecurityModule::Inactive
        {
            return Ok(());
        }
        let path = match base {
            IncludeBase::File => beside(&origin.file, &path),
            IncludeBase::SelinuxPolicy => self.environment.selinux_root.join(path),
        };
        self.included(origin, &path, missing, document)
    }

    fn included(
        &mut self,
        origin: &Origin,
        path: &Path,
        missing: Missing,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let content = match open(path) {
            Ok(content) => content,
            Err(error) if missing == Missing::Ignored && error.is_missing() => return Ok(()),
            Err(error) => return Err(origin.error(error)),
        };
        if self.open.contains(&content.true_path) {
            return Err(origin.error(ReadError::Circular(path.into())));
        }
        self.file(path, content, document)
    }

    /// Includes the files of a directory, by name. One that cannot be used is left out as a whole:
    /// they come from many packages, and a bad one should not take the bus from the others.
    fn directory(
        &mut self,
        origin: &Origin,
        path: &Path,
        document: &mut Document,
    ) -> Result<(), ConfigError> {
        let path = beside(&origin.file, path);
        let files = match configuration_files(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => {
                let error = error.into();
                return Err(origin.error(ReadError::Directory { path, error }));
            }
            Ok(files) => files,
        };
        document.sources.insert(path);
        for file in files {
            let mut with_file = document.clone();
            match self.included(origin, &file, Missing::Ignored, &mut with_file) {
                Ok(()) => *document = with_file,
                Err(error) => {
                    document.sources.extend(with_file.sources);
                    document.sources.insert(file);
                    let kind = WarningKind::FileSkipped(Box::new(error));
                    document.warnings.push(Warning { origin: origin.clone(), kind });
                }
            }
        }
        Ok(())
    }
}

/// A file's bytes, and a path by which it is told from other files.
struct Content {
    bytes: Vec<u8>,
    true_path: PathBuf,
}

fn open(file: &Path) -> Result<Content, ReadError> {
    let refuse = |error: io::Error| ReadError::Open { path: file.into(), error: error.into() };
    let found = fs::metadata(file).map_err(refuse)?;
    if !found.is_file() {
        return Err(ReadError::NotAFile(file.into()));
    }
    if found.len() > FILE_LEN_MAX {
        return Err(ReadError::TooLarge(file.into()));
    }
    let bytes = fs::read(file).map_err(refuse)?;
    Ok(Content { bytes, true_path: file.canonicalize().map_err(refuse)? })
}

/// The files in a directory that are meant to be included, sorted by name, so that the same files
/// always mean the same.
fn configuration_files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let names = fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name()));
    let mut names = names.collect::<io::Result<Vec<_>>>()?;
    names.retain(|name| is_configuration(name));
    names.sort();
    Ok(names.into_iter().map(|name| directory.join(name)).collect())
}

fn is_configuration(name: &OsStr) -> bool {
    name.as_bytes().ends_with(b".conf")
}
