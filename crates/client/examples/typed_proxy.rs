//! A client of a thermostat, whose interface is a trait.
//!
//! Shows typed calls, properties and signals, in a thread and in a task. It calls the example
//! `typed_service`.
//!
//! ```sh
//! cargo run -p diligence-client --example typed_service &
//! cargo run -p diligence-client --example typed_proxy
//! ```

use std::error::Error;
use std::time::Duration;

use diligence_client::asynchronous::{self, LocalRuntime};
use diligence_client::{CallError, Connection, ErrorReply, proxy};

/// The macro makes `ThermostatProxy`, `AsyncThermostatProxy` and `ThermostatProperties`.
#[proxy(
    interface = "com.example.Thermostat1",
    default_service = "com.example.Thermostat",
    default_path = "/com/example/Thermostat"
)]
trait Thermostat {
    fn raise(&self, degrees: f64) -> Result<f64, ThermostatError>;

    #[property]
    fn target(&self) -> Result<f64, CallError>;

    #[property]
    fn set_target(&self, target: f64) -> Result<(), ThermostatError>;

    #[property]
    fn model(&self) -> Result<String, CallError>;

    #[signal]
    fn raised(&self, target: f64, by: String);
}

/// The errors of the service, and all other errors of a call.
#[derive(Debug, thiserror::Error, ErrorReply)]
#[dbus(prefix = "com.example.Thermostat.Error")]
enum ThermostatError {
    #[error("the thermostat is locked")]
    Locked,
    #[error("{0}")]
    OutOfRange(String),
    #[error(transparent)]
    #[dbus(other)]
    Call(CallError),
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    in_thread()?;
    let runtime = LocalRuntime::new()?;
    runtime.block_on(in_task(&runtime))
}

fn in_thread() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    let thermostat = ThermostatProxy::new(&bus);
    // Subscribe first, then read: so no change is missed in between.
    let changes = thermostat.property_changes()?;
    let mut known = thermostat.properties()?;
    println!("{:?} is set to {:?}", known.model, known.target);

    thermostat.set_target(21.0)?;
    if let Some(change) = changes.next(Some(Duration::from_secs(10)))? {
        known.apply(change);
    }
    println!("now to {:?}", known.target);

    match thermostat.set_target(100.0) {
        Err(ThermostatError::OutOfRange(text)) => println!("refused: {text}"),
        Err(other) => return Err(other.into()),
        Ok(()) => println!("accepted"),
    }
    Ok(())
}

async fn in_task(runtime: &LocalRuntime) -> Result<(), Box<dyn Error>> {
    let bus = asynchronous::Connection::session(runtime).await?;
    let thermostat = AsyncThermostatProxy::new(&bus);
    let raised = thermostat.subscribe_raised().await?;
    // Both calls are sent before the first reply is awaited.
    let (first, second) = (thermostat.raise(1.5), thermostat.raise(0.5));
    println!("raised to {}, then to {}", first.await?, second.await?);
    let (target, by) = raised.next().await?;
    println!(
        "{} raised it to {target}",
        if bus.unique_name() == by.as_str() { "I" } else { "another client" }
    );
    Ok(())
}
