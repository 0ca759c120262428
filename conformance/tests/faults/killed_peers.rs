//! Processes that exchange messages are killed at any moment. Each remaining peer gets one signal
//! for each of them, an error for each call that gets no reply, and every other message.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use conformance::differential::{SeededRandom, seeds};
use conformance::{BusUnderTest, PlainMessage, PlainValue, Signal, StartedProgram, TestPeer, kind};

use crate::form::TestDuration;
use crate::gauge::{Gauge, GaugeTotals, Rest};
use crate::numbered::{self, Sequence};
use crate::stop_flag::StopFlag;
use crate::worker::{self, WorkerRole};

/// The number of simultaneous talkers.
const TALKERS: usize = 6;

/// State that the threads share.
#[derive(Default)]
struct KilledPeersScene {
    stop: StopFlag,
    /// The names of the running talkers.
    names: Mutex<Vec<String>>,
}

impl KilledPeersScene {
    fn names(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn killed_peers_are_reported_once_and_no_message_is_lost() {
    let form = TestDuration::requested();
    let seed = seeds(1).next().expect("one seed");
    let time = form.pick(Duration::from_secs(3), Duration::from_secs(120));
    let mut bus = BusUnderTest::session();
    let gauge = Gauge::of(&mut bus);
    let mut requester = bus.peer();
    let rest = Rest::of(gauge, &mut requester);
    let before = GaugeTotals::ask(&mut requester);

    let (caller, mut listener, pair) = (bus.peer(), bus.peer(), [bus.peer(), bus.peer()]);
    listener.add_match("type='signal',member='NameOwnerChanged'");
    listener.add_match(&numbered::rule("FromWorker"));
    let scene = KilledPeersScene::default();
    let (killed, asked, departures, exchanged) = std::thread::scope(|scope| {
        let ends = scene.stop.when_dropped();
        let calls = scope.spawn(|| call_any(caller, &scene, seed));
        let departures = scope.spawn(|| listen(listener, &scene));
        let exchanged = scope.spawn(|| talk(pair, &scene));
        let killed = kill_and_start(&bus, &scene, seed, time);
        drop(ends);
        let join = "the thread ends well";
        (
            killed,
            calls.join().expect(join),
            departures.join().expect(join),
            exchanged.join().expect(join),
        )
    });

    assert!(killed.len() >= TALKERS, "{} were killed", killed.len());
    let changes: BTreeSet<_> = departures.came.intersection(&departures.left).cloned().collect();
    let missing: Vec<_> = killed.iter().filter(|name| !changes.contains(*name)).collect();
    assert!(missing.is_empty(), "no signals about {missing:?}");
    let memory = rest.is_back(&mut requester);
    let after = GaugeTotals::ask(&mut requester);
    assert_eq!(after.get("LostMessages"), 0, "everybody reads");
    let closed = |totals: &GaugeTotals| totals.cause("DisconnectCauses", "closed");
    // The killed processes, and the connections of this process.
    assert_eq!(closed(&after) - closed(&before), killed.len() as u64 + 4);
    let log = bus.process().stderr();
    let lines = log.lines().filter(|line| !line.contains(" replaced version "));
    assert_eq!(lines.count(), 0, "a disconnect must not be logged: {log}");
    let ReceivedAnswers { replies, no_reply, unknown } = asked;
    form.report(&format!(
        "killed peers: {} killed in {time:?}; {} calls: {replies} answered, {no_reply} NoReply, \
         {unknown} to disconnected peers; {} signals from killed peers and {exchanged} between survivors, each \
         once and in order; memory {} to {memory} KiB",
        killed.len(),
        replies + no_reply + unknown,
        departures.signals,
        rest.memory,
    ));
    bus.stop();
}

/// Kills one of the talkers from time to time, and starts another; in the end it kills all. Returns
/// their names.
fn kill_and_start(
    bus: &BusUnderTest,
    scene: &KilledPeersScene,
    seed: u64,
    time: Duration,
) -> Vec<String> {
    let mut random = SeededRandom::from_seed(seed);
    let mut talkers: Vec<(String, StartedProgram)> = Vec::new();
    let mut killed = Vec::new();
    let ends = Instant::now() + time;
    while Instant::now() < ends {
        while talkers.len() < TALKERS {
            let mut talker = worker::start(bus, WorkerRole::Talker);
            let name = worker::wait_until_there(&mut talker);
            scene.names().push(name.clone());
            talkers.push((name, talker));
        }
        // Peers are killed at random moments of the traffic.
        std::thread::sleep(Duration::from_millis(10 + random.below(90) as u64));
        let (name, talker) = talkers.swap_remove(random.below(TALKERS));
        talker.signal(Signal::KILL);
        // Calls to a peer that has just been killed are part of the test, so the name is removed
        // later.
        drop(talker);
        scene.names().retain(|found| *found != name);
        killed.push(name);
    }
    scene.names().clear();
    for (name, talker) in talkers {
        talker.signal(Signal::KILL);
        killed.push(name);
    }
    killed
}

#[derive(Debug, Default)]
struct ReceivedAnswers {
    replies: u32,
    no_reply: u32,
    unknown: u32,
}

/// Makes calls, some of them without waiting for the previous reply. Each gets one reply, from the
/// callee or from the bus.
fn call_any(mut caller: TestPeer, scene: &KilledPeersScene, seed: u64) -> ReceivedAnswers {
    let mut random = SeededRandom::from_seed(!seed);
    let mut answers = ReceivedAnswers::default();
    let mut number = 0;
    while !scene.stop.is_set() {
        let names = scene.names().clone();
        if names.is_empty() {
            std::thread::yield_now();
            continue;
        }
        let mut open = BTreeMap::new();
        for _ in 0..8 {
            number += 1;
            let to = &names[random.below(names.len())];
            open.insert(caller.send(numbered::call(to, number)), (to.clone(), number));
        }
        while !open.is_empty() {
            let answer = caller.receive().expect("the bus lives");
            let serial = answer.reply_serial().expect("nothing else is sent to it");
            let (to, number) = open.remove(&serial).expect("each is answered once");
            match (answer.kind, answer.error_name()) {
                (kind::RETURN, _) => {
                    assert_eq!((answer.sender(), answer.first_u32()), (&*to, Some(number)));
                    answers.replies += 1;
                }
                (kind::ERROR, "NoReply") => answers.no_reply += 1,
                (kind::ERROR, "ServiceUnknown" | "NameHasNoOwner") => answers.unknown += 1,
                _ => panic!("{}", answer.summary()),
            }
        }
    }
    answers
}

#[derive(Debug, Default)]
struct PeerDepartures {
    came: BTreeSet<String>,
    left: BTreeSet<String>,
    signals: u32,
}

/// Receives the signals about connects and disconnects, and the signals from the talkers: no number is
/// missing before the last one, and none arrives before the connect or after the disconnect.
fn listen(mut listener: TestPeer, scene: &KilledPeersScene) -> PeerDepartures {
    let mut departures = PeerDepartures::default();
    let mut talking: BTreeMap<String, Sequence> = BTreeMap::new();
    let mut quiet = 0;
    // Runs until the test is over and all messages in flight have arrived.
    while !scene.stop.is_set() || quiet < 5 {
        let Some(message) = listener.receive_within(Duration::from_millis(100)) else {
            quiet += 1;
            continue;
        };
        quiet = 0;
        if message.member() == "NameOwnerChanged" {
            let [name, old, new] = [0, 1, 2].map(|at| message.body[at].as_str().expect("a name"));
            if old.is_empty() {
                assert!(departures.came.insert(new.to_owned()), "{name} comes once");
            } else {
                assert!(departures.left.insert(old.to_owned()), "{name} leaves once");
                let said = talking.remove(old).unwrap_or_default();
                departures.signals += said.count();
            }
        } else if numbered::is_numbered(&message) {
            let sender = message.sender().to_owned();
            assert!(!departures.left.contains(&sender), "{sender} had gone");
            talking.entry(sender).or_default().take(&message);
        }
    }
    departures
}

/// Two surviving peers send unicast and broadcast signals: returns the number of received signals.
fn talk([mut one, mut other]: [TestPeer; 2], scene: &KilledPeersScene) -> u32 {
    other.add_match(&numbered::rule("Survivor"));
    let mut sequence = Sequence::default();
    while !scene.stop.is_set() {
        for ahead in 0..10 {
            one.send(numbered::signal("Survivor", sequence.count() + ahead, 200));
        }
        for _ in 0..10 {
            sequence.take(&other.receive().expect("open"));
        }
        let number = PlainValue::U32(sequence.count());
        let asked = one.send(PlainMessage::some_call(other.name()).arg(number.clone()));
        let found = other.receive().expect("open");
        other.send(numbered::answer(&found));
        let answer = one.receive().expect("open");
        assert_eq!((answer.reply_serial(), answer.body), (Some(asked), vec![number]));
    }
    sequence.count()
}
