//! The ownership of names after random calls, compared with a model of the specification.

use bus::{Configuration, PeerId};
use testkit::model::ModelNames;
use testkit::random::{Random, rounds};
use testkit::world::{BusWorld, messages_to};
use wire::Message;
use wire::body::Value;

const STEPS: usize = rounds(20_000);
const NAMES: [&str; 5] = ["com.a", "com.a.b", "com.c", "org.x", "org.y"];

#[test]
fn name_ownership_matches_the_model() {
    let mut random = Random::from_env();
    let mut world = BusWorld::new(Configuration::default());
    let mut model = ModelNames::default();
    let mut peers: Vec<PeerId> = (0..6).map(|_| world.join(1000)).collect();
    for _ in 0..STEPS {
        let place = random.below(peers.len());
        let (peer, name) = (peers[place], random.pick(&NAMES));
        match random.below(20) {
            0 => {
                world.disconnect(peer);
                while let Some(name) = model.last_of(peer) {
                    model.release(&name, peer);
                }
                peers[place] = world.join(1000);
            }
            1..=7 => {
                let (expected, _) = model.release(name, peer);
                let args = [name.into()];
                assert_eq!(number(&mut world, peer, "ReleaseName", &args), expected);
            }
            _ => {
                let flags = random.below(8) as u32;
                let (expected, _) = model.request(name, peer, flags);
                let args = [name.into(), flags.into()];
                assert_eq!(number(&mut world, peer, "RequestName", &args), expected);
            }
        }
        check(&mut world, &model, name, peer);
    }
    world.end();
}

/// Compares the queue of a name and the names of a connection with the model.
fn check(world: &mut BusWorld, model: &ModelNames, name: &str, peer: PeerId) {
    let requester = world.join(1000);
    let seen = world.call_bus(requester, "ListQueuedOwners", &[name.into()]);
    let replies = messages_to(&seen, requester);
    let reply = Message::parse(replies[0]).expect("a reply");
    let found = reply.read::<(Vec<String>,)>().map(|(names,)| names).unwrap_or_default();
    let expected: Vec<_> = model.queue(name).iter().map(|peer| world.name_of(*peer)).collect();
    assert_eq!(found, expected, "the queue for {name}");
    world.disconnect(requester);
    let mut owned: Vec<_> = world.bus.owned_names(peer).collect();

    owned.sort_unstable();
    let of_model = model.all().into_iter().filter(|name| model.owner(name) == Some(peer));
    assert_eq!(owned, of_model.collect::<Vec<_>>(), "the names of {peer}");
}

/// Calls a method that returns a number.
fn number(world: &mut BusWorld, peer: PeerId, method: &str, args: &[Value]) -> u32 {
    let seen = world.call_bus(peer, method, args);
    let messages = messages_to(&seen, peer);
    let reply = Message::parse(messages.last().expect("a reply")).expect("a message");
    reply.read::<(u32,)>().expect("a number").0
}
