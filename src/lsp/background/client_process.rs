//! The client's process: a server whose client died without a word must not stay behind.

/// Whether a process lives, as far as can be told.
#[cfg(unix)]
pub(crate) fn is_alive(process: u32) -> bool {
    let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // Not being allowed to send it a signal tells that it is there.
    !matches!(rustix::process::test_kill_process(process), Err(rustix::io::Errno::SRCH))
}

/// Whether a process lives, as far as can be told.
#[cfg(not(unix))]
pub(crate) fn is_alive(process: u32) -> bool {
    let filter = format!("PID eq {process}");
    let list = std::process::Command::new("tasklist").args(["/NH", "/FO", "CSV", "/FI", &filter]).output();
    // In doubt it lives: ending a server that is needed is worse.
    list.is_ok_and(|it| !it.status.success() || String::from_utf8_lossy(&it.stdout).contains(&format!("\"{process}\"")))
}
