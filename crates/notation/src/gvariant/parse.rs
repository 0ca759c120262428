//! The grammar of the text ("GVariant Text Format" of GLib), for the types that D-Bus has.

use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::Signature;

use super::node::{GvariantContent, GvariantNode, GvariantSyntaxError};

/// Parses a text that is a single value.
pub(super) fn parse(text: &str) -> Result<GvariantNode, GvariantSyntaxError> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0 };
    let node = parser.value()?;
    parser.skip_blanks();
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.error_at_cursor("the end")),
    }
}

/// Parses a text that is a list of values with commas between them. The error has the index of the
/// wrong value, from 0.
pub(super) fn parse_list(text: &str) -> Result<Vec<GvariantNode>, (usize, GvariantSyntaxError)> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0 };
    let mut nodes = Vec::new();
    parser.skip_blanks();
    while parser.peek().is_some() {
        let place = nodes.len();
        let wrong = |error| (place, error);
        if place > 0 {
            parser.take(',', "a comma, or the end").map_err(wrong)?;
        }
        nodes.push(parser.value().map_err(wrong)?);
        parser.skip_blanks();
    }
    Ok(nodes)
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, GvariantSyntaxError>;

impl Parser {
    fn value(&mut self) -> Parsed<GvariantNode> {
        self.skip_blanks();
        let column = self.at + 1;
        let content = self.content()?;
        Ok(GvariantNode { column, content })
    }

    fn content(&mut self) -> Parsed<GvariantContent> {
        match self.peek() {
            Some('[') => self.nested(Self::list),
            Some('(') => self.nested(Self::tuple),
            Some('{') => self.nested(Self::dictionary),
            Some('<') => self.nested(Self::variant),
            Some('@') => self.nested(Self::typed),
            Some('\'' | '"') => Ok(GvariantContent::Text(self.text_literal()?)),
            Some('b') if matches!(self.text.get(self.at + 1), Some('\'' | '"')) => {
                self.at += 1;
                self.bytes_literal()
            }
            Some('+' | '-' | '.' | '0'..='9') => Ok(GvariantContent::Number(self.word())),
            Some(c) if c.is_ascii_alphabetic() => self.nested(Self::keyword),
            _ => Err(self.error_at_cursor("a value")),
        }
    }

    /// Parses a container, and checks that the nesting does not exceed the limit of messages.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<GvariantContent>,
    ) -> Parsed<GvariantContent> {
        if self.depth > VALUE_DEPTH_MAX {
            return Err(self.error_at_cursor("at most 64 nested containers"));
        }
        self.depth += 1;
        let content = read(self);
        self.depth -= 1;
        content
    }

    /// Parses an array: values with commas between them.
    fn list(&mut self) -> Parsed<GvariantContent> {
        self.take('[', "an array")?;
        let mut items = Vec::new();
        while !self.is_next(']') {
            if !items.is_empty() {
                self.take(',', "a comma, or the end of the array")?;
            }
            items.push(self.value()?);
        }
        self.at += 1;
        Ok(GvariantContent::Array(items))
    }

    /// Parses a tuple: values with commas between them. A tuple with one field has a comma after
    /// it.
    fn tuple(&mut self) -> Parsed<GvariantContent> {
        self.take('(', "a tuple")?;
        let mut fields = Vec::new();
        while !self.is_next(')') {
            if fields.len() > 1 {
                self.take(',', "a comma, or the end of the tuple")?;
            }
            fields.push(self.value()?);
            if fields.len() == 1 {
                self.take(',', "a comma, which a tuple with one field needs too")?;
            }
        }
        self.at += 1;
        Ok(GvariantContent::Tuple(fields))
    }

    /// Parses `{key: value, ...}`, or `{key, value}`, which is a single entry.
    fn dictionary(&mut self) -> Parsed<GvariantContent> {
        self.take('{', "a dictionary")?;
        let mut entries = Vec::new();
        while !self.is_next('}') {
            if !entries.is_empty() {
                self.take(',', "a comma, or the end of the dictionary")?;
            }
            let key = self.value()?;
            if entries.is_empty() && self.is_next(',') {
                return self.entry(key);
            }
            self.take(':', "a colon after the key")?;
            entries.push((key, self.value()?));
        }
        self.at += 1;
        Ok(GvariantContent::Dictionary(entries))
    }

    fn entry(&mut self, key: GvariantNode) -> Parsed<GvariantContent> {
        self.take(',', "a comma after the key")?;
        let value = self.value()?;
        self.take('}', "the end of the entry")?;
        Ok(GvariantContent::Entry(Box::new((key, value))))
    }

    fn variant(&mut self) -> Parsed<GvariantContent> {
        self.take('<', "a variant")?;
        let inside = self.value()?;
        self.take('>', "the end of the variant")?;
        Ok(GvariantContent::Variant(Box::new(inside)))
    }

    /// Parses a value with a type annotation, such as `@as []`.
    fn typed(&mut self) -> Parsed<GvariantContent> {
        self.take('@', "a type")?;
        let start = self.at;
        let is_type = |c: &char| "ybnqiuxtdsoghva(){}".contains(*c);
        let types: String = self.text[start..].iter().take_while(|c| is_type(c)).collect();
        let signature = Signature::new(&types).ok().filter(|types| types.single().is_some());
        let signature = signature.ok_or_else(|| self.error_at_cursor("a single D-Bus type"))?;
        self.at += types.len();
        Ok(GvariantContent::Typed(signature.into(), Box::new(self.value()?)))
    }

    /// Parses `true`, `inf`, or the name of a type followed by a value.
    fn keyword(&mut self) -> Parsed<GvariantContent> {
        let start = self.at;
        let word = self.word();
        let code = match word.as_str() {
            "true" => return Ok(GvariantContent::Boolean(true)),
            "false" => return Ok(GvariantContent::Boolean(false)),
            "inf" | "nan" => return Ok(GvariantContent::Number(word)),
            "boolean" => "b",
            "byte" => "y",
            "int16" => "n",
            "uint16" => "q",
            "int32" => "i",
            "handle" => "h",
            "uint32" => "u",
            "int64" => "x",
            "uint64" => "t",
            "double" => "d",
            "string" => "s",
            "objectpath" => "o",
            "signature" => "g",
            _ => {
                self.at = start;
                return Err(self.error_at_cursor("a value (strings need quotes)"));
            }
        };
        let types = Signature::new(code).expect("a valid type code").into();
        Ok(GvariantContent::Typed(types, Box::new(self.value()?)))
    }

    /// Takes letters, digits, and the other characters of numbers.
    fn word(&mut self) -> String {
        let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let word: String = self.text[self.at..].iter().take_while(|c| is_part(c)).collect();
        self.at += word.len();
        word
    }

    fn text_literal(&mut self) -> Parsed<String> {
        let quote = self.text[self.at];
        self.at += 1;
        let mut text = String::new();
        loop {
            match self
                .next()
                .ok_or_else(|| self.error_at_cursor("the closing quote of the string"))?
            {
                c if c == quote => return Ok(text),
                '\\' => text.extend(self.escape()?),
                c => text.push(c),
            }
        }
    }

    /// Parses the character after a backslash.
    fn escape(&mut self) -> Parsed<Option<char>> {
        let c =
            self.next().ok_or_else(|| self.error_at_cursor("a character after the backslash"))?;
        Ok(Some(match c {
            'u' => self.code_point(4)?,
            'U' => self.code_point(8)?,
            '\n' => return Ok(None),
            c => control(c).map_or(c, char::from),
        }))
    }

    fn code_point(&mut self, digits: usize) -> Parsed<char> {
        let end = (self.at + digits).min(self.text.len());
        let text: String = self.text[self.at..end].iter().collect();
        let code = u32::from_str_radix(&text, 16).ok().filter(|_| text.len() == digits);
        let c = code.and_then(char::from_u32).filter(|&c| c != '\0');
        let c = c.ok_or_else(|| self.error_at_cursor("the hexadecimal digits of a character"))?;
        self.at = end;
        Ok(c)
    }

    /// Parses a byte string, and adds the 0 byte at its end.
    fn bytes_literal(&mut self) -> Parsed<GvariantContent> {
        let quote = self.text[self.at];
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self
                .next()
                .ok_or_else(|| self.error_at_cursor("the closing quote of the byte string"))?
            {
                c if c == quote => break,
                '\\' => bytes.extend(self.byte_escape()?),
                c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        bytes.push(0);
        Ok(GvariantContent::Bytes(bytes))
    }

    fn byte_escape(&mut self) -> Parsed<Option<u8>> {
        let c =
            self.next().ok_or_else(|| self.error_at_cursor("a character after the backslash"))?;
        Ok(match c {
            '0'..='7' => {
                let mut code = c.to_digit(8).unwrap_or_default();
                while let Some(digit) = self.peek().and_then(|c| c.to_digit(8))
                    && code * 8 + digit < 256
                {
                    code = code * 8 + digit;
                    self.at += 1;
                }
                Some(code as u8)
            }
            '\n' => None,
            c => control(c).or_else(|| u8::try_from(c).ok()),
        })
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn is_next(&mut self, c: char) -> bool {
        self.skip_blanks();
        self.peek() == Some(c)
    }

    fn take(&mut self, c: char, expected: &'static str) -> Parsed<()> {
        if !self.is_next(c) {
            return Err(self.error_at_cursor(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    const fn error_at_cursor(&self, expected: &'static str) -> GvariantSyntaxError {
        GvariantSyntaxError { column: self.at + 1, expected }
    }
}

/// The control character for the letter of an escape sequence.
const fn control(c: char) -> Option<u8> {
    match c {
        'a' => Some(7),
        'b' => Some(8),
        't' => Some(9),
        'n' => Some(10),
        'v' => Some(11),
        'f' => Some(12),
        'r' => Some(13),
        _ => None,
    }
}
