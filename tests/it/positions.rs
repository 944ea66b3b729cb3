//! Properties of text: positions round-trip, the line index agrees with the buffer, and edits change it like a string.

use podlens::text::{Buffer, Encoding, LineIndex, Position, Span};
use proptest::prelude::*;

const ENCODINGS: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

/// Texts with every way to end a line (and some that do not), every width of character, and a byte order mark.
fn text() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "a", "name: ", "\n", "\n", "\r\n", "\r\n", "\r", "é", "ß", "设", "\u{feff}", "😀", "😀", "\u{2028}", "\u{85}",
        "\u{b}", "\u{c}", "\t", "$(X)",
    ];
    prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|pieces| pieces.concat())
}

/// The valid offsets: starts of characters that are not between CR and LF.
fn valid_offsets(text: &str) -> impl Iterator<Item = usize> + '_ {
    (0..=text.len())
        .filter(|&at| text.is_char_boundary(at))
        .filter(|&at| !text[..at].ends_with('\r') || !text[at..].starts_with('\n'))
}

/// The position by definition: lines are split at LF, CRLF and CR, characters counted one by one.
fn position_by_definition(text: &str, offset: usize, encoding: Encoding) -> Position {
    let before = text[..offset].replace("\r\n", "\n").replace('\r', "\n");
    let line = before.matches('\n').count();
    let in_line = before.rsplit('\n').next().unwrap_or_default();
    let character = match encoding {
        Encoding::Utf8 => in_line.len(),
        Encoding::Utf16 => in_line.encode_utf16().count(),
        Encoding::Utf32 => in_line.chars().count(),
    };
    Position::new(line as u32, character as u32)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(150, 2000)) })]

    #[test]
    fn positions_round_trip(text in text()) {
        let (buffer, lines) = (Buffer::new(&text, 0), LineIndex::new(&text));
        for encoding in ENCODINGS {
            for offset in valid_offsets(&text) {
                let position = buffer.position(offset, encoding);
                prop_assert_eq!(position, position_by_definition(&text, offset, encoding), "{} {:?}", offset, encoding);
                prop_assert_eq!(buffer.offset(position, encoding), offset, "{:?} {:?}", position, encoding);
                prop_assert_eq!(lines.offset(position, encoding), offset, "{:?} {:?}", position, encoding);
            }
        }
    }

    #[test]
    fn the_line_index_agrees_with_the_buffer(text in text(), line in 0..40u32, character in 0..80u32) {
        let (buffer, lines) = (Buffer::new(&text, 0), LineIndex::new(&text));
        for encoding in ENCODINGS {
            for offset in 0..=text.len() + 2 {
                prop_assert_eq!(lines.position(offset, encoding), buffer.position(offset, encoding), "{} {:?}", offset, encoding);
            }
            let position = Position::new(line, character);
            let offset = buffer.offset(position, encoding);
            prop_assert_eq!(lines.offset(position, encoding), offset);
            prop_assert!(valid_offsets(&text).any(|place| place == offset));
            prop_assert!(buffer.position(offset, encoding) <= position);
        }
        prop_assert_eq!(lines.line_count(), buffer.position(text.len(), Encoding::Utf8).line + 1);
    }

    #[test]
    fn edits_change_a_buffer_like_a_string(
        start in text(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), text()), 0..20),
    ) {
        let (mut buffer, mut model) = (Buffer::new(&start, 0), start);
        for (from, to, text) in edits {
            // One more than the length, so that positions after the end are included.
            let span = Span::new(from.index(model.len() + 2), to.index(model.len() + 2));
            let change = buffer.edit(span, &text);

            let begin = model.floor_char_boundary(span.start);
            let end = model.floor_char_boundary(span.end).max(begin);
            prop_assert_eq!((change.old, change.new_len), (Span::new(begin, end), text.len()));
            model.replace_range(begin..end, &text);
            prop_assert_eq!(buffer.to_string(), model.as_str());
            prop_assert_eq!(buffer.slice(Span::new(begin, begin + change.new_len)), text);
            // An edit may join a CR and an LF: the rope has to treat them as one line end.
            for offset in valid_offsets(&model) {
                let position = buffer.position(offset, Encoding::Utf16);
                prop_assert_eq!(position, position_by_definition(&model, offset, Encoding::Utf16));
            }
        }
    }
}
