//! Settings from the editor and from files, and changes of them.

use podlens::text::Encoding;
use serde_json::{Value, json};

use super::client::{Setup, codes, simple};
use super::{Client, Fixture};
use crate::manifest::pod;

const POD: &str = pod!(
    "#- pod.yaml\n",
    "web",
    "    env:
    - {name: A, value: $(NOPE)}
"
);

#[test]
fn editor_settings_apply_where_the_settings_file_sets_nothing() {
    let fixture = Fixture::new(&POD.replace("$(NOPE)", "$(NOPE) $(ACME_X) $$"));
    let configuration = json!({
        "rules": {"undefined-variable": "error", "collapsed-dollar": "hint"},
        "externals": {"variables": ["ACME_*"]},
        "overrides": [{"files": ["*.yaml"], "rules": {"collapsed-dollar": "error"}}],
        "path": "/x",
        "kubernetes": null,
    });
    let mut client = Client::of(&fixture, Setup { configuration, ..Setup::default() });
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    let levels = |client: &mut Client| -> Vec<(String, u64)> {
        let items = client.pull(&uri)["items"].clone();
        let level = |it: &Value| it["severity"].as_u64().expect("a severity");
        codes(&items).into_iter().zip(items.as_array().expect("a list").iter().map(level)).collect()
    };
    let levels_of = |rules: &[(&str, u64)]| -> Vec<(String, u64)> {
        rules.iter().map(|(rule, level)| ((*rule).to_owned(), *level)).collect()
    };
    // An empty file sets nothing.
    assert_eq!(levels(&mut client), levels_of(&[("undefined-variable", 1), ("collapsed-dollar", 1)]));
    // Each rule and each key of `externals` on its own; the file takes precedence over the editor's overrides.
    client.open(&fixture.uri("podlens.yaml"), "rules: {collapsed-dollar: warning}\nexternals: {services: [x]}\n", 1);
    assert_eq!(levels(&mut client), levels_of(&[("undefined-variable", 1), ("collapsed-dollar", 2)]));
    client.replace(&fixture.uri("podlens.yaml"), 2, "externals: {variables: [NO*]}\nexclude: []\n");
    let found = levels(&mut client);
    assert_eq!(
        found,
        levels_of(&[("undefined-variable", 1), ("collapsed-dollar", 1)]),
        "`NOPE` is external, `ACME_X` is not"
    );
    let items = client.pull(&uri)["items"].clone();
    assert!(items[0]["message"].as_str().is_some_and(|it| it.contains("ACME_X")), "{items}");
    // Without a file only the editor's settings apply.
    client.close(&fixture.uri("podlens.yaml"));
    std::fs::remove_file(fixture.path("podlens.yaml")).expect("it is there");
    let gone = json!({"changes": [{"uri": fixture.uri("podlens.yaml"), "type": 3}]});
    client.notify("workspace/didChangeWatchedFiles", gone);
    assert_eq!(levels(&mut client), levels_of(&[("undefined-variable", 1), ("collapsed-dollar", 1)]));
}

#[test]
fn editor_settings_can_exclude_files() {
    let fixture = Fixture::new(POD);
    let configuration = json!({"exclude": ["pod.yaml"]});
    let mut client = Client::of(&fixture, Setup { configuration, ..Setup::default() });
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    assert_eq!(client.rules(&uri), [""; 0]);
    client.open(&fixture.uri("podlens.yaml"), "exclude: [other.yaml]\n", 1);
    assert_eq!(client.rules(&uri), ["undefined-variable"], "the settings file decides what is excluded");
}

#[test]
fn changed_editor_settings_are_applied() {
    let fixture = Fixture::new(POD);
    std::fs::remove_file(fixture.path("podlens.yaml")).expect("it is there");
    fixture.write(".git/HEAD", "");
    // A client that answers `workspace/configuration`.
    let setup = Setup {
        initialize: json!({"initializationOptions": {"rules": {"undefined-variable": "hint"}}}),
        ..Setup::default()
    };
    let mut client = Client::of(&fixture, setup);
    let uri = fixture.uri("pod.yaml");
    client.open(&uri, fixture.text("pod.yaml"), 1);
    assert_eq!(client.pull(&uri)["items"][0]["severity"], 4, "from the start");
    // A client that sends the settings with the notification.
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    client.open(&uri, fixture.text("pod.yaml"), 1);
    assert_eq!(client.published(&uri, 1)["diagnostics"][0]["severity"], 2);
    let settings = json!({"podlens": {"rules": {"undefined-variable": "off"}}});
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    assert_eq!(client.published(&uri, 1)["diagnostics"], json!([]));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"podlens": {"unknown": "perhaps"}}}));
    let message = client.next_message("window/showMessage");
    assert!(message["params"]["message"].as_str().is_some_and(|it| it.contains("expected one of auto")), "{message}");
}

#[test]
fn a_changed_settings_file_is_applied() {
    let fixture = Fixture::new(POD);
    let mut client = Client::of(&fixture, Setup { capabilities: simple(Encoding::Utf16), ..Setup::default() });
    let (pod, settings) = (fixture.uri("pod.yaml"), fixture.uri("podlens.yaml"));
    client.open(&pod, fixture.text("pod.yaml"), 1);
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["undefined-variable"]);
    // Typed in the editor and not saved.
    client.open(&settings, "rules: {undefined-variable: off}\n", 1);
    assert_eq!(client.published(&settings, 1)["diagnostics"], json!([]));
    assert_eq!(client.published(&pod, 1)["diagnostics"], json!([]));
    // A mistake in the file is a finding in the file.
    client.replace(&settings, 2, "rules: {undefined-varable: off}\n");
    let found = client.published(&settings, 2)["diagnostics"].clone();
    assert!(found[0]["message"].as_str().is_some_and(|it| it.contains("did you mean")), "{found}");
    assert_eq!(codes(&client.published(&pod, 1)["diagnostics"]), ["undefined-variable"]);
    client.close(&settings);
    fixture.write("podlens.yaml", "externals: {variables: [NO*]}\n");
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": [{"uri": settings, "type": 2}]}));
    let mut last = Value::Null;
    while last != json!([]) {
        last = client.published(&pod, 1)["diagnostics"].clone();
    }
}
