//! What a peer does.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Control;
use crate::raw::RawError;

/// What a peer does. Its fields are the parameters.
pub(crate) trait WorkloadRole: Serialize + DeserializeOwned {
    /// Its name on the command line of the process.
    const NAME: &str;

    /// What it reports at the end.
    type Report: Serialize + DeserializeOwned;

    /// Does the work. `control` says when to begin.
    fn play(self, control: &mut Control) -> Result<Self::Report, RawError>;
}
