//! Loading projects from disk: which files are found, which are reported, and the problems.

use std::fs;
use std::path::{Path, PathBuf};

use podlens::load::{Loaded, PassedOver, Request, load};
use podlens::workspace::LookupSite;
use tempfile::TempDir;

const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {A: a}\n";

struct Disk(TempDir);

impl Disk {
    fn new(files: &[(&str, &str)]) -> Self {
        let disk = Self(TempDir::new().expect("a directory"));
        for (path, text) in files {
            disk.write(path, text.as_bytes());
        }
        disk
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn load(&self, directory: &str, paths: &[&str], root: Option<&str>, stdin: &str) -> Loaded {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        load(Request {
            directory: &self.path(directory),
            paths: &paths,
            root: root.map(Path::new),
            stdin_name: None,
            stdin: Some(&mut stdin.as_bytes()),
        })
    }

    /// The reported files, then all problems, as they are shown.
    fn report(&self, directory: &str, paths: &[&str]) -> Vec<String> {
        shown(&self.load(directory, paths, None, ""))
    }
}

fn shown(loaded: &Loaded) -> Vec<String> {
    let reported = loaded.reported.iter().map(|file| loaded.display(file));
    let problems = loaded.problems.iter().map(ToString::to_string);
    reported.chain(problems).collect()
}

fn names(loaded: &Loaded) -> Vec<String> {
    loaded.workspace.snapshot().files().map(|(path, _)| path.to_string()).collect()
}

#[test]
fn the_project_is_loaded_and_the_paths_are_reported() {
    let disk = Disk::new(&[("p/podlens.yaml", ""), ("p/a/pod.yaml", POD), ("p/b/map.yaml", MAP), ("q.yaml", POD)]);
    let loaded = disk.load("p/a", &["."], None, "");
    assert_eq!(names(&loaded), ["a/pod.yaml", "b/map.yaml", "podlens.yaml"]);
    assert_eq!(shown(&loaded), ["pod.yaml"]);
    assert_eq!(loaded.display("b/map.yaml"), "../b/map.yaml");
    assert_eq!(disk.report("p", &[]), ["a/pod.yaml", "b/map.yaml"]);
    assert_eq!(disk.report("", &["p/a/pod.yaml"]), ["p/a/pod.yaml"]);
    assert_eq!(disk.report("p/a", &["../b/map.yaml", "pod.yaml", "./pod.yaml"]), ["pod.yaml", "../b/map.yaml"]);
}

#[test]
fn without_a_project_root_the_paths_are_the_project() {
    let disk = Disk::new(&[("a/pod.yaml", POD), ("b/map.yaml", MAP), ("c/map.yaml", MAP)]);
    let loaded = disk.load("", &["a/pod.yaml", "b"], None, "");
    assert_eq!(names(&loaded), ["a/pod.yaml", "b/map.yaml"]);
    let snapshot = loaded.workspace.snapshot();
    let found = snapshot.config_maps("app", LookupSite { file: "a/pod.yaml", namespace: None });
    assert_eq!(found.len(), 1, "{:?}", found.iter().map(|it| &it.file).collect::<Vec<_>>());
    assert_eq!(names(&disk.load("", &["a"], Some("."), "")), ["a/pod.yaml", "b/map.yaml", "c/map.yaml"]);
}

#[test]
fn projects_next_to_each_other_are_separate() {
    let disk = Disk::new(&[
        ("one/podlens.yaml", ""),
        ("one/pod.yaml", POD),
        ("two/podlens.yaml", "exclude: [old]"),
        ("two/map.yaml", MAP),
        ("two/old/map.yaml", MAP),
    ]);
    let loaded = disk.load("", &["one", "two"], None, "");
    assert_eq!(shown(&loaded), ["one/pod.yaml", "two/map.yaml"]);
    let from = LookupSite { file: "one/pod.yaml", namespace: None };
    assert!(loaded.workspace.snapshot().config_maps("app", from).is_empty());
}

#[test]
fn a_directory_around_a_project_is_read_as_a_whole() {
    let disk = Disk::new(&[("a.yaml", POD), ("app/podlens.yaml", ""), ("app/b.yaml", POD), ("z/c.yaml", POD)]);
    let all = ["a.yaml", "app/b.yaml", "z/c.yaml"];
    assert_eq!(disk.report("", &[".", "app"]), all);
    assert_eq!(disk.report("", &["app", "."]), all);
    assert_eq!(shown(&disk.load("", &["."], Some("app"), "")), all);
}

#[test]
fn a_repository_is_a_project() {
    let disk = Disk::new(&[("r/.git/HEAD", ""), ("r/a/pod.yaml", POD), ("r/map.yaml", MAP)]);
    assert_eq!(names(&disk.load("r/a", &["pod.yaml"], None, "")), ["a/pod.yaml", "map.yaml"]);
}

#[test]
fn settings_above_the_project_are_used() {
    let disk = Disk::new(&[
        ("podlens.yaml", "kubernetes: '1.30'\nexclude: [r/gen]\n"),
        ("r/.git/HEAD", ""),
        ("r/pod.yaml", POD),
        ("r/gen/pod.yaml", POD),
    ]);
    let loaded = disk.load("r", &["."], None, "");
    assert_eq!(shown(&loaded), ["pod.yaml"]);
    assert_eq!(loaded.workspace.snapshot().settings("pod.yaml").kubernetes.to_string(), "1.30");
    assert_eq!(loaded.display(&loaded.workspace.snapshot().settings("pod.yaml").file), "../podlens.yaml");
}

#[test]
fn hidden_directories_are_walked_and_the_rest_is_counted() {
    let disk = Disk::new(&[
        ("r/.git/HEAD", ""),
        ("r/.git/pod.yaml", POD),
        ("r/.gitignore", "ignored.yaml\nbuild\n"),
        ("r/.openshift/pod.yaml", POD),
        ("r/.tekton/deep/.more/pod.yaml", POD),
        ("r/.terraform/pod.yaml", POD),
        ("r/.venv/pod.yaml", POD),
        ("r/a/node_modules/x/pod.yaml", POD),
        ("r/a/.gitlab-ci.yml", "a: 1\n"),
        ("r/a/ignored.yaml", POD),
        ("r/a/notes.txt", ""),
        ("r/build/pod.yaml", POD),
        ("r/old/pod.yaml", POD),
        ("r/pod.yaml", POD),
        ("r/podlens.yaml", "exclude: [old]\n"),
    ]);
    let loaded = disk.load("r", &[], None, "");
    assert_eq!(shown(&loaded), [".openshift/pod.yaml", ".tekton/deep/.more/pod.yaml", "pod.yaml"]);
    let expected = PassedOver {
        ignored_files: 1,
        ignored_directories: 1,
        hidden_files: 1,
        tool_directories: 3,
        excluded_files: 1,
    };
    assert_eq!(loaded.passed_over, expected);
    // Only what is in the selected directories counts.
    let loaded = disk.load("r", &["a"], None, "");
    let expected = PassedOver { ignored_files: 1, hidden_files: 1, tool_directories: 1, ..PassedOver::default() };
    assert_eq!(loaded.passed_over, expected);
    assert_eq!(disk.load("r", &["pod.yaml"], None, "").passed_over, PassedOver::default());
}

#[test]
fn directories_with_code_are_known() {
    let lookup = |files: &[(&str, &str)]| {
        let disk = Disk::new(files);
        let snapshot = disk.load("r", &[], None, "").workspace.snapshot();
        !snapshot.config_maps("app", LookupSite { file: "deploy/pod.yaml", namespace: None }).is_empty()
    };
    let manifests = [("r/.git/HEAD", ""), ("r/deploy/pod.yaml", POD), ("r/config/map.yaml", MAP), ("r/README.md", "")];
    assert!(lookup(&manifests));
    assert!(!lookup(&[&manifests[..], &[("r/main.go", "")]].concat()));
    assert!(!lookup(&[&manifests[..], &[("r/src/lib/main.rs", "")]].concat()));
    assert!(lookup(&[&manifests[..], &[("r/.devcontainer/Dockerfile", ""), ("r/.gitignore", "")]].concat()));
}

#[test]
fn ignored_and_hidden_files_are_read_when_they_are_named() {
    let disk = Disk::new(&[
        (".gitignore", "out/\nsecret.yaml\n"),
        ("podlens.yaml", ""),
        ("a.yaml", POD),
        ("b.YML", POD),
        ("c.json", "{}"),
        ("notes.txt", "x"),
        ("secret.yaml", POD),
        ("out/x.yaml", POD),
        (".hidden.yaml", POD),
    ]);
    assert_eq!(disk.report("", &["."]), ["a.yaml", "b.YML", "c.json"]);
    assert_eq!(
        disk.report("", &["secret.yaml", "notes.txt", ".hidden.yaml", "out"]),
        [".hidden.yaml", "notes.txt", "out/x.yaml", "secret.yaml"]
    );
}

#[test]
fn ignore_files_are_used_up_to_the_root_of_the_repository() {
    let inside = [("r/.git/HEAD", ""), ("r/.gitignore", "gen.yaml"), ("r/p/podlens.yaml", ""), ("r/p/gen.yaml", POD)];
    assert!(Disk::new(&inside).report("r/p", &["."]).is_empty());
    let outside = [(".gitignore", "*"), ("p/podlens.yaml", ""), ("p/pod.yaml", POD)];
    assert_eq!(Disk::new(&outside).report("p", &["."]), ["pod.yaml"]);
}

#[test]
fn a_root_that_does_not_exist_is_reported() {
    let disk = Disk::new(&[("a/pod.yaml", POD), ("b/pod.yaml", POD)]);
    assert_eq!(shown(&disk.load("", &["a"], Some("gone"), "")), ["a/pod.yaml", "gone: the root does not exist"]);
    assert_eq!(shown(&disk.load("", &[], Some("b"), "")), ["b/pod.yaml"]);
}

#[test]
fn unreadable_files_are_reported_and_the_rest_is_loaded() {
    let disk = Disk::new(&[("good.yaml", POD)]);
    disk.write("bad.yaml", b"a: \xff\xfe");
    disk.write("wide.yaml", b"\xff\xfea\0");
    let file = fs::File::create(disk.path("huge.yaml")).expect("a file");
    file.set_len(64 * 1024 * 1024 + 1).expect("a size");
    assert_eq!(
        disk.report("", &[".", "missing.yaml"]),
        [
            "good.yaml",
            "bad.yaml:1:4: not UTF-8 (byte 0xFF); save the file as UTF-8",
            "huge.yaml: is larger than 64 MB and was not read; split it, or exclude it in podlens.yaml",
            "missing.yaml: no such file or directory",
            "wide.yaml: is UTF-16; save the file as UTF-8",
        ]
    );
    // Only problems in the given paths are reported.
    assert_eq!(disk.report("", &["good.yaml"]), ["good.yaml"]);
}

#[test]
fn a_directory_without_manifests_reports_nothing() {
    let disk = Disk::new(&[("readme.md", "x")]);
    assert!(disk.report("", &["."]).is_empty());
}

#[cfg(unix)]
#[test]
fn cycles_of_symbolic_links_are_not_followed() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new(&[("d/pod.yaml", POD)]);
    symlink(disk.path(""), disk.path("d/up")).expect("a link");
    symlink(disk.path("d/pod.yaml"), disk.path("d/link.yaml")).expect("a link");
    symlink(disk.path("gone"), disk.path("d/broken.yaml")).expect("a link");
    assert_eq!(disk.report("", &["d"]), ["d/link.yaml", "d/pod.yaml"]);
}

#[test]
fn stdin_can_be_the_only_file_or_one_of_many() {
    let disk = Disk::new(&[("podlens.yaml", "kubernetes: '1.30'"), ("map.yaml", MAP)]);
    let plain = disk.load("", &["-"], None, &format!("{POD}---\n{MAP}"));
    assert_eq!((shown(&plain), names(&plain)), (vec!["<stdin>".into()], vec!["<stdin>".into()]));
    assert_eq!(plain.workspace.snapshot().settings("<stdin>").kubernetes.to_string(), "1.30");
    let text = format!(
        "---\n# Source: shop/templates/a.yaml\n{POD}---\n# Source: shop/templates/b.yaml\n{MAP}---\n# Source: shop/templates/a.yaml\n{MAP}---\n{POD}"
    );
    let helm = disk.load("", &["-"], None, &text);
    assert_eq!(shown(&helm), ["<stdin>", "shop/templates/a.yaml", "shop/templates/b.yaml"]);
    let snapshot = helm.workspace.snapshot();
    assert_eq!(snapshot.file("shop/templates/a.yaml").map(|file| file.objects.len()), Some(2));
    let bad = load(Request {
        directory: disk.0.path(),
        paths: &[PathBuf::from("-")],
        root: None,
        stdin_name: None,
        stdin: Some(&mut &b"\xff"[..]),
    });
    assert_eq!(shown(&bad), ["<stdin>:1:1: not UTF-8 (byte 0xFF); save the file as UTF-8"]);
}
