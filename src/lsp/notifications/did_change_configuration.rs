//! `workspace/didChangeConfiguration`, and the request for the editor's settings.

use std::time::Duration;

use serde_json::{Value, json};
use tower_lsp_server::ls_types::notification::{DidChangeConfiguration, Notification, ShowMessage};
use tower_lsp_server::ls_types::request::{RegisterCapability, WorkspaceConfiguration};
use tower_lsp_server::ls_types::{
    ConfigurationItem, ConfigurationParams, DidChangeConfigurationParams, MessageType, Registration,
    RegistrationParams, ShowMessageParams,
};

use crate::lsp::session::{SECTION, Session, parse_editor_settings};
use crate::rules;

/// How long diagnostics wait for the settings.
const TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) fn apply(session: &mut Session, params: DidChangeConfigurationParams) {
    if session.client.configuration {
        request_settings(session);
    } else {
        apply_settings(session, Some(&params.settings));
    }
}

/// Registers for this notification, if the client sends it only then.
pub(super) fn register(session: &Session) {
    if !session.client.registers_configuration {
        return;
    }
    let registration = Registration {
        id: "podlens-configuration".into(),
        method: DidChangeConfiguration::METHOD.into(),
        register_options: Some(json!({"section": SECTION})),
    };
    session.outbox.request::<RegisterCapability>(RegistrationParams { registrations: vec![registration] }, drop);
}

/// Requests the editor's settings. Diagnostics wait for them, but not longer than the timeout.
pub(super) fn request_settings(session: &mut Session) {
    if !session.client.configuration {
        session.readiness.set_configured();
        return;
    }
    let item = ConfigurationItem { scope_uri: None, section: Some(SECTION.into()) };
    let tasks = session.tasks.clone();
    session.outbox.request::<WorkspaceConfiguration>(ConfigurationParams { items: vec![item] }, move |answer| {
        let settings = answer.ok().and_then(|it| it.into_iter().next());
        tasks.send(move |session| apply_settings(session, settings.as_ref()));
    });
    let tasks = session.tasks.clone();
    tokio::spawn(async move {
        tokio::time::sleep(TIMEOUT).await;
        tasks.send(|session| session.readiness.set_configured());
    });
}

fn apply_settings(session: &mut Session, settings: Option<&Value>) {
    let settings = settings.and_then(parse_editor_settings);
    for mistake in settings.as_ref().map(rules::settings_errors).unwrap_or_default() {
        let message = format!("podlens: in the editor's settings: {}", mistake.message);
        session.outbox.notify::<ShowMessage>(ShowMessageParams { typ: MessageType::WARNING, message });
    }
    // A client that has no settings at first may have sent some with `initialize`.
    if settings.is_some() || session.readiness.status().is_ready {
        session.set_editor_settings(settings);
    }
    session.readiness.set_configured();
    session.checks.anything_changed(true);
}
