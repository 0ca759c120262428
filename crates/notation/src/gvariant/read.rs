//! Reading GVariant text, checked against the expected types.

use wire::body::Value;
use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::{Signature, Type};

use super::infer::infer;
use super::node::{GvariantContent, GvariantNode, GvariantSyntaxError};
use super::parse::{parse, parse_list};
use crate::{
    ArgumentError, DescriptorOpener, MismatchReason, MismatchStep, TypeMismatch, example, gvariant,
    parse_signature, scalar,
};

/// Reads the arguments of a message with the types `signature`: one word each.
///
/// As in gdbus, a string that is a whole argument needs no quotes.
///
/// ```
/// use notation::gvariant::read_arguments;
///
/// let no_descriptors = &mut |_: &str| Err("there are no descriptors".to_owned());
/// assert!(read_arguments("sa{sv}", &["text", "{'hint': <byte 7>}"], no_descriptors).is_ok());
/// let error = read_arguments("ai", &["[1, 'two']"], no_descriptors).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 1, element 2 must be a whole number from -2147483648 to 2147483647 (i), but is \
///      [1, 'two']: expected a number at character 5; example: 7",
/// );
/// ```
///
/// # Errors
///
/// If the signature is invalid, or the number of words or their values do not match it.
pub fn read_arguments(
    signature: &str,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let signature = parse_signature(signature)?;
    let types: Vec<_> = signature.types().collect();
    if types.len() != words.len() {
        let (signature, given) = (signature.into(), words.len());
        return Err(ArgumentError::Count { signature, expected: types.len(), given });
    }
    let numbered = types.into_iter().zip(words).enumerate();
    let values = numbered.map(|(place, (kind, word))| {
        let mismatch = |mismatch| ArgumentError::Mismatch { number: place + 1, mismatch };
        read_value(kind, word, open).map_err(mismatch)
    });
    values.collect()
}

/// Reads the arguments of a message with the types `signature` from one text: values with commas
/// between them, with or without parentheses around all of them.
///
/// ```
/// use notation::gvariant::read_list;
///
/// let no_descriptors = &mut |_: &str| Err("there are no descriptors".to_owned());
/// assert_eq!(
///     read_list("su", "'text', 7", no_descriptors),
///     read_list("su", "('text', 7)", no_descriptors),
/// );
/// let error = read_list("su", "'text', 'seven'", no_descriptors).unwrap_err();
/// assert_eq!(error.column(), Some(9));
/// ```
///
/// # Errors
///
/// If the signature is invalid, or the number of values or their types do not match it.
pub fn read_list(
    signature: &str,
    text: &str,
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let signature = parse_signature(signature)?;
    let types: Vec<_> = signature.types().collect();
    let nodes = parse_list(text).map_err(|(place, error)| {
        // An error after the last argument is reported with the type of the last argument.
        let kind = types.get(place).or(types.last()).copied().unwrap_or(Type::Variant);
        ArgumentError::Mismatch { number: place + 1, mismatch: syntax_mismatch(kind, text, error) }
    })?;
    let mut resolver = Resolver { word: text, open };
    let read = resolver.list(signature, &types, &nodes);
    match nodes.as_slice() {
        // A single tuple contains all arguments, unless it is the only argument.
        [GvariantNode { content: GvariantContent::Tuple(fields), .. }] if read.is_err() => {
            resolver.list(signature, &types, fields).or_else(|error| match types.as_slice() {
                [Type::Struct(_)] => read,
                _ => Err(error),
            })
        }
        _ => read,
    }
}

/// Reads one value of this type. A string needs no quotes. `open` gets the word of a file
/// descriptor, or, inside a container, its number or its string in quotes.
///
/// # Errors
///
/// If the word is not a value of this type, or the descriptor cannot be opened.
pub fn read_value(
    kind: Type<'_>,
    word: &str,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<TypeMismatch>> {
    if kind == Type::UnixFd {
        let unopened = |why: String| mismatch(kind, word, MismatchReason::Unopened(why.into()));
        return open(word).map(Value::UnixFd).map_err(unopened);
    }
    let read = match parse(word) {
        Ok(node) => Resolver { word, open }.value(kind, &node, 0),
        Err(error) => Err(syntax_mismatch(kind, word, error)),
    };
    match kind {
        Type::String | Type::ObjectPath | Type::Signature => {
            // Report the error for the word without quotes; a word in valid quotes was accepted
            // above.
            read.or_else(|_| {
                scalar::read(kind, word).map_err(|reason| mismatch(kind, word, reason))
            })
        }
        _ => read,
    }
}

/// Reads a value whose type is annotated or can be inferred.
///
/// # Errors
///
/// If the text is not a value, or its type is unknown, such as the type of an empty array.
pub fn read_untyped(word: &str, open: DescriptorOpener<'_>) -> Result<Value, Box<TypeMismatch>> {
    let node = parse(word).map_err(|error| syntax_mismatch(Type::Variant, word, error))?;
    let types =
        infer(&node).ok_or_else(|| mismatch(Type::Variant, word, MismatchReason::Untyped))?;
    let kind = Signature::new(&types).ok().and_then(Signature::single);
    let kind = kind.ok_or_else(|| mismatch(Type::Variant, word, MismatchReason::Untyped))?;
    Resolver { word, open }.value(kind, &node, 0)
}

/// Converts syntax trees of a word to values.
struct Resolver<'w, 'o> {
    word: &'w str,
    open: DescriptorOpener<'o>,
}

impl Resolver<'_, '_> {
    /// Converts nodes to values of these types, one for each type.
    fn list(
        &mut self,
        signature: Signature<'_>,
        types: &[Type<'_>],
        nodes: &[GvariantNode],
    ) -> Result<Vec<Value>, ArgumentError> {
        if types.len() != nodes.len() {
            let (signature, expected, given) = (signature.into(), types.len(), nodes.len());
            return Err(ArgumentError::Count { signature, expected, given });
        }
        let numbered = types.iter().zip(nodes).enumerate();
        let values = numbered.map(|(place, (kind, node))| {
            let mismatch = |mismatch| ArgumentError::Mismatch { number: place + 1, mismatch };
            self.value(*kind, node, 0).map_err(mismatch)
        });
        values.collect()
    }

    /// Converts a node, nested inside `depth` containers, to a value of this type.
    fn value(
        &mut self,
        kind: Type<'_>,
        node: &GvariantNode,
        depth: usize,
    ) -> Result<Value, Box<TypeMismatch>> {
        let word = self.word;
        let wrong = |reason| mismatch(kind, word, reason).at(node.column);
        match (kind, &node.content) {
            _ if depth > VALUE_DEPTH_MAX => Err(wrong(MismatchReason::TooDeep)),
            (_, GvariantContent::Typed(types, value)) if *types.as_str() == *kind.to_string() => {
                self.value(kind, value, depth)
            }
            (_, GvariantContent::Typed(types, _)) => {
                Err(wrong(MismatchReason::Typed(types.as_str().into())))
            }
            (Type::Variant, GvariantContent::Variant(value)) => self.variant(value, depth),
            (Type::Array(element), GvariantContent::Bytes(bytes)) if element.as_bytes() == b"y" => {
                Ok(Value::Bytes(bytes.clone()))
            }
            (Type::Array(element), GvariantContent::Array(items)) => {
                self.array(element, items, depth)
            }
            (Type::Array(element), GvariantContent::Dictionary(entries)) => {
                match element.single() {
                    Some(Type::DictEntry(types)) => {
                        let entries = entries.iter();
                        let items = entries.map(|(key, value)| self.pair(types, key, value, depth));
                        Ok(crate::array(element, items.collect::<Result<_, _>>()?))
                    }
                    _ => Err(wrong(expected(node, words(kind)))),
                }
            }
            (Type::DictEntry(types), GvariantContent::Entry(entry)) => {
                self.pair(types, &entry.0, &entry.1, depth)
            }
            (Type::Struct(types), GvariantContent::Tuple(fields)) => {
                let expected = types.types().count();
                if fields.len() != expected {
                    return Err(wrong(MismatchReason::Fields { expected, given: fields.len() }));
                }
                let fields = types.types().zip(fields).enumerate().map(|(place, (kind, field))| {
                    self.part(kind, field, depth, MismatchStep::Field(place + 1))
                });
                Ok(Value::Struct(fields.collect::<Result<_, _>>()?))
            }
            (Type::UnixFd, GvariantContent::Number(named) | GvariantContent::Text(named)) => {
                let opened = (self.open)(named).map(Value::UnixFd);
                opened.map_err(|why| wrong(MismatchReason::Unopened(why.into())))
            }
            (kind, content) => basic(kind, content, node).map_err(wrong),
        }
    }

    fn part(
        &mut self,
        kind: Type<'_>,
        node: &GvariantNode,
        depth: usize,
        step: MismatchStep,
    ) -> Result<Value, Box<TypeMismatch>> {
        self.value(kind, node, depth + 1).map_err(|mismatch| mismatch.inside(step))
    }

    fn variant(&mut self, inside: &GvariantNode, depth: usize) -> Result<Value, Box<TypeMismatch>> {
        let word = self.word;
        let untyped = || mismatch(Type::Variant, word, MismatchReason::Untyped).at(inside.column);
        let types = infer(inside).ok_or_else(untyped)?;
        let kind = Signature::new(&types).ok().and_then(Signature::single).ok_or_else(untyped)?;
        let value = self.part(kind, inside, depth, MismatchStep::Variant)?;
        Ok(Value::Variant(Box::new(value)))
    }

    fn array(
        &mut self,
        element: Signature<'_>,
        items: &[GvariantNode],
        depth: usize,
    ) -> Result<Value, Box<TypeMismatch>> {
        let kind = element.single().expect("an array has one element type");
        let items = items
            .iter()
            .enumerate()
            .map(|(place, item)| self.part(kind, item, depth, MismatchStep::Element(place + 1)));
        Ok(crate::array(element, items.collect::<Result<_, _>>()?))
    }

    fn pair(
        &mut self,
        types: Signature<'_>,
        key: &GvariantNode,
        value: &GvariantNode,
        depth: usize,
    ) -> Result<Value, Box<TypeMismatch>> {
        let mut kinds = types.types();
        let (of_key, of_value) =
            kinds.next().zip(kinds.next()).expect("a dict entry has a key and a value");
        let key = self.part(of_key, key, depth, MismatchStep::Key)?;
        let step = MismatchStep::ValueOf(scalar::text(&key).into());
        let value = self.part(of_value, value, depth, step)?;
        Ok(Value::DictEntry(Box::new((key, value))))
    }
}

fn basic(
    kind: Type<'_>,
    content: &GvariantContent,
    node: &GvariantNode,
) -> Result<Value, MismatchReason> {
    match (kind, content) {
        (Type::Boolean, GvariantContent::Boolean(truth)) => Ok(Value::Boolean(*truth)),
        (Type::String | Type::ObjectPath | Type::Signature, GvariantContent::Text(text)) => {
            scalar::read(kind, text)
        }
        (Type::Boolean | Type::String | Type::ObjectPath | Type::Signature, _) => {
            Err(expected(node, words(kind)))
        }
        (kind, GvariantContent::Number(number)) => match scalar::read(kind, number) {
            Err(MismatchReason::Kind) => Err(expected(node, words(kind))),
            read => read,
        },
        (kind, _) => Err(expected(node, words(kind))),
    }
}

const fn expected(node: &GvariantNode, expected: &'static str) -> MismatchReason {
    MismatchReason::Syntax { column: node.column, expected }
}

/// Describes the notation for a type.
const fn words(kind: Type<'_>) -> &'static str {
    match kind {
        Type::Boolean => "true or false",
        Type::String | Type::ObjectPath | Type::Signature => "a string in quotes",
        Type::Variant => "a variant, <…>",
        Type::Array(element) if matches!(element.as_bytes(), [b'{', ..]) => "a dictionary, {…}",
        Type::Array(_) => "an array, […]",
        Type::Struct(_) => "a tuple, (…)",
        Type::DictEntry(_) => "an entry, {…, …}",
        _ => "a number",
    }
}

/// The error for a text that violates the grammar.
fn syntax_mismatch(kind: Type<'_>, given: &str, error: GvariantSyntaxError) -> Box<TypeMismatch> {
    let column = error.column;
    mismatch(kind, given, error.into()).at(column)
}

fn mismatch(kind: Type<'_>, given: &str, reason: MismatchReason) -> Box<TypeMismatch> {
    let example = gvariant::value(&example::example(kind));
    let bare = example.split_once(' ').filter(|_| is_annotated(kind));
    let example = bare.map_or(example.as_str(), |(_, bare)| bare);
    TypeMismatch::new(kind, given.to_owned(), example.to_owned(), reason)
}

/// True if the notation of the type has a type annotation that can be omitted.
const fn is_annotated(kind: Type<'_>) -> bool {
    !matches!(kind, Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_))
}

impl From<GvariantSyntaxError> for MismatchReason {
    fn from(error: GvariantSyntaxError) -> Self {
        Self::Syntax { column: error.column, expected: error.expected }
    }
}
