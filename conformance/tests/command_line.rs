//! Every option of the command line: exit status, output, and the address at which the bus listens.
//!
//! In the arguments of a row, `{dir}` is a new folder and `{conf}` is a valid configuration file in
//! it, whose bus listens at `{dir}/bus`.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::process::ExitCode;

use conformance::process::open_files;
use conformance::{
    BusUnderTest, ExternalProgram, PeerStream, PlainMessage, ReceivedDescriptors, RunAs,
    ScratchFolder, TestConfig, TestPeer, bus_program, bus_program_as, check_all, eventually,
    fail_with, first_line, key, link_bus, root, run_tests, set_mode, socket_path, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(invalid_command_lines_are_refused),
        test_case!(version_and_introspection_are_printed),
        test_case!(introspect_option_and_method_give_the_same_xml),
        test_case!(valid_command_lines_start_the_bus_and_print_what_was_asked),
        test_case!(addresses_are_printed_as_the_bus_listens_at_them),
        test_case!(network_addresses_are_printed_as_the_bus_listens_at_them),
        test_case!(several_addresses_are_all_served_and_printed),
        test_case!(stale_sockets_are_replaced_and_sockets_in_use_are_kept),
        test_case!(a_port_in_use_is_an_error),
        test_case!(files_without_permission_make_the_bus_refuse_to_start).requires(root()),
        test_case!(printing_to_a_descriptor_of_the_caller_closes_it),
        test_case!(the_bus_starts_without_standard_descriptors),
    ])
}

/// The text that an output stream must contain.
#[derive(Clone, Copy)]
enum ExpectedText {
    /// This text, and possibly others.
    Has(&'static str),
    /// The usage, with each option.
    Usage,
}

struct RefusedOption {
    name: &'static str,
    args: &'static [&'static str],
    says: ExpectedText,
}

const fn refused(
    name: &'static str,
    args: &'static [&'static str],
    says: &'static str,
) -> RefusedOption {
    RefusedOption { name, args, says: ExpectedText::Has(says) }
}

const fn usage(name: &'static str, args: &'static [&'static str]) -> RefusedOption {
    RefusedOption { name, args, says: ExpectedText::Usage }
}

/// All end with status 1, an empty standard output, and a reason on standard error.
const REFUSED: &[RefusedOption] = &[
    usage("asked for help", &["--help"]),
    usage("asked for help, short", &["-h"]),
    usage("asked for help, with a question mark", &["-?"]),
    usage("an unknown option", &["--bogus"]),
    usage("an unknown option among others", &["--session", "--bogus=1", "--nofork"]),
    usage("a stray word", &["stray"]),
    usage("a stray word after a complete option", &["--print-address=", "1"]),
    usage("no configuration, usage", &[]),
    refused("no configuration, reason", &[], "No configuration file specified."),
    refused(
        "an empty file name does not count as a configuration",
        &["--config-file="],
        "No configuration file",
    ),
    refused("the name is missing", &["--config-file"], "No configuration file specified."),
    refused("session and system", &["--session", "--system"], "--system specified but"),
    refused("session twice", &["--session", "--session"], "--session specified but"),
    refused("system and file", &["--system", "--config-file=/x"], "--config-file specified but"),
    refused(
        "two files",
        &["--config-file=/x", "--config-file", "/y"],
        "--config-file specified but configuration file /x already requested",
    ),
    refused(
        "two addresses",
        &["--address=unix:tmpdir=/tmp", "--address", "unix:tmpdir=/", "--session"],
        "--address specified but address unix:tmpdir=/tmp already requested",
    ),
    refused(
        "the address printed twice",
        &["--session", "--print-address=1", "--print-address=1"],
        "--print-address specified but printing address to 1 already requested",
    ),
    refused(
        "the pid printed twice",
        &["--session", "--print-pid=1", "--print-pid=2"],
        "--print-pid specified but printing",
    ),
    refused("no number", &["--session", "--print-address=x"], "Invalid file descriptor: \"x\""),
    refused(
        "no number, two words",
        &["--session", "--print-address", "foo"],
        "Invalid file descriptor: \"foo\"",
    ),
    refused(
        "a negative number",
        &["--session", "--print-address=-1"],
        "Invalid file descriptor: \"-1\"",
    ),
    refused(
        "no number for the pid",
        &["--session", "--print-pid=zz"],
        "Invalid file descriptor: \"zz\"",
    ),
    refused(
        "a number that ends in letters",
        &["--session", "--print-pid=1x"],
        "Invalid file descriptor",
    ),
    refused(
        "a descriptor that is not open",
        &["--config-file={conf}", "--print-address=99"],
        "Failed to start message bus: ",
    ),
    refused(
        "no such file",
        &["--config-file={dir}/none"],
        "Failed to open \"{dir}/none\": No such",
    ),
    refused("a folder", &["--config-file={dir}"], "Failed to start message bus: "),
    refused(
        "an unknown transport",
        &["--config-file={conf}", "--address=foo:x=y"],
        "Failed to start message bus: Unknown address type 'foo'",
    ),
    refused(
        "a transport for clients only",
        &["--config-file={conf}", "--address=autolaunch:"],
        "Unknown address type 'autolaunch'",
    ),
    refused(
        "no colon",
        &["--config-file={conf}", "--address=unix"],
        "Address does not contain a colon",
    ),
    refused(
        "a unix address without a place",
        &["--config-file={conf}", "--address=unix:"],
        "Failed to start message bus: ",
    ),
    refused(
        "a unix address with two places",
        &["--config-file={conf}", "--address=unix:path=/a,abstract=b"],
        "at the same time",
    ),
    refused(
        "runtime must be yes",
        &["--config-file={conf}", "--address=unix:runtime=no"],
        "the only value allowed for \"runtime\" is \"yes\"",
    ),
    refused(
        "runtime without a runtime folder",
        &["--config-file={conf}", "--address=unix:runtime=yes"],
        "\"XDG_RUNTIME_DIR\" is not set",
    ),
    refused(
        "a percent sign without digits",
        &["--config-file={conf}", "--address=unix:path=%zz"],
        "Failed to start message bus: ",
    ),
    refused(
        "an unknown address family",
        &["--config-file={conf}", "--address=tcp:host=127.0.0.1,port=x,family=foo"],
        "Failed to start message bus: Unknown address family foo\n",
    ),
    refused(
        "an invalid port",
        &["--config-file={conf}", "--address=tcp:host=127.0.0.1,port=x"],
        "Failed to lookup host/port: \"127.0.0.1:x\": Servname not supported for ai_socktype (-8)\n",
    ),
    refused(
        "systemd gave no socket",
        &["--config-file={conf}", "--address=systemd:"],
        "Failed to start message bus: ",
    ),
    refused(
        "a folder that does not exist",
        &["--config-file={conf}", "--address=unix:path={dir}/none/bus"],
        "Failed to bind socket \"{dir}/none/bus\": No such file or directory",
    ),
    refused(
        "a folder that does not exist, tmpdir",
        &["--config-file={conf}", "--address=unix:tmpdir={dir}/none"],
        "No such file or directory",
    ),
    refused(
        "a plain file in the place of the socket",
        &["--config-file={conf}", "--address=unix:path={conf}"],
        "Address already in use",
    ),
    refused(
        "a pid file that is there",
        &["--config-file={dir}/pid.conf"],
        "The pid file \"{dir}/pid\" exists",
    ),
    refused("an unknown user", &["--config-file={dir}/user.conf"], "username \"no-such-user\""),
];

fn invalid_command_lines_are_refused() {
    check_all(
        REFUSED,
        |row| row.name.to_owned(),
        |row| {
            let scratch = with_configuration();
            scratch.file("pid", "1\n");
            let with = |xml: &str| TestConfig::session().element(xml).text(scratch.path());
            scratch.file("pid.conf", &with(&fill("<pidfile>{dir}/pid</pidfile>", &scratch)));
            scratch.file("user.conf", &with("<user>no-such-user</user>"));
            let args = row.args.iter().map(|arg| fill(arg, &scratch));
            let ran = bus_program().args(args).run();
            assert_eq!(ran.code(), 1, "{ran}");
            assert_eq!(ran.stdout, "", "{ran}");
            assert_text(row.says, &ran.stderr, &scratch);
            assert_eq!(fs::read_to_string(scratch.join("pid")).ok().as_deref(), Some("1\n"));
        },
    );
}

struct HelpOutput {
    name: &'static str,
    args: &'static [&'static str],
    stdout: ExpectedText,
}

/// All end with status 0 and an empty standard error.
const SHOWN: &[HelpOutput] = &[
    HelpOutput { name: "the version", args: &["--version"], stdout: ExpectedText::Has("") },
    HelpOutput {
        name: "the version before a mistake",
        args: &["--version", "--bogus"],
        stdout: ExpectedText::Has(""),
    },
    HelpOutput {
        name: "the version after a configuration",
        args: &["--session", "--version", "--help"],
        stdout: ExpectedText::Has(""),
    },
    HelpOutput {
        name: "the interfaces of the bus",
        args: &["--introspect"],
        stdout: ExpectedText::Has("<interface name=\"org.freedesktop.DBus\">"),
    },
];

fn version_and_introspection_are_printed() {
    check_all(
        SHOWN,
        |row| row.name.to_owned(),
        |row| {
            let ran = bus_program().args(row.args).run().success();
            assert_eq!(ran.stderr, "", "{ran}");
            assert!(first_line(&ran.stdout).is_some_and(|line| !line.is_empty()), "{ran}");
            assert_text(row.stdout, &ran.stdout, &ScratchFolder::new());
        },
    );
}

/// `--introspect` prints the same well-formed XML as the method Introspect, with all interfaces.
fn introspect_option_and_method_give_the_same_xml() {
    let printed = bus_program().arg("--introspect").run().success().stdout;
    let bus = BusUnderTest::session();
    let call = PlainMessage::call(
        "org.freedesktop.DBus",
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus.Introspectable",
        "Introspect",
    );
    let reply = bus.peer().call(call);
    assert_eq!(printed.trim_end(), reply.first_text().trim_end());
    let names = ExternalProgram::python(
        "import sys, xml.dom.minidom as dom\n\
         tree = dom.parseString(sys.argv[1])\n\
         for found in tree.getElementsByTagName('interface'): print(found.getAttribute('name'))",
    );
    let names = names.arg(&printed).run().success().stdout;
    let missing = INTERFACES.iter().filter(|name| !names.lines().any(|line| line == **name));
    fail_with("interfaces", &missing.collect::<Vec<_>>());
    bus.stop();
}

const INTERFACES: [&str; 6] = [
    "org.freedesktop.DBus",
    "org.freedesktop.DBus.Properties",
    "org.freedesktop.DBus.Introspectable",
    "org.freedesktop.DBus.Monitoring",
    "org.freedesktop.DBus.Debug.Stats",
    "org.freedesktop.DBus.Peer",
];

/// The output of a bus that starts successfully.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StartOutput {
    Nothing,
    Address,
    Pid,
    AddressThenPid,
}

struct ServedCommand {
    name: &'static str,
    args: &'static [&'static str],
    stdout: StartOutput,
    stderr: StartOutput,
}

const fn served(
    name: &'static str,
    args: &'static [&'static str],
    stdout: StartOutput,
    stderr: StartOutput,
) -> ServedCommand {
    ServedCommand { name, args, stdout, stderr }
}

/// All accept connections, and end with status 0 after SIGTERM.
#[rustfmt::skip]
const SERVED: &[ServedCommand] = &[
    served("nothing asked", &["--config-file={conf}"], StartOutput::Nothing, StartOutput::Nothing),
    served("two words", &["--config-file", "{conf}", "--print-address", "1"], StartOutput::Address, StartOutput::Nothing),
    served("no number, before an option", &["--print-address", "--config-file={conf}"], StartOutput::Address, StartOutput::Nothing),
    served("no number, at the end", &["--config-file={conf}", "--print-address"], StartOutput::Address, StartOutput::Nothing),
    served("an empty number", &["--config-file={conf}", "--print-address="], StartOutput::Address, StartOutput::Nothing),
    served("on standard error", &["--config-file={conf}", "--print-address=2"], StartOutput::Nothing, StartOutput::Address),
    served("the pid", &["--config-file={conf}", "--print-pid"], StartOutput::Pid, StartOutput::Nothing),
    served("the pid on standard error", &["--config-file={conf}", "--print-pid", "2", "--print-address", "1"], StartOutput::Address, StartOutput::Pid),
    served("both", &["--print-pid", "--print-address", "--config-file={conf}"], StartOutput::AddressThenPid, StartOutput::Nothing),
    served("both, with numbers", &["--print-address=1", "--print-pid=1", "--config-file={conf}"], StartOutput::AddressThenPid, StartOutput::Nothing),
    served("an empty address is ignored", &["--config-file={conf}", "--address="], StartOutput::Nothing, StartOutput::Nothing),
    served("a missing address is ignored", &["--config-file={conf}", "--address"], StartOutput::Nothing, StartOutput::Nothing),
    served("the address in two words", &["--config-file={conf}", "--address", "unix:path={dir}/bus", "--print-address"], StartOutput::Address, StartOutput::Nothing),
    served("the second of two addresses", &["--config-file={conf}", "--address=unix:path=/none/x;unix:path={dir}/bus", "--print-address"], StartOutput::Address, StartOutput::Nothing),
    served("an address with an escape", &["--config-file={conf}", "--address=unix:path={dir}/%62us", "--print-address"], StartOutput::Address, StartOutput::Nothing),
    served("all options for how to run", &["--nofork", "--nosyslog", "--nopidfile", "--systemd-activation", "--config-file={conf}"], StartOutput::Nothing, StartOutput::Nothing),
    served("the system log too", &["--syslog", "--config-file={conf}"], StartOutput::Nothing, StartOutput::Nothing),
    served("the system log only", &["--syslog-only", "--config-file={conf}"], StartOutput::Nothing, StartOutput::Nothing),
];

fn valid_command_lines_start_the_bus_and_print_what_was_asked() {
    check_all(
        SERVED,
        |row| row.name.to_owned(),
        |row| {
            let scratch = with_configuration();
            let args = row.args.iter().map(|arg| fill(arg, &scratch));
            let running = bus_program().args(args).start();
            let (pid, address) = (running.id(), fill("unix:path={dir}/bus", &scratch));
            assert!(connect_eventually(&address).is_alive());
            assert_printed(row.stdout, &running.stdout(), &address, pid);
            // Warnings may follow on the same stream.
            let stderr = running.stderr();
            let printed = stderr.lines().take_while(|line| !line.contains("]: "));
            assert_printed(row.stderr, &with_line_ends(printed), &address, pid);
            let ran = running.terminate().success();
            assert!(!scratch.join("bus").exists(), "the socket is left behind: {ran}");
        },
    );
}

struct ListeningBus {
    name: &'static str,
    address: &'static str,
    /// The beginning of the printed address; `guid=` and 32 digits end it.
    printed: &'static str,
}

#[rustfmt::skip]
const LISTENING: &[ListeningBus] = &[
    ListeningBus { name: "a path", address: "unix:path={dir}/x", printed: "unix:path={dir}/x,guid=" },
    ListeningBus { name: "tmpdir", address: "unix:tmpdir={dir}", printed: "unix:path={dir}/dbus-" },
    ListeningBus { name: "dir", address: "unix:dir={dir}", printed: "unix:path={dir}/dbus-" },
    ListeningBus { name: "runtime", address: "unix:runtime=yes", printed: "unix:path={dir}/bus,guid=" },
    ListeningBus { name: "abstract", address: "unix:abstract={dir}/y", printed: "unix:abstract={dir}/y,guid=" },
];

const LISTENING_ON_TCP: &[ListeningBus] = &[
    ListeningBus {
        name: "tcp",
        address: "tcp:host=127.0.0.1,port=0",
        printed: "tcp:host=127.0.0.1,port=",
    },
    ListeningBus {
        name: "tcp, the port left out",
        address: "tcp:host=127.0.0.1",
        printed: "tcp:host=127.0.0.1,port=",
    },
    ListeningBus {
        name: "nonce-tcp",
        address: "nonce-tcp:host=127.0.0.1",
        printed: "nonce-tcp:host=127.0.0.1,port=",
    },
];

fn addresses_are_printed_as_the_bus_listens_at_them() {
    check_all(LISTENING, |row| row.name.to_owned(), listens);
}

fn network_addresses_are_printed_as_the_bus_listens_at_them() {
    check_all(LISTENING_ON_TCP, |row| row.name.to_owned(), listens);
}

fn listens(row: &ListeningBus) {
    let scratch = with_configuration();
    let mut running = bus_program()
        .arg(fill("--config-file={conf}", &scratch))
        .arg(fill(&format!("--address={}", row.address), &scratch))
        .arg("--print-address")
        .env("XDG_RUNTIME_DIR", scratch.path())
        .start();
    let address = running.wait_for("address", |stdout, _| first_line(stdout));
    assert!(address.starts_with(&fill(row.printed, &scratch)), "{address}");
    let guid = address.rsplit_once(",guid=").map(|(_, guid)| guid).unwrap_or_default();
    assert!(is_guid(guid), "{address}");
    if let Some(path) = socket_path(&address) {
        let found = fs::symlink_metadata(&path).expect("the socket is there");
        assert!(found.file_type().is_socket());
        assert_eq!(found.permissions().mode() & 0o777, 0o777, "anybody may try to log in");
    }
    if address.contains("tcp:") {
        let answer = over_tcp(&address).say("AUTH").expect("it answers");
        assert!(answer.starts_with("REJECTED "), "{answer}");
    } else {
        assert!(TestPeer::connect(&address).is_alive());
    }
    let _ = running.terminate().success();
}

/// Connects, with the nonce if the address has one, and sends the null byte.
fn over_tcp(address: &str) -> PeerStream {
    let nonce = key(address, "noncefile").map(|path| fs::read(path).expect("readable for us"));
    let nonce = nonce.unwrap_or_default();
    let mut stream = PeerStream::connect(address.trim_start_matches("nonce-"));
    stream.write(&[&nonce[..], b"\0"].concat());
    stream
}

fn several_addresses_are_all_served_and_printed() {
    let scratch = ScratchFolder::new();
    let [first, second] = ["one", "two"].map(|name| scratch.join(name).display().to_string());
    let config = TestConfig::session()
        .listen(&format!("unix:path={first}"))
        .element(&format!("<listen>unix:path={second}</listen>"));
    let bus = BusUnderTest::start(&config);
    let printed = bus.address().split(';').map(|entry| entry.split_once(",guid="));
    let printed = printed.map(|entry| entry.expect("each has its guid")).collect::<Vec<_>>();
    assert_eq!(printed.len(), 2, "{}", bus.address());
    assert_eq!(printed[0].0, format!("unix:path={second}"), "the last one stands first");
    assert_eq!(printed[1].0, format!("unix:path={first}"));
    assert_ne!(printed[0].1, printed[1].1, "a guid is of an address, not of the bus");
    let mut peers = [0, 1].map(|entry| TestPeer::connect(printed[entry].0));
    let id = peers[0].call(PlainMessage::to_bus("GetId"));
    assert_eq!(id.first_text(), peers[1].call(PlainMessage::to_bus("GetId")).first_text());
    let names = peers[0].call(PlainMessage::to_bus("ListNames"));
    let names = names.body[0].strings().expect("names");
    assert!(names.contains(&peers[1].name()), "one bus: {names:?}");
    bus.stop();
}

/// An address that another process uses stays untouched, and a stale socket is replaced.
fn stale_sockets_are_replaced_and_sockets_in_use_are_kept() {
    let abstract_name = format!("unix:abstract=diligence-{}", std::process::id());
    refuses_a_place_that_is_taken(&abstract_name);
    let scratch = with_configuration();
    let dead = std::os::unix::net::UnixListener::bind(scratch.join("bus"));
    drop(dead.expect("a fresh place"));
    let running = bus_program().arg(fill("--config-file={conf}", &scratch)).start();
    assert!(connect_eventually(&fill("unix:path={dir}/bus", &scratch)).is_alive());
    let _ = running.terminate().success();
}

fn a_port_in_use_is_an_error() {
    refuses_a_place_that_is_taken("tcp:host=127.0.0.1,port=0");
}

fn refuses_a_place_that_is_taken(address: &str) {
    let first = BusUnderTest::start(&TestConfig::session().listen(address));
    let (taken, _) = first.address().split_once(",guid=").expect("a guid");
    let scratch = with_configuration();
    let ran = bus_program()
        .arg(fill("--config-file={conf}", &scratch))
        .arg(format!("--address={}", taken.replace(",family=ipv4", "")))
        .run();
    assert_eq!(ran.code(), 1, "{ran}");
    assert!(ran.stderr.contains("Address already in use"), "{ran}");
    assert!(first.address().starts_with("tcp:") || first.peer().is_alive());
    first.stop();
}

/// Files and folders that an ordinary user may not use.
fn files_without_permission_make_the_bus_refuse_to_start() {
    let scratch = with_configuration();
    let secret = scratch.file("secret.conf", "");
    set_mode(&secret, 0o600);
    let rows: [(&[&str], &str); 3] = [
        (&["--config-file={dir}/secret.conf"], "Permission denied"),
        (&["--config-file={conf}"], "Failed to bind socket \"{dir}/bus\": Permission denied"),
        (&["--config-file={conf}", "--address=unix:tmpdir={dir}"], "Permission denied"),
    ];
    for (args, says) in rows {
        let args = args.iter().map(|arg| fill(arg, &scratch));
        let ran = bus_program_as(RunAs::NOBODY).args(args).run();
        assert_eq!(ran.code(), 1, "{ran}");
        assert_text(ExpectedText::Has(says), &ran.stderr, &scratch);
    }
}

/// Output goes to a descriptor of the caller, which the bus closes afterwards.
fn printing_to_a_descriptor_of_the_caller_closes_it() {
    let scratch = with_configuration();
    let script = "exec \"$@\" --print-address=8 --print-pid 9 8>\"$OUT/address\" 9>\"$OUT/pid\"";
    let running = ExternalProgram::shell(script)
        .arg(link_bus(&scratch))
        .arg(fill("--config-file={conf}", &scratch))
        .env("OUT", scratch.path())
        .start();
    let address = fill("unix:path={dir}/bus", &scratch);
    assert!(connect_eventually(&address).is_alive());
    let written = |name: &str| fs::read_to_string(scratch.join(name)).expect("it was written");
    assert_printed(StartOutput::Address, &written("address"), &address, running.id());
    assert_printed(StartOutput::Pid, &written("pid"), &address, running.id());
    let held = open_files(running.id());
    let kept = held.iter().filter(|path| path.starts_with(scratch.path()));
    fail_with("descriptors that are still open", &kept.map(|p| p.display()).collect::<Vec<_>>());
    let _ = running.terminate().success();
}

/// The bus starts without standard descriptors, and with many inherited ones.
fn the_bus_starts_without_standard_descriptors() {
    let scratch = with_configuration();
    let script = "exec \"$@\" 8>\"$OUT\" <&- >&- 2>&-";
    let running = ExternalProgram::shell(script)
        .arg(link_bus(&scratch))
        .args([&fill("--config-file={conf}", &scratch), "--print-address=8"])
        .env("OUT", scratch.join("address"))
        .start();
    let address = fill("unix:path={dir}/bus", &scratch);
    assert!(connect_eventually(&address).is_alive());
    assert!(fs::read_to_string(scratch.join("address")).is_ok_and(|text| text.ends_with('\n')));
    let _ = running.terminate().success();
}

fn with_configuration() -> ScratchFolder {
    let scratch = ScratchFolder::new();
    scratch.file("good.conf", &TestConfig::session().text(scratch.path()));
    scratch
}

fn fill(text: &str, scratch: &ScratchFolder) -> String {
    let dir = scratch.path().display().to_string();
    text.replace("{conf}", &format!("{dir}/good.conf")).replace("{dir}", &dir)
}

fn connect_eventually(address: &str) -> TestPeer {
    let mut stream = eventually(address, || PeerStream::dial(address).ok());
    stream.log_in(ReceivedDescriptors::Unwanted);
    let mut peer = TestPeer::over(stream);
    peer.hello();
    peer
}

fn assert_text(wanted: ExpectedText, found: &str, scratch: &ScratchFolder) {
    match wanted {
        ExpectedText::Has(part) => assert!(found.contains(&fill(part, scratch)), "{found}"),
        ExpectedText::Usage => {
            let missing = OPTIONS.iter().filter(|option| !found.contains(**option));
            fail_with("options of the usage", &missing.collect::<Vec<_>>());
        }
    }
}

fn assert_printed(wanted: StartOutput, found: &str, address: &str, pid: u32) {
    let is_address = |line: &str| {
        let guid = line.strip_prefix(address).and_then(|rest| rest.strip_prefix(",guid="));
        guid.is_some_and(is_guid)
    };
    let is_pid = |line: &str| line == pid.to_string();
    let lines: Vec<_> = found.lines().collect();
    let fine = match (wanted, &lines[..]) {
        (StartOutput::Nothing, []) => true,
        (StartOutput::Address, [line]) => is_address(line),
        (StartOutput::Pid, [line]) => is_pid(line),
        (StartOutput::AddressThenPid, [first, second]) => is_address(first) && is_pid(second),
        _ => false,
    };
    assert!(fine && (found.is_empty() || found.ends_with('\n')), "{found:?}");
}

fn is_guid(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn with_line_ends<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    lines.map(|line| format!("{line}\n")).collect()
}

const OPTIONS: [&str; 13] = [
    "--version",
    "--session",
    "--system",
    "--config-file",
    "--print-address",
    "--print-pid",
    "--introspect",
    "--address",
    "--nopidfile",
    "--syslog",
    "--nofork",
    "--fork",
    "--systemd-activation",
];
