//! Ends the server when the client's process has ended without `exit`.

use std::time::Duration;

use crate::lsp::session::Session;

/// The time between two checks.
const INTERVAL: Duration = Duration::from_secs(2);

/// Checks in the background whether the client's process is alive.
pub(crate) fn watch(session: &Session, process: u32) {
    let tasks = session.tasks.clone();
    tokio::spawn(async move {
        while is_alive(process) {
            tokio::time::sleep(INTERVAL).await;
        }
        tasks.send(|session| session.is_client_gone = true);
    });
}

/// Whether a process is alive, as far as this process can see.
#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // Any other error, such as a missing permission, means that the process exists.
    !matches!(rustix::process::test_kill_process(process), Err(rustix::io::Errno::SRCH))
}

/// Always true: on other systems this needs `unsafe` code or another process. The server ends when its input ends.
#[cfg(not(unix))]
fn is_alive(_process: u32) -> bool {
    true
}
