//! The output of a program on a terminal, as text while it arrives.

use std::io::Read;
use std::str;
use std::sync::mpsc::{self, Receiver};
use std::thread;

/// Returns the text from `terminal`, in pieces, until it closes.
///
/// A character whose bytes arrive in two pieces is part of the second piece. Invalid UTF-8 is
/// replaced by U+FFFD.
pub fn texts_of(mut terminal: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut decoder = Decoder::default();
        let mut buffer = [0; 4096];
        // Reading fails after the program has ended.
        while let Ok(count @ 1..) = terminal.read(&mut buffer) {
            if sender.send(decoder.decode(&buffer[..count])).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Decodes UTF-8 that arrives in pieces.
#[derive(Default)]
struct Decoder {
    /// The first bytes of an incomplete character.
    unfinished: Vec<u8>,
}

impl Decoder {
    fn decode(&mut self, bytes: &[u8]) -> String {
        self.unfinished.extend_from_slice(bytes);
        let mut text = String::new();
        loop {
            match str::from_utf8(&self.unfinished) {
                Ok(valid) => {
                    text.push_str(valid);
                    self.unfinished.clear();
                    return text;
                }
                Err(error) => {
                    let valid = self.unfinished.drain(..error.valid_up_to());
                    text.push_str(
                        str::from_utf8(valid.as_slice()).expect("it is valid up to here"),
                    );
                    drop(valid);
                    let Some(invalid) = error.error_len() else { return text };
                    self.unfinished.drain(..invalid);
                    text.push(char::REPLACEMENT_CHARACTER);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_decoded_whole() {
        let bytes = "a µ – 𝄞 z".as_bytes();
        for at in 0..bytes.len() {
            let (start, end) = bytes.split_at(at);
            let mut decoder = Decoder::default();
            let text = decoder.decode(start) + &decoder.decode(end);
            assert_eq!(text, "a µ – 𝄞 z", "split at {at}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(Decoder::default().decode(b"a\xFFb\xC3("), "a\u{FFFD}b\u{FFFD}(");
    }
}
