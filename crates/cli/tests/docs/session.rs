//! Runs the commands of a block in a folder with recordings, on a private bus.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{env, io};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;

use crate::blocks::{ConsoleBlock, ShownCommand};
use crate::comparison::{OMITTED, compare};
use crate::{ROOT, fixtures};

/// The path of the program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_diligence");

/// Time limit for the commands of a block, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Precedes the exit status of a command in the output. No program prints this character.
const SEPARATOR: char = '\u{1e}';

/// Runs the commands in one shell, and compares the output of each with the page.
pub(crate) fn run(block: &ConsoleBlock) -> Result<(), String> {
    let scene = DocSession::new().map_err(|error| format!("{}: {error}", block.place()))?;
    let printed =
        scene.run(&script(block)).map_err(|error| format!("{}: {error}", block.place()))?;
    let mut rest = &printed[..];
    for (index, command) in block.commands.iter().enumerate() {
        let place = format!("{}:{}: $ {}", block.page, command.line, command.text);
        let ended = rest.split_once(SEPARATOR).and_then(|(output, rest)| {
            let (status, rest) = rest.split_once('\n')?;
            Some((output, status, rest))
        });
        let Some((output, status, after)) = ended else {
            return Err(format!("{place}\nthe shell ended in this command, which printed\n{rest}"));
        };
        rest = after;
        if let Err(difference) = compare(&block.check, &command.output, output)
            && !is_blessed(block, command, output)
        {
            return Err(format!(
                "{place}\n{difference}\n{CLASSES}\nThe command printed:\n{output}"
            ));
        }
        let is_shown = block.commands.get(index + 1).is_some_and(|next| next.text == "echo $?");
        if status != "0" && !is_shown {
            return Err(format!(
                "{place}\nexit status {status}; show it with a line `$ echo $?` below the output"
            ));
        }
    }
    Ok(())
}

/// Advice for the author of a block whose output differs.
const CLASSES: &str = "If that is right, change the page. If figures differ each time, put the line \
    <!-- test: output varies --> in front of the block. If it cannot be run in a test, \
    <!-- test: not run, REASON -->. A line ... stands for omitted lines. DILIGENCE_BLESS=1 writes outputs without such \
    lines into the page.";

/// If `DILIGENCE_BLESS=1` is set, writes the output of the command into the page. The page must
/// show the whole output.
fn is_blessed(block: &ConsoleBlock, command: &ShownCommand, printed: &str) -> bool {
    static PAGES: Mutex<()> = Mutex::new(());
    let is_wanted = env::var_os("DILIGENCE_BLESS").is_some_and(|value| value == "1");
    if !is_wanted || command.output.iter().any(|line| line == OMITTED) {
        return false;
    }
    let _guard = PAGES.lock().expect("no test panics while it has the lock");
    let path = Path::new(ROOT).join(&block.page);
    let page = fs::read_to_string(&path).expect("the page can be read");
    let prompt = format!("\n$ {}\n", command.text.replace('\n', "\n> "));
    let shown: String = command.output.iter().map(|line| format!("{line}\n")).collect();
    let lines = printed.trim_end().lines().map(|line| format!("{}\n", line.trim_end()));
    let new = format!("{prompt}{}", lines.collect::<String>());
    let old = format!("{prompt}{shown}");
    let is_there = page.contains(&old);
    if is_there {
        fs::write(&path, page.replacen(&old, &new, 1)).expect("the page can be written");
    }
    is_there
}

/// Returns the script that runs all commands. `$?` in a command is the exit status of the previous
/// one.
fn script(block: &ConsoleBlock) -> String {
    let mut script = String::from("exec 2>&1\n");
    for command in &block.commands {
        script.push_str(&command.text);
        script.push_str("\nstatus=$?; printf '\\036%d\\n' \"$status\"; (exit \"$status\")\n");
    }
    script
}

/// A folder with recordings and a running bus, which ends on drop.
struct DocSession {
    folder: TempDir,
    bus: Child,
}

impl DocSession {
    fn new() -> io::Result<Self> {
        let folder = TempDir::new()?;
        let path = folder.path();
        fs::create_dir(path.join("bin"))?;
        let daemon = Path::new(PROGRAM).with_file_name("diligence-bus");
        assert!(daemon.is_file(), "{} is missing; build it with `cargo build`", daemon.display());
        for (link, target) in [
            ("diligence", Path::new(PROGRAM)),
            ("diligence-bus", &daemon),
            ("dbus-daemon", &daemon),
        ] {
            symlink(target, path.join("bin").join(link))?;
        }
        fixtures::write(path)?;
        let bus = start_bus(path)?;
        Ok(Self { folder, bus })
    }

    /// Runs a script, and returns what it prints on standard output and standard error.
    fn run(&self, script: &str) -> io::Result<String> {
        let output = self.folder.path().join("bin/output");
        let mut shell = command(Path::new("/bin/sh"), self.folder.path());
        shell.args(["-c", script]).stdout(fs::File::create(&output)?).process_group(0);
        let mut shell = shell.spawn()?;
        let started = Instant::now();
        let mut is_late = false;
        while shell.try_wait()?.is_none() && !is_late {
            sleep(Duration::from_millis(10));
            is_late = started.elapsed() > TIMEOUT;
        }
        // Kills background processes of the script, too. The process group may be empty already.
        let group = i32::try_from(shell.id()).ok().and_then(Pid::from_raw).expect("a process");
        let _ = rustix::process::kill_process_group(group, Signal::KILL);
        shell.wait()?;
        let printed = fs::read_to_string(&output)?;
        match is_late {
            true => Err(io::Error::other(format!(
                "longer than {TIMEOUT:?}; printed so far:\n{printed}"
            ))),
            false => Ok(printed),
        }
    }
}

impl Drop for DocSession {
    fn drop(&mut self) {
        let _ = self.bus.kill();
        let _ = self.bus.wait();
    }
}

fn start_bus(folder: &Path) -> io::Result<Child> {
    let config = folder.join("bin/bus.conf");
    let text = format!(
        "<busconfig><type>session</type><listen>{}</listen><policy context='default'>\
         <allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
        address(folder)
    );
    fs::write(&config, text)?;
    let mut bus = command(&folder.join("bin/diligence-bus"), folder);
    bus.args(["--nofork", "--print-address=1", "--config-file"]).arg(config);
    // The log of the bus does not belong to the output of a command.
    let mut bus = bus.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    // Connections are accepted once the address is printed.
    let mut address = String::new();
    BufReader::new(bus.stdout.take().expect("a pipe")).read_line(&mut address)?;
    match address.is_empty() {
        true => Err(io::Error::other("the bus did not start")),
        false => Ok(bus),
    }
}

fn address(folder: &Path) -> String {
    format!("unix:path={}", folder.join("bin/bus").display())
}

/// A command that finds only the private bus, and prints the same on every machine.
fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for name in [
        "XDG_RUNTIME_DIR",
        "NOTIFY_SOCKET",
        "LISTEN_FDS",
        "LISTEN_PID",
        "JOURNAL_STREAM",
        "COLUMNS",
    ] {
        command.env_remove(name);
    }
    let path = env::var("PATH").expect("PATH is set");
    command
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .env("HOME", folder)
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .env("DBUS_SESSION_BUS_ADDRESS", address(folder))
        .env("DBUS_SYSTEM_BUS_ADDRESS", address(folder))
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}
