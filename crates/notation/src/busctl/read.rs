//! Words to values.

use wire::body::Value;
use wire::limits::VALUE_DEPTH_MAX;
use wire::signature::{Signature, Type};

use crate::{
    ArgumentError, DescriptorOpener, Misfit, MisfitReason, MisfitStep, busctl, checked, example,
    scalar,
};

/// Reads the arguments of a message, whose types are `signature`, from all of these words.
///
/// ```
/// use notation::busctl::read_arguments;
///
/// let none = &mut |_: &str| Err("there is none".to_owned());
/// assert!(read_arguments("a{sv}", &["1", "hint", "y", "7"], none).is_ok());
/// let error = read_arguments("sy", &["text", "256"], none).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "argument 2 must be a whole number from 0 to 255 (y), and is 256; an example is 7",
/// );
/// ```
///
/// # Errors
///
/// If the signature is none, or the words are not as many as it asks for or not of its types.
pub fn read_arguments(
    signature: &str,
    words: &[&str],
    open: DescriptorOpener<'_>,
) -> Result<Vec<Value>, ArgumentError> {
    let signature = checked(signature)?;
    let mut reader = WordReader { words: words.iter(), open };
    let numbered = signature.types().enumerate();
    let values = numbered.map(|(place, kind)| {
        reader.value(kind, 0).map_err(|misfit| match (&*misfit.steps, &misfit.reason) {
            ([], MisfitReason::Missing) => ArgumentError::Count {
                signature: signature.into(),
                expected: signature.types().count(),
                given: place,
            },
            _ => ArgumentError::Misfit { number: place + 1, misfit },
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
    /// A value that stands inside `depth` containers.
    fn value(&mut self, kind: Type<'_>, depth: usize) -> Result<Value, Box<Misfit>> {
        match kind {
            Type::Variant | Type::Array(_) | Type::Struct(_) | Type::DictEntry(_)
                if depth >= VALUE_DEPTH_MAX =>
            {
                Err(misfit(kind, "deeper", MisfitReason::TooDeep))
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
                    .map_err(|why| misfit(kind, word, MisfitReason::Unopened(why.into())))
            }
            basic => {
                let word = self.word(kind)?;
                scalar::read(basic, word).map_err(|reason| misfit(kind, word, reason))
            }
        }
    }

    fn word(&mut self, kind: Type<'_>) -> Result<&'w str, Box<Misfit>> {
        self.words.next().copied().ok_or_else(|| misfit(kind, "missing", MisfitReason::Missing))
    }

    fn variant(&mut self, depth: usize) -> Result<Value, Box<Misfit>> {
        let word = self.word(Type::Variant)?;
        let wrong = |reason| misfit(Type::Variant, word, reason);
        let types = Signature::new(word).map_err(|error| wrong(MisfitReason::Signature(error)))?;
        let kind = types.single().ok_or_else(|| wrong(MisfitReason::VariantNotSingle))?;
        let inside =
            self.value(kind, depth).map_err(|misfit| misfit.inside(MisfitStep::Variant))?;
        Ok(Value::Variant(Box::new(inside)))
    }

    /// How many elements there are, and these.
    fn array(&mut self, element: Signature<'_>, depth: usize) -> Result<Value, Box<Misfit>> {
        let array = Type::Array(element);
        let word = self.word(array)?;
        let count: u32 =
            scalar::whole(word).map_err(|_| misfit(array, word, MisfitReason::Count))?;
        let kind = element.single().expect("an array has one element type");
        let items = (1..=count).map(|number| {
            self.value(kind, depth)
                .map_err(|misfit| misfit.inside(MisfitStep::Element(number as usize)))
        });
        Ok(crate::array(element, items.collect::<Result<_, _>>()?))
    }

    fn fields(&mut self, types: Signature<'_>, depth: usize) -> Result<Vec<Value>, Box<Misfit>> {
        let fields = types.types().enumerate().map(|(place, kind)| {
            self.value(kind, depth).map_err(|misfit| misfit.inside(MisfitStep::Field(place + 1)))
        });
        fields.collect()
    }
}

fn misfit(kind: Type<'_>, given: &str, reason: MisfitReason) -> Box<Misfit> {
    let example = busctl::words(&example::example(kind)).join(" ");
    Misfit::new(kind, given.to_owned(), example, reason)
}
