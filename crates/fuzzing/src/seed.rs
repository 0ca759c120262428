//! Seed inputs of the targets.

/// A name in the corpus, and the input.
pub type Seed = (String, Vec<u8>);

/// Makes seeds from inputs, named by their index.
pub(crate) fn numbered<T: AsRef<[u8]>>(inputs: impl IntoIterator<Item = T>) -> Vec<Seed> {
    let inputs = inputs.into_iter().enumerate();
    inputs.map(|(number, input)| (number.to_string(), input.as_ref().to_vec())).collect()
}

/// Splits off the first byte, which selects options.
pub(crate) fn split_first(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest))
}
