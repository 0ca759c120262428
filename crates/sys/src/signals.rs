//! Signals as a readable descriptor, so that an event loop handles them like other events
//! (signalfd(2)).
//!
//! A signal that is read this way must be blocked, and children inherit blocked signals; start them
//! with [`ChildSetup`](crate::spawn::ChildSetup), which unblocks the signals.

use crate::raw::{self, MaskChange};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::Signal as Number;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The signals that the programs of this project handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessSignal {
    /// `SIGTERM`: end the program gracefully.
    Terminate,
    /// `SIGINT`: end gracefully, sent by the terminal.
    Interrupt,
    /// `SIGHUP`: read the configuration again.
    HangUp,
    /// `SIGUSR1`: the program defines its meaning.
    User1,
    /// `SIGUSR2`: the program defines its meaning.
    User2,
    /// `SIGCHLD`: at least one child has ended.
    Child,
    /// `SIGXFSZ`: a file would exceed its size limit. The write that caused it gets an error, too.
    FileSize,
    /// `SIGWINCH`: the size of the terminal has changed.
    Resized,
    /// `SIGTSTP`: stop until continued, from the terminal. See [`suspend`].
    Suspend,
    /// `SIGRTMIN+25`: execute the installed program in this process. systemd gives this signal the
    /// same meaning.
    Reexecute,
}

impl ProcessSignal {
    /// Every signal of this enum.
    pub const ALL: [Self; 10] = [
        Self::Terminate,
        Self::Interrupt,
        Self::HangUp,
        Self::User1,
        Self::User2,
        Self::Child,
        Self::FileSize,
        Self::Resized,
        Self::Suspend,
        Self::Reexecute,
    ];

    pub(crate) fn number(self) -> c_int {
        let named = match self {
            Self::Terminate => Number::TERM,
            Self::Interrupt => Number::INT,
            Self::HangUp => Number::HUP,
            Self::User1 => Number::USR1,
            Self::User2 => Number::USR2,
            Self::Child => Number::CHILD,
            Self::FileSize => Number::XFSZ,
            Self::Resized => Number::WINCH,
            Self::Suspend => Number::TSTP,
            // The C library uses the first of the kernel's real-time signals itself.
            Self::Reexecute => return libc::SIGRTMIN() + 25,
        };
        named.as_raw()
    }
}

/// A source of blocked signals, which no longer interrupt the process.
#[derive(Debug)]
pub struct SignalSource {
    descriptor: OwnedFd,
}

impl SignalSource {
    /// Blocks `signals` in this thread, and creates a source from which they are read instead. They
    /// stay blocked after the source is dropped.
    ///
    /// Call it before any other thread starts: threads inherit blocked signals, and a signal is
    /// delivered to any thread that does not block it.
    ///
    /// # Errors
    ///
    /// Fails only if descriptors or memory run out.
    pub fn block(signals: &[ProcessSignal]) -> io::Result<Self> {
        let numbers = || signals.iter().map(|signal| signal.number());
        raw::change_signal_mask(MaskChange::Block, numbers())?;
        Ok(Self { descriptor: raw::signal_descriptor(numbers())? })
    }

    /// Takes the next signal without blocking; `None` if there is none. A signal that is sent
    /// several times before it is taken may be reported once.
    ///
    /// # Errors
    ///
    /// Fails only if the source is misused by its caller.
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

/// Stops this process until another process continues it, then returns: the default action of
/// `SIGTSTP`, for a program that reads [`ProcessSignal::Suspend`] and has restored the terminal. If
/// no shell could continue the process (its process group is orphaned), the kernel ignores the
/// signal and this function returns immediately. `SIGTSTP` is blocked afterwards.
///
/// # Errors
///
/// Fails only if the call is misused by its caller.
pub fn suspend() -> io::Result<()> {
    let signal = || std::iter::once(ProcessSignal::Suspend.number());
    // A pending second key press would stop the process again immediately.
    raw::change_signal_mask(MaskChange::Block, signal())?;
    rustix::process::kill_process(rustix::process::getpid(), Number::TSTP)?;
    raw::change_signal_mask(MaskChange::Unblock, signal())?;
    raw::change_signal_mask(MaskChange::Block, signal())
}

/// Unblocks all signals in this thread. May be called between fork and exec.
pub(crate) fn unblock_all() -> io::Result<()> {
    raw::change_signal_mask(MaskChange::Unblock, ProcessSignal::ALL.map(ProcessSignal::number))
}

fn decode(record: &[u8; RECORD]) -> Option<ProcessSignal> {
    let number = i32::from_ne_bytes(*record.first_chunk()?);
    ProcessSignal::ALL.into_iter().find(|signal| signal.number() == number)
}

/// Bytes that the kernel writes per signal.
const RECORD: usize = size_of::<libc::signalfd_siginfo>();

// The signal number is at the start of the record.
const _: () = assert!(std::mem::offset_of!(libc::signalfd_siginfo, ssi_signo) == 0);
