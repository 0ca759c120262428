//! Policy rules: `<policy>`, `<allow>` and `<deny>`, with their meaning and their errors.

use broker::busconfig::DocumentRule;
use bus::policy::{
    ANY_FDS, Audience, ConnectSubject, MessageMatch, NamePattern, PolicyVerdict, ReceiveMatch,
    RecipientRole, Replies, RuleSubject, Scope, SendMatch,
};
use wire::message::MessageType;

use crate::{ConfigFiles, check_refusal, environment};

fn rules(elements: &str) -> Vec<DocumentRule> {
    let files = ConfigFiles::with_main(elements);
    files.read(&environment()).unwrap_or_else(|error| panic!("{error}")).policy.rules
}

fn rule(element: &str) -> DocumentRule {
    let mut rules = rules(&format!("<policy context='default'>{element}</policy>"));
    assert_eq!(rules.len(), 1, "{element}");
    rules.remove(0)
}

fn any_message(replies: Replies) -> MessageMatch {
    MessageMatch {
        message_type: None,
        path: None,
        interface: None,
        member: None,
        error: None,
        replies,
        fds: ANY_FDS,
    }
}

fn any_send(replies: Replies) -> SendMatch {
    let message = any_message(replies);
    SendMatch { message, destination: NamePattern::Any, audience: Audience::Any }
}

fn any_receive(replies: Replies, recipient: RecipientRole) -> ReceiveMatch {
    ReceiveMatch { message: any_message(replies), sender: None, recipient }
}

#[test]
fn policy_scopes_are_parsed() {
    let cases = [
        ("context='default'", Scope::Default),
        ("context='mandatory'", Scope::Mandatory),
        ("user='alice'", Scope::User(1000)),
        ("user='0'", Scope::User(0)),
        ("group='staff'", Scope::Group(50)),
        ("at_console='true'", Scope::AtConsole),
        ("at_console='false'", Scope::NotAtConsole),
    ];
    for (attribute, expected) in cases {
        let rules = rules(&format!("<policy {attribute}>\n<deny own='a.b' log='true'/></policy>"));
        let [DocumentRule { origin, scope, verdict: PolicyVerdict::Deny, subject, log: true }] =
            &rules[..]
        else {
            panic!("{rules:?}");
        };
        assert_eq!((*scope, origin.position.line), (expected, 3));
        assert_eq!(*subject, RuleSubject::Own(NamePattern::One("a.b".into())));
    }
}

#[test]
fn a_rule_is_about_one_thing() {
    let cases = [
        ("<allow own='*'/>", RuleSubject::Own(NamePattern::Any)),
        ("<allow own=''/>", RuleSubject::Own(NamePattern::One(String::new()))),
        ("<allow own_prefix='a.b'/>", RuleSubject::Own(NamePattern::Prefix("a.b".into()))),
        // A prefix has no wildcard: it matches only a name that cannot exist.
        ("<allow own_prefix='*'/>", RuleSubject::Own(NamePattern::Prefix("*".into()))),
        ("<allow user='*'/>", RuleSubject::Connect(ConnectSubject::AllUsers)),
        ("<allow group='*'/>", RuleSubject::Connect(ConnectSubject::AllUsers)),
        ("<allow user='alice'/>", RuleSubject::Connect(ConnectSubject::User(1000))),
        ("<allow group='staff' log='x'/>", RuleSubject::Connect(ConnectSubject::Group(50))),
        ("<allow send_type='*'/>", RuleSubject::Send(any_send(Replies::Requested))),
        (
            "<allow eavesdrop='true'/>",
            RuleSubject::Receive(any_receive(Replies::Any, RecipientRole::Any)),
        ),
    ];
    for (element, expected) in cases {
        assert_eq!(rule(element).subject, expected, "{element}");
    }
}

#[test]
fn every_attribute_of_sending_is_understood() {
    let named = rule(
        "<deny send_type='method_call' send_path='/p' send_interface='a.b' send_member='M'
               send_destination='c.d' send_broadcast='false' min_fds='1' max_fds='0x10'/>",
    );
    let message = MessageMatch {
        message_type: Some(MessageType::MethodCall),
        path: Some("/p".into()),
        interface: Some("a.b".into()),
        member: Some("M".into()),
        error: None,
        replies: Replies::Unrequested,
        fds: 1..=16,
    };
    let destination = NamePattern::One("c.d".into());
    let expected = SendMatch { message, destination, audience: Audience::Unicast };
    assert_eq!(named.subject, RuleSubject::Send(expected));

    let prefixed = rule(
        "<allow send_type='error' send_error='a.E' send_destination_prefix='c' send_path='*'/>",
    );
    let mut expected = any_send(Replies::Requested);
    expected.message.message_type = Some(MessageType::Error);
    expected.message.error = Some("a.E".into());
    expected.destination = NamePattern::Prefix("c".into());
    assert_eq!(prefixed.subject, RuleSubject::Send(expected));
}

#[test]
fn every_attribute_of_receiving_is_understood() {
    let named = rule(
        "<allow receive_type='signal' receive_path='/p' receive_interface='a.b'
                receive_member='M' receive_sender='c.d' max_fds='0'/>",
    );
    let message = MessageMatch {
        message_type: Some(MessageType::Signal),
        path: Some("/p".into()),
        interface: Some("a.b".into()),
        member: Some("M".into()),
        error: None,
        replies: Replies::Requested,
        fds: 0..=0,
    };
    let sender = Some("c.d".into());
    let expected = ReceiveMatch { message, sender, recipient: RecipientRole::Addressee };
    assert_eq!(named.subject, RuleSubject::Receive(expected));
}

/// Two attributes have different defaults for `<allow>` and `<deny>`.
#[test]
fn replies_and_eavesdropping_depend_on_the_verdict() {
    use {RecipientRole as To, Replies as Of};
    let cases = [
        ("<allow receive_type='*'/>", Of::Requested, To::Addressee),
        ("<allow receive_requested_reply='true'/>", Of::Requested, To::Addressee),
        ("<allow receive_requested_reply='false'/>", Of::Any, To::Addressee),
        ("<allow eavesdrop='false'/>", Of::Requested, To::Addressee),
        ("<allow receive_requested_reply='true' eavesdrop='true'/>", Of::Any, To::Any),
        ("<deny receive_type='*'/>", Of::Unrequested, To::Any),
        ("<deny receive_requested_reply='false'/>", Of::Unrequested, To::Any),
        ("<deny receive_requested_reply='true'/>", Of::Any, To::Any),
        ("<deny eavesdrop='true'/>", Of::Unrequested, To::Eavesdropper),
        ("<deny receive_requested_reply='true' eavesdrop='true'/>", Of::Any, To::Eavesdropper),
    ];
    for (element, replies, recipient) in cases {
        let expected = any_receive(replies, recipient);
        assert_eq!(rule(element).subject, RuleSubject::Receive(expected), "{element}");
    }
    let cases = [
        ("<allow send_destination='*'/>", Of::Requested),
        ("<allow send_destination='*' eavesdrop='true'/>", Of::Any),
        ("<allow send_requested_reply='false'/>", Of::Any),
        ("<deny send_destination='*'/>", Of::Unrequested),
        ("<deny send_destination='*' eavesdrop='true'/>", Of::Unrequested),
        ("<deny send_requested_reply='true'/>", Of::Any),
    ];
    for (element, replies) in cases {
        assert_eq!(rule(element).subject, RuleSubject::Send(any_send(replies)), "{element}");
    }
}

#[test]
fn mistakes_in_policies_are_shown() {
    let cases = [
        (
            "<policy/>",
            "2:1: <policy> element must have exactly one of (context|user|group|at_console) attributes",
        ),
        (
            "<policy user='root' at_console='true'/>",
            "2:1: <policy> element must have exactly one of (context|user|group|at_console) attributes",
        ),
        (
            "<policy context='*'/>",
            "2:9: context attribute on <policy> must have the value \"default\" or \"mandatory\", not \"*\"",
        ),
        (
            "<policy at_console='yes'/>",
            "2:9: Unknown value \"yes\" for at_console in message bus configuration file, expected \"true\" or \"false\"",
        ),
        (
            "<policy context='default'>\n <fork/></policy>",
            "3:2: Element <fork> not allowed inside <policy> in configuration file",
        ),
        (
            "<policy user='root'><allow user='*'/></policy>",
            "2:21: <allow> rule cannot be per-user because it has bus-global semantics",
        ),
        (
            "<policy group='bin'><deny group='*'/></policy>",
            "2:21: <deny> rule cannot be per-group because it has bus-global semantics",
        ),
    ];
    for (elements, expected) in cases {
        check_refusal(elements, Some(expected));
    }
    // Rules for missing accounts are parsed, but apply to no connection.
    check_refusal("<policy user='nosuch'><allow user='*'/></policy>", None);
    check_refusal("<policy user='root'><allow user='nosuch'/></policy>", None);
    check_refusal("<policy group='bin'><deny group='nosuch'/></policy>", None);
    check_refusal("<policy at_console='true'><allow user='root'/></policy>", None);
}

#[test]
fn mistakes_in_rules_are_shown() {
    const COMBINATION: &str = "Invalid combination of attributes on element <allow>";
    const TOO_MANY: &str =
        "own, own_prefix, user, group and the message-related attributes cannot be combined";
    const MEMBER: &str = "On element <allow>, if you specify a member you must specify an interface or a path. Keep in mind that not all messages have an interface field.";
    const RANGE: &str = "must be an integer in range 0 to 33554432 inclusive";
    let empty = "1: Element <allow> must have one or more attributes".to_owned();
    let several = format!("1: {COMBINATION}: {TOO_MANY}");
    let both = format!("1: {COMBINATION}: send and receive attributes cannot be combined");
    let member = format!("1: {MEMBER}");
    let cases = [
        ("", &empty),
        ("log='true'", &empty),
        ("min_fds='1'", &empty),
        ("max_fds='1' log='true'", &empty),
        ("own='a' own_prefix='a'", &several),
        ("user='root' group='bin'", &several),
        ("own='a' send_type='signal'", &several),
        ("own='a' eavesdrop='false'", &several),
        ("own_prefix='a' max_fds='1'", &several),
        ("own='*' user='*' receive_type='signal'", &several),
        ("send_type='signal' receive_sender='a'", &both),
        ("send_type='signal' receive_requested_reply='true'", &both),
        ("send_member='M'", &member),
        ("receive_member='*'", &member),
        ("send_member='M' send_error='a.E'", &member),
        ("send_interface='*' send_error='*'", &format!("1: {COMBINATION}: send_error cannot be combined with send_member or send_interface")),
        ("receive_path='/' receive_member='M' receive_error='a.E'", &format!("1: {COMBINATION}: receive_error cannot be combined with receive_member or receive_interface")),
        ("send_destination='*' send_destination_prefix='a'", &format!("1: {COMBINATION}: send_destination cannot be combined with send_destination_prefix")),
        ("send_broadcast='true' send_destination='a.b'", &"1: Rule with send_broadcast=\"true\" and send_destination=\"a.b\" cannot match anything".into()),
        ("send_broadcast='*'", &"8: Bad value \"*\" for send_broadcast attribute, must be true or false".into()),
        ("own='a' log='1' species='x'", &"24: Attribute \"species\" is invalid on <allow> element in this context".into()),
        ("send_type='signal' eavesdrop=''", &"27: Bad value \"\" for eavesdrop attribute, must be true or false".into()),
        ("receive_requested_reply='1'", &"8: Bad value \"1\" for receive_requested_reply attribute, must be true or false".into()),
        ("send_type='bees'", &"8: Bad message type \"bees\", must be method_call, method_return, error, signal or *".into()),
        ("receive_type=''", &"8: Bad message type \"\", must be method_call, method_return, error, signal or *".into()),
        ("send_type='signal' min_fds='-1'", &format!("27: Bad value \"-1\" for min_fds attribute, {RANGE}")),
        ("send_type='signal' max_fds='33554433'", &format!("27: Bad value \"33554433\" for max_fds attribute, {RANGE}")),
        ("send_type='signal' max_fds=''", &format!("27: Bad value \"\" for max_fds attribute, {RANGE}")),
    ];
    for (attributes, expected) in cases {
        let elements = format!("<policy context='default'>\n<allow {attributes}/></policy>");
        check_refusal(&elements, Some(&format!("3:{expected}")));
    }
}

#[test]
fn unusual_but_valid_rules_are_accepted() {
    let cases = [
        "own='not a name'",
        "send_destination='not a name'",
        "send_path='nopath'",
        "send_interface=''",
        "send_broadcast='true' send_destination='*'",
        "send_broadcast='true' send_destination_prefix='a.b'",
        "send_broadcast='true' send_type='method_call'",
        "send_type='signal' send_error='a.E'",
        "send_member='M' send_interface='*'",
        "receive_member='M' receive_path='/'",
        "min_fds='3' max_fds='1' send_type='signal'",
        "min_fds='1' eavesdrop='true'",
        "log='maybe' send_type='signal'",
    ];
    for attributes in cases {
        check_refusal(&format!("<policy context='default'><allow {attributes}/></policy>"), None);
    }
}
