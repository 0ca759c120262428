//! The bus under the restrictions of its systemd unit (`conformance/confined`): no new privileges,
//! and limited capabilities and system calls. `make prove` runs the whole suite like this.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use conformance::process::status;
use conformance::statistics::scrape;
use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, RunAs, ScratchFolder, Signal,
    TestConfig, copy_bus, diligence, eventually, file_with_extension, installed, root, run_tests,
    set_mode, test_case,
};

fn main() -> ExitCode {
    run_tests([
        test_case!(the_bus_needs_no_more_than_its_unit_allows)
            .requires(root())
            .requires(diligence()),
        test_case!(the_bus_needs_no_more_than_its_unit_allows_without_root)
            .requires(another_user())
            .requires(diligence()),
        test_case!(a_call_that_the_unit_does_not_allow_ends_the_process),
        test_case!(systemd_starts_all_services).requires(diligence()),
    ])
}

/// The capabilities that the unit grants: CAP_CHOWN, CAP_SETGID, CAP_SETUID and CAP_SYS_RESOURCE.
/// The bus drops them when it stops being root.
const LEFT: u64 = 1 | 1 << 6 | 1 << 7 | 1 << 24;

/// The system bus starts as root and becomes another user.
fn the_bus_needs_no_more_than_its_unit_allows() {
    run_confined("<user>nobody</user>");
}

/// Without root, the bus runs behind the same filters, but cannot change its user.
fn the_bus_needs_no_more_than_its_unit_allows_without_root() {
    run_confined("");
}

/// The requirement that a user other than root runs the tests.
fn another_user() -> Result<(), String> {
    (!RunAs::is_root()).then_some(()).ok_or_else(|| "needs a user other than root".to_owned())
}

fn run_confined(user: &str) {
    let scratch = ScratchFolder::new();
    let [metrics, flights] = ["metrics", "flights"].map(|name| scratch.join(name));
    fs::create_dir(&flights).expect("a fresh place");
    set_mode(&flights, 0o777);
    // The pid of a process that cannot exist: the kernel assigns smaller numbers.
    let pid_file = scratch.file("pid", "4194304\n");
    let mut config =
        TestConfig::session().element(&format!("<pidfile>{}</pidfile>", pid_file.display()));
    config = config.element(&format!(
        "<?diligence <metrics_socket>{}</metrics_socket><flight_recorder>65536</flight_recorder>\
         <flight_recorder_folder>{}</flight_recorder_folder> ?>",
        metrics.display(),
        flights.display(),
    ));
    config = config.element(user);
    let mut bus = BusUnderTest::start_with(
        &config.policy("context='default'", "<allow user='*'/>"),
        confined,
    );
    assert_confined(&mut bus);
    let pid = fs::read_to_string(&pid_file).expect("it is the bus's now");
    assert_eq!(pid.trim(), bus.process().id().to_string());

    let [mut caller, mut other] = [bus.peer(), bus.peer()];
    other.add_match("type='signal',arg0='x'");
    caller.send(PlainMessage::signal("/", "com.example.A", "B").arg(PlainValue::text("x")));
    assert_eq!(other.receive().expect("open").member(), "B");
    for (member, argument) in [("GetConnectionCredentials", other.name()), ("NameHasOwner", "a.B")]
    {
        let reply = caller.ask_bus(member, argument);
        assert_eq!(reply.error_name(), "", "{}", reply.summary());
    }
    let large = "x".repeat(300_000);
    let other_name = other.name().to_owned();
    caller.send(PlainMessage::some_call(&other_name).arg(PlainValue::text(&large)));
    assert_eq!(other.receive().expect("open").first_text().len(), large.len());
    let reply = caller.call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
    assert!(scrape(&metrics).1.contains("# EOF"));
    let pid = bus.process().id().to_string();
    let kill = ExternalProgram::named("kill", "procps");
    let _ = kill.args(["-s", "RTMIN+25", &pid]).run().success();
    bus.process().wait_for("another program in the process", |_, stderr| {
        stderr.contains(" replaced version ").then_some(())
    });
    assert_confined(&mut bus);
    assert!(caller.is_alive());
    bus.process().signal(Signal::USR2);
    eventually("a file of the flight recorder", || {
        let file = file_with_extension(&flights, "trace")?;
        fs::metadata(file).is_ok_and(|it| it.len() > 65_536).then_some(())
    });
    bus.stop();
}

/// The kernel logs the forbidden call, and systemd reports the signal that ended the bus.
fn a_call_that_the_unit_does_not_allow_ends_the_process() {
    let chroot = installed("chroot", "coreutils");
    let ran = ExternalProgram::at(runner()).arg("--run").arg(chroot).args(["/", "/bin/true"]).run();
    assert_eq!(ran.code(), 128 + Signal::SYS.as_raw(), "{ran}");
}

/// Services without a unit run as instances of a template unit, because the bus may not execute
/// programs.
fn systemd_starts_all_services() {
    let folder = ScratchFolder::new();
    for (name, unit) in
        [("com.example.Plain", ""), ("com.example.Unit", "SystemdService=u.service")]
    {
        let text = format!("[D-BUS Service]\nName={name}\nExec=/bin/false\n{unit}\n");
        folder.file(&format!("{name}.service"), &text);
    }
    let dir = format!("<servicedir>{}</servicedir>", folder.path().display());
    let bus = BusUnderTest::start_with(&TestConfig::session().element(&dir), |program| {
        confined(program).arg("--helper-unit=helper@.service")
    });
    let [mut caller, mut systemd] = [bus.peer(), bus.peer()];
    systemd.request_name("org.freedesktop.systemd1", 0);
    systemd.drain();
    for (name, expected) in [
        ("com.example.Plain", "helper@com.example.Plain.service"),
        ("com.example.Unit", "u.service"),
    ] {
        let call = caller.send(PlainMessage::some_call(name));
        let request = systemd.receive().expect("open");
        assert_eq!((request.member(), request.first_text()), ("ActivationRequest", expected));
        let failure = PlainMessage::signal(
            "/org/freedesktop/systemd1",
            "org.freedesktop.systemd1.Activator",
            "ActivationFailure",
        );
        let texts = [expected, "com.example.Error", "it did not start"].map(PlainValue::text);
        let failure =
            texts.into_iter().fold(failure.text(6, "org.freedesktop.DBus"), PlainMessage::arg);
        systemd.send(failure);
        let answer = caller.receive().expect("open");
        assert_eq!(answer.reply_serial(), Some(call));
        assert_eq!(answer.first_text(), "it did not start", "{}", answer.summary());
    }
    bus.stop();
}

fn runner() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("confined")
}

/// The program under test, within the options of its unit.
fn confined(_: ExternalProgram) -> ExternalProgram {
    let mut bus = PathBuf::new();
    let program = ExternalProgram::linked(|folder| {
        bus = copy_bus(folder);
        runner()
    });
    program.env("CONFINED_BUS", bus)
}

/// Checks the restrictions that the kernel reports for the process.
fn assert_confined(bus: &mut BusUnderTest) {
    let pid = bus.process().id();
    let field = |key: &str| status(pid, key);
    let capabilities = |name| u64::from_str_radix(&field(name), 16).expect("hexadecimal digits");
    assert_eq!((field("NoNewPrivs").as_str(), field("Seccomp").as_str()), ("1", "2"));
    if RunAs::is_root() {
        // In a container, the bounding set can be smaller.
        assert_eq!((capabilities("CapBnd") & !LEFT, capabilities("CapEff")), (0, 0));
        assert!(field("Uid").starts_with("65534"), "{}", field("Uid"));
    }
}
