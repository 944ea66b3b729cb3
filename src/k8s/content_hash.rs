//! Hashes of parts of an object, for the comparisons that admission makes field by field.
//!
//! The comparison is that of the API's types: the order of fields does not matter, defaults are filled in, and an
//! absent field equals an empty string, `false` or zero, except for fields that are pointers.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::k8s::node_reader::{DEPTH, ReadBudget};
use crate::syntax::{Node, TypedScalar};

/// A hash of the content of a node. Equal for nodes that the API server considers equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHash {
    hash: u64,
    has_unknown_parts: bool,
}

impl ContentHash {
    /// Whether a part of the content is not known. Then a different hash does not mean that the content differs.
    pub fn has_unknown_parts(self) -> bool {
        self.has_unknown_parts
    }
}

/// Which defaults are filled in before hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defaults {
    /// Those of the API server.
    Filled,
    /// None, as in a custom resource (A23).
    AsWritten,
}

/// Fields that are pointers: a zero value differs from an absent one.
const POINTERS: [&str; 6] = ["optional", "defaultMode", "mode", "expirationSeconds", "sizeLimit", "partition"];

/// Pointers whose names have other meanings elsewhere: the key of a mapping, and a field in it.
const POINTERS_IN: [(&str, &str); 1] = [("hostPath", "type")];

/// Quantities, which may be written as numbers or as strings.
const QUANTITIES: [&str; 2] = ["divisor", "sizeLimit"];

/// Defaults: the key of a mapping, a field in it, and the default of that field.
const DEFAULTS: [(&str, &str, &str); 16] = [
    ("fieldRef", "apiVersion", "\"v1\""),
    // X7.
    ("resourceFieldRef", "divisor", "\"0\""),
    ("hostPath", "type", "\"\""),
    ("secret", "defaultMode", "420"),
    ("configMap", "defaultMode", "420"),
    ("downwardAPI", "defaultMode", "420"),
    ("projected", "defaultMode", "420"),
    ("serviceAccountToken", "expirationSeconds", "3600"),
    ("iscsi", "iscsiInterface", "\"default\""),
    ("rbd", "pool", "\"rbd\""),
    ("rbd", "user", "\"admin\""),
    ("rbd", "keyring", "\"/etc/ceph/keyring\""),
    ("azureDisk", "cachingMode", "\"ReadWrite\""),
    ("azureDisk", "fsType", "\"ext4\""),
    ("azureDisk", "kind", "\"Shared\""),
    ("scaleIO", "storageMode", "\"ThinProvisioned\""),
];

/// The hash of a node that is the value of `key`.
pub(super) fn hash_node(node: Node<'_>, key: &str, defaults: Defaults, budget: &ReadBudget) -> ContentHash {
    let mut text = String::new();
    write(node, key, defaults, budget, DEPTH, &mut text);
    hash_text(&text)
}

/// The hash of an entry of `volumes`. Without a source it is an `emptyDir`.
pub(super) fn hash_volume(node: Node<'_>, defaults: Defaults, budget: &ReadBudget) -> ContentHash {
    let mut text = String::new();
    write(node, "", defaults, budget, DEPTH, &mut text);
    let has_source = node.entries().iter().any(|(key, value)| {
        let is_set = value.is_some_and(|it| it.is_mapping());
        is_set && key.key_text().is_some_and(|it| it != "name")
    });
    if !has_source && defaults == Defaults::Filled {
        // Entries are sorted, and `emptyDir` sorts before `name`.
        text = text.replacen('{', "{emptyDir:{},", 1);
    }
    hash_text(&text)
}

fn hash_text(text: &str) -> ContentHash {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    // Strings are written as in Rust, which escapes the characters of placeholders.
    ContentHash { hash: hasher.finish(), has_unknown_parts: text.contains("\\u{e4f") || text.contains("\\u{558}") }
}

fn write(node: Node<'_>, key: &str, defaults: Defaults, budget: &ReadBudget, depth: usize, text: &mut String) {
    let node = node.resolved();
    if depth == 0 || !budget.take() {
        return;
    }
    if node.is_mapping() {
        let mut entries: Vec<(String, String)> = Vec::new();
        let holder = key;
        for (key, value) in node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            let mut written = String::new();
            write(value, &key, defaults, budget, depth - 1, &mut written);
            let is_pointer = POINTERS.contains(&&*key) || POINTERS_IN.contains(&(holder, &*key));
            let is_zero = matches!(&*written, "\"\"" | "false" | "0") && !is_pointer;
            if !written.is_empty() && !is_zero {
                entries.push((key.into_owned(), written));
            }
        }
        if defaults == Defaults::Filled {
            for (_, field, value) in DEFAULTS.iter().filter(|(holder, ..)| *holder == key) {
                if entries.iter().all(|(key, _)| key != field) {
                    entries.push(((*field).to_owned(), (*value).to_owned()));
                }
            }
        }
        entries.sort();
        text.push('{');
        for (key, value) in entries {
            let _ = write!(text, "{key}:{value},");
        }
        text.push('}');
    } else if node.is_sequence() {
        text.push('[');
        for item in node.items() {
            write(item, "", defaults, budget, depth - 1, text);
            text.push(',');
        }
        text.push(']');
    } else {
        let is_quantity = QUANTITIES.contains(&key);
        let _ = match node.typed() {
            None | Some(TypedScalar::Null) => Ok(()),
            Some(_) if is_quantity => write!(text, "{:?}", node.text().unwrap_or_default()),
            Some(TypedScalar::Bool(it)) => write!(text, "{it}"),
            Some(TypedScalar::Int(it)) => write!(text, "{it}"),
            Some(TypedScalar::Float(it)) => write!(text, "{it}"),
            Some(_) => write!(text, "{:?}", node.text().unwrap_or_default()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse;

    fn hash_of(text: &str, defaults: Defaults) -> ContentHash {
        let tree = parse(text);
        let document = tree.documents().next().expect("a document");
        hash_volume(document.root().expect("a root"), defaults, &ReadBudget::for_document(document))
    }

    #[test]
    fn equal_content_has_equal_hashes() {
        let same = |a: &str, b: &str| hash_of(a, Defaults::Filled) == hash_of(b, Defaults::Filled);
        assert!(same("{name: a, emptyDir: {}}", "emptyDir: {medium: ''}\nname: \"a\"\n"));
        assert!(same("{name: a}", "{name: a, emptyDir: {}}"));
        assert!(same("{name: a, secret: {secretName: s}}", "{name: a, secret: {secretName: s, defaultMode: 0644}}"));
        assert!(same("{name: a, hostPath: {path: /a}}", "{name: a, hostPath: {path: /a, type: ''}}"));
        assert!(!same("{name: a, secret: {secretName: s}}", "{name: a, secret: {secretName: s, optional: false}}"));
        assert!(!same("{name: a}", "{name: b}"));
        assert!(!same("{name: a, emptyDir: {medium: Memory}}", "{name: a, emptyDir: {}}"));
    }

    #[test]
    fn a_custom_resource_has_no_defaults() {
        let (written, full) =
            ("{name: a, secret: {secretName: s}}", "{name: a, secret: {secretName: s, defaultMode: 420}}");
        assert_ne!(hash_of(written, Defaults::AsWritten), hash_of(full, Defaults::Filled));
        assert_eq!(hash_of(full, Defaults::AsWritten), hash_of(written, Defaults::Filled));
        // X7.
        let (written, full) = ("{name: a, hostPath: {path: /a}}", "{name: a, hostPath: {path: /a, type: ''}}");
        assert_ne!(hash_of(written, Defaults::AsWritten), hash_of(written, Defaults::Filled));
        assert_eq!(hash_of(full, Defaults::AsWritten), hash_of(written, Defaults::Filled));
    }
}
