//! Unmodified D-Bus programs of Debian, with the bus under test.

use conformance::{
    BusUnderTest, ExternalProgram, FinishedProgram, PlainMessage, PlainValue, StartedProgram,
    TestConfig, check_all, eventually, fail_with,
};

const NAME: &str = "com.example.Service";
const PATH: &str = "/com/example/Object";
const INTERFACE: &str = "com.example.Interface";

/// A bus with the Python service on it.
struct DesktopPrograms {
    // The fields are dropped in this order: clients before the bus.
    service: StartedProgram,
    bus: BusUnderTest,
}

impl DesktopPrograms {
    fn set() -> Self {
        // The limit of a session bus, which is higher than the default of other buses.
        let config = TestConfig::session().limit("max_replies_per_connection", 50_000);
        let bus = BusUnderTest::start(&config);
        let service = ExternalProgram::python(include_str!("python/service.py")).arg(bus.address());
        let mut service = service.start();
        service.wait_for_stdout("ready");
        Self { service, bus }
    }

    /// A program with `{address}`, `{name}`, `{path}` and `{interface}` in its arguments replaced,
    /// and the bus as its session bus.
    fn program(&self, name: &str, package: &str, args: &[&str]) -> ExternalProgram {
        let args = args.iter().map(|arg| {
            arg.replace("{address}", self.bus.address())
                .replace("{name}", NAME)
                .replace("{path}", PATH)
                .replace("{interface}", INTERFACE)
        });
        ExternalProgram::named(name, package)
            .args(args)
            .env("DBUS_SESSION_BUS_ADDRESS", self.bus.address())
            .env("LC_ALL", "C.UTF-8")
    }

    fn run(&self, row: &ProgramCase) -> FinishedProgram {
        let package = PACKAGES.iter().find(|(program, _)| *program == row.program);
        let (program, package) = package.expect("each program has its package");
        self.program(program, package, row.args).run()
    }

    /// Makes the Python service broadcast a signal.
    fn shout(&self, text: &str) {
        let call = PlainMessage::call(NAME, PATH, INTERFACE, "Shout").arg(PlainValue::text(text));
        let reply = self.bus.peer().call(call);
        assert_eq!(reply.error_name(), "", "{}", reply.summary());
    }

    fn strike(self) {
        drop(self.service);
        self.bus.stop();
    }
}

/// The Debian packages of the programs.
const PACKAGES: [(&str, &str); 4] = [
    ("dbus-send", "dbus-bin"),
    ("gdbus", "libglib2.0-bin"),
    ("busctl", "systemd"),
    ("dbus-test-tool", "dbus-tests"),
];

struct ProgramCase {
    program: &'static str,
    args: &'static [&'static str],
    code: i32,
    /// Texts that standard output must contain, or standard error if the program fails.
    says: &'static [&'static str],
}

#[rustfmt::skip]
const ROWS: &[ProgramCase] = &[
    ProgramCase { program: "dbus-send", code: 0,
        args: &["--bus={address}", "--print-reply", "--dest={name}", "{path}", "{interface}.Everything",
            "string:text", "int16:-1", "uint16:2", "int32:-3", "uint32:4", "int64:-5", "uint64:6", "double:0.5", "byte:7",
            "boolean:true", "objpath:/a", "array:string:a,b", "dict:string:int32:k,1", "variant:int32:9"],
        says: &["   string \"text\"\n   int16 -1\n   uint16 2\n   int32 -3\n   uint32 4\n   int64 -5\n   uint64 6\n   double 0.5\n   \
            byte 7\n   boolean true\n   object path \"/a\"\n   array [\n      string \"a\"\n      string \"b\"\n   ]\n   \
            array [\n      dict entry(\n         string \"k\"\n         int32 1\n      )\n   ]\n   variant       int32 9\n"] },
    ProgramCase { program: "dbus-send", code: 0, args: &["--session", "--print-reply=literal", "--dest={name}", "{path}", "{interface}.Greet", "string:you"],
        says: &["   Hello, you at :1."] },
    ProgramCase { program: "dbus-send", code: 0, args: &["--bus={address}", "--dest={name}", "{path}", "{interface}.Greet", "string:you"], says: &[] },
    ProgramCase { program: "dbus-send", code: 1, args: &["--bus={address}", "--print-reply", "--dest={name}", "{path}", "{interface}.Refuse"],
        says: &["Error com.example.Error.Refused: on principle"] },
    ProgramCase { program: "dbus-send", code: 1, args: &["--bus={address}", "--print-reply", "--dest=com.example.Nobody", "/", "com.example.I.M"],
        says: &["Error org.freedesktop.DBus.Error.ServiceUnknown: The name com.example.Nobody was not provided by any .service files"] },
    ProgramCase { program: "gdbus", code: 0, args: &["call", "--address", "{address}", "--dest", "{name}", "--object-path", "{path}", "--method", "{interface}.Greet", "you"],
        says: &["('Hello, you at :1."] },
    ProgramCase { program: "gdbus", code: 0, args: &["call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method", "org.freedesktop.DBus.GetNameOwner", "{name}"],
        says: &["(':1."] },
    ProgramCase { program: "gdbus", code: 1, args: &["call", "--address", "{address}", "--dest", "{name}", "--object-path", "{path}", "--method", "{interface}.Refuse"],
        says: &["GDBus.Error:com.example.Error.Refused: on principle"] },
    ProgramCase { program: "gdbus", code: 0, args: &["introspect", "--address", "{address}", "--dest", "{name}", "--object-path", "{path}"],
        says: &["Greet(in  s name,", "Shouted(s text);"] },
    ProgramCase { program: "gdbus", code: 0, args: &["introspect", "--address", "{address}", "--dest", "{name}", "--object-path", "/", "--recurse"],
        says: &["node /com/example/Object {"] },
    ProgramCase { program: "gdbus", code: 0, args: &["introspect", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus"],
        says: &["interface org.freedesktop.DBus {", "NameOwnerChanged(", "readonly as Features = ["] },
    ProgramCase { program: "gdbus", code: 0, args: &["emit", "--address", "{address}", "--object-path", "/x", "--signal", "com.example.X.Y", "uint32 5"], says: &[] },
    ProgramCase { program: "gdbus", code: 0, args: &["wait", "--address", "{address}", "{name}"], says: &[] },
    ProgramCase { program: "gdbus", code: 1, args: &["wait", "--address", "{address}", "--timeout", "1", "com.example.Nobody"], says: &[] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "list", "--no-legend"], says: &["com.example.Service ", "python3", "org.freedesktop.DBus "] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "list", "--json=short"], says: &["{\"name\":\"com.example.Service\",\"pid\":"] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "tree", "{name}", "--list"], says: &["/com/example/Object\n"] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "introspect", "{name}", "{path}", "--no-legend"], says: &[".Greet", ".Shouted"] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "introspect", "org.freedesktop.DBus", "/org/freedesktop/DBus", "--no-legend"],
        says: &[".AddMatch", ".NameOwnerChanged", ".BecomeMonitor", ".Features"] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "call", "{name}", "{path}", "{interface}", "Greet", "s", "you"], says: &["s \"Hello, you at :1."] },
    ProgramCase { program: "busctl", code: 1, args: &["--address={address}", "call", "{name}", "{path}", "{interface}", "Refuse"], says: &["on principle"] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "get-property", "{name}", "{path}", "{interface}", "Counter"], says: &["u "] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "set-property", "{name}", "{path}", "{interface}", "Counter", "u", "7"], says: &[] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "emit", "/x", "com.example.X", "Y", "u", "5"], says: &[] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "status", "{name}"], says: &["PID=", "Comm=python3", "UniqueName=:1."] },
    ProgramCase { program: "busctl", code: 0, args: &["--address={address}", "status"], says: &["BusAddress=", "BusID="] },
    ProgramCase { program: "dbus-test-tool", code: 0, args: &["spam", "--dest={name}", "--count=1", "--ignore-errors"], says: &[] },
];

#[test]
fn unmodified_programs_print_the_expected_output() {
    let stage = DesktopPrograms::set();
    check_all(
        ROWS,
        |row| format!("{} {}", row.program, row.args.join(" ")),
        |row| {
            let ran = stage.run(row);
            assert_eq!(ran.code(), row.code, "{ran}");
            let output = if row.code == 0 { &ran.stdout } else { &ran.stderr };
            let missing = row.says.iter().filter(|part| !output.contains(**part));
            let missing: Vec<_> = missing.map(|part| format!("{part:?} in {ran}")).collect();
            fail_with("texts", &missing);
        },
    );
    stage.strike();
}

/// A signal from each program is received, with its arguments.
#[test]
fn signals_of_programs_arrive_with_their_arguments() {
    let stage = DesktopPrograms::set();
    let rows: [(&str, &str, &[&str]); 3] = [
        (
            "dbus-send",
            "dbus-bin",
            &["--bus={address}", "--type=signal", "/x", "com.example.X.Y", "uint32:5"],
        ),
        (
            "gdbus",
            "libglib2.0-bin",
            &[
                "emit",
                "--session",
                "--object-path",
                "/x",
                "--signal",
                "com.example.X.Y",
                "uint32 5",
            ],
        ),
        (
            "busctl",
            "systemd",
            &["--address={address}", "emit", "/x", "com.example.X", "Y", "u", "5"],
        ),
    ];
    for (name, package, args) in rows {
        let mut peer = stage.bus.peer();
        peer.add_match("interface='com.example.X'");
        let _ = stage.program(name, package, args).run().success();
        assert_eq!(
            peer.receive().map(|found| found.body),
            Some(vec![PlainValue::U32(5)]),
            "{name}"
        );
    }
    stage.strike();
}

struct ProgramWatch {
    program: &'static str,
    package: &'static str,
    args: &'static [&'static str],
    says: &'static [&'static str],
}

/// Each program prints the signal of the service, and ends after SIGTERM or SIGINT.
#[rustfmt::skip]
const WATCHES: &[ProgramWatch] = &[
    ProgramWatch { program: "gdbus", package: "libglib2.0-bin", args: &["monitor", "--address", "{address}", "--dest", "{name}"],
        says: &["/com/example/Object: com.example.Interface.Shouted ('aloud',)"] },
    ProgramWatch { program: "dbus-monitor", package: "dbus-bin", args: &["--address", "{address}"],
        says: &["method call time=", "member=Shout\n   string \"aloud\"", "member=Shouted\n   string \"aloud\"", "method return time=", "member=NameOwnerChanged"] },
    ProgramWatch { program: "dbus-monitor", package: "dbus-bin", args: &["--session", "type=signal,member=Shouted"],
        says: &["member=Shouted\n   string \"aloud\""] },
    ProgramWatch { program: "dbus-monitor", package: "dbus-bin", args: &["--address", "{address}", "--profile"],
        says: &["mc\t", "\tcom.example.Interface\tShout\n", "sig\t", "\tcom.example.Interface\tShouted\n", "mr\t"] },
    ProgramWatch { program: "busctl", package: "systemd", args: &["--address={address}", "monitor", "{name}"],
        says: &["Member=Shouted", "STRING \"aloud\";", "Type=method_return"] },
    ProgramWatch { program: "busctl", package: "systemd", args: &["--address={address}", "monitor", "--json=short", "--match=member='Shouted'"],
        says: &["\"member\":\"Shouted\"", "\"data\":[\"aloud\"]"] },
];

#[test]
fn programs_that_watch() {
    let stage = DesktopPrograms::set();
    check_all(
        WATCHES,
        |row| format!("{} {}", row.program, row.args.join(" ")),
        |row| {
            let mut watcher = stage.program(row.program, row.package, row.args).start();
            // The test cannot see when a program has added its match rules, so it sends the signal
            // repeatedly.
            eventually("the watcher to see it", || {
                stage.shout("aloud");
                let output = watcher.stdout();
                row.says.iter().all(|part| output.contains(part)).then_some(())
            });
            assert!(watcher.ended().is_none());
            let ran = watcher.interrupt();
            assert!(matches!(ran.code(), 0 | 130), "{ran}");
        },
    );
    stage.strike();
}

/// Recordings are in pcap formats; each packet is a message.
#[test]
fn recordings_of_programs_contain_the_messages() {
    let stage = DesktopPrograms::set();
    let watches: [(&str, &str, &[&str]); 2] = [
        ("dbus-monitor", "dbus-bin", &["--address", "{address}", "--pcap"]),
        ("dbus-monitor", "dbus-bin", &["--address", "{address}", "--binary"]),
    ];
    for (program, package, args) in watches {
        let watcher = stage.program(program, package, args).start();
        let pcap = args.contains(&"--pcap");
        eventually("the capture to have it", || {
            stage.shout("aloud");
            let members = members_of(&watcher.stdout_bytes(), pcap);
            let has = |wanted: &str| members.iter().any(|member| member == wanted);
            (has("Shout") && has("Shouted")).then_some(())
        });
    }
    stage.strike();
}

/// The members of the messages in a recording, up to its last complete packet.
fn members_of(capture: &[u8], pcap: bool) -> Vec<String> {
    let (mut rest, packet_header) = if pcap { (capture.get(24..), 16) } else { (Some(capture), 0) };
    assert!(!pcap || capture.len() < 24 || capture[20] == 231, "the link type of D-Bus");
    let mut members = Vec::new();
    while let Some(bytes) = rest.and_then(|rest| rest.get(packet_header..)) {
        let Some((message, length)) = PlainMessage::decode(bytes) else { break };
        members.push(message.member().to_owned());
        rest = bytes.get(length..);
    }
    members
}

#[test]
fn python_client_and_service() {
    let stage = DesktopPrograms::set();
    let client = ExternalProgram::python(include_str!("python/client.py")).arg(stage.bus.address());
    let ran = client.run().success();
    assert_eq!(ran.stdout, "done\n", "{ran}");
    stage.strike();
}

/// dbus-test-tool, the load generator of dbus-daemon.
#[test]
fn dbus_test_tool_works() {
    let stage = DesktopPrograms::set();
    let tool = |args: &[&str]| stage.program("dbus-test-tool", "dbus-tests", args);
    let echo = tool(&["echo", "--name=com.example.Echo"]).start();
    let hole = tool(&["black-hole", "--name=com.example.Hole"]).start();
    let mut peer = stage.bus.peer();
    for name in ["com.example.Echo", "com.example.Hole"] {
        eventually(name, || {
            (peer.ask_bus("NameHasOwner", name).body == [PlainValue::Bool(true)]).then_some(())
        });
    }
    let rows: [&[&str]; 5] = [
        &["spam", "--dest=com.example.Echo", "--count=500"],
        &["spam", "--dest=com.example.Echo", "--count=5000", "--queue=50"],
        &["spam", "--dest=com.example.Echo", "--count=2000", "--flood"],
        &["spam", "--dest=com.example.Echo", "--count=500", "--messages-per-conn=50"],
        &["spam", "--dest=com.example.Hole", "--count=5000", "--no-reply"],
    ];
    for args in rows {
        let ran = tool(args).run().success();
        assert_eq!(ran.stderr, "", "{ran}");
    }
    assert!(peer.is_alive());
    drop((echo, hole));
    stage.strike();
}
