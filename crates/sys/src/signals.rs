//! Signals as a descriptor to read from, so that an event loop meets them like everything else
//! (signalfd(2)).
//!
//! A signal that is read this way must be blocked, and children inherit what is blocked; start
//! them with [`ChildSetup`](crate::spawn::ChildSetup), which undoes that.

use crate::raw::{self, MaskChange};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::Signal as Number;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The signals that a program here reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSignal {
    /// `SIGTERM`: end in an orderly way.
    Terminate,
    /// `SIGINT`: the same, from the terminal.
    Interrupt,
    /// `SIGHUP`: read the configuration again.
    HangUp,
    /// `SIGUSR1`: whatever the program says it means.
    User1,
    /// `SIGUSR2`: the same.
    User2,
    /// `SIGCHLD`: at least one child has ended.
    Child,
    /// `SIGXFSZ`: a file would have become larger than it may. What wrote to it gets an error, too.
    FileSize,
    /// `SIGWINCH`: the terminal has another size.
    Resized,
    /// `SIGTSTP`: stop until continued, from the terminal. See [`suspend`].
    Suspend,
}

impl ProcessSignal {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Terminate,
        Self::Interrupt,
        Self::HangUp,
        Self::User1,
        Self::User2,
        Self::Child,
        Self::FileSize,
        Self::Resized,
        Self::Suspend,
    ];

    pub(crate) fn number(self) -> Number {
        match self {
            Self::Terminate => Number::TERM,
            Self::Interrupt => Number::INT,
            Self::HangUp => Number::HUP,
            Self::User1 => Number::USR1,
            Self::User2 => Number::USR2,
            Self::Child => Number::CHILD,
            Self::FileSize => Number::XFSZ,
            Self::Resized => Number::WINCH,
            Self::Suspend => Number::TSTP,
        }
    }
}

/// Where signals arrive that no longer interrupt the process.
#[derive(Debug)]
pub struct SignalSource {
    descriptor: OwnedFd,
}

impl SignalSource {
    /// Blocks `signals` in this thread, and makes a source that they are read from instead. They
    /// stay blocked when the source is dropped.
    ///
    /// Call it before any other thread starts: threads inherit what is blocked, and a signal goes
    /// to any thread that does not block it.
    ///
    /// # Errors
    ///
    /// Only when descriptors or memory run out.
    pub fn block(signals: &[ProcessSignal]) -> io::Result<Self> {
        let numbers = || signals.iter().map(|signal| signal.number());
        raw::change_signal_mask(MaskChange::Block, numbers())?;
        Ok(Self { descriptor: raw::signal_descriptor(numbers())? })
    }

    /// Takes the next signal, without waiting; `None` when there is none. The same signal, sent
    /// several times before it is taken, may come once.
    ///
    /// # Errors
    ///
    /// None that a correct caller can cause.
    pub fn take(&self) -> io::Result<Option<ProcessSignal>> {
        let mut record = [0; RECORD];
        match retry_on_intr(|| rustix::io::read(&self.descriptor, &mut record)) {
            Ok(_) => Ok(decode(&record)),
            Err(Errno::AGAIN) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// The source is readable while a signal can be taken.
impl AsFd for SignalSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Stops this process until another process continues it, and returns then: what `SIGTSTP` does by
/// default, for a program that reads [`ProcessSignal::Suspend`] and has put the terminal in order. If no
/// shell could continue the process (its process group is orphaned), the kernel ignores the signal and
/// this function returns at once. `SIGTSTP` is blocked afterwards.
///
/// # Errors
///
/// None that a correct caller can cause.
pub fn suspend() -> io::Result<()> {
    let signal = || std::iter::once(Number::TSTP);
    // A second key press that waits already would stop the process again at once.
    raw::change_signal_mask(MaskChange::Block, signal())?;
    rustix::process::kill_process(rustix::process::getpid(), Number::TSTP)?;
    raw::change_signal_mask(MaskChange::Unblock, signal())?;
    raw::change_signal_mask(MaskChange::Block, signal())
}

/// Lets signals interrupt this thread again. Allowed between fork and exec.
pub(crate) fn unblock_all() -> io::Result<()> {
    raw::change_signal_mask(MaskChange::Unblock, ProcessSignal::ALL.map(ProcessSignal::number))
}

fn decode(record: &[u8; RECORD]) -> Option<ProcessSignal> {
    let number = i32::from_ne_bytes(*record.first_chunk()?);
    ProcessSignal::ALL.into_iter().find(|signal| signal.number().as_raw() == number)
}

/// Bytes that the kernel writes per signal.
const RECORD: usize = size_of::<libc::signalfd_siginfo>();

// The signal's number stands at the start of the record.
const _: () = assert!(std::mem::offset_of!(libc::signalfd_siginfo, ssi_signo) == 0);
