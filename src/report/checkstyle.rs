//! Checkstyle XML, which many tools read.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Report};

/// Writes a `file` element for each file with findings.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let mut text = Vec::new();
    document(&mut Writer::new_with_indent(&mut text, b' ', 2), report)?;
    out.write_all(&text)?;
    writeln!(out)
}

fn document(xml: &mut Writer<&mut Vec<u8>>, report: &Report) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let root = xml.create_element("checkstyle").with_attribute(("version", "4.3"));
    if report.findings.is_empty() {
        root.write_empty()?;
    } else {
        root.write_inner_content(|xml| {
            for findings in report.findings.chunk_by(|a, b| a.file == b.file) {
                let file = xml.create_element("file").with_attribute(("name", &*printable(&findings[0].file)));
                file.write_inner_content(|xml| findings.iter().try_for_each(|it| error(xml, it)))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

fn error(xml: &mut Writer<&mut Vec<u8>>, finding: &Finding) -> io::Result<()> {
    let severity = match finding.level {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "info",
    };
    xml.create_element("error")
        .with_attribute(("line", &*finding.range.start.line.to_string()))
        .with_attribute(("column", &*finding.range.start.column.to_string()))
        .with_attribute(("severity", severity))
        .with_attribute(("message", &*printable(&finding.message)))
        .with_attribute(("source", &*format!("podlens.{}", finding.rule)))
        .write_empty()?;
    Ok(())
}

/// The text without characters that XML 1.0 cannot represent, even escaped.
fn printable(text: &str) -> String {
    text.chars().filter(|it| !it.is_control() || "\t\n\r".contains(*it)).collect()
}
