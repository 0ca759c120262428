//! L07: a program reads the properties of an object one by one.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(7),
    title: "many Get calls instead of one GetAll",
    rating: Rating::BY_COST,
    needs: Needs::Bodies,
    meaning: "A program reads several properties of one object one by one. Each Get costs a round \
              trip.",
    thresholds: &[
        Threshold::count("different properties read", PROPERTIES_MIN),
        Threshold::span("within", WITHIN),
    ],
    example: "kded5 5.103 and plasmashell 5.27 read four properties of each NetworkManager.Device \
              with four Get calls.",
    advice: "Read all properties with one GetAll, and keep the values up to date from \
             PropertiesChanged.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let gets =
        lint.calls.iter().filter(|call| call.member() == "Get" && call.interface() == PROPERTIES);
    let by_object =
        grouped(gets, |call| (call.bus(), call.sender_id(), call.destination_id(), call.path_id()));
    let runs = by_object.iter().filter(|gets| busiest(gets, WITHIN).len() >= PROPERTIES_MIN);
    let asked = runs.flat_map(|gets| run_of_properties(lint, gets));
    let asked = asked
        .map(|run| ((run.call.sender_id(), run.call.destination_id(), run.interface.clone()), run));
    collected(asked).iter().map(|((_, _, interface), runs)| report(lint, interface, runs)).collect()
}

struct PropertyGetRun<'c> {
    call: CapturedMessage<'c>,
    interface: String,
    calls: Vec<CapturedMessage<'c>>,
    properties: usize,
}

/// For each interface, the busiest stretch of `Get` calls, if it reads [`PROPERTIES_MIN`] different
/// properties.
fn run_of_properties<'c>(
    lint: &LintContext<'c>,
    gets: &[CapturedMessage<'c>],
) -> Vec<PropertyGetRun<'c>> {
    let asked = gets.iter().filter_map(|call| {
        let [interface, property] = <[String; 2]>::try_from(lint.texts(call)).ok()?;
        Some((interface, (property, *call)))
    });
    let runs = collected(asked).into_iter().filter_map(|(interface, asked)| {
        let calls: Vec<_> = asked.iter().map(|(_, call)| *call).collect();
        let run = busiest(&calls, WITHIN);
        let start = calls.iter().position(|call| call.id() == run[0].id())?;
        let names: HashSet<_> =
            asked[start..start + run.len()].iter().map(|(name, _)| name).collect();
        let properties = names.len();
        let run = PropertyGetRun { call: run[0], interface, calls: calls.clone(), properties };
        (properties >= PROPERTIES_MIN).then_some(run)
    });
    runs.collect()
}

fn report(lint: &LintContext<'_>, interface: &str, runs: &[PropertyGetRun<'_>]) -> Finding {
    let first = &runs[0].call;
    let calls: Vec<_> = runs.iter().flat_map(|run| &run.calls).copied().collect();
    let most = runs.iter().map(|run| run.properties).max().unwrap_or(0);
    let objects = units::counted(runs.len() as u64, "object");
    lint.of_calls(&calls).about(format!("{} {interface}", lint.callee_stable(first))).says(format!(
        "reads up to {most} properties of {interface} from {} one by one, on {objects}",
        lint.callee_label(first)
    ))
}

const PROPERTIES_MIN: usize = 3;
const WITHIN: Duration = Duration::from_secs(1);
