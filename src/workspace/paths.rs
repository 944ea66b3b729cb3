//! File URIs and paths as plain strings, for all operating systems.
//!
//! The [`PathStyle`] is a parameter, so that all styles are tested on every system. Inside podlens a file is named by
//! its path relative to the root of the workspace, with `/` as separator.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How an operating system writes paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// Linux, macOS and other Unix systems: `/srv/shop/pod.yaml`.
    Unix,
    /// Windows: `C:\shop\pod.yaml`, `\\server\share\pod.yaml`.
    Windows,
}

impl PathStyle {
    /// The style of the system that podlens was built for.
    pub const CURRENT: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    fn is_separator(self, character: char) -> bool {
        character == '/' || (self == Self::Windows && character == '\\')
    }

    /// Whether two components are the same name. Windows ignores case.
    fn same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Unix => one == other,
            Self::Windows => one.to_lowercase() == other.to_lowercase(),
        }
    }
}

/// The path of a file URI. `None` for other schemes (`untitled:`, `git:`, `vscode-notebook-cell:` …), for paths that
/// are not absolute, and for bytes that are not UTF-8.
pub fn path_from_uri(uri: &str, style: PathStyle) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    // A `#` or `?` in a name is encoded. A bare one ends the path.
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    let host = if host.eq_ignore_ascii_case("localhost") { Cow::Borrowed("") } else { decode(host)? };
    let path = decode(path)?;
    match style {
        PathStyle::Unix => (host.is_empty() && path.starts_with('/')).then(|| path.into_owned()),
        PathStyle::Windows if host.is_empty() => {
            let path = path.strip_prefix('/')?.replace('/', "\\");
            drive(&path).map(|(letter, rest)| format!("{letter}:{}{rest}", if rest.is_empty() { "\\" } else { "" }))
        }
        PathStyle::Windows => (path.len() > 1).then(|| format!("\\\\{host}{}", path.replace('/', "\\"))),
    }
}

/// The URI of an absolute path, written as editors write it (`file:///c%3A/shop/pod.yaml`). `None` for a relative
/// path.
pub fn path_to_uri(path: &str, style: PathStyle) -> Option<String> {
    let Split { root, parts } = split(path, style)?;
    let mut uri = match root {
        Root::Slash => "file://".to_owned(),
        Root::Drive(letter) => format!("file:///{}%3A", letter.to_ascii_lowercase()),
        Root::Share(server) => format!("file://{}", encode(server)),
    };
    for part in &parts {
        uri.push('/');
        uri.extend(utf8_percent_encode(part, &ENCODED));
    }
    if parts.is_empty() {
        uri.push('/');
    }
    Some(uri)
}

/// The path relative to `root`, with `/` as separator. Empty for the root itself, `None` for a path outside it.
pub fn relative_path(path: &str, root: &str, style: PathStyle) -> Option<String> {
    let (path, root) = (split(path, style)?, split(root, style)?);
    let below = path.parts.get(root.parts.len()..)?;
    (common(&path, &root, style)? == root.parts.len()).then(|| below.join("/"))
}

/// The absolute path of a relative one: the inverse of [`relative_path`].
pub fn join_path(root: &str, relative: &str, style: PathStyle) -> String {
    let root = if root.len() > 1 { root.trim_end_matches(|character| style.is_separator(character)) } else { root };
    let separator = match style {
        PathStyle::Unix if root == "/" => "",
        PathStyle::Unix => "/",
        PathStyle::Windows => "\\",
    };
    let relative = match style {
        PathStyle::Unix => Cow::Borrowed(relative),
        PathStyle::Windows => Cow::Owned(relative.replace('/', "\\")),
    };
    if relative.is_empty() && separator == "/" { root.to_owned() } else { format!("{root}{separator}{relative}") }
}

/// An absolute path relative to `directory`, with `/` as separator: `pod.yaml`, `../shop/pod.yaml`. The path itself if
/// there is no relative one, as on another drive.
pub fn display_path(path: &str, directory: &str, style: PathStyle) -> String {
    let shown = || {
        let (path, directory) = (split(path, style)?, split(directory, style)?);
        let common = common(&path, &directory, style)?;
        let up = std::iter::repeat_n("..", directory.parts.len() - common);
        Some(up.chain(path.parts[common..].iter().copied()).collect::<Vec<_>>().join("/"))
    };
    match shown() {
        Some(same) if same.is_empty() => ".".to_owned(),
        Some(shown) => shown,
        None => path.to_owned(),
    }
}

/// The root of an absolute path.
enum Root<'p> {
    Slash,
    Drive(char),
    /// The server of a UNC path. The share is the first component.
    Share(&'p str),
}

/// The components of an absolute path, without `.` and `..`.
struct Split<'p> {
    root: Root<'p>,
    parts: Vec<&'p str>,
}

fn split(path: &str, style: PathStyle) -> Option<Split<'_>> {
    let (root, rest) = match style {
        PathStyle::Unix => (Root::Slash, path.strip_prefix('/')?),
        PathStyle::Windows => {
            // Windows writes canonical paths as `\\?\C:\x` and `\\?\UNC\server\x`.
            let plain = path.strip_prefix(r"\\?\").unwrap_or(path);
            let share = match plain.strip_prefix(r"UNC\").filter(|_| plain.len() < path.len()) {
                Some(share) => Some(share),
                None => path.strip_prefix(r"\\").filter(|_| plain.len() == path.len()),
            };
            match share {
                Some(share) => {
                    let (server, rest) = share.split_once(|character| style.is_separator(character))?;
                    (Root::Share(server), rest)
                }
                None => drive(plain).map(|(letter, rest)| (Root::Drive(letter), rest))?,
            }
        }
    };
    let mut parts = Vec::new();
    for part in rest.split(|character| style.is_separator(character)) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    Some(Split { root, parts })
}

/// The number of components that two paths have in common. `None` if their roots differ.
fn common(one: &Split<'_>, other: &Split<'_>, style: PathStyle) -> Option<usize> {
    let same_root = match (&one.root, &other.root) {
        (Root::Slash, Root::Slash) => true,
        (Root::Drive(one), Root::Drive(other)) => one == other,
        (Root::Share(one), Root::Share(other)) => style.same(one, other),
        _ => false,
    };
    let parts = || one.parts.iter().zip(&other.parts).take_while(|(one, other)| style.same(one, other)).count();
    same_root.then(parts)
}

/// The drive letter of a Windows path, in upper case so that a file has one name, and the rest after the colon.
fn drive(path: &str) -> Option<(char, &str)> {
    let letter = path.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = path[1..].strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(['\\', '/'])).then_some((letter.to_ascii_uppercase(), rest))
}

/// All characters except those that RFC 3986 calls unreserved.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(text: &str) -> String {
    utf8_percent_encode(text, &ENCODED).to_string()
}

/// Decodes a part of a URI. `None` if the result cannot be part of a path.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok().filter(|decoded| !decoded.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::PathStyle::{Unix, Windows};
    use super::*;

    #[test]
    fn uris_and_paths_are_converted_both_ways() {
        let cases = [
            (Unix, "file:///srv/shop/pod.yaml", "/srv/shop/pod.yaml"),
            (Unix, "file:///", "/"),
            (Unix, "file:///my%20shop/%231%3F100%25.yaml", "/my shop/#1?100%.yaml"),
            (Unix, "file:///s%C3%BC%C3%9F/%E8%AE%BE.yaml", "/süß/设.yaml"),
            (Unix, "file:///a%5Cb.yaml", "/a\\b.yaml"),
            (Unix, "file:///c%3A/x", "/c:/x"),
            (Windows, "file:///c%3A/shop/pod.yaml", r"C:\shop\pod.yaml"),
            (Windows, "file:///c%3A/", r"C:\"),
            (Windows, "file:///d%3A/my%20shop/s%C3%BC%C3%9F.yaml", r"D:\my shop\süß.yaml"),
            (Windows, "file://server/share/my%20shop/pod.yaml", r"\\server\share\my shop\pod.yaml"),
        ];
        for (style, uri, path) in cases {
            assert_eq!(path_from_uri(uri, style).as_deref(), Some(path), "{uri}");
            assert_eq!(path_to_uri(path, style).as_deref(), Some(uri), "{path}");
        }
    }

    #[test]
    fn other_forms_of_uris_are_accepted() {
        let cases = [
            (Unix, "FILE:///a", Some("/a")),
            (Unix, "file:/a", Some("/a")),
            (Unix, "file://localhost/a", Some("/a")),
            (Unix, "file:///a b/ü", Some("/a b/ü")),
            (Unix, "file:///a?x#y", Some("/a")),
            (Unix, "file://server/a", None),
            (Unix, "file:///%FF", None),
            (Unix, "file:///a%00", None),
            (Unix, "untitled:Untitled-1", None),
            (Unix, "vscode-notebook-cell:/a#b", None),
            (Unix, "git:/a/pod.yaml?ref", None),
            (Unix, "/a", None),
            (Unix, "", None),
            (Windows, "file:///C:/x", Some(r"C:\x")),
            (Windows, "file:///C%3a/x", Some(r"C:\x")),
            (Windows, "file:///c:", Some(r"C:\")),
            (Windows, "file:///x/y", None),
            (Windows, "file:///cc:/y", None),
            (Windows, "file:///ü:/y", None),
            (Windows, "file://server", None),
            (Windows, "file://", None),
        ];
        for (style, uri, path) in cases {
            assert_eq!(path_from_uri(uri, style).as_deref(), path, "{uri}");
        }
        assert_eq!(path_to_uri(r"c:/shop\pod.yaml", Windows).as_deref(), Some("file:///c%3A/shop/pod.yaml"));
        assert_eq!(path_to_uri(r"\\?\C:\x", Windows).as_deref(), Some("file:///c%3A/x"));
        assert_eq!(path_to_uri(r"\\?\UNC\server\share\x", Windows).as_deref(), Some("file://server/share/x"));
        assert_eq!(path_to_uri("pod.yaml", Unix), None);
        assert_eq!(path_to_uri(r"shop\pod.yaml", Windows), None);
        assert_eq!(path_to_uri(r"C:pod.yaml", Windows), None);
    }

    #[test]
    fn paths_are_relative_to_the_root() {
        let cases = [
            (Unix, "/w/shop/pod.yaml", "/w", Some("shop/pod.yaml")),
            (Unix, "/w/shop/pod.yaml", "/w/", Some("shop/pod.yaml")),
            (Unix, "/w/./a/../pod.yaml", "/w", Some("pod.yaml")),
            (Unix, "/pod.yaml", "/", Some("pod.yaml")),
            (Unix, "/w", "/w", Some("")),
            (Unix, "/wide/pod.yaml", "/w", None),
            (Unix, "/W/pod.yaml", "/w", None),
            (Unix, "/w/../pod.yaml", "/w", None),
            (Windows, r"c:\Shop\deploy\pod.yaml", r"C:\shop", Some("deploy/pod.yaml")),
            (Windows, r"\\?\C:\shop\pod.yaml", r"c:\shop", Some("pod.yaml")),
            (Windows, r"D:\shop\pod.yaml", r"C:\shop", None),
            (Windows, r"\\Server\share\a\pod.yaml", r"\\server\share", Some("a/pod.yaml")),
            (Windows, r"\\server\share\pod.yaml", r"C:\share", None),
        ];
        for (style, path, root, expected) in cases {
            let relative = relative_path(path, root, style);
            assert_eq!(relative.as_deref(), expected, "{path} in {root}");
            if let Some(relative) = relative {
                assert_eq!(super::relative_path(&join_path(root, &relative, style), root, style), Some(relative));
            }
        }
        assert_eq!(join_path("/", "pod.yaml", Unix), "/pod.yaml");
        assert_eq!(join_path("/w", "", Unix), "/w");
        assert_eq!(join_path(r"C:\", "a/pod.yaml", Windows), r"C:\a\pod.yaml");
    }

    #[test]
    fn displayed_paths_are_relative_to_the_directory() {
        let cases = [
            (Unix, "/w/shop/pod.yaml", "/w", "shop/pod.yaml"),
            (Unix, "/w/shop/pod.yaml", "/w/other/deep", "../../shop/pod.yaml"),
            (Unix, "/w", "/w", "."),
            (Unix, "pod.yaml", "/w", "pod.yaml"),
            (Windows, r"C:\w\shop\pod.yaml", r"c:\W", "shop/pod.yaml"),
            (Windows, r"D:\w\pod.yaml", r"C:\w", r"D:\w\pod.yaml"),
        ];
        for (style, path, directory, expected) in cases {
            assert_eq!(display_path(path, directory, style), expected, "{path} from {directory}");
        }
    }
}
