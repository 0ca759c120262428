//! Texts of queries: their grammar, error messages and patterns.

use capture::query::{DEPTH_MAX, Expression, Pattern, Query, Term};

fn column_and_text(text: &str) -> (usize, String) {
    let error = Query::parse(text).expect_err(text);
    (error.column, error.kind.to_string())
}

#[test]
fn query_errors_name_column_and_expectation() {
    for (text, column, words) in [
        ("membr:Get", 1, "unknown field membr; did you mean member?"),
        ("a membr = Get", 3, "unknown field membr; did you mean member?"),
        ("zzzzzzzzz>5", 1, "unknown field zzzzzzzzz; the fields are type, from, to, "),
        (
            "dur > > 5ms",
            7,
            "> contains an operator; write it in quotes, \">\", to search for this text",
        ),
        (
            "member:=Get",
            7,
            "unknown operator :=; did you mean =? Quote a text that begins with an operator",
        ),
        ("member ~= Get", 8, "unknown operator ~=; did you mean ~?"),
        ("x member =~ Get", 10, "unknown operator =~; did you mean ~?"),
        ("member<>Get", 7, "unknown operator <>; did you mean !=?"),
        ("dur=>5ms", 4, "unknown operator =>; did you mean >=?"),
        ("dur>~5ms", 4, "unknown operator >~; the signs are :, =, !=, ~, !~, <, <=, > and >=."),
        ("dbus.member == Get", 1, "unknown field dbus.member; did you mean member?"),
        ("a dbus.error_name==x", 3, "unknown field dbus.error_name; did you mean error?"),
        ("message.path=\"/x\"", 1, "unknown field message.path; did you mean path?"),
        ("method:Get", 1, "unknown field method; did you mean member?"),
        ("MEMBER:Get", 1, "unknown field MEMBER; did you mean member?"),
        ("latency>5ms", 1, "unknown field latency; did you mean dur?"),
        (
            "member in (Get)",
            8,
            "in is not an operator; expected one after member, as in (member:A or",
        ),
        ("type:call member contains Get", 18, "contains is not an operator"),
        ("dbus.member matches \"Get.*\"", 13, "as in member~/expression/"),
        ("dur gt 5ms", 5, "gt is not an operator; expected one after dur, as in dur>50ms"),
        ("path=x", 6, "a path begins with /; did you mean path:/x, or path~x for a part of it?"),
        ("path:com/*", 6, "a path begins with /; did you mean path:/com/*"),
        ("path!='x'", 7, "a path begins with /"),
        ("path:/org/example/", 6, "did you mean path:/org/example, or path:/org/example/* for"),
        (
            "member:org.x.Y.Get",
            8,
            "a member has no dot; did you mean interface:org.x.Y member:Get?",
        ),
        ("member:org.x.Y.*", 8, "a member has no dot; did you mean interface:org.x.Y?"),
        ("member : type:call", 9, "member has no value"),
        ("member= and x", 8, "member has no value"),
        ("> 5", 1, "> contains an operator"),
        ("a.b=c", 1, "a.b=c contains an operator"),
        ("path_namespace:", 16, "path_namespace has no value; expected a text"),
        ("path_namespace~x", 1, "path_namespace is a key of match rules; expected :, = or !="),
        ("path_namespace:x/y", 1, "not a match rule"),
        ("a and", 6, "expected a term"),
        ("a or or b", 6, "expected a term"),
        ("()", 2, "expected a term"),
        ("(a", 1, "not closed"),
        ("a)", 2, "no opening parenthesis"),
        ("not", 4, "expected a term"),
        ("member:", 8, "member has no value; expected a text"),
        ("dur> ", 5, "dur has no value; expected a number with a unit: ms, us"),
        ("x dur>50", 7, "50 is not a duration; use for example 50ms"),
        ("dur>50mss", 5, "50mss is not a duration; use for example 50ms"),
        ("size>x", 6, "x is not a size; use for example 512 or 4kB"),
        ("serial:x", 8, "expected a whole number"),
        ("a #12x", 3, "12x is not a value of number; expected a whole number"),
        ("#..", 1, ".. is not a value of number"),
        ("#1..#2..#3", 1, "1..2..3 is not a value of number"),
        ("time:1..2s", 6, "1..2s is not a duration; use for example 50ms"),
        ("time>1s..2s", 6, "1s..2s is not a duration"),
        ("x #20..#10", 3, "no number is in the range 20..10: its end is before its start"),
        ("type:sign", 6, "expected call, return, error or signal"),
        ("is:slow", 4, "expected error, unanswered, timed-out, callee-left, caller-left, waiting"),
        ("flags:x", 7, "expected no-reply, no-auto-start or interactive"),
        ("member>5", 1, "member is not a number"),
        ("type>call", 1, "type is not a number"),
        ("dur~5", 1, "~ searches texts; expected dur:"),
        ("arg0>x", 6, "x is not a value of arg0"),
        ("member:\"x", 8, "the quote is not closed"),
        ("m\u{e4}h arg0~/(/", 10, "not a regular expression"),
        ("a type='sig'", 3, "not a match rule"),
    ] {
        let (found_column, found) = column_and_text(text);
        assert_eq!(found_column, column, "{text}: {found}");
        assert!(found.contains(words), "{text}: {found}");
    }
}

#[test]
fn number_signs_are_text_unless_a_number_follows() {
    for (text, is_number) in [
        ("#7", true),
        ("#7..", true),
        ("!#7..#9", true),
        ("#", false),
        ("#x", false),
        ("\"#7\"", false),
    ] {
        let query = Query::parse(text).expect(text);
        let expression = query.expression().expect(text);
        assert_eq!(comparisons(expression) > 0, is_number, "{text}: {expression:?}");
    }
}

#[test]
fn query_nesting_is_limited() {
    let nested = |depth: usize| "(".repeat(depth) + "a" + &")".repeat(depth);
    assert!(Query::parse(&nested(DEPTH_MAX)).is_ok());
    assert!(matches!(column_and_text(&nested(DEPTH_MAX + 1)), (66, text) if text.contains("deep")));
    assert!(Query::parse(&"!".repeat(100_000)).is_err());
}

/// The number of terms that are not searches in all fields.
fn comparisons(expression: &Expression) -> usize {
    match expression {
        Expression::All(parts) | Expression::Any(parts) => parts.iter().map(comparisons).sum(),
        Expression::Not(part) => comparisons(part),
        Expression::Term(Term::Anywhere(_)) => 0,
        Expression::Term(_) => 1,
    }
}

#[test]
fn signs_outside_quotes_are_query_errors() {
    const BLANKS: [&str; 3] = ["", " ", "  "];
    const WORDS: [&str; 8] =
        ["dur", "member", "path_namespace", "arg0", "foo", "x.y", ":1.7", "size"];
    const VALUES: [&str; 6] = ["50ms", "Get*", "/org/x", "7", ":1.7", "\"a > b\""];
    const SIGNS: [&str; 10] = ["!=", "!~", "<=", ">=", "<", ">", ":", "==", "=", "~"];
    let mut state = 1_u64;
    let mut below = |len: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % len
    };
    let mut parsed = 0;
    for _ in 0..20_000 {
        let mut text = String::new();
        let mut used = 0;
        for _ in 0..=below(3) {
            let sign = if below(3) == 0 { "" } else { SIGNS[below(SIGNS.len())] };
            used += usize::from(!sign.is_empty());
            let (before, behind) = (BLANKS[below(3)], BLANKS[below(3)]);
            let end = if sign.is_empty() { "" } else { VALUES[below(VALUES.len())] };
            text += &[WORDS[below(WORDS.len())], before, sign, behind, end, " "].concat();
        }
        let Ok(query) = Query::parse(&text) else { continue };
        let Some(expression) = query.expression() else { continue };
        assert_eq!(comparisons(expression), used, "{text:?}: {expression:?}");
        parsed += 1;
    }
    assert!(parsed > 1000, "{parsed}");
}

#[test]
fn stars_in_patterns_match_any_text() {
    for (glob, text, expected) in [
        ("Get", "Get", true),
        ("Get", "GetAll", false),
        ("Get*", "GetAll", true),
        ("Get*", "Get", true),
        ("*All", "GetAll", true),
        ("*All", "GetAlloy", false),
        ("*", "", true),
        ("**", "x", true),
        ("a*b*a", "aba", true),
        ("a*b*a", "ab", false),
        // The characters matched by one part are not available to the next.
        ("ab*ba", "aba", false),
        ("org.*.Properties", "org.freedesktop.DBus.Properties", true),
    ] {
        assert_eq!(Pattern::glob(glob).selects(text), expected, "{glob} {text}");
    }
}

#[test]
fn patterns_find_parts_in_any_case() {
    for (wanted, text, expected) in [
        ("foo", "a Foo b", true),
        ("FOO", "foo", true),
        ("", "", true),
        ("foo", "fo", false),
        ("foo", "foxfoo", true),
    ] {
        assert_eq!(Pattern::contains(wanted).selects(text), expected, "{wanted} {text}");
    }
}
