//! Manifests that several tests share. Those in constants are macros.

/// The first lines of a pod; its `spec` follows.
pub(crate) const POD_HEAD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n";

/// A pod: the lines before `kind`, the name, and the lines of the container `main` after its name.
macro_rules! pod {
    ($before:literal, $name:literal, $container:literal) => {
        concat!($before, "kind: Pod\nmetadata: {name: ", $name, "}\nspec:\n  containers:\n  - name: main\n", $container)
    };
}

/// The pod of the tests of commands: it has a reference that nothing defines, and more entries of `env` follow.
macro_rules! pod_for_commands {
    ($entries:literal) => {
        concat!(
            "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n    - name: main\n      image: app\n",
            "      env:\n        - {name: A, value: é $(NOPE)}\n",
            $entries
        )
    };
}

pub(crate) use {pod, pod_for_commands};
