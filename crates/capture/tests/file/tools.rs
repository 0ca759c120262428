//! Interoperability with installed programs: each side reads what the other writes.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use capture::Capture;
use capture::model::{CapturedMessage, Health};
use capture::record::{MessageContent, RecordedClock};
use wire::message::MessageType;

use crate::made::rich;

#[test]
fn recordings_of_other_programs_are_read_completely() {
    let folder = ToolFolder::new("recorded");
    record(&folder);
    let [pcap, pcapng, binary, profile, text] = RECORDERS.map(|(name, _)| folder.open(name));
    for (capture, name) in [(&pcap, "pcap"), (&pcapng, "pcapng")] {
        let ours: Vec<_> = capture.messages().filter_map(line).collect();
        assert_eq!(ours, tshark(&folder.path(name)), "{name}");
    }
    let expected: Vec<_> = pcap.messages().filter_map(seen).collect();
    assert_eq!(expected.len(), 3 * ROUNDS, "calls, their answers, and signals");
    for (name, capture) in
        [("pcapng", &pcapng), ("binary", &binary), ("profile", &profile), ("text", &text)]
    {
        let found: Vec<_> = capture.messages().filter_map(seen).collect();
        assert_eq!(found, expected, "{name}");
        assert!(capture.damage().is_empty(), "{name}: {:?}", capture.damage());
    }
    assert_eq!(pcapng.buses()[0].kept_max, Some(4096));
    assert_eq!(binary.buses()[0].clock, RecordedClock::Absent);
    assert_eq!(profile.buses()[0].content, MessageContent::Headers);
    assert_eq!(text.buses()[0].content, MessageContent::Texts);
    assert!(profile.invalid().is_empty() && text.invalid().is_empty());
    check_arguments(&text);
}

/// Checks that the text output contains the arguments that were sent.
fn check_arguments(text: &Capture) {
    let mut buffer = capture::model::MessageBuffer::default();
    let signal = text.messages().find(|message| message.member() == "Moved").expect("a signal");
    let signal = text.read_message(signal.id(), &mut buffer).expect("memory").expect("valid");
    assert_eq!(signal.read(), Ok(("two\nlines", 7_u32, true)));
}

#[test]
fn tshark_reads_written_files_without_warnings() {
    let folder = ToolFolder::new("written");
    fs::write(folder.path("pcapng"), rich().pcapng()).expect("a file");
    let capture = folder.open("pcapng");
    let ours: Vec<_> = capture.messages().filter_map(line).collect();
    assert_eq!(ours.len(), capture.len());
    assert_eq!(ours, tshark(&folder.path("pcapng")));
}

#[test]
fn files_compressed_by_gzip_and_zstd_are_read() {
    let folder = ToolFolder::new("packed");
    fs::write(folder.path("plain"), rich().pcapng()).expect("a file");
    let expected = folder.open("plain");
    for program in ["gzip", "zstd"] {
        let plain = File::open(folder.path("plain")).expect("the file");
        let packed = File::create(folder.path(program)).expect("a file");
        let mut command = Command::new(program);
        command.arg("-c").stdin(plain).stdout(packed);
        assert!(command.status().expect("a program of every Debian").success());
        let capture = folder.open(program);
        assert_eq!(capture.len(), expected.len(), "{program}");
        assert_eq!(capture.gaps(), expected.gaps(), "{program}");
    }
}

/// The line of a message as Diligence and tshark show it; `None` for the message that reports the
/// disconnection of its recorder, whose serial is 0.
fn line(message: CapturedMessage<'_>) -> Option<String> {
    let is_error = message.kind() == MessageType::Error;
    let (error_name, member) =
        if is_error { (message.member(), "") } else { ("", message.member()) };
    let mut columns = vec![
        message.at().to_string(),
        message.kept().to_string(),
        message.len().to_string(),
        message.kind().code().to_string(),
        message.serial().to_string(),
    ];
    if message.health() != Health::HeaderCut {
        let texts = [message.sender(), message.destination(), message.path(), message.interface()];
        columns.extend(texts.map(str::to_owned));
        columns.extend([member.to_owned(), error_name.to_owned()]);
    }
    (message.serial() != 0).then(|| columns.join("|"))
}

/// The lines of all packets of a file, from tshark.
fn tshark(path: &Path) -> Vec<String> {
    let mut command = Command::new("tshark");
    command.args(["-Y", "dbus.serial > 0", "-T", "fields", "-E", "separator=|", "-r"]).arg(path);
    let fields = ["message_type", "serial", "sender", "destination", "path", "interface", "member"];
    let fields = fields.into_iter().chain(["error_name"]).map(|name| format!("dbus.{name}"));
    let frame = ["time_epoch", "cap_len", "len"].map(|name| format!("frame.{name}"));
    for field in frame.into_iter().chain(fields) {
        command.args(["-e", &field]);
    }
    let output = command.output().expect("tshark, which is among the packages for tests");
    let complaints = String::from_utf8_lossy(&output.stderr);
    let complaints: Vec<_> =
        complaints.lines().filter(|line| !line.starts_with("Running as user")).collect();
    assert!(output.status.success() && complaints.is_empty(), "{complaints:?}");
    let text = String::from_utf8(output.stdout).expect("texts");
    text.lines().map(without_what_is_cut).collect()
}

/// The line without fields that tshark shows partially because the header is cut.
fn without_what_is_cut(line: &str) -> String {
    let columns: Vec<_> = line.split('|').collect();
    let is_cut = columns[1] == CUT_LEN && columns[2] != CUT_LEN;
    if is_cut { columns[..5].join("|") } else { line.to_owned() }
}

/// The number of bytes that [`rich`] keeps of the messages that it cuts.
const CUT_LEN: &str = "90";

/// The fields that all formats have of a message.
fn seen(message: CapturedMessage<'_>) -> Option<String> {
    let call = message.call().unwrap_or(message);
    let member = if message.kind() == MessageType::Error { "" } else { message.member() };
    let texts = [message.sender(), message.destination(), message.path(), member];
    (call.interface() == "org.example.Seen")
        .then(|| format!("{:?} {} {}", message.kind(), message.reply_serial(), texts.join(" ")))
}

/// The recording programs, with the names of the files that they write.
const RECORDERS: [(&str, &[&str]); 5] = [
    ("pcap", &["dbus-monitor", "--address", "ADDRESS", "--pcap"]),
    ("pcapng", &["busctl", "--address=ADDRESS", "capture"]),
    ("binary", &["dbus-monitor", "--address", "ADDRESS", "--binary"]),
    ("profile", &["dbus-monitor", "--address", "ADDRESS", "--profile"]),
    ("text", &["dbus-monitor", "--address", "ADDRESS", "--monitor"]),
];

/// The number of times that each message is sent.
const ROUNDS: usize = 3;

/// The signal that is sent last.
const LAST: &str = "Finished";

/// Records the same messages with all programs, which exit when the bus exits.
fn record(folder: &ToolFolder) {
    let mut bus = ToolBus::start();
    let recorders = RECORDERS.map(|(name, words)| {
        let words: Vec<_> =
            words.iter().map(|word| word.replace("ADDRESS", &bus.address)).collect();
        let file = File::create(folder.path(name)).expect("a file");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdout(file).stderr(Stdio::null());
        RunningTool(command.spawn().expect("a recorder"))
    });
    bus.wait_for_monitors(RECORDERS.len());
    for _ in 0..ROUNDS {
        bus.send(&["--print-reply", "--dest=org.nobody", "/a", "org.example.Seen.Ask", "string:x"]);
        let args = ["string:two\nlines", "uint32:7", "boolean:true"];
        bus.send(&[&["--type=signal", "/a/b", "org.example.Seen.Moved"][..], &args].concat());
    }
    bus.send(&["--type=signal", "/", &format!("org.example.Last.{LAST}")]);
    for (name, _) in RECORDERS {
        wait_until(name, || {
            let bytes = fs::read(folder.path(name)).expect("the file");
            bytes.windows(LAST.len()).any(|window| window == LAST.as_bytes())
        });
    }
    drop(bus);
    for mut recorder in recorders {
        wait_until("the end", || recorder.0.try_wait().expect("a child").is_some());
    }
}

/// A dbus-daemon for this test.
struct ToolBus {
    running: RunningTool,
    address: String,
}

impl ToolBus {
    fn start() -> Self {
        let mut command = Command::new("dbus-daemon");
        command.args(["--session", "--nofork", "--nosyslog", "--print-address"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut running = RunningTool(child.expect("dbus-daemon"));
        let mut address = String::new();
        let output = running.0.stdout.take().expect("it is piped");
        BufReader::new(output).read_line(&mut address).expect("an address");
        Self { running, address: address.trim().to_owned() }
    }

    /// Waits until this number of monitors has been reported on the bus's standard error.
    fn wait_for_monitors(&mut self, count: usize) {
        let mut log = BufReader::new(self.running.0.stderr.take().expect("it is piped"));
        let lines = log.by_ref().lines().map_while(Result::ok);
        let found = lines.filter(|line| line.ends_with("became a monitor.")).take(count).count();
        assert_eq!(found, count);
        thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    }

    fn send(&self, words: &[&str]) {
        let mut command = Command::new("dbus-send");
        command.arg(format!("--bus={}", self.address)).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("dbus-send");
    }
}

/// A process that is killed at the end of the test.
struct RunningTool(Child);

impl Drop for RunningTool {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that is removed at the end of the test.
struct ToolFolder(PathBuf);

impl ToolFolder {
    fn new(name: &str) -> Self {
        let folder = format!("diligence-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(folder);
        fs::create_dir(&path).expect("a folder");
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn open(&self, name: &str) -> Capture {
        Capture::open(&self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for ToolFolder {
    fn drop(&mut self) {
        // A failure leaves a folder among temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < end, "{what} does not come");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The time limit for a program on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);
