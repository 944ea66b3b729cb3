//! The groups of OpenShift's kinds that templates may still write without a group (T7.1).

/// A group and its kinds.
const GROUPS: &[(&str, &[&str])] = &[
    ("apps.openshift.io", &["DeploymentConfig", "DeploymentConfigList", "DeploymentConfigRollback"]),
    (
        "authorization.openshift.io",
        &[
            "ClusterRole",
            "ClusterRoleBinding",
            "ClusterRoleBindingList",
            "ClusterRoleList",
            "IsPersonalSubjectAccessReview",
            "LocalResourceAccessReview",
            "LocalSubjectAccessReview",
            "ResourceAccessReview",
            "ResourceAccessReviewResponse",
            "Role",
            "RoleBinding",
            "RoleBindingList",
            "RoleBindingRestriction",
            "RoleBindingRestrictionList",
            "RoleList",
            "SelfSubjectRulesReview",
            "SubjectAccessReview",
            "SubjectAccessReviewResponse",
            "SubjectRulesReview",
        ],
    ),
    (
        "build.openshift.io",
        &[
            "BinaryBuildRequestOptions",
            "Build",
            "BuildConfig",
            "BuildConfigList",
            "BuildList",
            "BuildLog",
            "BuildLogOptions",
            "BuildRequest",
        ],
    ),
    (
        "image.openshift.io",
        &[
            "Image",
            "ImageList",
            "ImageSignature",
            "ImageStream",
            "ImageStreamImage",
            "ImageStreamImport",
            "ImageStreamList",
            "ImageStreamMapping",
            "ImageStreamTag",
            "ImageStreamTagList",
        ],
    ),
    (
        "network.openshift.io",
        &[
            "ClusterNetwork",
            "ClusterNetworkList",
            "EgressNetworkPolicy",
            "EgressNetworkPolicyList",
            "HostSubnet",
            "HostSubnetList",
            "NetNamespace",
            "NetNamespaceList",
        ],
    ),
    (
        "oauth.openshift.io",
        &[
            "OAuthAccessToken",
            "OAuthAccessTokenList",
            "OAuthAuthorizeToken",
            "OAuthAuthorizeTokenList",
            "OAuthClient",
            "OAuthClientAuthorization",
            "OAuthClientAuthorizationList",
            "OAuthClientList",
            "OAuthRedirectReference",
        ],
    ),
    ("project.openshift.io", &["Project", "ProjectList", "ProjectRequest"]),
    (
        "quota.openshift.io",
        &[
            "AppliedClusterResourceQuota",
            "AppliedClusterResourceQuotaList",
            "ClusterResourceQuota",
            "ClusterResourceQuotaList",
        ],
    ),
    ("route.openshift.io", &["Route", "RouteList"]),
    (
        "security.openshift.io",
        &[
            "PodSecurityPolicyReview",
            "PodSecurityPolicySelfSubjectReview",
            "PodSecurityPolicySubjectReview",
            "SecurityContextConstraints",
            "SecurityContextConstraintsList",
        ],
    ),
    ("template.openshift.io", &["ProcessedTemplate", "Template", "TemplateConfig", "TemplateList"]),
    (
        "user.openshift.io",
        &["Group", "GroupList", "Identity", "IdentityList", "User", "UserIdentityMapping", "UserList"],
    ),
];

/// The group of a kind that is written without one.
pub(super) fn group_of(kind: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_kinds_have_no_group() {
        assert_eq!(group_of("Route"), Some("route.openshift.io"));
        assert_eq!(group_of("DeploymentConfig"), Some("apps.openshift.io"));
        for kind in ["Service", "ConfigMap", "Secret", "Pod", "ServiceAccount", "ReplicationController"] {
            assert_eq!(group_of(kind), None, "{kind}");
        }
        for (_, kinds) in GROUPS {
            assert!(kinds.is_sorted(), "{kinds:?}");
        }
    }
}
