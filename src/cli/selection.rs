//! `--workload`, `--view`, `--in-namespace` and `--container`: the workloads and containers that a command shows.

use std::collections::BTreeSet;

use clap::Args;

use crate::build::BuiltObject;
use crate::cli::{Exit, notice};
use crate::k8s::{Container, Text};
use crate::syntax::show_placeholders;
use crate::text::nearest_name;

#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Only this workload, such as deploy/web; can be repeated
    #[arg(long = "workload", value_name = "KIND/NAME", value_parser = workload_name)]
    workloads: Vec<WorkloadName>,
    #[command(flatten)]
    view: ViewFlag,
    /// Only workloads in this namespace
    #[arg(long, value_name = "NS")]
    in_namespace: Option<String>,
    /// Only containers with this name, and workloads that have one; can be repeated
    #[arg(long = "container", value_name = "NAME")]
    containers: Vec<String>,
}

// A doc comment would become the help of the commands.
#[derive(Debug, Args)]
pub(super) struct ViewFlag {
    /// Only this view, as `podlens views` names it; can be repeated
    #[arg(long = "view", value_name = "NAME")]
    views: Vec<String>,
}

impl ViewFlag {
    /// Whether views are chosen.
    pub(super) fn is_given(&self) -> bool {
        !self.views.is_empty()
    }

    /// Whether a view is chosen.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.views.iter().any(|it| it == name)
    }

    /// Prints a notice for each chosen view that is not among the views here.
    pub(super) fn report_unmatched(&self, here: &BTreeSet<String>) -> Exit {
        let mut exit = Exit::Clean;
        for wanted in self.views.iter().filter(|it| !here.contains(*it)) {
            notice(format_args!("nothing here is in view `{wanted}`{}", suggestion(wanted, here)));
            exit = Exit::NoInput;
        }
        exit
    }
}

/// The value of `--workload`.
#[derive(Clone, Debug)]
struct WorkloadName {
    /// As it was given.
    text: String,
    /// In lower case, without group and version; a short name is replaced by its kind.
    kind: String,
    name: String,
}

/// The short names of kubectl and oc for kinds with pods, and for services.
const SHORT_KINDS: [(&str, &str); 9] = [
    ("cj", "cronjob"),
    ("dc", "deploymentconfig"),
    ("deploy", "deployment"),
    ("ds", "daemonset"),
    ("po", "pod"),
    ("rc", "replicationcontroller"),
    ("rs", "replicaset"),
    ("sts", "statefulset"),
    ("svc", "service"),
];

fn workload_name(text: &str) -> Result<WorkloadName, String> {
    match text.split_once('/') {
        Some((kind, name)) if !kind.is_empty() && !name.is_empty() && !name.contains('/') => {
            // `deployments.apps` and `deployments.v1.apps` name a kind with its group.
            let kind = kind.split('.').next().unwrap_or(kind).to_ascii_lowercase();
            let long = SHORT_KINDS.iter().find(|(short, _)| *short == kind).map(|(_, long)| (*long).to_owned());
            Ok(WorkloadName { text: text.to_owned(), kind: long.unwrap_or(kind), name: name.to_owned() })
        }
        _ => Err("expected KIND/NAME, such as deploy/web".into()),
    }
}

impl WorkloadName {
    fn is_kind(&self, kind: &str) -> bool {
        let kind = kind.to_ascii_lowercase();
        let plural = match kind.strip_suffix('y') {
            Some(stem) => format!("{stem}ies"),
            None if kind.ends_with(['s', 'x']) => format!("{kind}es"),
            None => format!("{kind}s"),
        };
        self.kind == kind || self.kind == plural
    }

    fn matches(&self, object: BuiltObject<'_>) -> bool {
        self.is_kind(&shown(object.model.kind.as_ref())) && shown(object.model.name.as_ref()) == self.name
    }
}

impl Selection {
    /// The workloads to show. Prints a notice for each flag that matches nothing.
    pub(super) fn select<'s>(&self, all: Vec<BuiltObject<'s>>) -> (Vec<BuiltObject<'s>>, Exit) {
        let mut exit = Exit::Clean;
        if all.is_empty() {
            return (all, exit);
        }
        let mut left = all;
        if self.view.is_given() {
            exit = self.view.report_unmatched(&view_names(&left));
            left.retain(|it| it.view_name().is_some_and(|it| self.view.contains(&it)));
        }
        let mut unmatched = |message: String| {
            notice(message);
            exit = Exit::NoInput;
        };
        if !self.workloads.is_empty() {
            for wanted in &self.workloads {
                if !left.iter().any(|object| wanted.matches(*object)) {
                    unmatched(format!("no workload `{}`{}", wanted.text, similar_workloads(wanted, &left)));
                }
            }
            left.retain(|object| self.workloads.iter().any(|it| it.matches(*object)));
        }
        if let Some(namespace) = self.in_namespace.as_deref().filter(|_| !left.is_empty()) {
            let namespaces: BTreeSet<String> =
                left.iter().filter_map(|it| it.model.namespace.as_ref()).map(|it| shown(Some(it))).collect();
            if !namespaces.contains(namespace) {
                let others = match namespaces.is_empty() {
                    true => "; no workload here has a namespace".to_owned(),
                    false => suggestion(namespace, &namespaces),
                };
                unmatched(format!("no workload in namespace `{namespace}`{others}"));
            }
            left.retain(|it| it.model.namespace.as_ref().is_some_and(|it| shown(Some(it)) == namespace));
        }
        if !self.containers.is_empty() && !left.is_empty() {
            let containers = left.iter().flat_map(|it| &it.model.pods).flat_map(|it| &it.containers);
            let names: BTreeSet<String> =
                containers.filter_map(|it| it.name.as_ref()).map(|it| shown(Some(it))).collect();
            for wanted in self.containers.iter().filter(|it| !names.contains(*it)) {
                unmatched(format!("no container `{wanted}`{}", suggestion(wanted, &names)));
            }
            let has = |object: &BuiltObject<'_>| {
                object.model.pods.iter().any(|it| it.containers.iter().any(|it| self.shows(it)))
            };
            left.retain(|object| has(object));
        }
        (left, exit)
    }

    /// Whether a container is shown.
    pub(super) fn shows(&self, container: &Container) -> bool {
        self.containers.is_empty() || self.containers.contains(&shown(container.name.as_ref()))
    }
}

/// The names of the views of some objects.
pub(super) fn view_names<'s>(objects: impl IntoIterator<Item = &'s BuiltObject<'s>>) -> BTreeSet<String> {
    objects.into_iter().filter_map(|it| it.view_name()).map(|it| it.to_string()).collect()
}

/// A text as `env` shows it.
fn shown(text: Option<&Text>) -> String {
    text.map_or_else(String::new, |it| show_placeholders(&it.value).into_owned())
}

/// Workloads with the name and another kind, or else with a similar name.
fn similar_workloads(wanted: &WorkloadName, all: &[BuiltObject<'_>]) -> String {
    let named = all.iter().find(|it| shown(it.model.name.as_ref()) == wanted.name);
    if let Some(object) = named {
        return format!("; did you mean `{}`?", object.title());
    }
    let of_kind = all.iter().filter(|it| wanted.is_kind(&shown(it.model.kind.as_ref())));
    let names: BTreeSet<String> = of_kind.map(|it| shown(it.model.name.as_ref())).collect();
    let all_names: BTreeSet<String> = all.iter().map(|it| shown(it.model.name.as_ref())).collect();
    let near =
        [&names, &all_names].into_iter().find_map(|it| nearest_name(&wanted.name, it.iter().map(String::as_str)));
    let near = near.and_then(|near| {
        let is_it = |it: &&BuiltObject<'_>| shown(it.model.name.as_ref()) == near;
        let of_kind = |it: &&BuiltObject<'_>| is_it(it) && wanted.is_kind(&shown(it.model.kind.as_ref()));
        all.iter().find(of_kind).or_else(|| all.iter().find(is_it))
    });
    match near {
        Some(object) => format!("; did you mean `{}`?", object.title()),
        None => existing(&all.iter().map(|it| it.title()).collect()),
    }
}

/// The most similar name, or else all names if they are few.
fn suggestion(wanted: &str, names: &BTreeSet<String>) -> String {
    match nearest_name(wanted, names.iter().map(String::as_str)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => existing(names),
    }
}

fn existing(names: &BTreeSet<String>) -> String {
    const MOST: usize = 8;
    let listed: Vec<String> = names.iter().take(MOST).map(|it| format!("`{it}`")).collect();
    match names.len().saturating_sub(MOST) {
        _ if names.is_empty() => String::new(),
        0 => format!("; there is {}", listed.join(", ")),
        more => format!("; there is {} and {more} more", listed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_accepted_as_kubectl_does() {
        let is = |text: &str, kind: &str| workload_name(text).expect("a workload").is_kind(kind);
        for text in
            ["deploy/a", "Deployment/a", "deployments/a", "DEPLOY/a", "deployments.apps/a", "deployment.v1.apps/a"]
        {
            assert!(is(text, "Deployment"), "{text}");
        }
        for (short, kind) in [
            ("po", "Pod"),
            ("sts", "StatefulSet"),
            ("ds", "DaemonSet"),
            ("rs", "ReplicaSet"),
            ("rc", "ReplicationController"),
            ("cj", "CronJob"),
            ("job", "Job"),
            ("jobs", "Job"),
            ("dc", "DeploymentConfig"),
            ("svc", "Service"),
            ("policies", "Policy"),
        ] {
            assert!(is(&format!("{short}/a"), kind), "{short}");
        }
        assert!(!is("po/a", "PodTemplate"));
        for text in ["web", "/web", "deploy/", "deploy/a/b", ""] {
            assert!(workload_name(text).is_err(), "{text}");
        }
    }
}
