//! The calls of the filter itself, with which it learns the owners of the names in its rules.
//!
//! After Hello, the filter adds match rules for NameOwnerChanged, and then asks for the owners. The
//! client is not read until the replies have arrived. So the filter can use any serials that are
//! free at that time, and all serials are free for the client later.

use std::collections::BTreeMap;
use std::mem;
use std::num::NonZeroU32;

use sandbox::SandboxRules;
use wire::body::EncodeArgs;
use wire::message::{Builder, Flags};
use wire::names::MemberName;

use super::log::FilterLog;
use super::made_up::bus_name;
use super::pending::{ClientCalls, ExpectedReply};
use super::well_known::{BUS_INTERFACE, BUS_NAME, BUS_PATH};

/// The state of the calls of one filter.
#[derive(Debug, Default)]
pub(super) struct OwnCalls {
    bytes: Vec<u8>,
    last_serial: Option<NonZeroU32>,
    pending: usize,
}

impl OwnCalls {
    /// Returns true while replies are missing.
    pub(super) const fn are_pending(&self) -> bool {
        self.pending > 0
    }

    /// Takes the bytes of new calls.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        mem::take(&mut self.bytes)
    }

    /// Starts the calls after the call of Hello with this serial, once.
    pub(super) fn start(
        &mut self,
        hello: NonZeroU32,
        rules: &SandboxRules,
        calls: &mut ClientCalls,
        log: &mut FilterLog,
    ) {
        if self.last_serial.is_some() {
            return;
        }
        self.last_serial = Some(hello);
        let mut has_subtrees = false;
        for (name, is_subtree) in watched_names(rules) {
            let (key, wildcarded) =
                if is_subtree { ("arg0namespace", "wildcarded ") } else { ("arg0", "") };
            let rule = format!(
                "type='signal',sender='{BUS_NAME}',interface='{BUS_NAME}',\
                 member='NameOwnerChanged',{key}='{name}'"
            );
            let serial = self.call("AddMatch", Flags::NO_REPLY_EXPECTED, &(&*rule,), calls);
            log.line(format_args!("C{serial}: -> {BUS_NAME} fake {wildcarded}AddMatch for {name}"));
            if is_subtree {
                has_subtrees = true;
            } else {
                self.ask_owner(name, calls, log);
            }
        }
        if has_subtrees {
            let serial = self.call("ListNames", Flags::NONE, &(), calls);
            self.expect(serial, ExpectedReply::OwnNameList, calls);
            log.line(format_args!("C{serial}: -> {BUS_NAME} fake ListNames"));
        }
    }

    /// Asks for the owner of a name.
    pub(super) fn ask_owner(&mut self, name: &str, calls: &mut ClientCalls, log: &mut FilterLog) {
        let serial = self.call("GetNameOwner", Flags::NONE, &(name,), calls);
        self.expect(serial, ExpectedReply::OwnNameOwner(name.into()), calls);
        log.line(format_args!("C{serial}: -> {BUS_NAME} fake GetNameOwner for {name}"));
    }

    /// Records that a reply has arrived.
    pub(super) const fn replied(&mut self) {
        self.pending -= 1;
    }

    /// Forgets that the calls were made, because the bus has refused Hello.
    pub(super) const fn hello_failed(&mut self) {
        self.last_serial = None;
    }

    fn call(
        &mut self,
        member: &'static str,
        flags: Flags,
        args: &impl EncodeArgs,
        calls: &ClientCalls,
    ) -> NonZeroU32 {
        let serial = calls.free_serial(self.last_serial.unwrap_or(NonZeroU32::MIN));
        self.last_serial = Some(serial);
        Builder::method_call(BUS_PATH, MemberName::literal(member))
            .interface(BUS_INTERFACE)
            .destination(bus_name())
            .flags(flags)
            .write(&mut self.bytes, serial, args)
            .expect("names and rules are short");
        serial
    }

    fn expect(&mut self, serial: NonZeroU32, reply: ExpectedReply, calls: &mut ClientCalls) {
        self.pending += 1;
        calls.expect(serial, reply);
    }
}

/// Returns the names in the rules, once each, with true if one of their rules is about a subtree.
fn watched_names(rules: &SandboxRules) -> BTreeMap<&str, bool> {
    let mut watched = BTreeMap::new();
    for rule in rules.iter().map(|rule| rule.names()).filter(|names| names.base() != BUS_NAME) {
        *watched.entry(rule.base()).or_default() |= rule.is_subtree();
    }
    watched
}
