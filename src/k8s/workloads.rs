//! The table of workload kinds: where their pod specs are, and what their controllers add to the pods.
//!
//! There is no other list of workload kinds. Reading pods, deciding which documents are parsed, the labels that presets
//! select and the variables that controllers inject all use this one, so a new kind is one new row here.

/// A kind of object that makes pods.
#[derive(Debug, PartialEq, Eq)]
pub struct WorkloadKind {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// `kind`.
    pub kind: &'static str,
    /// The paths of the pod specs. `[*]` matches every item of a list.
    pub pod_specs: &'static [&'static str],
    /// Whether objects without an API group are never of this kind: the core group has another kind of this name.
    pub requires_group: bool,
    /// Labels that the controller adds to each pod, with values that the manifest does not decide (A14). No user sets
    /// labels of these names.
    pub added_labels: &'static [&'static str],
    /// Labels with ordinary names that the controller adds where the pod lacks them.
    pub default_labels: &'static [&'static str],
    /// Whether the controller adds labels that are not in `added_labels`, those in `default_labels` among them.
    pub adds_other_labels: bool,
    /// Variables that the controller adds to containers.
    pub injected: &'static [InjectedVariable],
    /// Which pods belong to an indexed Job.
    pub indexing: Indexing,
    /// The value of `enableServiceLinks` where it is absent.
    pub default_service_links: bool,
    /// Further environments besides those of containers.
    pub hooks: &'static [DeploymentHook],
}

/// A variable that a controller adds before the kubelet sees the pod.
#[derive(Debug, PartialEq, Eq)]
pub struct InjectedVariable {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: InjectedValue,
    /// Whether it comes before the entries of `env`; else it comes after them.
    pub is_first: bool,
    /// Whether it is left out where `env` has an entry of this name.
    pub yields: bool,
    /// The containers that get it.
    pub target: InjectionTarget,
}

/// The value of an injected variable. The text describes a value that is known in the cluster only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedValue {
    /// A plain value.
    Text(&'static str),
    /// A `valueFrom`, which probes do not see (P3).
    Field(&'static str),
    /// The name of the object.
    ObjectName(&'static str),
}

/// The containers that get an injected variable. Ephemeral containers and hooks never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionTarget {
    /// All containers.
    All,
    /// All containers of an indexed Job.
    IndexedJob,
    /// The regular container that has a port, which the manifest may not show.
    Serving,
}

/// Which pods belong to an indexed Job (B25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// None.
    Never,
    /// Those with `completionMode: Indexed`.
    OnRequest,
    /// Those without another `completionMode`.
    ByDefault,
}

/// A mapping that holds an environment and no container.
#[derive(Debug, PartialEq, Eq)]
pub struct DeploymentHook {
    /// The path of the mapping.
    pub path: &'static str,
    /// The key of its list of variables.
    pub env: &'static str,
}

/// What makes the pods of a pod spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Controller {
    /// None: the spec belongs to a preset.
    #[default]
    None,
    /// A kind of the table.
    Known(&'static WorkloadKind),
    /// A kind that is not in the table. Its controller may add anything.
    Unknown,
}

/// Every kind that is known to make pods.
pub const WORKLOAD_KINDS: &[WorkloadKind] = &[
    // W1
    workload("", "Pod", &["spec"]),
    workload("", "PodTemplate", &["template.spec"]),
    workload("", "ReplicationController", TEMPLATE),
    // W3
    WorkloadKind { added_labels: DEPLOYMENT_LABELS, ..workload("apps", "Deployment", TEMPLATE) },
    workload("apps", "ReplicaSet", TEMPLATE),
    WorkloadKind { added_labels: DAEMON_SET_LABELS, ..workload("apps", "DaemonSet", TEMPLATE) },
    WorkloadKind { added_labels: STATEFUL_SET_LABELS, ..workload("apps", "StatefulSet", TEMPLATE) },
    WorkloadKind { added_labels: DEPLOYMENT_LABELS, ..workload("extensions", "Deployment", TEMPLATE) },
    workload("extensions", "ReplicaSet", TEMPLATE),
    WorkloadKind { added_labels: DAEMON_SET_LABELS, ..workload("extensions", "DaemonSet", TEMPLATE) },
    // W4
    job("batch", "Job", TEMPLATE),
    job("batch", "CronJob", &["spec.jobTemplate.spec.template.spec"]),
    // W6
    WorkloadKind {
        added_labels: &["deployment", "deploymentconfig"],
        hooks: &[
            DeploymentHook { path: "spec.strategy.customParams", env: "environment" },
            DeploymentHook { path: "spec.strategy.recreateParams.pre.execNewPod", env: "env" },
            DeploymentHook { path: "spec.strategy.recreateParams.mid.execNewPod", env: "env" },
            DeploymentHook { path: "spec.strategy.recreateParams.post.execNewPod", env: "env" },
            DeploymentHook { path: "spec.strategy.rollingParams.pre.execNewPod", env: "env" },
            DeploymentHook { path: "spec.strategy.rollingParams.post.execNewPod", env: "env" },
        ],
        ..workload("apps.openshift.io", "DeploymentConfig", TEMPLATE)
    },
    // W7
    WorkloadKind { added_labels: &["rollouts-pod-template-hash"], ..workload("argoproj.io", "Rollout", TEMPLATE) },
    workload("argoproj.io", "Experiment", &["spec.templates[*].template.spec"]),
    job("argoproj.io", "AnalysisTemplate", METRICS),
    job("argoproj.io", "ClusterAnalysisTemplate", METRICS),
    job("argoproj.io", "AnalysisRun", METRICS),
    // W8, B26
    WorkloadKind {
        requires_group: true,
        injected: &[
            knative("K_REVISION", InjectedValue::Text(REVISION)),
            knative("K_CONFIGURATION", InjectedValue::ObjectName(CONFIGURATION)),
            knative("K_SERVICE", InjectedValue::ObjectName(SERVICE)),
            KNATIVE_PORT,
        ],
        ..knative_workload("Service", TEMPLATE)
    },
    WorkloadKind {
        injected: &[
            knative("K_REVISION", InjectedValue::Text(REVISION)),
            knative("K_CONFIGURATION", InjectedValue::ObjectName(CONFIGURATION)),
            knative("K_SERVICE", InjectedValue::Text(SERVICE)),
            KNATIVE_PORT,
        ],
        ..knative_workload("Configuration", TEMPLATE)
    },
    WorkloadKind {
        injected: &[
            knative("K_REVISION", InjectedValue::ObjectName(REVISION)),
            knative("K_CONFIGURATION", InjectedValue::Text(CONFIGURATION)),
            knative("K_SERVICE", InjectedValue::Text(SERVICE)),
            KNATIVE_PORT,
        ],
        ..knative_workload("Revision", &["spec"])
    },
    // W9
    WorkloadKind {
        indexing: Indexing::ByDefault,
        ..job("jobset.x-k8s.io", "JobSet", &["spec.replicatedJobs[*].template.spec.template.spec"])
    },
    // W10, T13.10
    WorkloadKind {
        adds_other_labels: true,
        injected: &[
            leader_worker_set("LWS_LEADER_ADDRESS", InjectedValue::Text("address of the group's leader")),
            leader_worker_set("LWS_GROUP_SIZE", InjectedValue::Text("size of the group")),
            leader_worker_set("LWS_WORKER_INDEX", InjectedValue::Field("index of the worker")),
        ],
        ..workload(
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            &["spec.leaderWorkerTemplate.leaderTemplate.spec", "spec.leaderWorkerTemplate.workerTemplate.spec"],
        )
    },
];

const TEMPLATE: &[&str] = &["spec.template.spec"];
const METRICS: &[&str] = &["spec.metrics[*].provider.job.spec.template.spec"];

const DEPLOYMENT_LABELS: &[&str] = &["pod-template-hash"];
const DAEMON_SET_LABELS: &[&str] = &["controller-revision-hash", "pod-template-generation"];
const STATEFUL_SET_LABELS: &[&str] =
    &["controller-revision-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"];
const JOB_LABELS: &[&str] = &[
    "controller-uid",
    "job-name",
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "batch.kubernetes.io/job-completion-index",
];

const REVISION: &str = "name of the revision";
const CONFIGURATION: &str = "name of the configuration";
const SERVICE: &str = "name of the Knative service";
const KNATIVE_PORT: InjectedVariable = InjectedVariable {
    target: InjectionTarget::Serving,
    ..knative("PORT", InjectedValue::Text("port of the container"))
};

/// A workload whose controller adds nothing.
const fn workload(group: &'static str, kind: &'static str, pod_specs: &'static [&'static str]) -> WorkloadKind {
    WorkloadKind {
        group,
        kind,
        pod_specs,
        requires_group: false,
        added_labels: &[],
        default_labels: &[],
        adds_other_labels: false,
        injected: &[],
        indexing: Indexing::Never,
        default_service_links: true,
        hooks: &[],
    }
}

/// A workload that makes Jobs.
const fn job(group: &'static str, kind: &'static str, pod_specs: &'static [&'static str]) -> WorkloadKind {
    WorkloadKind {
        added_labels: JOB_LABELS,
        indexing: Indexing::OnRequest,
        injected: &[InjectedVariable {
            name: "JOB_COMPLETION_INDEX",
            value: InjectedValue::Field("index of the Job's pod"),
            is_first: false,
            yields: true,
            target: InjectionTarget::IndexedJob,
        }],
        ..workload(group, kind, pod_specs)
    }
}

const fn knative_workload(kind: &'static str, pod_specs: &'static [&'static str]) -> WorkloadKind {
    WorkloadKind {
        adds_other_labels: true,
        // The name of the revision.
        default_labels: &["app"],
        default_service_links: false,
        ..workload("serving.knative.dev", kind, pod_specs)
    }
}

/// B26: Knative adds its variables whether or not `env` has them, and the last entry of a name wins.
const fn knative(name: &'static str, value: InjectedValue) -> InjectedVariable {
    InjectedVariable { name, value, is_first: false, yields: false, target: InjectionTarget::All }
}

const fn leader_worker_set(name: &'static str, value: InjectedValue) -> InjectedVariable {
    InjectedVariable { name, value, is_first: true, yields: true, target: InjectionTarget::All }
}

impl WorkloadKind {
    /// The row of a group and kind. An empty group matches every group, because it may not be typed yet.
    pub fn find(group: &str, kind: &str) -> Option<&'static Self> {
        WORKLOAD_KINDS
            .iter()
            .find(|it| it.kind == kind && (it.group == group || (group.is_empty() && !it.requires_group)))
    }

    /// Whether a kind makes pods, in some group.
    pub fn is_workload(kind: &str) -> bool {
        WORKLOAD_KINDS.iter().any(|it| it.kind == kind)
    }
}

impl Controller {
    /// Whether the kind of the object is not in the table.
    pub fn is_unknown(self) -> bool {
        self == Self::Unknown
    }

    /// Labels that are added to each pod, with values that the manifest does not decide.
    pub fn added_labels(self) -> &'static [&'static str] {
        self.known().map_or(&[], |it| it.added_labels)
    }

    /// Whether a label that the pod lacks may be added. This includes the labels of all controllers: one may make pods
    /// from the template of another, as a Rollout does with `workloadRef`.
    pub fn may_add_label(self, key: &str) -> bool {
        key.contains('/')
            || WORKLOAD_KINDS.iter().any(|it| it.added_labels.contains(&key))
            || self.known().is_some_and(|it| it.default_labels.contains(&key))
    }

    /// Whether labels may be added that are not among [`Controller::added_labels`].
    pub fn may_add_other_labels(self) -> bool {
        self.is_unknown() || self.known().is_some_and(|it| it.adds_other_labels)
    }

    /// Variables that are added to containers.
    pub fn injected(self) -> &'static [InjectedVariable] {
        self.known().map_or(&[], |it| it.injected)
    }

    fn known(self) -> Option<&'static WorkloadKind> {
        match self {
            Self::Known(kind) => Some(kind),
            Self::None | Self::Unknown => None,
        }
    }
}
