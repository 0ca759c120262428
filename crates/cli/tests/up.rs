//! `diligence up`, as a user runs it: its lines, its page, its end, and the programs of its
//! demonstration.

mod processes;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use client::Connection;
use client::wire::body::Value;
use client::wire::names::ObjectPathBuf;
use processes::{
    PATIENCE, PROGRAM, ProcessFolder, ProcessLines, RunningProcess, children_of, is_alive, send,
    wait_until,
};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use testkit::terminal::texts_of;

/// `up` with words of its own, and its lines.
fn up(folder: &ProcessFolder, words: &[&str]) -> (RunningProcess, ProcessLines) {
    let mut running = RunningProcess::start(&mut folder.diligence(&[&["up"], words].concat()));
    let lines = running.lines();
    (running, lines)
}

/// Waits until all programs of the demonstration are there.
fn wait_for_cast(lines: &ProcessLines) {
    lines.find("the volumes", |line| line.contains("com.example.Volumes"));
    lines.find("traffic", |line| line.contains(" member ") && line.contains("com.example.Volumes"));
}

/// The address in the line that is to be pasted into a shell.
fn address(lines: &ProcessLines) -> String {
    let line = lines.find("the address", |line| line.starts_with("export "));
    let (_, address) = line.split_once("DBUS_SESSION_BUS_ADDRESS=").expect("the variable");
    address.to_owned()
}

/// All that a program has said on standard error, after its end.
fn errors(running: &mut RunningProcess) -> String {
    let mut text = String::new();
    let mut stderr = running.0.stderr.take().expect("it is a pipe, and was not taken");
    stderr.read_to_string(&mut text).expect("it is text");
    text
}

fn assert_all_end(children: &[(u32, String)]) {
    for (pid, command) in children {
        wait_until(&format!("{command} ends"), || !is_alive(*pid));
    }
}

#[test]
fn lines_tell_what_happens() {
    let folder = ProcessFolder::new();
    let (_running, lines) = up(&folder, &["--demo"]);
    let found = address(&lines);
    let inside = format!("unix:path={}/diligence-", folder.path().display());
    assert!(found.starts_with(&inside) && !found.contains("guid"), "{found}");
    lines.find("an example", |line| line.starts_with("gdbus call -e -d com.example.Battery "));
    lines.find("the battery", |line| line.contains(" came ") && line.contains("demo-battery"));
    lines.find("an error", |line| {
        line.ends_with(") called GetAll of com.example.Volumes: UnknownObject")
    });
    let bus = lines.find("all connections", |line| {
        line.contains(" bus ") && line.contains(" 8 connections    7 names    7 rules")
    });
    let words: Vec<&str> = bus.split_whitespace().collect();
    let rate: f64 = words[2].parse().expect("a rate");
    assert!(words[0].ends_with('Z') && words[3] == "msg/s" && rate > 20.0, "{bus}");
}

#[test]
fn the_next_address_of_the_page_is_printed_when_one_was_used() {
    let folder = ProcessFolder::new();
    let (_running, lines) = up(&folder, &[]);
    let first = lines.find("the page", |line| line.starts_with("http://"));
    let (_, port_and_path) = first.split_once("127.0.0.1:").expect("on loopback");
    let (port, path) = port_and_path.split_once('/').expect("it has a path");
    let mut browser = TcpStream::connect(format!("127.0.0.1:{port}")).expect("it listens");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    browser.write_all(request.as_bytes()).expect("it reads");
    let next = lines.find("the next address", |line| line.contains(" page "));
    let address = next.split_whitespace().next_back().expect("a word");
    assert!(address.starts_with(&format!("http://127.0.0.1:{port}/open/")), "{next}");
    assert_ne!(address, first);
}

#[test]
fn sigint_ends_everything() {
    let folder = ProcessFolder::new();
    let (mut running, lines) = up(&folder, &["--demo"]);
    wait_for_cast(&lines);
    let children = children_of(running.pid());
    assert_eq!(children.len(), 9, "{children:#?}");
    running.signal(Signal::INT);
    assert_eq!(running.status().code(), Some(0));
    assert_all_end(&children);
    assert_eq!(folder.buses(), 0);
    assert_eq!(errors(&mut running), "");
}

#[test]
fn everything_ends_even_if_up_is_killed() {
    let folder = ProcessFolder::new();
    let (running, lines) = up(&folder, &["--demo"]);
    wait_for_cast(&lines);
    let children = children_of(running.pid());
    running.signal(Signal::KILL);
    assert_all_end(&children);
}

#[test]
fn a_bus_that_ends_by_itself_is_a_failure() {
    let folder = ProcessFolder::new();
    let (mut running, lines) = up(&folder, &[]);
    lines.find("the first numbers", |line| line.contains(" bus "));
    let [(bus, _)] = children_of(running.pid())[..] else { panic!("the bus alone") };
    send(bus, Signal::KILL);
    assert_eq!(running.status().code(), Some(1));
    let told = errors(&mut running);
    assert!(told.starts_with("diligence up: the bus has ended with signal 9 (SIGKILL)"), "{told}");
    assert_eq!(folder.buses(), 0);
}

#[test]
fn the_address_can_be_chosen() {
    let folder = ProcessFolder::new();
    let wanted = format!("unix:path={}/own%20bus", folder.path().display());
    let (mut running, lines) = up(&folder, &["--address", &wanted]);
    let found = address(&lines);
    Connection::open(&wanted).expect("the bus listens there");
    running.signal(Signal::TERM);
    assert_eq!(running.status().code(), Some(0));
    assert_eq!(found, wanted);
}

#[test]
fn a_bad_start_is_told() {
    let folder = ProcessFolder::new();
    for (address, status, expected) in [
        ("nonsense", 2, "nonsense"),
        ("unixexec:path=/bin/true", 2, "nothing can listen at unixexec:path=/bin/true"),
        ("unix:path=/nonexistent/bus", 1, "diligence up: the bus did not start"),
    ] {
        let (mut running, _lines) = up(&folder, &["--address", address]);
        assert_eq!(running.status().code(), Some(status), "{address}");
        let told = errors(&mut running);
        assert!(told.contains(expected), "{address}: {told}");
    }
    assert_eq!(folder.buses(), 0);
}

#[test]
fn the_programs_of_the_demonstration_can_be_used() {
    let folder = ProcessFolder::new();
    let (_running, lines) = up(&folder, &["--demo"]);
    let bus = Connection::open(&address(&lines)).expect("the bus listens");
    wait_for_cast(&lines);

    let battery = ("com.example.Battery", "/com/example/Battery", "com.example.Battery1");
    let battery = bus.proxy(battery.0, battery.1, battery.2).expect("names");
    let changes = battery.property_changes().expect("a subscription");
    let (seconds,): (i64,) =
        battery.call("SetPowerProfile", &("saver",)).expect("a call").read().expect("a number");
    assert!(seconds > 300, "{seconds}");
    let changed = changes.next(Some(PATIENCE)).expect("a connection").expect("a signal in time");
    type PropertiesChangedBody = (String, BTreeMap<String, Value>, Vec<String>);
    let (_, changed, _): PropertiesChangedBody = changed.read().expect("the standard types");
    assert!(!changed.is_empty());

    let manager = "org.freedesktop.DBus.ObjectManager";
    let volumes = bus.proxy("com.example.Volumes", "/com/example/Volumes", manager).expect("names");
    type Managed = BTreeMap<ObjectPathBuf, BTreeMap<String, BTreeMap<String, Value>>>;
    let reply = volumes.call("GetManagedObjects", &()).expect("a call");
    let (managed,): (Managed,) = reply.read().expect("the standard types");
    assert_eq!(managed.len(), 1000);

    let room = bus.proxy("com.example.Chat", "/com/example/Chat", "com.example.Chat1");
    let room = room.expect("names");
    let said = room.signals("Said").expect("a subscription");
    room.call("Join", &("tester",)).expect("a call");
    let members: Vec<String> = room.get("Members").expect("a property");
    assert!(members.contains(&"tester".into()), "{members:?}");
    said.next(Some(PATIENCE)).expect("a connection").expect("somebody talks");

    let peer = bus.proxy("com.example.Chat.Anna", "/com/example/ChatPeer", "com.example.ChatPeer1");
    let answer = peer.expect("names").call("Whisper", &("tester", "hello")).expect("a call");
    let (answer,): (&str,) = answer.read().expect("a text");
    assert!(answer.starts_with("Yes, tester."), "{answer}");
}

/// A terminal that the program believes to be a person's.
struct UpTerminal {
    master: File,
    screen: Receiver<String>,
    running: RunningProcess,
    /// The program's side, to look at its settings.
    line: OwnedFd,
}

impl UpTerminal {
    fn start(folder: &ProcessFolder, words: &[&str], size: (u16, u16)) -> Self {
        Self::start_command(folder, &[&[PROGRAM], words].concat(), size)
    }

    fn start_command(folder: &ProcessFolder, command_line: &[&str], size: (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let open = || File::options().read(true).write(true).open(name.to_str().expect("text"));
        let line = open().expect("the other side");
        let size = Winsize { ws_col: size.0, ws_row: size.1, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it is a terminal");
        // The size of the page is that of the controlling terminal: not the one that the tests run in.
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(command_line).env("XDG_RUNTIME_DIR", folder.path());
        let stdio = || Stdio::from(line.try_clone().expect("descriptors are left"));
        let running = RunningProcess::start(command.stdin(stdio()).stdout(stdio()).stderr(stdio()));
        drop(command);
        let master = File::from(master);
        let screen = texts_of(master.try_clone().expect("descriptors are left"));
        Self { master, screen, running, line: line.into() }
    }

    /// Waits until the program has written a word, and returns all up to there. Between words there
    /// may be jumps instead of spaces.
    fn wait_for(&self, word: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = String::new();
        while !seen.contains(word) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(more) = self.screen.recv_timeout(left) else {
                panic!("{word:?} does not come after {seen:?}")
            };
            seen.push_str(&more);
        }
        seen
    }

    fn press(&mut self, keys: &str) {
        self.press_bytes(keys.as_bytes());
    }

    fn press_bytes(&mut self, keys: &[u8]) {
        self.master.write_all(keys).expect("the program is there");
    }

    /// Whether keys are passed on one by one, as for a page, not line by line.
    fn is_raw(&self) -> bool {
        let settings = tcgetattr(&self.line).expect("it is a terminal");
        !settings.local_modes.contains(LocalModes::ICANON)
    }
}

#[test]
fn a_terminal_shows_the_page_and_is_given_back() {
    type EndTerminal = fn(&mut UpTerminal);
    let ends: [(&str, EndTerminal); 3] = [
        ("q", |terminal| terminal.press("q")),
        ("Ctrl-C", |terminal| terminal.press("\x03")),
        ("SIGTERM", |terminal| terminal.running.signal(Signal::TERM)),
    ];
    for (name, end) in ends {
        let folder = ProcessFolder::new();
        let mut terminal = UpTerminal::start(&folder, &["up"], (80, 24));
        let start = terminal.wait_for("Paste");
        assert!(start.starts_with("export DBUS_SESSION_BUS_ADDRESS="), "{start:?}");
        assert!(start.contains(ENTER), "{start:?}");
        assert!(terminal.is_raw());
        terminal.press("h");
        terminal.wait_for("Help:");
        terminal.press("x");
        end(&mut terminal);
        terminal.wait_for(LEAVE);
        assert_eq!(terminal.running.status().code(), Some(0), "{name}");
        assert!(!terminal.is_raw(), "{name}");
        assert_eq!(folder.buses(), 0, "{name}");
    }
}

#[test]
fn the_page_follows_the_size_of_the_terminal() {
    let folder = ProcessFolder::new();
    let terminal = UpTerminal::start(&folder, &["up"], (60, 15));
    let narrow = terminal.wait_for("Paste");
    assert!(!narrow.contains("RULES"), "{narrow:?}");
    let size = Winsize { ws_col: 120, ws_row: 40, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&terminal.master, size).expect("it is a terminal");
    terminal.wait_for("RULES");
}

/// A shell with job control runs the page, and continues it when a line is entered.
#[test]
fn a_suspended_page_gives_the_terminal_to_the_shell() {
    type Suspend = fn(&mut UpTerminal);
    let ways: [(&str, Suspend); 2] = [
        ("Ctrl-Z", |terminal| terminal.press("\x1a")),
        ("SIGTSTP", |terminal| {
            let [(page, _)] = children_of(terminal.running.pid())[..] else { panic!("the page") };
            send(page, Signal::TSTP);
        }),
    ];
    for (name, suspend) in ways {
        let folder = ProcessFolder::new();
        let script = format!("set -m; {PROGRAM} up; echo it is STOPPED; read line; fg; exit $?");
        let mut terminal = UpTerminal::start_command(&folder, &["bash", "-c", &script], (80, 24));
        terminal.wait_for("Paste");
        suspend(&mut terminal);
        let stopped = terminal.wait_for("STOPPED");
        assert!(stopped.contains(LEAVE), "{name}: {stopped:?}");
        assert!(!terminal.is_raw(), "{name}");
        terminal.press("\n");
        let continued = terminal.wait_for("Paste");
        assert!(continued.contains(ENTER), "{name}: {continued:?}");
        terminal.press("q");
        terminal.wait_for(LEAVE);
        assert_eq!(terminal.running.status().code(), Some(0), "{name}");
        assert!(!terminal.is_raw(), "{name}");
    }
}

#[test]
fn a_page_that_no_shell_could_continue_is_not_suspended() {
    let folder = ProcessFolder::new();
    let mut terminal = UpTerminal::start(&folder, &["up"], (80, 24));
    terminal.wait_for("Paste");
    terminal.press("\x1a");
    let again = terminal.wait_for("Paste");
    assert!(again.contains(LEAVE) && again.contains(ENTER), "{again:?}");
    terminal.press("q");
    terminal.wait_for(LEAVE);
    assert_eq!(terminal.running.status().code(), Some(0));
}

#[test]
fn input_that_comes_in_pieces_is_put_together() {
    let folder = ProcessFolder::new();
    let (_bus, lines) = up(&folder, &[]);
    let bus = address(&lines);
    let mut top = UpTerminal::start(&folder, &["top", "--address", &bus], (80, 24));
    top.wait_for("service,");
    top.press("f");
    top.wait_for("query:");
    // A letter, an arrow key that is split after the escape character, and another one.
    for piece in ["x", "\x1b", "[A", "y"] {
        top.press(piece);
    }
    thread::sleep(Duration::from_millis(100));
    top.press_bytes(b"\xc3");
    thread::sleep(Duration::from_millis(100));
    top.press_bytes(b"\xa9");
    // What is pasted is text, whatever keys it looks like, and a line break does not end it.
    top.press("\x1b[200~z\nq\x1b[201~");
    let typed = top.wait_for("q");
    assert!(!typed.contains("[A"), "{typed:?}");
    top.press("\r");
    top.wait_for("xy\u{e9}zq");
    top.press("q");
    top.wait_for(LEAVE);
    assert_eq!(top.running.status().code(), Some(0));
}

/// What takes the screen of a terminal, and what gives it back.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
