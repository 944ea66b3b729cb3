//! podlens in Zed: which binary is the server, and which settings it gets.

use zed_extension_api::settings::LspSettings;
use zed_extension_api::{self as zed, serde_json, LanguageServerId, Result, Worktree};

struct Podlens;

impl zed::Extension for Podlens {
    fn new() -> Self {
        Self
    }

    /// The binary of the settings, or else `podlens` of the project's PATH.
    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree).ok().and_then(|settings| settings.binary);
        let (path, arguments) = binary.map_or((None, None), |binary| (binary.path, binary.arguments));
        let command = path
            .or_else(|| worktree.which("podlens"))
            .ok_or("podlens is not on the PATH: install it, or name it in the settings as lsp.podlens.binary.path")?;
        Ok(zed::Command { command, args: arguments.unwrap_or_else(|| vec!["lsp".into()]), env: worktree.shell_env() })
    }

    /// What stands in `lsp.podlens.settings`.
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

    /// The settings that the guide shows.
    fn shown() -> Value {
        serde_json::from_str(include_str!("../settings.json")).expect("settings.json is JSON")
    }

    #[test]
    fn zed_reads_every_key_of_the_settings() {
        let written = &shown()["lsp"]["podlens"];
        let read: LspSettings = serde_json::from_value(written.clone()).expect("settings of a server");
        let mut again = serde_json::to_value(&read).expect("what was read is JSON");
        without_nulls(&mut again);
        assert_eq!(&again, written, "Zed would pass over a key");
        let binary = read.binary.expect("a binary");
        assert_eq!((binary.path.as_deref(), binary.arguments), (Some("podlens"), Some(vec!["lsp".to_owned()])));
    }

    #[test]
    fn yaml_has_the_server_that_the_manifest_declares() {
        let servers = shown()["languages"]["YAML"]["language_servers"].clone();
        assert_eq!(servers, serde_json::json!(["yaml-language-server", "podlens", "..."]));
        assert!(MANIFEST.contains("\n[language_servers.podlens]\n"));
        assert!(MANIFEST.contains("\nlanguages = [\"YAML\", \"JSON\", \"Helm\"]\n"));
        assert!(MANIFEST.contains(&format!("\nversion = \"{}\"\n", env!("CARGO_PKG_VERSION"))));
    }

    /// Keys that are not set are null once written.
    fn without_nulls(value: &mut Value) {
        if let Value::Object(map) = value {
            map.retain(|_, it| !it.is_null());
            map.values_mut().for_each(without_nulls);
        }
    }
}
