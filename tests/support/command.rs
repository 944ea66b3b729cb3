//! Runs the program in a directory.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs podlens in a directory: exit code, stdout, stderr.
pub(crate) fn run(directory: &Path, arguments: &[&str], stdin: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_podlens"))
        .args(arguments)
        .current_dir(directory)
        // Paths in some reports depend on them.
        .env_remove("GITHUB_WORKSPACE")
        .env_remove("CI_PROJECT_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("podlens starts");
    // It may end without reading.
    let _ = child.stdin.take().expect("stdin").write_all(stdin.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().expect("podlens ends");
    let text = |bytes| String::from_utf8(bytes).expect("podlens prints UTF-8");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

/// The root of the repository.
pub(crate) fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A new directory with these files and, if they have no `podlens.yaml`, an empty one: the root of a project.
pub(crate) fn directory(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (path, text) in [("podlens.yaml", &b""[..])].iter().chain(files) {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, text).expect("written");
    }
    directory
}
