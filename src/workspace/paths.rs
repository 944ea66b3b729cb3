//! File URIs and paths as plain values, for the systems of editors and of CI alike.
//!
//! Nothing here asks the machine it runs on: the [`PathStyle`] is a parameter, so all of them are tested everywhere.
//! Inside podlens a file is named by its path relative to the workspace's root, with `/` between the parts.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// How a system writes paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStyle {
    /// Linux, macOS and their kin: `/srv/shop/pod.yaml`.
    Unix,
    /// Windows: `C:\shop\pod.yaml`, `\\server\share\pod.yaml`.
    Windows,
}

impl PathStyle {
    /// The system podlens was built for.
    pub const CURRENT: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };

    fn is_separator(self, character: char) -> bool {
        character == '/' || (self == Self::Windows && character == '\\')
    }

    /// Whether two parts of paths name the same thing. Windows keeps the case of names, but does not look at it.
    fn same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Unix => one == other,
            Self::Windows => one.to_lowercase() == other.to_lowercase(),
        }
    }
}

/// The path of a file URI. Nothing for other schemes (`untitled:`, `git:`, `vscode-recorder-cell:` …), for what is no
/// absolute path on that style, and for bytes that are not UTF-8.
pub fn path_from_uri(uri: &str, style: PathStyle) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    // A `#` or `?` of a name is encoded; a bare one begins what is not part of the path.
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

/// The URI of an absolute path, spelled as editors spell it (`file:///c%3A/shop/pod.yaml`). Nothing for a relative path.
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

/// The path below `root`, with `/` between its parts; empty for the root itself, nothing for a path outside it.
pub fn relative_path(path: &str, root: &str, style: PathStyle) -> Option<String> {
    let (path, root) = (split(path, style)?, split(root, style)?);
    let below = path.parts.get(root.parts.len()..)?;
    (common(&path, &root, style)? == root.parts.len()).then(|| below.join("/"))
}

/// The absolute path of what [`relative_path`] names.
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

/// An absolute path as a person in `directory` would write it, with `/` between its parts: `pod.yaml`,
/// `../shop/pod.yaml`. The path itself where no relative one leads to it, as on another drive.
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

/// What an absolute path begins with.
enum Root<'p> {
    Slash,
    Drive(char),
    /// A UNC path; the share is its first part.
    Share(&'p str),
}

/// An absolute path in pieces, without `.` and `..`.
struct Split<'p> {
    root: Root<'p>,
    parts: Vec<&'p str>,
}

fn split(path: &str, style: PathStyle) -> Option<Split<'_>> {
    let (root, rest) = match style {
        PathStyle::Unix => (Root::Slash, path.strip_prefix('/')?),
        PathStyle::Windows => {
            // `\\?\C:\x` and `\\?\UNC\server\x` are how Windows spells a canonical path.
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

/// How many parts two paths have in common from the root on; nothing if not even the root.
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

/// The drive letter of a Windows path, in upper case so that one file has one name, and what stands behind its colon.
fn drive(path: &str) -> Option<(char, &str)> {
    let letter = path.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = path[1..].strip_prefix(':')?;
    (rest.is_empty() || rest.starts_with(['\\', '/'])).then_some((letter.to_ascii_uppercase(), rest))
}

/// What stays as it is in a URI's path: RFC 3986's unreserved characters.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

fn encode(text: &str) -> String {
    utf8_percent_encode(text, &ENCODED).to_string()
}

/// Decoded, unless that gives something no path can hold.
fn decode(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok().filter(|decoded| !decoded.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::PathStyle::{Unix, Windows};
    use super::*;

    #[test]
    fn uris_and_paths_lead_to_each_other() {
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
    fn other_spellings_of_a_uri_are_understood() {
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
            (Unix, "vscode-recorder-cell:/a#b", None),
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
    fn files_are_named_from_the_root() {
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
    fn people_see_paths_from_where_they_are() {
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
