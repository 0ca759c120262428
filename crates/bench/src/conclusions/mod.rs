//! Conclusions from the figures of a scenario, as sentences.
//!
//! The sentences are computed from the medians and spreads of a [`ScenarioSummary`] alone. A
//! difference is reported only if it is larger than the noise between the rounds (`noise`).

mod buses;
mod copies;
mod floor;
mod noise;
mod read_buffer;
mod validation;
mod wire_size;

use crate::result::{Metric, MetricUnit};
use crate::scenario_info::ScenarioHeading;
use crate::summary::{CaseComparison, MetricRow, ScenarioSummary};

/// Returns the conclusions of a scenario, one or two sentences each.
pub(crate) fn conclusions(
    heading: &ScenarioHeading<'_>,
    scenario: &ScenarioSummary,
) -> Vec<String> {
    let mut sentences: Vec<String> = wire_size::sentences(scenario).into_iter().collect();
    sentences.extend(copies::sentences(scenario));
    let compared: Vec<String> = [
        read_buffer::sentences(scenario),
        validation::sentences(scenario),
        buses::sentences(heading, scenario),
        floor::sentences(heading, scenario),
    ]
    .concat();
    if noise::is_measurable(scenario) {
        sentences.extend(read_buffer::scope(scenario));
        sentences.extend(compared);
    } else if !compared.is_empty() {
        sentences.push(noise::TOO_FEW_ROUNDS.to_owned());
    }
    sentences
}

/// The first word of a sentence about an implausible measurement.
pub(crate) const WARNING: &str = "Warning:";

/// Returns the first metric of each case, if it is a time or a rate.
fn main_rows<'a>(
    heading: &ScenarioHeading<'_>,
    scenario: &'a ScenarioSummary,
) -> Vec<MetricRow<'a>> {
    let main = |comparison: &'a CaseComparison| comparison.rows(&heading.metrics).next();
    let rows = scenario.comparisons.iter().filter_map(main);
    rows.filter(|row| is_speed(row.metric)).collect()
}

const fn is_speed(metric: Metric) -> bool {
    matches!(
        metric.info().unit,
        MetricUnit::Nanoseconds
            | MetricUnit::Microseconds
            | MetricUnit::Milliseconds
            | MetricUnit::MibPerSecond
            | MetricUnit::PerSecond
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{BenchCase, BenchRecord, BenchSample};
    use crate::scenario_info::ScenarioInfo;
    use crate::summary::RunSummary;

    static INFO: ScenarioInfo =
        ScenarioInfo { name: "s", title: "s", about: "", metrics: &[Metric::RoundTripUs] };

    /// Samples of three rounds that differ by one percent.
    fn rounds(case: &BenchCase, subject: &str, figures: &[(Metric, f64)]) -> Vec<BenchRecord> {
        let sample = |round: u32| {
            let noise = 1.0 + (f64::from(round) - 2.0) / 100.0;
            let is_time = |metric: Metric| metric == Metric::RoundTripUs;
            let figures = figures
                .iter()
                .map(|(metric, value)| {
                    (*metric, if is_time(*metric) { value * noise } else { *value })
                })
                .collect();
            let (scenario, case, subject) = ("s".to_owned(), case.clone(), subject.to_owned());
            BenchRecord::Sample(BenchSample {
                scenario,
                case,
                subject,
                round,
                figures,
                disturbance: 0.0,
            })
        };
        (1..=3).map(sample).collect()
    }

    fn conclusions_of(records: &[BenchRecord]) -> Vec<String> {
        let summary = RunSummary::of(records);
        conclusions(&ScenarioHeading::new(&INFO), &summary.scenarios[0])
    }

    fn time(case: &BenchCase, subject: &str, us: f64) -> Vec<BenchRecord> {
        rounds(case, subject, &[(Metric::RoundTripUs, us)])
    }

    #[test]
    fn figures_of_one_round_are_not_compared() {
        let case = BenchCase::new("1 B", []);
        let mut records = time(&case, "diligence", 10.0);
        records.extend(time(&case, "busd", 20.0));
        assert_eq!(conclusions_of(&records), ["diligence is 2.00 times (at 1 B) as fast as busd."]);
        records.retain(|record| matches!(record, BenchRecord::Sample(sample) if sample.round == 1));
        assert_eq!(conclusions_of(&records), [noise::TOO_FEW_ROUNDS]);
    }

    #[test]
    fn buses_are_compared_case_by_case() {
        let cases = ["1 B", "1 kB", "1 MB"].map(|label| BenchCase::new(label, []));
        let records: Vec<_> = [(10.0, 20.0), (10.0, 10.1), (30.0, 20.0)]
            .into_iter()
            .zip(&cases)
            .flat_map(|((ours, theirs), case)| {
                [time(case, "diligence", ours), time(case, "busd", theirs)].concat()
            })
            .collect();
        let expected = "diligence is 2.00 times (at 1 B) as fast as busd; busd is 1.50 times (at 1 MB) \
                        as fast as diligence; diligence and busd do not differ beyond noise in 1 of 3 \
                        cases.";
        assert_eq!(conclusions_of(&records), [expected]);
    }

    #[test]
    fn bus_faster_than_the_floor_causes_a_warning() {
        let case = BenchCase::new("1 B", []);
        let of = |floor: f64| {
            conclusions_of(&[time(&case, "floor", floor), time(&case, "diligence", 100.0)].concat())
        };
        let near = "A process that only reads and writes (floor) takes 80 % of the time that diligence takes.";
        assert_eq!(of(80.0), [near]);
        let level = near.replace("80 %", "100 %");
        assert_eq!(of(104.0), [&*level], "clients differ by so much");
        let warning = "Warning: a bus is faster than the floor, which is impossible: diligence at 1 B. Do \
                       not rely on the floor in these cases.";
        assert_eq!(of(120.0), [&*level, warning]);
    }

    #[test]
    fn wire_sizes_are_stated_for_both_directions() {
        let figures = [(Metric::CallBytes, 1140.0), (Metric::ReplyBytes, 1072.0)];
        let case = |reply: &str| {
            BenchCase::new("1 kB", [("size", 1000_u64.into()), ("reply", reply.into())])
        };
        assert_eq!(
            conclusions_of(&rounds(&case("echo"), "diligence", &figures)),
            ["On the wire, a call is 140 B larger than its payload, and its reply 72 B larger."]
        );
        assert_eq!(
            conclusions_of(&rounds(&case("empty"), "diligence", &figures)),
            ["On the wire, a call is 140 B larger than its payload, and its reply is 1,072 B."]
        );
        assert_eq!(
            conclusions_of(&rounds(&BenchCase::new("call", []), "diligence", &figures)),
            ["On the wire, a call is 1,140 B, and its reply 1,072 B."]
        );
    }

    #[test]
    fn counted_copies_are_distinguished_from_modeled_copies() {
        let case = BenchCase::new("1 to 10", [("recipients", 10_u64.into())]);
        let counted =
            [(Metric::KernelCopies, 22.0), (Metric::BusCopies, 11.0), (Metric::Validations, 1.0)];
        let model = [(Metric::ModelCopies, 24.0), (Metric::ModelValidations, 21.0)];
        let records =
            [rounds(&case, "diligence", &counted), rounds(&case, "dbus-daemon", &model)].concat();
        assert_eq!(
            conclusions_of(&records),
            [
                "With 10 recipients, a message through diligence is copied 34 times (once by the sender, 22 by the \
             kernel, 11 in the memory of the bus), which is 3.40 copies per delivery. These figures were counted.",
                "With 10 recipients, the other buses do not count copies; according to the model of \
             libdbus and dbus-daemon, they make 24 copies of a message (2.40 per delivery) and 21 \
             validations.",
                "Validations of a message through diligence, in the bus and clients: 1.",
            ]
        );
    }

    #[test]
    fn validation_cost_is_the_time_saved_without_it() {
        let at = |bus: &str, client: &str| {
            BenchCase::new(
                format!("{bus} {client}"),
                [("bus", bus.into()), ("client", client.into())],
            )
        };
        let records = [
            time(&at("on", "on"), "diligence", 100.0),
            time(&at("off", "on"), "diligence", 90.0),
            time(&at("on", "off"), "diligence", 99.0),
            time(&at("off", "off"), "diligence", 80.0),
        ];
        let expected = "A call through diligence without validation: in the bus 10 µs less (10 %), in \
                        the clients no difference beyond noise, in both 20 µs less (20 %).";
        assert_eq!(conclusions_of(&records.concat()), [expected]);
    }

    #[test]
    fn read_buffers_are_compared_by_size() {
        let at = |size: u64, buffer: &str| {
            BenchCase::new(
                format!("{size} {buffer}"),
                [("size", size.into()), ("read_buffer", buffer.into())],
            )
        };
        let records = [
            time(&at(1, "2048"), "dbus-daemon", 10.0),
            time(&at(1000, "2048"), "dbus-daemon", 100.0),
            time(&at(1, "65536"), "dbus-daemon", 10.0),
            time(&at(1000, "65536"), "dbus-daemon", 72.0),
        ];
        assert_eq!(
            conclusions_of(&records.concat()),
            [
                "The read buffer was varied in the two clients; full reads return up to 256 KiB, or the rest of a \
             message. The read buffer of these buses is fixed: dbus-daemon reads 2 KiB at once.",
                "dbus-daemon, reads of 65536 B instead of reads of 2048 B: 28 % less time from 1 kB on; \
             otherwise no difference beyond noise.",
            ]
        );
    }
}
