//! The engine: declares and runs rules, collects their findings, and caches findings for editors.

pub(super) mod cache;
pub(super) mod contexts;
mod deliberate;
pub(super) mod findings;
mod helm_filter;
pub(super) mod levels;
pub(super) mod pages;
mod preset_entries;
pub(super) mod registry;
pub(super) mod rule;
pub(super) mod runner;
pub(super) mod settings;
pub(super) mod suppression;
pub(super) mod suppression_comment;

pub(super) use contexts::{ContainerContext, FileContext, ObjectContext, PodContext, ServedContainer};
pub(super) use findings::{Finding, Findings, edit};
pub(super) use helm_filter::has_helm_action;
pub(super) use rule::declare_rule;
