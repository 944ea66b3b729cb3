//! The client's process: a server whose client died without a word must not stay behind.

/// Whether a process lives, as far as can be told.
#[cfg(unix)]
pub(crate) fn is_alive(process: u32) -> bool {
    let Some(process) = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // Not being allowed to send it a signal tells that it is there.
    !matches!(rustix::process::test_kill_process(process), Err(rustix::io::Errno::SRCH))
}

/// Always true: elsewhere this cannot be asked without `unsafe` code or a further process. The server ends when its
/// input ends.
#[cfg(not(unix))]
pub(crate) fn is_alive(_process: u32) -> bool {
    true
}
