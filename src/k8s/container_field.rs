//! The fields of a container that hold texts with references, and which variables each of them sees.

use crate::k8s::model::{Container, Text};

/// A field of a container that holds a text. Numbers are indexes in the lists of [`Container`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerField {
    /// The value of an entry of `env`.
    EnvValue(usize),
    /// An item of `command`.
    Command(usize),
    /// An item of `args`.
    Args(usize),
    /// An item of the command of an exec probe: the index of the probe, then that of the item.
    ProbeCommand(usize, usize),
    /// `subPathExpr` of a volume mount.
    SubPathExpr(usize),
    /// A field in which Kubernetes expands nothing, by its index in `unexpanded`.
    Unexpanded(usize),
}

/// The variables that a reference can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    /// Those that are declared before the entry of `env` with this index (P1).
    EarlierEntries(usize),
    /// All variables of the container (P2, P4).
    All,
    /// Only values that are written in `env`, not expanded (P3).
    ProbeValues,
}

impl ContainerField {
    /// The variables that a reference in this field can use; `None` where Kubernetes expands none.
    pub fn variable_scope(self) -> Option<VariableScope> {
        match self {
            Self::EnvValue(index) => Some(VariableScope::EarlierEntries(index)),
            Self::Command(_) | Self::Args(_) | Self::SubPathExpr(_) => Some(VariableScope::All),
            Self::ProbeCommand(..) => Some(VariableScope::ProbeValues),
            Self::Unexpanded(_) => None,
        }
    }

    /// Whether it is part of the command of a probe.
    pub fn is_probe(self) -> bool {
        matches!(self, Self::ProbeCommand(..))
    }

    /// Whether it is a `subPathExpr`, where no variable may be missing or empty (P4).
    pub fn is_sub_path(self) -> bool {
        matches!(self, Self::SubPathExpr(_))
    }
}

impl Container {
    /// Every text that Kubernetes expands, in the order of expansion, then those with a `$` that it does not expand.
    pub fn texts(&self) -> impl Iterator<Item = (ContainerField, &Text)> {
        use ContainerField::{Args, Command, EnvValue, ProbeCommand, SubPathExpr, Unexpanded};
        let env = self.env.iter().enumerate().filter_map(|(at, it)| Some((EnvValue(at), it.value.as_ref()?)));
        let command = self.command.iter().enumerate().map(|(at, it)| (Command(at), it));
        let args = self.args.iter().enumerate().map(|(at, it)| (Args(at), it));
        let probes =
            self.probes.iter().enumerate().flat_map(|(probe, it)| {
                it.command.iter().enumerate().map(move |(at, it)| (ProbeCommand(probe, at), it))
            });
        let mounts = self.mounts.iter().enumerate();
        let sub_paths = mounts.filter_map(|(at, it)| Some((SubPathExpr(at), it.sub_path_expr.as_ref()?)));
        let unexpanded = self.unexpanded.iter().enumerate().map(|(at, (_, it))| (Unexpanded(at), it));
        env.chain(command).chain(args).chain(probes).chain(sub_paths).chain(unexpanded)
    }

    /// The field of an item of `command` followed by `args`, by its index in both.
    pub fn command_line_field(&self, index: usize) -> ContainerField {
        match index.checked_sub(self.command.len()) {
            None => ContainerField::Command(index),
            Some(index) => ContainerField::Args(index),
        }
    }
}
