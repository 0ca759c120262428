//! A set-user-ID program that uses this crate does not do what the environment of its caller says.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use diligence_client::StandardBus;

/// The variable that makes a copy of this program print where it finds the buses.
const PRINTS: &str = "DILIGENCE_PRINTS_ADDRESSES";

/// Not a test, but what a copy of this program does.
#[test]
fn the_program() {
    if std::env::var_os(PRINTS).is_some() {
        for bus in [StandardBus::System, StandardBus::Session, StandardBus::Starter] {
            match bus.address() {
                Ok(address) => println!("found {address}"),
                Err(_) => println!("found nothing"),
            }
        }
    }
}

#[test]
fn a_set_user_id_program_ignores_addresses_in_the_environment() {
    if sys::privileges::effective_user() != 0 {
        let _ = writeln!(std::io::stderr(), "left out, because only root can make such a program");
        return;
    }
    let folder = std::env::temp_dir().join(format!("diligence-set-user-id-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for tests");
    let program = folder.join("program");
    fs::copy(std::env::current_exe().expect("this program has a file"), &program).expect("a copy");
    let run = |mode: u32| {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).expect("it is ours");
        let ran = Command::new(&program)
            .args(["--exact", "the_program", "--nocapture", "--quiet"])
            .env(PRINTS, "")
            .env("DBUS_SYSTEM_BUS_ADDRESS", "unixexec:path=/bin/evil")
            .env("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/bin/evil")
            .env("DBUS_STARTER_ADDRESS", "unixexec:path=/bin/evil")
            .env("XDG_RUNTIME_DIR", "/tmp/evil")
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .expect("it can be executed");
        found(&ran)
    };
    let [with_rights, without] = [run(0o4755), run(0o755)];
    fs::remove_dir_all(&folder).expect("it is ours");
    let system = "found unix:path=/var/run/dbus/system_bus_socket";
    assert_eq!(with_rights, [system, "found nothing", "found nothing"]);
    assert_eq!(without, ["found unixexec:path=/bin/evil"; 3], "another program believes its user");
}

fn found(ran: &Output) -> Vec<String> {
    let output = String::from_utf8_lossy(&ran.stdout);
    output.lines().filter(|line| line.starts_with("found")).map(str::to_owned).collect()
}

const NOBODY: u32 = 65534;
