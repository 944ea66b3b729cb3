//! Which files podlens reads, and what each of them is.

use crate::workspace::inclusion::is_kustomization_file;
use crate::workspace::settings::SETTINGS_FILE;

/// The extensions of the files that are read, in lower case.
pub const MANIFEST_EXTENSIONS: [&str; 5] = ["yaml", "yml", "json", ENV, PARAMS];

const ENV: &str = "env";
const PARAMS: &str = "params";

/// The kind of a file. The path decides whether it is a settings file, an env file or a parameter file. For other files
/// the text decides whether it is a template.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// YAML or JSON.
    #[default]
    Manifest,
    /// A Helm template. Its objects are read from the text with the actions masked.
    HelmTemplate,
    /// Input of a template engine other than Helm, recognized by its delimiters and by YAML errors.
    OtherTemplate,
    /// Lines `NAME=value` for containers or templates: `.env`, `config.env`.
    EnvFile,
    /// Lines `NAME=value` for the parameters of a template: `dev.params`.
    ParamFile,
    /// A `podlens.yaml`.
    Settings,
}

impl FileKind {
    /// The kind that the path decides; [`FileKind::Manifest`] where the text decides.
    pub fn from_path(path: &str) -> Self {
        if path.rsplit('/').next() == Some(SETTINGS_FILE) {
            Self::Settings
        } else if has_extension(path, ENV) {
            Self::EnvFile
        } else if has_extension(path, PARAMS) {
            Self::ParamFile
        } else {
            Self::Manifest
        }
    }

    /// Whether a template engine produces the manifest from this file: the text is not what is applied.
    pub fn is_template(self) -> bool {
        matches!(self, Self::HelmTemplate | Self::OtherTemplate)
    }

    /// Whether the file holds lines `NAME=value` instead of YAML.
    pub fn is_env_format(self) -> bool {
        matches!(self, Self::EnvFile | Self::ParamFile)
    }
}

/// Whether podlens reads a file of this name when it walks or watches a directory.
pub fn is_manifest(path: &str) -> bool {
    is_kustomization_file(path) || MANIFEST_EXTENSIONS.iter().any(|extension| has_extension(path, extension))
}

/// Whether a file of this name is for people or for git: a hidden file, a README, a licence, a picture. A directory with
/// such files and manifests holds nothing but manifests.
pub fn is_documentation(name: &str) -> bool {
    const NAMES: [&str; 9] =
        ["README", "LICENSE", "LICENCE", "NOTICE", "OWNERS", "CODEOWNERS", "CHANGELOG", "CONTRIBUTING", "MAINTAINERS"];
    const EXTENSIONS: [&str; 11] =
        ["md", "markdown", "txt", "rst", "adoc", "png", "svg", "jpg", "jpeg", "gif", "drawio"];
    name.starts_with('.')
        || NAMES.iter().any(|it| it.eq_ignore_ascii_case(name))
        || EXTENSIONS.iter().any(|it| has_extension(name, it))
}

/// Whether the path is that of a file with `NAME=value` lines: `.env`, `config.env`, `dev.params`.
pub fn is_env_format(path: &str) -> bool {
    FileKind::from_path(path).is_env_format()
}

/// Whether the path is that of a file with parameters of a template: `dev.params`.
pub fn is_param_file(path: &str) -> bool {
    FileKind::from_path(path) == FileKind::ParamFile
}

/// Whether the path ends with `.` and the extension, in upper or lower case.
fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, it)| it.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_decides_which_files_are_read() {
        for (path, expected) in [
            ("a/pod.yaml", Some(FileKind::Manifest)),
            ("a/pod.YML", Some(FileKind::Manifest)),
            ("pod.json", Some(FileKind::Manifest)),
            (".env", Some(FileKind::EnvFile)),
            ("a/config.env", Some(FileKind::EnvFile)),
            ("dev.params", Some(FileKind::ParamFile)),
            ("podlens.yaml", Some(FileKind::Settings)),
            ("a/podlens.yaml", Some(FileKind::Settings)),
            ("a/my-podlens.yaml", Some(FileKind::Manifest)),
            ("a.env/readme", None),
            ("pod.yaml.orig", None),
            ("a/Kustomization", Some(FileKind::Manifest)),
            ("a/kustomization", None),
            ("yaml", None),
            ("", None),
        ] {
            assert_eq!(is_manifest(path).then(|| FileKind::from_path(path)), expected, "{path}");
        }
    }
}
