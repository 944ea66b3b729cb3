//! `podlens process --ask` in a real terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command::{directory, run};

const TEMPLATE: &str = "apiVersion: v1
kind: Template
objects:
- {kind: X, host: '$(HOST)', port: '$(PORT)', password: '${PASSWORD}', given: '${GIVEN}'}
parameters:
- name: HOST
  displayName: Host
  description: Where it runs
  required: true
- name: PORT
  description: What it listens on
  type: int
  value: '80'
- name: PASSWORD
  generate: expression
  from: '[a-b]{3}'
- name: GIVEN
";

#[test]
fn missing_values_are_asked_for_with_description_and_default() {
    let place = directory(&[("t.yaml", TEMPLATE.as_bytes())]);
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("granted");
    unlockpt(&terminal).expect("unlocked");
    let name = ptsname(&terminal, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let inside = OpenOptions::new().read(true).write(true).open(name).expect("the other side");
    let mut command = Command::new(env!("CARGO_BIN_EXE_podlens"));
    command.args(["process", "t.yaml", "--ask", "-p", "GIVEN=1"]).current_dir(place.path());
    command.stdin(inside.try_clone().expect("a clone")).stderr(inside).stdout(Stdio::piped());
    let child = command.spawn().expect("podlens starts");
    // Only the child has the other side open now, so that its end closes the terminal.
    drop(command);
    let mut terminal = File::from(terminal);
    let mut shown = String::new();
    // The required parameter gets an empty line, then a value; the number gets a word, then an empty line.
    for (prompt, answer) in [
        ("Where it runs\r\nHOST (Host): ", "\n"),
        ("a value is required\r\nHOST (Host): ", "web\n"),
        ("What it listens on\r\nPORT [80]: ", "many\n"),
        ("the value must be a whole number\r\nPORT [80]: ", "\n"),
        ("PASSWORD [generated from [a-b]{3}]: ", "\n"),
    ] {
        while !shown.ends_with(prompt) {
            let mut byte = [0];
            match terminal.read(&mut byte) {
                Ok(1) => shown.push(char::from(byte[0])),
                end => panic!("{end:?} before `{prompt}`: {shown}"),
            }
        }
        terminal.write_all(answer.as_bytes()).expect("typed");
    }
    let output = child.wait_with_output().expect("podlens ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{shown}\n{text}");
    let list: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let object = &list["items"][0];
    assert_eq!((&object["host"], &object["port"], &object["given"]), (&"web".into(), &80.into(), &"1".into()));
    assert_eq!(object["password"], "aaa");
    assert!(!shown.contains("GIVEN"), "asked for a value that was given: {shown}");
}

#[test]
fn ask_needs_a_terminal() {
    let place = directory(&[("t.yaml", TEMPLATE.as_bytes())]);
    let (code, out, err) = run(place.path(), &["process", "t.yaml", "--ask"], "web\n");
    assert_eq!((code, out.as_str()), (2, ""));
    assert_eq!(err, "podlens: --ask needs a terminal\n");
}
