//! L36: a program makes many short-lived connections.

use super::prelude::*;
use super::shell_callers::is_shell_tool;
use crate::lint::finding::FindingParty;
use crate::model::RecordedPeer;
use crate::record::RecordedProcess;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(36),
    title: "short-lived connections",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "Connections are made at a high rate, and most close after a call or two. Each costs \
              an authentication, a Hello call, and two NameOwnerChanged signals that wake every \
              program that watches all names. L37 reports tools that shell scripts start.",
    thresholds: &[
        Threshold::count("short-lived connections", CONNECTIONS_MIN),
        Threshold::span("within", WITHIN),
        Threshold::span("lifetime of such a connection, at most", SHORT),
        Threshold::count("its calls, except calls to the bus itself, at most", CALLS_MAX),
    ],
    example: "playerctl 2.4.1 connects to the system bus and disconnects again, once for each \
              command: 24 times in a script.",
    advice: "Keep one connection for the life of the program. Do not start a tool for each call.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    let mut calls: HashMap<RecordedPeerId, usize> = HashMap::default();
    for call in lint.calls.iter().filter(|call| !call.is_driver_traffic()) {
        if let Some(peer) = call.from() {
            *calls.entry(peer).or_default() += 1;
        }
    }
    let brief = lint.capture.directory().peers().filter(|(id, peer)| {
        is_brief(peer)
            && !lint.lacks_headers(peer.bus)
            && !is_shell_tool(peer)
            && !lint.is_observer(*id)
            && calls.get(id).is_none_or(|&count| count <= CALLS_MAX)
    });
    let by_program =
        collected(brief.map(|(id, peer)| ((peer.bus, ChurningProgram::of(peer)), (id, peer))));
    by_program
        .iter()
        .filter_map(|((_, program), peers)| check_program(lint, *program, peers))
        .collect()
}

fn is_brief(peer: &RecordedPeer) -> bool {
    let lasted = peer.arrived.zip(peer.left).and_then(|(arrived, left)| left.since(arrived));
    peer.names.is_empty() && lasted.is_some_and(|span| span <= SHORT)
}

/// The program by which connections are grouped.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ChurningProgram<'c> {
    /// A program with this name.
    Named(&'c str),
    /// One process of an unnamed program, by its pid.
    Process(u32),
    /// The processes of the connections are unknown.
    Unknown,
}

impl<'c> ChurningProgram<'c> {
    fn of(peer: &'c RecordedPeer) -> Self {
        let process = peer.process.as_ref();
        let name = process.and_then(RecordedProcess::program);
        let pid = || process.and_then(|process| process.pid);
        name.map(Self::Named).or_else(|| pid().map(Self::Process)).unwrap_or(Self::Unknown)
    }
}

fn check_program(
    lint: &LintContext<'_>,
    program: ChurningProgram<'_>,
    peers: &[(RecordedPeerId, &RecordedPeer)],
) -> Option<Finding> {
    let mut times: Vec<_> = peers.iter().filter_map(|(_, peer)| peer.arrived).collect();
    times.sort_unstable();
    let is_dense =
        |few: &[RecordedTime]| few[few.len() - 1].since(few[0]).is_some_and(|span| span <= WITHIN);
    if !times.windows(CONNECTIONS_MIN).any(is_dense) {
        return None;
    }
    let (id, first) = peers[0];
    let party = match program {
        ChurningProgram::Named(comm) => lint.named(comm),
        ChurningProgram::Process(_) => lint.party(TrafficParty::Peer(id)),
        ChurningProgram::Unknown => {
            FindingParty { stable: String::from("-"), ..lint.named("unknown programs") }
        }
    };
    let query = match program {
        ChurningProgram::Named(_) => queries::term("from", &party),
        ChurningProgram::Process(pid) => format!("pid:{pid}"),
        ChurningProgram::Unknown => String::from("member:Hello"),
    };
    let (unknown, confidence) = match program {
        ChurningProgram::Named(_) | ChurningProgram::Process(_) => ("", Confidence::High),
        ChurningProgram::Unknown => (
            "; their processes were not recorded, so they may be several programs",
            Confidence::Low,
        ),
    };
    let shown = lint.capture.messages().filter(|it| it.from() == Some(id)).map(|it| it.id());
    Some(
        Finding::new(party)
            .about("connections")
            .says(format!(
                "connected and disconnected {} times, the first time as {}{unknown}",
                peers.len(),
                lint.capture.strings().get(first.unique)
            ))
            .confidence(confidence)
            .evidence(Evidence { count: peers.len() as u64, ..Evidence::of(shown) })
            .costs(Cost { calls: peers.len() as u64, ..Cost::default() })
            .query(query),
    )
}

const CONNECTIONS_MIN: usize = 20;
const WITHIN: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_secs(5);
const CALLS_MAX: usize = 3;
