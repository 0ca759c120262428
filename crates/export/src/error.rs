//! Why something is not written.

use std::io;

/// Why a recording was not exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// Reading the recording or writing the result failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Making the database failed.
    #[cfg(feature = "sqlite")]
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Making the columns failed.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(::parquet::errors::ParquetError),
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
