//! What is read from files, and how it is read again.

use crate::activation::Catalog;
use crate::busconfig::{Config, ConfigError};

/// What is read from files: the configuration, and the services of the folders that it names.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// What the bus is told to do, the services included.
    pub config: Config,
    /// How the services are started.
    pub catalog: Catalog,
}

/// A configuration without services.
impl From<Config> for Loaded {
    fn from(config: Config) -> Self {
        Self { config, catalog: Catalog::default() }
    }
}

/// Reads the configuration again.
pub trait Reload {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// What is wrong with it. The old one stays in force then.
    fn read(&mut self) -> Result<Loaded, ConfigError>;

    /// Takes what the log should say about the last [`Self::read`], one line each.
    fn warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What was read is in force, or the old one after an error.
    fn done(&mut self);
}
