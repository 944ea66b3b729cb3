//! Env files in every dialect: values, errors and their spans.

use super::*;

/// The value of `K`, `-` if it is not found, or the line and kind of the error.
fn answer(text: &str, dialect: EnvFileDialect) -> String {
    match look_up_env_file_key(text, "K", dialect) {
        Ok(Some(value)) => format!("={value}"),
        Ok(None) => "-".to_owned(),
        Err(error) => {
            assert!(text.get(error.span.range()).is_some(), "{text:?}: {error:?} is outside the text");
            format!("{} {:?}", error.line, error.problem)
        }
    }
}

fn check(dialect: EnvFileDialect, cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(answer(text, dialect), *expected, "{text:?}");
    }
}

#[test]
fn values_are_quoted_since_1_35() {
    check(
        EnvFileDialect::Quoted,
        &[
            ("K='v'", "=v"),
            ("K='v'\n", "=v"),
            ("", "-"),
            ("J='v'\n", "-"),
            ("k='v'\n", "-"),                           // F16
            ("K='a\"$(X)\\'\n", "=a\"$(X)\\"),          // F14: nothing is special in quotes
            ("\t  K='v'\r\n", "=v"),                    // F10
            ("\u{a0}K='v'\n", "-"),                     // F10: only spaces and tabs are trimmed
            ("\n  \t\n# K='no'\n  # x\nK='v'\n", "=v"), // F11
            ("K\n", "1 NoEquals"),
            ("\n='v'\n", "2 NoName"),
            ("  ='v'\n", "1 NoName"),
            ("K ='v'\n", "1 SpaceBeforeEquals"),
            ("J\t='v'\nK='v'\n", "1 SpaceBeforeEquals"),
            ("export K='v'\n", "-"), // F12: its name is `export K`
            ("\u{feff}K='v'\n", "-"),
            ("'K'='v'\n", "-"),
            ("J= oops '\nK='v'\n", "=v"), // F13
            ("K= 'v'\n", "-"),
            ("K=\n", "1 NotQuoted"),
            ("K=\r\n", "1 NotQuoted"),
            ("K=v\n", "1 NotQuoted"),
            ("K=\"v\"\n", "1 NotQuoted"),
            ("K='a=b'\n", "=a=b"),
            ("K='a\n b\n\n# c'\n", "=a\n b\n\n# c"), // F14
            ("K='a\r\nb'\r\n", "=a\nb"),
            ("K='\n'\n", "=\n"),
            ("K='v' \t# note\n", "=v"),
            ("K='v'# note\n", "=v"),
            ("K='v' x\n", "1 AfterQuote"),
            ("K='a''b'\n", "1 AfterQuote"),
            ("\nK='a\nb' x\n", "3 AfterQuote"),
            ("\nK='a\nb\n", "2 Unclosed"),
            ("K='1'\nK='2'\n", "=1"), // F15
            ("K='1'\nbroken\n", "=1"),
            ("broken\nK='1'\n", "1 NoEquals"),
            ("K=''\nK='2'\n", "-"), // F5: the first entry wins although it is empty
        ],
    );
}

#[test]
fn values_are_not_quoted_in_1_34() {
    check(
        EnvFileDialect::Unquoted,
        &[
            ("K=v", "=v"),
            ("  K \t=  v w \t\r\n", "=v w"),
            ("K='v'\n", "='v'"),
            ("K=a # b\n", "=a # b"),
            ("K=a=b\n", "=a=b"),
            ("# K=no\n\n  \nK=v\n", "=v"),
            ("K=a \\\n   b\\ \n\tc\n", "=a b c"),
            ("K\\\n=v\n", "=v"), // the name may be continued too
            ("K=a\\\n\nb\n", "2 EmptyContinuation"),
            ("K=a\\\n # b\n", "2 CommentContinuation"),
            ("J=1\nK=a\\\n", "2 UnfinishedContinuation"),
            ("\\\nK=v\n", "=v"),
            ("K\n", "1 NoEquals"),
            ("a \\\nb\n", "2 NoEquals"),
            (" = v\n", "1 NoName"),
            ("K=1\nK=2\n", "=1"),
            ("K=1\nbroken\n", "=1"),
            ("K=\n", "-"),
            ("export K=1\n", "-"),
        ],
    );
}

#[test]
fn limits_follow_the_release() {
    let value = "v".repeat(32 * 1024);
    let long_key = "k".repeat(129);
    assert_eq!(answer(&format!("K={value}\n"), EnvFileDialect::Unquoted), format!("={value}"));
    assert_eq!(answer(&format!("K={value}v\n"), EnvFileDialect::Unquoted), "1 ValueTooLong");
    assert!(look_up_env_file_key("", &long_key, EnvFileDialect::Unquoted).is_err());
    assert_eq!(
        look_up_env_file_key(&format!("{long_key}='v'"), &long_key, EnvFileDialect::Quoted),
        Ok(Some("v".to_owned()))
    );

    // F7: a line has at most 65535 bytes in every release, a value over several lines may have more.
    let longest = format!("K='{}'", "v".repeat(65535 - 4));
    assert_eq!(answer(&longest, EnvFileDialect::Quoted).len(), 65535 - 3);
    assert_eq!(answer(&format!("# {longest}\n"), EnvFileDialect::Quoted), "1 LineTooLong");
    assert_eq!(answer(&format!("{longest}\r\n"), EnvFileDialect::Quoted), "1 LineTooLong");
    let line = "v".repeat(65535);
    assert_eq!(answer(&format!("K='\n{line}\n{line}\n'"), EnvFileDialect::Quoted).len(), 1 + 3 + 2 * 65535);
    assert_eq!(answer(&format!("K='\n{line}v\n'"), EnvFileDialect::Quoted), "1 Unclosed");
    assert_eq!(answer(&format!("K='v'\n{line}v\n"), EnvFileDialect::Quoted), "=v");
}

#[test]
fn the_dialect_depends_on_the_release() {
    assert_eq!(EnvFileDialect::for_kubernetes(34), EnvFileDialect::Unquoted);
    assert_eq!(EnvFileDialect::for_kubernetes(35), EnvFileDialect::Quoted);
    assert_eq!(EnvFileDialect::for_kubernetes(37), EnvFileDialect::Quoted);
}

#[test]
fn errors_have_exact_spans_and_quote_nothing() {
    let text = "A='1'\nPASSWORD='hunter2' oops\n";
    let error = look_up_env_file_key(text, "K", EnvFileDialect::Quoted).expect_err("text after the quote is an error");
    assert_eq!(&text[error.span.range()], "oops");
    assert_eq!(error.to_string(), "line 2: only a comment may follow the closing quote");
}

#[test]
fn the_proposal_reads_common_env_files() {
    check(
        EnvFileDialect::Proposed,
        &[
            ("K=v", "=v"),
            ("  K \t=  v w \t\r\n", "=v w"),
            ("K='v'\n", "='v'"),
            ("K=a # b\n", "=a # b"),
            ("# K=no\n\n  \nK=v\n", "=v"),
            ("K=a\\\n   b\\\n\tc\n", "=a b c"),
            ("K=a\\\n# b\n", "=a # b"), // a continued line is not a comment
            ("K=a\\\n", "=a"),
            ("K=a\\ \nJ=1\n", "=a\\"), // the backslash is not the last character
            ("K=1\nK=2\n", "=2"),      // PF10
            ("K=\n", "="),             // empty, but present
            ("K=1\nbroken\n", "2 NoEquals"),
            ("=1\n", "1 NoName"),
            ("\u{feff}K=1\n", "1 ByteOrderMark"),
            ("J=1\n", "-"),
        ],
    );
    let names = |name: &str| !name.contains(' ');
    let text = "K=1\nexport J=2\n";
    let error = find_env_file_entry(text, "K", EnvFileDialect::Proposed, names).expect_err("PF6");
    assert_eq!((error.problem, &text[error.span.range()]), (EnvFileProblem::InvalidName, "export J"));
    assert!(find_env_file_entry(text, "K", EnvFileDialect::Unquoted, names).is_ok(), "no release checks names");
}

#[test]
fn the_proposal_limits_the_file() {
    let long = format!("K={}\n", "v".repeat(64 * 1024 - 3));
    assert_eq!(answer(&long, EnvFileDialect::Proposed).len(), 64 * 1024 - 2);
    assert_eq!(answer(&format!("{long}\n"), EnvFileDialect::Proposed), "2 FileTooLarge");
    assert_eq!(answer(&format!("#{}\nK=1\n", "ü".repeat(40_000)), EnvFileDialect::Proposed), "1 FileTooLarge");
}

#[test]
fn parsing_continues_after_an_error() {
    let shown = |text: &str, dialect| {
        let (entries, errors) = parse_env_file(text, dialect, |name| name != "bad");
        let entries: Vec<_> = entries.iter().map(|it| (&text[it.name_span.range()], &*it.value)).collect();
        let errors: Vec<_> = errors.iter().map(|it| (it.line, &text[it.span.range()])).collect();
        format!("{entries:?} {errors:?}")
    };
    let text = "A='1'\noops\nB=2\nbad='3'\nC='x\nD='4'\n";
    let expected = r#"[("A", "1"), ("bad", "3")] [(2, "oops"), (3, "2"), (6, "4'")]"#;
    assert_eq!(shown(text, EnvFileDialect::Quoted), expected);
    let expected = r#"[("A", "1")] [(2, "'x"), (4, "4")]"#;
    assert_eq!(shown("A='1'\nC='x\n\nD=4\n", EnvFileDialect::Quoted), expected);
    assert_eq!(
        shown("A=1\nbad=2\nx\n", EnvFileDialect::Proposed),
        r#"[("A", "1"), ("bad", "2")] [(2, "bad"), (3, "x")]"#
    );
    assert_eq!(shown("A=1\nbad=2\nx\n", EnvFileDialect::Unquoted), r#"[("A", "1"), ("bad", "2")] [(3, "x")]"#);
}

#[test]
fn a_number_sign_in_a_value_is_not_a_comment() {
    let shown = |text: &'static str, dialect| -> Vec<&str> {
        env_file_comments(text, dialect).into_iter().map(|it| &text[it.range()]).collect()
    };
    let text = "# a\r\n  # b\nA='x # no\n# no' # c\nB= 'y' # no\nC='z'#d\noops # no\n\n# e";
    assert_eq!(shown(text, EnvFileDialect::Quoted), ["# a", "# b", "# c", "#d", "# e"]);
    let text = "# a\nA=x # no\nB=y\\\n# no\n# b\n";
    assert_eq!(shown(text, EnvFileDialect::Proposed), ["# a", "# b"]);
    assert_eq!(shown("A=x # no\n\t# b\n", EnvFileDialect::Unquoted), ["# b"]);
}

#[test]
fn values_have_spans() {
    let place = |text: &str, dialect| {
        let entry = find_env_file_entry(text, "K", dialect, |_| true).expect("readable").expect("there");
        (text[entry.name_span.range()].to_owned(), text[entry.value_span.range()].to_owned())
    };
    let expected = |value: &str| ("K".to_owned(), value.to_owned());
    assert_eq!(place("J='1'\n  K='a\nb' # x\n", EnvFileDialect::Quoted), expected("a\nb"));
    assert_eq!(place("  K =  a b \nJ=1", EnvFileDialect::Unquoted), expected("a b"));
    assert_eq!(place("K=a \\\n b\nJ=1", EnvFileDialect::Unquoted), expected("a \\\n b"));
    assert_eq!(place("K=a\r\n", EnvFileDialect::Proposed), expected("a"));
}

#[test]
fn huge_files_are_parsed_in_linear_time() {
    let line = format!("{}\n", "x".repeat(70_000));
    let huge = format!("{line}{}", "A='1'\n".repeat(1_700_000));
    let (entries, errors) = parse_env_file(&huge, EnvFileDialect::Quoted, |_| true);
    assert_eq!((entries.len(), errors.len()), (1_700_000, 1));
    assert_eq!(errors[0].problem, EnvFileProblem::LineTooLong);
    let broken = "x\n".repeat(5_000_000);
    let (entries, errors) = parse_env_file(&broken, EnvFileDialect::Quoted, |_| true);
    assert_eq!((entries.len(), errors.len()), (0, MOST_ERRORS));
}
