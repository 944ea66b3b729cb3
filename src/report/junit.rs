//! A JUnit report: a suite for each file, a case for each finding. Infos and hints are passing cases.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report as Junit, TestCase, TestCaseStatus, TestSuite};

use crate::diagnostic::Severity;
use crate::report::findings::{Finding, Report};

/// Writes the report. A run without findings is one passing case, because some CI servers refuse empty reports.
pub fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let mut junit = Junit::new("podlens");
    for findings in report.findings.chunk_by(|a, b| a.file == b.file) {
        let mut suite = TestSuite::new(&findings[0].file);
        suite.add_test_cases(findings.iter().map(case));
        junit.add_test_suite(suite);
    }
    if report.findings.is_empty() {
        let mut suite = TestSuite::new("podlens");
        suite.add_test_case(TestCase::new("no findings", TestCaseStatus::success()));
        junit.add_test_suite(suite);
    }
    junit.serialize(&mut *out).map_err(io::Error::other)
}

fn case(finding: &Finding) -> TestCase {
    let place = finding.range.start;
    let mut text = format!("{}:{}:{}: {}", finding.file, place.line, place.column, finding.message);
    if let Some(help) = &finding.help {
        text = format!("{text}\nhelp: {help}");
    }
    let fails = finding.level >= Severity::Warning;
    let status = if fails {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_message(&finding.message).set_type(finding.level.as_str()).set_description(&text);
        status
    } else {
        TestCaseStatus::success()
    };
    let mut case = TestCase::new(format!("{} at {}:{}", finding.rule, place.line, place.column), status);
    case.set_classname(&finding.file);
    if !fails {
        case.set_system_out(format!("{}: {text}", finding.level.as_str()));
    }
    case
}
