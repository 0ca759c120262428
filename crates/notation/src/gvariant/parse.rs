//! The grammar of the text ("GVariant Text Format" of GLib), as far as D-Bus has its types.

use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::Signature;

use super::node::{GvariantContent, GvariantNode, GvariantSyntaxError};

/// Reads one value, which is all of the text.
pub(super) fn parse(text: &str) -> Result<GvariantNode, GvariantSyntaxError> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0 };
    let node = parser.value()?;
    parser.skip_blanks();
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.wants("the end")),
    }
}

/// Reads values with commas between them, which are all of the text; or which of them, from 0, breaks the
/// rules, and where.
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
        let what = self.what()?;
        Ok(GvariantNode { column, what })
    }

    fn what(&mut self) -> Parsed<GvariantContent> {
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
            _ => Err(self.wants("a value")),
        }
    }

    /// One container inside the others, of which a message may not have more.
    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<GvariantContent>,
    ) -> Parsed<GvariantContent> {
        if self.depth > VALUE_DEPTH_MAX {
            return Err(self.wants("no container inside 64 others"));
        }
        self.depth += 1;
        let what = read(self);
        self.depth -= 1;
        what
    }

    /// Values with commas between.
    fn list(&mut self) -> Parsed<GvariantContent> {
        self.take('[', "a list")?;
        let mut items = Vec::new();
        while !self.is_next(']') {
            if !items.is_empty() {
                self.take(',', "a comma, or the end of the list")?;
            }
            items.push(self.value()?);
        }
        self.at += 1;
        Ok(GvariantContent::Array(items))
    }

    /// Values with commas between, and one behind that of a tuple of one.
    fn tuple(&mut self) -> Parsed<GvariantContent> {
        self.take('(', "a tuple")?;
        let mut fields = Vec::new();
        while !self.is_next(')') {
            if fields.len() > 1 {
                self.take(',', "a comma, or the end of the tuple")?;
            }
            fields.push(self.value()?);
            if fields.len() == 1 {
                self.take(',', "a comma, which a tuple of one has too")?;
            }
        }
        self.at += 1;
        Ok(GvariantContent::Tuple(fields))
    }

    /// `{key: value, ...}`, or `{key, value}`, which is an entry alone.
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
            self.take(':', "a colon behind the key")?;
            entries.push((key, self.value()?));
        }
        self.at += 1;
        Ok(GvariantContent::Dictionary(entries))
    }

    fn entry(&mut self, key: GvariantNode) -> Parsed<GvariantContent> {
        self.take(',', "a comma behind the key")?;
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

    /// `@as []`
    fn typed(&mut self) -> Parsed<GvariantContent> {
        self.take('@', "a type")?;
        let start = self.at;
        let is_type = |c: &char| "ybnqiuxtdsoghva(){}".contains(*c);
        let types: String = self.text[start..].iter().take_while(|c| is_type(c)).collect();
        let signature = Signature::new(&types).ok().filter(|types| types.single().is_some());
        let signature = signature.ok_or_else(|| self.wants("one type that D-Bus knows"))?;
        self.at += types.len();
        Ok(GvariantContent::Typed(signature.into(), Box::new(self.value()?)))
    }

    /// `true`, `inf`, or the name of a type in front of a value.
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
                return Err(self.wants("a value (texts have quotes)"));
            }
        };
        let types = Signature::new(code).expect("each is a type").into();
        Ok(GvariantContent::Typed(types, Box::new(self.value()?)))
    }

    /// Letters, digits, and what numbers have besides.
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
            match self.next().ok_or_else(|| self.wants("the quote that ends the text"))? {
                c if c == quote => return Ok(text),
                '\\' => text.extend(self.escape()?),
                c => text.push(c),
            }
        }
    }

    /// What stands behind a backslash.
    fn escape(&mut self) -> Parsed<Option<char>> {
        let c = self.next().ok_or_else(|| self.wants("a character behind the backslash"))?;
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
        let c = c.ok_or_else(|| self.wants("the digits of a character"))?;
        self.at = end;
        Ok(c)
    }

    /// Bytes, with a 0 behind them.
    fn bytes_literal(&mut self) -> Parsed<GvariantContent> {
        let quote = self.text[self.at];
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            match self.next().ok_or_else(|| self.wants("the quote that ends the bytes"))? {
                c if c == quote => break,
                '\\' => bytes.extend(self.byte_escape()?),
                c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
        bytes.push(0);
        Ok(GvariantContent::Bytes(bytes))
    }

    fn byte_escape(&mut self) -> Parsed<Option<u8>> {
        let c = self.next().ok_or_else(|| self.wants("a character behind the backslash"))?;
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
            return Err(self.wants(expected));
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

    const fn wants(&self, expected: &'static str) -> GvariantSyntaxError {
        GvariantSyntaxError { column: self.at + 1, expected }
    }
}

/// The control character that a letter behind a backslash stands for.
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
