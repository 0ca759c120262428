//! Runs shells and programs on pseudoterminals.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use testkit::terminal::texts_of;

/// An interactive shell whose command line can be read. Its prompt is [`PROMPT`]. Ctrl-G prints the
/// line between [`BEGIN`] and [`END`], and clears it.
pub(crate) struct InteractiveShell {
    keys: File,
    output: Receiver<String>,
    shell: Child,
}

/// The effect of pressed keys.
pub(crate) struct TypedKeys {
    /// The command line after the keys.
    pub(crate) line: String,
    /// All output up to the line.
    pub(crate) output: String,
}

impl InteractiveShell {
    /// Starts a shell, and waits until it prints its prompt.
    pub(crate) fn start(mut command: Command) -> Self {
        let PseudoTerminal { keys, name } = PseudoTerminal::open(COLUMNS);
        let line = || File::options().read(true).write(true).open(&name).expect("the other side");
        command.env("TERM", "xterm").stdin(line()).stdout(line()).stderr(line());
        let shell = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = texts_of(keys.try_clone().expect("a descriptor"));
        let shell = Self { keys, output, shell };
        shell.wait("the prompt", |output| output.contains(PROMPT).then_some(()));
        shell
    }

    /// Presses keys on an empty command line.
    pub(crate) fn press(&mut self, keys: &str) -> TypedKeys {
        self.keys.write_all(format!("{keys}\x07").as_bytes()).expect("the shell reads");
        self.wait(keys, |output| {
            let (before, rest) = output.rsplit_once(BEGIN)?;
            let (line, _) = rest.split_once(END)?;
            Some(TypedKeys { line: line.to_owned(), output: before.to_owned() })
        })
    }

    fn wait<T>(&self, what: &str, found: impl Fn(&str) -> Option<T>) -> T {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        let mut output = String::new();
        loop {
            if let Some(found) = found(&output) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(more) = self.output.recv_timeout(left) else {
                panic!("timed out waiting for {what:?}: {output}")
            };
            output.push_str(&more);
        }
    }
}

impl Drop for InteractiveShell {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// A pseudoterminal, by its master side and its path.
struct PseudoTerminal {
    /// The master side, which a person would use.
    keys: File,
    /// The path of the slave side, which programs use.
    name: String,
}

impl PseudoTerminal {
    fn open(columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a pseudoterminal");
        let size = Winsize { ws_col: columns, ws_row: 200, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("the path of the terminal");
        let name = name.to_str().expect("an ASCII path").to_owned();
        Self { keys: File::from(master), name }
    }

    fn side_of_programs(&self) -> File {
        File::options().read(true).write(true).open(&self.name).expect("the other side")
    }
}

/// A program whose standard output and standard error are a terminal.
pub(crate) struct OnTerminal {
    program: Child,
    output: Receiver<String>,
}

impl OnTerminal {
    /// Starts a program on a terminal with this width. The command chooses its standard input.
    pub(crate) fn start(command: &mut Command, columns: u16) -> Self {
        let terminal = PseudoTerminal::open(columns);
        let side = || terminal.side_of_programs();
        command.env("TERM", "xterm").env_remove("NO_COLOR").stdout(side()).stderr(side());
        Self::spawn(command, terminal)
    }

    /// Like [`start`](Self::start), but with `NO_COLOR`.
    pub(crate) fn start_without_color(command: &mut Command, columns: u16) -> Self {
        let terminal = PseudoTerminal::open(columns);
        let side = || terminal.side_of_programs();
        command.env("TERM", "xterm").env("NO_COLOR", "1").stdout(side()).stderr(side());
        Self::spawn(command, terminal)
    }

    fn spawn(command: &mut Command, terminal: PseudoTerminal) -> Self {
        let is_set = |name: &str| command.get_envs().any(|(key, _)| key == name);
        if !is_set("COLUMNS") {
            command.env_remove("COLUMNS");
        }
        let program = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // The command keeps the slave side open until it gets other outputs.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { program, output: texts_of(terminal.keys) }
    }

    pub(crate) fn program(&mut self) -> &mut Child {
        &mut self.program
    }

    /// Waits until the program exits, and returns its output with line ends as in a pipe.
    pub(crate) fn ended(mut self) -> String {
        self.program.wait().expect("a child process");
        let mut text = String::new();
        while let Ok(more) = self.output.recv_timeout(WAIT_TIMEOUT) {
            text.push_str(&more);
        }
        text.replace("\r\n", "\n")
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Returns a command that runs a program in a new session with a controlling terminal.
pub(crate) fn in_session(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(program);
    command
}

/// The prompt, which shows that the shell reads keys.
pub(crate) const PROMPT: &str = "ready: ";

/// Marks the start of the command line.
pub(crate) const BEGIN: &str = "@<";

/// Marks the end of the command line.
pub(crate) const END: &str = ">@";

/// The width of the terminal; no command line of a test is longer.
const COLUMNS: u16 = 250;

const WAIT_TIMEOUT: Duration = Duration::from_secs(20);
