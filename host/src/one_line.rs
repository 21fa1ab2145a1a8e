//! Texts that others have chosen, as part of a line of the log.

/// `text` with everything escaped that could pass for another line, move a cursor or turn the text around.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() || reorders_or_breaks(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

/// Line and paragraph separators, and the marks by which text runs the other way.
fn reorders_or_breaks(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}
