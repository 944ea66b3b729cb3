//! Broken manifests, see `fixtures/recovery`.

use podlens::syntax::parse;

use crate::fixture::broken_manifests;

/// The mistakes in the examples of the proposals: one error each, at the position of the mistake.
#[test]
fn each_mistake_of_the_proposals_is_one_error() {
    let all = broken_manifests();
    for name in ["containers-one-column-too-deep", "containers-too-deep-with-command", "ports-and-volumes-mixed"] {
        let path = format!("{name}.yaml");
        let (_, text) = all.iter().find(|(known, _)| *known == path).unwrap_or_else(|| panic!("no case {name}"));
        let errors = parse(text).errors();
        assert_eq!(errors.len(), 1, "{name}: {errors:#?}");
    }
}
