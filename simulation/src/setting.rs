//! How a bus is set up.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use broker::activation;
use broker::busconfig::{self, Environment};
use broker::event_loop::Loaded;
use bus::ServiceManager;

/// How a bus is set up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// As a bus of a session: nobody reaches a limit.
    Roomy,
    /// Little may wait for those who do not read.
    Tight,
    /// The policy is [`Policy::Open`] at first, and another one each time that the configuration is
    /// read again.
    Changing,
    /// There are services that can be started: see [`SERVICES`].
    Starting,
}

/// What becomes of a service that is started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It comes, and takes its name.
    Comes,
    /// It ends at once.
    Ends,
    /// It does nothing, until it is killed.
    Hangs,
}

/// Names for which something can be started, and what becomes of it.
pub const SERVICES: [(&str, Fate); 3] = [
    ("com.service.comes", Fate::Comes),
    ("com.service.ends", Fate::Ends),
    ("com.service.hangs", Fate::Hangs),
];

/// What is allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// Everything.
    #[default]
    Open,
    /// Not to send signals of [`UNSENT`], to receive calls of [`UNRECEIVED`], to own [`UNOWNED`].
    Strict,
}

impl Policy {
    /// The one that comes behind it.
    pub const fn next(self, setting: Setting) -> Self {
        match (setting, self) {
            (Setting::Changing, Self::Open) => Self::Strict,
            _ => Self::Open,
        }
    }

    fn rules(self) -> String {
        match self {
            Self::Open => String::new(),
            Self::Strict => format!(
                "<deny send_type='signal' send_interface='{UNSENT}'/>\
                 <deny receive_type='method_call' receive_interface='{UNRECEIVED}'/>\
                 <deny own='{UNOWNED}'/>"
            ),
        }
    }
}

impl Setting {
    /// That of a seed.
    pub const fn of(seed: u64) -> Self {
        match seed % 5 {
            0 => Self::Tight,
            1 => Self::Changing,
            2 => Self::Starting,
            _ => Self::Roomy,
        }
    }

    /// Chunks that somebody has to send before it says no more: what is sent at once must have room in
    /// the queue of the monitor.
    pub const fn backlog_max(self) -> usize {
        match self {
            Self::Roomy | Self::Changing | Self::Starting => 200,
            Self::Tight => 6,
        }
    }

    /// How many are there at the same time at most.
    pub const fn peers_max(self) -> usize {
        match self {
            Self::Roomy | Self::Changing | Self::Starting => usize::MAX,
            Self::Tight => 12,
        }
    }

    /// Once in how many times that it could somebody begins to read nothing, or ends that.
    pub const fn deaf_once_in(self) -> usize {
        match self {
            Self::Roomy | Self::Changing | Self::Starting => 20,
            Self::Tight => 4,
        }
    }

    /// Bytes of a large body.
    pub const fn body_max(self) -> usize {
        match self {
            Self::Roomy | Self::Changing | Self::Starting => 300_000,
            Self::Tight => 1_000,
        }
    }

    /// What can be started.
    pub fn services(self) -> &'static [(&'static str, Fate)] {
        if self == Self::Starting { &SERVICES } else { &[] }
    }

    /// The configuration, with the services.
    ///
    /// # Panics
    ///
    /// If it cannot be written to files, or read from them.
    pub fn load(self, policy: Policy) -> Loaded {
        let folder = Folder::new();
        let mut limits = String::new();
        let mut limit = |name: &str, value: u64| {
            let _ = writeln!(limits, "<limit name='{name}'>{value}</limit>");
        };
        limit("service_start_timeout", START_TIMEOUT_MS);
        match self {
            Self::Roomy | Self::Changing | Self::Starting => {
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
             <allow own='*'/>{}</policy><servicedir>{}</servicedir>{limits}</busconfig>",
            policy.rules(),
            folder.0.display()
        );
        let file = folder.0.join("bus.conf");
        let write =
            |file: PathBuf, text| fs::write(file, text).expect("there is a place for files");
        write(file.clone(), text);
        for (name, _) in self.services() {
            let text = format!("[D-BUS Service]\nName={name}\nExec=/simulated {name}\n");
            write(folder.0.join(format!("{name}.service")), text);
        }
        let environment = Environment::of_this_system();
        let mut config = busconfig::load(&file, &environment).expect("the configuration is sound");
        let (catalog, _) = activation::read(&config.document.service_dirs, None);
        config.configuration.services = catalog.services(ServiceManager::Absent);
        Loaded { config, catalog }
    }
}

/// How long a service may take to come.
const START_TIMEOUT_MS: u64 = 5000;

/// A folder that is removed when it is not needed any longer.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("simulation-{}", std::process::id()));
        fs::create_dir_all(&path).expect("there is a place for files");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is small, and in a folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the strict policy forbids.
pub const UNSENT: &str = "com.example.Three";
/// The same.
pub const UNRECEIVED: &str = "com.example.Two";
/// The same.
pub const UNOWNED: &str = "com.c";

/// Bytes that may wait for somebody where little may.
const QUEUE_MAX: u64 = 60_000;
