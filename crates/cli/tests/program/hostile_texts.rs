//! Texts from peers that contain terminal control sequences.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use client::wire::body::Variant;
use client::wire::names::ErrorName;
use client::{Connection, IncomingCall, NameFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::recorder::OurBus;
use crate::support::ProgramFolder;

/// Sets the title, clears the screen, sets a color (with C1), begins a line, reverses the text
/// direction, and hides characters.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\nforged: line\u{202e}\u{2028}\u{7f}y\
                       \u{feff}\u{200b}\u{e0041}\u{e007f}z";

/// The parts of the hostile text that XML allows.
const DOCUMENT: &str = "<node><interface name='org.example.Hostile'>\
    <method name='Tell'><arg name='a&#10;forged: &#x202e;&#x9b;' type='s' direction='out'/></method>\
    <method name='Fail'/><method name='b&#10;forged: &#x202e;'/>\
    <property name='Text' type='s' access='read'/></interface>\
    <node name='c&#10;forged: &#x202e;'/></node>";

const FAILURE: ErrorName<'static> = ErrorName::literal("org.example.Error.Hostile");

const NAME: &str = "org.example.Hostile";

/// Columns of a wide terminal.
const COLUMNS: u16 = 200;

/// A bus with a service that replies to all calls with hostile texts, and emits them.
struct HostileService {
    folder: ProgramFolder,
    bus: OurBus,
}

impl HostileService {
    fn new() -> Self {
        let folder = ProgramFolder::new();
        let bus = OurBus::start(&folder);
        let (address, (ready, is_ready)) = (bus.address.clone(), mpsc::channel());
        thread::spawn(move || {
            let connection = Connection::open(&address).expect("the bus is there");
            connection.request_name(NAME, NameFlags::NONE).expect("the name is free");
            ready.send(()).expect("the test waits");
            loop {
                match connection.next_request(Some(Duration::from_millis(20))) {
                    Ok(Some(request)) => answer(&request),
                    Ok(None) => {
                        connection
                            .emit("/", NAME, "Changed", &(HOSTILE,))
                            .expect("a valid message");
                        connection.flush().expect("the bus is there");
                    }
                    Err(_) => return,
                }
            }
        });
        is_ready.recv().expect("the service has its name");
        Self { folder, bus }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.folder.diligence();
        command.args(line.split(' ')).env("DBUS_SESSION_BUS_ADDRESS", &self.bus.address);
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        command
    }

    fn on_a_terminal(&self, line: &str) -> String {
        on_a_terminal(self.command(line), COLUMNS)
    }
}

fn answer(request: &IncomingCall) {
    let message = request.message();
    let sent = match message.member().unwrap_or_default() {
        "Introspect" if message.path() == Some("/") => request.reply(&(DOCUMENT,)),
        "Introspect" if message.path() == Some("/refused") => request.reply_error(FAILURE, HOSTILE),
        "Introspect" => request.reply(&("<node/>",)),
        "Fail" => request.reply_error(FAILURE, HOSTILE),
        "Get" => request.reply(&(Variant(HOSTILE),)),
        "GetAll" => {
            let pair = (HOSTILE, Variant(HOSTILE));
            request.reply(&(BTreeMap::from([pair]),))
        }
        _ => request.reply(&(HOSTILE,)),
    };
    sent.expect("the bus accepts the reply");
}

/// Returns what a program prints on a terminal with this number of columns.
pub(crate) fn on_a_terminal(mut command: Command, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("a pseudoterminal");
    let size = Winsize { ws_col: columns, ws_row: 100, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("the path of the terminal");
    let name = name.to_str().expect("an ASCII path").to_owned();
    let line = || File::options().read(true).write(true).open(&name).expect("the other side");
    let mut child = command.stdout(line()).stderr(line()).spawn().expect("the program exists");
    drop(command);
    let mut output = Vec::new();
    // Reading fails when no process has the slave side open.
    let mut master = File::from(master);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        output.extend_from_slice(&buffer[..count]);
    }
    child.wait().expect("a child process");
    String::from_utf8(output).expect("valid UTF-8")
}

/// Checks that the output contains no control sequences except line breaks and colors.
fn check(line: &str, output: &str) {
    let mut rest = output.replace("\r\n", "\n").replace("\r\x1b[K", "");
    while let Some(start) = rest.find("\x1b[") {
        let len = rest[start + 2..].find(|c: char| !c.is_ascii_digit() && c != ';');
        let end = start + 2 + len.expect("a sequence has an end");
        assert_eq!(&rest[end..=end], "m", "{line}: {output:?}");
        rest.replace_range(start..=end, "");
    }
    let is_unsafe = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            || matches!(c, '\u{feff}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!rest.contains(is_unsafe), "{line}: {output:?}");
}

/// Checks in addition that no line begins with a text of a peer.
fn check_lines(line: &str, output: &str) {
    check(line, output);
    assert!(!output.lines().any(|line| line.starts_with("forged")), "{line}: {output}");
}

#[test]
fn texts_of_peers_are_escaped_on_a_terminal() {
    let service = HostileService::new();
    for (line, is_shown) in [
        ("monitor -N 4", true),
        ("monitor -N 4 --format gdbus", true),
        ("monitor -N 4 --format dbus-send", true),
        ("monitor -N 4 --json=short", true),
        ("monitor -N 4 --json=pretty", true),
        ("call org.example.Hostile / org.example.Hostile Tell", true),
        ("call org.example.Hostile / org.example.Hostile Tell --format verbose", true),
        ("call org.example.Hostile / org.example.Hostile Tell --format gvariant", true),
        ("call org.example.Hostile / org.example.Hostile Tell --format dbus-send", true),
        ("call org.example.Hostile / org.example.Hostile Tell --format json", true),
        ("call org.example.Hostile / org.example.Hostile Tell --format pretty", true),
        ("call org.example.Hostile / org.example.Hostile Fail", true),
        ("get org.example.Hostile / org.example.Hostile Text", true),
        ("get org.example.Hostile / org.example.Hostile Text --format pretty", true),
        ("introspect org.example.Hostile /", false),
        ("introspect org.example.Hostile / --format gdbus", false),
        ("introspect org.example.Hostile /refused", true),
        ("introspect org.example.Hostile /refused --code rust", true),
        ("tree org.example.Hostile", false),
        ("list", false),
        ("status", false),
        ("record --max-time 500ms -o hostile.pcapng", false),
        ("show hostile.pcapng", true),
        ("show hostile.pcapng --format gdbus", true),
        ("show hostile.pcapng --format dbus-send", true),
        ("show hostile.pcapng --format json", true),
        ("show hostile.pcapng --format lossless", true),
        ("stats hostile.pcapng", false),
        ("lint hostile.pcapng", false),
        ("timeline hostile.pcapng", false),
        ("export hostile.pcapng --format csv", true),
        ("export hostile.pcapng --format json", true),
        ("export hostile.pcapng --format dot", false),
        ("export hostile.pcapng --format chrome-trace", false),
    ] {
        let output = service.on_a_terminal(line);
        check_lines(line, &output);
        assert!(!output.is_empty(), "{line}");
        assert!(!is_shown || output.contains("owned"), "{line}: {output}");
    }
    // Formats in which the text keeps its line breaks, but no other control characters.
    for line in [
        "call org.example.Hostile / org.example.Hostile Tell --print-reply=literal",
        "show hostile.pcapng --as-command busctl",
        "show hostile.pcapng --as-command python",
    ] {
        let output = service.on_a_terminal(line);
        check(line, &output);
        assert!(output.contains("owned"), "{line}: {output}");
    }
}

#[test]
fn texts_of_peers_are_unchanged_in_a_pipe() {
    let service = HostileService::new();
    let output = service
        .command("monitor -N 4 --match member='Changed'")
        .output()
        .expect("the program exists");
    let text = String::from_utf8(output.stdout).expect("valid UTF-8");
    assert!(text.contains(&format!("STRING \"{HOSTILE}\";")), "{text:?}");
}

#[test]
fn texts_of_peers_are_escaped_on_full_screen_pages() {
    let service = HostileService::new();
    for line in ["top --interval 200ms", "timeline --live", "lint --live"] {
        let mut command = Command::new("timeout");
        let inner = service.command(line);
        command.args(["--foreground", "-s", "INT", "2"]).arg(inner.get_program());
        command.args(inner.get_args()).env("DBUS_SESSION_BUS_ADDRESS", &service.bus.address);
        command.env("TERM", "xterm").current_dir(service.folder.join(""));
        let output = on_a_terminal(command, COLUMNS);
        assert!(output.contains(NAME) || !line.starts_with("top"), "{line}: {output}");
        for part in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}", "\u{2028}", "\u{7f}", "\u{feff}"] {
            assert!(!output.contains(part), "{line}: {part:?} in {output:?}");
        }
    }
}
