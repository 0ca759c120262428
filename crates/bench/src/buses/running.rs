//! A bus that runs, and how it ended.

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

/// A bus that runs. Dropped, it is ended and its files are removed, if it was started here.
#[derive(Debug)]
pub struct RunningBus {
    addresses: AddressList,
    /// The process that routes, if it is known.
    router: Option<ProcessHandle>,
    /// What was started; `None` for a bus that ran already.
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

    /// Where to connect.
    #[must_use]
    pub fn address(&self) -> &AddressList {
        &self.addresses
    }

    /// The process that routes: of dbus-broker not the launcher, but what that has launched.
    /// `None` for a bus that ran already and does not say it.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.router.as_ref().map(ProcessHandle::pid)
    }

    /// The file with its configuration; `None` for a bus that ran already.
    #[must_use]
    pub fn configuration(&self) -> Option<PathBuf> {
        self.process.as_ref().map(|process| process.files().config())
    }

    /// How it ended, if it has ended; for errors. A connection breaks a little before its bus has
    /// ended, so this waits up to 200 ms.
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
        // A launcher ends after the process that it has launched.
        router.signal(Signal::TERM);
        if process.ends_within(PATIENCE).is_none() {
            router.signal(Signal::KILL);
        }
    }
}

/// How a bus ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExitReport {
    /// How its process ended. `None` if it is not a child of this process.
    pub status: Option<ExitStatus>,
    /// What it has written since it ran, or, if it never did, since it was started: the last
    /// 4 KiB.
    pub last_words: String,
}

impl fmt::Display for ExitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            // The standard library writes it like a field with its value.
            Some(status) => {
                write!(f, "the bus ended with {}", status.to_string().replace(": ", " "))?;
            }
            None => f.write_str("the bus ended")?,
        }
        QuotedOutput(&self.last_words).fmt(f)
    }
}

/// The process that was started, with what it needs. Dropped, it is ended and waited for.
#[derive(Debug)]
pub(super) struct BusProcess {
    child: Child,
    log: PathBuf,
    /// How long the log was when the start was done.
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

    /// How it has ended, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitReport> {
        self.ends_within(Duration::ZERO).map(|status| self.exit_report_with(Some(status)))
    }

    /// What it has written since it [ran](Self::settled), or since it was started.
    pub(super) fn last_words(&self) -> String {
        let journal = self.journal.as_ref().map(JournalReader::last_words);
        tail_of(&self.log, self.log_start) + &journal.unwrap_or_default()
    }

    /// It runs: what it wrote until now is of no interest any more.
    fn settled(&mut self) {
        self.log_start = self.log.metadata().map_or(0, |meta| meta.len());
        if let Some(journal) = &self.journal {
            journal.forget();
        }
    }

    /// How it has died, when its process with that number has ended.
    fn exit_report(&mut self, router: u32) -> ExitReport {
        let status = self.ends_within(DYING_TIME);
        self.exit_report_with(status.filter(|_| router == self.pid()))
    }

    fn exit_report_with(&self, status: Option<ExitStatus>) -> ExitReport {
        ExitReport { status, last_words: self.last_words() }
    }

    fn ends_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        let deadline = clock::monotonic() + patience;
        loop {
            // Only who has no such child fails to wait for it.
            let status = self.child.try_wait().ok().flatten();
            if status.is_some() || clock::monotonic() >= deadline {
                return status;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn signal(&mut self, signal: Signal) {
        // Until it is waited for, its number belongs to no other process.
        if self.ends_within(Duration::ZERO).is_none() {
            // It may have ended since, and then there is nobody to tell.
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }
}

impl Drop for BusProcess {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        if self.ends_within(PATIENCE).is_none() {
            self.signal(Signal::KILL);
            // Only who has no such child fails to wait for it.
            let _ = self.child.wait();
        }
    }
}

/// How long a bus has to die after its connections broke.
const DYING_TIME: Duration = Duration::from_millis(200);

/// How long a bus has to end when it is asked to.
const PATIENCE: Duration = Duration::from_secs(2);
