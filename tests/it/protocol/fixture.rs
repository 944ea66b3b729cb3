//! A project on disk from one text: `#- path` starts a file, `$0` is the cursor.

use std::fs;
use std::path::PathBuf;

use podlens::text::{Buffer, Encoding};
use serde_json::{Value, json};

use crate::fixture::parse_files;

/// A folder with files and a cursor in one of them.
pub(super) struct Fixture {
    folder: tempfile::TempDir,
    /// Names and texts, in order.
    pub(super) files: Vec<(String, String)>,
    /// The file with the cursor, and the offset in it.
    pub(super) cursor: Option<(String, usize)>,
}

impl Fixture {
    /// Writes the files. The folder is a separate project.
    pub(super) fn new(text: &str) -> Self {
        Self::with(text, |it| it.to_owned())
    }

    /// The same with CR LF line breaks.
    pub(super) fn with_crlf(text: &str) -> Self {
        Self::with(text, |it| it.replace('\n', "\r\n"))
    }

    fn with(text: &str, change: impl Fn(&str) -> String) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut fixture = Self { folder, files: Vec::new(), cursor: None };
        let files = parse_files(&change(text));
        if files.iter().all(|file| file.path != "podlens.yaml") {
            fixture.write("podlens.yaml", "");
        }
        for file in files {
            if let Some(at) = file.cursors.first() {
                fixture.cursor = Some((file.path.clone(), *at));
            }
            fixture.write(&file.path, &file.text);
            fixture.files.push((file.path, file.text));
        }
        fixture
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file, without a notification.
    pub(super) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a directory is made");
        fs::write(path, text).expect("a file is written");
    }

    pub(super) fn uri(&self, name: &str) -> String {
        let path = self.path(name);
        let path = path.to_str().expect("a path of a test is UTF-8");
        podlens::workspace::path_to_uri(path, podlens::workspace::PathStyle::CURRENT).expect("it is absolute")
    }

    pub(super) fn folder_uri(&self) -> String {
        let uri = self.uri("x");
        uri[..uri.len() - 2].to_owned()
    }

    pub(super) fn text(&self, name: &str) -> &str {
        &self.files.iter().find(|(known, _)| known == name).expect("the file is in the fixture").1
    }

    /// The document with the cursor, and its position.
    pub(super) fn at_cursor(&self, encoding: Encoding) -> Value {
        let (name, offset) = self.cursor.as_ref().expect("the fixture has a cursor");
        json!({"textDocument": {"uri": self.uri(name)}, "position": position(self.text(name), *offset, encoding)})
    }
}

/// The position of an offset.
pub(super) fn position(text: &str, offset: usize, encoding: Encoding) -> Value {
    let place = Buffer::new(text, 0).position(offset, encoding);
    json!({"line": place.line, "character": place.character})
}

/// The text that a range covers.
pub(super) fn covered(text: &str, range: &Value, encoding: Encoding) -> String {
    let buffer = Buffer::new(text, 0);
    let at = |end: &str| {
        let number = |key: &str| range[end][key].as_u64().and_then(|it| u32::try_from(it).ok()).expect("a number");
        podlens::text::Position::new(number("line"), number("character"))
    };
    buffer.slice(buffer.span(at("start"), at("end"), encoding)).into_owned()
}

/// A text after edits of the protocol, which are all relative to the text before them.
pub(super) fn edited(text: &str, edits: &Value, encoding: Encoding) -> String {
    let buffer = Buffer::new(text, 0);
    let offset = |place: &Value| {
        let number = |key: &str| place[key].as_u64().and_then(|it| u32::try_from(it).ok()).expect("a number");
        buffer.offset(podlens::text::Position::new(number("line"), number("character")), encoding)
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits are a list")
        .iter()
        .map(|it| {
            let new = it["newText"].as_str().expect("an edit has a text");
            (offset(&it["range"]["start"]), offset(&it["range"]["end"]), new)
        })
        .collect();
    edits.sort_by_key(|(start, end, _)| (*start, *end));
    let mut result = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        result.replace_range(start..end, new);
    }
    result
}
