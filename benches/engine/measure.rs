//! Measures the shortest of several rounds, and compares ratios with budgets.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time that `work` takes. Its result is dropped after the measurement.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = black_box(work());
    let time = start.elapsed();
    drop(result);
    time
}

/// The shortest time of each task; the tasks run alternately.
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

/// The budgets that were checked.
#[derive(Default)]
pub(crate) struct Budgets {
    met: usize,
    exceeded: Vec<String>,
}

impl Budgets {
    pub(crate) fn add(&mut self, name: String, ratio: f64, limit: f64) {
        if ratio <= limit {
            self.met += 1;
        } else {
            self.exceeded.push(format!("{name}: {ratio:.3}, at most {limit:.3}"));
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        println!("\nbudgets: {} met, {} exceeded", self.met, self.exceeded.len());
        for exceeded in &self.exceeded {
            println!("  exceeded: {exceeded}");
        }
        if self.exceeded.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
