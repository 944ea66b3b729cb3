//! Whether two parts of an object say the same, told by a number: what admission compares field by field.
//!
//! As in the API's types, the order of fields does not matter, an absent field is as good as an empty text, `false` or
//! zero unless the field can tell them apart, and defaults are filled in.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::k8s::reader::{DEPTH, NodeBudget};
use crate::syntax::{Node, TypedScalar};

/// Equal for parts that say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentHash(u64);

/// Which defaults the API server fills in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defaults {
    /// Those of the API server.
    Filled,
    /// None: what a custom resource holds is taken as it is written (A23).
    AsWritten,
}

/// Fields that are there or not, whatever they hold.
const POINTERS: [&str; 6] = ["optional", "defaultMode", "mode", "expirationSeconds", "sizeLimit", "partition"];

/// Fields that are quantities, written as numbers or as texts.
const QUANTITIES: [&str; 2] = ["divisor", "sizeLimit"];

/// The default of a field in the mapping under a key.
const DEFAULTS: [(&str, &str, &str); 14] = [
    ("fieldRef", "apiVersion", "\"v1\""),
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

/// The shape of a node that stands under a key.
pub(super) fn shape(node: Node<'_>, key: &str, defaults: Defaults, budget: &NodeBudget) -> ContentHash {
    let mut text = String::new();
    write(node, key, defaults, budget, DEPTH, &mut text);
    hashed(&text)
}

/// The shape of an entry of `volumes`: without a source it is an `emptyDir`.
pub(super) fn volume(node: Node<'_>, defaults: Defaults, budget: &NodeBudget) -> ContentHash {
    let mut text = String::new();
    write(node, "", defaults, budget, DEPTH, &mut text);
    let has_source = node.entries().iter().any(|(key, value)| {
        let is_set = value.is_some_and(|it| it.is_mapping());
        is_set && key.key_text().is_some_and(|it| it != "name")
    });
    if !has_source && defaults == Defaults::Filled {
        // Written as the entry would be: sorted, `emptyDir` stands before `name`.
        text = text.replacen('{', "{emptyDir:{},", 1);
    }
    hashed(&text)
}

fn hashed(text: &str) -> ContentHash {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    ContentHash(hasher.finish())
}

fn write(node: Node<'_>, key: &str, defaults: Defaults, budget: &NodeBudget, depth: usize, text: &mut String) {
    let node = node.resolved();
    if depth == 0 || !budget.take() {
        return;
    }
    if node.is_mapping() {
        let mut entries: Vec<(String, String)> = Vec::new();
        for (key, value) in node.entries() {
            let (Some(key), Some(value)) = (key.key_text(), value) else { continue };
            let mut written = String::new();
            write(value, &key, defaults, budget, depth - 1, &mut written);
            let is_zero = matches!(&*written, "\"\"" | "false" | "0") && !POINTERS.contains(&&*key);
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

    fn shape_of(text: &str, defaults: Defaults) -> ContentHash {
        let tree = parse(text);
        let document = tree.documents().next().expect("a document");
        volume(document.root().expect("a root"), defaults, &NodeBudget::of(document))
    }

    #[test]
    fn what_says_the_same_has_one_shape() {
        let same = |a: &str, b: &str| shape_of(a, Defaults::Filled) == shape_of(b, Defaults::Filled);
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
        assert_ne!(shape_of(written, Defaults::AsWritten), shape_of(full, Defaults::Filled));
        assert_eq!(shape_of(full, Defaults::AsWritten), shape_of(written, Defaults::Filled));
    }
}
