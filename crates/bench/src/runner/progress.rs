//! A bar that shows how far a run is, on the standard error of a terminal.

use std::fmt;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar for a run. If standard error is not a terminal, it shows nothing.
#[derive(Debug)]
pub(super) struct RunProgress {
    bar: ProgressBar,
}

/// What is measured at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunStep<'a> {
    /// The name of the scenario.
    pub scenario: &'a str,
    /// The label of the case.
    pub case: &'a str,
    pub round: u32,
    /// How many rounds there are.
    pub rounds: u32,
    /// The name of the subject.
    pub subject: &'a str,
}

impl RunProgress {
    /// A bar for so many steps: one for each subject, case and round.
    pub(super) fn new(steps: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is fixed");
        bar.set_style(style.progress_chars(CHARS));
        // The clock goes on in a long measurement, once a second so as not to disturb it.
        bar.enable_steady_tick(Duration::from_secs(1));
        Self { bar }
    }

    /// Tells what is about to be measured.
    pub(super) fn at(&self, step: RunStep<'_>) {
        self.bar.set_message(step.to_string());
    }

    /// Tells that a step is done.
    pub(super) fn done(&self) {
        self.bar.inc(1);
    }

    /// Does something that prints, with the bar out of the way.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
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

/// It does not fill the line, so that what the terminal shows of Ctrl-C goes with it.
const TEMPLATE: &str = "{bar:16} {percent:>3}% {elapsed} (about {eta} left)  {msg}";

/// A part that is done, its end, and a part to do.
const CHARS: &str = "█▌ ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_says_where_the_run_is() {
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
    fn what_is_printed_aside_is_done_without_a_terminal_too() {
        let progress = RunProgress::new(2);
        progress.done();
        assert_eq!(progress.aside(|| 7), 7);
        progress.finish();
    }
}
