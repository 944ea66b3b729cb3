//! The groups of OpenShift's kinds that templates may still write as plain `v1` (T7.1).

/// A group and its kinds.
const GROUPS: &[(&str, &[&str])] = &[
    ("apps.openshift.io/v1", &["DeploymentConfig", "DeploymentConfigList", "DeploymentConfigRollback"]),
    (
        "authorization.openshift.io/v1",
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
        "build.openshift.io/v1",
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
        "image.openshift.io/v1",
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
        "network.openshift.io/v1",
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
        "oauth.openshift.io/v1",
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
    ("project.openshift.io/v1", &["Project", "ProjectList", "ProjectRequest"]),
    (
        "quota.openshift.io/v1",
        &[
            "AppliedClusterResourceQuota",
            "AppliedClusterResourceQuotaList",
            "ClusterResourceQuota",
            "ClusterResourceQuotaList",
        ],
    ),
    ("route.openshift.io/v1", &["Route", "RouteList"]),
    (
        "security.openshift.io/v1",
        &[
            "PodSecurityPolicyReview",
            "PodSecurityPolicySelfSubjectReview",
            "PodSecurityPolicySubjectReview",
            "SecurityContextConstraints",
            "SecurityContextConstraintsList",
        ],
    ),
    ("template.openshift.io/v1", &["ProcessedTemplate", "Template", "TemplateConfig", "TemplateList"]),
    (
        "user.openshift.io/v1",
        &["Group", "GroupList", "Identity", "IdentityList", "User", "UserIdentityMapping", "UserList"],
    ),
];

/// The `apiVersion` for a legacy kind with the `apiVersion` `v1`.
pub(super) fn grouped(kind: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, kinds)| kinds.contains(&kind)).map(|(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_kinds_have_no_group() {
        assert_eq!(grouped("Route"), Some("route.openshift.io/v1"));
        assert_eq!(grouped("DeploymentConfig"), Some("apps.openshift.io/v1"));
        for kind in ["Service", "ConfigMap", "Secret", "Pod", "ServiceAccount", "ReplicationController"] {
            assert_eq!(grouped(kind), None, "{kind}");
        }
        for (_, kinds) in GROUPS {
            assert!(kinds.is_sorted(), "{kinds:?}");
        }
    }
}
