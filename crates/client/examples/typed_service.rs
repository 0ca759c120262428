//! A thermostat: a service whose interface is an impl block.
//!
//! Shows methods, properties and signals as functions, errors as an enum, and how a method learns
//! who called it.
//!
//! ```sh
//! cargo run -p diligence-client --example typed_service
//! gdbus introspect --session --dest com.example.Thermostat --object-path /com/example/Thermostat
//! cargo run -p diligence-client --example typed_proxy
//! ```

use std::error::Error;

use diligence_client::{Connection, ErrorReply, IncomingCall, NameFlags, interface};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    bus.export(PATH, RoomThermostat { target: 20.0, is_locked: false })?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }
    bus.serve();
    Ok(())
}

struct RoomThermostat {
    /// The temperature to reach, in degrees Celsius.
    target: f64,
    is_locked: bool,
}

/// Each variant is an error name: `com.example.Thermostat.Error.Locked`.
#[derive(Clone, PartialEq, Debug, thiserror::Error, ErrorReply)]
#[dbus(prefix = "com.example.Thermostat.Error")]
enum TargetError {
    #[error("the thermostat is locked")]
    Locked,
    #[error("{0} °C is not between 5 and 30 °C")]
    OutOfRange(f64),
}

#[interface(name = "com.example.Thermostat1")]
#[annotate("org.gtk.GDBus.DocString", "Keeps a temperature.")]
impl RoomThermostat {
    /// Raises the temperature, and returns the new one. The names of the arguments are the names
    /// that introspection shows; results get theirs from `results`.
    #[method(results("target"))]
    fn raise(&mut self, degrees: f64, call: &IncomingCall) -> Result<f64, TargetError> {
        self.set_target(self.target + degrees)?;
        // The change is announced after the method has returned, with the value of that time.
        Self::target_changed(call);
        // The signal is dropped if the connection has ended.
        let _ = Self::raised(call, self.target, call.message().sender().unwrap_or_default());
        Ok(self.target)
    }

    #[deprecated]
    fn lock(&mut self) {
        self.is_locked = true;
    }

    /// The library announces a write by a client with `PropertiesChanged`.
    #[property]
    fn target(&self) -> f64 {
        self.target
    }

    #[property]
    fn set_target(&mut self, target: f64) -> Result<(), TargetError> {
        match (self.is_locked, (5.0..=30.0).contains(&target)) {
            (true, _) => Err(TargetError::Locked),
            (false, false) => Err(TargetError::OutOfRange(target)),
            (false, true) => {
                self.target = target;
                Ok(())
            }
        }
    }

    #[property(emits_change = "const")]
    fn model(&self) -> &str {
        "T-1000"
    }

    /// A client raised the temperature.
    #[signal]
    fn raised(target: f64, by: &str);
}

const NAME: &str = "com.example.Thermostat";
const PATH: &str = "/com/example/Thermostat";

// The functions are ordinary ones, so they are tested without a bus.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_limited_and_can_be_locked() {
        let mut thermostat = RoomThermostat { target: 20.0, is_locked: false };
        assert_eq!(thermostat.set_target(31.0), Err(TargetError::OutOfRange(31.0)));
        thermostat.set_target(30.0).unwrap();
        #[expect(deprecated, reason = "clients can still call it")]
        thermostat.lock();
        assert_eq!(thermostat.set_target(20.0), Err(TargetError::Locked));
        assert_eq!(thermostat.target(), 30.0);
    }

    #[test]
    fn the_interface_definition_is_valid() {
        use diligence_client::ServedObject as _;
        RoomThermostat::served_interface().unwrap();
    }
}
