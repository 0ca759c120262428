//! What programs know of the messages of others.

use std::collections::BTreeMap;

/// The arguments of a message: its number, the number of its sender, the programs that must get it,
/// for each sender and recipient the number of messages that were sent, as far as the sender knows,
/// how often the name has got an owner, and bytes that make the message long.
pub(super) type MessageArguments = (u64, u32, Vec<u32>, Vec<(u32, u32, u64)>, u64, Vec<u8>);

/// How many messages were sent and received, as far as a program knows.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneKnowledge {
    /// The number of messages by sender and recipient.
    sent: BTreeMap<(u32, u32), u64>,
    /// The messages of each sender that this program has received.
    received: BTreeMap<u32, u64>,
    /// How often the well-known name has got an owner.
    pub(super) name_owners: u64,
}

impl LaneKnowledge {
    /// Takes note of a message of this sender that all these recipients must get.
    pub(super) fn note_sent(&mut self, sender: u32, recipients: &[u32]) {
        for recipient in recipients {
            *self.sent.entry((sender, *recipient)).or_default() += 1;
        }
    }

    /// What is known, for a message.
    pub(super) fn of_message(&self) -> Vec<(u32, u32, u64)> {
        self.sent.iter().map(|((sender, recipient), count)| (*sender, *recipient, *count)).collect()
    }

    /// The number of messages to this recipient that the sender has sent.
    pub(super) fn sent(&self, sender: u32, recipient: u32) -> u64 {
        self.sent.get(&(sender, recipient)).copied().unwrap_or_default()
    }

    /// The number of messages of this sender that were received.
    pub(super) fn received(&self, sender: u32) -> u64 {
        self.received.get(&sender).copied().unwrap_or_default()
    }

    /// Adds what the sender of a message knew. Fails if it knew of a message to this program that
    /// has not arrived.
    pub(super) fn receive(&mut self, own: u32, message: &MessageArguments) -> Result<(), String> {
        let (number, from, recipients, known, name_owners, _) = message;
        let is_counted = recipients.contains(&own);
        for (sender, _, sent) in known.iter().filter(|(_, recipient, _)| *recipient == own) {
            let received = self.received(*sender);
            let is_itself = is_counted && sender == from;
            let is_wrong = match is_itself {
                true => received + 1 != *sent,
                false => received < *sent,
            };
            if is_wrong {
                return Err(format!(
                    "program {own} has got message {number} of {from}, which knew of {sent} messages \
                     of {sender}, after only {received}"
                ));
            }
        }
        if is_counted {
            *self.received.entry(*from).or_default() += 1;
        }
        for (sender, recipient, sent) in known {
            let count = self.sent.entry((*sender, *recipient)).or_default();
            *count = (*count).max(*sent);
        }
        self.name_owners = self.name_owners.max(*name_owners);
        Ok(())
    }
}
