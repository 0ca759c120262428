//! Labels: a header field with the container of the sender, in messages to connections that have
//! called RequestHeader.

use alloc::string::String;

use wire::limits::MESSAGE_LEN_MAX;
use wire::message::{FieldCode, FixedHeader, HeaderScan, ScannedField};
use wire::names::{BusName, ObjectPath};

use super::router::Router;
use crate::types::{Effects, Span};

impl Router {
    /// Adds a label to the messages for connections that asked for it. Other recipients of the same
    /// messages get them without.
    #[cold]
    pub(crate) fn label_deliveries(&mut self, fx: &mut Effects) {
        fx.map_heads(|fx, to, head| {
            if !self.containers.labels_messages_to(to) || fx.is_labeled(head) {
                return head;
            }
            let labeled = fx.label_of(head).or_else(|| self.label(head, fx));
            let (Some(labeled), Some(peer)) = (labeled, self.registry.get_mut(to)) else {
                return head;
            };
            peer.queue.grow((labeled.len() - head.len()) as u64);
            labeled
        });
    }

    /// Makes a copy of a head with a label. Returns `None` if the message would be too long.
    fn label(&self, head: Span, fx: &mut Effects) -> Option<Span> {
        let bytes = fx.bytes(head);
        let path = self.container_path_of_sender(bytes).unwrap_or_else(|| NOT_CONTAINED.into());
        let fixed = FixedHeader::parse(bytes.first_chunk()?).ok()?;
        if fixed.message_len() + LABEL_LEN_MAX > MESSAGE_LEN_MAX {
            return None;
        }
        Some(fx.label(head, ObjectPath::new(&path).expect("a valid path")))
    }

    /// The object path of the container of the sender; `None` if it is not in a container.
    fn container_path_of_sender(&self, head: &[u8]) -> Option<String> {
        let fixed = FixedHeader::parse(head.first_chunk()?).ok()?;
        let mut sender = None;
        let take = |field| {
            if let ScannedField::Text(FieldCode::Sender, text) = field {
                sender = core::str::from_utf8(text).ok();
            }
            Ok(())
        };
        HeaderScan::new(head, &fixed).each(take).ok()?;
        let sender = self.registry.resolve(BusName::new(sender?).ok()?)?;
        Some(self.registry[sender].container.as_deref()?.id.path())
    }
}

/// The label of messages from connections that are in no container.
const NOT_CONTAINED: &str = "/";

/// More than the longest label adds to a message, in bytes.
const LABEL_LEN_MAX: usize = 128;
