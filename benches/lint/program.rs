//! Runs a program and measures its time, its work and its memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// A program that runs longer is ended.
const LIMIT: Duration = Duration::from_secs(100);

/// What a run cost.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) time: Duration,
    /// Instructions if the machine counts them, else microseconds of processor time.
    pub(crate) work: f64,
}

/// What is counted as work.
pub(crate) fn unit_of_work() -> &'static str {
    if *COUNTS_INSTRUCTIONS { "instructions" } else { "processor time" }
}

static COUNTS_INSTRUCTIONS: LazyLock<bool> = LazyLock::new(|| {
    let counted = Command::new("perf").args(["stat", "-x,", "-e", "instructions:u", "true"]).output();
    counted.is_ok_and(|it| instructions(&String::from_utf8_lossy(&it.stderr)).is_some())
});

/// The least cost of some runs; `None` if one fails or takes too long.
pub(crate) fn least_cost(rounds: usize, program: &Path, arguments: &[&str]) -> Option<Cost> {
    let mut least = Cost { time: Duration::MAX, work: f64::MAX };
    for _ in 0..rounds {
        let cost = cost(program, arguments)?;
        least = Cost { time: least.time.min(cost.time), work: least.work.min(cost.work) };
    }
    Some(least)
}

fn cost(program: &Path, arguments: &[&str]) -> Option<Cost> {
    let mut command = if *COUNTS_INSTRUCTIONS {
        let mut command = Command::new("perf");
        command.args(["stat", "-x,", "-e", "instructions:u"]);
        command
    } else {
        // The shell has the processor time of its children in milliseconds.
        let mut command = Command::new("bash");
        command.args(["-c", "TIMEFORMAT='%U %S'; time \"$@\" 2>/dev/null; exit 0", "bash"]);
        command
    };
    let started = Instant::now();
    let child = command.arg(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
    let (printed, time) = thread::scope(|scope| {
        let id = child.id();
        let (finished, wait) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            if wait.recv_timeout(LIMIT).is_err_and(|it| it == std::sync::mpsc::RecvTimeoutError::Timeout) {
                end_with_children(id);
            }
        });
        let output = child.wait_with_output();
        drop(finished);
        (output, started.elapsed())
    });
    if time >= LIMIT {
        return None;
    }
    let printed = String::from_utf8_lossy(&printed.ok()?.stderr).into_owned();
    let work = match *COUNTS_INSTRUCTIONS {
        true => instructions(&printed)?,
        false => {
            let seconds = printed.lines().last()?.split_whitespace().map(str::parse::<f64>);
            seconds.sum::<std::result::Result<f64, _>>().ok()? * 1e6
        }
    };
    Some(Cost { time, work })
}

/// Ends the child of a process that measures it.
fn end_with_children(id: u32) {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let all = children.split_whitespace().map(str::to_owned).chain([id.to_string()]);
    for id in all {
        let _ = Command::new("kill").arg(id).status();
    }
}

fn instructions(printed: &str) -> Option<f64> {
    printed.lines().find(|it| it.contains("instructions"))?.split(',').next()?.parse().ok()
}

/// The output of a run and its peak memory in MB, which is 0 on systems without `/proc`. Fails if it takes too long.
pub(crate) fn output_and_memory(program: &Path, arguments: &[&str]) -> Result<(String, f64)> {
    let output = tempfile::NamedTempFile::new()?;
    let stdout = File::create(output.path())?;
    let mut child = Command::new(program).args(arguments).stdout(stdout).stderr(Stdio::null()).spawn()?;
    let started = Instant::now();
    let mut peak = 0.0_f64;
    while child.try_wait()?.is_none() {
        peak = peak.max(peak_memory(&child));
        if started.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Err(format!("takes more than {} s", LIMIT.as_secs()).into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok((fs::read_to_string(output.path())?, peak))
}

/// The highest memory until now in MB.
fn peak_memory(child: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}
