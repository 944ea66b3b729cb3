//! Finds the references to service variables in a container: `$(X)`, and `$X` or `${X}` in shell scripts.
//!
//! Programs may read variables that no manifest refers to, so a variable without references may still be used.

use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Container, Text, VariableScope};
use crate::resolve::binding::{Binding, Lookup, OriginKind};
use crate::resolve::environment::{Environment, ExpandedScalar};
use crate::resolve::expand::ExpansionStep;
use crate::syntax::{DollarTokenKind, dollar_tokens};

/// A reference to a service variable.
#[derive(Clone, Debug)]
pub struct ServiceVariableReference {
    /// The variable; its origin is the service.
    pub binding: Arc<Binding>,
    /// The scalar, relative to the object.
    pub text: Text,
    /// The range of the reference in its value.
    pub range: Range<usize>,
}

/// All references to service variables in a container, unsorted.
pub fn service_variable_references(
    environment: &Environment<'_>,
    container: &Container,
) -> Vec<ServiceVariableReference> {
    let mut found = Vec::new();
    for (index, entry) in container.env.iter().enumerate() {
        let (Some(text), Some(binding)) = (&entry.value, environment.entry(index)) else { continue };
        add_references(environment, text, &binding.steps, &mut found);
    }
    let probes = environment.probes.iter().flat_map(|it| &it.command);
    let sub_paths = environment.sub_paths.iter().filter(|it| it.within.is_none()).map(|it| &it.item);
    let items = environment.command.iter().chain(&environment.args).chain(probes).chain(sub_paths);
    for ExpandedScalar { text, expansion, .. } in items {
        add_references(environment, text, &expansion.steps, &mut found);
    }
    for (_, text) in &container.unexpanded {
        add_shell_references(environment, text, &mut found);
    }
    found
}

fn add_references(
    environment: &Environment<'_>,
    text: &Text,
    steps: &[ExpansionStep],
    found: &mut Vec<ServiceVariableReference>,
) {
    for step in steps {
        if let Lookup::Bound(binding) = &step.outcome
            && binding.origin.kind == OriginKind::Service
        {
            found.push(ServiceVariableReference {
                binding: Arc::clone(binding),
                text: text.clone(),
                range: step.range.clone(),
            });
        }
    }
    add_shell_references(environment, text, found);
}

/// Adds the references `$X` and `${X}`.
fn add_shell_references(environment: &Environment<'_>, text: &Text, found: &mut Vec<ServiceVariableReference>) {
    for token in dollar_tokens(&text.value).filter(|it| it.kind == DollarTokenKind::Plain) {
        let after = &text.value[token.range.start + 1..];
        let brace = usize::from(after.starts_with('{'));
        let length = after[brace..].bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let name = &after[brace..brace + length];
        // All names of service variables contain an underscore.
        if !name.contains('_') {
            continue;
        }
        if let Lookup::Bound(binding) = environment.lookup(VariableScope::All, name)
            && binding.origin.kind == OriginKind::Service
        {
            let start = token.range.start;
            let end = start + 1 + brace + length;
            let end = if brace == 1 && text.value[end..].starts_with('}') { end + 1 } else { end };
            found.push(ServiceVariableReference { binding, text: text.clone(), range: start..end });
        }
    }
}
