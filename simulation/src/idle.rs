//! The end of a phase of a run: nobody has anything left to do.

/// Counts the steps in which nothing happened.
#[derive(Debug, Default)]
pub(crate) struct IdleSteps(usize);

impl IdleSteps {
    /// Notes a step. Returns true if the phase ends, because this and the previous steps were idle.
    pub(crate) fn end_phase(&mut self, has_acted: bool) -> bool {
        self.0 = if has_acted { 0 } else { self.0 + 1 };
        let is_end = self.0 > IDLE_MAX;
        if is_end {
            self.0 = 0;
        }
        is_end
    }
}

/// The number of idle steps that end a phase. Time passes in each of them.
const IDLE_MAX: usize = 20;
