//! Who gets a message without being its recipient.

use testkit::model::{ModelRule, ModelSubject};
use wire::Message;
use wire::body::Value;

use super::owed::Owed;
use super::{DRIVER, Oracle, OracleAccount, arguments, id_of};

/// To whom a message is addressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum To {
    All,
    Bus,
    One(u64),
}

impl Oracle {
    /// Those who are there and have a rule for a message: for what is addressed to somebody, only if
    /// they ask for that.
    fn listeners(&self, message: &Message<'_>, to: To) -> Vec<u64> {
        let args: Vec<Value> = arguments(message);
        let sender = message.sender().map(|name| name.as_str().to_owned()).unwrap_or_default();
        let subject = ModelSubject {
            kind: message.message_type().as_str(),
            senders: id_of(&sender).map_or(vec![sender], |id| self.names_of(id)),
            destinations: match to {
                To::All => Vec::new(),
                To::Bus => vec![DRIVER.to_owned()],
                To::One(id) => self.names_of(id),
            },
            interface: message.interface().map(|name| name.as_str()),
            member: message.member().map(|name| name.as_str()),
            path: message.path().map(|path| path.as_str()),
            args: &args,
        };
        let wants = |rule: &ModelRule| (to == To::All || rule.eavesdrops) && rule.selects(&subject);
        let listens = |account: &OracleAccount| !account.is_gone && account.rules.iter().any(wants);
        let all = self.accounts.iter().filter(|(_, account)| listens(account));
        all.map(|(id, _)| *id).filter(|id| To::One(*id) != to).collect()
    }

    /// Who listens gets a message, if he may; returns how many may not.
    pub(super) fn pass_to_observers(&mut self, message: &Message<'_>, to: To) -> usize {
        let before = self.owed.len();
        let sender = message.sender().and_then(|name| id_of(name.as_str()));
        for by in self.listeners(message, to) {
            let may_listen = to == To::All || Self::may_overhear(message);
            if may_listen && self.may_pass(sender, by, message) {
                if self.can_take(by, message) {
                    self.expect(by, message, true);
                }
            } else {
                let (from, serial) = (sender.unwrap_or_default(), message.serial().get());
                self.owed.push(Owed::Withheld { from, serial });
            }
        }
        self.owed.len() - before
    }

    /// Whether somebody can get a message: not with descriptors, if it has not agreed to them.
    pub(super) fn can_take(&self, id: u64, message: &Message<'_>) -> bool {
        message.unix_fds() == 0 || self.who(id).passes_descriptors
    }
}
