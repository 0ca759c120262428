//! All rules of a sandbox.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{AccessLevel, NameAccess, SandboxRule, SandboxRuleError};

/// The rules of a sandbox. Rules only grant rights, so their order does not matter.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SandboxRules(Vec<SandboxRule>);

impl SandboxRules {
    /// Parses the texts of rules; see [`SandboxRule::parse`].
    ///
    /// # Errors
    ///
    /// If a text is not a rule.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, SandboxRuleError> {
        texts.into_iter().map(SandboxRule::parse).collect()
    }

    /// Adds a rule to the others.
    pub fn push(&mut self, rule: SandboxRule) {
        self.0.push(rule);
    }

    /// The rules, in the order in which they were added.
    pub fn iter(&self) -> core::slice::Iter<'_, SandboxRule> {
        self.0.iter()
    }

    /// Returns the rights towards a connection that owns `names`, or towards a name if it is the
    /// only one.
    ///
    /// Names are well-known names. The rules are about no others, so a unique name, or a text that
    /// is not a name, adds no rights.
    pub fn access<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> NameAccess {
        let mut access = NameAccess::default();
        for name in names {
            for rule in self.rules_for(name) {
                access.merge(match rule {
                    SandboxRule::Level { level, .. } => NameAccess::of_level(*level),
                    SandboxRule::Call { messages, .. } => NameAccess::of_calls(messages.clone()),
                    SandboxRule::Broadcast { .. } => NameAccess::of_broadcasts(),
                });
            }
        }
        access
    }

    /// Returns the level of access to a name; `None` if the name is hidden.
    pub fn level_of(&self, name: &str) -> Option<AccessLevel> {
        self.rules_for(name).map(SandboxRule::level).max()
    }

    fn rules_for(&self, name: &str) -> impl Iterator<Item = &SandboxRule> {
        self.0.iter().filter(move |rule| rule.names().selects(name))
    }
}

impl FromIterator<SandboxRule> for SandboxRules {
    fn from_iter<I: IntoIterator<Item = SandboxRule>>(rules: I) -> Self {
        Self(rules.into_iter().collect())
    }
}

impl Extend<SandboxRule> for SandboxRules {
    fn extend<I: IntoIterator<Item = SandboxRule>>(&mut self, rules: I) {
        self.0.extend(rules);
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use wire::Message;
    use wire::message::Builder;
    use wire::names::{MemberName, ObjectPath};

    use super::*;
    use crate::MessagePattern;
    use crate::access::SendPermission;

    const SEE: Option<AccessLevel> = Some(AccessLevel::See);
    const TALK: Option<AccessLevel> = Some(AccessLevel::Talk);
    const OWN: Option<AccessLevel> = Some(AccessLevel::Own);

    #[test]
    fn the_level_of_a_name_is_the_greatest_of_its_rules() {
        let rules = rules("see=a.b.* talk=a.b.c own=a.b.c.d call=x.y=Nothing broadcast=org.*=*");
        for (name, level) in [
            ("a.b", SEE),
            ("a.b.c", TALK),
            ("a.b.c.d", OWN),
            ("a.b.c.e", SEE),
            ("a.bc", None),
            ("x.y", TALK),
            ("x.y.z", None),
            ("org.anything", TALK),
            (":1.5", None),
            ("", None),
        ] {
            assert_eq!(rules.level_of(name), level, "{name}");
            assert_eq!(rules.access([name]).level(), level, "{name}");
        }
    }

    /// What may be sent: nothing, a message to `/p`, a message to `/q`, or everything.
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum SentPart {
        Nothing,
        P,
        PAndQ,
        Everything,
    }

    #[test]
    fn access_to_a_connection_is_the_sum_of_its_names() {
        use SentPart::*;
        for (texts, names, level, sent) in [
            ("", "a.b", None, Nothing),
            ("talk=a.b", "", None, Nothing),
            ("see=a.b", "a.b", SEE, Nothing),
            ("talk=a.b", "a.b", TALK, Everything),
            ("own=a.b", "a.b", OWN, Everything),
            ("call=a.b=@/p", "a.b", TALK, P),
            ("see=a.b call=a.b=@/p", "a.b", TALK, P),
            ("talk=a.b call=a.b=@/p", "a.b", TALK, Everything),
            ("call=a.b=@/p talk=a.b", "a.b", TALK, Everything),
            ("call=a.b=@/p own=a.b", "a.b", OWN, Everything),
            ("call=a.b=@/p call=a.*=@/q call=a.b=@/p", "a.b", TALK, PAndQ),
            ("call=a.b=@/p call=c.d=@/q", "a.b c.d", TALK, PAndQ),
            ("call=a.b=@/p see=c.d", "a.b c.d", TALK, P),
            ("call=a.b=@/p talk=c.d", "a.b c.d", TALK, Everything),
            ("call=a.b=@/p own=c.d", "c.d a.b", OWN, Everything),
            ("call=a.b=*", "a.b", TALK, Everything),
            ("call=a.b=Word", "a.b", TALK, Nothing),
            ("broadcast=a.b=@/p", "a.b", TALK, Nothing),
            ("broadcast=a.b=* call=a.b=@/p", "a.b", TALK, P),
        ] {
            let rules = rules(texts);
            let access = rules.access(names.split_whitespace());
            assert_eq!(access.level(), level, "{texts:?} {names:?}");
            assert_eq!(access.is_visible(), level.is_some(), "{texts:?} {names:?}");
            let found = match ["/p", "/q", "/r"].map(|path| sends(&access, path)) {
                [false, false, false] => Nothing,
                [true, false, false] => P,
                [true, true, false] => PAndQ,
                [true, true, true] => Everything,
                other => panic!("{other:?}"),
            };
            assert_eq!(found, sent, "{texts:?} {names:?}");
            // With this level all broadcast signals pass, whatever the rules for them say.
            assert_eq!(access.may_receive_broadcasts(), level >= TALK, "{texts:?} {names:?}");
        }
    }

    #[test]
    fn the_same_pattern_is_kept_once() {
        let access = rules("call=a.b=@/p call=a.b=*@/p").access(["a.b"]);
        let expected = SendPermission::Matching([MessagePattern::parse("@/p")].into());
        assert_eq!(access.send, expected);
    }

    #[test]
    fn rules_are_saved_and_restored() {
        let before = rules("see=a.b.* call=a.b=c.d.*@/p/* broadcast=a.b=*");
        let saved = rmp_serde::to_vec(&before).unwrap();
        assert_eq!(rmp_serde::from_slice::<SandboxRules>(&saved).unwrap(), before);
        let texts: Vec<&str> = rmp_serde::from_slice(&saved).unwrap();
        assert_eq!(texts, ["see=a.b.*", "call=a.b=c.d.*@/p/*", "broadcast=a.b=*"]);
        assert_eq!(before.iter().count(), 3);
    }

    fn rules(texts: &str) -> SandboxRules {
        SandboxRules::parse(texts.split_whitespace()).unwrap()
    }

    fn sends(access: &NameAccess, path: &str) -> bool {
        let path = ObjectPath::new(path).unwrap();
        let mut bytes = Vec::new();
        Builder::method_call(path, MemberName::literal("Get"))
            .write(&mut bytes, NonZeroU32::MIN, &())
            .unwrap();
        access.may_send(&Message::parse(&bytes).unwrap())
    }
}
