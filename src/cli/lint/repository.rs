//! The root of the repository: paths in reports for code hosting services are relative to it, wherever the command runs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::{PathStyle, path_to_uri, relative_path};

/// Variables in which CI services set the directory of the checkout.
const CHECKOUTS: [&str; 2] = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"];

pub(super) struct Repository {
    root: PathBuf,
    /// The directory of the checkout, if a CI service names it.
    pub(super) checkout: Option<PathBuf>,
    known: RefCell<HashMap<String, String>>,
}

impl Repository {
    /// The repository around `base`, the directory of everything that is checked; without one the working directory.
    pub(super) fn find(base: &Path, directory: &Path) -> Self {
        let checkout = CHECKOUTS.iter().find_map(|it| checkout(&PathBuf::from(env::var_os(it)?), base));
        Self { root: root(base, directory, checkout.as_deref()), checkout, known: RefCell::default() }
    }

    /// An absolute path relative to the root, with `/`; the path itself if it is not in the repository.
    pub(super) fn relative(&self, path: &str) -> String {
        let find = || below(path, &self.root).unwrap_or_else(|| path.replace('\\', "/"));
        self.known.borrow_mut().entry(path.to_owned()).or_insert_with(find).clone()
    }

    /// The URI of the root, with a final `/`.
    pub(super) fn uri(&self) -> Option<String> {
        let uri = path_to_uri(self.root.to_str()?, PathStyle::CURRENT)?;
        Some(if uri.ends_with('/') { uri } else { uri + "/" })
    }
}

/// An absolute path relative to a directory, also if one of them is written with symbolic links.
pub(super) fn below(path: &str, directory: &Path) -> Option<String> {
    let plain = |path: &str, directory: &Path| relative_path(path, directory.to_str()?, PathStyle::CURRENT);
    let resolved = || {
        // The file itself may be a link, which is not followed.
        let path = Path::new(path);
        let real = fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?);
        plain(real.to_str()?, &fs::canonicalize(directory).ok()?)
    };
    plain(path, directory).or_else(resolved)
}

/// The directory of a checkout as it is written in `base`; `None` if `base` is not below it.
fn checkout(directory: &Path, base: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(directory).ok().filter(|_| directory.is_absolute())?;
    base.ancestors().find(|it| *it == directory || fs::canonicalize(it).is_ok_and(|it| it == real)).map(Path::to_owned)
}

/// The first repository of a checkout: others in it are submodules. Without a checkout, the nearest repository.
fn root(base: &Path, directory: &Path, checkout: Option<&Path>) -> PathBuf {
    let mut above = base.ancestors().filter(|it| it.join(".git").exists());
    let found = match checkout {
        Some(checkout) => above.filter(|it| it.starts_with(checkout)).last().or(Some(checkout)),
        None => above.next(),
    };
    found.unwrap_or(directory).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(directories: &[&str]) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        directories.iter().for_each(|it| fs::create_dir_all(place.path().join(it)).expect("created"));
        place
    }

    #[test]
    fn the_root_is_that_of_the_repository() {
        let place =
            tree(&["repo/.git", "repo/deploy/app", "repo/vendor/lib/.git", "repo/vendor/lib/deploy", "none/deploy"]);
        let at = |it: &str| place.path().join(it);
        let root = |base: &str, checkout: Option<&str>| root(&at(base), &at(base), checkout.map(at).as_deref());
        assert_eq!(root("repo/deploy/app", None), at("repo"));
        assert_eq!(root("repo", None), at("repo"));
        assert_eq!(root("repo/vendor/lib/deploy", None), at("repo/vendor/lib"));
        assert_eq!(root("none/deploy", None), at("none/deploy"), "the working directory");
        // In CI the checkout is known: a submodule is a part of it, and the repository may be below it.
        assert_eq!(root("repo/vendor/lib/deploy", Some("repo")), at("repo"));
        assert_eq!(root("repo/deploy/app", Some("")), at("repo"));
        assert_eq!(root("none/deploy", Some("none")), at("none"));
    }

    #[test]
    fn a_checkout_contains_what_is_checked() {
        let place = tree(&["work/repo", "other"]);
        let at = |it: &str| place.path().join(it);
        assert_eq!(checkout(&at("work"), &at("work/repo")), Some(at("work")));
        assert_eq!(checkout(&at("other"), &at("work/repo")), None);
        assert_eq!(checkout(&at("gone"), &at("work/repo")), None);
        assert_eq!(checkout(Path::new(""), &at("work/repo")), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_matter() {
        let place = tree(&["real/deploy", "elsewhere"]);
        let at = |it: &str| place.path().join(it);
        std::os::unix::fs::symlink(at("real"), at("link")).expect("linked");
        std::os::unix::fs::symlink(at("elsewhere"), at("real/shared")).expect("linked");
        assert_eq!(checkout(&at("link"), &at("real/deploy")), Some(at("real")));
        assert_eq!(checkout(&at("real"), &at("link/deploy")), Some(at("link")));
        let below = |path: &str, directory: &str| below(at(path).to_str().expect("UTF-8"), &at(directory));
        assert_eq!(below("link/deploy/a.yaml", "real").as_deref(), Some("deploy/a.yaml"));
        assert_eq!(below("real/deploy/a.yaml", "link").as_deref(), Some("deploy/a.yaml"));
        assert_eq!(below("real/shared/a.yaml", "real").as_deref(), Some("shared/a.yaml"));
        assert_eq!(below("elsewhere/a.yaml", "real"), None);
    }
}
