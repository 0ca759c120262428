//! Cuts messages from the received bytes, and files each for the part of the program that takes it.

use std::num::NonZeroU32;

use wire::message::{InvalidMessage, Message, MessageType};
use wire::names::{BusName, ErrorName};

use super::calls::{CallHandle, ReplyTarget};
use super::incoming::{Incoming, ParsedHeader, PooledBytes};
use super::known_headers::{MessageOrigin, RecognizedMessage};
use super::{Core, Ended, MessageDisposition, RECEIVER_TAKEN};

/// A message that was cut from the received bytes.
#[derive(Clone, Copy)]
pub(super) enum ReadMessage<'m> {
    Parsed(&'m Message<'m>),
    Recognized(&'m RecognizedMessage, &'m [u8]),
}

/// The role of a message for this connection.
pub(super) enum SortedMessage {
    Reply { to: NonZeroU32 },
    Signal,
    Request,
    LaneOpened,
    Other,
}

impl<D> Core<D> {
    /// Cuts the next message from the received bytes; `look` sees it while its header is parsed.
    pub(super) fn read_message<T>(
        &mut self,
        look: impl FnOnce(&mut Self, ReadMessage<'_>) -> T + Copy,
    ) -> Option<(T, Incoming<D>)> {
        match self.try_read_message(look) {
            Ok(read) => read,
            Err(invalid) => {
                self.handle_ended(Ended::Invalid(invalid));
                None
            }
        }
    }

    fn try_read_message<T>(
        &mut self,
        look: impl FnOnce(&mut Self, ReadMessage<'_>) -> T + Copy,
    ) -> Result<Option<(T, Incoming<D>)>, InvalidMessage> {
        let has_received = self.receiver.as_ref().is_some_and(|receiver| !receiver.is_empty());
        if !has_received && !self.has_ending_lanes() {
            return Ok(None);
        }
        if let Some(Ended::Invalid(_)) = self.ended {
            return Ok(None);
        }
        if self.has_lanes()
            && let Some(read) = self.read_lane_message(look)
        {
            return Ok(Some(read));
        }
        let Some(receiver) = &mut self.receiver else { return Ok(None) };
        let Some(bytes) = receiver.next()? else { return Ok(None) };
        let Some(recognized) = self.known_headers.recognize(MessageOrigin::Bus, bytes.as_slice())
        else {
            return self.parse(bytes, look).map(Some);
        };
        self.lanes.count_received();
        let seen = look(self, ReadMessage::Recognized(&recognized, bytes.as_slice()));
        let incoming = Incoming::new(bytes, recognized.header, Vec::new(), self.epoch);
        Ok(Some((seen, incoming)))
    }

    /// Parses a message of the bus whose header is not known.
    #[inline(never)]
    fn parse<T>(
        &mut self,
        bytes: PooledBytes,
        look: impl FnOnce(&mut Self, ReadMessage<'_>) -> T,
    ) -> Result<(T, Incoming<D>), InvalidMessage> {
        let message = Message::parse(bytes.as_slice())?;
        let receiver = self.receiver.as_mut().expect(RECEIVER_TAKEN);
        let descriptors = receiver.take_descriptors(&message)?;
        self.lanes.count_received();
        let header = ParsedHeader::of(&message);
        let header = self.known_headers.remember(MessageOrigin::Bus, &message, header);
        let seen = look(self, ReadMessage::Parsed(&message));
        Ok((seen, Incoming::new(bytes, header, descriptors, self.epoch)))
    }

    /// Takes the next valid message of a lane.
    #[inline(never)]
    fn read_lane_message<T>(
        &mut self,
        look: impl FnOnce(&mut Self, ReadMessage<'_>) -> T,
    ) -> Option<(T, Incoming<D>)> {
        while let Some((key, bytes)) = self.next_packet() {
            let recognized = self.known_headers.recognize(MessageOrigin::Lane, bytes.as_slice());
            if let Some(recognized) = recognized {
                if !self.accept_recognized(key, &recognized, bytes.as_slice()) {
                    continue;
                }
                let seen = look(self, ReadMessage::Recognized(&recognized, bytes.as_slice()));
                let incoming = Incoming::new(bytes, recognized.header, Vec::new(), self.epoch);
                return Some((seen, incoming));
            }
            let message = match Message::parse(bytes.as_slice()) {
                Ok(message) if self.accept(key, &message) => message,
                Ok(_) => continue,
                Err(_) => {
                    self.fail_lane(key);
                    continue;
                }
            };
            let header = ParsedHeader::of(&message);
            let header = self.known_headers.remember(MessageOrigin::Lane, &message, header);
            let seen = look(self, ReadMessage::Parsed(&message));
            return Some((seen, Incoming::new(bytes, header, Vec::new(), self.epoch)));
        }
        None
    }

    pub(super) fn sort(&mut self, message: ReadMessage<'_>) -> SortedMessage {
        match message {
            ReadMessage::Parsed(message) => self.sort_parsed(message),
            ReadMessage::Recognized(message, bytes) => match message.answered_call {
                Some(to) => SortedMessage::Reply { to },
                None => {
                    // The caller on a lane has one already.
                    if message.origin == MessageOrigin::Bus {
                        self.note_request(message.header.sender(bytes));
                    }
                    SortedMessage::Request
                }
            },
        }
    }

    fn sort_parsed(&mut self, message: &Message<'_>) -> SortedMessage {
        match (message.message_type(), message.reply_serial()) {
            (MessageType::MethodReturn | MessageType::Error, Some(to)) => {
                match self.may_answer(message, to) {
                    true => SortedMessage::Reply { to },
                    false => {
                        self.foreign_replies += 1;
                        SortedMessage::Other
                    }
                }
            }
            (MessageType::Signal, _) if self.lanes.is_opening(message) => SortedMessage::LaneOpened,
            (MessageType::Signal, _) => {
                self.owners.observe(message);
                self.restoration.observe(message);
                self.subscriptions.select(message, &self.owners, &mut self.selected);
                SortedMessage::Signal
            }
            (MessageType::MethodCall, _) => {
                self.note_request(message.sender().map(BusName::as_str));
                SortedMessage::Request
            }
            _ => SortedMessage::Other,
        }
    }

    pub(super) fn file(
        &mut self,
        sorted: SortedMessage,
        message: Incoming<D>,
    ) -> MessageDisposition {
        match sorted {
            SortedMessage::Reply { to } => self.file_reply(to, message),
            SortedMessage::Signal => self.file_signal(message),
            SortedMessage::Request => self.file_request(message),
            SortedMessage::LaneOpened => self.file_opened(message),
            SortedMessage::Other => MessageDisposition::Ignored,
        }
    }

    fn file_reply(&mut self, to: NonZeroU32, reply: Incoming<D>) -> MessageDisposition {
        match self.calls.target(to) {
            // The calls of the core are for the bus, and nobody else may answer them.
            Some(target) if *target != ReplyTarget::User && !is_of_bus(&reply) => {
                self.foreign_replies += 1;
                MessageDisposition::Ignored
            }
            None => {
                self.calls.note_unexpected_reply(to);
                MessageDisposition::Ignored
            }
            Some(ReplyTarget::User) => {
                self.calls.finish(to, Ok(reply));
                MessageDisposition::Reply(CallHandle(to))
            }
            Some(ReplyTarget::Owners(name)) => {
                // An error means that the name has no owner.
                let owner = reply.read::<(&str,)>().ok();
                let owner = owner.filter(|_| reply.message_type() == MessageType::MethodReturn);
                self.owners.set(name, owner.map(|(owner,)| owner));
                self.calls.remove(to);
                MessageDisposition::Ignored
            }
            Some(ReplyTarget::Lane(name)) => {
                self.lanes.handle_request(name, &reply);
                self.calls.remove(to);
                MessageDisposition::Ignored
            }
            Some(ReplyTarget::Restored(item)) => {
                let item = item.clone();
                self.calls.remove(to);
                self.file_restored(item, &reply)
            }
        }
    }

    fn file_signal(&mut self, signal: Incoming<D>) -> MessageDisposition {
        let Some((last, others)) = self.selected.split_last() else {
            return MessageDisposition::Ignored;
        };
        for id in others {
            self.subscriptions.push(*id, signal.duplicate());
        }
        self.subscriptions.push(*last, signal);
        MessageDisposition::Signal { subscriptions: self.selected.len() }
    }

    fn file_request(&mut self, request: Incoming<D>) -> MessageDisposition {
        if self.requests.len() < self.config.requests_max {
            self.requests.push_back(request);
            return MessageDisposition::Request;
        }
        self.refused_calls += 1;
        if request.expects_reply() {
            let refusal = request.error_reply(LIMITS_EXCEEDED);
            // If it cannot be sent, the connection ended, and the caller gets no answer anyway.
            let _ = self.send(&refusal, &("too many calls wait to be served",), Vec::new());
        }
        MessageDisposition::Ignored
    }
}

/// True if the bus itself has sent a message.
fn is_of_bus<D>(message: &Incoming<D>) -> bool {
    message.message().sender().is_some_and(|sender| lane::is_bus(sender.as_str()))
}

const LIMITS_EXCEEDED: ErrorName<'static> =
    ErrorName::literal("org.freedesktop.DBus.Error.LimitsExceeded");
