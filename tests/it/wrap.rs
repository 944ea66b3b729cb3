//! `podlens wrap`: its output and errors, and processing its template gives the objects again.

use std::fmt::Write as _;

use podlens::build::{ParameterChoice, WrapInput, WrapOptions, wrap_in_template};
use podlens::build::{ProcessOptions, process_template, select_template};
use podlens::syntax::parse;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::command::{directory, run};

const SHOP: &str = "# The shop.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web # its name
  namespace: prod
spec:
  replicas: 3
  template:
    spec:
      containers:
        - name: main
          image: registry/web:1.4.2
          args: ['--tag=1.4.2', \"--keep=${HOME}\"]
";

#[test]
fn processing_the_template_gives_the_objects() {
    let place = directory(&[("shop.yaml", SHOP.as_bytes())]);
    let wrapping = ["wrap", "shop.yaml", "--name", "shop", "-p", "TAG=1.4.2", "--param", "REPLICAS=3"];
    let (code, out, err) = run(place.path(), &wrapping, "");
    let expected = "apiVersion: template.openshift.io/v1
kind: Template
metadata:
  name: shop
objects:
# The shop.
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    name: web # its name
    namespace: prod
  spec:
    replicas: ${{REPLICAS}}
    template:
      spec:
        containers:
          - name: main
            image: registry/web:${TAG}
            args: ['--tag=${TAG}', \"--keep=${HOME}\"]
parameters:
- name: TAG
  value: \"1.4.2\"
- name: REPLICAS
  value: \"3\"
";
    assert_eq!((code, out.as_str()), (0, expected));
    assert_eq!(
        err,
        "podlens: processing removes a namespace without a parameter (use --param NAMESPACE=…): Deployment/web\n\
         podlens: not replaced, because no parameter has this name: ${HOME}\n"
    );
    let (code, processed, _) = run(place.path(), &["process", "-", "-p", "TAG=2", "-p", "REPLICAS=5"], &out);
    let list: Value = serde_json::from_str(&processed).expect("JSON");
    assert_eq!((code, &list["items"][0]["spec"]["replicas"]), (0, &json!(5)));
    let container = &list["items"][0]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (&container["image"], &container["args"]),
        (&json!("registry/web:2"), &json!(["--tag=2", "--keep=${HOME}"]))
    );
    // Output of kubectl or helm is read from stdin.
    let (code, out, err) = run(
        place.path(),
        &["wrap", "-", "shop.yaml", "--name", "s", "-p", "NS=prod"],
        "---\n# Source: c/x.yaml\nkind: X\n",
    );
    assert_eq!((code, err.lines().count()), (0, 1), "{err}");
    assert!(
        out.contains("# Source: c/x.yaml\n- kind: X\n# The shop.\n- apiVersion") && out.contains("namespace: ${NS}"),
        "{out}"
    );
}

#[test]
fn errors_are_reported_and_nothing_is_printed() {
    let place = directory(&[
        ("shop.yaml", SHOP.as_bytes()),
        ("broken.yaml", b"kind: X\na: [b\n"),
        ("values.yaml", b"kind: X\n---\nimage: web\n"),
        ("empty.yaml", b"# nothing\n"),
    ]);
    for (arguments, code, said) in [
        (
            &["wrap", "shop.yaml", "--name", "s", "-p", "A=nowhere"][..],
            1,
            "the value of `A` does not occur in these objects",
        ),
        (
            &["wrap", "shop.yaml", "--name", "s", "-p", "HOME=web"],
            1,
            "shop.yaml:14:33: this text already contains `${HOME}`, which would become a reference; choose another parameter name",
        ),
        (&["wrap", "values.yaml", "--name", "s"], 1, "values.yaml:3:1: this is not an object: it has no `kind`"),
        (&["wrap", "empty.yaml", "--name", "s"], 3, "no objects found"),
        (&["wrap", "gone.yaml", "--name", "s"], 3, "gone.yaml: no such file or directory"),
        (&["wrap", "-", "-", "--name", "s"], 2, "`-` (stdin) can be given only once"),
        (&["wrap", "shop.yaml", "--name", "S hop"], 2, "`S hop` is not a valid template name"),
        (&["wrap", "shop.yaml", "--name", "s", "-p", "A=x", "-p", "A=y"], 2, "parameter `A` is given more than once"),
        (&["wrap", "shop.yaml", "--name", "s", "-p", "A"], 2, "expected NAME=VALUE"),
        (&["wrap", "shop.yaml"], 2, "--name"),
        (&["wrap", "--name", "s"], 2, "<FILE>"),
    ] {
        let (exit, out, err) = run(place.path(), arguments, "");
        assert_eq!((exit, out.as_str()), (code, ""), "{arguments:?}: {err}");
        assert!(err.contains(said), "{arguments:?}: {err}");
    }
    let (exit, out, err) = run(place.path(), &["wrap", "broken.yaml", "--name", "s"], "");
    assert_eq!((exit, out.as_str()), (1, ""));
    assert!(err.starts_with("podlens: broken.yaml:"), "{err}");
}

/// Words that contain the values of parameters, or nearly do.
fn words() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "web",
        "webs",
        "8080",
        "18080",
        "web:8080",
        "web-8080",
        "http://web:8080/web",
        "it's web",
        "a \"web\"",
        "a: web",
        "# web",
        "true",
        "yes",
        "-web",
        "web,",
        "[web]",
        "{web}",
        "web #8080",
        " web ",
        "web\n8080\n",
        "a\n\n  web",
        "8080\n",
        "é web é",
        "$(web)",
        "${web}",
        "$web",
        "${{web}}",
        "",
        "null",
        "~",
        "*web",
        "&web",
        "!web",
        "%web",
        "@web",
        "1.5",
        "web\t8080",
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => words().prop_map(Value::from),
        1 => prop::sample::select(vec![80, 8080, 3, -8080]).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => Just(json!(1.5)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key =
            prop_oneof![4 => "[a-c]{1,2}", 1 => Just("labels".to_owned()), 1 => Just("data".to_owned()), 1 => words()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    let namespace = prop::option::of(prop::sample::select(vec!["prod", "web"]));
    (value(), value(), namespace).prop_map(|(spec, data, namespace)| {
        let mut metadata = Map::from_iter([("name".to_owned(), json!("web"))]);
        metadata.extend(namespace.map(|it| ("namespace".to_owned(), json!(it))));
        json!({"apiVersion": "v1", "kind": "Thing", "metadata": metadata, "spec": spec, "data": data})
    })
}

/// Writes a value as YAML in one of many styles, which `choice` decides.
struct Writer {
    choice: u64,
}

impl Writer {
    fn pick(&mut self, below: u64) -> u64 {
        self.choice = self.choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.choice >> 33) % below
    }

    /// A value after a key or dash at a column.
    fn block(&mut self, value: &Value, column: usize, out: &mut String) {
        let indent = " ".repeat(column);
        match value {
            Value::Object(map) if !map.is_empty() && self.pick(4) > 0 => {
                out.push('\n');
                for (key, value) in map {
                    if self.pick(4) == 0 {
                        let _ = writeln!(out, "{indent}# about web");
                    }
                    let _ = write!(out, "{indent}{}:", self.word(key));
                    self.block(value, column + 2, out);
                }
            }
            Value::Array(items) if !items.is_empty() && self.pick(4) > 0 => {
                out.push('\n');
                for item in items {
                    let _ = write!(out, "{indent}-");
                    self.block(item, column + 2, out);
                }
            }
            Value::String(text) if self.is_literal(text) => {
                let chomp = if text.ends_with('\n') { "" } else { "-" };
                let _ = writeln!(out, " |{chomp}");
                for line in text.lines() {
                    let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { &indent });
                }
            }
            other => {
                let flow = self.flow(other);
                let comment = if self.pick(5) == 0 { " # web" } else { "" };
                let _ = writeln!(out, " {flow}{comment}");
            }
        }
    }

    fn is_literal(&mut self, text: &str) -> bool {
        let plain = text.starts_with(|it: char| it.is_ascii_alphanumeric()) && !text.ends_with("\n\n");
        plain && text.lines().all(|it| it.trim_end() == it) && self.pick(2) == 0
    }

    fn flow(&mut self, value: &Value) -> String {
        match value {
            Value::Object(map) => {
                let all: Vec<String> =
                    map.iter().map(|(key, value)| format!("{}: {}", self.word(key), self.flow(value))).collect();
                format!("{{{}}}", all.join(", "))
            }
            Value::Array(items) => {
                let all: Vec<String> = items.iter().map(|it| self.flow(it)).collect();
                format!("[{}]", all.join(", "))
            }
            Value::String(text) => self.word(text),
            other => other.to_string(),
        }
    }

    fn word(&mut self, text: &str) -> String {
        let is_plain = text.starts_with(|it: char| it.is_ascii_alphabetic())
            && text.chars().all(|it| it.is_ascii_alphanumeric() || "-/".contains(it))
            && !matches!(text, "true" | "yes" | "null");
        match self.pick(3) {
            0 if is_plain => text.to_owned(),
            1 if !text.contains(['\n', '\t']) => format!("'{}'", text.replace('\'', "''")),
            _ => serde_json::to_string(text).expect("a string"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(super::cases(96, 4000)))]

    /// Processing the template with the original values gives the objects, for all objects in all styles. With other
    /// values it gives objects without the original values.
    #[test]
    fn wrapped_objects_can_be_processed(
        objects in prop::collection::vec(object(), 1..4),
        choice in any::<u64>(),
        as_list in 0..3,
        as_json in any::<bool>(),
        crlf in any::<bool>(),
    ) {
        let mut writer = Writer { choice };
        let mut text = String::new();
        if as_json && as_list == 0 {
            for it in &objects {
                let _ = writeln!(text, "{}", serde_json::to_string_pretty(it).expect("JSON"));
            }
        } else if as_list == 1 {
            text.push_str("apiVersion: v1\nkind: List\nitems:");
            writer.block(&Value::from(objects.clone()), 0, &mut text);
        } else {
            for it in &objects {
                text.push_str("---\n# Source: a/b.yaml");
                let mut part = String::new();
                writer.block(it, 0, &mut part);
                let _ = write!(text, "{}{part}", if part.starts_with('\n') { "" } else { "\n" });
            }
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let given = |name: &str, value: &str| ParameterChoice { name: name.into(), value: value.into() };
        let options = WrapOptions { name: "t".into(), parameters: vec![given("NAME", "web")] };
        let tree = parse(&text);
        prop_assert_eq!(tree.errors(), &[], "{}", text);
        let wrapped = match wrap_in_template(&[WrapInput { text: &text }], &options) {
            Ok(it) => it,
            Err(problems) => return Err(TestCaseError::fail(format!("{problems:?}\n{text}"))),
        };
        let processed = |value: &str| -> Vec<Value> {
            let tree = parse(&wrapped.text);
            let request = ProcessOptions { values: [("NAME".to_owned(), value.to_owned())].into(), ..ProcessOptions::default() };
            let outcome = process_template(&select_template(&tree).expect("a template"), &request, &mut |_| 0);
            assert_eq!(outcome.errors, [], "{}", wrapped.text);
            outcome.objects.iter().map(|it| serde_json::to_value(it).expect("JSON")).collect()
        };
        let expected: Vec<Value> = objects.into_iter().map(without_lost_namespace).collect();
        prop_assert_eq!(processed("web"), expected, "{}\n{}", text, wrapped.text);
        for it in processed("other") {
            prop_assert_eq!(&it["metadata"]["name"], "other");
        }
        if !wrapped.notices.iter().any(|it| it.contains("rewritten")) {
            prop_assert_eq!(text.matches("# about web").count(), wrapped.text.matches("# about web").count(), "{}", wrapped.text);
            prop_assert_eq!(text.matches("# Source: ").count(), wrapped.text.matches("# Source: ").count());
        }
    }
}

/// `web` is a parameter, `prod` is not.
fn without_lost_namespace(mut object: Value) -> Value {
    if object["metadata"]["namespace"] == "prod" {
        object["metadata"].as_object_mut().expect("a mapping").remove("namespace");
    }
    object
}
