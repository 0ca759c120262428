//! The loaded configuration, and how it is reloaded.

use crate::activation::Catalog;
use crate::busconfig::{Config, ConfigError};

/// The configuration, and the services of the directories that it names.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration, including activatable names.
    pub config: Config,
    /// The service files, and how services are started.
    pub catalog: Catalog,
}

/// Creates a configuration without services.
impl From<Config> for Loaded {
    fn from(config: Config) -> Self {
        Self { config, catalog: Catalog::default() }
    }
}

/// Reloads the configuration on request.
pub trait Reload {
    /// Reads the configuration again.
    ///
    /// # Errors
    ///
    /// The error in the configuration. The old one stays in force then.
    fn read(&mut self) -> Result<Loaded, ConfigError>;

    /// Takes the warnings of the last [`Self::read`], one line each.
    fn warnings(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Called when the new configuration is in force, or the old one after an error.
    fn done(&mut self);
}
