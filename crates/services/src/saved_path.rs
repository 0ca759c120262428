//! Paths in saved data, as their bytes. serde itself cannot save a path that is not UTF-8.
//!
//! The functions are for `#[serde(with = "services::saved_path")]`.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path inside other types, such as [`Option`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedPath(#[serde(with = "self")] PathBuf);

impl<P: AsRef<Path>> From<P> for SavedPath {
    fn from(path: P) -> Self {
        Self(path.as_ref().to_owned())
    }
}

impl From<SavedPath> for PathBuf {
    fn from(saved: SavedPath) -> Self {
        saved.0
    }
}

/// Saves the bytes of a path.
///
/// # Errors
///
/// The errors of the serializer.
pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(path.as_os_str().as_bytes())
}

/// Restores a path from its bytes.
///
/// # Errors
///
/// The errors of the deserializer.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    name::deserialize(deserializer).map(PathBuf::from)
}

/// A part of a path, for `#[serde(with = "services::saved_path::name")]`.
pub mod name {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

    use serde::{Deserializer, Serializer};

    /// Saves the bytes of a name.
    ///
    /// # Errors
    ///
    /// The errors of the serializer.
    pub fn serialize<S: Serializer>(name: &OsStr, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(name.as_bytes())
    }

    /// Restores a name from its bytes.
    ///
    /// # Errors
    ///
    /// The errors of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OsString, D::Error> {
        let bytes: serde_bytes::ByteBuf = serde_bytes::deserialize(deserializer)?;
        Ok(OsString::from_vec(bytes.into_vec()))
    }
}

/// A path or none, for `#[serde(with = "services::saved_path::option")]`.
pub mod option {
    use super::{Deserialize as _, Deserializer, PathBuf, SavedPath, Serialize as _, Serializer};

    /// Saves the bytes of a path, if there is one.
    ///
    /// # Errors
    ///
    /// The errors of the serializer.
    pub fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        path.as_ref().map(SavedPath::from).serialize(serializer)
    }

    /// Restores a path, if there was one.
    ///
    /// # Errors
    ///
    /// The errors of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        Ok(Option::<SavedPath>::deserialize(deserializer)?.map(PathBuf::from))
    }
}
