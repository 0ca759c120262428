//! `diligence demo PART`: programs that talk, so that there is something to see on a bus.
//!
//! `diligence up --demo` starts [all of them](Cast); each also runs alone, on whatever bus
//! `DBUS_SESSION_BUS_ADDRESS` names:
//!
//! | part | name on the bus | does |
//! | --- | --- | --- |
//! | `archive` | `com.example.Archive` | searches, and lets all wait |
//! | `battery` | `com.example.Battery` | drains and charges, and tells so once a second |
//! | `chat room` | `com.example.Chat` | passes on what the peers say |
//! | `chat NAME` | `com.example.Chat.NAME` | says things, whispers, and answers |
//! | `volumes` | `com.example.Volumes` | 1000 objects that change, come and go |
//! | `poller` | | asks the others all the time, and sometimes for what is not there |

mod archive;
mod battery;
mod chat;
mod error;
mod poller;
mod volumes;

use std::io::{self, PipeWriter};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;
use std::{env, fs};

use clap::{Args, Subcommand};
use client::{Connection, NameFlags, RequestReply};
use error::{DemoError, unless_ended};
use sys::clock;

use crate::children;
use crate::output::complain;

/// Which program to be.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, Subcommand)]
enum Part {
    /// An archive that takes its time
    Archive,
    /// A battery that drains and charges
    Battery,
    /// A chat room, or somebody who talks there
    Chat {
        /// `room`, or the name of somebody
        #[arg(value_parser = chat::Role::parse)]
        name: chat::Role,
    },
    /// A thousand volumes that change, come and go
    Volumes,
    /// A program that asks the others all the time
    Poller,
}

/// Is one of the programs, until the bus ends.
pub(crate) fn run(demo: Demo) -> ExitCode {
    let name = demo.part.process_name();
    // What it is called in lists of processes; if that fails, it is called as its file.
    let _ = fs::write("/proc/self/comm", &name);
    match demo.part.play() {
        Ok(()) | Err(DemoError::Ended(_)) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("{name}: {error}\n"));
            ExitCode::FAILURE
        }
    }
}

impl Part {
    /// At most 15 bytes, or the kernel cuts it.
    fn process_name(&self) -> String {
        match self {
            Self::Archive => String::from("demo-archive"),
            Self::Battery => String::from("demo-battery"),
            Self::Chat { name } => format!("demo-{}", name.word()),
            Self::Volumes => String::from("demo-volumes"),
            Self::Poller => String::from("demo-poller"),
        }
    }

    fn play(&self) -> Result<(), DemoError> {
        let bus = Connection::session()?;
        match self {
            Self::Archive => archive::play(&bus),
            Self::Battery => battery::play(&bus),
            Self::Chat { name } => chat::play(&bus, name),
            Self::Volumes => volumes::play(&bus),
            Self::Poller => poller::play(&bus),
        }
    }
}

/// The programs of the demonstration, as processes. Dropped, they are ended.
#[derive(Debug, Default)]
pub(crate) struct Cast {
    members: Vec<(String, Child)>,
}

impl Cast {
    /// Starts all of them on the bus at `address`. What goes wrong they write to `log`.
    pub(crate) fn start(address: &str, log: &PipeWriter) -> io::Result<Self> {
        let program = env::current_exe()?;
        let mut cast = Self::default();
        for words in PARTS {
            let mut command = Command::new(&program);
            command.arg("demo").args(words).env("DBUS_SESSION_BUS_ADDRESS", address);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.try_clone()?);
            let child = children::start_dependent(&mut command)?;
            cast.members.push((format!("demo {}", words.join(" ")), child));
        }
        Ok(cast)
    }

    /// Those that have ended since this was asked last.
    pub(crate) fn take_ended(&mut self) -> Vec<(String, ExitStatus)> {
        let ended = |(_, child): &mut (String, Child)| matches!(child.try_wait(), Ok(Some(_)));
        let ended = self.members.extract_if(.., ended);
        ended.filter_map(|(part, mut child)| Some((part, child.wait().ok()?))).collect()
    }
}

impl Drop for Cast {
    fn drop(&mut self) {
        children::end_all(self.members.iter_mut().map(|(_, child)| child));
    }
}

/// Takes a name for good.
fn take_name(bus: &Connection, name: &str) -> Result<(), DemoError> {
    match bus.request_name(name, NameFlags::DO_NOT_QUEUE)? {
        RequestReply::PrimaryOwner | RequestReply::AlreadyOwner => Ok(()),
        RequestReply::InQueue | RequestReply::Exists => Err(DemoError::NameTaken(name.to_owned())),
    }
}

/// Waits until somebody owns a name.
fn wait_for_owner(bus: &Connection, name: &str) -> Result<(), DemoError> {
    let driver = bus.proxy(BUS, BUS_PATH, BUS)?;
    let rule = format!("type='signal',sender='{BUS}',member='NameOwnerChanged',arg0='{name}'");
    let changes = bus.subscribe(rule.as_str())?;
    loop {
        let (owned,): (bool,) =
            driver.call("NameHasOwner", &(name,))?.read().map_err(DemoError::Read)?;
        if owned {
            return Ok(());
        }
        unless_ended(changes.next(None))?;
    }
}

/// Answers calls, and does something at an interval, for ever. `look` sees what else has come.
fn serve(
    bus: &Connection,
    interval: Duration,
    mut look: impl FnMut() -> Result<(), DemoError>,
    mut act: impl FnMut() -> Result<(), DemoError>,
) -> Result<(), DemoError> {
    let mut next = clock::monotonic() + interval;
    loop {
        bus.process(Some(next.saturating_sub(clock::monotonic())))?;
        look()?;
        let now = clock::monotonic();
        if now >= next {
            act()?;
            // One that was held up does not make up for it.
            next = (next + interval).max(now);
        }
    }
}

/// The annotation by which tools show what something is for.
const DOC: &str = "org.gtk.GDBus.DocString";

const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";

/// All programs, by their words on the command line.
const PARTS: [&[&str]; 8] = [
    &["archive"],
    &["battery"],
    &["chat", "room"],
    &["chat", "anna"],
    &["chat", "ben"],
    &["chat", "cleo"],
    &["volumes"],
    &["poller"],
];
