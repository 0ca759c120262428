//! Shells on a terminal, as a person uses them: keys are pressed, and what stands on the line is read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use testkit::terminal::texts_of;

/// An interactive shell whose line can be asked for: its prompt is [`PROMPT`], on ctrl-g it
/// prints the line between [`BEGIN`] and [`END`], and forgets it.
pub(crate) struct Typist {
    keys: File,
    output: Receiver<String>,
    shell: Child,
}

/// What came of keys.
pub(crate) struct TypedKeys {
    /// The line then.
    pub(crate) line: String,
    /// All that was printed.
    pub(crate) output: String,
}

impl Typist {
    /// Starts a shell, and waits until it reads keys.
    pub(crate) fn start(mut command: Command) -> Self {
        let PseudoTerminal { keys, name } = PseudoTerminal::open(COLUMNS);
        let line = || File::options().read(true).write(true).open(&name).expect("the other side");
        command.env("TERM", "xterm").stdin(line()).stdout(line()).stderr(line());
        let shell = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = texts_of(keys.try_clone().expect("a descriptor"));
        let typist = Self { keys, output, shell };
        typist.wait("the prompt", |output| output.contains(PROMPT).then_some(()));
        typist
    }

    /// Presses keys on an empty line.
    pub(crate) fn press(&mut self, keys: &str) -> TypedKeys {
        self.keys.write_all(format!("{keys}\x07").as_bytes()).expect("the shell reads");
        self.wait(keys, |output| {
            let (before, rest) = output.rsplit_once(BEGIN)?;
            let (line, _) = rest.split_once(END)?;
            Some(TypedKeys { line: line.to_owned(), output: before.to_owned() })
        })
    }

    fn wait<T>(&self, what: &str, found: impl Fn(&str) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        let mut output = String::new();
        loop {
            if let Some(found) = found(&output) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(more) = self.output.recv_timeout(left) else {
                panic!("waited in vain for {what:?}: {output}")
            };
            output.push_str(&more);
        }
    }
}

impl Drop for Typist {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

/// A pseudo-terminal.
struct PseudoTerminal {
    /// The side of the person.
    keys: File,
    /// The path of the side of the programs.
    name: String,
}

impl PseudoTerminal {
    fn open(columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
        let size = Winsize { ws_col: columns, ws_row: 200, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it is a terminal");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let name = name.to_str().expect("it is ASCII").to_owned();
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
    /// Starts a program on a terminal of this width. Its standard input stays as the command has it.
    pub(crate) fn start(command: &mut Command, columns: u16) -> Self {
        let terminal = PseudoTerminal::open(columns);
        let side = || terminal.side_of_programs();
        command.env("TERM", "xterm").env_remove("NO_COLOR").stdout(side()).stderr(side());
        Self::spawn(command, terminal)
    }

    /// The same with `NO_COLOR`.
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
        // The command holds the side of the programs open until it is given other outputs.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self { program, output: texts_of(terminal.keys) }
    }

    pub(crate) fn program(&mut self) -> &mut Child {
        &mut self.program
    }

    /// All that it printed, once it has ended; with line ends as a program writes them.
    pub(crate) fn ended(mut self) -> String {
        self.program.wait().expect("it is our child");
        let mut text = String::new();
        while let Ok(more) = self.output.recv_timeout(PATIENCE) {
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

/// A program in a session of its own, so that the terminal can be its.
pub(crate) fn in_session(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).arg(program);
    command
}

/// What the shell prints when it reads keys.
pub(crate) const PROMPT: &str = "ready: ";

/// In front of the line.
pub(crate) const BEGIN: &str = "@<";

/// Behind the line.
pub(crate) const END: &str = ">@";

/// No line of a test is longer.
const COLUMNS: u16 = 250;

const PATIENCE: Duration = Duration::from_secs(20);
