//! Hundreds of connections send a byte from time to time. Other clients connect without delay, and
//! the slow ones are disconnected at their timeout.

use std::time::{Duration, Instant};

use conformance::{BusUnderTest, PeerStream, TestConfig};

use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals, Rest};
use crate::latency::Latency;

/// Longer than any login takes.
const AT_ONCE: Duration = Duration::from_millis(500);

/// The allowed delay after the timeout.
const LATE: Duration = Duration::from_secs(1);

/// Lines in the log for one user and one cause in ten seconds, with the summary line.
const LINES_IN_TEN_SECONDS: u64 = 11;

pub(crate) fn slow_handshakes_do_not_delay_other_clients() {
    let form = TestDuration::requested();
    let (count, time, pause) = form.pick(
        (300, Duration::from_millis(1500), Duration::from_millis(100)),
        (2000, Duration::from_secs(30), Duration::from_secs(1)),
    );
    let config = TestConfig::session()
        .limit("auth_timeout", time.as_millis() as u64)
        .limit("max_incomplete_connections", 2 * count);
    let mut bus = BusUnderTest::start(&config);
    let gauge = Gauge::of(&mut bus);
    let mut watcher = bus.peer();
    let rest = Rest::of(gauge, &mut watcher);
    let before = logins(&bus, 50);

    let mut slow: Vec<_> =
        (0..count).map(|_| (Instant::now(), PeerStream::connect(bus.address()))).collect();
    let there = slow[0].0.elapsed();
    let mut meanwhile = Vec::new();
    // Every byte is valid at its place: a line that never ends.
    let line = b"\0AUTH EXTERNAL 30303030303030303030303030303030303030303030303030";
    let mut bytes = line.iter().cycle();
    while slow[0].0.elapsed() < time - pause {
        let byte = [*bytes.next().expect("it goes round")];
        slow.iter_mut().for_each(|(_, stream)| stream.write(&byte));
        let ends = Instant::now() + pause.saturating_sub(Duration::from_millis(20));
        while Instant::now() < ends {
            meanwhile.push(login(&bus));
        }
    }
    let meanwhile = Latency::of(meanwhile);
    assert!(meanwhile.longest() < AT_ONCE, "a login took {meanwhile}");

    let earliest = slow[0].0 + time - Duration::from_millis(50);
    for (started, stream) in &mut slow {
        assert!(stream.is_closed());
        assert!(started.elapsed() < time + there + LATE, "ended after {:?}", started.elapsed());
    }
    assert!(Instant::now() >= earliest, "none was ended before its time");
    let memory = rest.is_back(&mut watcher);
    let totals = GaugeTotals::ask(&mut watcher);
    assert_eq!(totals.cause("DisconnectCauses", "auth-timeout"), count);
    assert_eq!(totals.cause("RejectedCauses", "auth-timeout"), count);
    let lines = bus.process().stderr().lines().count() as u64;
    assert!((1..=2 * LINES_IN_TEN_SECONDS).contains(&lines), "{}", bus.process().stderr());
    form.report(&format!(
        "slow handshakes: {count}, a byte each every {pause:?}; logins of others {before} before, \
         {meanwhile} meanwhile ({time:?}); all {count} ended in their time, and counted; {lines} lines \
         in the log; memory {} to {memory} KiB",
        rest.memory
    ));
    bus.stop();
}

fn logins(bus: &BusUnderTest, count: usize) -> Latency {
    Latency::of((0..count).map(|_| login(bus)).collect())
}

/// The time to connect, authenticate and receive the reply to Hello.
fn login(bus: &BusUnderTest) -> Duration {
    let started = Instant::now();
    drop(bus.peer());
    started.elapsed()
}
