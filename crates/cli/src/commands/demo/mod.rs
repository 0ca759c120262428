//! `diligence demo PART`: programs that exchange messages, so that a bus has traffic to show.
//!
//! `diligence up --demo` starts [all of them](DemoPrograms); each also runs alone, on the bus that
//! `DBUS_SESSION_BUS_ADDRESS` names. They are the examples of the client library, compiled into
//! this program, because an installed system has no examples:
//!
//! | part | example | name on the bus | behavior |
//! | --- | --- | --- | --- |
//! | `archive` | `archive` | `com.example.Archive` | searches slowly, while all other callers wait |
//! | `battery` | `battery` | `com.example.Battery` | drains and charges; its properties change every second |
//! | `chat room` | `chat_room` | `com.example.Chat` | forwards the messages of the members |
//! | `chat NAME` | `chat_member` | `com.example.Chat.NAME` | sends messages, whispers, and replies |
//! | `volumes` | `volumes` | `com.example.Volumes` | 1000 objects that change, appear and disappear |
//! | `poller` | `poller` | | calls the others continuously, sometimes an object that does not exist |

#[path = "../../../../client/examples/archive.rs"]
mod archive;
#[path = "../../../../client/examples/battery.rs"]
mod battery;
#[path = "../../../../client/examples/chat_member.rs"]
mod chat_member;
#[path = "../../../../client/examples/chat_room.rs"]
mod chat_room;
#[path = "../../../../client/examples/poller.rs"]
mod poller;
#[path = "../../../../client/examples/volumes.rs"]
mod volumes;

use std::error::Error;
use std::io::{self, PipeWriter};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::{env, fs};

use clap::{Args, Subcommand};
use client::{CallError, EmitError, Ended, SendError, SubscribeError};

use crate::children;
use crate::output::print_message;

/// Arguments of `diligence demo`.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    #[command(subcommand)]
    part: DemoProgram,
}

#[derive(Debug, Subcommand)]
enum DemoProgram {
    /// An archive that is slow
    Archive,
    /// A battery that drains and charges
    Battery,
    /// A chat room, or a member of it
    Chat {
        /// `room`, or the name of a member
        name: String,
    },
    /// A thousand volumes that change, appear and disappear
    Volumes,
    /// A program that calls the others continuously
    Poller,
}

/// Runs one of the programs until the bus closes its connection.
pub(crate) fn run(demo: Demo) -> ExitCode {
    let name = demo.part.process_name();
    // The name in lists of processes; if this fails, the name of the executable stays.
    let _ = fs::write("/proc/self/comm", &name);
    match demo.part.main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_disconnect(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            print_message(&name, &error);
            ExitCode::FAILURE
        }
    }
}

impl DemoProgram {
    /// The process name; the kernel keeps its first 15 bytes.
    fn process_name(&self) -> String {
        match self {
            Self::Archive => String::from("demo-archive"),
            Self::Battery => String::from("demo-battery"),
            Self::Chat { name } => format!("demo-{name}"),
            Self::Volumes => String::from("demo-volumes"),
            Self::Poller => String::from("demo-poller"),
        }
    }

    fn main(&self) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Archive => archive::main(),
            Self::Battery => battery::main(),
            Self::Chat { name } if name == "room" => chat_room::main(),
            // The member reads its name from the end of the command line, which is the same here.
            Self::Chat { .. } => chat_member::main(),
            Self::Volumes => volumes::main(),
            Self::Poller => poller::main(),
        }
    }
}

/// Returns true if a program failed only because the bus closed the connection, as it does at its
/// end.
fn is_disconnect(error: &(dyn Error + 'static)) -> bool {
    let call = match error.downcast_ref() {
        Some(SubscribeError::Call(call)) => Some(call),
        _ => error.downcast_ref(),
    };
    error.is::<Ended>()
        || matches!(call, Some(CallError::Disconnected(_)))
        || matches!(error.downcast_ref(), Some(EmitError::Send(SendError::Disconnected(_))))
}

/// The processes of the demo programs. They are ended on drop.
#[derive(Debug, Default)]
pub(crate) struct DemoPrograms {
    running: Vec<(String, Child)>,
}

impl DemoPrograms {
    /// Starts all programs on the bus at `address`. They write their errors to `log`.
    pub(crate) fn start(address: &str, log: &PipeWriter) -> io::Result<Self> {
        let program = env::current_exe()?;
        let mut programs = Self::default();
        for words in PARTS {
            let mut command = Command::new(&program);
            command.arg("demo").args(words).env("DBUS_SESSION_BUS_ADDRESS", address);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.try_clone()?);
            let child = children::start_dependent(&mut command)?;
            programs.running.push((format!("demo {}", words.join(" ")), child));
        }
        Ok(programs)
    }

    /// The programs that have exited since the last call.
    pub(crate) fn take_ended(&mut self) -> Vec<(String, ExitStatus)> {
        let ended = |(_, child): &mut (String, Child)| matches!(child.try_wait(), Ok(Some(_)));
        let ended = self.running.extract_if(.., ended);
        ended.filter_map(|(part, mut child)| Some((part, child.wait().ok()?))).collect()
    }
}

impl Drop for DemoPrograms {
    fn drop(&mut self) {
        children::end_all(self.running.iter_mut().map(|(_, child)| child));
    }
}

/// All programs, as words of the command line.
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
