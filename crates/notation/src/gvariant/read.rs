//! Text to values, each checked against the type that it must have.

use wire::body::Value;
use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::{Signature, Type};

use super::infer::infer;
use super::node::{GvariantContent, GvariantNode, GvariantSyntaxError};
use super::parse::{parse, parse_list};
use crate::{
    ArgumentError, DescriptorOpener, Misfit, MisfitReason, MisfitStep, checked, example, gvariant,
    scalar,
};

/// Reads the arguments of a message, whose types are `signature`: a word for each.
///
/// As gdbus has it, a text needs no quotes if it is an argument by itself.
///
/// ```
/// use notation::gvariant::read_arguments;
///
/// let none = &mut |_: &str| Err("there is none".to_owned());
/// assert!(read_arguments("sa{sv}", &["text", "{'hint': <byte 7>}"], none).is_ok());
/// let error = read_arguments("ai", &["[1, 'two']"], none).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 1, element 2 must be a whole number from -2147483648 to 2147483647 (i), and is \
///      [1, 'two']: a number should stand at character 5; an example is 7",
/// );
/// ```
///
/// # Errors
///
/// If the signature is none, or the words are not as many or not of these types.
pub fn read_arguments(
    signature: &str,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let signature = checked(signature)?;
    let types: Vec<_> = signature.types().collect();
    if types.len() != words.len() {
        let (signature, given) = (signature.into(), words.len());
        return Err(ArgumentError::Count { signature, expected: types.len(), given });
    }
    let numbered = types.into_iter().zip(words).enumerate();
    let values = numbered.map(|(place, (kind, word))| {
        let misfit = |misfit| ArgumentError::Misfit { number: place + 1, misfit };
        read_value(kind, word, open).map_err(misfit)
    });
    values.collect()
}

/// Reads the arguments of a message, whose types are `signature`, from one text: values with commas between
/// them, with or without the parentheses of a tuple around all of them.
///
/// ```
/// use notation::gvariant::read_list;
///
/// let none = &mut |_: &str| Err("there is none".to_owned());
/// assert_eq!(read_list("su", "'text', 7", none), read_list("su", "('text', 7)", none));
/// let error = read_list("su", "'text', 'seven'", none).unwrap_err();
/// assert_eq!(error.column(), Some(9));
/// ```
///
/// # Errors
///
/// If the signature is none, or the values are not as many or not of these types.
pub fn read_list(
    signature: &str,
    text: &str,
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let signature = checked(signature)?;
    let types: Vec<_> = signature.types().collect();
    let nodes = parse_list(text).map_err(|(place, error)| {
        // What is behind the last argument is looked at as if it were of its type.
        let kind = types.get(place).or(types.last()).copied().unwrap_or(Type::Variant);
        ArgumentError::Misfit { number: place + 1, misfit: broken(kind, text, error) }
    })?;
    let mut resolver = Resolver { word: text, open };
    let read = resolver.list(signature, &types, &nodes);
    match nodes.as_slice() {
        // A tuple is all arguments, unless it is the only one of them.
        [GvariantNode { what: GvariantContent::Tuple(fields), .. }] if read.is_err() => {
            resolver.list(signature, &types, fields).or_else(|error| match types.as_slice() {
                [Type::Struct(_)] => read,
                _ => Err(error),
            })
        }
        _ => read,
    }
}

/// Reads one value of this type. A text needs no quotes. A descriptor is what `open` knows: the word
/// itself, and inside of a container a number or a text in quotes.
///
/// # Errors
///
/// If it is not of the type.
pub fn read_value(
    kind: Type<'_>,
    word: &str,
    open: DescriptorOpener<'_>,
) -> Result<Value, Box<Misfit>> {
    if kind == Type::UnixFd {
        let unopened = |why: String| misfit(kind, word, MisfitReason::Unopened(why.into()));
        return open(word).map(Value::UnixFd).map_err(unopened);
    }
    let read = match parse(word) {
        Ok(node) => Resolver { word, open }.value(kind, &node, 0),
        Err(error) => Err(broken(kind, word, error)),
    };
    match kind {
        Type::String | Type::ObjectPath | Type::Signature => {
            // What is wrong is wrong with the word itself, unless it was clearly meant as a text.
            read.or_else(|_| scalar::read(kind, word).map_err(|reason| misfit(kind, word, reason)))
        }
        _ => read,
    }
}

/// Reads a value that says itself of what type it is, or is of the type that one would think of.
///
/// # Errors
///
/// If it is no value, or nothing says its type, as of an empty array.
pub fn read_untyped(word: &str, open: DescriptorOpener<'_>) -> Result<Value, Box<Misfit>> {
    let node = parse(word).map_err(|error| broken(Type::Variant, word, error))?;
    let types = infer(&node).ok_or_else(|| misfit(Type::Variant, word, MisfitReason::Untyped))?;
    let kind = Signature::new(&types).ok().and_then(Signature::single);
    let kind = kind.ok_or_else(|| misfit(Type::Variant, word, MisfitReason::Untyped))?;
    Resolver { word, open }.value(kind, &node, 0)
}

/// Finds the values that nodes of a word are.
struct Resolver<'w, 'o> {
    word: &'w str,
    open: DescriptorOpener<'o>,
}

impl Resolver<'_, '_> {
    /// The values of these types that nodes are, one of each.
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
            let misfit = |misfit| ArgumentError::Misfit { number: place + 1, misfit };
            self.value(*kind, node, 0).map_err(misfit)
        });
        values.collect()
    }

    /// The value of this type that a node is, inside `depth` containers.
    fn value(
        &mut self,
        kind: Type<'_>,
        node: &GvariantNode,
        depth: usize,
    ) -> Result<Value, Box<Misfit>> {
        let word = self.word;
        let wrong = |reason| misfit(kind, word, reason).at(node.column);
        match (kind, &node.what) {
            _ if depth > VALUE_DEPTH_MAX => Err(wrong(MisfitReason::TooDeep)),
            (_, GvariantContent::Typed(types, value)) if *types.as_str() == *kind.to_string() => {
                self.value(kind, value, depth)
            }
            (_, GvariantContent::Typed(types, _)) => {
                Err(wrong(MisfitReason::Typed(types.as_str().into())))
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
                    return Err(wrong(MisfitReason::Fields { expected, given: fields.len() }));
                }
                let fields = types.types().zip(fields).enumerate().map(|(place, (kind, field))| {
                    self.part(kind, field, depth, MisfitStep::Field(place + 1))
                });
                Ok(Value::Struct(fields.collect::<Result<_, _>>()?))
            }
            (Type::UnixFd, GvariantContent::Number(named) | GvariantContent::Text(named)) => {
                let opened = (self.open)(named).map(Value::UnixFd);
                opened.map_err(|why| wrong(MisfitReason::Unopened(why.into())))
            }
            (kind, what) => basic(kind, what, node).map_err(wrong),
        }
    }

    fn part(
        &mut self,
        kind: Type<'_>,
        node: &GvariantNode,
        depth: usize,
        step: MisfitStep,
    ) -> Result<Value, Box<Misfit>> {
        self.value(kind, node, depth + 1).map_err(|misfit| misfit.inside(step))
    }

    fn variant(&mut self, inside: &GvariantNode, depth: usize) -> Result<Value, Box<Misfit>> {
        let word = self.word;
        let untyped = || misfit(Type::Variant, word, MisfitReason::Untyped).at(inside.column);
        let types = infer(inside).ok_or_else(untyped)?;
        let kind = Signature::new(&types).ok().and_then(Signature::single).ok_or_else(untyped)?;
        let value = self.part(kind, inside, depth, MisfitStep::Variant)?;
        Ok(Value::Variant(Box::new(value)))
    }

    fn array(
        &mut self,
        element: Signature<'_>,
        items: &[GvariantNode],
        depth: usize,
    ) -> Result<Value, Box<Misfit>> {
        let kind = element.single().expect("an array has one element type");
        let items = items
            .iter()
            .enumerate()
            .map(|(place, item)| self.part(kind, item, depth, MisfitStep::Element(place + 1)));
        Ok(crate::array(element, items.collect::<Result<_, _>>()?))
    }

    fn pair(
        &mut self,
        types: Signature<'_>,
        key: &GvariantNode,
        value: &GvariantNode,
        depth: usize,
    ) -> Result<Value, Box<Misfit>> {
        let mut kinds = types.types();
        let (of_key, of_value) =
            kinds.next().zip(kinds.next()).expect("a dict entry has a key and a value");
        let key = self.part(of_key, key, depth, MisfitStep::Key)?;
        let step = MisfitStep::ValueOf(scalar::text(&key).into());
        let value = self.part(of_value, value, depth, step)?;
        Ok(Value::DictEntry(Box::new((key, value))))
    }
}

fn basic(
    kind: Type<'_>,
    what: &GvariantContent,
    node: &GvariantNode,
) -> Result<Value, MisfitReason> {
    match (kind, what) {
        (Type::Boolean, GvariantContent::Boolean(truth)) => Ok(Value::Boolean(*truth)),
        (Type::String | Type::ObjectPath | Type::Signature, GvariantContent::Text(text)) => {
            scalar::read(kind, text)
        }
        (Type::Boolean | Type::String | Type::ObjectPath | Type::Signature, _) => {
            Err(expected(node, words(kind)))
        }
        (kind, GvariantContent::Number(number)) => match scalar::read(kind, number) {
            Err(MisfitReason::Kind) => Err(expected(node, words(kind))),
            read => read,
        },
        (kind, _) => Err(expected(node, words(kind))),
    }
}

const fn expected(node: &GvariantNode, expected: &'static str) -> MisfitReason {
    MisfitReason::Syntax { column: node.column, expected }
}

/// What stands for a value of a type.
const fn words(kind: Type<'_>) -> &'static str {
    match kind {
        Type::Boolean => "true or false",
        Type::String | Type::ObjectPath | Type::Signature => "a text in quotes",
        Type::Variant => "a variant, <…>",
        Type::Array(element) if matches!(element.as_bytes(), [b'{', ..]) => "a dictionary, {…}",
        Type::Array(_) => "a list, […]",
        Type::Struct(_) => "a tuple, (…)",
        Type::DictEntry(_) => "an entry, {…, …}",
        _ => "a number",
    }
}

/// What is said of a text that breaks the rules of the form.
fn broken(kind: Type<'_>, given: &str, error: GvariantSyntaxError) -> Box<Misfit> {
    let column = error.column;
    misfit(kind, given, error.into()).at(column)
}

fn misfit(kind: Type<'_>, given: &str, reason: MisfitReason) -> Box<Misfit> {
    let example = gvariant::value(&example::example(kind));
    let bare = example.split_once(' ').filter(|_| is_annotated(kind));
    let example = bare.map_or(example.as_str(), |(_, bare)| bare);
    Misfit::new(kind, given.to_owned(), example.to_owned(), reason)
}

/// Whether a value of a type that is known needs no word in front.
const fn is_annotated(kind: Type<'_>) -> bool {
    !matches!(kind, Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_))
}

impl From<GvariantSyntaxError> for MisfitReason {
    fn from(error: GvariantSyntaxError) -> Self {
        Self::Syntax { column: error.column, expected: error.expected }
    }
}
