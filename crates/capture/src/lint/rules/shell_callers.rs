//! L37: a script starts a command-line tool for each call.

use super::prelude::*;
use crate::model::RecordedPeer;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(37),
    title: "scripts that start a tool for each call",
    rating: Rating::BY_COST,
    needs: Needs::Processes,
    meaning: "A tool such as dbus-send, gdbus, busctl or qdbus is started again and again. Each \
              start costs a process, a connection and an authentication for a single call.",
    thresholds: &[
        Threshold::count("starts of one tool", STARTS_MIN),
        Threshold::span("within", WITHIN),
    ],
    example: "xdg-screensaver 1.1.3 starts dbus-send for each SimulateUserActivity call to \
              org.gnome.ScreenSaver.",
    advice: "Let one process wait for the event (gdbus monitor, busctl wait), or write the script \
             in a language with a D-Bus library.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let tools = lint.capture.directory().peers().filter(|(_, peer)| is_shell_tool(peer));
    let tools: HashMap<_, _> = tools.collect();
    let calls = lint.calls.iter().filter(|call| {
        !call.is_driver_traffic() && call.from().is_some_and(|peer| tools.contains_key(&peer))
    });
    let by_tool = collected(calls.filter_map(|call| Some((program(tools[&call.from()?])?, *call))));
    by_tool.iter().filter_map(|(tool, calls)| check_tool(lint, tool, calls)).collect()
}

/// Returns true if the connection belongs to a tool that makes one call and exits.
pub(super) fn is_shell_tool(peer: &RecordedPeer) -> bool {
    program(peer).is_some_and(|comm| TOOLS.contains(&comm))
}

fn program(peer: &RecordedPeer) -> Option<&str> {
    peer.process.as_ref().and_then(|process| process.comm.as_deref())
}

fn check_tool(
    lint: &LintContext<'_>,
    tool: &str,
    calls: &[CapturedMessage<'_>],
) -> Option<Finding> {
    let firsts: Vec<_> =
        grouped(calls, CapturedMessage::sender_id).iter().map(|calls| calls[0]).collect();
    let first = &firsts[0];
    (busiest(&firsts, WITHIN).len() >= STARTS_MIN).then(|| {
        let finding = Finding::new(lint.named(tool)).about(lint.callee_stable(first));
        let finding = finding.shown_by(&firsts).costs(Cost::of_calls(&firsts)).says(format!(
            "was started {} times, first to call {} of {}",
            firsts.len(),
            short_name(first),
            lint.callee_label(first)
        ));
        finding.query(format!("from:{tool}"))
    })
}

const TOOLS: [&str; 7] =
    ["dbus-send", "gdbus", "busctl", "qdbus", "qdbus6", "qdbus-qt5", "dbus-test-tool"];
const STARTS_MIN: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);
