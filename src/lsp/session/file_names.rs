//! URIs and paths to names of files in the workspace, and back.
//!
//! The name of a file below the base directory is its path from there, the name of any other file is its absolute path,
//! and the name of a document that is not a file (`untitled:`, `git:` …) is its URI.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp_server::ls_types::Uri;

use crate::workspace::{PathStyle, join_path, path_from_uri, path_to_uri, relative_path};

/// The base directory of the names.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    base: Option<String>,
}

impl FileNames {
    pub(crate) fn new(base: Option<&Path>) -> Self {
        Self { base: base.and_then(Path::to_str).map(str::to_owned) }
    }

    /// The name of the file or document of a URI.
    pub(crate) fn of_uri(&self, uri: &Uri) -> Arc<str> {
        match path_of(uri).and_then(|path| self.of_path(&path)) {
            Some(name) => name,
            None => uri.as_str().into(),
        }
    }

    /// The name of a file; nothing if its path is not UTF-8 or not absolute.
    pub(crate) fn of_path(&self, path: &Path) -> Option<Arc<str>> {
        let text = path.to_str().filter(|_| path.is_absolute())?;
        let below = self.base.as_deref().and_then(|base| relative_path(text, base, PathStyle::CURRENT));
        match below.filter(|it| !it.is_empty()) {
            Some(name) => Some(name.into()),
            None => Some(text.replace('\\', if cfg!(windows) { "/" } else { "\\" }).into()),
        }
    }

    /// The path of a file by its name; nothing for a document that is not a file.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        if Path::new(name).is_absolute() {
            return Some(name.into());
        }
        let base = self.base.as_deref().filter(|_| !has_scheme(name))?;
        Some(join_path(base, name, PathStyle::CURRENT).into())
    }

    /// The URI of a file or document by its name, written as editors write it.
    pub(crate) fn uri(&self, name: &str) -> Option<Uri> {
        match self.path(name) {
            Some(path) => path_to_uri(path.to_str()?, PathStyle::CURRENT)?.parse().ok(),
            None => name.parse().ok(),
        }
    }
}

/// The path of a file URI.
pub(crate) fn path_of(uri: &Uri) -> Option<PathBuf> {
    path_from_uri(uri.as_str(), PathStyle::CURRENT).map(PathBuf::from)
}

/// Whether a name is the URI of a document that is not a file.
fn has_scheme(name: &str) -> bool {
    let scheme = name.split_once(':').map_or("", |(scheme, _)| scheme);
    !scheme.is_empty() && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_convert_back_to_uris() {
        let names = FileNames::new(Some(Path::new("/w/shop")));
        for (uri, name) in [
            ("file:///w/shop/deploy/pod.yaml", "deploy/pod.yaml"),
            ("file:///w/shop/gr%C3%B6%C3%9Fe.yaml", "größe.yaml"),
            ("file:///tmp/pod.yaml", "/tmp/pod.yaml"),
            ("untitled:Untitled-1", "untitled:Untitled-1"),
            ("git:/w/shop/pod.yaml?ref", "git:/w/shop/pod.yaml?ref"),
        ] {
            let uri: Uri = uri.parse().expect("a URI");
            assert_eq!(&*names.of_uri(&uri), name);
            assert_eq!(names.uri(name), Some(uri), "{name}");
        }
        let alone = FileNames::default();
        let uri: Uri = "file:///w/shop/pod.yaml".parse().expect("a URI");
        assert_eq!(&*alone.of_uri(&uri), "/w/shop/pod.yaml");
        assert_eq!(alone.uri("/w/shop/pod.yaml"), Some(uri));
    }
}
