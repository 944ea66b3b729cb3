//! Which objects a name in a file can refer to, by where both are.
//!
//! A pod and an object that the same kustomization or chart builds belong together. Otherwise the directories decide: an
//! object in the same directory, or below a common directory that holds nothing but manifests. An object of another
//! build, in a directory of tests or examples, or in the directory of another application is out of scope: whether the
//! cluster has it is not known.
//!
//! The answer for two files depends on what builds them, on which directories have workloads, and on which hold other
//! files. A change of any of these is the dependency [`Scope`](super::dependencies::Dependency::Scope).

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;

use crate::work::{Step, count};
use crate::workspace::helm;
use crate::workspace::inclusion::{directory_of, is_build_file};
use crate::workspace::{File, Snapshot};

/// What decides about the scope, apart from the builds.
#[derive(Clone, Debug, Default)]
pub(super) struct ScopeIndex {
    /// The files that make pods.
    workloads: OrdMap<Arc<str>, ()>,
    /// The directories that hold files other than manifests and documentation. Each is empty or ends with `/`.
    other_files: Arc<BTreeSet<Arc<str>>>,
}

/// How an object is related to a place of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// A kustomization or chart builds both.
    SameBuild,
    /// Nothing builds them together, and they are near each other.
    Near,
    /// They do not belong together.
    OutOfScope,
}

impl ScopeIndex {
    /// Updates the entry of a file. Returns whether it changed.
    pub(super) fn update(&mut self, path: &Arc<str>, new: Option<&File>) -> bool {
        let makes_pods = new.is_some_and(|it| it.objects.iter().any(|it| !it.model.pods.is_empty()));
        if makes_pods == self.workloads.contains_key(path) {
            return false;
        }
        match makes_pods {
            true => drop(self.workloads.insert(Arc::clone(path), ())),
            false => drop(self.workloads.remove(path)),
        }
        true
    }

    /// Adds directories with other files. Returns whether some were not known. Hidden ones belong to tools, not to an
    /// application.
    pub(super) fn add_other_files(&mut self, directories: impl IntoIterator<Item = Arc<str>>) -> bool {
        let is_hidden = |it: &str| it.starts_with('.') || it.contains("/.");
        let new = directories.into_iter().filter(|it| !is_hidden(it) && !self.other_files.contains(it));
        let new: Vec<Arc<str>> = new.collect();
        let is_changed = !new.is_empty();
        if is_changed {
            Arc::make_mut(&mut self.other_files).extend(new);
        }
        is_changed
    }

    /// Whether a file in a directory or below makes pods.
    fn has_workloads(&self, directory: &str) -> bool {
        let mut below = self.workloads.range(Arc::<str>::from(directory)..);
        below.next().is_some_and(|(path, ())| path.starts_with(directory))
    }

    /// Whether a directory, or one below it, holds files other than manifests.
    pub(super) fn has_other_files(&self, directory: &str) -> bool {
        let mut below = self.other_files.range(Arc::<str>::from(directory)..);
        below.next().is_some_and(|it| it.starts_with(directory))
    }
}

impl Snapshot {
    /// How a file with objects is related to a place of use, which `builds` build.
    pub(super) fn relation(&self, from: &str, builds: &BTreeSet<Arc<str>>, of: &str) -> Relation {
        count(Step::Scope, 1);
        let theirs = self.builds_of(of);
        if theirs.iter().any(|it| builds.contains(it)) {
            return Relation::SameBuild;
        }
        if directory_of(from) == directory_of(of) {
            return Relation::Near;
        }
        let common = common_directory_len(from, of);
        let (shared, own) = of.split_at(common);
        let mut directories = own.split('/').rev().skip(1);
        // A directory below that of the pod is part of the same application.
        let is_beside = from[common..].contains('/');
        let is_other_application =
            || is_beside && own.find('/').is_some_and(|end| self.scope.has_workloads(&of[..common + end + 1]));
        if !theirs.is_empty()
            || directories.any(is_test_directory)
            || self.scope.has_other_files(shared)
            || is_other_application()
        {
            return Relation::OutOfScope;
        }
        Relation::Near
    }

    /// The kustomizations and charts that build a file, directly or through others. A kustomization builds itself: it has
    /// generators.
    pub(super) fn builds_of(&self, file: &str) -> BTreeSet<Arc<str>> {
        let mut builds = BTreeSet::new();
        if self.inclusion.is_empty() {
            return builds;
        }
        let mut open: Vec<Arc<str>> = self.direct_builds(file);
        if self.inclusion.is_build(file) {
            open.push(file.into());
        }
        while let Some(build) = open.pop() {
            if !builds.contains(&build) {
                open.extend(self.direct_builds(&build));
                builds.insert(build);
            }
        }
        builds
    }

    /// The kustomizations and charts that include a file. The file of a build stands for its directory.
    fn direct_builds(&self, file: &str) -> Vec<Arc<str>> {
        let directory = is_build_file(file).then(|| directory_of(file));
        let paths = [file].into_iter().chain(directory);
        let named =
            paths.flat_map(|it| self.inclusion.naming(it)).filter(|it| self.inclusion.is_build(it) && ***it != *file);
        let mut builds: Vec<Arc<str>> = named.cloned().collect();
        // Templates and subcharts belong to a chart by their place.
        if !self.charts.is_empty() {
            let place = helm::chart_directory(file).unwrap_or(file);
            let cuts = CHART_FOLDERS.iter().flat_map(|folder| place.match_indices(folder).map(|(at, _)| &place[..at]));
            let charts = cuts.filter(|it| (it.is_empty() || it.ends_with('/')) && self.charts.contains(*it));
            builds.extend(charts.map(|it| format!("{it}{}", helm::CHART_FILE).into()));
        }
        builds
    }
}

/// The directories of a chart whose content belongs to it.
const CHART_FOLDERS: [&str; 3] = ["templates/", "crds/", "charts/"];

/// The length of the common directory prefix of two paths.
pub(super) fn common_directory_len(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.as_bytes()[..same].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1)
}

/// Words in the names of directories with the files of automatic tests: `e2e-tests`, `testdata`. `test` alone may be the
/// name of an environment.
const TESTS: [&str; 9] =
    ["testdata", "tests", "e2e", "fixture", "fixtures", "testfiles", "golden", "chainsaw", "kuttl"];

/// Words in the names of directories with files for other purposes than a deployment.
const EXAMPLES: [&str; 11] =
    ["test", "testing", "example", "examples", "sample", "samples", "demo", "demos", "mock", "mocks", "docs"];

/// Whether a file is in a directory of tests, fixtures or examples.
pub fn is_in_test_directory(path: &str) -> bool {
    directories(path).any(is_test_directory)
}

/// Whether only automatic tests use a file.
fn is_for_tests(path: &str) -> bool {
    // The layout of Maven and Gradle.
    let is_source_of_tests = path.starts_with("src/test/") || path.contains("/src/test/");
    is_source_of_tests || directories(path).any(|it| matches!(it, "test-data" | "test_data") || has_word_of(it, &TESTS))
}

/// Words in the names of files that are wrong on purpose: examples of a mistake.
const WRONG: [&str; 8] = ["broken", "invalid", "bad", "wrong", "malformed", "incorrect", "faulty", "failing"];

/// Words in the names of directories with files that are kept and not used any more.
const KEPT: [&str; 6] = ["old", "archive", "archives", "archived", "deprecated", "obsolete"];

/// Whether a file is certainly not deployed: only tests use it, its name says that it is wrong, or it is an old copy.
pub fn is_for_show(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    is_for_tests(path)
        || has_word_of(stem, &WRONG)
        || directories(path).any(|it| has_word_of(it, &KEPT))
        || is_backup(path)
}

/// Whether a file is a copy with the date of a backup. A directory `backup` alone may hold what makes backups.
fn is_backup(path: &str) -> bool {
    const COPIES: [&str; 5] = ["backup", "backups", "snapshot", "snapshots", "dumps"];
    directories(path).any(|it| has_word_of(it, &COPIES)) && path.split('/').any(has_date)
}

/// Whether a name contains a date: `20251226`, `2025-11-03`.
fn has_date(name: &str) -> bool {
    let is_digit = |it: &u8| it.is_ascii_digit();
    let digits = |part: &[u8]| part.iter().all(is_digit);
    let bytes = name.as_bytes();
    let is_plain = |it: &[u8]| digits(it) && it.starts_with(b"20");
    let is_separated =
        |it: &[u8]| is_plain(&it[..4]) && it[4] == b'-' && digits(&it[5..7]) && it[7] == b'-' && digits(&it[8..]);
    bytes.windows(8).any(is_plain) || bytes.windows(10).any(is_separated)
}

/// The names of the directories of a path.
fn directories(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').rev().skip(1)
}

/// Whether a directory holds tests, fixtures or examples.
fn is_test_directory(name: &str) -> bool {
    has_word_of(name, &TESTS) || has_word_of(name, &EXAMPLES)
}

fn has_word_of(name: &str, words: &[&str]) -> bool {
    name.split(['-', '_', '.']).any(|word| words.iter().any(|it| it.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Workspace;

    const POD: &str =
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: web, image: web}]}\n";
    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {A: a}\n";

    fn relation(files: &[(&str, &str)], other: &[&str], of: &str) -> Relation {
        let mut workspace = Workspace::default();
        for (path, text) in files {
            workspace.set_disk(path, File::read(path, text));
        }
        workspace.add_directories_with_other_files(other.iter().map(|it| (*it).into()));
        let snapshot = workspace.snapshot();
        let from = files[0].0;
        snapshot.relation(from, &snapshot.builds_of(from), of)
    }

    #[test]
    fn directories_decide() {
        let of = |from: &str, of: &str, other: &[&str]| relation(&[(from, POD), (of, MAP)], other, of);
        for (from, to) in [
            ("k8s/pod.yaml", "k8s/config.yaml"),
            ("k8s/pod.yaml", "k8s/config/config.yaml"),
            ("k8s/web/pod.yaml", "k8s/config.yaml"),
            ("k8s/web/pod.yaml", "k8s/config/config.yaml"),
            ("test/web/pod.yaml", "test/config/config.yaml"),
            ("latest/pod.yaml", "contest/config.yaml"),
        ] {
            assert_eq!(of(from, to, &[]), Relation::Near, "{from} {to}");
        }
        for (from, to) in [
            ("web/pod.yaml", "test/config.yaml"),
            ("pod.yaml", "test/config.yaml"),
            ("web/pod.yaml", "config/testdata/config.yaml"),
            ("web/pod.yaml", "e2e-tests/config.yaml"),
            ("web/pod.yaml", "Examples/config.yaml"),
        ] {
            assert_eq!(of(from, to, &[]), Relation::OutOfScope, "{from} {to}");
        }
        // A directory with code.
        assert_eq!(of("deploy/pod.yaml", "config/config.yaml", &["src/"]), Relation::OutOfScope);
        assert_eq!(of("deploy/pod.yaml", "config/config.yaml", &[""]), Relation::OutOfScope);
        assert_eq!(of("deploy/a/pod.yaml", "deploy/config/config.yaml", &["src/", ""]), Relation::Near);
        assert_eq!(of("pod.yaml", "config.yaml", &["src/", ""]), Relation::Near);
        assert_eq!(of("deploy/a/pod.yaml", "deploy/config/config.yaml", &["deployer/"]), Relation::Near);
    }

    #[test]
    fn names_tell_what_is_deployed() {
        for path in [
            "e2e-tests/web.yaml",
            "labs/broken_config.yaml",
            "invalid-pod.yaml",
            "cicd_old/web.yaml",
            "templates.old/web.json",
            "backups/web_20251226_100032.yaml",
            "snapshots/2025-11-03-full/web.yaml",
            "app/src/test/resources/out.yaml",
        ] {
            assert!(is_for_show(path), "{path}");
        }
        for path in ["web.yaml", "badge.yaml", "backup/cronjob.yaml", "gold/old.yaml", "test/web.yaml"] {
            assert!(!is_for_show(path), "{path}");
        }
    }

    #[test]
    fn a_directory_with_workloads_is_another_application() {
        let files = [("shop/pod.yaml", POD), ("bank/config/config.yaml", MAP), ("bank/pod.yaml", POD)];
        assert_eq!(relation(&files, &[], files[1].0), Relation::OutOfScope);
        let files = [("shop/pod.yaml", POD), ("banks/pod.yaml", POD), ("bank/config/config.yaml", MAP)];
        assert_eq!(relation(&files, &[], files[2].0), Relation::Near);
        let files = [("shop/web/pod.yaml", POD), ("shop/config.yaml", MAP), ("shop/pod.yaml", POD)];
        assert_eq!(relation(&files, &[], files[1].0), Relation::Near);
        let files = [("pod.yaml", POD), ("shop/config.yaml", MAP), ("shop/pod.yaml", POD)];
        assert_eq!(relation(&files, &[], files[1].0), Relation::Near);
    }

    #[test]
    fn builds_decide_first() {
        let base = ("base/pod.yaml", POD);
        let kustomization = ("base/kustomization.yaml", "resources: [pod.yaml]\n");
        let overlay = ("overlay/kustomization.yaml", "resources: [../base, config.yaml]\n");
        let other = ("other/kustomization.yaml", "resources: [config.yaml]\n");
        let files = [base, kustomization, overlay, ("overlay/config.yaml", MAP), other, ("other/config.yaml", MAP)];
        assert_eq!(relation(&files, &["src/"], "overlay/config.yaml"), Relation::SameBuild);
        assert_eq!(relation(&files, &["src/"], "overlay/kustomization.yaml"), Relation::SameBuild);
        assert_eq!(relation(&files, &[], "other/config.yaml"), Relation::OutOfScope);
        let chart = ("shop/Chart.yaml", "name: shop\n");
        let files = [("shop/templates/pod.yaml", POD), chart, ("shop/templates/config/map.yaml", MAP)];
        assert_eq!(relation(&files, &["src/"], files[2].0), Relation::SameBuild);
        let files = [("pod.yaml", POD), chart, ("shop/templates/map.yaml", MAP), ("shop/ci/map.yaml", MAP)];
        assert_eq!(relation(&files, &[], files[2].0), Relation::OutOfScope);
        assert_eq!(relation(&files, &[], files[3].0), Relation::Near);
        let sub = ("shop/charts/db/Chart.yaml", "name: db\n");
        let files = [("shop/templates/pod.yaml", POD), chart, sub, ("shop/charts/db/templates/map.yaml", MAP)];
        assert_eq!(relation(&files, &[], files[3].0), Relation::SameBuild);
    }
}
