//! The part of a configuration that a running bus needs, in a saved state.

use std::path::PathBuf;

use bus::{Configuration, PolicyVerdict};
use serde::{Deserialize, Serialize};
use services::saved_path::SavedPath;
use wire::sasl::Mechanisms;

use super::{AppArmor, AppArmorMode, BusType, Config, Document, OwnSettings, ServiceDir};

/// A configuration in a saved state, without the [`Configuration`] that the bus itself saves, and
/// without settings that matter only at the start of a bus.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedConfig {
    pub(crate) bus_type: Option<BusType>,
    pub(crate) app_armor: Option<AppArmorMode>,
    auth: Option<Mechanisms>,
    anonymous: PolicyVerdict,
    service_dirs: Vec<ServiceDir>,
    include_dirs: Vec<SavedPath>,
    own: OwnSettings,
}

impl Config {
    /// Saves what a running bus needs.
    pub(crate) fn save(&self) -> SavedConfig {
        let document = &self.document;
        SavedConfig {
            bus_type: document.bus_type.clone(),
            app_armor: document.app_armor.as_ref().map(|element| element.mode),
            auth: document.auth,
            anonymous: document.anonymous,
            service_dirs: document.service_dirs.clone(),
            include_dirs: document.include_dirs.iter().map(SavedPath::from).collect(),
            own: document.own.clone(),
        }
    }

    /// Restores what a running bus needs. `configuration` is the one of the restored bus.
    pub(crate) fn restore(saved: SavedConfig, configuration: Configuration) -> Self {
        let document = Document {
            bus_type: saved.bus_type,
            auth: saved.auth,
            anonymous: saved.anonymous,
            service_dirs: saved.service_dirs,
            include_dirs: saved.include_dirs.into_iter().map(PathBuf::from).collect(),
            own: saved.own,
            app_armor: saved.app_armor.map(AppArmor::restored),
            ..Document::default()
        };
        Self { document, configuration }
    }
}
