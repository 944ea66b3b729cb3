//! `fixtures/expand`: texts and their expansion.
//!
//! A JSON object has the variables. A line of the result is a text and its expansion, both as JSON strings:
//! `"$(A)" => "one"`. `kubernetes` in a `podlens.yaml` chooses the release.

use std::collections::BTreeMap;
use std::sync::Arc;

use podlens::resolve::{Binding, DollarCopying, Lookup, expand};
use podlens::workspace::Settings;

use crate::fixture::Case;
use crate::runner::Folder;

pub(crate) const FOLDER: Folder =
    Folder { name: "expand", results: &["text"], has_labels: false, has_cursors: false, check };

fn check(_: &str, case: &Case) -> Result<Case, String> {
    let file = |extension: &str| case.files().find(|file| file.path.ends_with(extension)).map(|file| &*file.text);
    let variables: BTreeMap<String, String> =
        serde_json::from_str(file(".json").ok_or("expected a `json` block with the variables")?)
            .map_err(|error| format!("the variables: {error}"))?;
    let binding = |(name, value): (String, String)| (name.clone(), Arc::new(Binding::literal(name, value)));
    let variables: BTreeMap<String, Arc<Binding>> = variables.into_iter().map(binding).collect();
    let copying = DollarCopying::for_release(Settings::parse(file("podlens.yaml").unwrap_or_default()).kubernetes);
    let mut actual = case.clone();
    let mut rows = 0;
    for result in actual.results_mut() {
        let mut text = String::new();
        for row in result.text.lines() {
            let written = row.split_once(" => ").map_or(row, |(text, _)| text);
            let input: Arc<str> = serde_json::from_str::<String>(written)
                .map_err(|error| format!("`{row}`: expected `\"text\" => \"expansion\"`: {error}"))?
                .into();
            let expansion = expand(&input, copying, |name| {
                variables.get(name).map_or(Lookup::Unbound, |it| Lookup::Bound(Arc::clone(it)))
            });
            let value = serde_json::to_string(&expansion.value.to_string()).map_err(|error| error.to_string())?;
            text += &format!("{written} => {value}\n");
            rows += 1;
        }
        result.text = text;
    }
    if rows == 0 { Err("expected a `text` block with lines `\"text\" => \"expansion\"`".into()) } else { Ok(actual) }
}
