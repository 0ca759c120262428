//! Clients in other user namespaces, as in rootless containers. Most libraries authenticate with the
//! user id that they have there.
//!
//! With `DILIGENCE_BUILD_CLIENTS`, programs that must be built with their libraries are tested, too.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;

use conformance::{
    BUILD_LIMIT, BusUnderTest, ExternalProgram, RunAs, ScratchFolder, TestConfig,
    build_rust_client, client_source, copy_program, diligence, first_line, installed,
    instruments_binary, require, root, run_tests, socket_path, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(common_programs_connect).requires(namespaces()),
        test_case!(zbus_connects).requires(namespaces()).requires(long_form()),
        test_case!(dbus_rs_connects).requires(namespaces()).requires(long_form()),
        test_case!(godbus_connects).requires(namespaces()).requires(long_form()),
        test_case!(claimed_ids_must_stand_for_the_user_of_the_socket).requires(namespaces()),
        test_case!(the_user_at_the_time_of_the_connection_counts)
            .requires(namespaces())
            .requires(root()),
        test_case!(the_instruments_connect_to_dbus_daemon).requires(namespaces()),
        test_case!(the_translation_can_be_turned_off).requires(namespaces()),
    ])
}

/// The requirement that ordinary users may create user namespaces. dbus-daemon rejects the clients of
/// most of these tests.
fn namespaces() -> Result<(), String> {
    let created = in_namespace(1, &["true"]).run().succeeded();
    diligence()?;
    if created { Ok(()) } else { Err("needs user namespaces of ordinary users".to_owned()) }
}

/// The requirement that programs may be downloaded and built.
fn long_form() -> Result<(), String> {
    let wanted = std::env::var_os("DILIGENCE_BUILD_CLIENTS").is_some();
    let reason = "it builds a client library: set DILIGENCE_BUILD_CLIENTS";
    if wanted { Ok(()) } else { Err(reason.to_owned()) }
}

/// Runs a command in a user namespace, or in one within another, where its user is root.
fn in_namespace(depth: usize, command: &[&str]) -> ExternalProgram {
    let mut program = as_ordinary_user(ExternalProgram::named("unshare", "util-linux"));
    for _ in 1..depth {
        program = program.args(["--user", "--map-root-user", "unshare"]);
    }
    program.args(["--user", "--map-root-user"]).args(command)
}

fn as_ordinary_user(program: ExternalProgram) -> ExternalProgram {
    if RunAs::is_root() { program.user(RunAs::NOBODY) } else { program }
}

/// The id of that user in the namespace of the bus.
fn ordinary_uid() -> String {
    let own = fs::metadata("/proc/self").expect("every system has it").uid();
    let uid = if RunAs::is_root() { RunAs::NOBODY.uid } else { own };
    uid.to_string()
}

/// Starts a bus for all users.
fn start_bus(element: &str) -> BusUnderTest {
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    BusUnderTest::start(&config.element(element))
}

/// dbus-daemon rejects all of these programs, except for busctl: sd-bus lets the kernel say who it is.
fn common_programs_connect() {
    require("/usr/lib/python3/dist-packages/dbus", "python3-dbus");
    require("/usr/lib/python3/dist-packages/jeepney", "python3-jeepney");
    let _ = installed("qdbus", "qdbus-qt5");
    let bus = start_bus("");
    let address = bus.address();
    let (bus_argument, address_argument) =
        (format!("--bus={address}"), format!("--address={address}"));
    let (driver, call) = ("org.freedesktop.DBus", "org.freedesktop.DBus.GetId");
    let dbus_python = "import dbus.bus, sys; dbus.bus.BusConnection(sys.argv[1]).get_unique_name()";
    let jeepney = include_str!("clients/get-id-jeepney.py");
    let commands: [&[&str]; 6] = [
        &["dbus-send", &bus_argument, "--print-reply", "--dest=org.freedesktop.DBus", "/", call],
        &["gdbus", "call", "--address", address, "-d", driver, "-o", "/", "-m", call],
        &["busctl", &address_argument, "--no-pager", "list"],
        &["qdbus", "--bus", address, driver, "/", call],
        &[PYTHON, "-c", dbus_python, address],
        &[PYTHON, "-c", jeepney, address],
    ];
    for command in commands {
        run_in_namespaces(command);
    }
    let ran = bus.stop();
    assert_eq!(claims_of_root(&ran.stderr), 1, "{}", ran.stderr);
}

/// Runs a command in a user namespace, and in one within another. It must succeed.
fn run_in_namespaces(command: &[&str]) {
    for depth in [1, 2] {
        let _ = in_namespace(depth, command).run().success();
    }
}

/// How often a log mentions a client that has claimed to be root. Only the first one is mentioned.
fn claims_of_root(log: &str) -> usize {
    log.matches("A process in another user namespace authenticated as uid 0").count()
}

/// Checks a client that prints the id of the bus. It claims to be root, or claims nothing.
fn client_connects(program: &Path, claims: bool) {
    let bus = start_bus("");
    run_in_namespaces(&[&program.display().to_string(), bus.address()]);
    let ran = bus.stop();
    assert_eq!(claims_of_root(&ran.stderr), usize::from(claims), "{}", ran.stderr);
}

/// dbus-daemon rejects zbus, which sends its own user id.
fn zbus_connects() {
    let folder = ScratchFolder::new();
    let program = build_rust_client(&folder, "zbus", "get-id-zbus");
    client_connects(&program, true);
}

/// dbus-daemon rejects dbus-rs, which uses libdbus.
fn dbus_rs_connects() {
    let folder = ScratchFolder::new();
    let program = build_rust_client(&folder, "get-id-dbus-rs", "get-id-dbus-rs");
    client_connects(&program, true);
}

/// godbus lets the kernel say who it is, so it can connect to dbus-daemon, too.
fn godbus_connects() {
    let folder = ScratchFolder::new();
    let program = folder.join("get-id-godbus");
    let build = ExternalProgram::shell("exec go build -buildvcs=false -o \"$1\"")
        .arg(&program)
        .env("CGO_ENABLED", "0")
        .folder(&client_source("get-id-godbus"));
    let _ = build.limit(BUILD_LIMIT).run().success();
    client_connects(&program, false);
}

/// The instruments let the kernel say who they are.
fn the_instruments_connect_to_dbus_daemon() {
    let scratch = ScratchFolder::new();
    let config = TestConfig::session().policy("context='default'", "<allow user='*'/>");
    let config = scratch.file("session.conf", &config.text(scratch.path()));
    let mut daemon = ExternalProgram::named("dbus-daemon", "dbus-daemon")
        .args(["--nofork", "--print-address=1", "--config-file"])
        .arg(config)
        .start();
    let address = daemon.wait_for("address", |stdout, _| first_line(stdout));
    let program = scratch.join("diligence");
    copy_program(instruments_binary(), &program);
    let (program, option) = (program.display().to_string(), format!("--address={address}"));
    let ran = in_namespace(1, &[&program, "list", &option]).run().success();
    assert!(ran.stdout.contains("org.freedesktop.DBus"), "{ran}");
    let _ = daemon.terminate();
}

/// Prints the first word of the bus for each id that it claims. With `exited`, another process, which
/// has ended, has connected.
const CLAIM: &str = "\
import os, socket, sys
path, how, claims = sys.argv[1], sys.argv[2], sys.argv[3:]
for claim in claims:
    bus = socket.socket(socket.AF_UNIX)
    if how == 'exited':
        child = os.fork()
        if child == 0:
            bus.connect(path)
            os._exit(0)
        os.waitpid(child, 0)
    else:
        bus.connect(path)
    bus.sendall(b'\\0AUTH EXTERNAL ' + claim.encode().hex().encode() + b'\\r\\n')
    print(claim, bus.recv(100).split()[0].decode())
";

/// The command that claims these ids.
fn claim<'c>(path: &'c str, how: &'c str, claims: &[&'c str]) -> Vec<&'c str> {
    [&[PYTHON, "-c", CLAIM, path, how], claims].concat()
}

fn path_of(bus: &BusUnderTest) -> String {
    socket_path(bus.address()).expect("a socket with a path").display().to_string()
}

fn claimed_ids_must_stand_for_the_user_of_the_socket() {
    let bus = start_bus("");
    let (path, own) = (path_of(&bus), ordinary_uid());
    let answers = |program: ExternalProgram| program.run().success().stdout;
    let claims = claim(&path, "connected", &["0", "1", "4294967295", "-1", &own]);
    let expected = format!("0 OK\n1 REJECTED\n4294967295 REJECTED\n-1 REJECTED\n{own} OK\n");
    for depth in [1, 2] {
        assert_eq!(answers(in_namespace(depth, &claims)), expected, "depth {depth}");
    }
    let expected = format!("0 REJECTED\n{own} OK\n");
    let claims = claim(&path, "connected", &["0", &own]);
    let outside = ExternalProgram::named("env", "coreutils").args(&claims);
    assert_eq!(answers(as_ordinary_user(outside)), expected, "the namespace of the bus");
    let claims = claim(&path, "exited", &["0", &own]);
    assert_eq!(answers(in_namespace(1, &claims)), expected, "the process has ended");
    bus.stop();
}

/// Connects with an id of a namespace with ten users, and claims ids after it has become another,
/// like a client with the set-user-ID bit.
const CHANGED_USER: &str = "\
import ctypes, os, socket, sys
ready, mapped = os.pipe(), os.pipe()
child = os.fork()
if child != 0:
    os.read(ready[0], 1)
    for file in 'uid_map', 'gid_map':
        with open(f'/proc/{child}/{file}', 'w') as map:
            map.write('0 100000 10')
    os.write(mapped[1], b'x')
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
if ctypes.CDLL(None).unshare(0x10000000) != 0:
    sys.exit('no user namespace')
os.write(ready[1], b'x')
os.read(mapped[0], 1)
for claim in sys.argv[2:]:
    os.setresuid(5, 5, 0)
    bus = socket.socket(socket.AF_UNIX)
    bus.connect(b'\\0' + sys.argv[1].encode())
    os.setresuid(0, 0, 0)
    bus.sendall(b'\\0AUTH EXTERNAL ' + claim.encode().hex().encode() + b'\\r\\n')
    print(claim, bus.recv(100).split()[0].decode())
";

fn the_user_at_the_time_of_the_connection_counts() {
    // The users of the namespace may not access a folder of these tests.
    let name = format!("diligence-user-namespaces-{}", std::process::id());
    let config = TestConfig::session()
        .listen(&format!("unix:abstract={name}"))
        .policy("context='default'", "<allow user='*'/>");
    let bus = BusUnderTest::start(&config);
    let program = ExternalProgram::python(CHANGED_USER).arg(&name).args(["0", "5", "100005"]);
    let ran = program.run().success();
    assert_eq!(ran.stdout, "0 REJECTED\n5 OK\n100005 OK\n");
    bus.stop();
}

fn the_translation_can_be_turned_off() {
    let bus = start_bus("<?diligence <reject_namespace_user_ids/> ?>");
    let (path, own) = (path_of(&bus), ordinary_uid());
    let claims = claim(&path, "connected", &["0", &own]);
    let ran = in_namespace(1, &claims).run().success();
    assert_eq!(ran.stdout, format!("0 REJECTED\n{own} OK\n"));
    bus.stop();
}

/// Debian's Python, which has the package dbus.
const PYTHON: &str = "/usr/bin/python3";
