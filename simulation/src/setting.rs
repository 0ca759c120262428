//! How a bus is set up.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use broker::busconfig::{Config, Environment, load};

/// How a bus is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// As a bus of a session: nobody reaches a limit.
    Roomy,
    /// Little may wait for those who do not read.
    Tight,
}

impl Setting {
    /// That of a seed.
    pub const fn of(seed: u64) -> Self {
        if seed.is_multiple_of(3) { Self::Tight } else { Self::Roomy }
    }

    /// Chunks that somebody has to send before it says no more: what is sent at once must have room in
    /// the queue of the monitor.
    pub const fn backlog_max(self) -> usize {
        match self {
            Self::Roomy => 200,
            Self::Tight => 6,
        }
    }

    /// How many are there at the same time at most.
    pub const fn peers_max(self) -> usize {
        match self {
            Self::Roomy => usize::MAX,
            Self::Tight => 12,
        }
    }

    /// Once in how many times that it could somebody begins to read nothing, or ends that.
    pub const fn deaf_once_in(self) -> usize {
        match self {
            Self::Roomy => 20,
            Self::Tight => 4,
        }
    }

    /// Bytes of a large body.
    pub const fn body_max(self) -> usize {
        match self {
            Self::Roomy => 300_000,
            Self::Tight => 1_000,
        }
    }

    /// The configuration.
    ///
    /// # Panics
    ///
    /// If it cannot be written to a file, or read from it.
    pub fn config(self) -> Config {
        let mut limits = String::new();
        let mut limit = |name: &str, value: u64| {
            let _ = writeln!(limits, "<limit name='{name}'>{value}</limit>");
        };
        match self {
            Self::Roomy => {
                limit("max_incoming_bytes", 1_000_000_000);
                limit("max_outgoing_bytes", 1_000_000_000);
            }
            Self::Tight => limit("max_outgoing_bytes", QUEUE_MAX),
        }
        // Of everything the monitor has to get a copy.
        limit("max_outgoing_unix_fds", 250_000_000);
        limit("max_connections_per_user", 100_000);
        limit("max_completed_connections", 100_000);
        limit("max_incomplete_connections", 10_000);
        limit("max_match_rules_per_connection", 50_000);
        limit("max_replies_per_connection", 50_000);
        let text = format!(
            "<busconfig><type>session</type><listen>unix:abstract=simulation</listen>\
             <auth>EXTERNAL</auth><policy context='default'>\
             <allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/>\
             <allow own='*'/></policy>{limits}</busconfig>"
        );
        let file = File(std::env::temp_dir().join(format!("simulation-{}", std::process::id())));
        fs::write(&file.0, text).expect("there is a place for files");
        load(&file.0, &Environment::of_this_system()).expect("the configuration is sound")
    }
}

/// A file that is removed when it is not needed any longer.
struct File(PathBuf);

impl Drop for File {
    fn drop(&mut self) {
        // What is left is small, and in a folder for such things.
        let _ = fs::remove_file(&self.0);
    }
}

/// Bytes that may wait for somebody where little may.
const QUEUE_MAX: u64 = 60_000;
