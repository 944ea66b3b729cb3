//! Kubernetes releases.

use std::fmt;
use std::str::FromStr;

/// A release such as 1.34, or a patch release such as 1.34.4. Without a patch it is the newest patch release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubernetesVersion {
    /// The major version, always 1.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch version. `None` for the newest.
    pub patch: Option<u32>,
}

impl KubernetesVersion {
    /// The newest release that `docs/spec` describes.
    pub const NEWEST: Self = Self::minor(37);

    /// The newest patch release of 1.`minor`.
    pub const fn minor(minor: u32) -> Self {
        Self { major: 1, minor, patch: None }
    }

    /// Whether it is 1.`minor`.0 or later.
    pub fn is_at_least(self, minor: u32) -> bool {
        self.is_at_least_patch(minor, 0)
    }

    /// Whether it is 1.`minor`.`patch` or later.
    pub fn is_at_least_patch(self, minor: u32, patch: u32) -> bool {
        (self.major, self.minor, self.patch.unwrap_or(u32::MAX)) >= (1, minor, patch)
    }
}

impl Default for KubernetesVersion {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        self.patch.map_or(Ok(()), |patch| write!(f, ".{patch}"))
    }
}

/// A text that is not a Kubernetes release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a Kubernetes release; write one such as 1.34 or 1.34.4")]
pub struct InvalidVersion(String);

impl FromStr for KubernetesVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let invalid = || InvalidVersion(text.to_owned());
        let plain = text.strip_prefix('v').unwrap_or(text);
        let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse::<u32>().map_err(|_| invalid()),
            false => Err(invalid()),
        };
        let mut parts = plain.split('.');
        let major = number(parts.next().ok_or_else(invalid)?)?;
        let minor = number(parts.next().ok_or_else(invalid)?)?;
        let patch = parts.next().map(number).transpose()?;
        if parts.next().is_some() || major != 1 {
            return Err(invalid());
        }
        Ok(Self { major, minor, patch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_parsed_and_displayed() {
        for text in ["1.34", "1.34.4", "1.9"] {
            assert_eq!(text.parse::<KubernetesVersion>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("v1.30.2".parse(), Ok(KubernetesVersion { major: 1, minor: 30, patch: Some(2) }));
        for text in ["", "1", "2.0", "1.x", "1.34.", "1.34.4.1", "1.+3", "latest", "1.99999999999"] {
            assert!(text.parse::<KubernetesVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_release_without_patch_is_its_newest_patch() {
        let has = |text: &str, minor, patch| {
            text.parse::<KubernetesVersion>().is_ok_and(|it| it.is_at_least_patch(minor, patch))
        };
        assert!(has("1.34", 34, 4));
        assert!(!has("1.34.3", 34, 4));
        assert!(has("1.35.0", 34, 4));
        assert!(!has("1.33", 34, 0));
    }
}
