//! The wall clock jumps by an hour or a day, forward and back, while a bus and a recorder run. No
//! timer of the bus is affected, and the recorded messages stay in order.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, ExternalProgram, PeerStream, PlainMessage, PlainValue, ScratchFolder, Signal,
    TestConfig, TestPeer, eventually, instruments_binary,
};

use crate::form::TestDuration;
use crate::numbered;

/// The value of each timeout.
const TIME: Duration = Duration::from_secs(1);

/// The allowed delay of a timer.
const LATE: Duration = Duration::from_millis(900);

/// The steps of the clock, in seconds.
const STEPS: [i64; 4] = [3600, -3600, 86_400, 0];

/// The requirement that `step.c` supports this architecture.
pub(crate) fn x86_64() -> Result<(), String> {
    cfg!(target_arch = "x86_64").then_some(()).ok_or_else(|| "only for x86-64".to_owned())
}

/// A wall clock for processes of this test.
struct FakeClock {
    folder: ScratchFolder,
    library: PathBuf,
}

impl FakeClock {
    fn new() -> Self {
        let folder = ScratchFolder::new();
        let library = folder.join("step.so");
        let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/faults/step.c");
        let compiler = ExternalProgram::named("cc", "gcc")
            .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"]);
        let _ = compiler.arg(&library).arg(source).run().success();
        let clock = Self { folder, library };
        clock.set(0);
        clock
    }

    /// Makes a program use this clock.
    fn of(&self, program: ExternalProgram) -> ExternalProgram {
        program.env("DILIGENCE_CLOCK", self.folder.join("ahead")).env("LD_PRELOAD", &self.library)
    }

    /// Sets the clock this many seconds ahead of the real one.
    fn set(&self, ahead: i64) {
        let path = self.folder.join("ahead");
        let file = fs::OpenOptions::new().create(true).write(true).truncate(false).open(path);
        let mut file = file.expect("a scratch folder is writable");
        // The file is changed in place, because programs map it.
        file.seek(SeekFrom::Start(0)).expect("it is a file");
        file.write_all(&ahead.to_le_bytes()).expect("a scratch folder is writable");
    }

    /// The output of `date` with a format.
    fn date(&self, format: &str) -> String {
        let date = self.of(ExternalProgram::named("date", "coreutils").args(["-u", format]));
        date.run().success().stdout.trim().to_owned()
    }
}

pub(crate) fn timers_and_recordings_are_right_when_the_clock_jumps() {
    let form = TestDuration::requested();
    let clock = FakeClock::new();
    let folder = ScratchFolder::new();
    let mut bus = BusUnderTest::start_with(&config(&folder), |bus| clock.of(bus));
    let program = ExternalProgram::at(instruments_binary()).args([
        "record",
        "--address",
        bus.address(),
        "-o",
    ]);
    let recording = folder.join("recording.pcapng");
    let recorder = clock.of(program.arg(&recording)).start();
    let listens = |_: &str, log: &str| log.contains("started reading the trace").then_some(());
    bus.process().wait_for("recorder", listens);

    let mut sender = bus.peer();
    let mut sent = 0;
    let mut times = Vec::new();
    for step in STEPS {
        let waiting = WaitingCall::begin(&bus);
        // The clock jumps while the timers run.
        std::thread::sleep(TIME / 3);
        clock.set(step);
        for _ in 0..100 {
            sender.send(numbered::signal("Recorded", sent, 10));
            sent += 1;
        }
        times.push(waiting.end());
        // The bus uses this clock: the file name contains the time.
        let written = write_flight(&mut bus, &folder, &clock);
        assert!(written.is_ok(), "{written:?}");
    }
    let files = flights(&folder);
    let ran = recorder.interrupt();
    assert_eq!(ran.code(), 0, "{ran}");
    let span = in_order(&recording, sent);
    for file in &files {
        in_order(file, sent / STEPS.len() as u32);
    }
    form.report(&format!(
        "clock: steps to {STEPS:?} s ahead while timers of {TIME:?} ran: they rang after {times:?}; {} \
         files of the flight recorder and a recording of {sent} signals in order, within {span:?}",
        files.len()
    ));
    bus.stop();
}

/// Timeouts of a second, one service that never takes its name, and a flight recorder.
fn config(folder: &ScratchFolder) -> TestConfig {
    let path = folder.path().display();
    let text = "[D-BUS Service]\nName=com.example.Slow\nExec=/bin/sleep 30\n";
    folder.file("com.example.Slow.service", text);
    let time = TIME.as_millis() as u64;
    ["auth_timeout", "reply_timeout", "service_start_timeout"]
        .iter()
        .fold(TestConfig::session(), |config, limit| config.limit(limit, time))
        .element(&format!(
            "<servicedir>{path}</servicedir><?diligence <flight_recorder>1048576</flight_recorder>\
             <flight_recorder_folder>{path}</flight_recorder_folder> ?>"
        ))
}

/// Three waiting clients: a slow handshake, a call without a reply, and a call that waits for a
/// service.
struct WaitingCall {
    started: Instant,
    handshake: PeerStream,
    caller: TestPeer,
    starter: TestPeer,
    /// Receives the call and never replies.
    _callee: TestPeer,
}

impl WaitingCall {
    fn begin(bus: &BusUnderTest) -> Self {
        let [mut caller, callee, mut starter] = [(); 3].map(|()| bus.peer());
        let started = Instant::now();
        let mut handshake = PeerStream::connect(bus.address());
        handshake.write(b"\0AUTH");
        caller.send(PlainMessage::some_call(callee.name()));
        let start =
            PlainMessage::asking("StartServiceByName", "com.example.Slow").arg(PlainValue::U32(0));
        starter.send(start);
        Self { started, handshake, caller, starter, _callee: callee }
    }

    /// The time until each of the three waits ended.
    fn end(mut self) -> [Duration; 3] {
        let answer = self.caller.receive().expect("open");
        assert_eq!(answer.error_name(), "NoReply", "{}", answer.summary());
        let reply = self.started.elapsed();
        let answer = self.starter.receive().expect("open");
        assert_eq!(answer.error_name(), "TimedOut", "{}", answer.summary());
        let start = self.started.elapsed();
        assert!(self.handshake.is_closed());
        let times = [reply, start, self.started.elapsed()];
        for time in times {
            assert!((TIME - TIME / 20..TIME + LATE).contains(&time), "{times:?}");
        }
        times
    }
}

/// Makes the flight recorder write a file, and checks that its name contains the time of the clock.
fn write_flight(
    bus: &mut BusUnderTest,
    folder: &ScratchFolder,
    clock: &FakeClock,
) -> Result<String, String> {
    let format = "+flight-%Y%m%dT%H%M";
    let before = flights(folder);
    let earliest = clock.date(format);
    bus.process().signal(Signal::USR2);
    let file =
        eventually("a file", || flights(folder).into_iter().find(|file| !before.contains(file)));
    let latest = clock.date(format);
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    eventually("all of it", || (fs::metadata(&file).ok()?.len() > 1_048_576).then_some(()));
    let fits = name.starts_with(&earliest) || name.starts_with(&latest);
    if fits { Ok(name) } else { Err(format!("{name} is not from {earliest} or {latest}")) }
}

fn flights(folder: &ScratchFolder) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path()).expect("it is there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "trace")).collect()
}

/// Checks that a recording contains this number of numbered signals, each later than the one
/// before. Returns the time between the first and the last.
fn in_order(file: &PathBuf, count: u32) -> Duration {
    let csv =
        ExternalProgram::at(instruments_binary()).args(["export", "--format", "csv"]).arg(file);
    let csv = csv.arg("member:Recorded").run().success().stdout;
    let mut lines = csv.lines();
    let keys = lines.next().expect("a line of keys").split(',');
    let column = keys.clone().position(|key| key == "time_ns");
    let column = column.unwrap_or_else(|| panic!("no time in {:?}", keys.collect::<Vec<_>>()));
    let time = |line: &str| line.split(',').nth(column).and_then(|time| time.parse::<u64>().ok());
    let times: Vec<u64> = lines.map(|line| time(line).expect("a time")).collect();
    assert_eq!(times.len(), count as usize, "{}", file.display());
    assert!(times.is_sorted(), "{} is out of order: {times:?}", file.display());
    Duration::from_nanos(times[times.len() - 1] - times[0])
}
