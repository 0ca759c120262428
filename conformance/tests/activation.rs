//! Services that the bus starts (specification, "Message Bus Starting Services").

use std::fs;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use conformance::process::open_files;
use conformance::{
    BusUnderTest, ExternalProgram, Flavour, PlainMessage, PlainValue, ScratchFolder, TestConfig,
    check_all, eventually, field, kind, require, set_mode,
};

const NAME: &str = "com.example.Service";
const PATH: &str = "/com/example/Object";
const INTERFACE: &str = "com.example.Interface";

/// A folder of services: `com.example.Service` is the Python service, the others are scripts.
fn services() -> ScratchFolder {
    let folder = ScratchFolder::new();
    let python = require("/usr/bin/python3", "python3").display();
    let script = folder.file("service.py", include_str!("python/service.py"));
    let start = format!("exec {python} {} \"$DBUS_STARTER_ADDRESS\" >/dev/null", script.display());
    let start =
        folder.file("start.sh", &format!("env > {}/environment\n{start}\n", shown(&folder)));
    add(&folder, NAME, &format!("/bin/sh {}", start.display()));
    add(&folder, "com.example.Fails", "/bin/sh -c 'exit 7'");
    add(&folder, "com.example.Crashes", "/bin/sh -c 'kill -9 $$'");
    add(&folder, "com.example.Missing", "/nonexistent/program");
    add(
        &folder,
        "com.example.Quoting",
        &format!("/bin/sh {}/args.sh 'a b' \"c'd\" e'f'", shown(&folder)),
    );
    folder.file("args.sh", &format!("printf '%s\\n' \"$@\" > {}/arguments\n", shown(&folder)));
    folder
}

fn shown(folder: &ScratchFolder) -> String {
    folder.path().display().to_string()
}

fn add(folder: &ScratchFolder, name: &str, exec: &str) {
    let text = format!("[D-BUS Service]\nName={name}\nExec={exec}\n");
    folder.file(&format!("{name}.service"), &text);
}

fn bus_with(folder: &ScratchFolder) -> BusUnderTest {
    let element = format!("<servicedir>{}</servicedir>", shown(folder));
    BusUnderTest::start(
        &TestConfig::session().element(&element).limit("service_start_timeout", 10_000),
    )
}

fn start(name: &str) -> PlainMessage {
    PlainMessage::to_bus("StartServiceByName").arg(PlainValue::text(name)).arg(PlainValue::U32(0))
}

/// If a service cannot be started, the bus closes the descriptors of the message that asked for it: whether
/// the start fails at once, as for a line that cannot be parsed, or later.
#[test]
fn descriptors_of_messages_are_closed_if_the_start_of_the_service_fails() {
    let folder = services();
    add(&folder, "com.example.Unparsable", "/bin/true \"unfinished");
    let mut bus = bus_with(&folder);
    let mut caller = bus.peer();
    let process = bus.process().id();
    for name in ["com.example.Unparsable", "com.example.Missing", "com.example.Fails"] {
        let before = open_files(process).len();
        for _ in 0..8 {
            let call = PlainMessage::some_call(name).field(field::UNIX_FDS, PlainValue::U32(4));
            let null = fs::File::open("/dev/null").expect("it exists");
            let bytes = caller.numbered(call).encode();
            caller.send_with_descriptors(&bytes, &[null.as_fd(); 4]);
            assert_eq!(caller.receive().expect("a reply").kind, kind::ERROR, "{name}");
        }
        eventually("the bus to close the descriptors", || {
            (open_files(process).len() <= before).then_some(())
        });
    }
    bus.stop();
}

/// A service starts once, by StartServiceByName or by a call that is held until it is ready.
#[test]
fn services_start_once_by_name_or_by_a_call() {
    let folder = services();
    let bus = bus_with(&folder);
    let mut peer = bus.peer();
    let names = peer.call(PlainMessage::to_bus("ListActivatableNames"));
    let names = names.body[0].strings().expect("names").join(" ");
    assert!(names.contains(NAME) && names.contains("com.example.Fails"), "{names}");
    let greet =
        |name: &str| PlainMessage::call(NAME, PATH, INTERFACE, "Greet").arg(PlainValue::text(name));
    let by_call = [peer.send(greet("first")), peer.send(greet("second"))];
    let by_name = peer.call(start(NAME));
    assert_eq!(by_name.first_u32(), Some(1), "started: {}", by_name.summary());
    for (serial, name) in by_call.into_iter().zip(["first", "second"]) {
        let reply = peer.receive().expect("open");
        assert_eq!(reply.reply_serial(), Some(serial), "in order");
        assert!(reply.first_text().contains(name), "{}", reply.summary());
    }
    assert_eq!(peer.call(start(NAME)).first_u32(), Some(2), "it runs already");
    let environment = fs::read_to_string(folder.join("environment")).expect("it ran");
    let has = |line: &str| environment.lines().any(|found| found.starts_with(line));
    for line in [
        "DBUS_STARTER_ADDRESS=unix:path=",
        "DBUS_STARTER_BUS_TYPE=session",
        "DBUS_SESSION_BUS_ADDRESS=unix:path=",
    ] {
        assert!(has(line), "{line} in {environment}");
    }
    bus.stop();
}

/// A message with NO_AUTO_START starts no service.
#[test]
fn messages_with_no_auto_start_start_no_service() {
    let folder = services();
    let bus = bus_with(&folder);
    let mut peer = bus.peer();
    let call = PlainMessage::call(NAME, PATH, INTERFACE, "Greet").arg(PlainValue::text("you"));
    let reply = peer.call(call.flags(2));
    assert_eq!(reply.error_name(), "NameHasNoOwner", "{}", reply.summary());
    let owner = peer.ask_bus("NameHasOwner", NAME);
    assert_eq!(owner.body, [PlainValue::Bool(false)]);
    assert!(!folder.join("environment").exists());
    bus.stop();
}

/// Each failure of a start has its own error name, and all waiting callers get the error.
#[test]
fn failed_starts_have_specific_errors() {
    let folder = services();
    let bus = bus_with(&folder);
    let rows = [
        ("com.example.Fails", "Spawn.ChildExited"),
        ("com.example.Crashes", "Spawn.ChildSignaled"),
        ("com.example.Missing", "Spawn.ExecFailed"),
        ("com.example.None", "ServiceUnknown"),
    ];
    check_all(
        &rows,
        |(name, _)| (*name).to_owned(),
        |(name, error)| {
            let mut peer = bus.peer();
            let call = PlainMessage::call(name, PATH, INTERFACE, "Greet");
            for message in [start(name), call] {
                let reply = peer.call(message);
                assert_eq!(
                    (reply.kind, reply.error_name()),
                    (kind::ERROR, *error),
                    "{}",
                    reply.summary()
                );
            }
        },
    );
    bus.stop();
}

/// The Exec line is split with the quoting rules of a shell, without running a shell.
#[test]
fn exec_lines_are_split_like_a_shell_does() {
    let folder = services();
    let bus = bus_with(&folder);
    bus.peer().send(start("com.example.Quoting"));
    let arguments = eventually("the service", || {
        fs::read_to_string(folder.join("arguments")).ok().filter(|text| text.lines().count() == 3)
    });
    assert_eq!(arguments, "a b\nc'd\nef\n");
    bus.stop();
}

/// UpdateActivationEnvironment changes the environment of services, here called by
/// dbus-update-activation-environment.
#[test]
fn services_get_the_updated_environment() {
    let folder = services();
    let bus = bus_with(&folder);
    let update = ExternalProgram::named("dbus-update-activation-environment", "dbus-bin")
        .args(["--verbose", "DILIGENCE_CONFORMANCE=some text"])
        .env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let _ = update.run().success();
    let reply = bus.peer().call(start(NAME));
    assert_eq!(reply.first_u32(), Some(1), "{}", reply.summary());
    let environment = fs::read_to_string(folder.join("environment")).expect("it ran");
    assert!(environment.lines().any(|line| line == "DILIGENCE_CONFORMANCE=some text"));
    bus.stop();
}

/// The exit status of the launch helper determines the error that callers get.
#[test]
fn exit_statuses_of_the_launch_helper_become_errors() {
    let folder = ScratchFolder::new();
    let script = folder.file("helper.sh", "#!/bin/sh\nexit ${1##*.Code}\n");
    set_mode(&script, 0o755);
    #[rustfmt::skip]
    let rows = [
        (1, "Spawn.ChildExited"), (2, "NoMemory"), (3, "Spawn.ConfigInvalid"),
        (4, "Spawn.FailedToSetup"), (5, "Spawn.ServiceNotValid"), (6, "Spawn.ServiceNotFound"),
        (7, "Spawn.PermissionsInvalid"), (8, "Spawn.FileInvalid"), (9, "Spawn.ExecFailed"),
        (10, "InvalidArgs"), (11, "Spawn.ChildSignaled"), (12, "Spawn.ChildExited"),
    ];
    for (status, _) in rows {
        add(&folder, &format!("com.example.Code{status}"), "/bin/false\nUser=root");
    }
    let elements = format!(
        "<servicedir>{0}</servicedir><servicehelper>{0}/helper.sh</servicehelper>",
        shown(&folder)
    );
    let bus = BusUnderTest::start(&TestConfig::session().element(&elements));
    check_all(
        &rows,
        |(status, _)| format!("exit status {status}"),
        |(status, error)| {
            let reply = bus.peer().call(start(&format!("com.example.Code{status}")));
            // dbus-daemon reports an invalid service file as a forbidden one.
            let error = match (Flavour::under_test(), status) {
                (Flavour::Reference, 8) => "Spawn.PermissionsInvalid",
                _ => error,
            };
            assert_eq!(reply.error_name(), error, "{}", reply.summary());
        },
    );
    bus.stop();
}

/// If the caller that caused a start disconnects, its held messages are not delivered, and the
/// messages of other senders are.
#[test]
fn held_messages_of_a_disconnected_caller_are_dropped() {
    let folder = services();
    let bus = bus_with(&folder);
    let [mut gone, mut stays] = [bus.peer(), bus.peer()];
    let greet =
        |name: &str| PlainMessage::call(NAME, PATH, INTERFACE, "Greet").arg(PlainValue::text(name));
    gone.send(greet("nobody"));
    drop(gone);
    let reply = stays.call(greet("somebody"));
    assert!(reply.first_text().contains("somebody"), "{}", reply.summary());
    bus.stop();
}

/// Waiting callers and held messages count for the limit on pending starts.
#[test]
fn held_messages_count_for_the_limit_of_pending_starts() {
    let folder = ScratchFolder::new();
    add(&folder, NAME, "/bin/sleep 30");
    let element = format!("<servicedir>{}</servicedir>", shown(&folder));
    let config = TestConfig::session().element(&element).limit("service_start_timeout", 500);
    let bus = BusUnderTest::start(&config.limit("max_pending_service_starts", 3));
    let mut peer = bus.peer();
    let call = || PlainMessage::call(NAME, PATH, INTERFACE, "Greet");
    let waiting = [peer.send(start(NAME)), peer.send(call()), peer.send(call())];
    let reply = peer.call(call());
    assert_eq!(reply.error_name(), "LimitsExceeded", "{}", reply.summary());
    for serial in waiting {
        let reply = peer.receive().expect("open");
        assert_eq!((reply.error_name(), reply.reply_serial()), ("TimedOut", Some(serial)));
    }
    bus.stop();
}

/// The order after a service takes its name: the reply to StartServiceByName, NameOwnerChanged, the
/// held messages, and last the reply to RequestName.
#[test]
fn replies_and_held_messages_follow_in_a_fixed_order_after_a_start() {
    let folder = ScratchFolder::new();
    add(&folder, NAME, "/bin/sleep 30");
    let bus = bus_with(&folder);
    let mut owner = bus.peer();
    owner.add_match("member='NameOwnerChanged'");
    owner.send(start(NAME));
    owner.send(PlainMessage::call(NAME, PATH, INTERFACE, "First"));
    let signal = PlainMessage::signal(PATH, INTERFACE, "Second");
    owner.send(signal.text(field::DESTINATION, NAME));
    owner.send(
        PlainMessage::to_bus("RequestName").arg(PlainValue::text(NAME)).arg(PlainValue::U32(0)),
    );
    let got = (0..6).map(|_| owner.receive().expect("open"));
    let got = got.filter(|message| message.member() != "NameAcquired");
    let got: Vec<_> = got.map(|message| (message.kind, message.member().to_owned())).collect();
    let expected = [
        (kind::SIGNAL, "NameOwnerChanged"),
        (kind::RETURN, ""),
        (kind::CALL, "First"),
        (kind::SIGNAL, "Second"),
        (kind::RETURN, ""),
    ];
    assert_eq!(got, expected.map(|(kind, member)| (kind, member.to_owned())));
    bus.stop();
}

/// The bus ends a service that does not own its name within the time limit.
#[test]
fn late_services_are_ended() {
    let folder = ScratchFolder::new();
    let script = format!("echo $$ > {}/pid; exec sleep 60", shown(&folder));
    add(&folder, NAME, &format!("/bin/sh -c '{script}'"));
    let element = format!("<servicedir>{}</servicedir>", shown(&folder));
    let bus = BusUnderTest::start(
        &TestConfig::session().element(&element).limit("service_start_timeout", 500),
    );
    let reply = bus.peer().call(start(NAME));
    assert_eq!(reply.error_name(), "TimedOut", "{}", reply.summary());
    let pid = fs::read_to_string(folder.join("pid")).expect("it ran");
    let process = format!("/proc/{}/exe", pid.trim());
    // A zombie has no executable, and disappears when its parent waits for it.
    eventually("its end", || fs::read_link(&process).is_err().then_some(()));
    bus.stop();
}

/// The standard error of a service goes to the standard error of the bus; if the service fails, the
/// log record also contains its last lines.
#[test]
fn standard_error_of_services_reaches_the_bus_and_its_log() {
    let folder = ScratchFolder::new();
    add(&folder, NAME, "/bin/sh -c 'echo some words >&2; echo and why >&2; exit 3'");
    let bus = bus_with(&folder);
    let reply = bus.peer().call(start(NAME));
    assert_eq!(reply.error_name(), "Spawn.ChildExited", "{}", reply.summary());
    let stderr = bus.stop().stderr;
    assert!(stderr.lines().any(|line| line == "some words"), "{stderr}");
    let failed = format!("Activated service '{NAME}' failed: Process {NAME} exited with status 3");
    let line = stderr.lines().find(|line| line.contains(&failed)).expect("a line of the log");
    if Flavour::under_test() == Flavour::Diligence {
        assert!(line.ends_with("Its last output: \"some words\", \"and why\""), "{line}");
    }
    let asked = format!("Activating service name='{NAME}' requested by ':1.");
    assert!(stderr.contains(&asked), "{stderr}");
}

/// A service that writes a lot of output blocks neither the bus nor other services.
#[test]
fn a_service_with_much_output_blocks_nothing() {
    let folder = ScratchFolder::new();
    add(&folder, NAME, "/bin/sh -c 'yes | head -c 10000000 >&2'");
    let bus = bus_with(&folder);
    let mut peer = bus.peer();
    peer.send(start(NAME));
    for _ in 0..100 {
        let started = Instant::now();
        assert!(peer.is_alive());
        assert!(started.elapsed() < Duration::from_secs(1), "the bus answers");
    }
    bus.stop();
}

/// Starts unmodified services of Debian, which do not know which bus runs.
#[test]
fn unmodified_services_of_debian_start() {
    let echo = require("/usr/bin/dbus-test-tool", "dbus-bin").display().to_string();
    let own = ScratchFolder::new();
    add(&own, "com.example.Echo", &format!("{echo} echo --session --name=com.example.Echo"));
    require("/usr/libexec/dconf-service", "dconf-service");
    require("/usr/libexec/at-spi-bus-launcher", "at-spi2-core");
    let elements = format!(
        "<servicedir>{}</servicedir><servicedir>/usr/share/dbus-1/services</servicedir>",
        shown(&own)
    );
    let home = ScratchFolder::new();
    let runtime = home.folder("run", 0o700);
    let bus = BusUnderTest::start_with(&TestConfig::session().element(&elements), |program| {
        program.env("HOME", home.path()).env("XDG_RUNTIME_DIR", &runtime)
    });
    let rows = [
        ("com.example.Echo", "/"),
        ("ca.desrt.dconf", "/ca/desrt/dconf/Writer/user"),
        ("org.a11y.Bus", "/org/a11y/bus"),
    ];
    check_all(
        &rows,
        |(name, _)| (*name).to_owned(),
        |(name, path)| {
            let introspect =
                PlainMessage::call(name, path, "org.freedesktop.DBus.Introspectable", "Introspect");
            let reply = bus.peer().call(introspect);
            assert_eq!(reply.kind, kind::RETURN, "{}", reply.summary());
        },
    );
    bus.stop();
}
