//! A full disk: for the log, the pid file, recordings, and the file of the flight recorder.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conformance::{
    BusUnderTest, ExternalProgram, PlainMessage, PlainValue, ScratchFolder, Signal, StartedProgram,
    TestConfig, eventually, instruments_binary, link_bus,
};

use crate::form::TestDuration;
use crate::numbered;

/// A disk of a few MiB, in a mount namespace that a process of this test keeps. Files in it are
/// accessed through /proc/PID/root of that process.
struct SmallDisk {
    keeper: StartedProgram,
    mounted: ScratchFolder,
}

impl SmallDisk {
    /// A disk of this many KiB.
    fn new(size: u32) -> Self {
        let mounted = ScratchFolder::new();
        let script =
            "mount -t tmpfs -o size=$1k,mode=777 tmpfs \"$2\" && echo there && exec sleep 600";
        let mut keeper = ExternalProgram::named("unshare", "util-linux")
            .args(["--mount", "sh", "-c", script, "sh", &size.to_string()])
            .arg(mounted.path())
            .limit(Duration::from_secs(600))
            .start();
        keeper.wait_for_stdout("there");
        Self { keeper, mounted }
    }

    /// A command that runs a program which sees the disk.
    fn entering(&self) -> ExternalProgram {
        let namespace = format!("--mount=/proc/{}/ns/mnt", self.keeper.id());
        ExternalProgram::named("nsenter", "util-linux").arg(namespace)
    }

    /// The path for programs that see the disk.
    fn inside(&self, name: &str) -> PathBuf {
        self.mounted.join(name)
    }

    /// The path for this process.
    fn outside(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.keeper.id()));
        root.join(self.inside(name).strip_prefix("/").expect("it is absolute"))
    }

    /// Fills the disk until this number of bytes is free.
    fn fill_but(&self, left: u64) {
        let zeros = vec![0; 1 << 20];
        let mut file = fs::File::create(self.outside("filler")).expect("it is there");
        while file.write_all(&zeros).is_ok() {}
        let len = file.metadata().expect("it is open").len();
        file.set_len(len - left).expect("shorter is always possible");
    }

    fn fill(&self) {
        self.fill_but(0);
    }

    fn empty(&self) {
        fs::remove_file(self.outside("filler")).expect("it is there");
    }

    fn bus(&self, config: &TestConfig, redirected: &str, links: &ScratchFolder) -> BusUnderTest {
        let script = format!("exec \"$@\" {redirected}");
        BusUnderTest::start_with(config, |_| {
            self.entering().args(["sh", "-c", &script, "sh"]).arg(link_bus(links))
        })
    }
}

/// Lines of the log find no space. The bus continues to run, and the log continues when there is
/// space.
pub(crate) fn a_full_disk_does_not_stop_the_bus() {
    let form = TestDuration::requested();
    let disk = SmallDisk::new(256);
    let links = ScratchFolder::new();
    let config = TestConfig::session().limit("max_names_per_connection", 1);
    let log = disk.inside("log");
    let bus = disk.bus(&config, &format!("2>> {}", log.display()), &links);
    let refuse_one = || {
        let mut peer = bus.peer();
        let reply =
            peer.call(PlainMessage::asking("RequestName", "com.example.A").arg(PlainValue::U32(0)));
        assert_eq!(reply.error_name(), "LimitsExceeded");
    };
    let lines = || fs::read_to_string(disk.outside("log")).expect("it is there").lines().count();
    refuse_one();
    eventually("a line", || (lines() == 1).then_some(()));
    disk.fill();
    // Half a line may still have found space.
    let full = fs::metadata(disk.outside("log")).expect("it is there").len();
    (0..8).for_each(|_| refuse_one());
    let grown = fs::metadata(disk.outside("log")).expect("it is there").len() - full;
    assert!(grown <= 4096, "there was no room, and {grown} bytes were written");
    assert!(bus.peer().is_alive());
    disk.empty();
    let before = lines();
    // The log has ten lines per user and topic in ten seconds; this is another topic.
    let mut broken = bus.peer();
    broken.send_bytes(b"these bytes are not a message");
    broken.until_closed();
    eventually("lines again", || (lines() > before).then_some(()));
    form.report(&format!(
        "no room for the log: 8 refusals answered meanwhile, {grown} bytes written; lines again after that"
    ));
    bus.stop();
}

/// A pid file that cannot be written is removed, because it would prevent the next bus from
/// starting.
pub(crate) fn a_full_disk_leaves_no_pid_file() {
    let form = TestDuration::requested();
    let disk = SmallDisk::new(64);
    let links = ScratchFolder::new();
    let pid = disk.inside("pid");
    let config = TestConfig::session().element(&format!("<pidfile>{}</pidfile>", pid.display()));
    let file = links.file("bus.conf", &config.text(links.path()));
    disk.fill();
    let bus = disk.entering().arg(link_bus(&links)).arg("--nofork").arg("--config-file").arg(&file);
    let ran = bus.run();
    assert_eq!(ran.code(), 1, "{ran}");
    assert!(ran.stderr.contains("No space left on device"), "{ran}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran}");
    assert!(!disk.outside("pid").exists());
    disk.empty();
    let next = ScratchFolder::new();
    let bus = disk.bus(&config, "", &next);
    assert!(bus.peer().is_alive());
    let written = fs::read_to_string(disk.outside("pid")).expect("it is there");
    assert!(written.trim().parse::<u32>().is_ok(), "{written}");
    bus.stop();
    form.report(&format!("no room for the pid file: {}", ran.stderr.trim()));
}

/// The recorder reports the full disk once, and ends with 1. The file contains all messages up to
/// then, and the report has the number of lost messages.
pub(crate) fn a_full_disk_ends_a_recording_with_a_report() {
    let form = TestDuration::requested();
    let disk = SmallDisk::new(1024);
    let mut bus = BusUnderTest::session();
    let mut recorder = disk
        .entering()
        .arg(instruments_binary())
        .args(["record", "--address", bus.address(), "-o"])
        .arg(disk.inside("recording.pcapng"))
        .start();
    let mut sender = bus.peer();
    let recording = disk.outside("recording.pcapng");
    let listens = |_: &str, log: &str| log.contains("started reading the trace").then_some(());
    bus.process().wait_for("recorder", listens);
    let count = 2000;
    let mut sent = 0;
    let full = |_: &str, said: &str| said.contains("the disk is full").then_some(());
    while full("", &recorder.stderr()).is_none() || sent < count {
        sender.send(numbered::signal("Recorded", sent, 1000));
        sent += 1;
        if sent % 20 == 0 {
            assert!(sender.is_alive());
            // Slow enough for the recorder to write everything until the disk is full.
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    recorder.wait_for("the disk to be full", full);
    let ran = recorder.interrupt();
    assert_eq!(ran.code(), 1, "{ran}");
    let at_the_end = ran.stderr.lines().last().expect("it says it");
    let missing = at_the_end.split_once("the last ").and_then(|(_, rest)| rest.split_once(' '));
    let missing: u32 = missing.and_then(|(number, _)| number.parse().ok()).expect("how many");
    let kept = recorded(&recording);
    assert!(kept > 0 && kept < sent, "{kept} of {sent}");
    // The recording also contains the calls of this test, and their replies.
    let lost = sent - kept;
    assert!((lost..lost + sent / 5).contains(&missing), "{lost} are missing: {ran}");
    assert!(bus.peer().is_alive());
    form.report(&format!(
        "no room for a recording: of {sent} signals the first {kept} are in the file; it ends with {}: {}",
        ran.code(),
        ran.stderr.trim().replace('\n', "; ")
    ));
    bus.stop();
}

/// The number of numbered signals in a recording: they begin at 0, and none is missing.
fn recorded(file: &Path) -> u32 {
    let shown = ExternalProgram::at(instruments_binary())
        .args(["show", "--format", "json"])
        .arg(file)
        .run()
        .success();
    let lines = shown.stdout.lines().filter(|line| line.contains("\"Recorded\""));
    let mut count = 0;
    for line in lines {
        assert!(line.contains(&format!("\"data\":[{count},")), "{count} is not in {line}");
        count += 1;
    }
    count
}

/// The flight recorder finds too little space. The bus reports it and continues to run, no file
/// remains, and the next file is complete.
pub(crate) fn a_full_disk_leaves_no_flight_recording() {
    let form = TestDuration::requested();
    let disk = SmallDisk::new(2048);
    let links = ScratchFolder::new();
    let config = TestConfig::session().element(&format!(
        "<?diligence <flight_recorder>1048576</flight_recorder>\
         <flight_recorder_folder>{}</flight_recorder_folder> ?>",
        disk.mounted.path().display()
    ));
    let mut bus = disk.bus(&config, "", &links);
    let mut peer = bus.peer();
    let count = 100;
    for number in 0..count {
        peer.send(numbered::signal("Recorded", number, 1000));
    }
    assert!(peer.is_alive());
    disk.fill_but(300 << 10);
    bus.process().signal(Signal::USR2);
    let log = bus.process().wait_for("what went wrong", |_, log| {
        log.contains("No space left on device").then(|| log.to_owned())
    });
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(peer.is_alive());
    let left = || fs::read_dir(disk.outside("")).expect("it is there").count();
    assert_eq!(left(), 1, "only the filler");

    disk.empty();
    peer.send(numbered::signal("Recorded", count, 10));
    assert!(peer.is_alive());
    bus.process().signal(Signal::USR2);
    let whole = eventually("a file", || disk.flight());
    assert!(fs::metadata(&whole).expect("it is there").len() > 1 << 20);
    assert_eq!(recorded(&whole), count + 1);
    form.report(&format!(
        "no room for the flight recorder: {count} signals kept for the next file; {}",
        log.trim()
    ));
    bus.stop();
}

impl SmallDisk {
    /// The file that the flight recorder has written, if it is complete.
    fn flight(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.outside("")).expect("it is there");
        let mut paths = entries.map(|entry| entry.expect("readable").path());
        paths.find(|path| path.extension().is_some_and(|end| end == "trace"))
    }
}
