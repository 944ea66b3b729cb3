//! Progress of a command on a terminal, and how long each of its steps took.

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::load::{LoadProgress, LoadStep};

/// A command that takes less than this shows no progress.
const DELAY: Duration = Duration::from_millis(400);
/// How often the display changes.
const TICK: Duration = Duration::from_millis(100);

/// A step of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Files are found.
    Walk,
    /// They are read and parsed.
    Read,
    /// Their objects become an index.
    Index,
    /// Rules run.
    Check,
    /// The findings are written.
    Write,
}

impl Step {
    /// All steps, in their order.
    pub(super) const ALL: [Self; 5] = [Self::Walk, Self::Read, Self::Index, Self::Check, Self::Write];

    /// Its name in statistics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Read => "read",
            Self::Index => "index",
            Self::Check => "check",
            Self::Write => "write",
        }
    }

    fn message(self) -> &'static str {
        match self {
            Self::Walk => "finding manifests",
            Self::Read => "reading manifests",
            Self::Index => "indexing manifests",
            Self::Check => "checking manifests",
            Self::Write => "writing findings",
        }
    }
}

impl From<LoadStep> for Step {
    fn from(step: LoadStep) -> Self {
        match step {
            LoadStep::Walk => Self::Walk,
            LoadStep::Read => Self::Read,
            LoadStep::Index => Self::Index,
        }
    }
}

/// Shows and measures the steps of a command.
pub(super) struct Progress {
    started: Instant,
    shown: Arc<Shown>,
    state: Mutex<State>,
}

/// What the display shows, written by the threads that work.
struct Shown {
    /// The step with the number of its items, if that is known.
    step: Mutex<(Step, Option<usize>)>,
    done: AtomicUsize,
}

#[derive(Default)]
struct State {
    display: Option<Display>,
    running: Option<(Step, Instant)>,
    times: [Duration; Step::ALL.len()],
}

impl Progress {
    /// Nothing is shown before the first step begins.
    pub(super) fn new() -> Self {
        let shown = Shown { step: Mutex::new((Step::Walk, None)), done: AtomicUsize::new(0) };
        Self { started: Instant::now(), shown: Arc::new(shown), state: Mutex::default() }
    }

    /// Begins a step, which ends the one before. It is shown on stderr if the command takes long.
    pub(super) fn begin(&self, step: Step, total: Option<usize>) {
        *lock(&self.shown.step) = (step, total);
        self.shown.done.store(0, Ordering::Relaxed);
        let mut state = lock(&self.state);
        state.stop_clock();
        state.running = Some((step, Instant::now()));
        if state.display.is_none() && io::stderr().is_terminal() {
            state.display = Some(Display::start(&self.shown, self.started));
        }
    }

    /// One more item of the step is done.
    pub(super) fn advance(&self) {
        self.shown.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Removes the display, so that something else can be printed. The step goes on.
    pub(super) fn hide(&self) {
        let display = lock(&self.state).display.take();
        if let Some(display) = display {
            display.stop();
        }
    }

    /// Ends the step.
    pub(super) fn end(&self) {
        lock(&self.state).stop_clock();
        self.hide();
    }

    /// How long each step took until now; a step that began twice has the sum.
    pub(super) fn times(&self) -> [(Step, Duration); Step::ALL.len()] {
        let times = lock(&self.state).times;
        Step::ALL.map(|it| (it, times[it as usize]))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

impl LoadProgress for Progress {
    fn begin(&self, step: LoadStep, total: Option<usize>) {
        self.begin(step.into(), total);
    }

    fn advance(&self) {
        self.advance();
    }
}

impl State {
    fn stop_clock(&mut self) {
        if let Some((step, since)) = self.running.take() {
            self.times[step as usize] += since.elapsed();
        }
    }
}

/// The thread that draws.
struct Display {
    done: Sender<()>,
    thread: JoinHandle<()>,
}

impl Display {
    fn start(shown: &Arc<Shown>, started: Instant) -> Self {
        let (done, wait) = mpsc::channel::<()>();
        let shown = Arc::clone(shown);
        let thread = thread::spawn(move || {
            // The waiting ends when the sender is dropped.
            let is_over = |time| wait.recv_timeout(time) != Err(RecvTimeoutError::Timeout);
            if is_over(DELAY.saturating_sub(started.elapsed())) {
                return;
            }
            let mut drawn: Option<(Step, ProgressBar)> = None;
            loop {
                shown.draw(&mut drawn);
                if is_over(TICK) {
                    break;
                }
            }
            if let Some((_, bar)) = drawn {
                bar.finish_and_clear();
            }
        });
        Self { done, thread }
    }

    fn stop(self) {
        drop(self.done);
        let _ = self.thread.join();
    }
}

impl Shown {
    /// Draws the step, with a bar of its own.
    fn draw(&self, drawn: &mut Option<(Step, ProgressBar)>) {
        let (step, total) = *lock(&self.step);
        let done = self.done.load(Ordering::Relaxed) as u64;
        if let Some((_, bar)) = drawn.take_if(|(known, _)| *known != step) {
            bar.finish_and_clear();
        }
        let (_, bar) = drawn.get_or_insert_with(|| (step, bar(step, total)));
        bar.set_position(done);
        bar.tick();
    }
}

/// A bar, or a spinner if the length is not known.
fn bar(step: Step, total: Option<usize>) -> ProgressBar {
    let template = if total.is_some() { "{msg} {bar:30} {pos}/{len}" } else { "{spinner} {msg} {pos}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
    ProgressBar::with_draw_target(total.map(|it| it as u64), ProgressDrawTarget::stderr())
        .with_style(style)
        .with_message(step.message())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_step_are_added_up() {
        let progress = Progress::new();
        for _ in 0..2 {
            progress.begin(Step::Check, Some(1));
            thread::sleep(Duration::from_millis(2));
            progress.advance();
            progress.end();
        }
        let times = progress.times();
        let [walk, .., check, write] = times;
        assert_eq!((walk, write), ((Step::Walk, Duration::ZERO), (Step::Write, Duration::ZERO)));
        assert!(check.0 == Step::Check && check.1 >= Duration::from_millis(4), "{times:?}");
    }
}
