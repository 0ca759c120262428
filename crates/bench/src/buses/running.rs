//! A running bus, and how it ended.

use std::fmt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::clock;
use sys::private_directory::PrivateDirectory;
use wire::address::AddressList;

use super::directory::BusFiles;
use super::journal::JournalReader;
use super::log_tail::{QuotedOutput, tail_of};
use super::process_handle::ProcessHandle;

/// A running bus. If this program started it, dropping the value ends it and removes its files.
#[derive(Debug)]
pub struct RunningBus {
    addresses: AddressList,
    /// The process that routes messages, if known.
    router: Option<ProcessHandle>,
    /// The started process; `None` for a bus that was running already.
    process: Option<BusProcess>,
}

impl RunningBus {
    pub(super) fn ours(
        addresses: AddressList,
        router: ProcessHandle,
        mut process: BusProcess,
    ) -> Self {
        process.settled();
        Self { addresses, router: Some(router), process: Some(process) }
    }

    pub(super) fn of_others(addresses: AddressList, router: Option<ProcessHandle>) -> Self {
        Self { addresses, router, process: None }
    }

    /// The address to connect to.
    #[must_use]
    pub fn address(&self) -> &AddressList {
        &self.addresses
    }

    /// The process that routes messages: for dbus-broker, the child of the launcher. `None` for a
    /// bus that was running already and does not report its process.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.router.as_ref().map(ProcessHandle::pid)
    }

    /// The configuration file; `None` for a bus that was running already.
    #[must_use]
    pub fn configuration(&self) -> Option<PathBuf> {
        self.process.as_ref().map(|process| process.files().config())
    }

    /// If the bus has ended, returns how, for errors. A connection breaks shortly before its bus
    /// has ended, so this waits up to 200 ms.
    pub fn exit_report(&mut self) -> Option<ExitReport> {
        let router = self.router.as_ref().filter(|router| router.ends_within(DYING_TIME))?;
        Some(match &mut self.process {
            None => ExitReport { status: None, last_words: String::new() },
            Some(process) => process.exit_report(router.pid()),
        })
    }
}

impl Drop for RunningBus {
    fn drop(&mut self) {
        let (Some(router), Some(process)) = (&self.router, &mut self.process) else { return };
        // The launcher ends after its child.
        router.signal(Signal::TERM);
        if process.ends_within(TIMEOUT).is_none() {
            router.signal(Signal::KILL);
        }
    }
}

/// Describes how a bus ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExitReport {
    /// The exit status of the process. `None` if it is not a child of this process.
    pub status: Option<ExitStatus>,
    /// The last 4 KiB of the output since the bus was ready or, if it never was, since its start.
    pub last_words: String,
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            // The standard library formats the status as `exit status: 1`, with a colon.
            Some(status) => {
                write!(f, "the bus ended with {}", status.to_string().replace(": ", " "))?;
            }
            None => f.write_str("the bus ended")?,
        }
        QuotedOutput(&self.last_words).fmt(f)
    }
}

/// The started process, with its resources. Dropping it ends the process and waits for it.
#[derive(Debug)]
pub(super) struct BusProcess {
    child: Child,
    log: PathBuf,
    /// The length of the log when the bus was ready, in bytes.
    log_start: u64,
    journal: Option<JournalReader>,
    directory: PrivateDirectory,
}

impl BusProcess {
    pub(super) fn new(
        child: Child,
        directory: PrivateDirectory,
        journal: Option<JournalReader>,
    ) -> Self {
        let log = BusFiles::new_in(directory.path()).log();
        Self { child, log, log_start: 0, journal, directory }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn files(&self) -> BusFiles {
        BusFiles::new_in(self.directory.path())
    }

    /// If the process has ended, returns how.
    pub(super) fn ended(&mut self) -> Option<ExitReport> {
        self.ends_within(Duration::ZERO).map(|status| self.exit_report_with(Some(status)))
    }

    /// Returns the output since the bus was [ready](Self::settled), or since its start.
    pub(super) fn last_words(&self) -> String {
        let journal = self.journal.as_ref().map(JournalReader::last_words);
        tail_of(&self.log, self.log_start) + &journal.unwrap_or_default()
    }

    /// Marks the bus as ready: earlier output is ignored.
    fn settled(&mut self) {
        self.log_start = self.log.metadata().map_or(0, |meta| meta.len());
        if let Some(journal) = &self.journal {
            journal.forget();
        }
    }

    /// Describes how the bus died, after the process with this id has ended.
    fn exit_report(&mut self, router: u32) -> ExitReport {
        let status = self.ends_within(DYING_TIME);
        self.exit_report_with(status.filter(|_| router == self.pid()))
    }

    fn exit_report_with(&self, status: Option<ExitStatus>) -> ExitReport {
        ExitReport { status, last_words: self.last_words() }
    }

    fn ends_within(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let deadline = clock::monotonic() + timeout;
        loop {
            // Waiting fails only if the process is not a child.
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || clock::monotonic() >= deadline {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&mut self, signal: Signal) {
        // Until this process waits for it, the process id is not reused.
        if self.ends_within(Duration::ZERO).is_none() {
            // Fails if the process has ended in the meantime.
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }
}

impl Drop for BusProcess {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        if self.ends_within(TIMEOUT).is_none() {
            self.signal(Signal::KILL);
            // Waiting fails only if the process is not a child.
            let _ = self.child.wait();
        }
    }
}

/// Time in which a bus must end after its connections broke.
const DYING_TIME: Duration = Duration::from_millis(200);

/// Time in which a bus must end after it was asked to.
const TIMEOUT: Duration = Duration::from_secs(2);
