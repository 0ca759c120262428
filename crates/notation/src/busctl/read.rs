//! Reading the words of busctl.

use wire::body::Value;
use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, MismatchReason, MismatchStep, TypeMismatch, busctl, example,
    parse_signature, scalar,
};

/// Reads the arguments of a message with the types `signature`; all words must be used.
///
/// ```
/// use notation::busctl::read_arguments;
///
/// let no_descriptors = &mut |_: &str| Err("there are no descriptors".to_owned());
/// assert!(read_arguments("a{sv}", &["1", "hint", "y", "7"], no_descriptors).is_ok());
/// let error = read_arguments("sy", &["text", "256"], no_descriptors).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 2 must be a whole number from 0 to 255 (y), but is 256; example: 7",
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
    let mut reader = WordReader { words: words.iter(), open };
    let numbered = signature.types().enumerate();
    let values = numbered.map(|(place, kind)| {
        reader.value(kind, 0).map_err(|mismatch| match (&*mismatch.steps, &mismatch.reason) {
            ([], MismatchReason::Missing) => ArgumentError::Count {
                signature: signature.into(),
                expected: signature.types().count(),
                given: place,
            },
            _ => ArgumentError::Mismatch { number: place + 1, mismatch },
        })
    });
    let values = values.collect::<Result<_, _>>()?;
    match reader.words.next() {
        None => Ok(values),
        Some(&given) => {
            Err(ArgumentError::Words { signature: signature.into(), given: given.into() })
        }
    }
}

struct WordReader<'w, 'o> {
    words: std::slice::Iter<'w, &'w str>,
    open: DescriptorOpener<'o>,
}

impl<'w> WordReader<'w, '_> {
    /// Reads a value that is nested inside `depth` containers.
    fn value(&mut self, kind: Type<'_>, depth: usize) -> Result<Value, Box<TypeMismatch>> {
        match kind {
            Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_)
                if depth >= VALUE_DEPTH_MAX =>
            {
                Err(mismatch(kind, "deeper", MismatchReason::TooDeep))
            }
            Type::Variant => self.variant(depth + 1),
            Type::Array(element) => self.array(element, depth + 1),
            Type::Struct(types) => Ok(Value::Struct(self.fields(types, depth + 1)?)),
            Type::DictEntry(types) => {
                let pair = <[Value; 2]>::try_from(self.fields(types, depth + 1)?);
                let pair = pair.expect("a dict entry has a key and a value");
                Ok(Value::DictEntry(Box::new(pair.into())))
            }
            Type::UnixFd => {
                let word = self.word(kind)?;
                let opened = (self.open)(word);
                opened
                    .map(Value::UnixFd)
                    .map_err(|why| mismatch(kind, word, MismatchReason::Unopened(why.into())))
            }
            basic => {
                let word = self.word(kind)?;
                scalar::read(basic, word).map_err(|reason| mismatch(kind, word, reason))
            }
        }
    }

    fn word(&mut self, kind: Type<'_>) -> Result<&'w str, Box<TypeMismatch>> {
        self.words.next().copied().ok_or_else(|| mismatch(kind, "missing", MismatchReason::Missing))
    }

    fn variant(&mut self, depth: usize) -> Result<Value, Box<TypeMismatch>> {
        let word = self.word(Type::Variant)?;
        let wrong = |reason| mismatch(Type::Variant, word, reason);
        let types =
            Signature::new(word).map_err(|error| wrong(MismatchReason::Signature(error)))?;
        let kind = types.single().ok_or_else(|| wrong(MismatchReason::VariantNotSingle))?;
        let inside =
            self.value(kind, depth).map_err(|mismatch| mismatch.inside(MismatchStep::Variant))?;
        Ok(Value::Variant(Box::new(inside)))
    }

    /// Reads the number of elements, and the elements.
    fn array(&mut self, element: Signature<'_>, depth: usize) -> Result<Value, Box<TypeMismatch>> {
        let array = Type::Array(element);
        let word = self.word(array)?;
        let count: u32 =
            scalar::integer(word).map_err(|_| mismatch(array, word, MismatchReason::Count))?;
        let kind = element.single().expect("an array has one element type");
        let items = (1..=count).map(|number| {
            self.value(kind, depth)
                .map_err(|mismatch| mismatch.inside(MismatchStep::Element(number as usize)))
        });
        Ok(crate::array(element, items.collect::<Result<_, _>>()?))
    }

    fn fields(
        &mut self,
        types: Signature<'_>,
        depth: usize,
    ) -> Result<Vec<Value>, Box<TypeMismatch>> {
        let fields = types.types().enumerate().map(|(place, kind)| {
            self.value(kind, depth)
                .map_err(|mismatch| mismatch.inside(MismatchStep::Field(place + 1)))
        });
        fields.collect()
    }
}

fn mismatch(kind: Type<'_>, given: &str, reason: MismatchReason) -> Box<TypeMismatch> {
    let example = busctl::words(&example::example(kind)).join(" ");
    TypeMismatch::new(kind, given.to_owned(), example, reason)
}
