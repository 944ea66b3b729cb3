//! The environment as a table for people: a heading for each workload and container, aligned columns below.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::ide::{
    ContainerView, EnvironmentView, ExpandedView, FailureView, OpaqueView, PresetView, SECRET_MASK, SourceView,
    UnresolvedView, VariableView, WorkloadView,
};
use crate::report::one_line;
use crate::rules::StartFailureReason;

const TITLE: Style = Style::new().bold();
const NAME: Style = AnsiColor::Cyan.on_default();
const FAINT: Style = Style::new().dimmed();
const OPEN: Style = AnsiColor::Yellow.on_default();
const WRONG: Style = AnsiColor::Red.on_default();

/// Names wider than this do not widen the column.
const WIDEST_NAME: usize = 40;
/// Values wider than this do not widen the column.
const WIDEST_VALUE: usize = 90;
/// The smallest width of the value column.
const NARROWEST_VALUE: usize = 20;

/// Writes the environments. With `all`, the view has the variables of services; without it their names are listed below
/// each workload. Values are truncated so that a row fits into `width` columns, if it is given.
pub fn write(out: &mut dyn Write, view: &EnvironmentView, all: bool, width: Option<usize>) -> io::Result<()> {
    for (at, workload) in view.workloads.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        title(out, workload)?;
        for preset in &workload.presets {
            self::preset(out, workload, preset)?;
        }
        for container in &workload.containers {
            section(out, workload, container, width)?;
        }
        if !all && !workload.services.is_empty() {
            writeln!(out)?;
            write_lines(out, &[("services".into(), workload.services.join(", "))], "  ", width)?;
        }
    }
    Ok(())
}

fn title(out: &mut dyn Write, workload: &WorkloadView) -> io::Result<()> {
    let kind = workload.kind.as_deref().unwrap_or("?");
    let name = workload.name.as_deref().unwrap_or("?");
    let object = format!("{kind}/{name}");
    write!(out, "{TITLE}{}{TITLE:#}", one_line(&object))?;
    if let Some(namespace) = &workload.namespace {
        write!(out, " in {}", one_line(namespace))?;
    }
    if let Some(view) = &workload.named_view {
        write!(out, " in view {}", one_line(view))?;
    }
    writeln!(out, "  {FAINT}{}:{}{FAINT:#}", one_line(&workload.file), workload.line)
}

/// A preset that selects the workload: whether it is applied, and its conflicts.
fn preset(out: &mut dyn Write, workload: &WorkloadView, preset: &PresetView) -> io::Result<()> {
    let place = |file: &str, line: u32| match file == workload.file {
        true => format!("line {line}"),
        false => format!("{}:{line}", one_line(file)),
    };
    let (style, what) = match (preset.applied, &preset.refused) {
        (true, _) => (FAINT, "applied"),
        (false, None) => (WRONG, "not applied"),
        (false, Some(_)) => (WRONG, "refused"),
    };
    let name = one_line(&preset.name);
    let from = place(&preset.file, preset.line);
    writeln!(out, "  preset {NAME}{name}{NAME:#} {style}{what}{style:#}  {FAINT}{from}{FAINT:#}")?;
    if let Some(reason) = &preset.refused {
        writeln!(out, "    {WRONG}invalid{WRONG:#}: {}", one_line(reason))?;
    }
    for conflict in &preset.conflicts {
        let what = match conflict.kind {
            "env" => "variable",
            "volume" => "volume",
            "mountName" => "mount of volume",
            "mountPath" => "mount at",
            _ => "source or key",
        };
        let container = conflict.container.as_deref().map_or(String::new(), |it| format!(" in {}", one_line(it)));
        let with = place(&conflict.with.file, conflict.with.line);
        writeln!(out, "    {WRONG}conflict{WRONG:#}: {what} {}{container}, with {with}", one_line(&conflict.name))?;
    }
    Ok(())
}

fn section(
    out: &mut dyn Write,
    workload: &WorkloadView,
    container: &ContainerView,
    width: Option<usize>,
) -> io::Result<()> {
    let name = container.name.as_deref().unwrap_or("?");
    writeln!(out, "\n  {} {TITLE}{}{TITLE:#}", container.role, one_line(name))?;
    let shown: Vec<Row> = container.env.iter().map(|it| Row::new(workload, it)).collect();
    rows(out, &shown, width)?;
    let mut lines: Vec<(String, String)> = Vec::new();
    let joined = |items: &[ExpandedView]| items.iter().map(quoted).collect::<Vec<_>>().join(" ");
    if !container.command.is_empty() {
        lines.push(("command".into(), joined(&container.command)));
    }
    if !container.args.is_empty() {
        lines.push(("args".into(), joined(&container.args)));
    }
    for probe in &container.probes {
        lines.push((probe.probe.into(), joined(&probe.command)));
    }
    for it in &container.sub_paths {
        let mount = it.mount_path.as_deref().unwrap_or("?");
        lines.push((format!("subPath of {mount}"), one_line(&it.path.shown).into_owned()));
    }
    write_lines(out, &lines, "    ", width)?;
    for it in &container.opaque {
        opaque(out, it)?;
    }
    for it in &container.failures {
        failure(out, it)?;
    }
    let is_failure = |it: &UnresolvedView| {
        let place = (&it.file, it.line, it.column);
        container.failures.iter().any(|other| (&other.file, other.line, other.column) == place)
    };
    for it in container.unresolved.iter().filter(|it| !is_failure(it)) {
        unresolved(out, it)?;
    }
    Ok(())
}

struct Row {
    name: String,
    value: String,
    is_open: bool,
    source: String,
    hides: String,
    alternatives: Vec<(String, String)>,
}

impl Row {
    fn new(workload: &WorkloadView, variable: &VariableView) -> Self {
        let source = |it: &SourceView| source_text(it, &workload.file);
        let hides: Vec<String> = variable.hides.iter().map(source).collect();
        let own = source(&variable.source);
        let has_one_source = variable.alternatives.iter().all(|it| source(&it.source) == own);
        Self {
            name: one_line(&variable.name).into_owned(),
            value: value_text(variable),
            is_open: variable.state != "known",
            source: if has_one_source { own } else { "one of several".into() },
            hides: if hides.is_empty() { String::new() } else { format!("hides {}", hides.join(", ")) },
            alternatives: variable
                .alternatives
                .iter()
                .map(|it| {
                    let value = it.value.as_deref().map_or_else(|| SECRET_MASK.into(), |it| one_line(it).into_owned());
                    (value, source(&it.source))
                })
                .collect(),
        }
    }
}

fn rows(out: &mut dyn Write, rows: &[Row], width: Option<usize>) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let widest =
        |texts: &mut dyn Iterator<Item = usize>, most: usize| texts.filter(|it| *it <= most).max().unwrap_or(0);
    let names = widest(&mut rows.iter().map(|it| it.name.width()), WIDEST_NAME).max("NAME".len());
    let sources = rows.iter().map(|it| it.source.width()).max().unwrap_or(0);
    // Long sources may wrap; values are more important.
    let room = width.map(|it| it.saturating_sub(4 + names + 2 + 2 + sources).max(it * 2 / 5).max(NARROWEST_VALUE));
    let values = match room {
        Some(room) => rows.iter().map(|it| it.value.width().min(room)).max().unwrap_or(0),
        None => widest(&mut rows.iter().map(|it| it.value.width()), WIDEST_VALUE),
    };
    let values = values.max("VALUE".len());
    writeln!(out, "    {FAINT}{}  {}  SOURCE{FAINT:#}", padded("NAME", names), padded("VALUE", values))?;
    for row in rows {
        let value = truncated(&row.value, room);
        let style = if row.is_open { OPEN } else { Style::new() };
        let name = padded(&row.name, names);
        let value = padded(&value, values);
        writeln!(out, "    {NAME}{name}{NAME:#}  {style}{value}{style:#}  {}", row.source)?;
        let indent = " ".repeat(4 + names + 2);
        for (value, source) in &row.alternatives {
            writeln!(out, "{indent}{}  {source}", padded(&truncated(&format!("or {value}"), room), values))?;
        }
        if !row.hides.is_empty() {
            writeln!(out, "{indent}{FAINT}{}{FAINT:#}", row.hides)?;
        }
    }
    Ok(())
}

/// Writes `label: text` lines, truncated to the width.
fn write_lines(out: &mut dyn Write, lines: &[(String, String)], indent: &str, width: Option<usize>) -> io::Result<()> {
    for (label, text) in lines {
        let label = one_line(label);
        let room = width.map(|it| it.saturating_sub(indent.len() + label.width() + 2).max(NARROWEST_VALUE));
        writeln!(out, "{indent}{FAINT}{label}:{FAINT:#} {}", truncated(&one_line(text), room))?;
    }
    Ok(())
}

/// A source of `envFrom` whose variables are not all known.
fn opaque(out: &mut dyn Write, it: &OpaqueView) -> io::Result<()> {
    let prefix = if it.prefix.is_empty() { String::new() } else { format!(" {}*", it.prefix) };
    let text = format!("? {} {} may add variables{prefix}", it.kind, it.object);
    writeln!(out, "    {OPEN}{}{OPEN:#}: {}", one_line(&text), one_line(&it.why))
}

/// What keeps the container from starting.
fn failure(out: &mut dyn Write, it: &FailureView) -> io::Result<()> {
    // P4.
    let name = match it.reason {
        StartFailureReason::EmptySubPath { .. } => format!("$({})", it.name),
        StartFailureReason::RefusedEntry(_) if &*it.name != "envFrom" => format!("envFrom {}", it.name),
        _ => it.name.to_string(),
    };
    let text = format!("! {name} keeps the container from starting");
    let place = format!("{}:{}:{}", it.file, it.line, it.column);
    let (text, place) = (one_line(&text), one_line(&place));
    writeln!(out, "    {WRONG}{text}{WRONG:#}: {}  {FAINT}{place}{FAINT:#}", it.reason.words())
}

fn unresolved(out: &mut dyn Write, it: &UnresolvedView) -> io::Result<()> {
    let name = format!("$({})", it.name);
    let place = format!("{}:{}:{}", it.file, it.line, it.column);
    let (name, place) = (one_line(&name), one_line(&place));
    writeln!(out, "    {WRONG}! {name} {}{WRONG:#}: {}  {FAINT}{place}{FAINT:#}", it.reason.effect(), it.reason)
}

/// The text of the value column. A value that is only a secret is masked: the source column names it.
fn value_text(variable: &VariableView) -> String {
    let shown = one_line(&variable.shown);
    if variable.value.is_some() || variable.state != "secret" {
        return if shown.is_empty() { "\"\"".into() } else { shown.into_owned() };
    }
    let whole = shown.strip_prefix("<secret ").and_then(|it| it.strip_suffix('>'));
    if whole.is_some_and(|of| !of.contains('<')) { SECRET_MASK.into() } else { shown.into_owned() }
}

/// The source of a value: `configMap app/KEY file:line`.
fn source_text(source: &SourceView, here: &str) -> String {
    let mut text = source.kind.to_owned();
    if let Some(object) = &source.object {
        text.push(' ');
        text.push_str(object);
    }
    if let Some(key) = &source.key {
        text.push('/');
        text.push_str(key);
    }
    if let (Some(file), Some(line)) = (&source.file, source.line) {
        let file = if file == here { "line " } else { &format!("{file}:") };
        text.push_str(&format!("  {file}{line}"));
    }
    one_line(&text).into_owned()
}

/// An item of a command line. Items that are empty or contain spaces are quoted, with the quotes they do not contain.
fn quoted(item: &ExpandedView) -> String {
    let shown = one_line(&item.shown);
    let plain = !shown.is_empty() && !shown.contains([' ', '\'', '"']);
    match shown.contains('\'') {
        _ if plain => shown.into_owned(),
        true if !shown.contains('"') => format!("\"{shown}\""),
        true => format!("'{}'", shown.replace('\'', r"'\''")),
        false => format!("'{shown}'"),
    }
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The text, truncated with `…` where it does not fit.
fn truncated(text: &str, room: Option<usize>) -> String {
    let Some(room) = room.filter(|it| text.width() > *it) else { return text.to_owned() };
    let mut result = String::new();
    let mut used = 0;
    for it in text.chars() {
        used += it.width().unwrap_or(0);
        if used >= room {
            break;
        }
        result.push(it);
    }
    result.push('…');
    result
}
