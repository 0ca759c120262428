//! How a bus starts and ends, as its caller and the service manager see it.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{ProgramFolder, SpawnedProgram, eventually, text};
use rustix::process::{Pid, Signal};

#[test]
fn in_the_background_the_caller_goes_on_when_the_bus_serves() {
    let folder = ProgramFolder::new();
    let config = folder.config(&format!("<fork/><pidfile>{}</pidfile>", "pid"));
    let mut daemon = folder.dbus_daemon();
    daemon.args(["--print-address=1", "--print-pid=1"]).arg("--config-file").arg(&config);
    let output = folder.shell("umask 077; exec \"$0\" \"$@\"", &daemon).output().expect("a shell");
    // It was read to its end, so nobody has it open any more.
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let [address, pid] = stdout.lines().collect::<Vec<_>>()[..] else { panic!("two: {stdout}") };
    assert!(address.starts_with("unix:path="), "{address}");
    assert_eq!(fs::read_to_string(folder.join("pid")).expect("written"), format!("{pid}\n"));
    UnixStream::connect(folder.join("bus")).expect("it serves already");

    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    assert!(status.contains("\nUmask:\t0022\n"), "{status}");
    assert_eq!(fs::read_link(format!("/proc/{pid}/cwd")).expect("it runs"), Path::new("/"));
    kill(pid, Signal::TERM);
    eventually("the end of the bus", || (!folder.join("pid").exists()).then_some(()));
    assert!(!folder.join("bus").exists());
}

#[test]
fn what_fails_in_the_background_is_a_failure_of_the_caller() {
    let folder = ProgramFolder::new();
    let config = folder.config("<fork/><pidfile>none/pid</pidfile>");
    let output = folder
        .dbus_daemon()
        .args(["--print-pid", "--config-file"])
        .arg(config)
        .output()
        .expect("the program exists");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "", "no bus, no number");
    let stderr = text(&output.stderr);
    assert!(stderr.contains("none/pid\": No such file or directory"), "{stderr}");
    assert!(!folder.join("bus").exists(), "the socket was taken back");
}

#[test]
fn descriptors_of_the_caller_are_closed_after_the_line() {
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
        let open = fs::read_dir(open).expect("it runs").flatten();
        let kept = open.filter(|it| fs::read_link(it.path()).is_ok_and(|path| path == written));
        assert_eq!(kept.count(), 0);
        assert!(running.end(Signal::TERM).status.success());
        fs::remove_file(&written).expect("it is ours");
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
fn the_service_manager_is_told_and_its_sockets_are_served() {
    let folder = ProgramFolder::new();
    let config = folder.config("");
    let notices = UnixDatagram::bind(folder.join("notify")).expect("the folder is ours");
    let socket = UnixListener::bind(folder.join("passed")).expect("the folder is ours");
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
    assert_eq!(notice(&notices), "READY=1");
    UnixStream::connect(&passed).expect("it serves");
    for broken in [false, true] {
        if broken {
            fs::write(&config, "<busconfig").expect("it is ours");
        }
        running.signal(Signal::HUP);
        let reloading = notice(&notices);
        assert!(reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="), "{reloading}");
        assert_eq!(notice(&notices), "READY=1");
    }
    assert!(running.end(Signal::TERM).status.success());
    assert_eq!(notice(&notices), "STOPPING=1");
    assert!(passed.exists(), "it is the service manager's");
    assert!(!folder.join("bus").exists(), "the address of the configuration was not used");
}

#[test]
fn an_interrupt_ends_a_bus_as_its_name_promises() {
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
    assert!(folder.join("bus").exists(), "and left behind");
}

#[test]
fn the_user_of_the_configuration_is_who_serves() {
    if !is_root() {
        eprintln!("left out, because only root can become somebody else");
        return;
    }
    let folder = ProgramFolder::new();
    let config = folder.config("<user>nobody</user>");
    let mut running = SpawnedProgram::start(
        folder.dbus_daemon().arg("--print-address").arg("--config-file").arg(config),
    );
    running.line();
    let pid = running.id();
    let uid = eventually("another user", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let uids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let mut uids = uids.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        uids.dedup();
        (uids != ["0"]).then_some(uids)
    });
    assert_eq!(uid, ["65534"]);
    assert!(running.end(Signal::TERM).status.success());
}

fn notice(notices: &UnixDatagram) -> String {
    let mut buffer = [0; 200];
    notices.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a fine time");
    let length = notices.recv(&mut buffer).expect("a notice");
    text(&buffer[..length])
}

fn kill(pid: &str, signal: Signal) {
    let pid = pid.parse().ok().and_then(Pid::from_raw).expect("the number of a process");
    rustix::process::kill_process(pid, signal).expect("it runs");
}

fn is_root() -> bool {
    let mut status = String::new();
    let read =
        File::open("/proc/self/status").and_then(|mut file| file.read_to_string(&mut status));
    read.is_ok() && status.contains("\nUid:\t0\t0")
}
