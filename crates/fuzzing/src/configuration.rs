//! The fuzzing target for configuration files of the bus.

use std::cell::RefCell;
use std::fs;
use std::path::PathBuf;

use broker::busconfig::{self, Accounts, Environment, SecurityModule};

use crate::seed::{Seed, numbered};

/// Loads a configuration file: the result is a configuration, or an error with a text.
pub fn file(bytes: &[u8]) {
    // Skips inputs whose includes could reach outside the temporary folder.
    if FORBIDDEN.iter().any(|word| bytes.windows(word.len()).any(|window| window == *word)) {
        return;
    }
    let environment = Environment {
        accounts: &FixedEnvironment,
        selinux: SecurityModule::Inactive,
        selinux_root: PathBuf::from("/nowhere"),
        app_armor: SecurityModule::Inactive,
    };
    FILE.with_borrow(|file| {
        fs::write(&file.0, bytes).expect("the temporary folder is writable");
        match busconfig::load(&file.0, &environment) {
            Ok(config) => drop((config.addresses(), config.mechanisms())),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}

thread_local! {
    static FILE: RefCell<ConfigurationFile> = RefCell::new(ConfigurationFile::new());
}

/// A configuration file on a memory file system if possible; removed when its thread ends.
struct ConfigurationFile(PathBuf);

impl ConfigurationFile {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let thread = format!("{:?}", std::thread::current().id());
        let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
        Self(folder.join(format!("diligence-fuzzing-{}-{thread}.conf", std::process::id())))
    }
}

impl Drop for ConfigurationFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// An environment with one user and one group.
struct FixedEnvironment;

impl Accounts for FixedEnvironment {
    fn user_id(&self, user: &str) -> Option<u32> {
        (user == "root").then_some(0)
    }

    fn group_id(&self, group: &str) -> Option<u32> {
        (group == "users").then_some(100)
    }
}

/// Paths to devices and special files, which could block or be endless, and the parent folder.
const FORBIDDEN: [&[u8]; 4] = [b"/dev", b"/proc", b"/sys", b".."];

/// Configuration files that together contain every element.
pub fn files() -> Vec<Seed> {
    let wrapped = |elements: &str| format!("<busconfig>{elements}</busconfig>");
    numbered([
        wrapped(
            "<type>session</type><keep_umask/><listen>unix:tmpdir=/tmp</listen>\
             <standard_session_servicedirs/><policy context=\"default\">\
             <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>\
             <allow own=\"*\"/></policy>",
        ),
        wrapped(
            "<type>system</type><user>root</user><fork/><syslog/><pidfile>/a</pidfile>\
             <auth>EXTERNAL</auth><listen>unix:path=/a</listen>\
             <servicehelper>/b</servicehelper><standard_system_servicedirs/>\
             <policy user=\"root\"><deny own_prefix=\"a.b\"/><allow receive_type=\"error\" \
             receive_requested_reply=\"true\" max_fds=\"3\"/></policy>\
             <policy group=\"users\"><deny send_interface=\"a.b\" send_member=\"C\" \
             send_broadcast=\"false\" log=\"true\"/></policy>\
             <policy at_console=\"true\"><allow send_path=\"/a\"/></policy>\
             <policy context=\"mandatory\"><deny receive_sender=\"a.b\"/></policy>",
        ),
        wrapped(
            "<include ignore_missing=\"yes\">other.conf</include><includedir>d</includedir>\
             <include if_selinux_enabled=\"yes\" selinux_root_relative=\"yes\">x</include>\
             <servicedir>/c</servicedir><limit name=\"max_names_per_connection\">5</limit>\
             <limit name=\"reply_timeout\">60000</limit><allow_anonymous/>\
             <selinux><associate own=\"a.b\" context=\"c\"/></selinux><apparmor mode=\"enabled\"/>",
        ),
        "<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\" \
         \"busconfig.dtd\"><!-- a --><busconfig>&lt;<![CDATA[a]]></busconfig>"
            .to_owned(),
    ])
}
