//! Reads `<policy>` elements: their scope and their rules.

use bus::policy::{ConnectSubject, PolicyVerdict, RuleSubject, Scope};

use super::element::{Element, FoundElement};
use super::environment::Accounts;
use super::error::{
    AccountKind, ConfigError, ConfigErrorKind, ConfigWarning, ConfigWarningKind, ElementOrigin,
};
use super::policy::DocumentRule;
use super::rule::{RuleElement, Topic};

/// Reads policies and collects warnings about them.
pub(super) struct PolicyReader<'a> {
    accounts: &'a dyn Accounts,
    pub(super) warnings: Vec<ConfigWarning>,
}

impl<'a> PolicyReader<'a> {
    pub(super) const fn new(accounts: &'a dyn Accounts) -> Self {
        Self { accounts, warnings: Vec::new() }
    }

    /// Reads a `<policy>` and its rules. Rules for a missing account are checked, but not returned.
    pub(super) fn policy(
        &mut self,
        found: FoundElement<'_>,
    ) -> Result<Vec<DocumentRule>, ConfigError> {
        let policy = found.open("policy", &SCOPES)?;
        let scope = self.scope(policy)?;
        let mut rules = Vec::new();
        for child in policy.elements()? {
            let rule = match child.name() {
                "allow" => RuleElement::open(child, PolicyVerdict::Allow)?,
                "deny" => RuleElement::open(child, PolicyVerdict::Deny)?,
                _ => return Err(child.unknown_in("policy")),
            };
            rules.extend(self.rule(rule, scope)?);
        }
        Ok(rules)
    }

    /// The scope of a policy; `None` if its account does not exist.
    fn scope(&mut self, policy: Element<'_>) -> Result<Option<Scope>, ConfigError> {
        let mut given = SCOPES.iter().filter_map(|name| Some((*name, policy.attribute(name)?)));
        let (Some((name, value)), None) = (given.next(), given.next()) else {
            return Err(policy.refuse(ConfigErrorKind::PolicyScope));
        };
        let origin = policy.origin_of(name);
        Ok(match (name, value) {
            ("context", "default") => Some(Scope::Default),
            ("context", "mandatory") => Some(Scope::Mandatory),
            ("context", _) => {
                return Err(origin.error(ConfigErrorKind::PolicyContext(value.into())));
            }
            ("at_console", "true") => Some(Scope::AtConsole),
            ("at_console", "false") => Some(Scope::NotAtConsole),
            ("at_console", _) => {
                return Err(origin.error(ConfigErrorKind::PolicyConsole(value.into())));
            }
            ("user", _) => {
                self.user(value, origin, ConfigWarningKind::PolicyForNobody).map(Scope::User)
            }
            _ => self.group(value, origin, ConfigWarningKind::PolicyForNobody).map(Scope::Group),
        })
    }

    /// Reads a rule; `None` if its account does not exist.
    fn rule(
        &mut self,
        rule: RuleElement<'_>,
        scope: Option<Scope>,
    ) -> Result<Option<DocumentRule>, ConfigError> {
        let topic = rule.topic()?;
        let subject = self.subject(rule, topic);
        if let (Some(scope), Some(RuleSubject::Connect(_))) = (scope, &subject) {
            rule.expect_not_for_account(scope)?;
        }
        let complete = scope.zip(subject);
        Ok(complete.map(|(scope, subject)| DocumentRule {
            origin: rule.origin(),
            scope,
            verdict: rule.verdict(),
            subject,
            log: rule.is_logged(),
        }))
    }

    fn subject(&mut self, rule: RuleElement<'_>, topic: Topic<'_>) -> Option<RuleSubject> {
        let verdict = rule.verdict();
        let unknown_account = |account| ConfigWarningKind::RuleForNobody { verdict, account };
        let subject = match topic {
            Topic::Own(names) => return Some(RuleSubject::Own(names)),
            Topic::Send(wanted) => return Some(RuleSubject::Send(wanted)),
            Topic::Receive(wanted) => return Some(RuleSubject::Receive(wanted)),
            Topic::User("*") | Topic::Group("*") => ConnectSubject::AllUsers,
            Topic::User(name) => {
                ConnectSubject::User(self.user(name, rule.origin(), unknown_account)?)
            }
            Topic::Group(name) => {
                ConnectSubject::Group(self.group(name, rule.origin(), unknown_account)?)
            }
        };
        Some(RuleSubject::Connect(subject))
    }

    fn user(
        &mut self,
        name: &str,
        origin: ElementOrigin,
        warning: impl FnOnce(AccountKind) -> ConfigWarningKind,
    ) -> Option<u32> {
        let found = self.accounts.user_id(name);
        if found.is_none() {
            self.warnings
                .push(ConfigWarning { origin, kind: warning(AccountKind::User(name.into())) });
        }
        found
    }

    fn group(
        &mut self,
        name: &str,
        origin: ElementOrigin,
        warning: impl FnOnce(AccountKind) -> ConfigWarningKind,
    ) -> Option<u32> {
        let found = self.accounts.group_id(name);
        if found.is_none() {
            self.warnings
                .push(ConfigWarning { origin, kind: warning(AccountKind::Group(name.into())) });
        }
        found
    }
}

/// The attributes of `<policy>` that define its scope; each policy has exactly one.
const SCOPES: [&str; 4] = ["context", "user", "group", "at_console"];
