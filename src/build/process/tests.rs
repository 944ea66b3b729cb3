//! Tests with whole templates: order of steps, labels, namespaces, groups and errors.

use super::*;
use crate::syntax::parse;

/// Processes a text with some values; generators use the first character of every alphabet.
fn processed(text: &str, values: &[(&str, &str)], labels: &[(&str, &str)]) -> (String, Vec<String>, Vec<String>) {
    let tree = parse(text);
    let selected = select_template(&tree).unwrap_or_else(|error| panic!("{}", error.message));
    let pairs = |list: &[(&str, &str)]| list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let options = ProcessOptions { values: pairs(values), labels: pairs(labels), ..ProcessOptions::default() };
    let processed = process_template(&selected, &options, &mut |_| 0);
    let lines: Vec<String> = processed.objects.iter().map(|it| serde_json::to_string(it).expect("JSON")).collect();
    (lines.join("\n"), processed.errors.into_iter().map(|it| it.message).collect(), processed.notices)
}

/// A template with one object, whose inside is given in flow style.
fn template(head: &str, object: &str) -> String {
    format!(
        "apiVersion: template.openshift.io/v1\nkind: Template\n{head}\nobjects:\n- {{apiVersion: v1, kind: X, {object}}}\n"
    )
}

const NAMES: &str = "parameters: [{name: NS, value: ns}, {name: K, value: k}, {name: NUM, value: '3'}]";

#[test]
fn a_namespace_without_a_parameter_is_removed() {
    for (metadata, expected) in [
        ("{namespace: prod}", "{}"),
        ("{namespace: '${NS}'}", r#"{"namespace":"ns"}"#),
        ("{namespace: 'p-${NS}'}", r#"{"namespace":"p-ns"}"#),
        ("{namespace: '${NOPE}'}", r#"{"namespace":"${NOPE}"}"#),
        ("{namespace: '${{NS}}'}", "{}"),
        ("{namespace: 'p-${{NS}}'}", "{}"),
        ("{namespace: 7}", r#"{"namespace":""}"#),
        ("{name: a}", r#"{"name":"a"}"#),
    ] {
        let (out, errors, _) = processed(&template(NAMES, &format!("metadata: {metadata}")), &[], &[]);
        assert_eq!(out, format!(r#"{{"apiVersion":"v1","kind":"X","metadata":{expected}}}"#), "{metadata}");
        assert_eq!(errors, [""; 0], "{metadata}");
    }
    let (out, ..) =
        processed(&template(NAMES, "metadata: {}, subjects: [{namespace: a}], spec: {namespace: b}"), &[], &[]);
    assert!(out.contains(r#""spec":{"namespace":"b"},"subjects":[{"namespace":"a"}]"#), "{out}");
}

#[test]
fn labels_are_added_to_the_object_only() {
    let head = format!("{NAMES}\nlabels: {{t: x, '${{K}}': '${{NUM}}', nn: '${{{{NUM}}}}'}}");
    for (object, expected) in [
        ("metadata: {}", r#"{"labels":{"k":"3","nn":"3","t":"x"}}"#),
        ("spec: 1", r#"{"labels":{"k":"3","nn":"3","t":"x"}}"#),
        ("metadata: {labels: {t: own, a: b}}", r#"{"labels":{"a":"b","k":"3","nn":"3","t":"x"}}"#),
        ("metadata: {labels: {a: '${{NUM}}'}}", r#"{"labels":{"k":"3","nn":"3","t":"x"}}"#),
        ("metadata: {labels: {a: null, b: c}}", r#"{"labels":{"a":"","b":"c","k":"3","nn":"3","t":"x"}}"#),
        ("metadata: {labels: null}", r#"{"labels":{"k":"3","nn":"3","t":"x"}}"#),
        ("metadata: null", "null"),
        ("metadata: text", r#""text""#),
        ("labels: {own: a}, metadata: {name: b}", r#"{"labels":{"k":"3","nn":"3","t":"x"},"name":"b"}"#),
        ("metadata: {}, spec: {template: {metadata: {labels: {p: q}}}}", r#"{"labels":{"k":"3","nn":"3","t":"x"}}"#),
    ] {
        let (out, ..) = processed(&template(&head, object), &[], &[]);
        assert!(out.contains(&format!(r#""metadata":{expected}"#)), "{object}: {out}");
    }
    let (out, ..) =
        processed(&template(&head, "labels: {own: a}, spec: {template: {metadata: {labels: {p: q}}}}"), &[], &[]);
    assert!(out.contains(r#""labels":{"own":"a"},"metadata""#) && out.contains(r#"{"p":"q"}"#), "{out}");
    let (out, ..) = processed(&template(&head, "metadata: {}"), &[], &[("t", "${K}"), ("z", "1")]);
    assert!(out.contains(r#""labels":{"k":"3","nn":"3","t":"k","z":"1"}"#), "{out}");
    let (out, ..) = processed(&template(NAMES, "metadata: {labels: {a: '${{NUM}}'}}"), &[], &[]);
    assert!(out.contains(r#""labels":{"a":3}"#), "without labels of the template no label is lost: {out}");
    let (out, ..) = processed(&template(&format!("{NAMES}\nlabels: {{}}"), "metadata: {labels: {a: 3}}"), &[], &[]);
    assert!(out.contains(r#""metadata":{"labels":{}}"#), "an empty map counts: {out}");
}

#[test]
fn keys_and_values_at_any_depth() {
    for (object, expected) in [
        ("a: [['${K}', {'${K}': ['x${NUM}', 1, true, null]}]]", r#""a":[["k",{"k":["x3",1,true,null]}]]"#),
        ("'${K}-a': 1", r#""k-a":1"#),
        ("'${K}': 1, k: 2", r#""k":1"#),
        ("'${{K}}': 1", r#""k":1"#),
        ("a: '${{NUM}}'", r#""a":3"#),
        ("a: \"${{NUM}}\\n\"", r#""a":"${{NUM}}\n""#),
        ("data: {x: '#!/bin/sh\n\n echo ${K} ${HOME}'}", r##""x":"#!/bin/sh\necho k ${HOME}""##),
    ] {
        let (out, errors, _) = processed(&template(NAMES, object), &[], &[]);
        assert!(out.contains(expected), "{object}: {out} {errors:?}");
    }
}

#[test]
fn message_labels_and_the_template_itself() {
    let text = template(
        &format!("{NAMES}\nmetadata: {{name: '${{K}}'}}\nmessage: 'see ${{K}} ${{{{NUM}}}}'\nlabels: {{a: '${{K}}'}}"),
        "metadata: {name: '${K}'}",
    );
    let tree = parse(&text);
    let selected = select_template(&tree).expect("a template");
    assert_eq!(process_template(&selected, &ProcessOptions::default(), &mut |_| 0).template, None);
    let processed =
        process_template(&selected, &ProcessOptions { with_template: true, ..ProcessOptions::default() }, &mut |_| 0);
    assert_eq!(processed.message.as_deref(), Some("see k ${{NUM}}"));
    let whole = serde_json::to_string(&processed.template).expect("JSON");
    assert!(whole.contains(r#""metadata":{"name":"${K}"}"#), "its own metadata is not changed: {whole}");
    assert!(whole.contains(r#""labels":{"a":"k"},"message":"see k ${{NUM}}""#), "{whole}");
    assert!(whole.contains(r#"{"labels":{"a":"k"},"name":"k"}"#), "{whole}");
}

#[test]
fn groups_come_after_parameters() {
    for (object, expected) in [
        ("{apiVersion: v1, kind: Route}", "route.openshift.io/v1"),
        ("{apiVersion: v1, kind: '${KIND}'}", "apps.openshift.io/v1"),
        ("{apiVersion: v1, kind: Service}", "v1"),
        ("{apiVersion: other/v1, kind: Route}", "other/v1"),
        ("{apiVersion: v1beta3, kind: Route}", "route.openshift.io/v1beta3"),
        ("{apiVersion: '', kind: Route}", "route.openshift.io/"),
        ("{kind: Route}", "route.openshift.io/"),
        ("{apiVersion: 1, kind: Pod}", ""),
    ] {
        let text = format!(
            "apiVersion: v1\nkind: Template\nobjects: [{object}]\nparameters: [{{name: KIND, value: DeploymentConfig}}]\n"
        );
        let (out, ..) = processed(&text, &[], &[]);
        assert!(out.contains(&format!(r#""apiVersion":"{expected}""#)), "{object}: {out}");
    }
}

#[test]
fn parameters_and_their_values() {
    let with = |parameters: &str| template(&format!("parameters:\n{parameters}"), "v: '${A}'");
    let value = |parameters: &str, given: &[(&str, &str)]| {
        let (out, errors, _) = processed(&with(parameters), given, &[]);
        if errors.is_empty() {
            out.split(r#""v":""#).nth(1).unwrap_or_default().trim_end_matches("\"}").to_owned()
        } else {
            errors.join("; ")
        }
    };
    for (parameters, given, expected) in [
        ("- {name: A, value: x}", None, "x"),
        ("- {name: A, value: x}", Some(""), ""),
        ("- {name: A, value: x, generate: nobody}", None, "x"),
        ("- {name: A, generate: expression, from: 'u[B-D]{2}'}", None, "uBB"),
        ("- {name: A, generate: expression, from: 'u[B-D]{2}'}", Some(""), ""),
        ("- {name: A, generate: expression}", None, ""),
        ("- {name: A, from: '[a-z]{3}'}", None, ""),
        ("- {name: A, value: ${B}}\n- {name: B, value: why}", None, "${B}"),
        ("- {name: A, value: x}\n- {name: A, value: why}", None, "why"),
        ("- {name: A, value: x}\n- {name: A, value: why}", Some("z"), "why"),
        ("- {name: A, type: int, value: x, example: z}", None, "x"),
        ("- {name: A, required: true}", None, "parameter `A` is required and has no value"),
        ("- {name: A, required: true, value: x}", Some(""), "parameter `A` is required and its value is empty"),
        (
            "- {name: A, generate: magic}",
            None,
            "parameter `A`: unknown generator `magic`; the only generator is `expression`",
        ),
        ("- {name: A, value: 8080}", None, "parameter `A`: `value` must be a string"),
        ("- {name: A, value: [x]}", None, "parameter `A`: `value` must be a string"),
        ("- {name: A, value: x, required: 'true'}", None, "parameter `A`: `required` must be `true` or `false`"),
        ("- A", None, "parameter 1 without a name: it must be a mapping with a name"),
    ] {
        let parameters = parameters.replace("${B}", "'${B}'");
        let given: Vec<(&str, &str)> = given.map(|it| ("A", it)).into_iter().collect();
        assert_eq!(value(&parameters, &given), expected, "{parameters} {given:?}");
    }
    let (_, errors, _) =
        processed(&with("- {name: NAME}\n- {name: B, required: true}"), &[("NAMES", "1"), ("C", "2")], &[]);
    let expected = [
        "the template has no parameter `C`",
        "the template has no parameter `NAMES`; did you mean `NAME`?",
        "parameter `B` is required and has no value",
    ];
    assert_eq!(errors, expected, "all errors at once");
}

#[test]
fn types_are_checked_where_the_dialect_has_them() {
    let text = |parameter: &str| {
        format!("apiVersion: v1\nkind: Template\nparameters: [{parameter}]\nobjects: [{{kind: X, v: $(A)}}]\n")
    };
    for (parameter, expected) in [
        ("{name: A, type: int, value: '3'}", r#"{"apiVersion":"","kind":"X","v":3}"#),
        ("{name: A, type: bool, value: 'true'}", r#"{"apiVersion":"","kind":"X","v":true}"#),
        ("{name: A, type: base64, value: aGk=}", r#"{"apiVersion":"","kind":"X","v":"aGk="}"#),
        ("{name: A, type: string, value: '3'}", r#"{"apiVersion":"","kind":"X","v":"3"}"#),
        ("{name: A, value: '3'}", r#"{"apiVersion":"","kind":"X","v":"3"}"#),
        ("{name: A, type: int}", r#"{"apiVersion":"","kind":"X","v":""}"#),
        ("{name: A, type: int, value: '3.5'}", "parameter `A` has type int, but its value is not a whole number"),
        ("{name: A, type: bool, value: 'yes'}", "parameter `A` has type bool, but its value is not `true` or `false`"),
        ("{name: A, type: base64, value: '?'}", "parameter `A` has type base64, but its value is not text in base64"),
        ("{name: A, type: number}", "parameter `A`: `number` is not a type; use string, int, bool or base64"),
    ] {
        let (out, errors, _) = processed(&text(parameter), &[], &[]);
        assert_eq!(if errors.is_empty() { out } else { errors.join("; ") }, expected, "{parameter}");
    }
}

#[test]
fn errors_in_templates() {
    for (text, expected) in [
        ("", "there are no documents in it"),
        ("# nothing\n", "there are no documents in it"),
        ("apiVersion: v1\nkind: Pod\n", "this is not a Template but a `Pod`"),
        ("a: b\n", "this is not a Template: it has no `kind`"),
        ("[1, 2]\n", "this is not a Template: it has no `kind`"),
        ("apiVersion: other/v1\nkind: Template\n", "this is not a Template: its `apiVersion` is `other/v1`"),
    ] {
        let tree = parse(text);
        assert_eq!(select_template(&tree).expect_err(text).message, expected, "{text}");
    }
    assert!(select_template(&parse("kind: Template\napiVersion: v1\nobjects: [")).is_err());
    for (text, expected) in [
        ("objects: [null]", "objects[0]: the object has no `kind`"),
        ("objects: [{a: b}]", "objects[0]: the object has no `kind`"),
        ("objects: {}", "`objects` must be a list"),
        ("parameters: {A: b}", "`parameters` must be a list"),
        ("labels: [a]", "`labels` must be a mapping of strings"),
        ("labels: {a: 1}", "the label `a` must be a string"),
        (
            "objects: [{kind: L, items: []}]\nlabels: {a: b}",
            "objects[0]: the labels of the template cannot be added to a list",
        ),
        (
            "objects: [{kind: X, v: ['${{Z}}']}]\nparameters: [{name: Z, value: 'null'}]",
            "objects[0]: a list item becomes `null`, which is not allowed",
        ),
        (
            "objects: [{kind: X, '${{Z}}': 1}]\nparameters: [{name: Z, value: '[]'}]",
            "objects[0]: the key `${{Z}}` becomes a value that is not a string",
        ),
        ("objects: [{apiVersion: a/b/c, kind: X}]", "objects[0]: the `apiVersion` `a/b/c` has more than one `/`"),
        ("objects: [{kind: List, items: {}}]", "objects[0]: `items` is not a list of objects"),
        ("objects: [{kind: List, items: [x]}]", "objects[0]: `items` is not a list of objects"),
        ("objects: [{kind: X, a: &a [*a]}]", "objects[0]: too large after expanding its YAML aliases"),
    ] {
        let (out, errors, _) = processed(&format!("apiVersion: v1\nkind: Template\n{text}\n"), &[], &[]);
        assert_eq!((out.as_str(), errors.join("; ").as_str()), ("", expected), "{text}");
    }
}

#[test]
fn legacy_kinds_lists_and_instances() {
    let object = "{kind: X, v: '${A}'}";
    let parameters = "[{name: A, value: x}]";
    for text in [
        format!("apiVersion: v1\nkind: TemplateConfig\nobjects: [{object}]\nparameters: {parameters}\n"),
        format!("apiVersion: v1\nkind: ProcessedTemplate\nobjects: [{object}]\nparameters: {parameters}\n"),
        format!(
            "apiVersion: template.openshift.io/v1\nkind: TemplateList\nitems: [{{objects: [{object}], parameters: {parameters}}}]\n"
        ),
        format!(
            "apiVersion: v1\nkind: List\nitems: [{{apiVersion: v1, kind: Template, objects: [{object}], parameters: {parameters}}}]\n"
        ),
        format!(
            "apiVersion: template.openshift.io/v1\nkind: TemplateInstance\nspec: {{template: {{objects: [{object}], parameters: {parameters}}}}}\n"
        ),
    ] {
        assert_eq!(processed(&text, &[], &[]).0, r#"{"apiVersion":"","kind":"X","v":"x"}"#, "{text}");
    }
}

#[test]
fn items_of_a_list_get_its_kind() {
    for (object, expected) in [
        (
            "{apiVersion: v1, kind: PodList, items: [{a: 1}]}",
            r#""items":[{"a":1,"apiVersion":"v1","kind":"Pod"}],"kind":"PodList""#,
        ),
        ("{apiVersion: v1, kind: PodList, items: [{kind: X}]}", r#""items":[{"kind":"X"}],"kind":"PodList""#),
        ("{apiVersion: v1, kind: List, items: null}", r#""items":[],"kind":"List""#),
        ("{apiVersion: v1, kind: '${{N}}'}", r#""kind":"""#),
    ] {
        let text =
            format!("apiVersion: v1\nkind: Template\nobjects: [{object}]\nparameters: [{{name: 'N', value: '5'}}]\n");
        assert_eq!(processed(&text, &[], &[]).0, format!(r#"{{"apiVersion":"v1",{expected}}}"#), "{object}");
    }
}

#[test]
fn quirks_are_reported_once() {
    let text = template(
        "parameters:\n- {name: A, generate: expression, from: '[0-1]{8}'}\n- {name: B, generate: expression, from: '[\\wa-z]{3}'}\n\
         - {name: C, value: '${A}'}\n- {name: D, value: 'null'}\n- {name: E, generate: expression, from: '[a-z_]{3}'}",
        "metadata: {namespace: prod, name: m}, v: '${C}${A}', w: '${{D}}', x: '${C}${A}'",
    );
    let (out, errors, notices) = processed(&text, &[], &[]);
    assert_eq!(errors, [""; 0]);
    assert!(out.contains(r#""v":"00000000${A}""#) && !out.contains("\"w\""), "{out}");
    let expected = [
        "the last character of a range is never generated (use --no-exact to include it): A (never `1`)",
        "brackets that mix ranges with classes or single characters generate other characters than written: B",
        "only `[…]{n}` is random; other parts of a regular expression are plain text: E",
        "an inserted value contains a reference, which is replaced instead of a later one: X/m",
        "`null` in `${{…}}` removes the key: X/m",
        "a namespace without `${…}` is removed: X/m",
    ];
    assert_eq!(notices, expected);
}
