//! The processes of a workload.
//!
//! Each peer is a separate process: this program with the hidden command `bench-peer`, whose only
//! argument is the `Role` as JSON. It communicates with the measuring process through its standard
//! streams:
//!
//! ```text
//!  measuring process                      peer
//!                     ◀── {"ready":…} ──  has connected, and added its match rules
//!   "\n"  ──────────────────────────────▶ starts
//!                     ◀── {"report":…} ── has finished
//!   end of its input  ──────────────────▶ ends
//! ```
//!
//! While peers work, the measuring process sleeps.

mod caller;
mod control;
mod echo;
mod emitter;
mod forwarder;
mod idle;
mod listener;
mod monitor;
mod process;
mod repeater;
mod role;
mod volumes;

use std::process::ExitCode;

use serde_json::Value;

pub(crate) use caller::{CallerPeer, CallerReport, Payload};
pub(crate) use control::{BusSetup, Control};
pub(crate) use echo::{EchoPeer, ReplyPayload};
pub(crate) use emitter::{Emitter, EmitterReport, SignalContent, Stamps};
pub(crate) use forwarder::Forwarder;
pub(crate) use idle::IdleConnections;
pub(crate) use listener::{ListenerPeer, ListenerReport, TIMEOUT_MS};
pub(crate) use monitor::MonitorPeer;
pub use process::COMMAND;
pub(crate) use process::{PeerError, RunningPeer};
pub(crate) use repeater::{RepeatedAction, Repeater};
pub(crate) use role::WorkloadRole;
pub(crate) use volumes::{RULE as VOLUMES_RULE, VolumeCounts};

/// Runs this process as a peer, for the hidden command [`COMMAND`] with this argument.
pub fn run(role: &str) -> ExitCode {
    match play(role) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::FAILURE
        }
    }
}

fn play(role: &str) -> Result<(), String> {
    let (name, role): (String, Value) =
        serde_json::from_str(role).map_err(|error| error.to_string())?;
    match &*name {
        CallerPeer::NAME => perform::<CallerPeer>(role),
        EchoPeer::NAME => perform::<EchoPeer>(role),
        Emitter::NAME => perform::<Emitter>(role),
        ListenerPeer::NAME => perform::<ListenerPeer>(role),
        Forwarder::NAME => perform::<Forwarder>(role),
        Repeater::NAME => perform::<Repeater>(role),
        IdleConnections::NAME => perform::<IdleConnections>(role),
        MonitorPeer::NAME => perform::<MonitorPeer>(role),
        _ => Err(format!("unknown role {name:?}")),
    }
}

fn perform<R: WorkloadRole>(role: Value) -> Result<(), String> {
    let role: R = serde_json::from_value(role).map_err(|error| error.to_string())?;
    let mut control = Control::new();
    let report = role.play(&mut control).map_err(|error| error.to_string())?;
    control.report(&report).map_err(|error| error.to_string())
}
