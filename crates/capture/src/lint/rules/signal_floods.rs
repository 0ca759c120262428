//! L22: a service emits one signal at an excessive rate.

use super::prelude::*;

pub(crate) const RULE: LintRule = LintRule {
    id: LintRuleId(22),
    title: "signal floods",
    rating: Rating::BY_COST,
    needs: Needs::Messages,
    meaning: "A service broadcasts the same signal at a high rate, or in large bursts. Each signal \
              wakes every subscriber, and subscribers read far more values than they can show.",
    thresholds: &[
        Threshold::rate("rate of such signals", RATE_MIN as u64),
        Threshold::span("in every second of a period of", SUSTAINED),
        Threshold::count("or signals in a burst", BURST_MIN),
        Threshold::span("duration of the burst, at most", BURST),
    ],
    example: "firewalld 1.3 emits config.ServiceAdded 221 times in one second when it starts. \
              systemd 252 emits up to 392 PropertiesChanged signals in one second while a session \
              starts.",
    advice: "Collect changes and emit them once per iteration of the main loop, or ten times per \
             second. One PropertiesChanged can carry many properties. Do not announce values that \
             change all the time: annotate them with EmitsChangedSignal=false.",
    check,
};

fn check(lint: &LintContext<'_>) -> Vec<Finding> {
    lint.broadcasts().iter().filter_map(|signals| check_member(lint, signals)).collect()
}

fn check_member(lint: &LintContext<'_>, signals: &[CapturedMessage<'_>]) -> Option<Finding> {
    let first = &signals[0];
    let is_long = lint.recorded(first.bus()) >= SUSTAINED;
    let sustained = if is_long { sustained_rate(signals) } else { 0 };
    let burst = busiest(signals, BURST).len();
    if sustained < RATE_MIN && burst < BURST_MIN {
        return None;
    }
    let objects: HashSet<_> = signals.iter().map(CapturedMessage::path_id).collect();
    let pace = match sustained >= RATE_MIN {
        true => format!("at {sustained}/s or more for {}", units::span(SUSTAINED)),
        false => format!("up to {burst} times in one second"),
    };
    Some(lint.of_signals(signals).says(format!(
        "emits {} {pace}, {} in total, from {}",
        short_name(first),
        units::grouped(signals.len() as u64),
        units::counted(objects.len() as u64, "object")
    )))
}

/// The highest rate per second that is reached in every second of some period of [`SUSTAINED`].
fn sustained_rate(signals: &[CapturedMessage<'_>]) -> usize {
    let mut times: Vec<_> = signals.iter().map(CapturedMessage::at).collect();
    times.sort_unstable();
    // For each second of the period, the index of the first signal after it.
    let mut ends = [0; SUSTAINED.as_secs() as usize];
    let rate_from = |(place, start): (usize, &RecordedTime)| {
        let mut until = *start;
        let mut from = place;
        let mut lowest = usize::MAX;
        for end in &mut ends {
            until = until.after(SECOND);
            while times.get(*end).is_some_and(|&time| time < until) {
                *end += 1;
            }
            lowest = lowest.min(*end - from);
            from = *end;
        }
        lowest
    };
    times.iter().enumerate().map(rate_from).max().unwrap_or_default()
}

const SECOND: Duration = Duration::from_secs(1);
const RATE_MIN: usize = 10;
const SUSTAINED: Duration = Duration::from_secs(5);
const BURST_MIN: usize = 100;
const BURST: Duration = Duration::from_secs(1);
