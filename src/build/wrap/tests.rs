//! Tests of input texts and the templates made from them.

use super::*;

fn wrapped(texts: &[&str], parameters: &[(&str, &str)]) -> Result<Wrapped, Vec<String>> {
    let given = |(name, value): &(&str, &str)| ParameterChoice { name: (*name).into(), value: (*value).into() };
    let options = WrapOptions { name: "shop".into(), parameters: parameters.iter().map(given).collect() };
    assert_eq!(options.error(), None);
    let sources: Vec<WrapInput<'_>> = texts.iter().map(|text| WrapInput { text }).collect();
    wrap_in_template(&sources, &options).map_err(|all| all.into_iter().map(|it| it.message).collect())
}

/// The lines under `objects:` followed by the notices.
fn shown(texts: &[&str], parameters: &[(&str, &str)]) -> String {
    let it = wrapped(texts, parameters).unwrap_or_else(|all| panic!("{all:?}: {texts:?}"));
    let head = "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: shop\nobjects:\n";
    let body = it.text.replace("\r\n", "␍\n");
    let body = body.strip_prefix(head).or_else(|| body.strip_prefix(&head.replace('\n', "␍\n"))).unwrap_or(&body);
    let notices: String = it.notices.iter().map(|it| format!("! {it}\n")).collect();
    format!("{body}{notices}")
}

#[test]
fn comments_and_styles_are_kept() {
    let text = "# about it\n---\n# Source: shop/web.yaml\napiVersion: v1 # core\nkind: ConfigMap\nmetadata:\n  name: web\n\n  # what it says\n  labels: {app: web, 'tier': \"web-front\"}\ndata:\n  web: |\n    listen 8080\n\n      on web\n  folded: >-\n    a web\n    b\n  long: web\n    and 8080\n# end\n...\n---\nkind: Service\napiVersion: v1\nspec:\n  ports:\n  - port: 8080\n    targetPort: 8080\n    nodePort: 18080\n  type: \"it's \\\"web\\\"\"\n";
    let expected = "# about it\n# Source: shop/web.yaml\n- apiVersion: v1 # core\n  kind: ConfigMap\n  metadata:\n    name: ${NAME}\n\n    # what it says\n    labels: {app: \"${NAME}\", 'tier': \"${NAME}-front\"}\n  data:\n    ${NAME}: |\n      listen ${PORT}\n\n        on ${NAME}\n    folded: >-\n      a ${NAME}\n      b\n    long: ${NAME}\n      and ${PORT}\n  # end\n- kind: Service\n  apiVersion: v1\n  spec:\n    ports:\n    - port: ${{PORT}}\n      targetPort: ${{PORT}}\n      nodePort: 18080\n    type: \"it's \\\"${NAME}\\\"\"\nparameters:\n- name: NAME\n  value: \"web\"\n- name: PORT\n  value: \"8080\"\n";
    assert_eq!(shown(&[text], &[("NAME", "web"), ("PORT", "8080")]), expected);
}

/// Inputs with their results; the parameters are NAME=web and PORT=80, if they occur.
#[test]
fn ways_to_write_objects() {
    for (text, expected) in [
        ("{kind: X, port: 80, n: web}", "- {kind: X, port: \"${{PORT}}\", n: \"${NAME}\"}\n"),
        ("--- {kind: X, n: web}\n", "- {kind: X, n: \"${NAME}\"}\n"),
        ("%YAML 1.1\n---\nkind: X\nn: web\n", "- kind: X\n  n: ${NAME}\n"),
        ("--- # why\nkind: X\nn: web\n", "# why\n- kind: X\n  n: ${NAME}\n"),
        ("\u{feff}# a\nkind: X\nn: web", "# a\n- kind: X\n  n: ${NAME}\n"),
        ("  kind: X\n  n: web\n", "-   kind: X\n    n: ${NAME}\n"),
        ("kind: X\nn: &a web\nm: *a\n", "- kind: X\n  n: &a ${NAME}\n  m: *a\n"),
        ("kind: X\nn: web\na: |2\n   x\n", "- kind: X\n  n: ${NAME}\n  a: |2\n     x\n"),
        ("kind: X\nn: web\na: |+\n  x\n\n\n---\nkind: Z\n", "- kind: X\n  n: ${NAME}\n  a: |+\n    x\n\n\n- kind: Z\n"),
        ("kind: X\r\nn: web\r\n", "- kind: X␍\n  n: ${NAME}␍\n"),
        ("kind: X\nn: \"web\\\n  80\"\n", "- kind: X\n  n: \"web\\\n    80\"\n"),
        ("kind: X\nn: 'it''s web'\nport: '80'\n", "- kind: X\n  n: 'it''s ${NAME}'\n  port: '${PORT}'\n"),
        (
            "kind: List\n# frame\nitems:\n  # one\n  - kind: X\n    n: web\n\n  - kind: Z\n",
            "# frame\n# one\n- kind: X\n  n: ${NAME}\n\n- kind: Z\n",
        ),
        (
            "apiVersion: v1\nitems:\n- kind: X\n  n: web # w\n- kind: Z\nkind: List\n",
            "- kind: X\n  n: ${NAME} # w\n- kind: Z\n",
        ),
        (
            "kind: List\nitems: [{kind: X,\n  n: web}, # c\n  {kind: Z}]\n",
            "# c\n- {kind: X,\n    n: \"${NAME}\"}\n- {kind: Z}\n",
        ),
        ("kind: web\nn: web\nname: web\nweb: web\n", "- kind: web\n  n: ${NAME}\n  name: ${NAME}\n  web: ${NAME}\n"),
        ("kind: X\nlabels: {web: 1, web/a: 2}\n", "- kind: X\n  labels: {\"${NAME}\": 1, \"${NAME}/a\": 2}\n"),
        ("kind: X\ndata:\n  80: web\n", "- kind: X\n  data:\n    ${PORT}: ${NAME}\n"),
        (
            "kind: X\nn: [yes, 80.0, 0x50, '80', 080]\n",
            "- kind: X\n  n: [yes, \"${{PORT}}\", \"${{PORT}}\", '${PORT}', \"${{PORT}}\"]\n",
        ),
    ] {
        let parameters: Vec<(&str, &str)> = [("NAME", "web"), ("PORT", "80")]
            .into_iter()
            .filter(|(name, _)| expected.contains(&format!("{name}}}")))
            .collect();
        let found = shown(&[text], &parameters);
        let body = found.split("parameters:").next().unwrap_or_default();
        assert_eq!(body, expected, "{text}\n{found}");
    }
}

#[test]
fn text_that_cannot_be_moved_is_rewritten() {
    // A tag that the text of a parameter does not fit, and an anchor outside of the items.
    for text in [
        "# kept\nkind: X\nn: web\na: !!int 80 # lost\n",
        "x: &x {a: web} # lost\nkind: List\nitems:\n- kind: X\n  n: *x\n",
    ] {
        let parameters = [("NAME", "web"), ("PORT", "80")];
        let found = shown(&[text], if text.contains("80") { &parameters } else { &parameters[..1] });
        assert!(found.ends_with("! rewritten without comments, because the text cannot be moved: X\n"), "{found}");
        assert!(found.contains(": ${NAME}\n") || found.contains(": \"${NAME}\"\n"), "{found}");
    }
}

#[test]
fn json_stays_json() {
    let text = "{\n\t\"kind\": \"Service\",\n\t\"spec\": {\n\t\t\"port\": 80\n\t}\n}\n";
    let expected = "{\n\t\"apiVersion\": \"template.openshift.io/v1\",\n\t\"kind\": \"Template\",\n\t\"metadata\": {\n\t\t\"name\": \"shop\"\n\t},\n\t\"objects\": [\n\t\t{\n\t\t\t\"kind\": \"Service\",\n\t\t\t\"spec\": {\n\t\t\t\t\"port\": \"${{PORT}}\"\n\t\t\t}\n\t\t},\n\t\t{\n\t\t\t\"kind\": \"Service\",\n\t\t\t\"spec\": {\n\t\t\t\t\"port\": \"${{PORT}}\"\n\t\t\t}\n\t\t}\n\t],\n\t\"parameters\": [\n\t\t{\n\t\t\t\"name\": \"PORT\",\n\t\t\t\"value\": \"80\"\n\t\t}\n\t]\n}\n";
    assert_eq!(shown(&[text, text], &[("PORT", "80")]), expected);
    let list = "{\n  \"kind\": \"List\",\n  \"items\": [\n    {\n      \"kind\": \"X\"\n    }\n  ]\n}";
    let found = shown(&[list], &[]);
    assert!(found.contains("  \"objects\": [\n    {\n      \"kind\": \"X\"\n    }\n  ]\n}\n"), "{found}");
    // With one YAML input the result is YAML.
    assert!(shown(&[text, "kind: X\n"], &[("PORT", "80")]).starts_with("- {\n  \t\"kind\": \"Service\""));
}

#[test]
fn notices_about_objects() {
    let text = "kind: Pod\nmetadata: {name: web, namespace: prod, uid: a-b}\nargs: ['${HOME}', '$(X)']\n---\nkind: Secret\nmetadata: {name: s, namespace: keep}\ndata: {p: cHJvZA==}\n";
    let it = wrapped(&[text], &[("NS", "keep"), ("WORD", "prod")]);
    // `prod` is a namespace, so that one is kept by its parameter.
    let notices = it.expect("a template").notices;
    assert_eq!(
        notices,
        [
            "not replaced, because no parameter has this name: ${HOME}",
            "contains fields that a cluster sets, such as `status` or `metadata.uid`; remove them: Pod/web",
            "the value is base64-encoded there, so it is not replaced; use `stringData`: Secret/s data.p",
        ]
    );
    let notices = wrapped(&[text], &[]).expect("a template").notices;
    assert_eq!(
        notices[0],
        "processing removes a namespace without a parameter (use --param NAMESPACE=…): Pod/web, Secret/s"
    );
}

#[test]
fn errors_in_inputs() {
    for (text, parameters, expected) in [
        ("a: b\n", &[][..], "this is not an object: it has no `kind`"),
        ("- kind: X\n", &[], "this is not an object: it has no `kind`"),
        ("kind: Template\nobjects: []\n", &[], "this is already a Template"),
        ("kind: PodList\nitems: [{spec: {}}]\n", &[], "this list item has no `kind`"),
        (
            "kind: X\na: '${A}'\nb: c\n",
            &[("A", "c")],
            "this text already contains `${A}`, which would become a reference; choose another parameter name",
        ),
        ("kind: X\n", &[("A", "c")], "the value of `A` does not occur in these objects"),
        ("kind: X\nn: 8080\n", &[("A", "80")], "the value of `A` does not occur in these objects"),
        ("kind: X\na: &a {b: *a}\n", &[], "too large after expanding its YAML aliases"),
    ] {
        assert_eq!(wrapped(&[text], parameters), Err(vec![expected.to_owned()]), "{text}");
    }
    assert!(wrapped(&["kind: X\na: [b\n"], &[]).is_err());
    assert_eq!(wrapped(&["# nothing\n"], &[]).map(|it| it.objects), Ok(0));
}

#[test]
fn errors_in_options() {
    let error = |name: &str, parameters: &[(&str, &str)]| {
        let given = |(name, value): &(&str, &str)| ParameterChoice { name: (*name).into(), value: (*value).into() };
        WrapOptions { name: name.into(), parameters: parameters.iter().map(given).collect() }.error()
    };
    assert_eq!(error("a.b-1", &[("A", "x"), ("B", "y")]), None);
    assert!(error("A b", &[]).is_some_and(|it| it.contains("not a valid template name")));
    for (parameters, expected) in [
        (&[("A-B", "x")][..], "`A-B` is not a valid parameter name: use letters, digits and `_`"),
        (&[("A", "x"), ("A", "y")], "parameter `A` is given more than once"),
        (&[("A", "")], "the value of `A` is empty"),
        (&[("A", "x"), ("B", "x")], "`A` and `B` have the same value; use one parameter for it"),
        (&[("A", "x${B}"), ("B", "y")], "the value of `A` contains a reference to `B`, which processing would replace"),
    ] {
        assert_eq!(error("a", parameters).as_deref(), Some(expected));
    }
    assert_eq!(object_name("My Shop_2"), "my-shop-2");
    assert_eq!(object_name("--"), "template");
}
