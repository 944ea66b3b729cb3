//! Compares the evaluation of scripts with real shells: both run random simple scripts, and every file whose content is
//! known to podlens must have the content that the shell wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use podlens::build::{self, BuiltObject};
use podlens::resolve::{EnvFile, Resolver};
use podlens::workspace::{File, Workspace};

use crate::manifest::POD_HEAD;

/// A random number generator that gives the same scripts on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }

    fn pick<'p>(&mut self, all: &[&'p str]) -> &'p str {
        all[self.below(all.len())]
    }
}

const FILES: [&str; 4] = ["f", "g", "deep/f", "h"];

/// A word of a command, in one of many styles.
fn word(dice: &mut Dice) -> String {
    const BITS: [&str; 24] = [
        "A",
        "=",
        "x y",
        "KEY=",
        "'",
        "\"",
        "\\",
        "$",
        "$HOST",
        "${HOST}",
        "$EMPTY",
        "${EMPTY:-d}",
        "${NEW-d}",
        "$SPACED",
        "\\n",
        "\\t",
        "#",
        "%s",
        "%d",
        "ü",
        "-n",
        "*",
        "$(echo sub)",
        "`echo tick`",
    ];
    let mut text = String::new();
    for _ in 0..=dice.below(4) {
        let bit = dice.pick(&BITS);
        match dice.below(4) {
            0 => text.push_str(&format!("'{}'", bit.replace('\'', ""))),
            1 => {
                text.push_str(&format!("\"{}\"", bit.replace('"', "\\\"").replace("\\\\", "\\").trim_end_matches('\\')))
            }
            _ => match bit {
                "'" | "\"" | "\\" => text.push_str(&format!("\\{bit}")),
                "x y" => text.push_str("x\\ y"),
                bit => text.push_str(bit),
            },
        }
    }
    text
}

fn words(dice: &mut Dice) -> String {
    (0..=dice.below(3)).map(|_| word(dice)).collect::<Vec<_>>().join(" ")
}

fn target(dice: &mut Dice) -> String {
    format!("$D/{}", dice.pick(&FILES))
}

/// A command that prints something.
fn printing(dice: &mut Dice) -> String {
    match dice.below(9) {
        0..=2 => format!("echo {}", words(dice)),
        3 => format!("echo -n {}", words(dice)),
        4 => format!("echo {} {}", dice.pick(&["-e", "-en", "-E", "-nn"]), words(dice)),
        5 => format!("printf '%s\\n' {}", words(dice)),
        6 => {
            let format = dice.pick(&["%s=%s\\n", "a%%b\\t%s", "%d %s|", "x\\\\y\\047\\n", "%b\\n", "plain\\n"]);
            format!("printf '{format}' {}", if dice.below(2) == 0 { words(dice) } else { "1 a 2".into() })
        }
        7 => format!("cat {}", target(dice)),
        _ => format!("{{ echo {}; echo {}; }}", word(dice), word(dice)),
    }
}

fn statement(dice: &mut Dice, depth: usize) -> String {
    let sign = dice.pick(&[">", ">>", ">", ">>", ">|"]);
    match dice.below(if depth == 0 { 12 } else { 18 }) {
        0..=4 => format!("{} {sign} {}", printing(dice), target(dice)),
        5 => format!("{} | tee {}{} > /dev/null", printing(dice), dice.pick(&["", "-a "]), target(dice)),
        6 => {
            let (quote, dash) = (dice.pick(&["", "'", "\\"]), dice.pick(&["", "-"]));
            let close = if quote == "'" { "'" } else { "" };
            let body = format!("A={}\n\tB='x'\n", dice.pick(&["$HOST", "\\$x \\\\ \\n", "$(echo q)", "\"'`echo t`"]));
            format!("cat <<{dash}{quote}END{close} {sign} {}\n{body}END", target(dice))
        }
        7 => format!("{}={}", dice.pick(&["X", "HOST", "NEW"]), word(dice)),
        8 => format!("mkdir -p {}", dice.pick(&["$D/deep", "$D/deep/er"])),
        9 => format!("{} {} {}", dice.pick(&["cp", "mv"]), target(dice), target(dice)),
        10 => format!("{} {}", dice.pick(&["rm -f", "touch"]), target(dice)),
        11 => dice.pick(&["true", "false", ":", "cd $D", "unset NEW", "export X=1", "set -e", "# note"]).to_owned(),
        12 => {
            format!("{} {} {}", statement(dice, depth - 1), dice.pick(&["&&", "||", ";"]), statement(dice, depth - 1))
        }
        13 => format!("{{ {}\n{}\n}} {sign} {}", statement(dice, depth - 1), printing(dice), target(dice)),
        14 => format!("( {}\n{}\n)", statement(dice, depth - 1), statement(dice, depth - 1)),
        15 => format!(
            "for i in a {}; do\n{}\necho $i {sign} {}\ndone",
            word(dice),
            statement(dice, depth - 1),
            target(dice)
        ),
        16 => {
            let condition = dice.pick(&["true", "false", "[ -f /nowhere ]", "! true"]);
            format!("if {condition}; then\n{}\nelse\n{}\nfi", statement(dice, depth - 1), statement(dice, depth - 1))
        }
        _ => format!("X=$({})", printing(dice)),
    }
}

/// The content that podlens computes for each file.
fn followed(shell: &str, script: &str, directory: &Path) -> BTreeMap<&'static str, EnvFile> {
    let quoted = serde_json::to_string(script).expect("a string");
    let at = directory.display();
    let text = format!(
        "{POD_HEAD}  initContainers:
    - name: setup
      image: tools
      env:
        - {{name: D, value: {at}}}
        - {{name: HOST, value: db.example}}
        - {{name: EMPTY, value: ''}}
        - {{name: SPACED, value: ' a  b '}}
      command: [{shell}, -c, {quoted}]
      volumeMounts: [{{name: config, mountPath: {at}}}]
  containers: [{{name: web, image: web}}]
  volumes: [{{name: config, emptyDir: {{}}}}]
"
    );
    let mut workspace = Workspace::default();
    workspace.set_disk("pod.yaml", File::read("pod.yaml", &text));
    let snapshot = workspace.snapshot();
    let (path, file) = snapshot.entry("pod.yaml").expect("the file");
    let container = build::objects(&snapshot, path, file).flat_map(BuiltObject::containers).nth(1);
    let files = Resolver::new(&snapshot, None).env_files(container.expect("a second container"));
    FILES.into_iter().map(|name| (name, files.file("config", name))).collect()
}

#[test]
fn files_have_the_computed_content() {
    let rounds = if std::env::var_os("PODLENS_SLOW").is_some() { 1000 } else { 300 };
    let shells: Vec<&str> = ["dash", "bash"].into_iter().filter(|it| Path::new("/bin").join(it).exists()).collect();
    assert!(!shells.is_empty(), "neither dash nor bash is installed");
    let mut dice = Dice(0x5eed_cafe_f00d_1234);
    let (mut known, mut unknown) = (0, 0);
    let mut wrong = Vec::new();
    for round in 0..rounds {
        let script: String = (0..=dice.below(5)).map(|_| statement(&mut dice, 2) + "\n").collect();
        // Scripts with references that the kubelet would expand are skipped.
        let written = script.replace('$', "$$");
        for shell in &shells {
            let place = tempfile::tempdir().expect("a directory");
            let said = [*shell, "sh"].map(|name| followed(name, &written, place.path()));
            let status = Command::new(format!("/bin/{shell}"))
                .args(["-c", &script])
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .env("LC_ALL", "C.UTF-8")
                .env("D", place.path())
                .env("HOST", "db.example")
                .env("EMPTY", "")
                .env("SPACED", " a  b ")
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("a shell");
            // An init container that fails is started again, and its files are not read before it succeeds.
            if !status.success() {
                continue;
            }
            for (name, file) in said.iter().flatten() {
                let is = fs::read(place.path().join(name)).ok().map(|it| String::from_utf8_lossy(&it).into_owned());
                let holds = match file {
                    EnvFile::Unknown | EnvFile::Late(_) => {
                        unknown += 1;
                        continue;
                    }
                    EnvFile::Absent => is.is_none(),
                    EnvFile::Written(content) if content.is_complete() => is.as_deref() == Some(content.text()),
                    EnvFile::Written(content) => is.as_ref().is_some_and(|is| is.starts_with(content.text())),
                };
                known += 1;
                let said = match file {
                    EnvFile::Written(content) => format!("{:?}, whole: {}", content.text(), content.is_complete()),
                    other => format!("{other:?}"),
                };
                if !holds {
                    wrong.push(format!("round {round}, {shell}, file {name}\n{script}\nsaid {said}\nleft {is:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {known} are wrong\n{}", wrong.len(), wrong[..wrong.len().min(8)].join("\n\n"));
    assert!(known > unknown, "{known} files were known, {unknown} were not: the test says nothing");
}
