//! Match rules: parsing, canonical form, and matching.

use diligence_wire::match_rule::MatchRuleErrorKind as Kind;
use diligence_wire::match_rule::{ArgMatch, MatchArgument, MatchRule, MatchSubject, PathMatch};
use diligence_wire::message::MessageType;
use diligence_wire::names::{NameError, NameErrorKind};

fn parse(text: &str) -> MatchRule {
    MatchRule::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[track_caller]
fn check_listed(cases: &[(&str, &str)]) {
    for &(text, listed) in cases {
        let rule = parse(text);
        assert_eq!(rule.to_string(), listed, "{text:?}");
        assert_eq!(parse(listed), rule, "{listed:?} read again");
    }
}

#[test]
fn match_rules_are_printed_in_canonical_form() {
    check_listed(&[
        ("", ""),
        ("type=signal", "type='signal'"),
        ("type='method_return',eavesdrop='false'", "type='method_return'"),
        (
            "eavesdrop='true',arg3='c',arg0='a',arg1path='/b',destination=':1.5',path='/a/b',\
             member='M',interface='a.b',sender='a.b',type='method_call'",
            "type='method_call',interface='a.b',member='M',path='/a/b',sender='a.b',\
             destination=':1.5',eavesdrop='true',arg0='a',arg1path='/b',arg3='c'",
        ),
        (
            "eavesdrop='true',path_namespace='/a',sender='a.b',type=error,interface='a.b',\
             member='x',arg0namespace='a'",
            "type='error',interface='a.b',member='x',path_namespace='/a',sender='a.b',\
             eavesdrop='true',arg0namespace='a'",
        ),
        ("arg10=c,arg2=b,arg63path='/a/',arg0=''", "arg0='',arg2='b',arg10='c',arg63path='/a/'"),
    ]);
}

#[test]
fn quotes_in_match_rules_follow_the_specification() {
    // The example of the specification: two spellings of one rule.
    let quoted = r"arg0=''\''',arg1='\',arg2=',',arg3='\\'";
    let bare = r"arg0=\',arg1=\,arg2=',',arg3=\\";
    assert_eq!(parse(quoted), parse(bare));
    assert_eq!(parse(bare).to_string(), quoted);

    check_listed(&[
        (r"arg0=it\'s", r"arg0='it'\''s'"),
        (r"arg0='it'\''s'", r"arg0='it'\''s'"),
        (r"arg0=\'\'", r"arg0=''\'''\'''"),
        (r"arg0=''''", "arg0=''"),
        (r"arg0='a'b'c'", "arg0='abc'"),
        (r"arg0=\a", r"arg0='\a'"),
        (r"arg0=a\", r"arg0='a\'"),
        ("arg0=a=b", "arg0='a=b'"),
        ("arg0='é,=',arg1=é", "arg0='é,=',arg1='é'"),
        ("type=sig'na'l", "type='signal'"),
    ]);
}

#[test]
fn blanks_in_match_rules_are_significant_only_in_values() {
    check_listed(&[
        (" ", ""),
        ("\t\r\n type \t=signal", "type='signal'"),
        ("type='signal',  member='a'", "type='signal',member='a'"),
        ("arg0= a ", "arg0=' a '"),
        ("arg0='a'\t,\targ1='b'", "arg0='a\t',arg1='b'"),
        ("type='signal',", "type='signal'"),
        ("type='signal', ", "type='signal'"),
    ]);
}

#[track_caller]
fn check_invalid(cases: &[(&str, Kind, usize)]) {
    for &(text, kind, at) in cases {
        let error = MatchRule::parse(text).expect_err(text);
        assert_eq!((error.kind, error.at), (kind, at), "{text:?}");
    }
}

#[test]
fn malformed_match_rules_report_the_position() {
    check_invalid(&[
        ("type", Kind::MissingEquals, 4),
        (",", Kind::MissingEquals, 1),
        ("\\", Kind::MissingEquals, 1),
        ("type='signal',,", Kind::MissingEquals, 15),
        ("type=signal, ,", Kind::MissingEquals, 14),
        ("ty pe='signal'", Kind::MissingEquals, 3),
        ("=", Kind::EmptyKey, 0),
        ("type=signal,='a'", Kind::EmptyKey, 12),
        ("arg1=x,arg0='a", Kind::UnbalancedQuote, 12),
        (r"arg0='a\'b'", Kind::UnbalancedQuote, 10),
        ("foo='bar'", Kind::UnknownKey, 0),
        ("type='signal',Type=signal", Kind::UnknownKey, 14),
        (",type='signal'", Kind::UnknownKey, 0),
        ("'type'='signal'", Kind::UnknownKey, 0),
        ("\u{b}type=signal", Kind::UnknownKey, 0),
    ]);
}

#[test]
fn invalid_keys_and_values_of_match_rules_report_the_position() {
    let name = |kind, at| NameError { kind, at };
    check_invalid(&[
        ("type=''", Kind::InvalidType, 5),
        ("type='Signal'", Kind::InvalidType, 5),
        ("type= signal", Kind::InvalidType, 5),
        ("type='signal'x", Kind::InvalidType, 5),
        ("type='unknown'", Kind::InvalidType, 5),
        ("eavesdrop='maybe'", Kind::InvalidEavesdrop, 10),
        ("eavesdrop='true',eavesdrop=''", Kind::InvalidEavesdrop, 27),
        ("sender='a'", Kind::InvalidSender(name(NameErrorKind::SingleElement, 1)), 7),
        ("interface=''", Kind::InvalidInterface(name(NameErrorKind::Empty, 0)), 10),
        ("member='a.b'", Kind::InvalidMember(name(NameErrorKind::InvalidByte, 1)), 7),
        ("path='/a/'", Kind::InvalidPath(name(NameErrorKind::TrailingSlash, 2)), 5),
        ("path_namespace='a'", Kind::InvalidPath(name(NameErrorKind::NotAbsolute, 0)), 15),
        ("destination='a'", Kind::InvalidDestination(name(NameErrorKind::SingleElement, 1)), 12),
        ("arg0namespace=''", Kind::InvalidNamespace(name(NameErrorKind::Empty, 0)), 14),
        ("arg0namespace='1a'", Kind::InvalidNamespace(name(NameErrorKind::LeadingDigit, 0)), 14),
        ("arg0namespace='a.'", Kind::InvalidNamespace(name(NameErrorKind::EmptyElement, 2)), 14),
        ("type=signal,type=signal", Kind::DuplicateKey, 12),
        ("path='/a',path='/a'", Kind::DuplicateKey, 10),
        ("path='/a',path_namespace='/a'", Kind::PathWithNamespace, 10),
        ("path_namespace='/a',path='/a'", Kind::PathWithNamespace, 20),
    ]);
}

#[test]
fn wrong_argument_keys_report_the_position() {
    check_invalid(&[
        ("arg='a'", Kind::MissingArgNumber, 0),
        ("argpath='a'", Kind::MissingArgNumber, 0),
        ("arg-1='a'", Kind::MissingArgNumber, 0),
        ("arg00='a'", Kind::ArgNumberLeadingZero, 0),
        ("arg07='a'", Kind::ArgNumberLeadingZero, 0),
        ("arg64='a'", Kind::ArgNumberTooLarge, 0),
        ("arg256='a'", Kind::ArgNumberTooLarge, 0),
        ("arg99999999999999999999='a'", Kind::ArgNumberTooLarge, 0),
        ("arg1namespace='a'", Kind::NamespaceOfLaterArg, 0),
        ("arg1Path='a'", Kind::UnknownArgSuffix, 0),
        ("arg0='a',arg0='a'", Kind::DuplicateArg(0), 9),
        ("arg7='a',arg7path='a'", Kind::DuplicateArg(7), 9),
        ("arg0path='a',arg0namespace='a'", Kind::DuplicateArg(0), 13),
    ]);
}

#[test]
fn match_rules_are_limited_to_1024_bytes() {
    let of_length = |len: usize| format!("arg0='{}'", "x".repeat(len - "arg0=''".len()));
    assert!(MatchRule::parse(&of_length(1024)).is_ok());
    check_invalid(&[(&of_length(1025), Kind::TooLong { len: 1025 }, 1024)]);
}

#[test]
fn all_argument_keys_of_a_rule_are_matched() {
    let text = |n: usize| (0..n).map(|i| format!("arg{i}=''")).collect::<Vec<_>>().join(",");
    assert_eq!(parse(&text(64)).args().len(), 64);
}

#[test]
fn equivalent_match_rules_are_equal() {
    for (left, right) in [
        ("type='signal',member='a'", "member='a',type='signal'"),
        ("arg0='a',arg1='b'", "arg1='b',arg0='a'"),
        ("eavesdrop='false'", ""),
        ("eavesdrop='true',eavesdrop='false'", ""),
        ("eavesdrop='false',eavesdrop='true'", "eavesdrop=true"),
        ("arg0=a", "arg0='a'"),
    ] {
        assert_eq!(parse(left), parse(right), "{left:?} and {right:?}");
    }
    for (left, right) in [
        ("eavesdrop='true'", ""),
        ("arg0='a/'", "arg0path='a/'"),
        ("arg0='a'", "arg0namespace='a'"),
        ("path='/a'", "path_namespace='/a'"),
        ("sender=':1.1'", "destination=':1.1'"),
    ] {
        assert_ne!(parse(left), parse(right), "{left:?} and {right:?}");
    }
}

#[test]
fn parts_of_match_rules_can_be_read() {
    let rule = parse(
        "type=error,sender=a.b,interface=c.d,member=M,path=/p,destination=':1.2',arg2=x,arg1path=y",
    );
    assert_eq!(rule.message_type(), Some(MessageType::Error));
    assert_eq!((rule.sender(), rule.destination()), (Some("a.b"), Some(":1.2")));
    assert_eq!((rule.interface(), rule.member()), (Some("c.d"), Some("M")));
    assert_eq!(rule.path(), Some(PathMatch::Exact("/p")));
    let args: Vec<_> = rule.args().iter().map(|arg| (arg.index, arg.how, &*arg.value)).collect();
    assert_eq!(args, [(1, ArgMatch::Path, "y"), (2, ArgMatch::Equal, "x")]);
    assert!(!rule.eavesdrops());
}

/// A signal of the owner of `org.example.A` to the owner of `org.example.B`, with four arguments.
struct SampleMessage;

impl MatchSubject for SampleMessage {
    fn message_type(&self) -> MessageType {
        MessageType::Signal
    }

    fn path(&self) -> Option<&str> {
        Some("/org/example")
    }

    fn interface(&self) -> Option<&str> {
        None
    }

    fn member(&self) -> Option<&str> {
        Some("Changed")
    }

    fn is_sender(&self, name: &str) -> bool {
        [":1.7", "org.example.A"].contains(&name)
    }

    fn is_destination(&self, name: &str) -> bool {
        [":1.8", "org.example.B"].contains(&name)
    }

    fn arg(&self, index: u8) -> Option<MatchArgument<'_>> {
        let args = [
            MatchArgument::String("com.example.backend1"),
            MatchArgument::ObjectPath("/aa/bb/"),
            MatchArgument::Other,
            MatchArgument::String("/aa"),
        ];
        args.get(usize::from(index)).copied()
    }
}

#[test]
fn match_rules_select_messages_that_match_every_key() {
    for (text, selected) in [
        ("", true),
        ("type=signal", true),
        ("type=method_call", false),
        ("member=Changed,path='/org/example',sender=':1.7'", true),
        ("member=Changed,path='/org/example',sender=':1.8'", false),
        ("sender=org.example.A,destination=org.example.B", true),
        ("sender=org.example.A,destination=org.example.A", false),
        ("interface=org.example.I", false),
        ("path_namespace='/'", true),
        ("path_namespace='/org'", true),
        ("path_namespace='/org/example'", true),
        ("path_namespace='/org/exam'", false),
        ("path_namespace='/org/example/x'", false),
        ("path='/org'", false),
        ("arg0=com.example.backend1,arg3=/aa", true),
        ("arg0=com.example.backend", false),
        ("arg1='/aa/bb/'", false),
        ("arg2=''", false),
        ("arg4=''", false),
        ("arg63path='/'", false),
    ] {
        assert_eq!(parse(text).matches(&SampleMessage), selected, "{text:?}");
    }
}

#[test]
fn arg_paths_match_in_both_directions() {
    let rule = parse("arg0path='/aa/bb/'");
    let rule = &rule.args()[0];
    for (found, selected) in [
        ("/", true),
        ("/aa/", true),
        ("/aa/bb/", true),
        ("/aa/bb/cc/", true),
        ("/aa/bb/cc", true),
        ("/aa/b", false),
        ("/aa", false),
        ("/aa/bb", false),
        ("", false),
    ] {
        assert_eq!(rule.selects(Some(MatchArgument::String(found))), selected, "{found:?}");
        assert_eq!(rule.selects(Some(MatchArgument::ObjectPath(found))), selected, "{found:?}");
    }
    assert!(!rule.selects(Some(MatchArgument::Other)));
    assert!(!rule.selects(None));
}

#[test]
fn arg_namespaces_end_at_dots() {
    let rule = parse("arg0namespace='com.example.backend1'");
    let rule = &rule.args()[0];
    for (found, selected) in [
        ("com.example.backend1", true),
        ("com.example.backend1.foo.bar", true),
        ("com.example.backend12", false),
        ("com.example", false),
        ("", false),
    ] {
        assert_eq!(rule.selects(Some(MatchArgument::String(found))), selected, "{found:?}");
    }
    assert!(!rule.selects(Some(MatchArgument::ObjectPath("com.example.backend1"))));
}
