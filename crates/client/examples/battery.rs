//! A battery: a service whose properties change continuously.
//!
//! Shows how to export properties, some of them writable, and how to emit `PropertiesChanged` when
//! their values change: from a method, from a setter, and at an interval.
//!
//! ```sh
//! cargo run -p diligence-client --example battery
//! gdbus monitor --session --dest com.example.Battery
//! busctl --user set-property com.example.Battery /com/example/Battery com.example.Battery1 \
//!     PowerProfile s saver
//! ```

use std::error::Error;
use std::time::Duration;

use diligence_client::{Connection, InterfaceError, MethodError, NameFlags, ServedInterface};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    let battery = bus.add_object(PATH, &interface()?, Battery::new())?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }

    // Answer calls for a second, then let the battery drain, until the bus closes the connection.
    while bus.serve_for(Duration::from_secs(1)).is_ok() {
        // The state is borrowed only for this statement; a call to a borrowed object would fail.
        let changed = battery.state().pass_second();
        // The signal contains the new values, which the library reads from the object.
        battery.properties_changed(changed);
    }
    Ok(())
}

/// A battery that drains fast enough to watch.
#[derive(Clone, PartialEq, Debug)]
struct Battery {
    /// Charge in percent, from 0 to 100.
    percentage: f64,
    state: ChargeState,
    profile: BatteryProfile,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ChargeState {
    Discharging,
    Charging,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BatteryProfile {
    Saver,
    Balanced,
    Performance,
}

impl Battery {
    const fn new() -> Self {
        Self {
            percentage: 87.0,
            state: ChargeState::Discharging,
            profile: BatteryProfile::Balanced,
        }
    }

    /// Advances the state by one second, and returns the names of the properties that changed.
    fn pass_second(&mut self) -> &'static [&'static str] {
        let before = self.state;
        match self.state {
            ChargeState::Discharging => self.percentage -= self.profile.drain(),
            ChargeState::Charging => self.percentage += CHARGE_PER_SECOND,
        }
        self.percentage = self.percentage.clamp(0.0, 100.0);
        if self.percentage <= LOW {
            self.state = ChargeState::Charging;
        } else if self.percentage >= 100.0 {
            self.state = ChargeState::Discharging;
        }
        if self.state == before {
            &["Percentage", "TimeToEmpty"]
        } else {
            &["Percentage", "State", "TimeToEmpty"]
        }
    }

    /// Seconds until the battery is empty; 0 while it is charging.
    fn time_to_empty(&self) -> i64 {
        match self.state {
            ChargeState::Discharging => (self.percentage / self.profile.drain()) as i64,
            ChargeState::Charging => 0,
        }
    }

    /// Sets the power profile. The caller gets the error
    /// `org.freedesktop.DBus.Error.InvalidArgs` if the name is unknown.
    fn set_profile(&mut self, name: &str) -> Result<(), MethodError> {
        self.profile = BatteryProfile::parse(name).ok_or_else(|| {
            MethodError::invalid_args(format!(
                "there is no power profile \"{name}\", only saver, balanced and performance"
            ))
        })?;
        Ok(())
    }
}

impl ChargeState {
    const fn word(self) -> &'static str {
        match self {
            Self::Discharging => "discharging",
            Self::Charging => "charging",
        }
    }
}

impl BatteryProfile {
    fn parse(name: &str) -> Option<Self> {
        [Self::Saver, Self::Balanced, Self::Performance].into_iter().find(|it| it.word() == name)
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Saver => "saver",
            Self::Balanced => "balanced",
            Self::Performance => "performance",
        }
    }

    /// Power drain in percent per second.
    const fn drain(self) -> f64 {
        match self {
            Self::Saver => 0.125,
            Self::Balanced => 0.25,
            Self::Performance => 0.75,
        }
    }
}

fn interface() -> Result<ServedInterface<Battery>, InterfaceError> {
    ServedInterface::<Battery>::builder("com.example.Battery1")
        .annotate(DOC, "A battery that drains fast enough to watch.")
        .method(
            "SetPowerProfile",
            &["profile"],
            &["time_to_empty"],
            |battery, request, (name,): (String,)| {
                battery.set_profile(&name)?;
                // The signal is sent after the method returned, with the values at that time.
                request.properties_changed(&["PowerProfile", "TimeToEmpty"]);
                Ok((battery.time_to_empty(),))
            },
        )
        .annotate(
            DOC,
            "Sets the profile to saver, balanced or performance; returns the new time to empty.",
        )
        .property("Percentage", |battery| battery.percentage)
        .annotate(DOC, "The charge in percent, from 0 to 100.")
        .property("State", |battery| battery.state.word())
        .annotate(DOC, "Either discharging or charging.")
        .property("TimeToEmpty", Battery::time_to_empty)
        .annotate(DOC, "Seconds until the battery is empty; 0 while it is charging.")
        // The library emits PropertiesChanged after a write by a client.
        .writable_property(
            "PowerProfile",
            |battery| battery.profile.word().to_owned(),
            |battery, name: String| battery.set_profile(&name),
        )
        .annotate(DOC, "One of saver, balanced and performance.")
        .build()
}

const NAME: &str = "com.example.Battery";
const PATH: &str = "/com/example/Battery";

const CHARGE_PER_SECOND: f64 = 2.0;

/// The percentage at which the battery starts to charge.
const LOW: f64 = 5.0;

/// The annotation that tools show as documentation.
const DOC: &str = "org.gtk.GDBus.DocString";

// The state does not depend on the bus, so it is tested without one.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batteries_charge_when_low_and_discharge_when_full() {
        let mut battery = Battery { percentage: LOW + 0.3, ..Battery::new() };
        assert_eq!(battery.pass_second(), ["Percentage", "TimeToEmpty"]);
        assert_eq!(battery.pass_second(), ["Percentage", "State", "TimeToEmpty"]);
        assert_eq!((battery.state, battery.time_to_empty()), (ChargeState::Charging, 0));
        battery.percentage = 99.0;
        assert_eq!(battery.pass_second(), ["Percentage", "State", "TimeToEmpty"]);
        assert_eq!(battery.state, ChargeState::Discharging);
    }

    #[test]
    fn the_power_profile_determines_the_time_to_empty() {
        let mut battery = Battery::new();
        for (name, expected) in [("balanced", 348), ("performance", 116), ("saver", 696)] {
            battery.set_profile(name).unwrap();
            assert_eq!(battery.time_to_empty(), expected, "{name}");
        }
        assert!(battery.set_profile("turbo").unwrap_err().message().contains("turbo"));
        assert_eq!(battery.profile, BatteryProfile::Saver);
    }

    #[test]
    fn the_interface_definition_is_valid() {
        interface().unwrap();
    }
}
