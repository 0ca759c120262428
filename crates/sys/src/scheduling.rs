//! Scheduling: the processors that a process may use, and its weight compared with other processes
//! (sched(7)).
//!
//! In the kernel, these are properties of a thread. Setting one for a process sets it for each of
//! its threads, including threads that start meanwhile; later threads and children inherit it from
//! the thread that creates them. Reading one for a process reads it from its first thread.
//!
//! # Errors
//!
//! [`io::ErrorKind::NotFound`] if the process does not exist or has ended;
//! [`io::ErrorKind::PermissionDenied`] if it belongs to another user, unless this process has
//! `CAP_SYS_NICE`. If setting a value fails, some of the threads may have it already.

use crate::process::{threads, to_pid};
use crate::raw;
use rustix::io::Errno;
use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::HashSet;
use std::time::Duration;
use std::{fmt, io};

/// A non-empty set of processors, by their kernel numbers, which start at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessorSet(CpuSet);

impl ProcessorSet {
    /// Creates a set with one processor. `None` for a number of [`ProcessorSet::LIMIT`] or more.
    #[must_use]
    pub fn one(number: usize) -> Option<Self> {
        Self::new([number])
    }

    /// Creates a set from processor numbers. `None` if there are none, or if one is
    /// [`ProcessorSet::LIMIT`] or more.
    #[must_use]
    pub fn new(numbers: impl IntoIterator<Item = usize>) -> Option<Self> {
        let mut set = CpuSet::new();
        for number in numbers {
            if number >= Self::LIMIT {
                return None;
            }
            set.set(number);
        }
        (set.count() > 0).then_some(Self(set))
    }

    /// Returns the processor numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        (0..Self::LIMIT).filter(|&number| self.contains(number))
    }

    /// True if the set contains this processor.
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        self.0.is_set(number)
    }

    /// Returns the number of processors, at least one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.count() as usize
    }

    /// The exclusive upper limit of processor numbers.
    pub const LIMIT: usize = CpuSet::MAX_CPU;
}

/// Formats the set like the kernel: `0-3,7`.
impl fmt::Display for ProcessorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begins = |number: &usize| *number == 0 || !self.contains(number - 1);
        for (index, first) in self.iter().filter(begins).enumerate() {
            let last = (first..Self::LIMIT).take_while(|&number| self.contains(number)).last();
            let comma = if index == 0 { "" } else { "," };
            match last {
                Some(last) if last != first => write!(f, "{comma}{first}-{last}")?,
                _ => write!(f, "{comma}{first}")?,
            }
        }
        Ok(())
    }
}

/// Returns the processors that this thread may use.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] on a machine that may have more than [`ProcessorSet::LIMIT`]
/// processors.
pub fn own_processors() -> io::Result<ProcessorSet> {
    Ok(ProcessorSet(sched_getaffinity(None)?))
}

/// Confines this thread, and the threads and children that it starts later, to `processors`. May be
/// called between fork and exec.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidInput`] if this thread may use none of them.
pub fn set_own_processors(processors: &ProcessorSet) -> io::Result<()> {
    Ok(sched_setaffinity(None, &processors.0)?)
}

/// Returns the processors that a process may use.
///
/// # Errors
///
/// See [the module](self) and [`own_processors`].
pub fn processors(pid: u32) -> io::Result<ProcessorSet> {
    sched_getaffinity(Some(to_pid(pid)?)).map(ProcessorSet).map_err(named)
}

/// Confines a process to `processors`.
///
/// # Errors
///
/// See [the module](self) and [`set_own_processors`].
pub fn set_processors(pid: u32, processors: &ProcessorSet) -> io::Result<()> {
    for_each_thread(pid, |thread| Ok(sched_setaffinity(Some(thread), &processors.0)?))
}

/// A nice value: each step up means about a fifth less processor time than other processes in the
/// same group. Groups are cgroups (cgroups(7)) and, on many desktops, the programs of one session
/// (sched(7), "autogroup").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nice(i8);

impl Nice {
    /// Creates a nice value from -20, the highest priority, to 19; otherwise `None`. The usual
    /// value is 0.
    #[must_use]
    pub fn new(value: i8) -> Option<Self> {
        (-20..=19).contains(&value).then_some(Self(value))
    }

    /// Returns the value, from -20 to 19.
    #[must_use]
    pub fn get(self) -> i8 {
        self.0
    }
}

/// Returns the nice value of a process.
///
/// # Errors
///
/// See [the module](self).
pub fn nice(pid: u32) -> io::Result<Nice> {
    let value = getpriority_process(Some(to_pid(pid)?)).map_err(named)?;
    let value = i8::try_from(value).ok().and_then(Nice::new);
    Ok(value.expect("the kernel keeps it from -20 to 19"))
}

/// Sets the nice value of a process.
///
/// # Errors
///
/// See [the module](self); also [`io::ErrorKind::PermissionDenied`] for a value below the current
/// one, unless this process has `CAP_SYS_NICE` or the target has a sufficient limit (getrlimit(2),
/// `RLIMIT_NICE`).
pub fn set_nice(pid: u32, nice: Nice) -> io::Result<()> {
    for_each_thread(pid, |thread| Ok(setpriority_process(Some(thread), nice.get().into())?))
}

/// A time slice: a hint to the scheduler how long a process wants to run at a time. It does not
/// change the total processor time. With a shorter slice, the process runs sooner after a wake-up;
/// with a longer one, it is preempted less often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slice(Duration);

impl Slice {
    /// Creates a slice from [`Slice::SHORTEST`] to [`Slice::LONGEST`]; otherwise `None`.
    #[must_use]
    pub fn new(length: Duration) -> Option<Self> {
        (Self::SHORTEST..=Self::LONGEST).contains(&length).then_some(Self(length))
    }

    /// The length of the slice.
    #[must_use]
    pub fn get(self) -> Duration {
        self.0
    }

    /// The shortest slice that the kernel grants, 0.1 ms.
    pub const SHORTEST: Duration = Duration::from_micros(100);

    /// The longest slice that the kernel grants, 100 ms.
    pub const LONGEST: Duration = Duration::from_millis(100);
}

/// Returns the slice of a process, whether set or the default of the scheduler. Requires Linux
/// 6.12.
///
/// # Errors
///
/// See [the module](self); [`io::ErrorKind::Unsupported`] on an older kernel, and for a process
/// with real-time scheduling.
pub fn slice(pid: u32) -> io::Result<Slice> {
    let attributes = raw::scheduling_attributes(to_pid(pid)?).map_err(named)?;
    let slice = Slice::new(Duration::from_nanos(attributes.sched_runtime));
    slice.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Sets the slice of a process (sched_setattr(2), `sched_runtime`); its policy and its nice value
/// do not change. Requires Linux 6.12.
///
/// # Errors
///
/// Fails like [`slice()`], which verifies that the kernel has set the slice.
pub fn set_slice(pid: u32, slice: Slice) -> io::Result<()> {
    set_runtime(pid, slice.get())?;
    if self::slice(pid)? == slice { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// Reverts [`set_slice`], so that the process has the default slice of the scheduler.
///
/// # Errors
///
/// See [the module](self).
pub fn reset_slice(pid: u32) -> io::Result<()> {
    set_runtime(pid, Duration::ZERO)
}

fn set_runtime(pid: u32, runtime: Duration) -> io::Result<()> {
    let nanoseconds = u64::try_from(runtime.as_nanos()).expect("it is 100 ms at most");
    for_each_thread(pid, |thread| {
        let attributes = raw::scheduling_attributes(thread)?;
        let attributes = libc::sched_attr { sched_runtime: nanoseconds, ..attributes };
        raw::set_scheduling_attributes(thread, &attributes)
    })
}

/// Applies `change` to every thread of a process, until no unchanged thread is left.
fn for_each_thread(pid: u32, change: impl Fn(Pid) -> io::Result<()>) -> io::Result<()> {
    let mut changed = HashSet::new();
    loop {
        let new: Vec<Pid> = threads(pid)?.into_iter().filter(|&pid| changed.insert(pid)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for thread in new {
            match change(thread) {
                Err(error) if is_gone(&error) => {}
                result => result?,
            }
        }
    }
}

/// Maps the kernel error "no such process", for which the standard library has no kind.
fn named(error: impl Into<io::Error>) -> io::Error {
    let error = error.into();
    if is_gone(&error) { io::ErrorKind::NotFound.into() } else { error }
}

pub(crate) fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_processors_is_written_as_the_kernel_does() {
        let check = |numbers: &[usize], text: &str| {
            let processors = ProcessorSet::new(numbers.iter().copied()).unwrap();
            assert_eq!(processors.to_string(), text);
            assert_eq!(processors.iter().collect::<Vec<_>>(), numbers);
            assert_eq!(processors.count(), numbers.len());
        };
        check(&[0], "0");
        check(&[0, 1, 2, 3, 7], "0-3,7");
        check(&[5, 6, 8, 10, 11], "5-6,8,10-11");
        check(&[ProcessorSet::LIMIT - 1], "1023");
        check(&[ProcessorSet::LIMIT - 2, ProcessorSet::LIMIT - 1], "1022-1023");
    }

    #[test]
    fn empty_processor_sets_are_rejected() {
        assert_eq!(ProcessorSet::new([]), None);
        assert_eq!(ProcessorSet::new([0, ProcessorSet::LIMIT]), None);
        assert_eq!(ProcessorSet::one(usize::MAX), None);
    }

    #[test]
    fn nice_values_and_slices_out_of_range_are_rejected() {
        let nice = |value| Nice::new(value).map(Nice::get);
        assert_eq!([-21, -20, 0, 19, 20].map(nice), [None, Some(-20), Some(0), Some(19), None]);
        let slice = |microseconds| Slice::new(Duration::from_micros(microseconds)).is_some();
        assert_eq!([0, 99, 100, 100_000, 100_001].map(slice), [false, false, true, true, false]);
    }
}
