//! `diligence start`: starts the service of a name.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use inspector::{
    CallSettings, Inspector, InspectorFailure, InspectorTimeouts, MethodName, ObjectCallOutcome,
    Starting, TypedValue,
};
use wire::body::Value;

use crate::amount;
use crate::bus_choice::BusChoice;
use crate::output::print;
use crate::poke::error::PokeError;

/// Arguments of `diligence start`.
#[derive(Debug, Args)]
#[command(after_long_help = LONG_HELP)]
pub(crate) struct StartArgs {
    #[command(flatten)]
    bus: BusChoice,
    /// The well-known name of the service
    name: String,
    /// The time to wait until the service runs
    #[arg(short, long, value_name = "TIME", value_parser = amount::time, default_value = "25s")]
    timeout: Duration,
}

impl StartArgs {
    /// Starts the service, and prints whether it was already running.
    pub(crate) fn run(&self) -> Result<ExitCode, PokeError> {
        let inspector = self.bus.inspector(InspectorTimeouts::default())?;
        Ok(print(match start(&inspector, &self.name, self.timeout)? {
            Started::Now => "started\n",
            Started::Before => "already running\n",
        }))
    }
}

/// The result of starting a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Started {
    /// This call started the service.
    Now,
    /// The service was already running.
    Before,
}

/// Requests the bus to start a service, and waits until it has started.
pub(super) fn start(
    inspector: &Inspector,
    name: &str,
    timeout: Duration,
) -> Result<Started, PokeError> {
    let method = MethodName {
        service: "org.freedesktop.DBus".to_owned(),
        path: "/org/freedesktop/DBus".to_owned(),
        interface: Some("org.freedesktop.DBus".to_owned()),
        method: "StartServiceByName".to_owned(),
    };
    let timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).max(1);
    let settings =
        CallSettings { timeout_ms, starting: Starting::Allowed, ..CallSettings::default() };
    let arguments = vec![Value::from(name), Value::Uint32(0)];
    match inspector.invoke(&method, arguments.into(), &settings)?.outcome {
        // The bus looks up the service file first, so it reports an unknown service even if the
        // name has an owner.
        ObjectCallOutcome::Failed(failure)
            if failure.error_name() == Some(UNKNOWN) && is_owned(inspector, name)? =>
        {
            Ok(Started::Before)
        }
        ObjectCallOutcome::Failed(failure) => Err(failure.into()),
        ObjectCallOutcome::Returned { results, .. }
            if results == [TypedValue(Value::Uint32(RAN))] =>
        {
            Ok(Started::Before)
        }
        ObjectCallOutcome::Returned { .. } | ObjectCallOutcome::Sent {} => Ok(Started::Now),
    }
}

/// Returns true if the name has an owner; the name of the bus itself always has one.
pub(super) fn is_owned(inspector: &Inspector, name: &str) -> Result<bool, InspectorFailure> {
    let found = inspector.name(name)?;
    Ok(found.is_some_and(|found| found.owner.is_some() || found.owner_process.is_some()))
}

/// The default timeout of an activation.
pub(super) const TIMEOUT: Duration = Duration::from_secs(25);

const UNKNOWN: &str = "org.freedesktop.DBus.Error.ServiceUnknown";

/// The result of StartServiceByName if the service is already running.
const RAN: u32 = 2;

const LONG_HELP: &str = "\
Example:
  diligence start org.example.Player

It prints \"started\" or \"already running\". The exit status is 0 in both cases, 1 if the service could \
not be started, and 2 if the command line is wrong.";
