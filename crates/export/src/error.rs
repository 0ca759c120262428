//! Errors of writing an export.

use std::io;

/// The reasons why an export failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Reading the recording or writing the result failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Writing the database failed.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Writing the Parquet file failed.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(::parquet::errors::ParquetError),
}

#[cfg(feature = "parquet")]
impl From<::parquet::errors::ParquetError> for ExportError {
    /// Converts a wrapped I/O error of the output to [`ExportError::Io`].
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
