//! Tests of `diligence up` as a process: its lines, its page, its exit, and the demo programs.

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
    PROGRAM, ProcessFolder, ProcessLines, RunningProcess, WAIT_TIMEOUT, children_of, is_alive,
    send, wait_until,
};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use testkit::terminal::texts_of;

/// Starts `up` with arguments, and returns its lines.
fn up(folder: &ProcessFolder, words: &[&str]) -> (RunningProcess, ProcessLines) {
    let mut running = RunningProcess::start(&mut folder.diligence(&[&["up"], words].concat()));
    let lines = running.lines();
    (running, lines)
}

/// Waits until all demo programs are connected.
fn wait_for_demo(lines: &ProcessLines) {
    lines.find("the volumes", |line| line.contains("com.example.Volumes"));
    lines.find("traffic", |line| line.contains(" member ") && line.contains("com.example.Volumes"));
}

/// Returns the address from the `export` line.
fn address(lines: &ProcessLines) -> String {
    let line = lines.find("the address", |line| line.starts_with("export "));
    let (_, address) = line.split_once("DBUS_SESSION_BUS_ADDRESS=").expect("the variable");
    address.to_owned()
}

/// Returns the standard error of a process that has exited.
fn errors(running: &mut RunningProcess) -> String {
    let mut text = String::new();
    let mut stderr = running.0.stderr.take().expect("a pipe that was not taken before");
    stderr.read_to_string(&mut text).expect("valid UTF-8");
    text
}

fn assert_all_exit(children: &[(u32, String)]) {
    for (pid, command) in children {
        wait_until(&format!("{command} ends"), || !is_alive(*pid));
    }
}

#[test]
fn lines_show_traffic_and_totals() {
    let folder = ProcessFolder::new();
    let (_running, lines) = up(&folder, &["--demo"]);
    let found = address(&lines);
    let inside = format!("unix:path={}/diligence-", folder.path().display());
    assert!(found.starts_with(&inside) && !found.contains("guid"), "{found}");
    lines.find("an example", |line| line.starts_with("gdbus call -e -d com.example.Battery "));
    lines.find("the battery", |line| line.contains(" connected ") && line.contains("demo-battery"));
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
    let (_, port_and_path) = first.split_once("127.0.0.1:").expect("a loopback address");
    let (port, path) = port_and_path.split_once('/').expect("an address with a path");
    let mut browser =
        TcpStream::connect(format!("127.0.0.1:{port}")).expect("the page accepts connections");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    browser.write_all(request.as_bytes()).expect("the process reads its input");
    let next = lines.find("the next address", |line| line.contains(" page "));
    let address = next.split_whitespace().next_back().expect("a word");
    assert!(address.starts_with(&format!("http://127.0.0.1:{port}/open/")), "{next}");
    assert_ne!(address, first);
}

#[test]
fn sigint_stops_the_bus_and_the_demo_programs() {
    let folder = ProcessFolder::new();
    let (mut running, lines) = up(&folder, &["--demo"]);
    wait_for_demo(&lines);
    let children = children_of(running.pid());
    assert_eq!(children.len(), 9, "{children:#?}");
    running.signal(Signal::INT);
    assert_eq!(running.status().code(), Some(0));
    assert_all_exit(&children);
    assert_eq!(folder.buses(), 0);
    assert_eq!(errors(&mut running), "");
}

#[test]
fn the_bus_and_the_demo_programs_exit_if_up_is_killed() {
    let folder = ProcessFolder::new();
    let (running, lines) = up(&folder, &["--demo"]);
    wait_for_demo(&lines);
    let children = children_of(running.pid());
    running.signal(Signal::KILL);
    assert_all_exit(&children);
}

#[test]
fn up_fails_if_the_bus_exits() {
    let folder = ProcessFolder::new();
    let (mut running, lines) = up(&folder, &[]);
    lines.find("the first numbers", |line| line.contains(" bus "));
    let [(bus, _)] = children_of(running.pid())[..] else { panic!("the bus alone") };
    send(bus, Signal::KILL);
    assert_eq!(running.status().code(), Some(1));
    let errors_text = errors(&mut running);
    assert!(
        errors_text.starts_with("diligence up: the bus has ended with signal 9 (SIGKILL)"),
        "{errors_text}"
    );
    assert_eq!(folder.buses(), 0);
}

#[test]
fn the_bus_listens_at_the_given_address() {
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
fn failed_starts_are_reported() {
    let folder = ProcessFolder::new();
    for (address, status, expected) in [
        ("nonsense", 2, "nonsense"),
        ("unixexec:path=/bin/true", 2, "a bus cannot listen at unixexec:path=/bin/true"),
        ("unix:path=/nonexistent/bus", 1, "diligence up: the bus did not start"),
    ] {
        let (mut running, _lines) = up(&folder, &["--address", address]);
        assert_eq!(running.status().code(), Some(status), "{address}");
        let errors_text = errors(&mut running);
        assert!(errors_text.contains(expected), "{address}: {errors_text}");
    }
    assert_eq!(folder.buses(), 0);
}

#[test]
fn demo_services_reply_and_emit_signals() {
    let folder = ProcessFolder::new();
    let (_running, lines) = up(&folder, &["--demo"]);
    let bus = Connection::open(&address(&lines)).expect("the bus listens");
    wait_for_demo(&lines);

    let battery = ("com.example.Battery", "/com/example/Battery", "com.example.Battery1");
    let battery = bus.proxy(battery.0, battery.1, battery.2).expect("names");
    let changes = battery.property_changes().expect("a subscription");
    let (seconds,): (i64,) =
        battery.call("SetPowerProfile", &("saver",)).expect("a call").read().expect("a number");
    assert!(seconds > 300, "{seconds}");
    let changed =
        changes.next(Some(WAIT_TIMEOUT)).expect("a connection").expect("a signal in time");
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
    said.next(Some(WAIT_TIMEOUT)).expect("a connection").expect("a chat message");

    let peer = bus.proxy("com.example.Chat.Anna", "/com/example/ChatPeer", "com.example.ChatPeer1");
    let answer = peer.expect("names").call("Whisper", &("tester", "hello")).expect("a call");
    let (answer,): (&str,) = answer.read().expect("a text");
    assert!(answer.starts_with("Yes, tester."), "{answer}");
}

/// A pseudoterminal in which the program runs.
struct UpTerminal {
    master: File,
    screen: Receiver<String>,
    running: RunningProcess,
    /// The program's side of the terminal, for reading its settings.
    line: OwnedFd,
}

impl UpTerminal {
    fn start(folder: &ProcessFolder, words: &[&str], size: (u16, u16)) -> Self {
        Self::start_command(folder, &[&[PROGRAM], words].concat(), size)
    }

    fn start_command(folder: &ProcessFolder, command_line: &[&str], size: (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("a pseudoterminal");
        let name = ptsname(&master, Vec::new()).expect("the path of the terminal");
        let open = || File::options().read(true).write(true).open(name.to_str().expect("text"));
        let line = open().expect("the other side");
        let size = Winsize { ws_col: size.0, ws_row: size.1, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a terminal");
        // The page takes its size from the controlling terminal, which must not be the tests' own.
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(command_line).env("XDG_RUNTIME_DIR", folder.path());
        let stdio = || Stdio::from(line.try_clone().expect("a free descriptor"));
        let running = RunningProcess::start(command.stdin(stdio()).stdout(stdio()).stderr(stdio()));
        drop(command);
        let master = File::from(master);
        let screen = texts_of(master.try_clone().expect("a free descriptor"));
        Self { master, screen, running, line: line.into() }
    }

    /// Waits until the program has written a word, and returns all output so far. Cursor movements
    /// may replace the spaces between words.
    fn wait_for(&self, word: &str) -> String {
        let deadline = Instant::now() + WAIT_TIMEOUT;
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
        self.master.write_all(keys).expect("the program reads the terminal");
    }

    /// Returns true if the terminal passes on single keys, as a page needs, rather than lines.
    fn is_raw(&self) -> bool {
        let settings = tcgetattr(&self.line).expect("a terminal");
        !settings.local_modes.contains(LocalModes::ICANON)
    }
}

#[test]
fn the_terminal_shows_the_page_and_is_restored_at_exit() {
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
        assert!(start.contains(ENTER_ALTERNATE_SCREEN), "{start:?}");
        assert!(terminal.is_raw());
        terminal.press("h");
        terminal.wait_for("Help:");
        terminal.press("x");
        end(&mut terminal);
        terminal.wait_for(LEAVE_ALTERNATE_SCREEN);
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
    tcsetwinsize(&terminal.master, size).expect("a terminal");
    terminal.wait_for("RULES");
}

/// A shell with job control runs the page. A line of input makes the shell continue it.
#[test]
fn a_suspended_page_gives_the_terminal_to_the_shell() {
    type Suspend = fn(&mut UpTerminal);
    let suspensions: [(&str, Suspend); 2] = [
        ("Ctrl-Z", |terminal| terminal.press("\x1a")),
        ("SIGTSTP", |terminal| {
            let [(page, _)] = children_of(terminal.running.pid())[..] else { panic!("the page") };
            send(page, Signal::TSTP);
        }),
    ];
    for (name, suspend) in suspensions {
        let folder = ProcessFolder::new();
        let script = format!("set -m; {PROGRAM} up; echo it is STOPPED; read line; fg; exit $?");
        let mut terminal = UpTerminal::start_command(&folder, &["bash", "-c", &script], (80, 24));
        terminal.wait_for("Paste");
        suspend(&mut terminal);
        let stopped = terminal.wait_for("STOPPED");
        assert!(stopped.contains(LEAVE_ALTERNATE_SCREEN), "{name}: {stopped:?}");
        assert!(!terminal.is_raw(), "{name}");
        terminal.press("\n");
        let continued = terminal.wait_for("Paste");
        assert!(continued.contains(ENTER_ALTERNATE_SCREEN), "{name}: {continued:?}");
        terminal.press("q");
        terminal.wait_for(LEAVE_ALTERNATE_SCREEN);
        assert_eq!(terminal.running.status().code(), Some(0), "{name}");
        assert!(!terminal.is_raw(), "{name}");
    }
}

#[test]
fn a_page_without_a_shell_is_not_suspended() {
    let folder = ProcessFolder::new();
    let mut terminal = UpTerminal::start(&folder, &["up"], (80, 24));
    terminal.wait_for("Paste");
    terminal.press("\x1a");
    let again = terminal.wait_for("Paste");
    assert!(
        again.contains(LEAVE_ALTERNATE_SCREEN) && again.contains(ENTER_ALTERNATE_SCREEN),
        "{again:?}"
    );
    terminal.press("q");
    terminal.wait_for(LEAVE_ALTERNATE_SCREEN);
    assert_eq!(terminal.running.status().code(), Some(0));
}

#[test]
fn split_escape_sequences_and_pasted_text_are_read() {
    let folder = ProcessFolder::new();
    let (_bus, lines) = up(&folder, &[]);
    let bus = address(&lines);
    let mut top = top_with_split_arrow_key(&folder, &bus);
    // Each part of the character must arrive in a read of its own, which cannot be observed.
    thread::sleep(Duration::from_millis(100));
    top.press_bytes(b"\xc3");
    thread::sleep(Duration::from_millis(100));
    top.press_bytes(b"\xa9");
    // Pasted text is literal, even if it contains keys, and a line break does not end it.
    top.press("\x1b[200~z\nq\x1b[201~");
    let typed = top.wait_for("q");
    assert!(!typed.contains("[A"), "{typed:?}");
    top.press("\r");
    top.wait_for("xy\u{e9}zq");
    top.press("q");
    top.wait_for(LEAVE_ALTERNATE_SCREEN);
    assert_eq!(top.running.status().code(), Some(0));
}

/// Starts the live page, opens its query, and types a letter, an arrow key that is split after the
/// escape character, and a letter. On a busy machine the halves can come so late after each other
/// that the escape character is a key of its own. Then the function starts again with a new page.
fn top_with_split_arrow_key(folder: &ProcessFolder, bus: &str) -> UpTerminal {
    for _ in 0..SPLIT_ATTEMPTS_MAX {
        let mut top = UpTerminal::start(folder, &["top", "--address", bus], (80, 24));
        top.wait_for("service,");
        top.press("f");
        top.wait_for("query:");
        let start = Instant::now();
        for piece in ["x", "\x1b", "[A", "y"] {
            top.press(piece);
        }
        if start.elapsed() < SPLIT_TIME_MAX {
            return top;
        }
    }
    panic!("the machine is too busy to press four keys within {SPLIT_TIME_MAX:?}")
}

/// The halves of a key come in time if they come within half of the time that the page waits.
const SPLIT_TIME_MAX: Duration = Duration::from_millis(10);
const SPLIT_ATTEMPTS_MAX: usize = 20;

/// The escape sequences that switch to the alternate screen and back.
const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?1049l";
