//! The processes of a workload.
//!
//! Each peer is a process of its own: this program with the hidden command `bench-peer` and its
//! `Role` as JSON. It talks with the process that measures through its standard streams:
//!
//! ```text
//!  measuring process                      peer
//!                     ◀── {"ready":…} ──  has connected, and added its match rules
//!   "\n"  ──────────────────────────────▶ begins
//!                     ◀── {"report":…} ── has finished
//!   end of its input  ──────────────────▶ ends
//! ```
//!
//! While peers work, the measuring process sleeps.

mod caller;
mod connector;
mod control;
mod echo;
mod emitter;
mod forwarder;
mod idle;
mod listener;
mod monitor;
mod name_cycler;
mod process;
mod volumes;

use std::process::ExitCode;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use caller::{CallReport, Caller, Payload};
pub(crate) use connector::Connector;
pub(crate) use control::Control;
pub(crate) use echo::{Answer, BodyValidation, Echo};
pub(crate) use emitter::{Content, EmitReport, Emitter, Stamps};
pub(crate) use forwarder::Forwarder;
pub(crate) use idle::IdleConnections;
pub(crate) use listener::{ListenReport, Listener, PATIENCE_MS};
pub(crate) use monitor::Monitor;
pub(crate) use name_cycler::NameCycler;
pub(crate) use process::{Peer, PeerError};
pub(crate) use volumes::{RULE as VOLUMES_RULE, Volumes};

use crate::raw::RawError;

/// What a peer does.
pub(crate) trait Role: Serialize + DeserializeOwned + Into<AnyRole> {
    /// What it tells when it has finished.
    type Report: Serialize + DeserializeOwned;

    /// Does it. `control` says when to begin.
    fn play(self, control: &mut Control) -> Result<Self::Report, RawError>;
}

macro_rules! roles {
    ($($role:ident),*) => {
        /// Any role, as it is handed to the process.
        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "role", rename_all = "kebab-case")]
        pub(crate) enum AnyRole {
            $($role($role),)*
        }

        $(
            impl From<$role> for AnyRole {
                fn from(role: $role) -> Self {
                    Self::$role(role)
                }
            }
        )*

        fn play(role: AnyRole) -> Result<(), String> {
            match role {
                $(AnyRole::$role(role) => perform(role),)*
            }
        }
    };
}

roles!(Caller, Echo, Emitter, Listener, Forwarder, Connector, IdleConnections, NameCycler, Monitor);

/// The command of this program that is a peer; its only argument is a role as JSON.
pub const COMMAND: &str = "bench-peer";

/// Runs this process as a peer: the command [`COMMAND`] with this word.
pub fn run(role: &str) -> ExitCode {
    let played = serde_json::from_str(role).map_err(|error| error.to_string()).and_then(play);
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn perform<R: Role>(role: R) -> Result<(), String> {
    let mut control = Control::new();
    let report = role.play(&mut control).map_err(|error| error.to_string())?;
    control.report(&report).map_err(|error| error.to_string())
}
