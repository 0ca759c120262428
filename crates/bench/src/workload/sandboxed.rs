//! The workload in which a program in a sandbox calls a service outside.

use std::env;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use daemon_command::locate;

use super::usage::CallParts;
use super::{CallWorkload, Requirements, Targets, Workload, WorkloadOutcome};
use crate::raw::Endpoint;
use crate::stage::{MeasureError, MeasurementStage};

/// Sequential calls of a client to a service with a well-known name. The rules of the sandbox allow
/// calls to that name, and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct SandboxedCalls {
    /// The program between client and bus; `None` if the client is in no sandbox.
    pub proxy: Option<SandboxProxy>,
    pub calls: CallWorkload,
}

impl Workload for SandboxedCalls {
    fn requirements(&self) -> Requirements {
        Requirements { targets: Targets::Buses, ..self.calls.requirements() }
    }

    fn measure(&self, stage: &MeasurementStage<'_>) -> Result<WorkloadOutcome, MeasureError> {
        let warm_up = self.calls.warm_up();
        let mut echo = self.calls.echo(stage, warm_up);
        echo.well_known_name = Some(SERVICE.to_owned());
        let echo = stage.start(echo)?;
        let start = |program| RunningSandboxProxy::start(program, stage);
        let proxy = self.proxy.map(start).transpose()?;
        let mut caller = self.calls.caller(stage, SERVICE, warm_up);
        if let Some(proxy) = &proxy {
            caller.endpoint = Endpoint::Bus(proxy.address());
        }
        let mut caller = stage.start(caller)?;
        let proxy_pid = proxy.as_ref().map(|proxy| proxy.process.id());
        let parts = CallParts {
            caller: caller.pid(),
            service: echo.pid(),
            bus: stage.carrier,
            proxy: proxy_pid,
        };
        let before = parts.usage();
        caller.begin()?;
        let report = caller.finish()?;
        let used = parts.used_since(before, self.calls.count + warm_up);
        let mut figures = self.calls.figures(&report);
        figures.extend(used.figures());
        Ok(figures.into())
    }
}

/// The program that makes the socket in the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SandboxProxy {
    /// The program of this project's bus, under the name of the other. It forwards messages of
    /// other buses, and makes this project's bus serve the socket itself.
    Ours,
    /// The program that sandboxes start today. It forwards all messages.
    XdgDbusProxy,
}

impl SandboxProxy {
    fn command(self) -> Result<Command, MeasureError> {
        match self {
            Self::XdgDbusProxy => original_proxy().map(Command::new),
            Self::Ours => {
                let program =
                    locate::daemon().map_err(|error| MeasureError::Unable(error.to_string()))?;
                let mut command = Command::new(program);
                command.arg0(XDG_DBUS_PROXY);
                Ok(command)
            }
        }
    }
}

/// Finds the original program. Our replacement may have its name in the first folder of `PATH`;
/// then the original may have the name that dpkg gives to files that others replace.
fn original_proxy() -> Result<PathBuf, MeasureError> {
    let paths = env::var_os("PATH").unwrap_or_default();
    let candidates = env::split_paths(&paths).flat_map(|folder| {
        [XDG_DBUS_PROXY.to_owned(), format!("{XDG_DBUS_PROXY}.distrib")].map(|it| folder.join(it))
    });
    let ours = locate::daemon().ok().and_then(|path| path.canonicalize().ok());
    let is_original = |path: &PathBuf| {
        let found = path.canonicalize().ok();
        let name = found.as_deref().and_then(Path::file_name).unwrap_or_default();
        found.is_some() && found != ours && name != DAEMON
    };
    candidates.into_iter().find(is_original).ok_or_else(|| missing(&io::ErrorKind::NotFound.into()))
}

/// A running proxy program, which listens at a socket. It ends when dropped.
struct RunningSandboxProxy {
    process: Child,
    socket: PathBuf,
    /// The program ends when this pipe is closed.
    _lifetime: ChildStdout,
}

impl RunningSandboxProxy {
    /// Starts the program, and waits until it listens.
    fn start(program: SandboxProxy, stage: &MeasurementStage<'_>) -> Result<Self, MeasureError> {
        let socket = stage.site.new_file("sandbox");
        let mut command = program.command()?;
        command.arg(stage.bus_address()?).arg(&socket);
        // Descriptor 1 is the pipe below. The program writes a byte to it when it listens.
        command.args(["--filter", &format!("--talk={SERVICE}"), "--fd=1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = stage.placed(command).spawn().map_err(|error| missing(&error))?;
        let mut lifetime = process.stdout.take().expect("the pipe was requested");
        stage.stop.wait_for(&lifetime)?;
        let mut ready = [0];
        let count = lifetime.read(&mut ready)?;
        let proxy = Self { process, socket, _lifetime: lifetime };
        match count {
            0 => Err(MeasureError::Unable("the proxy of the sandbox ended at once".to_owned())),
            _ => Ok(proxy),
        }
    }

    /// The address of the bus for programs in the sandbox.
    fn address(&self) -> String {
        format!("unix:path={}", self.socket.display())
    }
}

impl Drop for RunningSandboxProxy {
    fn drop(&mut self) {
        // Fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn missing(error: &io::Error) -> MeasureError {
    MeasureError::Unable(format!(
        "{XDG_DBUS_PROXY} cannot be started: {error}; get it with: apt install {XDG_DBUS_PROXY}"
    ))
}

/// The name of our program, which also replaces the proxy.
const DAEMON: &str = "diligence-bus";

/// The name of the program, and of its package.
const XDG_DBUS_PROXY: &str = "xdg-dbus-proxy";

/// The name of the service outside of the sandbox.
const SERVICE: &str = "org.diligence.Bench1.Service";
