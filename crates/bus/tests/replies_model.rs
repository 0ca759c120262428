//! Every call gets exactly one reply: from the callee, or a NoReply error from the bus.

use std::time::Duration;

use bus::{Configuration, Input, PeerId, Policy, Time};
use testkit::random::{Random, rounds};
use testkit::world::{BusWorld, SeenEffect, interface, member, messages_to, name, path};
use wire::Message;
use wire::body::Value;
use wire::message::Builder;

const STEPS: usize = rounds(20_000);
const SERIALS: usize = 12;

/// A call that awaits its reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pending {
    caller: PeerId,
    serial: u32,
    callee: PeerId,
    deadline: Option<Time>,
}

struct RepliesTest {
    world: BusWorld,
    random: Random,
    config: Configuration,
    peers: Vec<PeerId>,
    /// The pending calls, oldest first.
    pending: Vec<Pending>,
    counts: [usize; 4],
}

#[test]
fn calls_get_exactly_one_reply() {
    let mut config = Configuration { policy: Policy::default(), ..Configuration::default() };
    config.limits.auth_timeout = None;
    config.limits.max_replies_per_connection = 10;
    config.limits.reply_timeout = Some(Duration::from_secs(20));
    let mut world = BusWorld::new(config.clone());
    let peers = (0..5).map(|_| world.join(1000)).collect();
    let random = Random::from_env();
    let mut test =
        RepliesTest { world, random, config, peers, pending: Vec::new(), counts: [0; 4] };
    for _ in 0..STEPS {
        test.step();
        let deadline = test.pending.iter().filter_map(|pending| pending.deadline).min();
        assert_eq!(test.world.bus.next_deadline(), deadline);
    }
    let [answered, refused, late, abandoned] = test.counts;
    let all = [answered, refused, late, abandoned];
    let happens = |count: &usize| *count > STEPS / 1000;
    assert!(cfg!(miri) || all.iter().all(happens), "every outcome occurs: {all:?}");
    test.world.end();
}

impl RepliesTest {
    fn step(&mut self) {
        match self.random.below(100) {
            0..45 => self.call(),
            45..85 => self.reply(),
            85..93 => self.advance_time(),
            93..96 => self.disconnect(),
            _ => self.reconfigure(),
        }
    }

    fn call(&mut self) {
        let caller = self.random.pick(&self.peers);
        let callee = self.random.pick(&self.peers);
        let serial = 100 + self.random.below(SERIALS) as u32;
        let builder = Builder::method_call(path("/x"), member("M")).interface(interface("a.b"));
        let destination = self.world.name_of(callee);
        let bytes = build(builder.destination(name(&destination)), serial);
        let seen = self.world.send_bytes(caller, &bytes);
        let in_use = self.pending.iter().any(|pending| {
            (pending.caller, pending.serial, pending.callee) == (caller, serial, callee)
        });
        let waiting = self.pending.iter().filter(|pending| pending.caller == caller).count();
        if in_use || waiting as u64 >= self.config.limits.max_replies_per_connection {
            let kind = if in_use { "AccessDenied" } else { "LimitsExceeded" };
            assert_eq!(errors(&seen), [(caller, serial, kind.to_owned())]);
            return;
        }
        assert_eq!(errors(&seen), []);
        assert_eq!(messages_to(&seen, callee).len(), 1);
        let timeout = self.config.limits.reply_timeout;
        let deadline = timeout.map(|timeout| self.world.now.after(timeout));
        self.pending.push(Pending { caller, serial, callee, deadline });
    }

    /// Replies to a pending call, or to one that was never made.
    fn reply(&mut self) {
        let known = (!self.pending.is_empty() && !self.random.once_in(4))
            .then(|| self.random.pick(&self.pending));
        let (caller, serial, callee) = match known {
            Some(Pending { caller, serial, callee, .. }) => (caller, serial, callee),
            None => {
                let serial = 100 + self.random.below(SERIALS) as u32;
                (self.random.pick(&self.peers), serial, self.random.pick(&self.peers))
            }
        };
        let own = self.world.next_serial(callee);
        let destination = self.world.name_of(caller);
        let builder = Builder::method_return(serial.try_into().expect("not 0"));
        let bytes = build(builder.destination(name(&destination)), own);
        let seen = self.world.send_bytes(callee, &bytes);
        let before = self.pending.len();
        self.pending.retain(|pending| {
            (pending.caller, pending.serial, pending.callee) != (caller, serial, callee)
        });
        if self.pending.len() < before {
            assert_eq!(messages_to(&seen, caller).len(), 1);
            assert_eq!(errors(&seen), []);
            self.counts[0] += 1;
        } else {
            assert_eq!(errors(&seen), [(callee, own, "AccessDenied".to_owned())]);
            self.counts[1] += 1;
        }
    }

    fn advance_time(&mut self) {
        let step = Duration::from_millis(self.random.below(9000) as u64);
        self.world.now = self.world.now.after(step);
        let now = self.world.now;
        let seen = self.world.input(Input::DeadlinePassed);
        let (mut late, rest): (Vec<_>, Vec<_>) =
            self.pending.iter().partition(|pending| pending.deadline.is_some_and(|d| d <= now));
        self.pending = rest;
        late.sort_by_key(|pending| pending.deadline);
        self.counts[2] += late.len();
        assert_eq!(errors(&seen), no_replies(&late));
    }

    fn disconnect(&mut self) {
        let place = self.random.below(self.peers.len());
        let gone = self.peers[place];
        let seen = self.world.disconnect(gone);
        self.pending.retain(|pending| pending.caller != gone);
        let (orphaned, rest): (Vec<_>, Vec<_>) =
            self.pending.iter().partition(|pending| pending.callee == gone);
        self.pending = rest;
        self.counts[3] += orphaned.len();
        assert_eq!(errors(&seen), no_replies(&orphaned));
        self.peers[place] = self.world.join(1000);
    }

    /// Changes the reply timeout: to none, or to a shorter or longer one.
    fn reconfigure(&mut self) {
        let seconds = 1 + self.random.below(40) as u64;
        let timeout = (!self.random.once_in(5)).then(|| Duration::from_secs(seconds));
        self.config.limits.reply_timeout = timeout;
        let outcome = Ok(Box::new(self.config.clone()));
        self.world.input(Input::Reconfigured { outcome });
        if let Some(timeout) = timeout {
            let latest = self.world.now.after(timeout);
            for pending in &mut self.pending {
                let earlier = pending.deadline.filter(|deadline| *deadline < latest);
                pending.deadline = Some(earlier.unwrap_or(latest));
            }
        }
    }
}

fn build(builder: Builder<'_>, serial: u32) -> Vec<u8> {
    testkit::world::build(builder, serial, &[Value::from("text")])
}

fn no_replies(pending: &[Pending]) -> Vec<(PeerId, u32, String)> {
    pending.iter().map(|p| (p.caller, p.serial, "NoReply".to_owned())).collect()
}

/// Returns the errors of the bus: recipient, reply serial and name.
fn errors(seen: &[SeenEffect]) -> Vec<(PeerId, u32, String)> {
    let sent = seen.iter().filter_map(|seen| match seen {
        SeenEffect::Sent { to, bytes, .. } => {
            Some((*to, Message::parse(bytes).expect("a message")))
        }
        _ => None,
    });
    sent.filter_map(|(to, message)| {
        let name = message.error_name()?.as_str();
        let name = name.strip_prefix("org.freedesktop.DBus.Error.")?;
        Some((to, message.reply_serial()?.get(), name.to_owned()))
    })
    .collect()
}
