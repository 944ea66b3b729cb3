//! The page of each rule and its address. `podlens explain` prints the page, and `docs/rules` contains it.

use crate::rules::checks::RULES;
use crate::rules::engine::rule::Rule;

/// The folder of the pages, from the root of the repository.
const FOLDER: &str = "docs/rules";

impl Rule {
    /// The page in Markdown: name, level and documentation.
    pub fn page(&self) -> String {
        format!("# {} ({})\n\n{}", self.name, self.level.name(), self.markdown())
    }

    /// The file of the page, from the root of the repository.
    pub fn page_path(&self) -> String {
        format!("{FOLDER}/{}.md", self.name)
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        address(&self.page_path())
    }
}

/// The page that lists all rules, in Markdown.
pub fn index_page() -> String {
    let mut page = String::from("# Rules\n\n| rule | level | summary |\n| --- | --- | --- |\n");
    for rule in RULES {
        let summary = rule.summary().replace('|', "\\|");
        page += &format!("| [{0}]({0}.md) | {1} | {summary} |\n", rule.name, rule.level.name());
    }
    page
}

/// The file of the page that lists all rules, from the root of the repository.
pub fn index_path() -> String {
    format!("{FOLDER}/README.md")
}

/// The address of the page that lists all rules.
pub fn index_url() -> String {
    address(&index_path())
}

/// The address of a file in the repository.
fn address(path: &str) -> String {
    format!("{}/blob/main/{path}", env!("CARGO_PKG_REPOSITORY"))
}
