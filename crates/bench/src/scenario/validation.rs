//! What it costs to check bodies.

use clap::Args;

use super::{Effort, LibraryBuilder, Scenario, Subjects, Trial, words};
use crate::buses;
use crate::peer::{BodyValidation, Payload};
use crate::result::{Case, Metric, Setting};
use crate::scenario_info::ScenarioInfo;
use crate::workload::{Call, Inspected};

/// What it costs to check bodies.
#[derive(Clone, PartialEq, Eq, Debug, Default, Args)]
pub struct Validation {
    /// Number of calls [default: 50000]
    #[arg(long, value_name = "N", value_parser = words::count)]
    pub(crate) count: Option<u64>,
    /// Text of each call [default: Hello world]
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
}

impl Scenario for Validation {
    fn info(&self) -> &'static ScenarioInfo {
        &INFO
    }

    fn subjects(&self) -> Subjects {
        Subjects::Buses
    }

    fn trials(&self, effort: Effort, _: &mut LibraryBuilder<'_>) -> Vec<Trial> {
        use buses::BodyValidation as InBus;
        let cases = [
            ("in bus and clients", InBus::On, BodyValidation::On),
            ("in the clients only", InBus::Off, BodyValidation::On),
            ("in the bus only", InBus::On, BodyValidation::Off),
            ("nowhere", InBus::Off, BodyValidation::Off),
        ];
        let text = self.text.as_deref().unwrap_or("Hello world");
        let trial = |(label, bus_validation, body_validation)| {
            let payload = Payload::Text(text.to_owned());
            let count = effort.choose(self.count, 50_000, 50);
            let call = Call::ping_pong(0, count);
            let call = Call { payload, bus_validation, body_validation, ..call };
            let at = [
                ("bus", Setting::from(on_or_off(bus_validation == InBus::On))),
                ("client", on_or_off(body_validation == BodyValidation::On).into()),
            ];
            Trial::new(Case::new(format!("checked {label}"), at), Inspected(call))
        };
        cases.into_iter().map(trial).collect()
    }
}

const fn on_or_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

pub(super) const INFO: ScenarioInfo = ScenarioInfo {
    name: "validation",
    title: "What it costs to check bodies",
    about: "Calls with a short text, which the reply carries back, while the bus, the two clients, \
            both or neither validate the bodies of messages. Buses other than ours always do. Copies \
            and validations are those of one message, a call or a reply; a bus that does not count \
            them has those of the model of libdbus and dbus-daemon: 6 copies and 3 validations.",
    metrics: &[
        Metric::RoundTripUs,
        Metric::CallsPerS,
        Metric::BusCpuUs,
        Metric::BusSystemCalls,
        Metric::KernelCopies,
        Metric::BusCopies,
        Metric::ModelCopies,
        Metric::Validations,
        Metric::ModelValidations,
    ],
};
