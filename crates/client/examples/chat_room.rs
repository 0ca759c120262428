//! A chat room: the service that the `chat_member` example joins.
//!
//! Shows how to emit signals from methods and from other code, how to identify the caller of a
//! method, and how to detect that a client disconnected, with a subscription to a signal of the
//! bus.
//!
//! ```sh
//! cargo run -p diligence-client --example chat_room
//! gdbus monitor --session --dest com.example.Chat
//! ```

use std::error::Error;

use diligence_client::{
    Connection, EmitsChange, IncomingCall, InterfaceError, MethodError, NameFlags, ServedInterface,
    SubscriptionError,
};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let bus = Connection::session()?;
    let room = bus.add_object("/com/example/Chat", &interface()?, ChatRoom::default())?;

    // The bus emits NameOwnerChanged(name, old owner, new owner) when a client disconnects; then
    // the new owner is empty. Subscribe before clients can join.
    let departures = bus.subscribe(
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg2=''",
    )?;
    if !bus.request_name(NAME, NameFlags::DO_NOT_QUEUE)?.is_owner() {
        return Err(format!("{NAME} is already owned; another instance may be running").into());
    }

    // Process one message after the other: the library answers calls and queues signals.
    while bus.process(None).is_ok() {
        loop {
            match departures.poll() {
                Ok(Some(signal)) => {
                    let (name, _, _): (&str, &str, &str) = signal.read()?;
                    let left = room.state().leave(name);
                    if let Some(member) = left {
                        room.emit("Left", &(member,))?;
                        room.properties_changed(&["Members"]);
                    }
                }
                Ok(None) => break,
                // Signals were dropped because this program did not read them in time. Members
                // whose departure was missed stay in the list.
                Err(SubscriptionError::Lost { .. } | SubscriptionError::Reconnected) => {}
                Err(SubscriptionError::Disconnected(_)) => return Ok(()),
            }
        }
    }
    Ok(())
}

/// The members of the room, each with its unique name and its chat name.
#[derive(Debug, Default)]
struct ChatRoom {
    members: Vec<(String, String)>,
    message_count: u64,
}

impl ChatRoom {
    fn names(&self) -> Vec<String> {
        self.members.iter().map(|(_, name)| name.clone()).collect()
    }

    fn join(&mut self, connection: &str, name: &str) -> Result<Vec<String>, MethodError> {
        if self.members.iter().any(|(_, taken)| taken == name) {
            return Err(MethodError::failed(format!("the name {name} is already taken")));
        }
        self.members.retain(|(member, _)| member != connection);
        self.members.push((connection.to_owned(), name.to_owned()));
        Ok(self.names())
    }

    fn leave(&mut self, connection: &str) -> Option<String> {
        let place = self.members.iter().position(|(member, _)| member == connection)?;
        Some(self.members.remove(place).1)
    }

    fn name_of(&self, connection: &str) -> Result<&str, MethodError> {
        let found = self.members.iter().find(|(member, _)| member == connection);
        let found = found.map(|(_, name)| name.as_str());
        found.ok_or_else(|| MethodError::failed("call Join before Say"))
    }
}

fn interface() -> Result<ServedInterface<ChatRoom>, InterfaceError> {
    ServedInterface::<ChatRoom>::builder("com.example.Chat1")
        .annotate(DOC, "A chat room: all members receive the messages of each member.")
        .method("Join", &["name"], &["members"], |room, request, (name,): (String,)| {
            let members = room.join(sender(request), &name)?;
            request.emit("Joined", &(name,))?;
            request.properties_changed(&["Members"]);
            Ok((members,))
        })
        .annotate(DOC, "Enters the room under a name; returns the names of all members.")
        .method("Leave", &[], &[], |room, request, ()| {
            if let Some(name) = room.leave(sender(request)) {
                request.emit("Left", &(name,))?;
                request.properties_changed(&["Members"]);
            }
            Ok(())
        })
        .annotate(DOC, "Leaves the room. Members also leave when they disconnect.")
        .method("Say", &["text"], &["heard_by"], |room, request, (text,): (String,)| {
            request.emit("Said", &(room.name_of(sender(request))?, text))?;
            room.message_count += 1;
            Ok((room.members.len() as u32 - 1,))
        })
        .annotate(DOC, "Sends a message to all members; returns the number of other members.")
        .property("Members", ChatRoom::names)
        .annotate(DOC, "The names of the members.")
        .property("MessagesSaid", |room| room.message_count)
        // It changes with every message, and clients that count messages can subscribe to Said.
        .emits_change(EmitsChange::No)
        .annotate(DOC, "The number of messages so far.")
        .signal::<(String,)>("Joined", &["name"])
        .annotate(DOC, "A member entered the room.")
        .signal::<(String,)>("Left", &["name"])
        .annotate(DOC, "A member left the room.")
        .signal::<(String, String)>("Said", &["name", "text"])
        .annotate(DOC, "A member sent a message.")
        .build()
}

/// The unique name of the caller, which the bus sets in each message.
fn sender(request: &IncomingCall) -> &str {
    request.message().sender().unwrap_or_default()
}

const NAME: &str = "com.example.Chat";

/// The annotation that tools show as documentation.
const DOC: &str = "org.gtk.GDBus.DocString";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_join_and_leave_are_tracked() {
        let mut room = ChatRoom::default();
        assert_eq!(room.join(":1.1", "anna").unwrap(), ["anna"]);
        assert_eq!(room.join(":1.2", "ben").unwrap(), ["anna", "ben"]);
        assert!(room.join(":1.3", "ben").is_err());
        assert_eq!(room.join(":1.1", "ann").unwrap(), ["ben", "ann"]);
        assert_eq!(room.name_of(":1.1").unwrap(), "ann");
        assert_eq!(room.leave(":1.1").as_deref(), Some("ann"));
        assert_eq!(room.leave(":1.1"), None);
        assert!(room.name_of(":1.1").is_err());
    }

    #[test]
    fn the_interface_definition_is_valid() {
        interface().unwrap();
    }
}
