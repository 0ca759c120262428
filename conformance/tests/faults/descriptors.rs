//! No descriptor is left for new connections, while connected peers exchange messages. The bus
//! waits without a busy loop, connected peers do not notice, and every waiting connection is
//! accepted later.
//!
//! Other effects are tested by `fairness::connected_clients_work_when_descriptors_run_out`.

use std::time::{Duration, Instant};

use conformance::{
    BusUnderTest, ExternalProgram, PeerStream, RunAs, ScratchFolder, TestConfig, copy_bus, link_bus,
};

use crate::form::TestDuration;
use crate::gauge::{Gauge, Rest};
use crate::latency::Latency;

/// The descriptor limit of the bus.
const DESCRIPTORS: u32 = 256;

/// More connections than the limit allows.
const COMERS: usize = 600;

/// The allowed share of a processor while all connections wait: one check per second costs almost
/// nothing.
const IDLE_PERCENT: u128 = 3;

pub(crate) fn connections_wait_when_descriptors_run_out() {
    let form = TestDuration::requested();
    // Longer than a pause between two shortages that the bus counts together.
    let time = form.pick(Duration::from_millis(5500), Duration::from_secs(30));
    let scratch = ScratchFolder::new();
    let mut bus = limited_bus(&scratch);
    let gauge = Gauge::of(&mut bus);
    let mut watcher = bus.peer();
    let mut pair = [bus.peer(), bus.peer()];
    let (rest, others) = (Rest::of(gauge, &mut watcher), gauge.descriptors());
    let before = Latency::between(&mut pair, 200);

    let mut comers: Vec<_> = (0..COMERS).map(|_| PeerStream::connect(bus.address())).collect();
    comers.iter_mut().for_each(|comer| comer.write(b"\0AUTH\r\n"));
    // The last connection gets no answer: there is no descriptor for it.
    assert!(comers[COMERS - 1].is_silent(Duration::from_millis(300)));
    let held = gauge.descriptors();
    assert!(held <= DESCRIPTORS as usize, "{held}");
    let waiting = COMERS - (held - others);

    let used = gauge.processor_time();
    // The time of the measurement, in which the bus can do nothing.
    std::thread::sleep(time);
    let idle = gauge.processor_time() - used;
    let share = idle.as_millis() * 100 / time.as_millis();
    assert!(share <= IDLE_PERCENT, "{share} % of a processor while nothing can be done");
    let during = Latency::between(&mut pair, 200);

    // Each accepted connection disconnects after its reply, until all were accepted.
    let started = Instant::now();
    for mut comer in comers.drain(..) {
        assert!(comer.read_line().is_some_and(|line| line.starts_with("REJECTED")));
    }
    let served = started.elapsed();
    rest.is_back(&mut watcher);
    let log = bus.process().stderr();
    let lines = log.matches("Cannot accept connections").count();
    assert_eq!(lines, 1, "{log}");
    assert!(log.lines().count() < 20, "{log}");
    form.report(&format!(
        "descriptors: {DESCRIPTORS} for {COMERS}, {held} in use; {idle:?} of a processor in {time:?} \
         while {waiting} waited; calls {before} before, {during} meanwhile; all served in {served:?}; \
         {lines} line in the log"
    ));
    bus.stop();
}

/// A bus with a low descriptor limit, as an ordinary user that cannot raise it.
fn limited_bus(scratch: &ScratchFolder) -> BusUnderTest {
    let config = TestConfig::session()
        .policy("context='default'", "<allow user='*'/>")
        .limit("max_incomplete_connections", 10_000)
        .limit("auth_timeout", 600_000);
    BusUnderTest::start_with(&config, |_| {
        let limited =
            ExternalProgram::named("prlimit", "util-linux").arg(format!("--nofile={DESCRIPTORS}"));
        if RunAs::is_root() {
            limited.user(RunAs::NOBODY).arg(copy_bus(scratch))
        } else {
            limited.arg(link_bus(scratch))
        }
    })
}
