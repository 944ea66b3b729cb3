//! Comments: found on demand, by searching `#` outside the scalars of the tree.
//!
//! The tree does not store comments, so they cost nothing where they are not needed.

use memchr::memmem;

use crate::syntax::node::NodeKind;
use crate::syntax::scalar::ScalarStyle;
use crate::syntax::tree::Tree;
use crate::text::Span;

/// How the start of a suppression comment is written.
const DIRECTIVES: [&[u8]; 3] = [b"podlens", b"Podlens", b"PODLENS"];

/// Whether a text may have a suppression comment.
pub fn may_have_suppressions(text: &str) -> bool {
    DIRECTIVES.iter().any(|it| memmem::find(text.as_bytes(), it).is_some())
}

/// The lines that may have a suppression comment, in text order.
pub fn lines_with_suppressions(text: &str) -> Vec<Span> {
    let mut lines: Vec<Span> = Vec::new();
    for directive in DIRECTIVES {
        let mut done = 0;
        for at in memmem::find_iter(text.as_bytes(), directive) {
            if at >= done {
                let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
                done = text[at..].find('\n').map_or(text.len(), |len| at + len);
                lines.push(Span::new(start, done));
            }
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

impl Tree {
    /// The comments that begin in a span of `text`, from which this tree was parsed. Each is from its `#` to the end of
    /// its line.
    pub fn comments(&self, text: &str, within: Span) -> Vec<Span> {
        let mut found = Vec::new();
        let mut at = within.start;
        while let Some(next) = text.get(at..within.end).and_then(|rest| rest.find('#')) {
            let start = at + next;
            let end = text[start..].find('\n').map_or(text.len(), |len| start + len);
            let end = start + text[start..end].trim_end_matches('\r').len();
            let after_space = start == 0 || text.as_bytes()[start - 1].is_ascii_whitespace();
            if after_space && !self.is_in_scalar(text, start) {
                found.push(Span::new(start, end));
                at = end;
            } else {
                at = start + 1;
            }
        }
        found
    }

    fn is_in_scalar(&self, text: &str, offset: usize) -> bool {
        let Some(root) = self.document_at(offset).and_then(|document| document.root()) else { return false };
        let path = root.path_to(offset);
        let Some(node) = path.last() else { return false };
        let span = node.span();
        match node.kind() {
            NodeKind::Scalar(ScalarStyle::Literal | ScalarStyle::Folded) => {
                // A comment may follow the header.
                let header = text[span.start..].find('\n').map_or(span.end, |len| span.start + len);
                offset > header && offset < span.end
            }
            NodeKind::Scalar(_) | NodeKind::Error => offset < span.end,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::syntax::parse;
    use crate::text::Span;

    #[test]
    fn a_number_sign_in_a_scalar_is_not_a_comment() {
        let text = "# a\nx: y # b\nz: \"# no\" # c\nb: | # d\n  # no\n  e\n# e\nf: a#no\nl: [ # f\n  1]\np: q\n  # g\n---\n# h\r\n";
        let tree = parse(text);
        assert_eq!(tree.errors(), []);
        let found: Vec<_> = tree.comments(text, Span::new(0, text.len())).iter().map(|it| &text[it.range()]).collect();
        assert_eq!(found, ["# a", "# b", "# c", "# d", "# e", "# f", "# g", "# h"]);
    }
}
