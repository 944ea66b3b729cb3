//! Globs of the settings. Those for paths work as in a `.gitignore`.

use globset::{Error, GlobBuilder, GlobSet, GlobSetBuilder};

/// A set of globs.
#[derive(Clone, Debug, Default)]
pub struct Globs(GlobSet);

impl Globs {
    /// Globs for paths. One without `/` matches at any depth, and one that matches a directory matches everything in
    /// it.
    pub fn for_paths(patterns: &[&str]) -> Result<Self, Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
            let anchored = match pattern.strip_prefix('/') {
                Some(rest) => rest.to_owned(),
                None if pattern.contains('/') => pattern.to_owned(),
                None => format!("**/{pattern}"),
            };
            for glob in [format!("{anchored}/**"), anchored] {
                set.add(GlobBuilder::new(&glob).literal_separator(true).build()?);
            }
        }
        Ok(Self(set.build()?))
    }

    /// Globs for names, such as `ACME_*`.
    pub fn for_names(patterns: &[&str]) -> Result<Self, Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(GlobBuilder::new(pattern).build()?);
        }
        Ok(Self(set.build()?))
    }

    /// Whether one of the globs matches.
    pub fn matches(&self, text: &str) -> bool {
        !self.0.is_empty() && self.0.is_match(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_globs_match_as_in_a_gitignore() {
        for (pattern, path, expected) in [
            ("vendor", "vendor/a.yaml", true),
            ("vendor", "x/vendor/y/a.yaml", true),
            ("vendor/", "vendor/a.yaml", true),
            ("/vendor", "x/vendor/a.yaml", false),
            ("x/vendor", "x/vendor/a.yaml", true),
            ("x/vendor", "y/x/vendor/a.yaml", false),
            ("*.gen.yaml", "a/b.gen.yaml", true),
            ("a/*.yaml", "a/b/c.yaml", false),
            ("a/**/c.yaml", "a/b/c.yaml", true),
            ("./a", "a/c.yaml", true),
        ] {
            let globs = Globs::for_paths(&[pattern]).unwrap_or_default();
            assert_eq!(globs.matches(path), expected, "{pattern} {path}");
        }
    }
}
