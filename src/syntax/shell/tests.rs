//! The trees of simple scripts, and scripts that are not parsed.

use super::*;

/// A script in a short form: words in brackets, each part according to its kind.
fn shown(text: &str) -> String {
    let script = parse_shell_script(text).unwrap_or_else(|| panic!("{text:?} is not parsed"));
    script.list.iter().map(command).collect::<Vec<_>>().join(" ; ")
}

fn command(it: &ShellCommand) -> String {
    let list = |list: &ShellCommandList| list.iter().map(command).collect::<Vec<_>>().join(" ; ");
    let mut out = match &it.kind {
        ShellCommandKind::Simple { assignments, words } => {
            let set = assignments.iter().map(|(name, value)| format!("{name}={}", word(value)));
            set.chain(words.iter().map(word)).collect::<Vec<_>>().join(" ")
        }
        ShellCommandKind::Pipeline(stages) => stages.iter().map(command).collect::<Vec<_>>().join(" | "),
        ShellCommandKind::Not(inner) => format!("not {}", command(inner)),
        ShellCommandKind::Chain(first, rest) => rest.iter().fold(command(first), |left, (operator, it)| {
            let operator = if *operator == ShellOperator::And { "and" } else { "or" };
            format!("({left} {operator} {})", command(it))
        }),
        ShellCommandKind::Group(inner) => format!("{{{}}}", list(inner)),
        ShellCommandKind::Subshell(inner) => format!("sub({})", list(inner)),
        ShellCommandKind::If { branches, otherwise } => {
            let all: Vec<_> = branches.iter().map(|(a, b)| format!("{}: {}", list(a), list(b))).collect();
            format!("if({} else {})", all.join(" elif "), list(otherwise))
        }
        ShellCommandKind::Loop { condition, body } => format!("loop({}: {})", list(condition), list(body)),
        ShellCommandKind::For { name, words, body } => {
            format!("for({name} in {}: {})", words.iter().map(word).collect::<Vec<_>>().join(" "), list(body))
        }
    };
    for redirect in &it.redirects {
        let number = redirect.descriptor.map_or(String::new(), |it| it.to_string());
        out.push_str(&format!(" {number}{:?}->{}", redirect.kind, word(&redirect.target)));
    }
    out
}

fn word(it: &ShellWord) -> String {
    let parts = it.parts.iter().map(|part| match &part.kind {
        ShellWordPartKind::Text(text) => text.clone(),
        ShellWordPartKind::Parameter { name, otherwise, .. } => match otherwise {
            Some(other) => format!("<{name}|{}>", word(other).trim_matches(['[', ']'])),
            None => format!("<{name}>"),
        },
        ShellWordPartKind::Command(list) => {
            format!("<cmd {}>", list.iter().map(command).collect::<Vec<_>>().join(" ; "))
        }
        ShellWordPartKind::Unknown => "<?>".to_owned(),
    });
    format!("[{}]", parts.collect::<String>())
}

#[test]
fn commands() {
    assert_eq!(shown("echo \"A='1'\" > /data/x # note"), "[echo] [A='1'] Write->[/data/x]");
    assert_eq!(shown("a && b || c; d\ne"), "(([a] and [b]) or [c]) ; [d] ; [e]");
    assert_eq!(shown("A=1 B= c 2>&1 >>f"), "A=[1] B=[] [c] 2DuplicateOutput->[1] Append->[f]");
    assert_eq!(shown("{ a; b; } > f"), "{[a] ; [b]} Write->[f]");
    assert_eq!(shown("(a; b) | tee -a f"), "sub([a] ; [b]) | [tee] [-a] [f]");
    assert_eq!(
        shown("if [ -f x ]; then a; elif b; then c; else d; fi"),
        "if([[] [-f] [x] []]: [a] elif [b]: [c] else [d])"
    );
    assert_eq!(shown("while true\ndo sleep 1; done"), "loop([true]: [sleep] [1])");
    assert_eq!(shown("for i in a \"b c\"; do echo $i; done"), "for(i in [a] [b c]: [echo] [<i>])");
    assert_eq!(shown("! a\\\n  b"), "not [a] [b]");
    assert_eq!(shown("echo if then fi"), "[echo] [if] [then] [fi]");
    assert_eq!(shown("\n\n# nothing\n"), "");
}

#[test]
fn words() {
    assert_eq!(shown(r#"echo a\ b'c'"d\"e\n$"'$x'"#), r#"[echo] [a bcd"e\n$$x]"#);
    assert_eq!(shown("echo $A${B}c ${C:-d} ${E-}"), "[echo] [<A><B>c] [<C|d>] [<E|>]");
    assert_eq!(shown("echo $(cat f | head) `date`"), "[echo] [<cmd [cat] [f] | [head]>] [<cmd [date]>]");
    assert_eq!(
        shown("echo $? $1 $((1+2)) ~/x {a,b} ${A%x} {a}"),
        "[echo] [<?>] [<?>] [<?>] [<?>/x] [<?>{a,b}] [<?>] [{a}]"
    );
    assert_eq!(shown("echo '' \"\" #x"), "[echo] [] []");
    assert_eq!(shown("echo a#b"), "[echo] [a#b]");
}

#[test]
fn here_documents() {
    let script =
        parse_shell_script("cat <<EOF > f\nA='$B'\n\\$x\nEOF\ncat <<-'E'\n\t\tx $y\n\tE\n").expect("a simple script");
    assert_eq!(script.list.len(), 2);
    assert_eq!(script.documents.iter().map(word).collect::<Vec<_>>(), ["[A='<B>'\n$x\n]", "[x $y\n]"]);
    let script = parse_shell_script("{ cat <<A; cat <<B; }\n1\nA\n2\nB\n").expect("a simple script");
    assert_eq!(script.documents.iter().map(word).collect::<Vec<_>>(), ["[1\n]", "[2\n]"]);
}

#[test]
fn parts_have_spans() {
    let text = "echo \"K=\\\"v$X\" > f";
    let script = parse_shell_script(text).expect("a simple script");
    let ShellCommandKind::Simple { words, .. } = &script.list[0].kind else { panic!("a simple command") };
    let parts: Vec<(&str, ShellQuote)> = words[1].parts.iter().map(|it| (&text[it.span.range()], it.quote)).collect();
    let double = ShellQuote::Double;
    assert_eq!(parts, [("", double), ("K=", double), ("\\\"", double), ("v", double), ("$X", double)]);
}

#[test]
fn unsupported_scripts_are_not_parsed() {
    let scripts = [
        "f() { a; }",
        "case x in a) b;; esac",
        "a &",
        "[[ x ]]",
        "a=(1 2)",
        "cat <(a)",
        "echo 'x",
        "echo \"x",
        "if a; then b",
        "{ a",
        "(a",
        "a | ",
        "a &&",
        "cat <<E\nx\n",
        "${A:=x}",
        ": ${A?x}",
        "echo $((x=1))",
        "a;;b",
        "fi",
        "a > ",
        "exec 3<>f",
        "for i; do a; done",
        ">",
        "a |& b",
        "echo ${A:-$B}",
        "a &> f",
        "x\r\ny",
    ];
    for script in scripts {
        assert_eq!(parse_shell_script(script), None, "{script:?}");
    }
    assert_eq!(parse_shell_script(&"(".repeat(100_000)), None);
    assert_eq!(parse_shell_script(&"$(".repeat(30_000)), None);
    assert_eq!(parse_shell_script(&"! ".repeat(30_000)), None);
    assert!(parse_shell_script(&"a;".repeat(32_000)).is_some());
}
