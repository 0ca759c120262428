//! Starts and stops each installed bus.

#![expect(clippy::unwrap_used, reason = "a panic in a test is its report")]

use std::path::Path;

use bench::buses::{
    BenchBodyValidation, BusKind, BusStartError, InstalledBus, ProgramPaths, StartOptions,
};
use client::Connection;
use rustix::process::{Pid, Signal, kill_process};
use sys::scheduling::{self, ProcessorSet};
use wire::address::{AddressList, Transport, UnixTransport};

/// The installed buses other than the one of this project.
fn installed() -> Vec<InstalledBus> {
    // The test program is in a subfolder of the program's folder.
    let test = std::env::current_exe().unwrap();
    let peers = test.ancestors().nth(3).unwrap().join("peers/bin");
    let places = ProgramPaths::of_this_process().unwrap().with_folder(peers);
    let others = BusKind::ALL.into_iter().filter(|one| *one != BusKind::Diligence);
    let found = others.filter_map(|one| match one.find(&places) {
        Ok(installed) => Some(installed),
        Err(missing) => {
            eprintln!("not tested: {missing}");
            None
        }
    });
    let found: Vec<_> = found.collect();
    assert!(!found.is_empty());
    found
}

fn socket_of(addresses: &AddressList) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    match &addresses.entries()[0].transport {
        Transport::Unix(UnixTransport::Path(path)) => Path::new(std::ffi::OsStr::from_bytes(path)),
        other => panic!("{other:?}"),
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

fn kill(pid: u32) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

#[test]
fn installed_buses_answer_and_remove_their_files() {
    for installed in installed() {
        let name = installed.kind().to_string();
        let bus = installed.start(&StartOptions::default()).unwrap();
        let pid = bus.pid().unwrap();
        assert_eq!(sys::process::comm(pid).as_deref(), Some(name.as_str()));
        let connection = Connection::open(&bus.address().to_string()).unwrap();
        assert!(connection.unique_name().to_string().starts_with(':'), "{name}");
        let directory = socket_of(bus.address()).parent().unwrap().to_owned();
        assert!(directory.exists());
        drop(bus);
        assert!(!is_alive(pid), "{name}");
        assert!(!directory.exists(), "{name}");
    }
}

#[test]
fn installed_buses_have_a_version() {
    for installed in installed() {
        let info = installed.info();
        assert!(info.version.starts_with(|first: char| first.is_ascii_digit()), "{info:?}");
        assert!(!info.command.is_empty(), "{info:?}");
    }
}

#[test]
fn bus_death_is_reported_with_its_output() {
    for installed in installed() {
        let name = installed.kind().to_string();
        let mut bus = installed.start(&StartOptions::default()).unwrap();
        assert_eq!(bus.exit_report(), None, "{name}");
        kill(bus.pid().unwrap());
        let exit_report = bus.exit_report().unwrap().to_string();
        // For dbus-broker, only the launcher is known.
        let expected = match installed.kind() {
            BusKind::DbusBroker => "the bus ended",
            _ => "the bus ended with signal 9 (SIGKILL)",
        };
        assert!(exit_report.starts_with(expected), "{name}: {exit_report}");
    }
}

#[test]
fn a_bus_that_runs_already_is_left_running() {
    for installed in installed() {
        let name = installed.kind().to_string();
        let bus = installed.start(&StartOptions::default()).unwrap();
        let kind: BusKind = bus.address().to_string().parse().unwrap();
        let running_bus = kind.find(&ProgramPaths::of_this_process().unwrap()).unwrap();
        let mut attached = running_bus.start(&StartOptions::default()).unwrap();
        assert_eq!(attached.address(), bus.address());
        assert_eq!(attached.pid(), bus.pid(), "{name}");
        assert_eq!(attached.exit_report(), None);
        drop(attached);
        Connection::open(&bus.address().to_string()).unwrap();
    }
}

#[test]
fn unsupported_start_options_are_rejected() {
    for installed in installed() {
        let name = installed.kind().clone();
        let off =
            StartOptions { body_validation: BenchBodyValidation::Off, ..StartOptions::default() };
        assert_eq!(installed.start(&off).unwrap_err(), BusStartError::CannotSkipValidation(name));
        let start_on = |number: usize| {
            let options = StartOptions { processor: Some(number), ..StartOptions::default() };
            installed.start(&options).unwrap_err()
        };
        let last = ProcessorSet::LIMIT - 1;
        let error = start_on(last);
        assert!(matches!(error, BusStartError::Program { processor: Some(_), .. }), "{error}");
        assert_eq!(start_on(last + 1), BusStartError::NoSuchProcessor(last + 1));
    }
}

#[test]
fn buses_stay_on_their_processor() {
    for installed in installed() {
        for processor in scheduling::own_processors().unwrap().iter() {
            let options = StartOptions { processor: Some(processor), ..StartOptions::default() };
            let bus = installed.start(&options).unwrap();
            let only = scheduling::processors(bus.pid().unwrap()).unwrap();
            assert_eq!(Some(only), ProcessorSet::one(processor), "{}", installed.kind());
        }
    }
}

#[test]
fn failed_bus_start_reports_the_output_of_the_program() {
    let places = ProgramPaths::of_this_process().unwrap().with_daemon("/bin/ls".into());
    let ls = BusKind::Diligence.find(&places).unwrap();
    let error = ls.start(&StartOptions::default()).unwrap_err();
    let BusStartError::Ended(exit_report) = &error else { panic!("{error}") };
    assert_eq!(exit_report.status.unwrap().code(), Some(2));
    assert!(error.to_string().contains("saying:\n    /bin/ls: unrecognized option"), "{error}");
}

#[test]
fn buses_accept_many_connections() {
    for installed in installed() {
        let name = installed.kind().to_string();
        let bus = installed.start(&StartOptions::default()).unwrap();
        let address = bus.address().to_string();
        let connections: Vec<_> = (0..2000).map(|_| Connection::open(&address).unwrap()).collect();
        let last = connections.last().unwrap();
        let (driver, path) = ("org.freedesktop.DBus", "/org/freedesktop/DBus");
        for index in 0..1000 {
            let rule = format!("type='signal',arg0='{index}'");
            let added = last.call(driver, path, driver, "AddMatch", &(rule,));
            assert!(added.is_ok(), "{name}: rule {index}: {added:?}");
        }
    }
}
