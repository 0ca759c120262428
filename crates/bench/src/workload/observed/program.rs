//! Programs that observe a bus and write messages to a file.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sys::clock;

use crate::raw::{RawConnection, Template};
use crate::stage::{MeasureError, MeasurementStage};

/// A program that writes observed messages to a file. Dropping it ends the program and removes the
/// file.
#[derive(Debug)]
pub(super) struct ObserverProgram {
    child: Child,
    file: PathBuf,
    errors: PathBuf,
}

impl ObserverProgram {
    /// Starts the program, and returns when `file` contains a probe that was sent over the bus.
    /// `command` creates the file itself, or has it as its `output`.
    pub(super) fn start(
        stage: &MeasurementStage<'_>,
        file: PathBuf,
        command: Command,
        output: Stdio,
    ) -> Result<Self, MeasureError> {
        let errors = stage.site.new_file("errors");
        let mut command = stage.placed(command);
        command.stdin(Stdio::null()).stdout(output).stderr(File::create(&errors)?);
        let child = command.spawn().map_err(|error| missing(&command, &error))?;
        let mut program = Self { child, file, errors };
        program.wait_for_probe(stage)?;
        Ok(program)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Asks the program to end, and waits for it.
    pub(super) fn end(&mut self, stage: &MeasurementStage<'_>) -> Result<(), MeasureError> {
        // A process that inherited ignored interrupts, as background jobs of a shell do, ignores
        // them too.
        for signal in [Signal::INT, Signal::TERM] {
            kill_process(Pid::from_child(&self.child), signal).map_err(io::Error::from)?;
            let deadline = clock::monotonic() + stage.stop.left().min(END_TIMEOUT);
            while clock::monotonic() < deadline {
                match self.child.try_wait()? {
                    Some(status) if status.success() || status.signal().is_some() => return Ok(()),
                    Some(_) => return Err(self.failure("failed")),
                    None => thread::sleep(LOOK_AGAIN),
                }
            }
        }
        Err(self.failure("did not end in time"))
    }

    /// Sends probes over the bus until the file contains one.
    fn wait_for_probe(&mut self, stage: &MeasurementStage<'_>) -> Result<(), MeasureError> {
        let (mut connection, _) = RawConnection::to_bus(stage.bus_address()?)?;
        let mut probe = Template::signal(None, &(PROBE,))?;
        let deadline = clock::monotonic() + stage.stop.left().min(START_TIMEOUT);
        while clock::monotonic() < deadline {
            if self.child.try_wait()?.is_some() {
                return Err(self.failure("it ended"));
            }
            probe.next_serial();
            connection.send(probe.bytes())?;
            thread::sleep(LOOK_AGAIN);
            // The file may not exist yet.
            let seen = fs::read(&self.file).unwrap_or_default();
            if seen.windows(PROBE.len()).any(|window| window == PROBE.as_bytes()) {
                return Ok(());
            }
        }
        Err(self.failure("recorded nothing in time"))
    }

    fn failure(&self, what: &str) -> MeasureError {
        let errors = fs::read_to_string(&self.errors).unwrap_or_default();
        MeasureError::Unable(format!("the observer: {what}: {}", errors.trim()))
    }
}

impl Drop for ObserverProgram {
    fn drop(&mut self) {
        // The program may have ended already, without a file.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.file);
        let _ = fs::remove_file(&self.errors);
    }
}

fn missing(command: &Command, error: &io::Error) -> MeasureError {
    let program = command.get_program().display();
    let package = match command.get_program().to_str() {
        Some(super::observer::DBUS_MONITOR) => "dbus-bin",
        Some(super::observer::BUSCTL) => "systemd",
        _ => return MeasureError::Unable(format!("{program} cannot be started: {error}")),
    };
    MeasureError::Unable(format!(
        "{program} cannot be started: {error}; get it with: apt install {package}"
    ))
}

/// The probe that is searched for in the file. No program writes the strings of a message in
/// another encoding.
const PROBE: &str = "org.diligence.Bench1.Probe";

/// Time in which a program must start to observe.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Time in which a program must write all messages and end.
const END_TIMEOUT: Duration = Duration::from_secs(10);

const LOOK_AGAIN: Duration = Duration::from_millis(10);
