//! The progress bar of a run, on a terminal.

use std::fmt;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress bar of a run. If standard error is not a terminal, it shows nothing.
#[derive(Debug)]
pub(super) struct RunProgress {
    bar: ProgressBar,
}

/// The current step of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunStep<'a> {
    /// The name of the scenario.
    pub scenario: &'a str,
    /// The label of the case.
    pub case: &'a str,
    pub round: u32,
    /// The total number of rounds.
    pub rounds: u32,
    /// The name of the subject.
    pub subject: &'a str,
}

impl RunProgress {
    /// Creates a bar with this number of steps: one for each subject, case and round.
    pub(super) fn new(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is fixed");
        bar.set_style(style.progress_chars(CHARS));
        // Updates the clock during a long measurement only once a second, to disturb it little.
        bar.enable_steady_tick(Duration::from_secs(1));
        Self { bar }
    }

    /// Shows the step that is about to be measured.
    pub(super) fn at(&self, step: RunStep<'_>) {
        self.bar.set_message(step.to_string());
    }

    /// Advances the bar by one step.
    pub(super) fn done(&self) {
        self.bar.inc(1);
    }

    /// Calls a function that prints while the bar is hidden.
    pub(super) fn without_bar<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl fmt::Display for RunStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, case, round, rounds, subject } = self;
        write!(f, "{scenario}, {case}, round {round} of {rounds}: {subject}")
    }
}

/// The bar does not fill the line, so that redrawing it overwrites the `^C` that a terminal echoes.
const TEMPLATE: &str = "{bar:16} {percent:>3}% {elapsed} (about {eta} left)  {msg}";

/// The characters of the bar: done, its end, and to do.
const CHARS: &str = "█▌ ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_step_shows_scenario_case_round_and_subject() {
        let step = RunStep {
            scenario: "fan-out",
            case: "10 signals to 100",
            round: 3,
            rounds: 7,
            subject: "dbus-broker",
        };
        assert_eq!(step.to_string(), "fan-out, 10 signals to 100, round 3 of 7: dbus-broker");
    }

    #[test]
    fn progress_bar_prints_without_a_terminal() {
        let progress = RunProgress::new(2);
        progress.done();
        assert_eq!(progress.without_bar(|| 7), 7);
        progress.finish();
    }
}
