//! Texts that a peer sends to the terminal of somebody who looks at the bus.

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

/// Sets the title, clears the screen, colors (by C1), begins a line of its own, turns the direction, and
/// hides characters.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\r\nforged: line\u{202e}\u{2028}\u{7f}y\
                       \u{feff}\u{200b}\u{e0041}\u{e007f}z";

/// What of it can stand in XML.
const DOCUMENT: &str = "<node><interface name='org.example.Hostile'>\
    <method name='Tell'><arg name='a&#10;forged: &#x202e;&#x9b;' type='s' direction='out'/></method>\
    <method name='Fail'/><method name='b&#10;forged: &#x202e;'/>\
    <property name='Text' type='s' access='read'/></interface>\
    <node name='c&#10;forged: &#x202e;'/></node>";

const FAILURE: ErrorName<'static> = ErrorName::literal("org.example.Error.Hostile");

const NAME: &str = "org.example.Hostile";

/// Columns of a wide terminal.
const COLUMNS: u16 = 200;

/// A bus with a service that answers everything with hostile texts and emits them.
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
            connection.request_name(NAME, NameFlags::NONE).expect("nobody has it");
            ready.send(()).expect("the test waits");
            loop {
                match connection.next_request(Some(Duration::from_millis(20))) {
                    Ok(Some(request)) => answer(&request),
                    Ok(None) => {
                        connection.emit("/", NAME, "Told", &(HOSTILE,)).expect("it is valid");
                        connection.flush().expect("the bus is there");
                    }
                    Err(_) => return,
                }
            }
        });
        is_ready.recv().expect("it has the name");
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
        "Introspect" => request.reply(&("<node/>",)),
        "Fail" => request.reply_error(FAILURE, HOSTILE),
        "Get" => request.reply(&(Variant(HOSTILE),)),
        "GetAll" => {
            let pair = (HOSTILE, Variant(HOSTILE));
            request.reply(&(BTreeMap::from([pair]),))
        }
        _ => request.reply(&(HOSTILE,)),
    };
    sent.expect("the bus takes it");
}

/// What a program prints whose output is a terminal with so many columns.
pub(crate) fn on_a_terminal(mut command: Command, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("it is ours");
    let size = Winsize { ws_col: columns, ws_row: 100, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).expect("it is a terminal");
    let name = ptsname(&master, Vec::new()).expect("it has a name");
    let name = name.to_str().expect("it is ASCII").to_owned();
    let line = || File::options().read(true).write(true).open(&name).expect("the other side");
    let mut child = command.stdout(line()).stderr(line()).spawn().expect("the program exists");
    drop(command);
    let mut output = Vec::new();
    // It fails when nobody has the other side any more.
    let mut master = File::from(master);
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = master.read(&mut buffer) {
        output.extend_from_slice(&buffer[..count]);
    }
    child.wait().expect("it is our child");
    String::from_utf8(output).expect("it is text")
}

/// Checks that only line breaks and colors are left of what a terminal obeys.
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

/// Checks in addition that a text of a peer begins no line.
fn check_lines(line: &str, output: &str) {
    check(line, output);
    assert!(!output.lines().any(|line| line.starts_with("forged")), "{line}: {output}");
}

#[test]
fn texts_of_peers_do_nothing_on_a_terminal() {
    let stage = HostileService::new();
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
        let output = stage.on_a_terminal(line);
        check_lines(line, &output);
        assert!(!output.is_empty(), "{line}");
        assert!(!is_shown || output.contains("owned"), "{line}: {output}");
    }
    // What is meant to have line breaks has them, and nothing else.
    for line in [
        "call org.example.Hostile / org.example.Hostile Tell --print-reply=literal",
        "show hostile.pcapng --as-command busctl",
        "show hostile.pcapng --as-command python",
    ] {
        let output = stage.on_a_terminal(line);
        check(line, &output);
        assert!(output.contains("owned"), "{line}: {output}");
    }
}

#[test]
fn programs_get_texts_of_peers_as_the_tools_print_them() {
    let stage = HostileService::new();
    let output = stage.command("monitor -N 4 --match member='Told'").output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert!(text.contains(&format!("STRING \"{HOSTILE}\";")), "{text:?}");
}

#[test]
fn full_screens_obey_no_text_of_a_peer() {
    let stage = HostileService::new();
    for line in ["top --interval 200ms", "timeline --live", "lint --live"] {
        let mut command = Command::new("timeout");
        let inner = stage.command(line);
        command.args(["--foreground", "-s", "INT", "2"]).arg(inner.get_program());
        command.args(inner.get_args()).env("DBUS_SESSION_BUS_ADDRESS", &stage.bus.address);
        command.env("TERM", "xterm").current_dir(stage.folder.join(""));
        let output = on_a_terminal(command, COLUMNS);
        assert!(output.contains(NAME) || !line.starts_with("top"), "{line}: {output}");
        for part in ["\u{1b}]0;", "\u{7}", "\u{9b}", "\u{202e}", "\u{2028}", "\u{7f}", "\u{feff}"] {
            assert!(!output.contains(part), "{line}: {part:?} in {output:?}");
        }
    }
}
