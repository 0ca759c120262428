//! Tests of `timeline --live` and `lint --live` on a bus with the demo programs.

use rustix::process::Signal;

use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};

/// Starts a bus with the demo programs, and returns its address.
pub(crate) fn demo(folder: &ProgramFolder) -> (SpawnedProgram, String) {
    let socket = folder.join("bus");
    let address = format!("unix:path={}", socket.display());
    let mut up = folder.diligence();
    up.args(["up", "--demo", "--address", &address]);
    let running = SpawnedProgram::start(&mut up);
    eventually("the bus", || socket.exists().then_some(()));
    (running, address)
}

/// Runs a command on the bus. Its words contain no spaces.
fn run(folder: &ProgramFolder, address: &str, line: &str) -> (Option<i32>, String, String) {
    let mut command = folder.diligence();
    command.args(line.split(' ')).args(["--live", "--address", address]);
    let output = command.output().expect("the program exists");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn live_findings_name_the_responsible_programs() {
    let folder = ProgramFolder::new();
    let (bus, address) = demo(&folder);
    // The rule needs a dozen requests of the poller, however slow the machine is.
    let (code, stdout, stderr) = eventually("the poller is found", || {
        let found = run(&folder, &address, "lint --duration 4s --fail-on med");
        found.1.contains("L12  demo-poller").then_some(found)
    });
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "{stdout}");
    assert!(stdout.starts_with(&format!("the bus at {address}: ")), "{stdout}");
    assert!(stdout.contains("nothing was recorded"), "{stdout}");

    let (code, stdout, stderr) = run(&folder, &address, "timeline --duration 3s");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("written by the bus, nothing lost"), "{stdout}");
    assert!(stdout.contains("Slowest calls") && stdout.contains("demo-poller"), "{stdout}");
    assert!(!stdout.contains("number"), "{stdout}");

    let (code, stdout, _) = run(&folder, &address, "timeline --json --duration 500ms");
    assert_eq!(code, Some(0));
    assert!(stdout.contains(&format!("\"bus\": \"the bus at {address}\"")), "{stdout}");
    assert_ends_with_a_report(&folder, &address);
    assert_ends_with_its_bus(&folder, &address, bus);
}

fn assert_ends_with_a_report(folder: &ProgramFolder, address: &str) {
    let mut command = folder.diligence();
    command.args(["timeline", "--live", "--address", address, "--interval", "300ms"]);
    let mut running = SpawnedProgram::start(&mut command);
    let first = running.line();
    assert!(first.contains("messages in"), "{first}");
    while !running.line().contains("messages in") {}
    let output = running.end(Signal::INT);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("messages in"), "{output:?}");
}

fn assert_ends_with_its_bus(folder: &ProgramFolder, address: &str, bus: SpawnedProgram) {
    let mut command = folder.diligence();
    command.args(["lint", "--live", "--address", address, "--interval", "300ms", "--json"]);
    let mut running = SpawnedProgram::start(&mut command);
    assert!(running.line().starts_with("{\"bus\":"));
    bus.end(Signal::INT);
    let output = running.ended();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let errors = text(&output.stderr);
    assert!(
        errors.contains("lost the bus") && errors.ends_with("the bus closed the connection\n"),
        "{errors}"
    );
}

#[test]
fn bus_options_require_live() {
    let folder = ProgramFolder::new();
    for (line, status, expected) in [
        ("timeline --session a.pcap", 2, "--live"),
        ("lint --interval 1s a.pcap", 2, "--live"),
        ("lint --live a.pcap", 2, "reads no file: leave out a.pcap or --live"),
        ("timeline --live color:red", 2, "the query: "),
        ("monitor color:red", 2, "the query: "),
        ("top color:red", 2, "the query: "),
        ("timeline --live --address unix:path=/nonexistent/bus", 1, "cannot watch the bus at"),
        ("lint --live --address unix:path=/nonexistent/bus", 1, "cannot watch the bus at"),
        ("monitor --address unix:path=/nonexistent/bus", 1, "cannot watch the bus at"),
        ("top --address unix:path=/nonexistent/bus", 1, "cannot watch the bus at"),
    ] {
        let mut command = folder.diligence();
        let output = command.args(line.split(' ')).output().expect("the program exists");
        assert_eq!(output.status.code(), Some(status), "{line}: {output:?}");
        assert!(text(&output.stderr).contains(expected), "{line}: {output:?}");
    }
}
