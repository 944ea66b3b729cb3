//! The rule `unclosed-parameter`.

use std::ops::Range;

use crate::rules::engine::{Finding, Findings, ObjectContext, declare_rule};

declare_rule! {
    /// Reports a reference to a parameter whose closing brace is missing.
    ///
    /// ## What it does
    /// Reports `${P` and `${{P}` if P is a parameter of the template and no `}` follows on the line that could belong to
    /// it. What shells write, such as `${P:-default}`, is none. The finding covers what is written of the reference.
    ///
    /// ## Why it matters
    /// It is no reference then, and the text stays as it is.
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
    /// Adds the brace. Unsafe: the name may go on.
    name: "unclosed-parameter",
    level: Warning,
    checks: [Object(check)],
    helm: ContainerWithoutAction,
}

fn check(object: &ObjectContext<'_>, findings: &mut Findings<'_>) {
    for place in object.parameter_texts() {
        for (range, name, missing) in unclosed(&place.text.value) {
            if !place.parameters.contains(name) {
                continue;
            }
            let written = &place.text.value[range.clone()];
            let new = format!("{written}{missing}");
            let message = format!("`{written}` is not closed, so it stays as it is");
            let fix = object.rewrite_fix(place.text, range.clone(), &new, format!("Write `{new}`"), false);
            findings.push(
                Finding::new(object.inside(place.text, range), name, message).help(format!("write `{new}`")).fix(fix),
            );
        }
    }
}

/// The references of a text that are not closed: where, the name, and what is missing.
fn unclosed(text: &str) -> Vec<(Range<usize>, &str, &'static str)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices("${") {
        let is_raw = text[start + 2..].starts_with('{');
        let name_start = start + 2 + usize::from(is_raw);
        let rest = &text[name_start..];
        let length = rest.bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let (name, behind) = rest.split_at(length);
        let until = behind.find(['$', '\n']).unwrap_or(behind.len());
        let (end, missing) = match (is_raw, behind[..until].contains('}')) {
            (false, false) => (name_start + length, "}"),
            (true, false) => (name_start + length, "}}"),
            (true, true) if behind.starts_with('}') && !behind.starts_with("}}") => (name_start + length + 1, "}"),
            _ => continue,
        };
        if length > 0 {
            found.push((start..end, name, missing));
        }
    }
    found
}
