//! `podlens explain`: prints the documentation of a rule, or a table of all rules.

use std::io::{self, IsTerminal, Write};

use anstream::AutoStream;
use anstyle::Style;
use clap::Args;

use crate::cli::{Color, Exit};
use crate::report::{style as severity_style, write_markdown};
use crate::rules::{self, RULES, Rule};

/// Explain a rule: what it reports, why it matters, what to write instead
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The rule's name [default: a table of all rules]
    #[arg(value_parser = rules::parse_rule_name)]
    rule: Option<&'static Rule>,
    /// Print only the address of the page
    #[arg(long)]
    url: bool,
    /// When to use colors
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

const EXAMPLES: &str = "Examples:
  podlens explain                      every rule, its level and what it reports
  podlens explain forward-reference    one rule; Markdown if the output is not a terminal
  podlens explain --url missing-key    the address of the rule's page";

const BOLD: Style = Style::new().bold();

pub(super) fn run(arguments: &Arguments) -> io::Result<Exit> {
    let stdout = io::stdout();
    let choice = arguments.color.choice();
    let is_terminal = stdout.is_terminal();
    let mut text = Vec::new();
    let mut out = AutoStream::new(&mut text, choice);
    match arguments.rule {
        Some(rule) if arguments.url => writeln!(out, "{}", rule.url())?,
        None if arguments.url => writeln!(out, "{}", rules::index_url())?,
        None => table(&mut out)?,
        Some(rule) if is_terminal => {
            let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
            title(&mut out, rule)?;
            write_markdown(&mut out, &rule.markdown(), width)?;
        }
        Some(rule) => out.write_all(rule.page().as_bytes())?,
    }
    stdout.lock().write_all(&text)?;
    Ok(Exit::Clean)
}

fn title(out: &mut dyn Write, rule: &Rule) -> io::Result<()> {
    let style = rule.level.severity().map_or(Style::new().dimmed(), severity_style);
    writeln!(out, "{BOLD}{}{BOLD:#}  {style}{}{style:#}\n", rule.name, rule.level.name())
}

fn table(out: &mut dyn Write) -> io::Result<()> {
    let width = RULES.iter().map(|it| it.name.len()).max().unwrap_or_default();
    for rule in RULES {
        let style = rule.level.severity().map_or(Style::new().dimmed(), severity_style);
        let level = rule.level.name();
        writeln!(out, "{BOLD}{:width$}{BOLD:#}  {style}{level:7}{style:#}  {}", rule.name, rule.summary())?;
    }
    Ok(())
}
