//! States how often a message is copied and validated.

use crate::number::significant;
use crate::result::Metric;
use crate::summary::{CaseComparison, ScenarioSummary, SubjectOutcome, SubjectRole};
use crate::wording::{capitalized, distinct};

/// Returns the counted copies, then the copies according to the model, then the validations. A
/// sentence that applies to several cases appears once.
pub(super) fn sentences(scenario: &ScenarioSummary) -> Vec<String> {
    let of_case = |comparison: &CaseComparison| {
        let counted = comparison.outcomes.iter().filter_map(|it| counted(comparison, it));
        counted.chain(modeled(comparison)).map(|text| capitalized(&text)).collect::<Vec<_>>()
    };
    let copies = scenario.comparisons.iter().flat_map(of_case);
    let validations = scenario.subjects.iter().filter_map(|it| validations(scenario, it));
    distinct(copies.chain(validations))
}

/// Describes how often a bus and the recipients validate a message.
fn validations(scenario: &ScenarioSummary, subject: &str) -> Option<String> {
    let found = |comparison: &CaseComparison| {
        let figure = comparison.find(subject)?.figures.get(&Metric::Validations)?;
        Some((comparison.case.label.clone(), significant(figure.median)))
    };
    let found: Vec<(String, String)> = scenario.comparisons.iter().filter_map(found).collect();
    let counts = distinct(found.iter().map(|(_, count)| count.clone()));
    let counts = match &counts[..] {
        [] => return None,
        [count] => count.clone(),
        _ => {
            let cases = found.iter().map(|(case, count)| format!("{count} ({case})"));
            cases.collect::<Vec<_>>().join(", ")
        }
    };
    Some(format!("Validations of a message through {subject}, in the bus and clients: {counts}."))
}

fn counted(comparison: &CaseComparison, outcome: &SubjectOutcome) -> Option<String> {
    let figure = |metric: Metric| Some(outcome.figures.get(&metric)?.median);
    let kernel = figure(Metric::KernelCopies)?;
    let bus = figure(Metric::BusCopies)?;
    let deliveries = kernel / 2.0 - 1.0;
    let all = BY_SENDER + kernel + bus;
    Some(format!(
        "{}a message through {} is copied {} times (once by the sender, {} by the kernel, {} in \
         the memory of the bus), which is {} copies per delivery. These figures were counted.",
        recipients(comparison),
        outcome.subject,
        significant(all),
        significant(kernel),
        significant(bus),
        significant(all / deliveries),
    ))
}

/// Describes the copies of buses that do not count, according to the model.
fn modeled(comparison: &CaseComparison) -> Option<String> {
    let modeled = |metric: Metric| {
        let outcomes =
            comparison.outcomes.iter().filter(|it| SubjectRole::of(&it.subject).is_bus());
        outcomes.filter_map(|outcome| outcome.figures.get(&metric)).map(|it| it.median).next()
    };
    let copies = modeled(Metric::ModelCopies)?;
    let validations = modeled(Metric::ModelValidations)?;
    let deliveries = copies / 2.0 - 2.0;
    Some(format!(
        "{}the other buses do not count copies; according to the model of libdbus and dbus-daemon, they make {} \
         copies of a message ({} per delivery) and {} validations.",
        recipients(comparison),
        significant(copies),
        significant(copies / deliveries),
        significant(validations),
    ))
}

/// The sender copies the arguments of each message once, to assemble the message. The model counts
/// this copy, too.
const BY_SENDER: f64 = 1.0;

fn recipients(comparison: &CaseComparison) -> String {
    comparison
        .case
        .number("recipients")
        .map(|recipients| format!("With {recipients} recipients, "))
        .unwrap_or_default()
}
