//! Why something is not written.

use std::{error, fmt, io};

/// Why an export failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ExportError {
    /// The recording cannot be read, or what is made of it cannot be written.
    Io(io::Error),
    /// The database cannot be made.
    #[cfg(feature = "sqlite")]
    Sqlite(rusqlite::Error),
    /// The columns cannot be made.
    #[cfg(feature = "parquet")]
    Parquet(::parquet::errors::ParquetError),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(error) => error.fmt(f),
            #[cfg(feature = "parquet")]
            Self::Parquet(error) => error.fmt(f),
        }
    }
}

impl error::Error for ExportError {}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(feature = "sqlite")]
impl From<rusqlite::Error> for ExportError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

#[cfg(feature = "parquet")]
impl From<::parquet::errors::ParquetError> for ExportError {
    /// What the place of writing says is told as that.
    fn from(error: ::parquet::errors::ParquetError) -> Self {
        use ::parquet::errors::ParquetError::External;
        match error {
            External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(inner) => Self::Parquet(External(inner)),
            },
            error => Self::Parquet(error),
        }
    }
}
