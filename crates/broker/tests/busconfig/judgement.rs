//! Which policies the bus can enforce, and what they come to.

use bus::{Policy, ServiceHelper, Verdict};
use diligence_broker::busconfig::{
    Admission, ConfigErrorKind, Environment, NotEnforced, Right, SecurityModule,
};

use crate::{Files, environment};

const SEND: &str = "<allow send_destination='*'/>";
const RECEIVE: &str = "<allow receive_sender='*'/>";
const OWN: &str = "<allow own='*'/>";

/// What `<policy context='default'>` with these lines, from line 3 on, comes to.
fn judge(lines: &str) -> String {
    judge_elements(&format!("<policy context='default'>\n{lines}</policy>"))
}

fn judge_elements(elements: &str) -> String {
    let files = Files::with_main(elements);
    let config = match files.load(&environment()) {
        Err(error) => {
            let ConfigErrorKind::NotEnforced(what) = &error.kind else { panic!("{error}") };
            return match (error.position, what) {
                (Some(position), NotEnforced::Rule { verdict, right }) => {
                    format!("line {}: {verdict:?} {right:?}", position.line)
                }
                (None, NotEnforced::NoRule(right)) => format!("nobody may {right:?}"),
                _ => panic!("{error}"),
            };
        }
        Ok(config) => config,
    };
    let Policy { unrequested_replies, eavesdropping } = config.configuration.policy;
    let mut shown = format!("{:?}", config.admission);
    let switches = [(unrequested_replies, " +unrequested"), (eavesdropping, " +eavesdropping")];
    for (verdict, text) in switches {
        shown.push_str(if verdict == Verdict::Allow { text } else { "" });
    }
    shown
}

#[test]
fn policies_that_let_everything_pass_are_known() {
    let cases = [
        // As in the usual session.conf.
        (
            "<allow send_destination='*' eavesdrop='true'/>\n<allow eavesdrop='true'/>\n<allow own='*'/>",
            "OwnUser +unrequested +eavesdropping",
        ),
        // As in the configurations of the reference's tests.
        (
            "<allow send_interface='*'/>\n<allow receive_interface='*'/>\n<allow own='*'/>\n<allow user='*'/>",
            "Everybody",
        ),
        ("<allow own='*'/><allow send_type='*'/><allow eavesdrop='false'/>", "OwnUser"),
        // Both sides must let an unrequested reply pass.
        (
            "<allow own='*'/><allow send_requested_reply='false'/><allow receive_sender='*'/>",
            "OwnUser",
        ),
        (
            "<allow own='*'/><allow send_path='*'/><allow receive_requested_reply='false'/>",
            "OwnUser",
        ),
        (
            "<allow own='*'/><allow send_requested_reply='false'/><allow receive_requested_reply='false'/>",
            "OwnUser +unrequested",
        ),
        (
            "<allow own='*'/><allow send_path='*'/><allow eavesdrop='true'/>",
            "OwnUser +eavesdropping",
        ),
        // By their parts.
        (
            "<allow own='*'/><allow receive_sender='*'/><allow send_broadcast='true'/><allow send_broadcast='false'/>",
            "OwnUser",
        ),
        // The last word counts.
        (
            "<deny own='*'/><deny send_type='method_call'/><deny receive_sender='a.b'/><deny user='*'/><allow user='*'/><allow own='*'/><allow send_path='*'/><allow receive_path='*'/>",
            "Everybody",
        ),
        (
            "<allow own='a.b'/><deny own='a.c'/><allow own_prefix='b'/><allow own='*'/><allow send_path='*'/><allow receive_path='*'/>",
            "OwnUser",
        ),
        (
            "<allow own='*'/><allow send_path='*'/><allow eavesdrop='true'/><deny eavesdrop='true' receive_requested_reply='true'/>",
            "OwnUser",
        ),
        (
            "<allow user='*'/><deny user='*'/><allow own='*'/><allow send_path='*'/><allow receive_path='*'/><allow user='root'/><allow group='*'/>",
            "Everybody",
        ),
        // More of the same changes nothing.
        (
            "<allow own='*'/><allow own='a.b'/><allow send_path='*'/><allow send_interface='a.b' max_fds='0'/><allow receive_path='*'/>",
            "OwnUser",
        ),
        // Rules that match nothing.
        (
            "<allow own='*'/><allow send_path='*'/><deny send_path='*' min_fds='2' max_fds='1'/><allow receive_path='*'/>",
            "OwnUser",
        ),
        (
            "<allow own='*'/><allow send_path='*'/><deny send_type='signal' send_broadcast='false'/><allow send_type='signal'/><allow receive_path='*'/>",
            "OwnUser",
        ),
        (
            "<allow own='*'/><allow send_path='*'/><allow receive_path='*'/><deny user='nosuch'/>",
            "OwnUser",
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(judge(lines), expected, "{lines}");
    }
}

#[test]
fn the_first_rule_that_cannot_be_enforced_is_named() {
    let rest = format!("{SEND}{RECEIVE}{OWN}");
    let cases = [
        // Connecting.
        ("<allow user='root'/>", "line 4: Allow Connect"),
        ("<allow group='staff'/>", "line 4: Allow Connect"),
        ("<deny user='root'/>", "line 4: Deny Connect"),
        ("<deny user='*'/>", "line 4: Deny Connect"),
        ("<allow user='*'/>\n<deny group='bin'/>", "line 5: Deny Connect"),
        // Owning.
        ("<deny own='*'/>", "line 4: Deny Own"),
        ("<deny own='a.b'/>", "line 4: Deny Own"),
        ("<deny own_prefix='a.b'/>", "line 4: Deny Own"),
        ("<deny own='*'/>\n<allow own='a.b'/>", "line 4: Deny Own"),
        ("<allow own='a.b'/>\n<deny own_prefix='*'/>", "line 5: Deny Own"),
        // Sending.
        ("<deny send_type='method_call'/>", "line 4: Deny Send"),
        (
            "<deny send_type='signal'/>\n<allow send_type='signal' send_broadcast='true'/>",
            "line 4: Deny Send",
        ),
        ("<deny send_path='*' min_fds='1'/>", "line 4: Deny Send"),
        ("<deny send_interface='a.b'/>", "line 4: Deny Send"),
        ("<deny send_destination='a.b' eavesdrop='true'/>", "line 4: Deny Send"),
        ("<deny send_error='a.E'/>", "line 4: Deny Send"),
        ("<deny send_requested_reply='true' send_type='error'/>", "line 4: Deny Send"),
        (
            "<allow send_requested_reply='false' send_type='error'/>\n<allow receive_requested_reply='false'/>",
            "line 4: Allow Send",
        ),
        // Receiving.
        ("<deny receive_type='error' receive_requested_reply='true'/>", "line 4: Deny Receive"),
        ("<deny receive_sender='a.b'/>", "line 4: Deny Receive"),
        ("<allow eavesdrop='true' receive_type='signal'/>", "line 4: Allow Receive"),
        ("<allow eavesdrop='true' receive_sender='a.b'/>", "line 4: Allow Receive"),
        ("<allow eavesdrop='true'/>\n<deny eavesdrop='true'/>", "line 5: Deny Receive"),
        (
            "<allow eavesdrop='true'/>\n<deny eavesdrop='true' receive_type='signal'/>",
            "line 5: Deny Receive",
        ),
        // The first of several, by line.
        ("<deny receive_sender='a.b'/>\n<deny own='a.b'/>", "line 4: Deny Receive"),
    ];
    for (lines, expected) in cases {
        assert_eq!(judge(&format!("{rest}\n{lines}")), expected, "{lines}");
    }
}

#[test]
fn what_no_rule_allows_is_named() {
    let cases = [
        (String::new(), "nobody may Own"),
        ("<allow user='*'/>".into(), "nobody may Own"),
        (OWN.into(), "nobody may Send"),
        (format!("{OWN}{SEND}"), "nobody may Receive"),
        (format!("{OWN}{RECEIVE}<deny send_type='signal'/>"), "line 3: Deny Send"),
        (format!("{OWN}{RECEIVE}<deny send_path='/'/>"), "nobody may Send"),
        // Four types are not all that there will ever be.
        (
            format!(
                "{OWN}{RECEIVE}<allow send_type='method_call'/><allow send_type='signal'/><allow send_type='error'/>\n<allow send_type='method_return'/>"
            ),
            "line 4: Allow Send",
        ),
        (format!("{OWN}{RECEIVE}<allow send_type='signal'/>"), "line 3: Allow Send"),
    ];
    for (lines, expected) in cases {
        assert_eq!(judge(&lines), expected, "{lines}");
    }
    assert_eq!(judge_elements("<fork/>"), "nobody may Own");
}

#[test]
fn policies_for_some_are_judged_in_their_order() {
    let all = format!("{SEND}{RECEIVE}{OWN}");
    let cases = [
        (format!("<policy context='mandatory'>{all}</policy>"), "OwnUser"),
        (format!("<policy user='root'>{all}</policy>"), "line 2: Allow Send"),
        // For all, after all others, wherever it is written.
        (
            format!(
                "<policy context='mandatory'>{all}</policy>\n<policy user='root'><deny own='*'/></policy>"
            ),
            "OwnUser",
        ),
        (
            format!(
                "<policy user='root'>\n<deny own='*'/></policy><policy context='default'>{all}</policy>"
            ),
            "line 3: Deny Own",
        ),
        (
            format!(
                "<policy context='default'>{all}</policy><policy user='root'><allow own='a.b'/></policy>"
            ),
            "OwnUser",
        ),
        (
            format!(
                "<policy context='default'>{all}</policy>\n<policy at_console='false'><deny send_path='*'/></policy>"
            ),
            "line 3: Deny Send",
        ),
        (
            format!(
                "<policy context='default'>{all}</policy>\n<policy group='bin'><deny send_path='*'/></policy><policy user='root'><allow send_path='*'/></policy>"
            ),
            "line 3: Deny Send",
        ),
        (
            format!(
                "<policy context='default'>{all}</policy><policy group='nosuch'><deny own='*'/></policy>"
            ),
            "OwnUser",
        ),
        // Nobody asks a console who may connect.
        (
            format!(
                "<policy context='default'>{all}</policy><policy at_console='true'><allow user='*'/></policy>"
            ),
            "OwnUser",
        ),
    ];
    for (elements, expected) in cases {
        assert_eq!(judge_elements(&elements), expected, "{elements}");
    }
}

#[test]
fn a_refusal_says_what_and_why() {
    let files = Files::with_main("<policy context='default'>\n  <deny own='*'/>\n</policy>");
    assert_eq!(
        files.shorten(files.load(&environment()).unwrap_err()),
        "main.conf:3:3: This <deny> restricts owning names; this bus cannot enforce that yet, and \
         refuses to start rather than allow more"
    );
    let texts = [
        (
            NotEnforced::Rule { verdict: Verdict::Allow, right: Right::Send },
            "This <allow> permits sending messages only in part;",
        ),
        (NotEnforced::NoRule(Right::Connect), "No <allow> permits connecting;"),
        (NotEnforced::AppArmor, "AppArmor is to decide what is allowed on the bus;"),
        (NotEnforced::Selinux, "SELinux is to decide who may own a name;"),
    ];
    for (what, start) in texts {
        assert!(what.to_string().starts_with(start), "{what}");
    }
}

#[test]
fn security_modules_that_should_have_a_say_are_not_passed_over() {
    use SecurityModule::{Active, Inactive};
    let apparmor = |mode: &str| format!("<apparmor mode='{mode}'/>");
    let associate = "<selinux><associate own='a.b' context='c'/></selinux>".to_owned();
    let cases = [
        (apparmor("required"), Inactive, Err(NotEnforced::AppArmor)),
        (apparmor("required"), Active, Err(NotEnforced::AppArmor)),
        (apparmor("enabled"), Inactive, Ok(())),
        (apparmor("enabled"), Active, Err(NotEnforced::AppArmor)),
        ("<apparmor/>".into(), Active, Err(NotEnforced::AppArmor)),
        (apparmor("disabled"), Active, Ok(())),
        (apparmor("required") + &apparmor("disabled"), Active, Ok(())),
        (String::new(), Active, Ok(())),
        (associate.clone(), Inactive, Ok(())),
        (associate, Active, Err(NotEnforced::Selinux)),
        ("<selinux/>".into(), Active, Ok(())),
    ];
    for (elements, module, expected) in cases {
        let policy = format!("<policy context='default'>{SEND}{RECEIVE}{OWN}</policy>");
        let files = Files::with_main(&format!("{elements}{policy}"));
        let environment = Environment { selinux: module, app_armor: module, ..environment() };
        let found = files.load(&environment).map(|_| ()).map_err(|error| error.kind);
        assert_eq!(found, expected.map_err(ConfigErrorKind::NotEnforced), "{elements} {module:?}");
    }
}

#[test]
fn a_helper_is_passed_on() {
    let policy = format!("<policy context='default'>{SEND}{RECEIVE}{OWN}</policy>");
    for (elements, expected) in
        [("", ServiceHelper::Absent), ("<servicehelper>/h</servicehelper>", ServiceHelper::Present)]
    {
        let config = Files::with_main(&format!("{elements}{policy}")).load(&environment()).unwrap();
        assert_eq!(config.configuration.service_helper, expected);
        assert_eq!(config.admission, Admission::OwnUser);
    }
}
