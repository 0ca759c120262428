//! Threads that process inputs in parallel, with results in the order of the inputs.

use std::collections::VecDeque;
use std::iter;
use std::num::NonZero;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};

/// Threads, one for each processor, that apply a function to inputs. The results are returned in
/// the order of the inputs, and few are in memory at a time.
///
/// ```
/// use std::thread;
///
/// use capture::workers::OrderedWorkers;
///
/// let squares: Vec<u64> = thread::scope(|scope| {
///     OrderedWorkers::start(scope, || |number: u64| number * number).process(0..1000).collect()
/// });
/// assert_eq!((squares.len(), squares[999]), (1000, 998_001));
/// ```
#[derive(Debug)]
pub struct OrderedWorkers<I, O, W> {
    kind: WorkerKind<I, O, W>,
    /// The results that were not returned yet, in order.
    pending: VecDeque<PendingResult<O>>,
}

#[derive(Debug)]
enum WorkerKind<I, O, W> {
    Threads {
        jobs: SyncSender<(I, SyncSender<O>)>,
        /// The maximum number of pending results.
        pending_max: usize,
    },
    /// No thread can be started, as in WebAssembly, or there is only one processor.
    Inline(W),
}

#[derive(Debug)]
enum PendingResult<O> {
    Promised(Receiver<O>),
    Ready(O),
}

impl<I, O, W: FnMut(I) -> O> OrderedWorkers<I, O, W> {
    /// Starts the threads. `make` returns the function of one thread, which may have a state.
    pub fn start<'scope>(scope: &'scope Scope<'scope, '_>, make: impl Fn() -> W) -> Self
    where
        I: Send + 'scope,
        O: Send + 'scope,
        W: Send + 'scope,
    {
        let wanted = thread::available_parallelism().map_or(1, NonZero::get);
        let (jobs, receiver) = mpsc::sync_channel(wanted);
        let receiver = Arc::new(Mutex::new(receiver));
        let mut threads = 0;
        while wanted > 1 && threads < wanted {
            let (receiver, work) = (Arc::clone(&receiver), make());
            let thread = thread::Builder::new().name("worker".into());
            if thread.spawn_scoped(scope, move || run(&receiver, work)).is_err() {
                break;
            }
            threads += 1;
        }
        let kind = match threads {
            0 => WorkerKind::Inline(make()),
            _ => WorkerKind::Threads { jobs, pending_max: PENDING_PER_THREAD * threads },
        };
        Self { kind, pending: VecDeque::new() }
    }

    /// Lets any number of results be pending.
    #[must_use]
    pub fn unlimited(mut self) -> Self {
        if let WorkerKind::Threads { pending_max, .. } = &mut self.kind {
            *pending_max = usize::MAX;
        }
        self
    }

    /// Returns the results for all inputs. Inputs are taken while results are requested.
    ///
    /// # Panics
    ///
    /// If the function has panicked in a thread.
    pub fn process(mut self, inputs: impl IntoIterator<Item = I>) -> impl Iterator<Item = O> {
        let mut inputs = inputs.into_iter();
        iter::from_fn(move || {
            for input in inputs.by_ref() {
                if let Some(output) = self.push(input) {
                    return Some(output);
                }
            }
            self.next_result()
        })
    }

    /// Passes an input to a thread. If many results are pending, waits for the oldest and returns
    /// it.
    ///
    /// # Panics
    ///
    /// If the function has panicked in a thread.
    pub fn push(&mut self, input: I) -> Option<O> {
        match &mut self.kind {
            WorkerKind::Inline(work) => {
                let output = work(input);
                self.pending.push_back(PendingResult::Ready(output));
                self.next_result()
            }
            WorkerKind::Threads { jobs, pending_max } => {
                let is_full = self.pending.len() == *pending_max;
                let (sender, receiver) = mpsc::sync_channel(1);
                let oldest = is_full.then(|| self.pending.pop_front()).flatten();
                let oldest = oldest.map(PendingResult::wait);
                jobs.send((input, sender)).expect(NO_THREAD);
                self.pending.push_back(PendingResult::Promised(receiver));
                oldest
            }
        }
    }

    /// Waits for the oldest pending result; `None` if there is none.
    ///
    /// # Panics
    ///
    /// If the function has panicked in a thread.
    pub fn next_result(&mut self) -> Option<O> {
        self.pending.pop_front().map(PendingResult::wait)
    }
}

impl<O> PendingResult<O> {
    fn wait(self) -> O {
        match self {
            Self::Promised(receiver) => receiver.recv().expect(NO_THREAD),
            Self::Ready(output) => output,
        }
    }
}

/// Applies a function to inputs until the sender is dropped.
fn run<I, O>(jobs: &Mutex<Receiver<(I, SyncSender<O>)>>, mut work: impl FnMut(I) -> O) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((input, result)) = job else { return };
        // Nobody waits for the result if an error has ended the work.
        let _ = result.send(work(input));
    }
}

/// Enough that no thread waits while the results are used.
const PENDING_PER_THREAD: usize = 2;

const NO_THREAD: &str = "the threads run until the inputs end";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_inputs_if_later_inputs_take_less_time() {
        let results: Vec<u32> = thread::scope(|scope| {
            let workers = OrderedWorkers::start(scope, || {
                |number: u32| {
                    let rounds = if number.is_multiple_of(7) { 100_000 } else { 1 };
                    std::hint::black_box((0..rounds).fold(0, |sum: u32, one| sum ^ one));
                    number
                }
            });
            workers.process(0..500).collect()
        });
        assert_eq!(results, (0..500).collect::<Vec<_>>());
    }

    #[test]
    fn unfinished_work_is_abandoned_if_the_workers_are_dropped() {
        thread::scope(|scope| {
            let mut workers = OrderedWorkers::start(scope, || |number: u32| vec![number; 1000]);
            assert_eq!((0..3).filter_map(|number| workers.push(number)).count(), 0);
        });
    }
}
