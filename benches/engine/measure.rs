//! Measuring: the shortest of several rounds, taken in turns, and what was measured against what it may be.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long something takes. What it gives is dropped when the clock has stopped.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let time = start.elapsed();
    drop(result);
    time
}

/// The shortest time of each task, done in turns.
pub(crate) fn best<const N: usize>(rounds: usize, mut tasks: [&mut dyn FnMut() -> Duration; N]) -> [Duration; N] {
    let mut shortest = [Duration::MAX; N];
    for _ in 0..rounds {
        for (task, shortest) in tasks.iter_mut().zip(&mut shortest) {
            *shortest = task().min(*shortest);
        }
    }
    shortest
}

pub(crate) fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What was measured against what it may be.
#[derive(Default)]
pub(crate) struct Budgets {
    kept: usize,
    broken: Vec<String>,
}

impl Budgets {
    pub(crate) fn add(&mut self, name: String, ratio: f64, limit: f64) {
        if ratio <= limit {
            self.kept += 1;
        } else {
            self.broken.push(format!("{name}: {ratio:.3}, at most {limit:.3}"));
        }
    }

    pub(crate) fn conclude(self) -> ExitCode {
        println!("\nbudgets: {} kept, {} broken", self.kept, self.broken.len());
        for broken in &self.broken {
            println!("  broken: {broken}");
        }
        if self.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
