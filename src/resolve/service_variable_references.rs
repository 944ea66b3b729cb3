//! Which service variables a container uses, as far as its manifest shows: by `$(X)`, or by `$X` and `${X}` for a shell.
//!
//! What a program reads by itself cannot be seen, so a variable that nobody uses here may still have a reader.

use std::ops::Range;
use std::sync::Arc;

use crate::k8s::{Container, Text, VariableScope};
use crate::resolve::binding::{Binding, Lookup, OriginKind};
use crate::resolve::environment::{Environment, ExpandedScalar};
use crate::resolve::expand::ExpansionStep;
use crate::syntax::{DollarTokenKind, dollar_tokens};

/// A place where a service variable is used.
#[derive(Clone, Debug)]
pub struct ServiceVariableReference {
    /// The variable, with its service as the origin.
    pub binding: Arc<Binding>,
    /// The scalar, relative to the object.
    pub text: Text,
    /// The reference in its value.
    pub range: Range<usize>,
}

/// Every use of a service variable in a container, in no order.
pub fn service_variable_references(environment: &Environment, container: &Container) -> Vec<ServiceVariableReference> {
    let mut found = Vec::new();
    for (index, entry) in container.env.iter().enumerate() {
        let (Some(text), Some(binding)) = (&entry.value, environment.entry(index)) else { continue };
        expanded(environment, text, &binding.steps, &mut found);
    }
    let probes = environment.probes.iter().flat_map(|it| &it.command);
    let sub_paths = environment.sub_paths.iter().filter(|it| it.within.is_none()).map(|it| &it.item);
    let items = environment.command.iter().chain(&environment.args).chain(probes).chain(sub_paths);
    for ExpandedScalar { text, expansion, .. } in items {
        expanded(environment, text, &expansion.steps, &mut found);
    }
    for (_, text) in &container.unexpanded {
        for_shell(environment, text, &mut found);
    }
    found
}

fn expanded(
    environment: &Environment,
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
    for_shell(environment, text, found);
}

/// `$X` and `${X}`.
fn for_shell(environment: &Environment, text: &Text, found: &mut Vec<ServiceVariableReference>) {
    for token in dollar_tokens(&text.value).filter(|it| it.kind == DollarTokenKind::Plain) {
        let behind = &text.value[token.range.start + 1..];
        let brace = usize::from(behind.starts_with('{'));
        let length = behind[brace..].bytes().take_while(|it| it.is_ascii_alphanumeric() || *it == b'_').count();
        let name = &behind[brace..brace + length];
        // The names of service variables have an underscore and end in capitals or digits.
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
