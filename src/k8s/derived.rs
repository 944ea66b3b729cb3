//! Results that a later layer derives from an object and keeps with it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many results are kept. The oldest is dropped first.
const MOST: usize = 16;

/// Results derived from an object, such as the object that a template makes of it. They live as long as the object and
/// are shared by all snapshots that have it. A copy of the object starts without results.
#[derive(Default)]
pub struct Derived(Mutex<Vec<Arc<dyn Any + Send + Sync>>>);

impl Derived {
    /// The result of this type for which `is_wanted` is true. If there is none, it is computed and kept.
    pub fn get_or_insert<T: Any + Send + Sync>(
        &self,
        is_wanted: impl Fn(&T) -> bool,
        compute: impl FnOnce() -> T,
    ) -> Arc<T> {
        let find = |kept: &[Arc<dyn Any + Send + Sync>]| {
            kept.iter().find_map(|it| Arc::clone(it).downcast::<T>().ok().filter(|it| is_wanted(it)))
        };
        let found = find(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        found.unwrap_or_else(|| {
            // Not locked meanwhile: the computation may need other objects.
            let new = Arc::new(compute());
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MOST {
                kept.remove(0);
            }
            kept.push(Arc::clone(&new) as Arc<dyn Any + Send + Sync>);
            new
        })
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived")
    }
}
