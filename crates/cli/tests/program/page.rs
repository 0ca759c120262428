//! `diligence view`: for whom the page is.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::recorder::OurBus;
use crate::scene::{OFFICE, office, run};
use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// Sends a request to a port, with these fields; bash has connections.
const ASK: &str = "exec 3<>/dev/tcp/127.0.0.1/$1 && \
    printf 'GET %s HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\n%bConnection: close\\r\\n\\r\\n' \
    \"$2\" \"$1\" \"$3\" >&3 && timeout 5 cat <&3";

const NOBODY: u32 = 65534;

/// An address that the program has printed.
struct PageAddress {
    port: String,
    path: String,
}

impl PageAddress {
    fn of(line: &str) -> Self {
        let rest = line.strip_prefix("http://127.0.0.1:").expect("an address");
        let (port, path) = rest.split_once('/').expect("it has a path");
        Self { port: port.to_owned(), path: format!("/{path}") }
    }

    fn ask(&self, path: &str, fields: &str) -> Command {
        let mut command = Command::new("bash");
        command.args(["-c", ASK, "ask", &self.port, path, fields]).stdin(Stdio::null());
        command
    }
}

fn answer(command: &mut Command) -> String {
    text(&command.output().expect("bash is there").stdout)
}

fn view(folder: &ProgramFolder) -> (SpawnedProgram, PageAddress) {
    let mut program = SpawnedProgram::start(folder.diligence().args(["view", "--no-open", OFFICE]));
    let address = PageAddress::of(&program.line());
    (program, address)
}

fn cookie_of(answer: &str) -> String {
    let field = answer.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    let cookie = field.unwrap_or_else(|| panic!("no cookie: {answer}"));
    cookie.split(';').next().unwrap_or_default().to_owned()
}

#[test]
fn another_user_cannot_ask_even_with_the_cookie_or_a_code() {
    let folder = office();
    let (mut program, address) = view(&folder);
    let ours = answer(&mut address.ask(&address.path, ""));
    assert!(ours.starts_with("HTTP/1.1 200 OK"), "{ours}");
    let cookie = format!("Cookie: {}\\r\\n", cookie_of(&ours));
    let page = answer(&mut address.ask("/", &cookie));
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    // Only root can start a program of another user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let next = PageAddress::of(&program.line());
    for (path, fields) in [("/", ""), ("/", &*cookie), ("/stream", &*cookie), (&*next.path, "")] {
        let theirs = answer(address.ask(path, fields).uid(NOBODY).gid(NOBODY));
        assert!(!theirs.contains("200 OK") && !theirs.contains("set-cookie"), "{path}: {theirs}");
    }
    let ours = answer(&mut address.ask(&next.path, ""));
    assert!(ours.starts_with("HTTP/1.1 200 OK"), "their attempt used up the code: {ours}");
}

#[test]
fn a_client_that_closes_its_connection_at_once_is_not_taken_for_root() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let folder = office();
    let (mut program, address) = view(&folder);
    let send_and_close = ASK.replace(" && timeout 5 cat <&3", "");
    for _ in 0..50 {
        let mut command = Command::new("bash");
        command.args(["-c", &send_and_close, "ask", &address.port, &address.path, ""]);
        let sent = command.uid(NOBODY).gid(NOBODY).stderr(Stdio::null()).status();
        assert!(sent.is_ok());
    }
    let ours = answer(&mut address.ask(&address.path, ""));
    assert!(ours.starts_with("HTTP/1.1 200 OK"), "another user used up the code: {ours}");
    assert!(program.line().starts_with("http://"));
}

#[test]
fn the_browser_gets_no_secret_in_its_command_line() {
    let folder = office();
    let programs = folder.inside("bin");
    let told = folder.join("told");
    let browser =
        format!("#!/bin/sh\nprintf '%s\\n' \"$@\" > {0}.new\nmv {0}.new {0}\n", told.display());
    fs::write(programs.join("xdg-open"), browser).expect("the folder is ours");
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(programs.join("xdg-open"), mode).expect("it is ours");
    let runtime = folder.inside("runtime");
    let path = std::env::var("PATH").expect("there is a path");
    let mut command = folder.diligence();
    command.args(["view", OFFICE]).env("XDG_RUNTIME_DIR", runtime.join(""));
    command.env("PATH", format!("{}:{path}", programs.join("").display()));
    let mut program = SpawnedProgram::start(&mut command);
    let printed = program.line();
    let file = eventually("the browser", || fs::read_to_string(&told).ok());
    let file = file.strip_suffix('\n').expect("one word");
    assert!(file.ends_with("/page.html"), "{file}");
    assert_eq!(fs::metadata(file).expect("it is there").permissions().mode() & 0o777, 0o600);
    let document = fs::read_to_string(file).expect("it is ours");
    let start = document.find("url=").expect("it leads to the page") + "url=".len();
    let address = &document[start..start + printed.len()];
    assert_ne!(address, printed, "the file and the terminal have a code each");
    let parts = PageAddress::of(address);
    cookie_of(&answer(&mut parts.ask(&parts.path, "")));
    eventually("the file is gone", || (!fs::exists(file).ok()?).then_some(()));
    assert!(fs::read_dir(runtime.join("")).expect("it is there").next().is_none());
    program.end(Signal::TERM);
}

#[test]
fn a_file_that_is_no_recording_gets_no_address() {
    let folder = office();
    fs::write(folder.join("text"), "no recording").expect("the folder is ours");
    for file in ["gone.pcap", "text"] {
        let printed = run(&folder, &format!("view --no-open {file}"));
        assert_eq!((printed.status, printed.stdout.as_str()), (Some(1), ""), "{file}");
        assert!(printed.stderr.contains(&format!("cannot read {file}")), "{}", printed.stderr);
    }
}

#[test]
fn the_pages_that_watch_a_bus_are_limited() {
    let folder = ProgramFolder::new();
    let bus = OurBus::start(&folder);
    let mut command = folder.diligence();
    command.args(["view", "--live", "--no-open", "--address", &bus.address]);
    let mut program = SpawnedProgram::start(&mut command);
    let address = PageAddress::of(&program.line());
    let cookie =
        format!("Cookie: {}\\r\\n", cookie_of(&answer(&mut address.ask(&address.path, ""))));
    let mut watches: Vec<_> = (0..32)
        .map(|number| {
            let mut command = address.ask(&format!("/watch/{number}"), &cookie);
            SpawnedProgram::start(&mut command)
        })
        .collect();
    for watch in &mut watches {
        assert_eq!(watch.line(), "HTTP/1.1 200 OK");
    }
    let refused = answer(&mut address.ask("/watch/more", &cookie));
    assert!(refused.starts_with("HTTP/1.1 429 "), "{refused}");
    assert!(refused.contains("32 pages watch this bus already"), "{refused}");
    drop(watches.pop());
    eventually("another one may watch", || {
        let mut command = address.ask("/watch/more", &cookie);
        let mut watch = SpawnedProgram::start(&mut command);
        let is_watching = watch.line() == "HTTP/1.1 200 OK";
        thread::sleep(Duration::from_millis(50));
        is_watching.then_some(())
    });
}
