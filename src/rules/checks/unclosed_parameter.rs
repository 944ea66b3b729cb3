//! The rule `unclosed-parameter`.

use std::ops::Range;

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a reference to a parameter without its closing brace.
    ///
    /// ## What it does
    /// Reports `${P` and `${{P}` if `P` is a parameter of the template and no `}` that could close it follows on the
    /// line. Shell syntax such as `${P:-default}` is not reported. The finding covers the incomplete reference.
    ///
    /// ## Why it matters
    /// Without the brace it is not a reference, so the text is not replaced.
    ///
    /// ## Example
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Service
    ///     metadata:
    ///       name: ${NAME
    /// parameters:
    ///   - {name: NAME, value: shop}
    /// ```
    ///
    /// ## Use instead
    /// ```yaml
    /// apiVersion: template.openshift.io/v1
    /// kind: Template
    /// metadata: {name: web}
    /// objects:
    ///   - apiVersion: v1
    ///     kind: Service
    ///     metadata:
    ///       name: ${NAME}
    /// parameters:
    ///   - {name: NAME, value: shop}
    /// ```
    ///
    /// ## Fix
    /// Adds the brace. Unsafe: the name may be incomplete too.
    name: "unclosed-parameter",
    level: Warning,
    checks: [Object(check)],
    sees: Source,
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for place in object.parameter_texts() {
        for (range, name, missing) in unclosed_references(&place.text.value) {
            if !place.parameters.contains(name) {
                continue;
            }
            let written = &place.text.value[range.clone()];
            let new = format!("{written}{missing}");
            let message = format!("`{written}` is not replaced: the closing brace is missing");
            let fix = object.rewrite_fix(place.text, range.clone(), &new, format!("Write `{new}`"), false);
            findings.push(
                Finding::new(object.inside(place.text, range), name, message).help(format!("write `{new}`")).fix(fix),
            );
        }
    }
}

/// The unclosed references in a text: the range, the name, and the missing braces.
fn unclosed_references(text: &str) -> Vec<(Range<usize>, &str, &'static str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("${") {
        let is_raw = text[start + 2..].starts_with('{');
        let name_start = start + 2 + usize::from(is_raw);
        let rest = &text[name_start..];
        let length = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let (name, after) = rest.split_at(length);
        let until = after.find(['$', '\n']).unwrap_or(after.len());
        let (end, missing) = match (is_raw, after[..until].contains('}')) {
            (false, false) => (name_start + length, "}"),
            (true, false) => (name_start + length, "}}"),
            (true, true) if after.starts_with('}') && !after.starts_with("}}") => (name_start + length + 1, "}"),
            _ => continue,
        };
        if length > 0 {
            found.push((start..end, name, missing));
        }
    }
    found
}
