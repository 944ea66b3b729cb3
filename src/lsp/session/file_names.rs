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
    pub(crate) fn uri_to_name(&self, uri: &Uri) -> Arc<str> {
        match uri_to_path(uri).and_then(|path| self.path_to_name(&path)) {
            Some(name) => name,
            None => uri.as_str().into(),
        }
    }

    /// The name of a file; `None` if its path is not UTF-8 or not absolute.
    pub(crate) fn path_to_name(&self, path: &Path) -> Option<Arc<str>> {
        let text = path.to_str().filter(|_| path.is_absolute())?;
        let below = self.base.as_deref().and_then(|base| relative_path(text, base, PathStyle::CURRENT));
        match below.filter(|it| !it.is_empty()) {
            Some(name) => Some(name.into()),
            None => Some(text.replace('\\', if cfg!(windows) { "/" } else { "\\" }).into()),
        }
    }

    /// The path of a file by its name; `None` for a document that is not a file.
    pub(crate) fn name_to_path(&self, name: &str) -> Option<PathBuf> {
        if Path::new(name).is_absolute() {
            return Some(name.into());
        }
        let base = self.base.as_deref().filter(|_| !has_scheme(name))?;
        Some(join_path(base, name, PathStyle::CURRENT).into())
    }

    /// The URI of a file or document by its name, written as editors write it.
    pub(crate) fn name_to_uri(&self, name: &str) -> Option<Uri> {
        match self.name_to_path(name) {
            Some(path) => path_to_uri(path.to_str()?, PathStyle::CURRENT)?.parse().ok(),
            None => name.parse().ok(),
        }
    }
}

/// The path of a file URI.
pub(crate) fn uri_to_path(uri: &Uri) -> Option<PathBuf> {
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
            assert_eq!(&*names.uri_to_name(&uri), name);
            assert_eq!(names.name_to_uri(name), Some(uri), "{name}");
        }
        let alone = FileNames::default();
        let uri: Uri = "file:///w/shop/pod.yaml".parse().expect("a URI");
        assert_eq!(&*alone.uri_to_name(&uri), "/w/shop/pod.yaml");
        assert_eq!(alone.name_to_uri("/w/shop/pod.yaml"), Some(uri));
    }
}
