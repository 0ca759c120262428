//! Errors of the helper, and the isolation of services from its caller.
//!
//! Tests that start programs as other users need root; without it they are reported as ignored.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use launch_helper::{SYSTEM_BUS, find, run};
use libtest_mimic::{Arguments, Trial};
use services::Folder;

/// The variable that turns a copy of this program into the helper; its value is the configuration file.
const CONFIG: &str = "DILIGENCE_HELPER_CONFIG";

fn main() -> ExitCode {
    if let Some(config) = std::env::var_os(CONFIG) {
        let arguments = ["helper".into(), "a.b".into()];
        return run(&arguments, Path::new(&config)).exit_status().into();
    }
    let is_root = sys::privileges::effective_user() == 0;
    let test = |name: &str, check: fn()| {
        Trial::test(name, move || {
            check();
            Ok(())
        })
    };
    let root_test = |name: &str, check: fn()| {
        let trial = test(name, check);
        if is_root { trial } else { trial.with_kind("needs root").with_ignored_flag(true) }
    };
    let trials = vec![
        test("each_refusal_has_its_exit_status", each_refusal_has_its_exit_status),
        test("service_files_are_parsed_or_rejected", service_files_are_parsed_or_rejected),
        root_test("only_root_and_the_bus_user_may_call", only_root_and_the_bus_user_may_call),
        root_test(
            "services_inherit_no_process_attributes_of_the_caller",
            services_inherit_no_process_attributes_of_the_caller,
        ),
        root_test(
            "services_get_only_their_own_user_and_environment",
            services_get_only_their_own_user_and_environment,
        ),
    ];
    // One thread: a copy that is still open for writing in the forked child of another test cannot
    // be executed (ETXTBSY).
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A temporary directory that is removed on drop.
struct HelperScratch(PathBuf);

impl HelperScratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("diligence-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for tests");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a folder for tests");
        path
    }

    fn folders(&self) -> Vec<Folder> {
        vec![Folder::new(self.0.join("missing")), Folder::new(self.0.clone())]
    }
}

impl Drop for HelperScratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn status(arguments: &[&str], config: &Path) -> u8 {
    let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
    run(&arguments, config).exit_status()
}

/// The helper refuses before it changes its process, so these checks run in the test process.
fn each_refusal_has_its_exit_status() {
    let scratch = HelperScratch::new("helper-refuses");
    let config = |user: &str| {
        let text = format!("<busconfig><user>{user}</user></busconfig>");
        scratch.file("system.conf", &text)
    };
    let missing = Path::new("/nonexistent/system.conf");
    assert_eq!(status(&["helper"], missing), 10);
    assert_eq!(status(&["helper", "a.b", "c"], missing), 10);
    assert_eq!(status(&["helper", "a"], missing), 5);
    assert_eq!(status(&["helper", ":1.1"], missing), 5);
    assert_eq!(status(&["helper", "a.b/../../c"], missing), 5);
    assert_eq!(status(&["helper", "a.b"], missing), 3);
    assert_eq!(status(&["helper", "a.b"], &scratch.file("no-user.conf", "<busconfig/>")), 3);
    assert_eq!(status(&["helper", "a.b"], &config("no such user")), 3);
    // The tests run as another user than this one. Root may call, but the service does not exist.
    let other_caller = if sys::privileges::real_user() == 0 { 6 } else { 7 };
    assert_eq!(status(&["helper", "a.b"], &config("daemon")), other_caller);
}

fn service_files_are_parsed_or_rejected() {
    let scratch = HelperScratch::new("helper-finds");
    let check = |file: &str, text: &str, expected: Result<&[&str], u8>| {
        let path = scratch.file(file, text);
        let found = find("a.b", &scratch.folders());
        let words = found.as_ref().map(|service| {
            let rest = service.arguments.iter().map(String::as_str);
            [service.user.as_str(), service.program.as_str()].into_iter().chain(rest).collect()
        });
        let words: Result<Vec<_>, _> = words.map_err(|failure| failure.exit_status());
        assert_eq!(words.as_deref().map_err(|status| *status), expected, "{text}");
        fs::remove_file(path).expect("it was there");
    };
    let service = |rest: &str| format!("[D-BUS Service]\nName=a.b\n{rest}\n");
    let good = service("Exec=/bin/x 'y z'\nUser=me");
    check("a.b.service", &good, Ok(&["me", "/bin/x", "y z"]));
    check("other.service", &good, Err(6));
    check("a.b.service", &good.replace("a.b", "c.d"), Err(8));
    check("a.b.service", &service("Exec=/bin/x"), Err(8));
    check("a.b.service", &service("User=me"), Err(8));
    check("a.b.service", &service("Exec='\nUser=me"), Err(10));
    check("a.b.service", "nonsense", Err(8));
}

fn only_root_and_the_bus_user_may_call() {
    let scratch = HelperScratch::new("helper-callers");
    // Other users may have no access to the directory of the build.
    let helper = scratch.0.join("helper");
    let own = std::env::current_exe().expect("this program has a file");
    fs::copy(own, &helper).expect("a folder for tests");
    let config = scratch.file("system.conf", "<busconfig><user>daemon</user></busconfig>");
    let status_for = |user: &str| {
        let user =
            sys::users::UserAccount::by_name(user).expect("users").expect("a user of that name");
        Command::new(&helper)
            .env(CONFIG, &config)
            .uid(user.uid())
            .gid(user.gid())
            .status()
            .expect("it can be executed")
            .code()
    };
    assert_eq!(status_for("nobody"), Some(7), "no user of the bus");
    assert_eq!(status_for("daemon"), Some(7), "it is not set-user-ID root here");
    assert_eq!(status_for("root"), Some(6), "there is no service of that name");
}

/// Makes a set-user-ID root copy of this program, which acts as the helper.
fn set_user_id_copy(scratch: &HelperScratch) -> PathBuf {
    let helper = scratch.0.join("helper");
    fs::copy(std::env::current_exe().expect("this program has a file"), &helper)
        .expect("a folder for tests");
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o4755)).expect("it is ours");
    helper
}

/// A shell script that prints the inheritable attributes of its process, one per line. It reads the
/// signal mask before it starts another program, because the shell changes the mask to do that.
const LOOK: &str = "umask; pwd; while IFS= read -r line; do case $line in \
                    SigBlk*|SigIgn*) echo \"$line\" ;; esac; done < /proc/$$/status; \
                    wc -c; nice; ionice; grep -o 'Cpus_allowed_list.*' /proc/$$/status; \
                    cat /proc/$$/oom_score_adj; cat /proc/self/timerslack_ns; cat /proc/$$/limits";

fn services_inherit_no_process_attributes_of_the_caller() {
    let scratch = HelperScratch::new("helper-inherits");
    fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let helper = set_user_id_copy(&scratch);
    let look = scratch.file("look", LOOK);
    let folder = scratch.0.display();
    let service =
        format!("[D-BUS Service]\nName=a.b\nExec=/bin/sh {}\nUser=nobody\n", look.display());
    scratch.file("a.b.service", &service);
    let config =
        format!("<busconfig><user>daemon</user><servicedir>{folder}</servicedir></busconfig>");
    let config = scratch.file("system.conf", &config);

    let hostile = "umask 0; cd \"$0\"; exec prlimit --fsize=900000: --nofile=50: \
                   --stack=1000000: --nproc=500: nice -n 7 ionice -c 3 taskset -c 0 \
                   choom -n 300 -- env --ignore-signal=HUP,TERM --block-signal=USR1 \
                   setpriv --reuid=daemon --regid=daemon --clear-groups -- \"$@\"";
    let run = |words: &[&str]| {
        let ran = Command::new("sh")
            .args(["-c", hostile, &folder.to_string()])
            .args(words)
            .env(CONFIG, &config)
            .stdin(fs::File::open(&config).expect("it was made"))
            .output()
            .expect("it can be executed");
        String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr)
    };
    // Checks that the caller really has these attributes.
    let caller = run(&["sh", "-c", LOOK]);
    for line in ["0000", "idle", "300", "SigBlk:\t0000000000000200"] {
        assert!(caller.lines().any(|found| found == line), "{line}: {caller}");
    }
    let helper = helper.display().to_string();
    let found = run(&[&helper]);
    let lines: Vec<_> =
        found.lines().skip_while(|line| !line.starts_with("00")).map(str::trim_end).collect();
    let processors = fs::read_to_string("/proc/1/status").expect("Linux");
    let processors = processors.lines().find(|line| line.starts_with("Cpus_allowed_list:"));
    let expected = [
        "0022",
        "/",
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        "0",
        "0",
        "none: prio 0",
        processors.unwrap_or_default(),
        "0",
        "50000",
    ];
    assert_eq!(lines.get(..expected.len()), Some(&expected[..]), "{found}");
    let limits = |text: &str| {
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        let is_changed = |line: &String| CHANGED.iter().any(|name| line.starts_with(name));
        lines.filter(is_changed).collect::<Vec<_>>()
    };
    let first = fs::read_to_string("/proc/1/limits").expect("Linux");
    assert_ne!(limits(&caller), limits(&first), "{caller}");
    assert_eq!(limits(&found), limits(&first), "{found}");
    let soft = found.lines().find_map(|line| line.strip_prefix("Max open files"));
    assert_eq!(soft.and_then(|columns| columns.split_whitespace().next()), Some("1024"));
}

/// Resource limits that the caller changes, and that systems leave at their defaults.
const CHANGED: [&str; 3] = ["Max file size", "Max stack size", "Max processes"];

fn services_get_only_their_own_user_and_environment() {
    let scratch = HelperScratch::new("helper-starts");
    let script = "id -u; id -G; env";
    let service = format!("[D-BUS Service]\nName=a.b\nExec=/bin/sh -c '{script}'\nUser=nobody\n");
    scratch.file("a.b.service", &service);
    let folder = scratch.0.display();
    let config =
        format!("<busconfig><user>root</user><servicedir>{folder}</servicedir></busconfig>");
    let ran = Command::new(std::env::current_exe().expect("this program has a file"))
        .env(CONFIG, scratch.file("system.conf", &config))
        .env("DBUS_STARTER_ADDRESS", "unix:path=/x")
        .env("SECRET", "x")
        .output()
        .expect("it can be executed");
    let output = String::from_utf8_lossy(&ran.stdout);
    let lines: Vec<_> = output.lines().collect();
    let nobody =
        sys::users::UserAccount::by_name("nobody").expect("users").expect("a user of that name");
    let groups = nobody.groups().expect("groups");
    let groups: Vec<_> = groups.iter().map(u32::to_string).collect();
    assert!(lines.contains(&nobody.uid().to_string().as_str()), "{output}");
    assert!(lines.contains(&groups.join(" ").as_str()), "{output}");
    let address = format!("DBUS_STARTER_ADDRESS={SYSTEM_BUS}");
    assert!(lines.contains(&address.as_str()), "{output}");
    assert!(lines.contains(&"DBUS_STARTER_BUS_TYPE=system"), "{output}");
    assert!(!output.contains("SECRET") && !output.contains(CONFIG), "{output}");
}
