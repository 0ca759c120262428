//! Tests of `diligence run` as a process.

mod processes;

use std::fs;
use std::io::Write;
use std::process::{Command, ExitStatus, Output, Stdio};

use processes::{
    PROGRAM, ProcessFolder, ProcessLines, RunningProcess, children_of, is_alive, wait_until,
};
use rustix::process::Signal;

fn run(folder: &ProcessFolder, words: &[&str]) -> Output {
    folder.diligence(&[&["run"], words].concat()).output().expect("the program can be started")
}

fn code(status: ExitStatus) -> i32 {
    status.code().expect("the program is not ended by a signal")
}

#[test]
fn run_returns_the_exit_status_of_the_command() {
    let folder = ProcessFolder::new();
    for (words, expected) in [
        (&["--", "true"][..], 0),
        (&["sh", "-c", "exit 3"], 3),
        (&["--", "sh", "-c", "kill -TERM $$"], 128 + 15),
        (&["--", "sh", "-c", "kill -KILL $$"], 128 + 9),
        (&["--", "/nonexistent/program"], 127),
        (&["--", "/"], 127),
        (&["--config-file", "/nonexistent.conf", "true"], 1),
        (&[], 2),
        (&["--bogus", "true"], 2),
    ] {
        let output = run(&folder, words);
        assert_eq!(code(output.status), expected, "{words:?}: {output:?}");
        assert_eq!(folder.buses(), 0, "{words:?} left something");
    }
}

#[test]
fn commands_that_cannot_start_are_named_in_the_error() {
    let folder = ProcessFolder::new();
    let output = run(&folder, &["--", "/nonexistent/program"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    let expected = "diligence run: cannot run /nonexistent/program: No such file or directory";
    assert!(errors.contains(expected), "{errors}");
}

#[test]
fn the_command_uses_the_private_bus() {
    let folder = ProcessFolder::new();
    let script = "echo $DBUS_SESSION_BUS_ADDRESS; echo pid $DBUS_SESSION_BUS_PID; \
                  echo starter $DBUS_STARTER_ADDRESS$DBUS_STARTER_BUS_TYPE; \
                  kill -0 $DBUS_SESSION_BUS_PID && exec dbus-send --session --print-reply=literal \
                  --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId";
    let mut command = folder.diligence(&["run", "--", "sh", "-c", script]);
    command.env("DBUS_STARTER_ADDRESS", "unix:path=/x").env("DBUS_STARTER_BUS_TYPE", "session");
    let output = command.output().expect("the program can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    let [address, pid, starter, id] = lines[..] else { panic!("four lines, not {output:?}") };
    let inside = format!("unix:path={}/diligence-", folder.path().display());
    assert!(address.starts_with(&inside), "{address}");
    assert!(pid.len() > "pid ".len(), "{pid}");
    assert_eq!(starter, "starter");
    assert_eq!(id.trim().len(), 32, "{id}");
}

#[test]
fn standard_streams_belong_to_the_command() {
    let folder = ProcessFolder::new();
    let mut command = folder.diligence(&["run", "sh", "-c", "cat; echo to stderr >&2"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the program can be started");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"some text\n")
        .expect("the process reads its input");
    let output = child.wait_with_output().expect("a child process");
    assert_eq!(output.stdout, b"some text\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("to stderr\n"));
}

#[test]
fn the_bus_uses_the_given_configuration() {
    let folder = ProcessFolder::new();
    let config = folder.path().join("own.conf");
    let socket = folder.path().join("own-socket");
    let text = format!(
        "<busconfig><type>session</type><listen>unix:path={}</listen>\
         <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
         <allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
        socket.display()
    );
    fs::write(&config, text).expect("a writable folder");
    let words = ["run", "--config-file", config.to_str().expect("text"), "printenv"];
    let output = folder
        .diligence(&words)
        .arg("DBUS_SESSION_BUS_ADDRESS")
        .output()
        .expect("the program can be started");
    let address = String::from_utf8_lossy(&output.stdout);
    assert!(address.starts_with(&format!("unix:path={}", socket.display())), "{output:?}");
}

#[test]
fn signals_are_forwarded_to_the_command() {
    let script = "trap 'exit 7' TERM HUP INT; echo ready; while :; do sleep 0.01; done";
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let folder = ProcessFolder::new();
        // A terminal would send signals to the whole process group, and not only to `run`.
        let mut command = Command::new("setsid");
        // A shell cannot trap a signal that was ignored when it started, for example under
        // nohup(1).
        command.args(["env", "--default-signal=HUP,INT"]);
        command.args([PROGRAM, "run", "--", "sh", "-c", script]);
        command.env("XDG_RUNTIME_DIR", folder.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut running = RunningProcess::start(&mut command);
        running.lines().find("ready", |line| line == "ready");
        running.signal(signal);
        assert_eq!(code(running.status()), 7, "{signal:?}");
        assert_eq!(folder.buses(), 0, "{signal:?} left something");
    }
}

#[test]
fn the_bus_exits_if_run_is_killed() {
    let folder = ProcessFolder::new();
    let script = "echo $DBUS_SESSION_BUS_PID; exec sleep 1000";
    let mut running =
        RunningProcess::start(&mut folder.diligence(&["run", "--", "sh", "-c", script]));
    let bus = running.lines().find("the bus", |_| true).parse().expect("a number");
    let children = children_of(running.pid());
    running.signal(Signal::KILL);
    wait_until("the bus ends", || !is_alive(bus));
    for (pid, _) in children.into_iter().filter(|(pid, _)| is_alive(*pid)) {
        processes::send(pid, Signal::KILL);
    }
}

#[test]
fn a_bus_that_exits_early_is_reported_and_the_command_continues() {
    let folder = ProcessFolder::new();
    let script = "kill -KILL $DBUS_SESSION_BUS_PID; read line; exit 5";
    let mut command = folder.diligence(&["run", "--", "sh", "-c", script]);
    let mut running = RunningProcess::start(command.stdin(Stdio::piped()));
    let errors = ProcessLines::of(running.0.stderr.take().expect("a pipe"));
    let report = "diligence run: the bus has ended with signal 9 (SIGKILL)";
    errors.find("the end of the bus", |line| line.contains(report));
    drop(running.0.stdin.take());
    assert_eq!(code(running.status()), 5);
}
