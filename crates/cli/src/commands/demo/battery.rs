//! A battery: a small service with properties that change all the time.

use std::time::Duration;

use client::{Connection, Interface, InterfaceError, MethodError};

use super::{DOC, DemoError, serve, take_name};

/// Serves the battery.
pub(super) fn play(bus: &Connection) -> Result<(), DemoError> {
    let battery = bus.add_object(PATH, &interface()?, Battery::new())?;
    take_name(bus, NAME)?;
    serve(
        bus,
        Duration::from_secs(1),
        || Ok(()),
        || {
            let changed = battery.state().pass_second();
            battery.properties_changed(changed);
            Ok(())
        },
    )
}

/// A battery that drains fast enough to watch.
#[derive(Clone, PartialEq, Debug)]
struct Battery {
    /// From 0 to 100.
    percentage: f64,
    charge: Charge,
    profile: Profile,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Charge {
    Draining,
    Charging,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    Saver,
    Balanced,
    Performance,
}

impl Battery {
    const fn new() -> Self {
        Self { percentage: 87.0, charge: Charge::Draining, profile: Profile::Balanced }
    }

    /// Lets a second pass, and says which properties have changed by it.
    fn pass_second(&mut self) -> &'static [&'static str] {
        let before = self.charge;
        match self.charge {
            Charge::Draining => self.percentage -= self.profile.drain(),
            Charge::Charging => self.percentage += CHARGE_PER_SECOND,
        }
        self.percentage = self.percentage.clamp(0.0, 100.0);
        if self.percentage <= LOW {
            self.charge = Charge::Charging;
        } else if self.percentage >= 100.0 {
            self.charge = Charge::Draining;
        }
        if self.charge == before {
            &["Percentage", "TimeToEmpty"]
        } else {
            &["Percentage", "State", "TimeToEmpty"]
        }
    }

    /// In seconds; 0 while it is charged.
    fn time_to_empty(&self) -> i64 {
        match self.charge {
            Charge::Draining => (self.percentage / self.profile.drain()) as i64,
            Charge::Charging => 0,
        }
    }

    fn choose(&mut self, name: &str) -> Result<(), MethodError> {
        self.profile = Profile::parse(name).ok_or_else(|| {
            MethodError::invalid_args(format!(
                "there is no power profile \"{name}\", only saver, balanced and performance"
            ))
        })?;
        Ok(())
    }
}

impl Charge {
    const fn word(self) -> &'static str {
        match self {
            Self::Draining => "discharging",
            Self::Charging => "charging",
        }
    }
}

impl Profile {
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

    /// Percent a second.
    const fn drain(self) -> f64 {
        match self {
            Self::Saver => 0.125,
            Self::Balanced => 0.25,
            Self::Performance => 0.75,
        }
    }
}

fn interface() -> Result<Interface<Battery>, InterfaceError> {
    Interface::<Battery>::builder("com.example.Battery1")
        .annotate(DOC, "A battery that drains fast enough to watch.")
        .method(
            "SetPowerProfile",
            &["profile"],
            &["time_to_empty"],
            |battery, call, (name,): (String,)| {
                battery.choose(&name)?;
                call.properties_changed(&["PowerProfile", "TimeToEmpty"]);
                Ok((battery.time_to_empty(),))
            },
        )
        .annotate(DOC, "Chooses saver, balanced or performance; tells the seconds that are left.")
        .property("Percentage", |battery| battery.percentage)
        .annotate(DOC, "How full it is, from 0 to 100.")
        .property("State", |battery| battery.charge.word())
        .annotate(DOC, "discharging or charging.")
        .property("TimeToEmpty", Battery::time_to_empty)
        .annotate(DOC, "Seconds that are left; 0 while it is charging.")
        .writable_property(
            "PowerProfile",
            |battery| battery.profile.word().to_owned(),
            |battery, name: String| battery.choose(&name),
        )
        .annotate(DOC, "saver, balanced or performance.")
        .build()
}

const NAME: &str = "com.example.Battery";
const PATH: &str = "/com/example/Battery";

const CHARGE_PER_SECOND: f64 = 2.0;

/// The percentage at which somebody plugs it in.
const LOW: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_drains_and_is_charged_again() {
        let mut battery = Battery { percentage: LOW + 0.3, ..Battery::new() };
        assert_eq!(battery.pass_second(), ["Percentage", "TimeToEmpty"]);
        assert_eq!(battery.pass_second(), ["Percentage", "State", "TimeToEmpty"]);
        assert_eq!((battery.charge, battery.time_to_empty()), (Charge::Charging, 0));
        battery.percentage = 99.0;
        assert_eq!(battery.pass_second(), ["Percentage", "State", "TimeToEmpty"]);
        assert_eq!(battery.charge, Charge::Draining);
    }

    #[test]
    fn the_profile_decides_how_long_it_lasts() {
        let mut battery = Battery::new();
        for (name, expected) in [("balanced", 348), ("performance", 116), ("saver", 696)] {
            battery.choose(name).unwrap();
            assert_eq!(battery.time_to_empty(), expected, "{name}");
        }
        assert!(battery.choose("turbo").unwrap_err().message().contains("turbo"));
        assert_eq!(battery.profile, Profile::Saver);
    }

    #[test]
    fn the_interface_is_sound() {
        interface().unwrap();
    }
}
