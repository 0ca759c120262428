//! L10: a program waits for each reply before it sends the next call.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(10),
    title: "sequential calls",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A program sends a call, waits for the reply, sends the next call at once, and so on. \
              The round trips add up, although the calls could be pending at the same time.",
    thresholds: &[
        Threshold::count("calls in a sequence", CALLS_MIN),
        Threshold::span("from a reply to the next call, at most", APART_MAX),
        Threshold::span("total duration of the calls", TOTAL_MIN)
            .source("users do not notice a shorter delay"),
    ],
    example: "tracker-extract 3.4 waits for each of 39 calls to gvfsd-metadata before it sends the \
              next, 123 ms in total.",
    advice: "Send all calls, then collect the replies. Or add a method to the service that does \
             the work in one call.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.callers().iter().filter_map(|calls| check_caller(lint, calls)).collect()
}

fn check_caller(lint: &LintContext<'_>, calls: &[CapturedMessage<'_>]) -> Option<Finding> {
    let is_long = |row: &&[CapturedMessage<'_>]| row.len() >= CALLS_MIN && waited(row) >= TOTAL_MIN;
    let rows: Vec<_> = calls.chunk_by(follows).filter(is_long).collect();
    let longest = rows.iter().max_by_key(|row| waited(row))?;
    let first = &rows[0][0];
    let all: Vec<_> = rows.concat();
    let finding = lint.of_calls(&all).about("calls-in-a-row").says(format!(
        "waits for each of {} calls before it sends the next, {} in total; the longest sequence \
         begins with {} of {}",
        longest.len(),
        units::span(waited(longest)),
        short_name(&longest[0]),
        lint.callee_label(&longest[0])
    ));
    let finding = finding.costs(Cost::of_waits(rows.iter().map(|row| saved(row))));
    Some(finding.query(format!("{} type:method_call", queries::sent_by(lint, first))))
}

fn follows(one: &CapturedMessage<'_>, next: &CapturedMessage<'_>) -> bool {
    let answered = one.partner().map(|reply| reply.at());
    answered.and_then(|at| next.at().since(at)).is_some_and(|gap| gap <= APART_MAX)
}

fn waited(row: &[CapturedMessage<'_>]) -> Duration {
    row.iter().filter_map(CapturedMessage::duration).sum()
}

/// The time that a sequence would save if all its calls were pending at the same time.
fn saved(row: &[CapturedMessage<'_>]) -> Duration {
    waited(row)
        .saturating_sub(row.iter().filter_map(CapturedMessage::duration).max().unwrap_or_default())
}

const CALLS_MIN: usize = 5;
const APART_MAX: Duration = Duration::from_millis(1);
const TOTAL_MIN: Duration = Duration::from_millis(20);
