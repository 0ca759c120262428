//! Changes in the folders of the configuration: the bus notices them, even if the system limits
//! inotify.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, Flavour, PlainMessage, RunAs, ScratchFolder, Signal, TestConfig, TestPeer,
    diligence, eventually, root, run_tests, test_case,
};
use rustix::fs::inotify;

fn main() -> ExitCode {
    run_tests([
        test_case!(configuration_files_may_be_added_changed_and_removed),
        test_case!(many_changes_cause_one_reload),
        test_case!(folders_that_are_created_later_are_watched),
        test_case!(the_bus_works_without_inotify).requires(root()).requires(few_instances()),
        test_case!(repeated_reloads_are_throttled).requires(root()).requires(diligence()),
    ])
}

/// A configuration file with this limit of match rules per connection.
fn rules(count: u32) -> String {
    format!("<busconfig><limit name='max_match_rules_per_connection'>{count}</limit></busconfig>\n")
}

fn with_folder(folder: &Path) -> TestConfig {
    TestConfig::session().element(&format!("<includedir>{}</includedir>", folder.display()))
}

/// The number of match rules that a client may have now.
fn rules_allowed(bus: &BusUnderTest) -> u32 {
    let mut peer = bus.peer();
    let granted =
        |peer: &mut TestPeer| peer.ask_bus("AddMatch", "type='signal'").error_name().is_empty();
    (0..10).take_while(|_| granted(&mut peer)).map(|_| 1).sum()
}

fn wait_for_rules(bus: &BusUnderTest, what: &str, count: u32) {
    eventually(what, || (rules_allowed(bus) == count).then_some(()));
}

fn configuration_files_may_be_added_changed_and_removed() {
    let folder = ScratchFolder::new();
    let bus = BusUnderTest::start(&with_folder(folder.path()));
    assert_eq!(rules_allowed(&bus), 10, "the default is far away");
    folder.file("a.conf", &rules(1));
    wait_for_rules(&bus, "a new file", 1);
    folder.file("a.conf", &rules(2));
    wait_for_rules(&bus, "a file with another content", 2);
    folder.file("a.new", &rules(3));
    fs::rename(folder.join("a.new"), folder.join("a.conf")).expect("ours");
    wait_for_rules(&bus, "a file that is put in its place", 3);
    fs::remove_file(folder.join("a.conf")).expect("ours");
    wait_for_rules(&bus, "a file that goes", 10);
    bus.stop();
}

/// Many changes, as during the installation of packages, cause one reload.
fn many_changes_cause_one_reload() {
    let folder = ScratchFolder::new();
    let mut bus = BusUnderTest::start(&with_folder(folder.path()));
    for count in 0..100 {
        folder.file(&format!("{count:03}.conf"), "<busconfig></busconfig>");
    }
    folder.file("last.conf", &rules(7));
    wait_for_rules(&bus, "the last one", 7);
    if Flavour::under_test() == Flavour::Diligence {
        let log = bus.process().stderr();
        let reloads = log.matches("Reloaded configuration").count();
        assert!((1..20).contains(&reloads), "{reloads} of a hundred: {log}");
    }
    bus.stop();
}

/// A folder may be created later. dbus-daemon sees it after a reload on request.
fn folders_that_are_created_later_are_watched() {
    let parent = ScratchFolder::new();
    let folder = parent.join("some/where");
    let mut bus = BusUnderTest::start(&with_folder(&folder));
    assert_eq!(rules_allowed(&bus), 10);
    fs::create_dir_all(&folder).expect("ours");
    fs::write(folder.join("a.conf"), rules(1)).expect("ours");
    if Flavour::under_test() == Flavour::Reference {
        bus.process().signal(Signal::HUP);
    }
    wait_for_rules(&bus, "the folder", 1);
    fs::write(folder.join("a.conf"), rules(2)).expect("ours");
    wait_for_rules(&bus, "a file in it", 2);
    bus.stop();
}

/// A user may have a limited number of inotify instances. If none is left, the bus works, and
/// reloads on request. dbus-daemon works too.
fn the_bus_works_without_inotify() {
    let new = || inotify::init(inotify::CreateFlags::CLOEXEC).ok();
    let hoard: Vec<_> = LONELY.act(move || std::iter::from_fn(new).collect());
    assert!(!hoard.is_empty());

    let folder = ScratchFolder::new();
    conformance::set_mode(folder.path(), 0o755);
    let mut bus = BusUnderTest::start_as(
        LONELY,
        &with_folder(folder.path()).policy("context='default'", "<allow user='*'/>"),
    );
    let log = bus.process().stderr();
    assert!(log.to_lowercase().contains("watch") || log.contains("inotify"), "it says so: {log}");
    folder.file("a.conf", &rules(1));
    // Enough time for a reload, which does not happen without a watch.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(rules_allowed(&bus), 10, "without a request");
    bus.process().signal(Signal::HUP);
    wait_for_rules(&bus, "SIGHUP", 1);
    folder.file("a.conf", &rules(2));
    let reply = bus.peer().call(PlainMessage::to_bus("ReloadConfig"));
    assert_eq!(reply.error_name(), "", "{}", reply.summary());
    assert_eq!(rules_allowed(&bus), 2);
    drop(hoard);
    bus.stop();
}

/// Every user may call ReloadConfig. Callers without privileges together cause one reload per
/// second; a reply still means that the configuration was read after the call.
fn repeated_reloads_are_throttled() {
    let config = |rules| {
        let open = TestConfig::session().policy("context='default'", "<allow user='*'/>");
        open.limit("max_match_rules_per_connection", rules)
    };
    let mut bus = BusUnderTest::start(&config(1));
    let reload = |peer: &mut TestPeer| peer.call(PlainMessage::to_bus("ReloadConfig"));
    let write = |bus: &BusUnderTest, rules| {
        bus.scratch().file("bus.conf", &config(rules).text(bus.scratch().path()));
    };
    let mut stranger = RunAs::NOBODY.act(|| bus.peer());
    let started = Instant::now();
    for rules in 2..5 {
        write(&bus, rules);
        assert_eq!(reload(&mut stranger).error_name(), "");
        assert_eq!(u64::from(rules_allowed(&bus)), rules, "the configuration as of the call");
    }
    let took = started.elapsed();
    assert!(took > Duration::from_millis(1900), "three reloads took {took:?}");

    let serials: Vec<_> =
        (0..100).map(|_| stranger.send(PlainMessage::to_bus("ReloadConfig"))).collect();
    write(&bus, 7);
    let started = Instant::now();
    assert_eq!(reload(&mut bus.peer()).error_name(), "");
    let took = started.elapsed();
    assert!(took < Duration::from_millis(500), "a privileged caller waited {took:?}");
    assert_eq!(rules_allowed(&bus), 7);
    let replies: Vec<_> = serials.iter().filter_map(|_| stranger.receive()).collect();
    let errors = replies.iter().filter(|reply| reply.error_name() == "LimitsExceeded").count();
    assert_eq!(replies.len(), 100);
    // 16 calls may wait. If a reload is due while the calls arrive, it lets 16 more wait.
    assert!((68..=84).contains(&errors), "{errors} calls were refused");

    (0..20).for_each(|_| assert_eq!(reload(&mut bus.peer()).error_name(), ""));
    let log = bus.process().stderr();
    let lines = log.matches("Reloaded configuration; ReloadConfig was called by :1.").count();
    assert!((3..=12).contains(&lines), "{lines} lines: {log}");
    bus.stop();
}

/// Debian's user `games`, which runs no other processes here.
const LONELY: RunAs = RunAs { uid: 5, gid: 60 };

/// The requirement that a user may have at most [`INSTANCES_MAX`] inotify instances.
fn few_instances() -> Result<(), String> {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_user_instances").expect("Linux");
    let is_low = limit.trim().parse::<u32>().is_ok_and(|limit| limit <= INSTANCES_MAX);
    is_low
        .then_some(())
        .ok_or_else(|| format!("needs fs.inotify.max_user_instances of at most {INSTANCES_MAX}"))
}

/// A higher limit would take too many descriptors of this test.
const INSTANCES_MAX: u32 = 1000;
