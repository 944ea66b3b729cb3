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
        let command = path.or_else(|| worktree.which("podlens")).ok_or(
            "podlens is not on the PATH: install it, or name it in the settings as lsp.podlens.binary.path",
        )?;
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
