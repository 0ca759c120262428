//! A member of the chat room that the `chat_room` example serves.
//!
//! Shows a program that does several things at once on one connection and one thread: it exports an
//! object, receives signals, has several pending calls, and acts at intervals.
//!
//! ```sh
//! cargo run -p diligence-client --example chat_member anna
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use diligence_client::{
    CallError, CallOptions, Connection, EmitsChange, InterfaceError, MessageBody, NameFlags, Proxy,
    ServedInterface, StartedCall, SubscriptionError, Timeout,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The last argument is the name in the chat.
    let name = std::env::args().next_back().filter(|name| is_name(name));
    let name = name.ok_or("usage: chat_member NAME, up to 10 lowercase letters")?;

    let bus = Connection::session()?;
    bus.add_object(MEMBER_PATH, &interface()?, Whispers { count: 0 })?;
    let own_name = bus_name(&name);
    if !bus.request_name(own_name.as_str(), NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{own_name} is already owned; another instance may be running").into());
    }

    bus.wait_for_owner("com.example.Chat", None)?;
    let room = bus.proxy("com.example.Chat", "/com/example/Chat", "com.example.Chat1")?;
    let said = room.signals("Said")?;
    room.call("Join", &(&name,))?;

    let mut member = ChatMember { bus: &bus, room, name: &name, lines: 0, calls: Vec::new() };
    let mut next_line = Instant::now() + pace(&name);
    loop {
        // Wait for a message, at most until the next line is due. Here the library answers calls of
        // Whisper, and queues signals and replies until the program takes them.
        let timeout = next_line.saturating_duration_since(Instant::now());
        if bus.process(Some(timeout)).is_err() {
            return Ok(());
        }
        member.take_replies();
        match said.poll() {
            Ok(Some(signal)) => {
                let (speaker, text): (&str, &str) = signal.read()?;
                member.react(speaker, text)?;
            }
            // If signals were dropped, this member missed some lines.
            Ok(None) | Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
            Err(SubscriptionError::Disconnected(_)) => return Ok(()),
        }
        if Instant::now() >= next_line {
            member.speak()?;
            // A member that was delayed does not catch up.
            next_line = (next_line + pace(&name)).max(Instant::now());
        }
    }
}

struct ChatMember<'a> {
    bus: &'a Connection,
    room: Proxy<'a>,
    name: &'a str,
    lines: usize,
    /// Pending calls. Dropping a call abandons it.
    calls: Vec<StartedCall>,
}

impl ChatMember<'_> {
    /// Sends the next line; some lines are whispers or searches instead.
    fn speak(&mut self) -> Result<(), CallError> {
        self.lines += 1;
        let other = neighbor(self.name);
        if self.lines.is_multiple_of(SEARCH_EVERY) {
            return self.search(other);
        }
        if self.lines.is_multiple_of(WHISPER_EVERY) {
            return self.whisper(other, "did you see that?");
        }
        let line = LINES[self.lines % LINES.len()];
        match self.lines % QUESTION_EVERY {
            0 => self.say(&format!("{other}, {line}?")),
            _ => self.say(line),
        }
    }

    /// Answers a line that is addressed to this member.
    fn react(&mut self, speaker: &str, text: &str) -> Result<(), CallError> {
        let is_addressed = text.strip_prefix(self.name).is_some_and(|rest| rest.starts_with(','));
        if is_addressed && speaker != self.name {
            self.say(&format!("{speaker}: I think so"))?;
        }
        Ok(())
    }

    fn say(&mut self, text: &str) -> Result<(), CallError> {
        let room = self.room.clone();
        self.call(&room, "Say", &(text,))
    }

    /// Sends a line to one member only, by calling the object of that member.
    fn whisper(&mut self, to: &str, text: &str) -> Result<(), CallError> {
        let destination = bus_name(to);
        let member = self.bus.proxy(destination.as_str(), MEMBER_PATH, MEMBER_INTERFACE)?;
        self.call(&member, "Whisper", &(self.name, text))
    }

    /// Calls the `archive` example, which is slow.
    fn search(&mut self, text: &str) -> Result<(), CallError> {
        let archive = self.bus.proxy(
            "com.example.Archive",
            "/com/example/Archive",
            "com.example.Archive1",
        )?;
        self.call(&archive, "Search", &(text,))
    }

    /// Calls without waiting for the reply. Otherwise two members that whisper to each other at the
    /// same time would wait for each other until the calls time out.
    fn call(
        &mut self,
        object: &Proxy<'_>,
        method: &str,
        arguments: &impl MessageBody,
    ) -> Result<(), CallError> {
        let timeout = Timeout::After(Duration::from_secs(25));
        let options = CallOptions { timeout, ..CallOptions::default() };
        self.calls.push(object.start_call(method, arguments, options)?);
        Ok(())
    }

    /// Drops calls with a reply, an error or a timeout. A program that needs the results
    /// matches on the outcome here: `CallError::Remote` contains the name of the error.
    fn take_replies(&mut self) {
        self.calls.retain_mut(|call| call.poll().is_none());
    }
}

/// The state of the object that other members call.
struct Whispers {
    count: u32,
}

fn interface() -> Result<ServedInterface<Whispers>, InterfaceError> {
    ServedInterface::<Whispers>::builder(MEMBER_INTERFACE)
        .annotate(DOC, "A member of the chat.")
        .method("Whisper", &["from", "text"], &["answer"], |whispers, _, args| {
            let (from, _text): (String, String) = args;
            whispers.count += 1;
            Ok((format!("Yes, {from}. This is question number {}.", whispers.count),))
        })
        .annotate(DOC, "Sends a line to this member only; returns the answer.")
        .property("Whispers", |whispers| whispers.count)
        .emits_change(EmitsChange::No)
        .annotate(DOC, "The number of whispers to this member.")
        .build()
}

/// The name on the bus: `com.example.Chat.Anna` for `anna`.
fn bus_name(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    format!("com.example.Chat.{}{rest}", first.to_ascii_uppercase())
}

fn is_name(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// The member that this one whispers to.
fn neighbor(name: &str) -> &'static str {
    let place = MEMBERS.iter().position(|member| *member == name).unwrap_or(0);
    MEMBERS[(place + 1) % MEMBERS.len()]
}

/// Time between two lines; some members talk more than others.
fn pace(name: &str) -> Duration {
    let place = MEMBERS.iter().position(|member| *member == name);
    Duration::from_millis(place.map_or(1300, |place| [300, 700, 1900][place]))
}

const MEMBER_PATH: &str = "/com/example/ChatPeer";
const MEMBER_INTERFACE: &str = "com.example.ChatPeer1";
const MEMBERS: [&str; 3] = ["anna", "ben", "cleo"];

/// Every fifth line is whispered, every fourth line is a question, and every seventh is a search.
const WHISPER_EVERY: usize = 5;
const QUESTION_EVERY: usize = 4;
const SEARCH_EVERY: usize = 7;

const LINES: [&str; 6] = [
    "the coach is late again",
    "has anybody seen the mail",
    "the horses need a rest",
    "it will rain before the next post",
    "that was a heavy parcel",
    "somebody should answer",
];

/// The annotation that tools show as documentation.
const DOC: &str = "org.gtk.GDBus.DocString";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_up_to_ten_lowercase_letters() {
        assert!(is_name("anna"));
        for word in ["", "Anna", "a b", "abcdefghijk"] {
            assert!(!is_name(word), "{word:?}");
        }
        assert_eq!(bus_name("anna"), "com.example.Chat.Anna");
        let neighbors = ["anna", "cleo", "dora"].map(neighbor);
        assert_eq!(neighbors, ["ben", "anna", "ben"]);
    }

    #[test]
    fn the_interface_definition_is_valid() {
        interface().unwrap();
    }
}
