//! The user that a container runs as.

use crate::build::BuiltContainer;
use crate::k8s::{Pod, UserFields};
use crate::resolve::lookup_scope::LookupScope;

/// The user that a container runs as, as far as the manifest decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerUser {
    /// The user with this number; 0 is root.
    Id(u64),
    /// Some user other than root.
    NonRoot,
    /// The image, the cluster or a patch decides it.
    Unknown,
}

impl ContainerUser {
    /// The user of a container, if it matters who reads an env file: in releases the kubelet does (F24).
    pub(super) fn who_reads(scope: &LookupScope<'_>, container: BuiltContainer<'_>) -> Self {
        if scope.settings().proposals { Self::of(container) } else { Self::Unknown }
    }

    /// The user of a container. Its own fields have precedence over those of the pod.
    fn of(container: BuiltContainer<'_>) -> Self {
        let (own, pod) = (&container.container.user, &container.pod.user);
        let sets_user = |it: &UserFields| it.id.is_some() || it.is_non_root.is_some();
        let patches = |it: &Pod| sets_user(&it.user) || it.containers.iter().any(|it| sets_user(&it.user));
        if container.in_pod().may_be_patched(patches) {
            return Self::Unknown;
        }
        match own.id.as_ref().or(pod.id.as_ref()) {
            Some(id) => id.value.parse().map_or(Self::Unknown, Self::Id),
            None if own.is_non_root.or(pod.is_non_root) == Some(true) => Self::NonRoot,
            None => Self::Unknown,
        }
    }

    /// The number of the user, if it is known.
    pub(super) fn id(self) -> Option<u64> {
        match self {
            Self::Id(id) => Some(id),
            Self::NonRoot | Self::Unknown => None,
        }
    }
}
