//! Inputs with which a search begins.

/// An input and its name in the corpus.
pub type Seed = (String, Vec<u8>);

/// Inputs as seeds, named by their numbers.
pub(crate) fn numbered<T: AsRef<[u8]>>(inputs: impl IntoIterator<Item = T>) -> Vec<Seed> {
    let inputs = inputs.into_iter().enumerate();
    inputs.map(|(number, input)| (number.to_string(), input.as_ref().to_vec())).collect()
}

/// Takes the first byte, which selects how the others are used.
pub(crate) fn split_first(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}
