//! Parses queries.
//!
//! ```text
//! any      = all ("or" all)*
//! all      = one ("and"? one)*
//! one      = "not" one | "!" one | "(" any ")" | rule | field sign value | "#" value | text
//! sign     = ":" | "=" | "==" | "!=" | "~" | "!~" | "<" | "<=" | ">" | ">="
//! value    = quoted | "/" expression "/" | text
//! ```
//!
//! Blanks may stand around a sign. Before `:` they may only if one follows it too, since `:1.7` is
//! a name. A number and its unit may be two words: `dur>50 ms`. A range of numbers includes both
//! bounds, one of which may be absent: `number:10..20`, `#10..#20`, `time:1.5s..`.
//!
//! Notations of other tools are errors that name the equivalent here: `dbus.member`, `<>`, `member
//! contains x`, `member in (..)`.
//!
//! A text without quotes that stands alone must not contain a sign. An intended comparison is
//! therefore an error, not a search without results.
//!
//! `&&` and `||` are "and" and "or". A text ends at a blank, or at a closing parenthesis that it
//! has not opened, so `sig:a(ii)` needs no quotes.

use wire::match_rule::MatchRule;

use super::error::{QueryError, QueryErrorKind as Kind};
use super::expression::{ArgumentTest, ComparisonOrder, Expression, NumberComparison, Term};
use super::field::{self, NumberField, QueryField};
use super::names;
use super::pattern::{Pattern, RegexPattern};

pub(super) fn parse(text: &str) -> Result<Option<Expression>, QueryError> {
    let mut cursor = QueryCursor { text, at: 0 };
    if cursor.peek().is_none() {
        return Ok(None);
    }
    let expression = cursor.any(0)?;
    match cursor.peek() {
        None => Ok(Some(expression)),
        Some(_) => Err(cursor.error(Kind::ParenthesisClosesNothing)),
    }
}

/// A query with the position of the parser.
struct QueryCursor<'t> {
    text: &'t str,
    at: usize,
}

/// The operator after the name of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Is,
    IsNot,
    Like,
    NotLike,
    Compares(ComparisonOrder),
}

/// The value of a term, and how it was written.
struct QueryValue<'t> {
    text: std::borrow::Cow<'t, str>,
    form: Form,
    at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// In quotes: each character stands for itself.
    Quoted,
    /// Between slashes, which are not part of the text.
    Regex,
    Bare,
}

impl<'t> QueryCursor<'t> {
    fn any(&mut self, depth: usize) -> Result<Expression, QueryError> {
        let mut parts = vec![self.all(depth)?];
        while self.take_word(&["or", "||"]) {
            parts.push(self.all(depth)?);
        }
        Ok(joined(parts, Expression::Any))
    }

    fn all(&mut self, depth: usize) -> Result<Expression, QueryError> {
        let mut parts = vec![self.one(depth)?];
        loop {
            let is_joined = self.take_word(&["and", "&&"]);
            if !is_joined && (matches!(self.peek(), None | Some(')')) || self.is_at("or", "||")) {
                return Ok(joined(parts, Expression::All));
            }
            parts.push(self.one(depth)?);
        }
    }

    fn one(&mut self, depth: usize) -> Result<Expression, QueryError> {
        if depth > DEPTH_MAX {
            return Err(self.error(Kind::TooDeep));
        }
        if self.take_word(&["not"]) || self.take_sign("!") {
            return Ok(Expression::Not(Box::new(self.one(depth + 1)?)));
        }
        match self.peek() {
            Some('(') => self.group(depth),
            None | Some(')') => Err(self.error(Kind::TermMissing)),
            Some(_) if self.is_at("or", "||") || self.is_at("and", "&&") => {
                Err(self.error(Kind::TermMissing))
            }
            Some(_) => self.term(),
        }
    }

    fn group(&mut self, depth: usize) -> Result<Expression, QueryError> {
        let open = self.error(Kind::ParenthesisOpen);
        self.take_sign("(");
        let expression = self.any(depth + 1)?;
        self.peek();
        if self.take_sign(")") { Ok(expression) } else { Err(open) }
    }

    fn term(&mut self) -> Result<Expression, QueryError> {
        if let Some(len) = rule_len(self.rest()) {
            let rule = MatchRule::parse(&self.rest()[..len])
                .map_err(|error| self.error(Kind::Rule(error)))?;
            self.at += len;
            return Ok(Expression::Term(Term::Rule(Box::new(rule))));
        }
        if let Some(expression) = self.message_numbers()? {
            return Ok(expression);
        }
        let start = self.at;
        let Some((word, sign)) = self.field_and_sign() else {
            self.check_foreign_notation()?;
            return self.anywhere().map(|pattern| Expression::Term(Term::Anywhere(pattern)));
        };
        let key = match (QueryField::named(word), is_rule_key(word)) {
            (Some(field), _) => Ok(field),
            (None, true) => Err(word),
            (None, false) => {
                return Err(self.error_at(start, Kind::UnknownField { found: word.to_owned() }));
            }
        };
        self.check_sign(start + word.len())?;
        if !self.is_at_value() {
            return Err(self.error(match key {
                Ok(field) => Kind::ValueMissing(field),
                Err(key) => Kind::RuleValueMissing { key: key.to_owned() },
            }));
        }
        let field = match key {
            Ok(field) => field,
            Err(key) => return self.rule_term(key, sign, start),
        };
        let mut found = self.value(sign)?;
        self.take_unit(field, &mut found);
        let expression = match field {
            QueryField::Number(number) if !sign.searches() => self.numbers(number, sign, &found)?,
            field => Expression::Term(self.build(field, sign, &found, start)?),
        };
        Ok(sign.applied(expression))
    }

    /// Parses the number of a message, or a range of numbers, after a `#`.
    fn message_numbers(&mut self) -> Result<Option<Expression>, QueryError> {
        let behind = self.rest().strip_prefix('#').unwrap_or_default();
        if !behind.starts_with(|c: char| c.is_ascii_digit()) && !behind.starts_with(RANGE) {
            return Ok(None);
        }
        let written = self.value(Sign::Is)?;
        let text = written.text.trim_start_matches('#').replace("..#", RANGE).into();
        self.numbers(NumberField::Number, Sign::Is, &QueryValue { text, ..written }).map(Some)
    }

    /// The expression for a number or a range of numbers.
    fn numbers(
        &self,
        field: NumberField,
        sign: Sign,
        found: &QueryValue<'_>,
    ) -> Result<Expression, QueryError> {
        let term =
            |order, with| Expression::Term(Term::Number(field, NumberComparison { order, with }));
        let read = |text: &str| {
            field.read(text).ok_or_else(|| self.unknown(QueryField::Number(field), found))
        };
        let is_compared = matches!(sign, Sign::Compares(_));
        let Some((from, until)) = found.text.split_once(RANGE).filter(|_| !is_compared) else {
            return Ok(term(sign.order(), read(&found.text)?));
        };
        let bound = |text: &str| (!text.is_empty()).then(|| read(text)).transpose();
        let bounds = match (bound(from)?, bound(until)?) {
            (None, None) => return Err(self.unknown(QueryField::Number(field), found)),
            (Some(from), Some(until)) if until < from => {
                let text = found.text.clone().into_owned();
                return Err(self.error_at(found.at, Kind::RangeReversed { found: text }));
            }
            (from, until) => [(ComparisonOrder::AtLeast, from), (ComparisonOrder::AtMost, until)],
        };
        let bounds = bounds.into_iter().filter_map(|(order, with)| Some(term(order, with?)));
        Ok(joined(bounds.collect(), Expression::All))
    }

    /// Rejects a sign of another language, such as `<>`. `start` is the offset at which the sign
    /// begins.
    fn check_sign(&self, start: usize) -> Result<(), QueryError> {
        let excess = self.rest().len() - self.rest().trim_start_matches(COMPARISON_CHARS).len();
        if excess == 0 {
            return Ok(());
        }
        let text = &self.text[start..self.at + excess];
        let sign = text.trim_start();
        let at = start + text.len() - sign.len();
        Err(self.error_at(at, Kind::UnknownSign { found: sign.to_owned() }))
    }

    /// Rejects field names in the notation of Wireshark, and words in place of signs.
    fn check_foreign_notation(&self) -> Result<(), QueryError> {
        let rest = self.rest();
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.';
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let (prefix, last) = name.rsplit_once('.').unwrap_or(("", name));
        let field = QueryField::named(&last.to_ascii_lowercase());
        let behind = &rest[name.len()..];
        let trimmed = behind.trim_start();
        let is_colon_behind = |sign: &str| sign != ":" || trimmed.len() == behind.len();
        let is_compared =
            SIGNS.iter().any(|(sign, _)| trimmed.starts_with(sign) && is_colon_behind(sign));
        if !prefix.is_empty() && is_compared && (prefix == "dbus" || field.is_some()) {
            return Err(self.error(Kind::UnknownField { found: name.to_owned() }));
        }
        let (Some(field), true) = (field, trimmed.len() < behind.len()) else { return Ok(()) };
        let end = trimmed.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(trimmed.len());
        let (word, operand) = trimmed.split_at(end);
        let known = WORD_SIGNS.iter().find(|(sign, _)| sign.eq_ignore_ascii_case(word));
        match known {
            Some((word, example)) if !operand.trim_start().is_empty() => {
                let at = self.text.len() - trimmed.len();
                Err(self.error_at(at, Kind::WordForSign { word, field, example }))
            }
            _ => Ok(()),
        }
    }

    /// Takes the unit of a number, if it is the next word.
    fn take_unit(&mut self, field: QueryField, found: &mut QueryValue<'_>) {
        let QueryField::Number(number) = field else { return };
        let is_number = found.text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
        let (Some(scale), true) = (number.scale(), is_number && found.form == Form::Bare) else {
            return;
        };
        let behind = self.rest().trim_start();
        let unit = &behind[..bare_len(behind)];
        if scale.has_unit(unit) {
            self.at = self.text.len() - behind.len() + unit.len();
            found.text.to_mut().push_str(unit);
        }
    }

    /// Parses a text that is searched in all fields.
    fn anywhere(&mut self) -> Result<Pattern, QueryError> {
        let found = self.value(Sign::Is)?;
        let is_bare = found.form == Form::Bare;
        let text = found.text.strip_prefix(':').filter(|text| is_like_unique_name(text));
        if is_bare && text.unwrap_or(&found.text).contains(SIGN_CHARS) {
            let word = found.text.into_owned();
            return Err(self.error_at(found.at, Kind::SignInText { word }));
        }
        Ok(match is_bare && found.text.contains('*') {
            true => Pattern::glob(&found.text),
            false => Pattern::contains(&found.text),
        })
    }

    /// Parses a key that only match rules have.
    fn rule_term(&mut self, key: &str, sign: Sign, start: usize) -> Result<Expression, QueryError> {
        if !matches!(sign, Sign::Is | Sign::IsNot) {
            return Err(self.error_at(start, Kind::OnlyEqual { key: key.to_owned() }));
        }
        let found = self.value(sign)?;
        let text = format!("{key}='{}'", found.text.replace('\'', "'\\''"));
        let rule =
            MatchRule::parse(&text).map_err(|error| self.error_at(start, Kind::Rule(error)))?;
        Ok(sign.applied(Expression::Term(Term::Rule(Box::new(rule)))))
    }

    /// Returns true if a value comes next, possibly after blanks, which are then skipped. After
    /// blanks, a field with its sign and a word that joins terms are not values.
    fn is_at_value(&mut self) -> bool {
        let mut ahead = Self { text: self.text, at: self.at };
        let is_behind_blank = ahead.is_at_blank();
        let is_value = match ahead.peek() {
            None | Some(')') => false,
            Some(_) if !is_behind_blank => true,
            Some(_) => {
                let at = ahead.at;
                let is_join = JOINS.iter().any(|join| ahead.is_at(join, join));
                let is_field = ahead.field_and_sign().is_some();
                ahead.at = at;
                !is_join && !is_field
            }
        };
        if is_value {
            self.at = ahead.at;
        }
        is_value
    }

    fn build(
        &self,
        field: QueryField,
        sign: Sign,
        found: &QueryValue<'_>,
        start: usize,
    ) -> Result<Term, QueryError> {
        let compares = matches!(sign, Sign::Compares(_));
        match field {
            QueryField::Argument(which) => {
                Ok(Term::Argument(which, self.argument(field, sign, found)?))
            }
            QueryField::Number(_) => Err(self.error_at(start, Kind::NotSearchable(field))),
            _ if compares => Err(self.error_at(start, Kind::NotComparable(field))),
            QueryField::Text(text) => {
                let pattern = self.pattern(sign, found)?;
                let pattern = names::fitted(text, pattern)
                    .map_err(|mistake| self.error_at(found.at, Kind::Name(mistake)))?;
                Ok(Term::Text(text, pattern))
            }
            _ if sign.searches() => Err(self.error_at(start, Kind::NotSearchable(field))),
            QueryField::Type => {
                field::message_type(&found.text).map(Term::Type).ok_or(self.unknown(field, found))
            }
            QueryField::Flags => {
                field::flags(&found.text).map(Term::Flags).ok_or(self.unknown(field, found))
            }
            QueryField::Is => {
                field::state(&found.text).map(Term::Is).ok_or(self.unknown(field, found))
            }
        }
    }

    fn unknown(&self, field: QueryField, found: &QueryValue<'_>) -> QueryError {
        let text = found.text.clone().into_owned();
        self.error_at(found.at, Kind::UnknownValue { field, found: text })
    }

    fn argument(
        &self,
        field: QueryField,
        sign: Sign,
        found: &QueryValue<'_>,
    ) -> Result<ArgumentTest, QueryError> {
        let Sign::Compares(order) = sign else {
            return self.pattern(sign, found).map(ArgumentTest::Like);
        };
        let number = found.text.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| self.unknown(field, found))?;
        Ok(ArgumentTest::Compares(order, number))
    }

    fn pattern(&self, sign: Sign, found: &QueryValue<'_>) -> Result<Pattern, QueryError> {
        Ok(match found.form {
            Form::Regex if sign.searches() => Pattern::Regex(
                RegexPattern::new(&found.text)
                    .map_err(|error| self.error_at(found.at, Kind::Regex(error)))?,
            ),
            _ if sign.searches() => Pattern::contains(&found.text),
            Form::Quoted => Pattern::Equal(found.text.as_ref().into()),
            Form::Bare | Form::Regex => Pattern::glob(&found.text),
        })
    }

    /// Parses the name of a field and the sign after it, if both are present.
    fn field_and_sign(&mut self) -> Option<(&'t str, Sign)> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        let (word, behind) = rest.split_at(len);
        if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let trimmed = behind.trim_start();
        let blanks = behind.len() - trimmed.len();
        let (text, sign) = SIGNS.iter().find(|(text, _)| trimmed.starts_with(text))?;
        if blanks > 0 && *text == ":" && !trimmed[1..].starts_with(char::is_whitespace) {
            return None;
        }
        self.at += len + blanks + text.len();
        Some((word, *sign))
    }

    fn value(&mut self, sign: Sign) -> Result<QueryValue<'t>, QueryError> {
        let (rest, at) = (self.rest(), self.at);
        if let Some(quote) = rest.chars().next().filter(|c| QUOTES.contains(c)) {
            return self.quoted(quote);
        }
        let text = &rest[..bare_len(rest)];
        if text.starts_with(['=', '<', '>', '~']) {
            return Err(self.error(Kind::SignInText { word: text.to_owned() }));
        }
        self.at += text.len();
        let inside = text.strip_prefix('/').and_then(|inside| inside.strip_suffix('/'));
        Ok(match inside.filter(|_| sign.searches()) {
            Some(inside) => QueryValue { text: inside.into(), form: Form::Regex, at },
            None => QueryValue { text: text.into(), form: Form::Bare, at },
        })
    }

    fn quoted(&mut self, quote: char) -> Result<QueryValue<'t>, QueryError> {
        let at = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((index, c)) = chars.next() {
            match c {
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c if c == quote => {
                    self.at += index + 1;
                    return Ok(QueryValue { text: text.into(), form: Form::Quoted, at });
                }
                c => text.push(c),
            }
        }
        Err(self.error(Kind::QuoteOpen))
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next character that is not a blank. Skips the blanks before it.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn is_at_blank(&self) -> bool {
        self.rest().starts_with(char::is_whitespace)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len() } else { 0 };
        is_there
    }

    fn is_at(&mut self, word: &str, sign: &str) -> bool {
        self.word_len(&[word, sign]).is_some()
    }

    fn take_word(&mut self, words: &[&str]) -> bool {
        let len = self.word_len(words);
        self.at += len.unwrap_or_default();
        len.is_some()
    }

    /// The length of the next word, if it is one of these.
    fn word_len(&mut self, words: &[&str]) -> Option<usize> {
        self.peek();
        let rest = self.rest();
        let is_end = |c: char| c.is_whitespace() || "()!".contains(c);
        let len = rest.find(is_end).unwrap_or(rest.len());
        words.iter().any(|word| word.eq_ignore_ascii_case(&rest[..len])).then_some(len)
    }

    fn error(&self, kind: Kind) -> QueryError {
        self.error_at(self.at, kind)
    }

    fn error_at(&self, at: usize, kind: Kind) -> QueryError {
        kind.at(self.text[..at].chars().count() + 1)
    }
}

impl Sign {
    const fn searches(self) -> bool {
        matches!(self, Self::Like | Self::NotLike)
    }

    /// The term, negated if the sign is a negation.
    fn applied(self, term: Expression) -> Expression {
        match self {
            Self::IsNot | Self::NotLike => Expression::Not(Box::new(term)),
            Self::Is | Self::Like | Self::Compares(_) => term,
        }
    }

    const fn order(self) -> ComparisonOrder {
        match self {
            Self::Compares(order) => order,
            _ => ComparisonOrder::Equal,
        }
    }
}

fn joined(mut parts: Vec<Expression>, join: fn(Vec<Expression>) -> Expression) -> Expression {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

/// The length of a value without quotes, in bytes.
fn bare_len(text: &str) -> usize {
    let mut open = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return at,
            ')' => open -= 1,
            c if c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

/// The length of the match rule at the start of the text, in bytes.
///
/// A match rule is recognized by an apostrophe after its first `=`, or by a second key after a
/// comma.
fn rule_len(text: &str) -> Option<usize> {
    let (len, is_quoted) = pair_len(text)?;
    let mut end = len;
    while let Some(next) = text[end..].strip_prefix(',') {
        let next = next.trim_start_matches(' ');
        let start = text.len() - next.len();
        let Some((len, _)) = pair_len(next) else { break };
        end = start + len;
    }
    (is_quoted || end > len).then_some(end)
}

/// The length of a key with its value, in bytes, and whether the value is in quotes.
fn pair_len(text: &str) -> Option<(usize, bool)> {
    let (key, value) = text.split_once('=')?;
    let is_key = RULE_KEYS.contains(&key) || (key.starts_with("arg") && key.len() < RULE_KEY_MAX);
    if !is_key || !key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
        return None;
    }
    let mut is_open = false;
    let ends = |c: char| {
        is_open ^= c == '\'';
        !is_open && (c == ',' || c == ')' || c.is_whitespace())
    };
    let len = value.find(ends).unwrap_or(value.len());
    Some((key.len() + 1 + len, value.starts_with('\'')))
}

/// Returns true if a text after a colon is the rest of a unique name as buses assign them: `:1.7`.
fn is_like_unique_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('.')
}

/// Returns true if a word is a key of match rules. Words that are also fields mean the field.
fn is_rule_key(word: &str) -> bool {
    let argument = || {
        let digits = word.strip_prefix("arg")?.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let kind = &word["arg".len() + digits.len()..];
        Some(digits.parse::<u8>().is_ok() && ["path", "namespace"].contains(&kind))
    };
    RULE_KEYS.contains(&word) || argument().unwrap_or(false)
}

/// A sign stands before each sign that is a prefix of it.
const SIGNS: &[(&str, Sign)] = &[
    ("!=", Sign::IsNot),
    ("!~", Sign::NotLike),
    ("<=", Sign::Compares(ComparisonOrder::AtMost)),
    (">=", Sign::Compares(ComparisonOrder::AtLeast)),
    ("<", Sign::Compares(ComparisonOrder::Less)),
    (">", Sign::Compares(ComparisonOrder::More)),
    (":", Sign::Is),
    ("==", Sign::Is),
    ("=", Sign::Is),
    ("~", Sign::Like),
];

/// The text between the bounds of a range.
const RANGE: &str = "..";

/// The characters of signs, except the `!` of negations.
const SIGN_CHARS: [char; 5] = [':', '=', '~', '<', '>'];

/// Characters with which a value without quotes cannot begin.
const COMPARISON_CHARS: [char; 4] = ['=', '~', '<', '>'];

/// Words that are operators in other languages, with an equivalent query.
const WORD_SIGNS: &[(&str, &str)] = &[
    ("in", "(member:A or member:B)"),
    ("contains", "member~text"),
    ("like", "member:Get*"),
    ("matches", "member~/expression/"),
    ("eq", "member=Get"),
    ("equals", "member=Get"),
    ("ne", "member!=Get"),
    ("gt", "dur>50ms"),
    ("ge", "dur>=50ms"),
    ("lt", "dur<50ms"),
    ("le", "dur<=50ms"),
];

/// Words that join terms.
const JOINS: [&str; 5] = ["and", "or", "not", "&&", "||"];

const QUOTES: [char; 2] = ['"', '\''];

const RULE_KEYS: [&str; 8] =
    ["type", "sender", "interface", "member", "path", "path_namespace", "destination", "eavesdrop"];

/// More than the length of the longest key, `arg63namespace`, in bytes.
const RULE_KEY_MAX: usize = 15;

/// The maximum nesting depth of parentheses and negations.
pub const DEPTH_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::rule_len;

    #[test]
    fn match_rules_in_queries_are_recognized_by_quotes_or_commas() {
        for (text, expected) in [
            ("type='signal'", Some(13)),
            ("type='signal',member='X' dur>1ms", Some(24)),
            ("type=signal,member=X", Some(20)),
            ("type='signal', arg0path='/a b'", Some(30)),
            ("type=signal", None),
            ("from='x',to='y'", None),
            ("member:x", None),
            ("arg0namespace='org.x')", Some(21)),
        ] {
            assert_eq!(rule_len(text), expected, "{text}");
        }
    }
}
