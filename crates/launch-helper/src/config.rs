//! The part of the system bus configuration that the launch helper uses.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use roxmltree::{Document, Node, ParsingOptions};
use services::{Folder, system_folders};

/// The user of the bus, and the directories of service files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HelperConfig {
    /// The user, by name or number.
    pub user: String,
    /// The directories of service files; earlier ones take precedence.
    pub folders: Vec<Folder>,
}

impl HelperConfig {
    /// Reads a file, but not the files that it includes: local additions to the configuration must
    /// not decide what root does.
    ///
    /// # Errors
    ///
    /// See [`HelperConfigError`].
    pub fn read(file: &Path) -> Result<Self, HelperConfigError> {
        let text = fs::read_to_string(file).map_err(HelperConfigError::Unreadable)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        Self::parse(&text, folder)
    }

    /// Parses a text whose relative paths are relative to `folder`.
    ///
    /// # Errors
    ///
    /// See [`HelperConfigError`].
    pub fn parse(text: &str, folder: &Path) -> Result<Self, HelperConfigError> {
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let tree = Document::parse_with_options(text, options).map_err(HelperConfigError::Xml)?;
        let root = tree.root_element();
        if !root.has_tag_name("busconfig") {
            return Err(HelperConfigError::NoBusconfig);
        }
        let mut user = None;
        let mut folders = Vec::new();
        for element in root.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "user" => user = Some(text_of(element)),
                "servicedir" => folders.push(Folder::new(folder.join(text_of(element)))),
                "standard_system_servicedirs" => folders.extend(system_folders()),
                _ => {}
            }
        }
        let user = user.filter(|user| !user.is_empty()).ok_or(HelperConfigError::NoUser)?;
        Ok(Self { user, folders })
    }
}

fn text_of(element: Node<'_, '_>) -> String {
    element.text().unwrap_or_default().trim().to_owned()
}

/// Why the configuration cannot be used.
#[derive(Debug)]
pub enum HelperConfigError {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file is not well-formed XML.
    Xml(roxmltree::Error),
    /// The root element is not `<busconfig>`.
    NoBusconfig,
    /// The configuration names no user.
    NoUser,
    /// The configured user does not exist.
    UnknownUser,
}

impl fmt::Display for HelperConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration of the system bus ")?;
        match self {
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::Xml(error) => write!(f, "is not XML: {error}"),
            Self::NoBusconfig => f.write_str("has no <busconfig>"),
            Self::NoUser => f.write_str("has no <user>"),
            Self::UnknownUser => f.write_str("names a user that does not exist"),
        }
    }
}

impl std::error::Error for HelperConfigError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn parse(elements: &str) -> Result<HelperConfig, HelperConfigError> {
        HelperConfig::parse(&format!("<busconfig>{elements}</busconfig>"), Path::new("/conf"))
    }

    #[test]
    fn only_user_and_servicedir_elements_are_used() {
        let config = parse(
            "<!-- c --><type>system</type><user> bus </user><servicedir>/a</servicedir>\
             <standard_system_servicedirs/><include>/other</include><servicedir>b</servicedir>",
        );
        let config = config.expect("a configuration");
        assert_eq!(config.user, "bus");
        let paths: Vec<_> = config.folders.into_iter().map(|folder| folder.path).collect();
        assert_eq!(paths.first(), Some(&PathBuf::from("/a")));
        assert_eq!(paths.get(1), Some(&PathBuf::from("/etc/dbus-1/system-services")));
        assert_eq!(paths.last(), Some(&PathBuf::from("/conf/b")));
    }

    #[test]
    fn invalid_configurations_are_distinguished() {
        let check = |elements: &str| parse(elements).expect_err(elements);
        assert!(matches!(check("<type>system</type>"), HelperConfigError::NoUser));
        assert!(matches!(check("<user> </user>"), HelperConfigError::NoUser));
        assert!(matches!(check("<user>"), HelperConfigError::Xml(_)));
        let other = HelperConfig::parse("<x><user>a</user></x>", Path::new("/"));
        assert!(matches!(other, Err(HelperConfigError::NoBusconfig)));
        let missing = HelperConfig::read(Path::new("/nonexistent.conf"));
        assert!(matches!(missing, Err(HelperConfigError::Unreadable(_))));
    }
}
