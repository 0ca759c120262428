//! L40: calls of several callers that queue in one service.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(40),
    title: "calls queued in a service",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "Calls of several programs wait in one service at the same time. The service handles \
              them one by one, so the last caller waits for all calls before it. Calls that waited \
              for the service to start are not counted.",
    thresholds: &[
        Threshold::count("pending calls in one service", WAITING_MIN),
        Threshold::span("time for which they are pending together", WAITING_FOR),
        Threshold::count("different callers", CALLERS_MIN),
    ],
    example: "kded5 5.103 let up to 19 calls of several programs wait for up to 33 s. \
              gnome-session 43 let 19 wait for 450 ms.",
    advice: "Start slow work in the handler and reply when the work is done. Then quick calls do \
             not wait for slow ones.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.callees().iter().filter_map(|calls| check_service(lint, calls)).collect()
}

/// A period in which at least [`WAITING_MIN`] calls waited.
struct Crowd<'c> {
    since: RecordedTime,
    until: RecordedTime,
    most: usize,
    calls: Vec<CapturedMessage<'c>>,
}

fn check_service(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let crowds: Vec<_> = crowds(calls).into_iter().filter(is_line).collect();
    let worst = crowds.iter().max_by_key(|crowd| crowd.most)?;
    let waiting: Vec<_> = crowds.iter().flat_map(|crowd| &crowd.calls).copied().collect();
    let lasted = crowds.iter().filter_map(|it| it.until.since(it.since)).max().unwrap_or_default();
    let first = &worst.calls[0];
    Some(
        Finding::new(lint.party(lint.callee(first)))
            .about("line")
            .says(format!(
                "let up to {} calls wait at once, for up to {}, {}",
                worst.most,
                units::span(lasted),
                units::counted(crowds.len() as u64, "time")
            ))
            .shown_by(&waiting)
            .costs(Cost::of_waiting(&waiting))
            .query(format!("{} dur>50ms", queries::term("to", &lint.party(lint.callee(first))))),
    )
}

fn is_line(crowd: &Crowd<'_>) -> bool {
    let callers: HashSet<_> = crowd.calls.iter().map(CapturedMessage::sender_id).collect();
    callers.len() >= CALLERS_MIN
        && crowd.until.since(crowd.since).is_some_and(|span| span >= WAITING_FOR)
}

/// The periods in which at least [`WAITING_MIN`] calls waited at once, with these calls.
fn crowds<'c>(calls: &[CapturedMessage<'c>]) -> Vec<Crowd<'c>> {
    let mut found: Vec<Crowd<'c>> = Vec::new();
    let mut waiting: BTreeMap<(RecordedTime, usize), CapturedMessage<'c>> = BTreeMap::new();
    let mut open: Option<Crowd<'c>> = None;
    for (place, call) in calls.iter().enumerate() {
        let Some(over) = call.partner().map(|reply| reply.at()) else { continue };
        if call.waited_for_start().is_some() {
            continue;
        }
        settle(&mut waiting, call.at(), &mut open, &mut found);
        waiting.insert((over, place), *call);
        if waiting.len() >= WAITING_MIN {
            let start = || Crowd { since: call.at(), until: over, most: 0, calls: Vec::new() };
            let crowd = open.get_or_insert_with(start);
            let fresh = crowd.calls.is_empty().then(|| waiting.values().copied());
            match fresh {
                Some(all) => crowd.calls.extend(all),
                None => crowd.calls.push(*call),
            }
            crowd.most = crowd.most.max(waiting.len());
        }
    }
    settle(&mut waiting, RecordedTime(i64::MAX), &mut open, &mut found);
    found
}

/// Removes the calls that got their replies before `now`, and closes the open crowd when fewer than
/// [`WAITING_MIN`] are left.
fn settle<'c>(
    waiting: &mut BTreeMap<(RecordedTime, usize), CapturedMessage<'c>>,
    now: RecordedTime,
    open: &mut Option<Crowd<'c>>,
    found: &mut Vec<Crowd<'c>>,
) {
    while let Some(entry) = waiting.first_entry().filter(|entry| entry.key().0 <= now) {
        let (over, _) = *entry.key();
        entry.remove();
        if waiting.len() < WAITING_MIN {
            found.extend(open.take().map(|crowd| Crowd { until: over, ..crowd }));
        }
    }
}

const WAITING_MIN: usize = 4;
const WAITING_FOR: Duration = Duration::from_millis(100);
const CALLERS_MIN: usize = 2;
