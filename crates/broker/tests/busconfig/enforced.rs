//! The settings that the bus core gets from a configuration, and unenforceable requirements.

use broker::busconfig::{ConfigErrorKind, Environment, NotEnforced, SecurityModule};
use bus::policy::{ConnectQuery, ConnectSubject, NamePattern, PolicyRule, RuleSubject, SendMatch};
use bus::{Policy, PolicyVerdict, ServiceHelper};

use crate::{ConfigFiles, environment};

fn policy(elements: &str) -> Policy {
    let config = ConfigFiles::with_main(elements).load(&environment());
    config.unwrap_or_else(|error| panic!("{elements}: {error}")).configuration.policy
}

#[test]
fn the_bus_gets_every_policy_rule() {
    let names = |name: &str| NamePattern::One(name.into());
    let expected = Policy::new(vec![
        PolicyRule::allow(RuleSubject::Connect(ConnectSubject::AllUsers)),
        PolicyRule::deny(RuleSubject::Own(names("a.b"))),
        PolicyRule {
            log: true,
            ..PolicyRule::allow(RuleSubject::Send(SendMatch {
                destination: names("a.b"),
                message: bus::policy::MessageMatch {
                    replies: bus::policy::Replies::Requested,
                    ..Default::default()
                },
                ..SendMatch::default()
            }))
        },
        PolicyRule {
            scope: bus::policy::Scope::Group(50),
            ..PolicyRule::allow(RuleSubject::Own(NamePattern::Prefix("a".into())))
        },
    ]);
    let found = policy(
        "<policy group='staff'><allow own_prefix='a'/></policy>\
         <policy context='default'><allow user='*'/><deny own='a.b'/></policy>\
         <policy group='nosuch'><deny own='*'/></policy>\
         <policy context='default'><allow send_destination='a.b' log='true'/></policy>",
    );
    assert_eq!(found, expected);
    assert_eq!(policy("<fork/>"), Policy::new(Vec::new()));
}

#[test]
fn the_last_matching_rule_decides_about_connecting() {
    // The user of the bus, root, alice, and a member of staff.
    let cases = [
        ("", [true, false, false, false]),
        ("<allow user='*'/>", [true; 4]),
        ("<deny user='*'/>", [false; 4]),
        ("<allow user='root'/>", [true, true, false, false]),
        ("<allow user='*'/><deny user='alice'/>", [true, true, false, true]),
        ("<deny user='alice'/><allow user='*'/>", [true; 4]),
        ("<allow group='staff'/>", [true, false, false, true]),
        ("<allow group='*'/><deny group='staff'/>", [true, true, true, false]),
        ("<allow user='nosuch'/><deny group='nosuch'/>", [true, false, false, false]),
        // Rules about other subjects do not affect connecting.
        ("<allow own='*'/><allow send_path='*'/>", [true, false, false, false]),
    ];
    let newcomers = [(500, &[][..]), (0, &[0]), (1000, &[1000]), (1001, &[50, 1001])];
    for (rules, expected) in cases {
        for scope in ["default", "mandatory"] {
            let policy = policy(&format!("<policy context='{scope}'>{rules}</policy>"));
            let admitted = newcomers.map(|(uid, groups)| {
                policy.admits(&ConnectQuery { uid, groups, bus_uid: 500 }) == PolicyVerdict::Allow
            });
            assert_eq!(admitted, expected, "{scope}: {rules}");
        }
        // Console policies do not affect connecting.
        let policy = policy(&format!("<policy at_console='true'>{rules}</policy>"));
        let query = ConnectQuery { uid: 1000, groups: &[], bus_uid: 500 };
        assert_eq!(policy.admits(&query), PolicyVerdict::Deny, "{rules}");
    }
    let mandatory = policy(
        "<policy context='mandatory'><deny user='alice'/></policy>\
         <policy context='default'><allow user='*'/></policy>",
    );
    let alice = ConnectQuery { uid: 1000, groups: &[], bus_uid: 500 };
    assert_eq!(mandatory.admits(&alice), PolicyVerdict::Deny);
}

#[test]
fn only_attributes_that_a_policy_needs_are_looked_up() {
    let session = "<policy context='default'><allow send_destination='*' eavesdrop='true'/>\
                   <allow eavesdrop='true'/><allow own='*'/></policy>";
    // The needed attributes: groups, the console, and details for error texts.
    let cases = [
        (String::new(), [false; 3]),
        ("<policy group='staff'><allow own='*'/></policy>".into(), [true, false, false]),
        ("<policy context='default'><allow group='staff'/></policy>".into(), [true, false, false]),
        ("<policy at_console='true'><allow own='*'/></policy>".into(), [false, true, false]),
        ("<policy user='root'><allow eavesdrop='false'/></policy>".into(), [false, false, true]),
        ("<policy at_console='false'><deny own='a.b'/></policy>".into(), [false, true, true]),
        ("<policy user='root'><deny send_path='/x'/></policy>".into(), [false, false, true]),
        ("<policy context='default'><deny user='alice'/></policy>".into(), [false; 3]),
    ];
    for (elements, expected) in cases {
        let policy = policy(&format!("{session}{elements}"));
        let asked = [policy.asks_for_groups(), policy.asks_for_console(), policy.restricts()];
        assert_eq!(asked, expected, "{elements}");
    }
    let closed = policy("<policy context='default'><allow own='*'/></policy>");
    assert!(closed.restricts(), "what nobody allows is refused too");
}

#[test]
fn unenforceable_requirements_are_reported_with_the_reason() {
    let files = ConfigFiles::with_main("<apparmor mode='required'/>");
    assert_eq!(
        files.shorten(files.load(&environment()).unwrap_err()),
        "main.conf:2:1: AppArmor mediation required but not present"
    );
}

#[test]
fn a_required_security_module_must_be_active() {
    use SecurityModule::{Active, Inactive};
    let apparmor = |mode: &str| format!("<apparmor mode='{mode}'/>");
    let cases = [
        (apparmor("required"), Inactive, Err(NotEnforced::AppArmor)),
        (apparmor("required"), Active, Ok(())),
        (apparmor("enabled"), Inactive, Ok(())),
        (apparmor("enabled"), Active, Ok(())),
        ("<apparmor/>".into(), Active, Ok(())),
        (apparmor("disabled"), Active, Ok(())),
        (apparmor("required") + &apparmor("disabled"), Active, Ok(())),
        (String::new(), Active, Ok(())),
    ];
    for (elements, module, expected) in cases {
        let files = ConfigFiles::with_main(&elements);
        let environment = Environment { selinux: module, app_armor: module, ..environment() };
        let found = files.load(&environment).map(|_| ()).map_err(|error| error.kind);
        assert_eq!(found, expected.map_err(ConfigErrorKind::NotEnforced), "{elements} {module:?}");
    }
}

#[test]
fn the_last_selinux_context_of_a_name_counts() {
    let associate = |context| format!("<associate own='a.b' context='{context}'/>");
    let associations = format!("<selinux>{}{}</selinux>", associate("first"), associate("last"));
    let files = ConfigFiles::with_main(&associations);
    let contexts = files.load(&environment()).unwrap().configuration.security_contexts;
    assert_eq!(contexts.get("a.b").map(|context| &**context), Some("last"));
}

#[test]
fn the_launch_helper_is_part_of_the_settings() {
    for (elements, expected) in
        [("", ServiceHelper::Absent), ("<servicehelper>/h</servicehelper>", ServiceHelper::Present)]
    {
        let config = ConfigFiles::with_main(elements).load(&environment()).unwrap();
        assert_eq!(config.configuration.service_helper, expected);
    }
}
