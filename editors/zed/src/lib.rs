//! The Zed extension: finds the server binary and passes the settings to it.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, LanguageServerId, Result, Worktree};

struct Podlens;

impl zed::Extension for Podlens {
    fn new() -> Self {
        Self
    }

    /// Returns the binary from the settings, or `podlens` from the `PATH` of the project.
    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree).ok().and_then(|settings| settings.binary);
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path
            .or_else(|| worktree.which("podlens"))
            .ok_or("podlens is not on the PATH: install it, or set lsp.podlens.binary.path in the settings")?;
        Ok(zed::Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".into()]), env: worktree.shell_env() })
    }

    /// Returns the value of `lsp.podlens.settings`.
    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.settings)
    }
}

zed::register_extension!(Podlens);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    const MANIFEST: &str = include_str!("../extension.toml");

    /// The example settings in `settings.json`.
    fn example_settings() -> Value {
        serde_json::from_str(include_str!("../settings.json")).expect("settings.json is JSON")
    }

    #[test]
    fn zed_reads_every_key_of_the_example_settings() {
        let expected = &example_settings()["lsp"]["podlens"];
        let read: LspSettings = serde_json::from_value(expected.clone()).expect("valid server settings");
        let mut actual = serde_json::to_value(&read).expect("the settings serialize to JSON");
        remove_nulls(&mut actual);
        assert_eq!(&actual, expected, "Zed ignores a key");
        let binary = read.binary.expect("a binary");
        assert_eq!((binary.path.as_deref(), binary.arguments), (Some("podlens"), Some(vec!["lsp".to_owned()])));
    }

    #[test]
    fn yaml_uses_the_server_that_the_manifest_declares() {
        let servers = example_settings()["languages"]["YAML"]["language_servers"].clone();
        assert_eq!(servers, serde_json::json!(["yaml-language-server", "podlens", "..."]));
        assert!(MANIFEST.contains("\n[language_servers.podlens]\n"));
        assert!(MANIFEST.contains("\nlanguages = [\"YAML\", \"JSON\", \"Helm\"]\n"));
        assert!(MANIFEST.contains(&format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"))));
    }

    /// Removes null values: keys that are not set are serialized as null.
    fn remove_nulls(value: &mut Value) {
        if let Value::Object(map) = value {
            map.retain(|_, it| !it.is_null());
            map.values_mut().for_each(remove_nulls);
        }
    }
}
