//! An index of the keys of a ConfigMap or Secret, built when a key is looked up.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::k8s::model::{DataEntry, KeyedData};
use crate::syntax::has_placeholder;

/// The positions of the keys by name.
#[derive(Debug, Default)]
pub struct KeyIndex {
    positions: OnceLock<HashMap<Arc<str>, Vec<u32>>>,
    has_unknown: OnceLock<bool>,
}

/// Keys up to this number are compared one by one.
const FEW: usize = 16;

impl Clone for KeyIndex {
    /// The keys of a clone may be changed, so it has no index yet.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl KeyedData {
    /// Whether a key has unknown parts.
    pub fn has_unknown_keys(&self) -> bool {
        *self.by_name.has_unknown.get_or_init(|| self.keys.iter().any(|it| has_placeholder(&it.key.value)))
    }

    /// The entries of a name, in order.
    pub fn entries_named(&self, name: &str) -> Vec<&DataEntry> {
        if self.keys.len() <= FEW {
            return self.keys.iter().filter(|it| *it.key.value == *name).collect();
        }
        let index = self.by_name.positions.get_or_init(|| {
            let mut positions: HashMap<Arc<str>, Vec<u32>> = HashMap::with_capacity(self.keys.len());
            for (entry, at) in self.keys.iter().zip(0..) {
                positions.entry(Arc::clone(&entry.key.value)).or_default().push(at);
            }
            positions
        });
        index.get(name).into_iter().flatten().filter_map(|at| self.keys.get(*at as usize)).collect()
    }
}
