//! Tests of the start and end of a bus, as its caller and the service manager see them.

use std::fs;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};
use rustix::process::{Pid, Signal};

#[test]
fn with_fork_the_caller_returns_once_the_bus_is_ready() {
    let folder = ProgramFolder::new();
    let config = folder.config(&format!("<fork/><pidfile>{}</pidfile>", "pid"));
    let mut daemon = folder.dbus_daemon();
    daemon.args(["--print-address=1", "--print-pid=1"]).arg("--config-file").arg(&config);
    let output = folder.shell("umask 077; exec \"$0\" \"$@\"", &daemon).output().expect("a shell");
    // `output` returned, so the bus has closed the standard output of its caller.
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let [address, pid] = stdout.lines().collect::<Vec<_>>()[..] else { panic!("two: {stdout}") };
    assert!(address.starts_with("unix:path="), "{address}");
    assert_eq!(fs::read_to_string(folder.join("pid")).expect("written"), format!("{pid}\n"));
    UnixStream::connect(folder.join("bus")).expect("the bus accepts connections");

    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a running process");
    assert!(status.contains("\nUmask:\t0022\n"), "{status}");
    assert_eq!(
        fs::read_link(format!("/proc/{pid}/cwd")).expect("a running process"),
        Path::new("/")
    );
    kill(pid, Signal::TERM);
    eventually("the end of the bus", || (!folder.join("pid").exists()).then_some(()));
    assert!(!folder.join("bus").exists());
}

#[test]
fn failed_background_starts_fail_in_the_caller() {
    let folder = ProgramFolder::new();
    let config = folder.config("<fork/><pidfile>none/pid</pidfile>");
    let output = folder
        .dbus_daemon()
        .args(["--print-pid", "--config-file"])
        .arg(config)
        .output()
        .expect("the program exists");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "", "no output without a bus");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("none/pid\": No such file or directory"), "{stderr}");
    assert!(!folder.join("bus").exists(), "the socket was removed");
}

#[test]
fn descriptors_of_the_caller_are_closed_after_printing() {
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let start = |script: &str, words: &[&str]| {
        let mut daemon = folder.dbus_daemon();
        daemon.args(words).arg("--config-file").arg(&config);
        let running = SpawnedProgram::start(&mut folder.shell(script, &daemon));
        let written = folder.join("out");
        let line = eventually("the lines", || {
            let text = fs::read_to_string(&written).ok()?;
            text.ends_with(&format!("{}\n", running.id())).then_some(text)
        });
        let open = format!("/proc/{}/fd", running.id());
        let open = fs::read_dir(open).expect("a running process").flatten();
        let kept = open.filter(|it| fs::read_link(it.path()).is_ok_and(|path| path == written));
        assert_eq!(kept.count(), 0);
        assert!(running.end(Signal::TERM).status.success());
        fs::remove_file(&written).expect("a writable folder");
        line
    };
    let address = folder.join("bus");
    let address = format!("unix:path={},guid=", address.display());
    let one = "exec \"$0\" \"$@\" 8>out";
    assert!(start(one, &["--print-address=8", "--print-pid", "8"]).starts_with(&address));
    let two = "exec \"$0\" \"$@\" 9>out 8>&9";
    assert!(start(two, &["--print-address=8", "--print-pid", "9"]).starts_with(&address));
}

#[test]
fn the_service_manager_is_notified_and_its_sockets_are_used() {
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let notifications = UnixDatagram::bind(folder.join("notify")).expect("a writable folder");
    let socket = UnixListener::bind(folder.join("passed")).expect("a writable folder");
    let mut daemon = folder.dbus_daemon();
    daemon.args(["--address=systemd:", "--print-address", "--nofork", "--nopidfile"]);
    daemon.args(["--systemd-activation", "--syslog-only", "--config-file"]).arg(&config);
    let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\" 3<&0";
    let mut shell = folder.shell(script, &daemon);
    shell.stdin(Stdio::from(std::os::fd::OwnedFd::from(socket)));
    let mut running = SpawnedProgram::start(shell.env("NOTIFY_SOCKET", folder.join("notify")));

    let passed = folder.join("passed");
    let address = running.line();
    assert!(address.starts_with(&format!("unix:path={},guid=", passed.display())), "{address}");
    assert_eq!(notification(&notifications), "READY=1");
    UnixStream::connect(&passed).expect("the bus accepts connections");
    for broken in [false, true] {
        if broken {
            fs::write(&config, "<busconfig").expect("a writable folder");
        }
        running.signal(Signal::HUP);
        let reloading = notification(&notifications);
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert_eq!(notification(&notifications), "READY=1");
    }
    assert!(running.end(Signal::TERM).status.success());
    assert_eq!(notification(&notifications), "STOPPING=1");
    assert!(passed.exists(), "the service manager owns the socket");
    assert!(!folder.join("bus").exists(), "the address of the configuration was not used");
}

#[test]
fn sigint_stops_diligence_bus_cleanly_and_kills_dbus_daemon() {
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let end = |mut command: Command| {
        command.arg("--print-address").arg("--config-file").arg(&config);
        let mut running = SpawnedProgram::start(&mut folder.with_usual_signals(&command));
        assert!(running.line().starts_with("unix:"));
        running.end(Signal::INT).status
    };
    let mut diligence = folder.diligence();
    diligence.arg("bus");
    assert!(end(diligence).success());
    assert!(!folder.join("bus").exists());
    assert_eq!(end(folder.dbus_daemon()).code(), None, "killed by the signal");
    assert!(folder.join("bus").exists(), "and the socket stays");
}

fn notification(notifications: &UnixDatagram) -> String {
    let mut buffer = [0; 200];
    notifications
        .set_read_timeout(Some(std::time::Duration::from_secs(10)))
        .expect("a valid timeout");
    let length = notifications.recv(&mut buffer).expect("a notification");
    text(&buffer[..length])
}

fn kill(pid: &str, signal: Signal) {
    let pid = pid.parse().ok().and_then(Pid::from_raw).expect("the number of a process");
    rustix::process::kill_process(pid, signal).expect("a running process");
}
