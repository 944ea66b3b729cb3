//! `NAME='value'` lines that a shell reads back with `set -a; . file`.
//!
//! A variable whose value is unknown or secret, or whose name a shell does not accept, is a comment.

use std::io::{self, Write};

use crate::ide::{ContainerView, EnvironmentView, VariableView, WorkloadView};
use crate::report::one_line;

/// Writes the variables of every container.
pub fn write(out: &mut dyn Write, view: &EnvironmentView) -> io::Result<()> {
    let mut first = true;
    for workload in &view.workloads {
        for container in &workload.containers {
            if !first {
                writeln!(out)?;
            }
            first = false;
            header(out, workload, container)?;
            for variable in &container.env {
                line(out, variable)?;
            }
            for it in &container.opaque {
                writeln!(out, "# {}", one_line(&format!("{} {} may add variables: {}", it.kind, it.object, it.why)))?;
            }
        }
    }
    Ok(())
}

fn header(out: &mut dyn Write, workload: &WorkloadView, container: &ContainerView) -> io::Result<()> {
    let kind = workload.kind.as_deref().unwrap_or("?");
    let name = workload.name.as_deref().unwrap_or("?");
    let container_name = container.name.as_deref().unwrap_or("?");
    let text = format!("{}:{} {kind}/{name} {} {container_name}", workload.file, workload.line, container.role);
    writeln!(out, "# {}", one_line(&text))
}

fn line(out: &mut dyn Write, variable: &VariableView) -> io::Result<()> {
    match &variable.value {
        Some(value) if is_known(variable) && is_shell_name(&variable.name) && !value.contains('\0') => {
            writeln!(out, "{}='{}'", variable.name, value.replace('\'', r"'\''"))
        }
        _ => writeln!(out, "# {}: {}", one_line(&variable.name), one_line(&variable.shown)),
    }
}

/// Whether the value can be printed. A secret has a value here only if the settings allow showing it.
fn is_known(variable: &VariableView) -> bool {
    variable.state == "known" || variable.state == "secret"
}

fn is_shell_name(name: &str) -> bool {
    !name.starts_with(|it: char| it.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
