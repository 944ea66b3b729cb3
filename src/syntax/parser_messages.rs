//! The errors of the YAML parser in words that do not require knowledge of the YAML grammar.

use std::borrow::Cow;

use granit_parser::{ErrorKind, ScanError};

/// The message for an error of the parser.
pub(super) fn parser_message(error: &ScanError) -> Cow<'static, str> {
    match error.kind() {
        ErrorKind::UnexpectedCharacter { character, .. } => {
            format!("a value cannot begin with `{}`: put it in quotes", character.escape_debug()).into()
        }
        ErrorKind::UnclosedFlowCollection { open, .. } => format!("this `{open}` is never closed").into(),
        ErrorKind::MismatchedFlowCollectionEnd { open, close, .. } => {
            format!("`{close}` cannot close a `{open}`").into()
        }
        kind => fixed_message(kind).map_or_else(|| error.info().into(), Cow::Borrowed),
    }
}

fn fixed_message(kind: &ErrorKind) -> Option<&'static str> {
    use ErrorKind as Kind;
    Some(match kind {
        Kind::UnclosedQuotedScalar | Kind::DocumentIndicatorInQuotedScalar => "this quote is never closed",
        Kind::UnexpectedEofFlowSequence | Kind::UnexpectedEofFlowMapping | Kind::UnexpectedEofImplicitFlowMapping => {
            "a `[` or `{` is never closed"
        }
        Kind::MisplacedFlowCollectionEnd => "this bracket closes nothing: remove it, or put the value in quotes",
        Kind::ExpectedFlowMappingSeparator => "expected `,` or `}` here",
        Kind::ExpectedFlowSequenceSeparator => "expected `,` or `]` here",

        Kind::MappingValueNotAllowed | Kind::InvalidColonPlacement => {
            "a value cannot contain `: `: put the value in quotes, or the second key on its own line"
        }
        Kind::InvalidMappingValueWhitespace | Kind::FlowMappingValueAdjacentCollection => {
            "expected a space after this `:`"
        }
        Kind::MappingKeyNotAllowed => "a key is not allowed here",
        Kind::ExpectedBlockMappingKey | Kind::SimpleKeyExpected | Kind::InvalidSimpleKey => {
            "expected `key: value` here"
        }
        Kind::ExpectedBlockSequenceEntry => "expected `- item` here",
        Kind::BlockEntryInFlowCollection | Kind::BlockSequenceEntryNotAllowed => {
            "a list item (`- `) is not allowed here"
        }
        Kind::InvalidBlockEntryWhitespace => "expected a space after this `-`",
        Kind::PlainScalarStartsWithDashFlowIndicator => "a value cannot begin with `-`: put it in quotes",
        Kind::ExpectedNodeContent | Kind::UnexpectedEndOfPlainScalar => "expected a value here",
        Kind::UnexpectedEof | Kind::UnexpectedEofBlockSequence | Kind::UnexpectedEofBlockMapping => {
            "the document ends too early"
        }

        Kind::InvalidTrailingSingleQuotedScalar | Kind::InvalidTrailingDoubleQuotedScalar => {
            "unexpected text after the closing quote"
        }
        Kind::UnknownQuotedScalarEscape => "unknown escape sequence: write `\\\\` for a backslash",
        Kind::InvalidQuotedScalarHexEscape
        | Kind::InvalidLowSurrogateHexEscape
        | Kind::InvalidLowSurrogate
        | Kind::MissingLowSurrogate
        | Kind::UnpairedLowSurrogate
        | Kind::InvalidUnicodeEscape => "this escape sequence is not the code of a character",

        Kind::InvalidBlockScalarHeader => {
            "expected the end of the line after `|` or `>`: the text begins on the next line"
        }
        Kind::ZeroBlockScalarIndent => "the number after `|` or `>` cannot be 0",
        Kind::InvalidBlockScalarIndent => "the lines of this block of text are not indented correctly",
        Kind::InvalidIndentation => "this line is not indented correctly",
        Kind::InvalidQuotedScalarIndent | Kind::InvalidFlowScalarIndent => "this line must be indented deeper",
        Kind::TabInIndentation | Kind::TabInBlockIndentation | Kind::TabNotAllowed | Kind::TabAtBlockScalarStart => {
            "YAML cannot be indented with tabs: use spaces"
        }
        Kind::TabInPlainScalar => "a tab is not allowed here: use spaces",

        Kind::MissingAnchorOrAliasName => "expected a name after this `&` or `*`",
        Kind::AnchorCountOverflow => "too many anchors",
        Kind::UnknownAnchor => "there is no anchor with this name",
        Kind::RecursionLimitExceeded => "nested too deeply",
        Kind::CommentNotSeparated => "expected a space before this `#`",
        Kind::CommentInterceptedScalar => "a comment cannot be inside a text of several lines",
        Kind::ExpectedWhitespace => "expected a space here",

        Kind::UndeclaredTagHandle => "the prefix of this tag is not declared",
        Kind::ExpectedTagBang
        | Kind::InvalidGlobalTagCharacter
        | Kind::InvalidTagTerminator
        | Kind::MissingTagUri
        | Kind::UnclosedVerbatimTag
        | Kind::InvalidTagEscape
        | Kind::InvalidTagUtf8LeadingByte
        | Kind::InvalidTagUtf8TrailingByte
        | Kind::InvalidTagUtf8 => "this tag (`!`) is not valid",

        Kind::UnsupportedYamlMajorVersion => "this version of YAML is not supported",
        Kind::DuplicateVersionDirective
        | Kind::DuplicateTagDirective
        | Kind::ExpectedTagDirectiveBang
        | Kind::InvalidTagDirectiveTerminator
        | Kind::InvalidDirectiveTerminator
        | Kind::MissingYamlVersionSeparator
        | Kind::MissingYamlVersion
        | Kind::YamlVersionTooLong
        | Kind::MissingDirectiveName
        | Kind::InvalidDirectiveName => "this directive (`%`) is not valid",

        Kind::ExpectedDocumentStart => "expected `---` before this",
        Kind::MissingDocumentEndBeforeDirective => "expected `...` before this directive",
        Kind::InvalidDocumentEnd => "unexpected text after `...`",
        Kind::BomInsideDocument => "a byte order mark is not allowed here: save the file without it",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse;

    #[test]
    fn no_message_is_in_the_words_of_the_parser() {
        for (text, expected) in [
            ("a: @b\n", "a value cannot begin with `@`: put it in quotes"),
            ("a: b: c\n", "a value cannot contain `: `: put the value in quotes, or the second key on its own line"),
            ("a: [b]]\n", "this bracket closes nothing: remove it, or put the value in quotes"),
            ("a: [b}\n", "`}` cannot close a `[`"),
            ("a: 'b' c\n", "unexpected text after the closing quote"),
            ("a: \"\\q\"\n", "unknown escape sequence: write `\\\\` for a backslash"),
            ("a: \"\\xzz\"\n", "this escape sequence is not the code of a character"),
            ("a: |x\n  b\n", "expected the end of the line after `|` or `>`: the text begins on the next line"),
            ("a: |0\n  b\n", "the number after `|` or `>` cannot be 0"),
            ("a: *\n", "expected a name after this `&` or `*`"),
            ("a: !<x b\n", "this tag (`!`) is not valid"),
            ("%YAML x\n---\na: b\n", "this directive (`%`) is not valid"),
            ("a: [- b]\n", "a list item (`- `) is not allowed here"),
        ] {
            let errors = parse(text).errors();
            assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected], "{text}");
        }
    }
}
