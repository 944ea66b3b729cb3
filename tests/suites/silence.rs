//! `fixtures/silence`: files of other tools and of clusters that are only partly known, in which no rule finds anything.

use crate::findings::lint;
use crate::fixture::Case;
use crate::labels::set_labels;
use crate::rules::{labels, texts};
use crate::runner::Folder;

pub(crate) const FOLDER: Folder =
    Folder { name: "silence", results: &[], has_labels: false, has_cursors: false, check };

fn check(_: &str, case: &Case) -> Result<Case, String> {
    let findings = lint(&texts(case));
    if findings.is_empty() {
        return Ok(case.clone());
    }
    let mut labelled = case.clone();
    set_labels(&mut labelled, &labels(&findings));
    Err(format!("expected no findings:\n{labelled}"))
}
