//! The roles that peers can have.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Control;
use crate::raw::RawError;

/// The role of a peer. Its fields are the parameters.
pub(crate) trait WorkloadRole: Serialize + DeserializeOwned {
    /// The name on the command line of the process.
    const NAME: &str;

    /// The report at the end of the work.
    type Report: Serialize + DeserializeOwned;

    /// Does the work; `control` determines when to start.
    fn play(self, control: &mut Control) -> Result<Self::Report, RawError>;
}
