//! Measures a keystroke in a large document, and the edit that undoes it, relative to a parse of the whole document.
//!
//! At three positions each keystroke is measured separately. At many further positions, which are the same on every
//! machine, only the slowest keystroke is reported.

use std::time::{Duration, Instant};

use podlens::syntax::{self, Tree};
use podlens::text::{Buffer, Span};

use crate::measure::{Budgets, best, millis, timed};
use crate::{MEGABYTE, texts};

/// The time of an edit, relative to a parse of the whole file.
const EDIT_BUDGET: f64 = 1.0 / 20.0;

pub(crate) fn editing(rounds: usize, budgets: &mut Budgets) {
    println!("\n{:<34}{:>12}{:>10}{:>10}{:>10}", "editing 1 MB", "full parse", "first", "middle", "last");
    let kinds = [
        ("a List", texts::list(MEGABYTE), "value: "),
        ("a Deployment", texts::deployment(MEGABYTE), "value: "),
        ("a Template", texts::template(MEGABYTE), "value: "),
        ("a resource definition", texts::definition(MEGABYTE), "type: "),
        ("a JSON List", texts::json(MEGABYTE), "\"value\": "),
        ("700 documents", (0..700).map(texts::manifest).collect::<Vec<_>>().join("---\n"), "value: "),
    ];
    for (name, text, key) in &kinds {
        let [full] = best(rounds, [&mut || timed(|| syntax::parse(text))]);
        println!("  {name:<32}{:>9.1} ms", millis(full));
        let values: Vec<usize> = text.match_indices(key).map(|(at, _)| at + key.len()).collect();
        let positions = [values[0], values[values.len() / 2], values[values.len() - 1]];
        for keystroke in &KEYSTROKES {
            let ratios = positions.map(|value| {
                let at = keystroke.at.map_or(value - key.len(), |at| value.saturating_add_signed(at));
                keystroke.measure(text, at, rounds.div_ceil(5).max(3))
            });
            let shown = ratios.map(|ratio| format!("1/{:.0}", 1.0 / ratio));
            println!("    {:<42}{:>10}{:>10}{:>10}", keystroke.name, shown[0], shown[1], shown[2]);
            let worst = ratios.into_iter().fold(0.0, f64::max);
            budgets.add(format!("{} in {name}, relative to a full parse", keystroke.name), worst, EDIT_BUDGET);
        }
        let worst = slowest_edit(text, rounds * 4);
        println!(
            "    {:<42}{:>10}  {}",
            "slowest edit at any position",
            format!("1/{:.0}", 1.0 / worst.ratio),
            worst.what
        );
        budgets.add(format!("{} in {name}, relative to a full parse", worst.what), worst.ratio, EDIT_BUDGET);
    }
}

/// An edit at a value.
struct Keystroke {
    name: &'static str,
    /// The offset from the start of the value; before the key if `None`.
    at: Option<isize>,
    removed: usize,
    typed: &'static str,
}

const KEYSTROKES: [Keystroke; 8] = [
    Keystroke { name: "a digit", at: Some(2), removed: 0, typed: "1" },
    Keystroke { name: "a quote", at: Some(0), removed: 0, typed: "\"" },
    Keystroke { name: "a bracket", at: Some(0), removed: 0, typed: "[" },
    Keystroke { name: "a bar", at: Some(0), removed: 0, typed: "|" },
    Keystroke { name: "a line break", at: Some(2), removed: 0, typed: "\n" },
    Keystroke { name: "a line break before the key", at: None, removed: 0, typed: "\n" },
    Keystroke { name: "a deleted colon", at: Some(-2), removed: 1, typed: "" },
    Keystroke { name: "a new line with half a key", at: Some(-2), removed: 0, typed: ":\n          na" },
];

/// The edits at many positions: the number of removed bytes, and the inserted text.
const EDITS: [(usize, &str); 14] = [
    (0, "x"),
    (0, "\""),
    (0, "'"),
    (0, "["),
    (0, "{"),
    (0, "}"),
    (0, "|"),
    (0, ":"),
    (0, "#"),
    (0, "\n"),
    (0, " "),
    (0, "\t"),
    (1, ""),
    (40, ""),
];

impl Keystroke {
    /// The time of the keystroke or of its undo, whichever is slower, relative to a full parse.
    fn measure(&self, text: &str, start: usize, rounds: usize) -> f64 {
        let (buffer, tree) = (Buffer::new(text, 0), syntax::parse(text));
        let edited = Edited::new(text, &buffer, &tree, start, self.removed, self.typed);
        let [full, edit, undo] = best(
            rounds,
            [&mut || timed(|| syntax::parse(text)), &mut || edited.time_edit(), &mut || edited.time_undo()],
        );
        edit.max(undo).as_secs_f64() / full.as_secs_f64()
    }
}

/// A text before and after a keystroke.
struct Edited<'t> {
    before: (&'t Buffer, &'t Tree),
    after: (Buffer, Tree),
    start: usize,
    old: &'t str,
    new: &'t str,
}

impl<'t> Edited<'t> {
    fn new(text: &'t str, buffer: &'t Buffer, tree: &'t Tree, start: usize, removed: usize, new: &'t str) -> Self {
        let old = &text[start..start + removed];
        let (_, after, edited) = apply(buffer, tree, Span::new(start, start + removed), new);
        Self { before: (buffer, tree), after: (after, edited), start, old, new }
    }

    fn time_edit(&self) -> Duration {
        let (buffer, tree) = self.before;
        time_second_run(buffer, tree, Span::new(self.start, self.start + self.old.len()), self.new)
    }

    fn time_undo(&self) -> Duration {
        let (buffer, tree) = &self.after;
        time_second_run(buffer, tree, Span::new(self.start, self.start + self.new.len()), self.old)
    }
}

fn apply(buffer: &Buffer, tree: &Tree, span: Span, typed: &str) -> (Duration, Buffer, Tree) {
    let mut buffer = buffer.clone();
    let start = Instant::now();
    let change = buffer.edit(span, typed);
    let tree = tree.reparse(change, &buffer);
    (start.elapsed(), buffer, tree)
}

/// Runs the edit twice and returns the second time: the first one after a full parse includes clean-up of the allocator.
fn time_second_run(buffer: &Buffer, tree: &Tree, span: Span, typed: &str) -> Duration {
    drop(apply(buffer, tree, span, typed));
    apply(buffer, tree, span, typed).0
}

struct Worst {
    ratio: f64,
    what: String,
}

/// The slowest edit at a number of positions.
fn slowest_edit(text: &str, positions: usize) -> Worst {
    let buffer = Buffer::new(text, 0);
    let tree = syntax::parse(text);
    let [full] = best(5, [&mut || timed(|| syntax::parse(text))]);
    let mut worst = Worst { ratio: 0.0, what: String::new() };
    // Multiples of the golden ratio are spread evenly for any number of positions.
    let fractions = (0..positions).map(|index| (index as f64 * 0.618_033_988_749_895).fract());
    for at in fractions.map(|part| text.floor_char_boundary((part * text.len() as f64) as usize)) {
        for (removed, typed) in EDITS {
            let removed = text.floor_char_boundary((at + removed).min(text.len())) - at;
            let edited = Edited::new(text, &buffer, &tree, at, removed, typed);
            let ratio_of = |time: Duration| time.as_secs_f64() / full.as_secs_f64();
            let mut ratio = ratio_of(edited.time_edit().max(edited.time_undo()));
            if ratio > EDIT_BUDGET {
                // Measured again, since the machine may have been busy.
                let [full, edit, undo] = best(
                    5,
                    [&mut || timed(|| syntax::parse(text)), &mut || edited.time_edit(), &mut || edited.time_undo()],
                );
                ratio = edit.max(undo).as_secs_f64() / full.as_secs_f64();
            }
            if ratio > worst.ratio {
                worst = Worst { ratio, what: format!("{typed:?} for {:?} at byte {at}", &text[at..at + removed]) };
            }
        }
    }
    worst
}
