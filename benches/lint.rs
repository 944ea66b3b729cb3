//! Measures `podlens lint` on a large directory, relative to ripgrep and to parsing all files: `cargo bench --bench lint`.
//!
//! It generates 2,000 manifest files, among them large CRDs. The exit code is 1 if a budget is exceeded: at most 8 times as
//! long as ripgrep, faster than parsing all files on one core, at most 60 MB of memory.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs};

use podlens::load::{self, Loaded, Request};
use podlens::resolve::Resolver;
use podlens::rules::{self, SettingsLevels, TextProvider};
use podlens::workspace::ParsedText;
use rayon::prelude::*;

const FILES: usize = 2_000;
const ROUNDS: usize = 7;
/// The environment variable that makes this program check the directory once and print its peak memory.
const CHILD: &str = "PODLENS_BENCH_TREE";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints its results")]
fn main() -> ExitCode {
    let result = match env::var_os(CHILD) {
        Some(tree) => {
            let found = check(Path::new(&tree));
            println!("{found} {}", peak_memory());
            Ok(true)
        }
        None => report(),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "a benchmark prints its results")]
fn report() -> Result<bool> {
    let directory = tempfile::tempdir()?;
    let tree = directory.path();
    let bytes = generate(tree)?;
    println!("{FILES} files, {:.1} MB, {} cores", bytes as f64 / 1e6, rayon::current_num_threads());
    let (child_found, memory) = child(tree)?;
    // Alternately, so that other load on the machine affects both.
    let rg = || run(Command::new("rg").args(["-c", r"\$\("]).arg(tree));
    let has_rg = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok();
    let (mut ours, mut other) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        ours = ours.min(best_of(1, || _ = check(tree)));
        other = other.min(best_of(1, || _ = if has_rg { usize::from(rg()) } else { scan_all(tree) }));
    }
    let parsing = best_of(2, || parse_all(tree));
    println!("load and check   {:>8.1} ms   {child_found} findings", millis(ours));
    println!(
        "parse only       {:>8.1} ms   one core; load and check takes {:.2} of it",
        millis(parsing),
        ratio(ours, parsing)
    );
    let mut within_budget = ours < parsing;
    let binary = binary();
    if let Some(binary) = &binary {
        let command = || run(Command::new(binary).args(["lint", "--exit-zero", "--format", "concise"]).arg(tree));
        match command() {
            true => println!("podlens lint     {:>8.1} ms   the release binary", millis(best(|| _ = command()))),
            false => println!("podlens lint     failed"),
        }
    }
    let name = if has_rg { "rg -c '\\$\\('" } else { "memchr scan" };
    if !has_rg {
        println!("ripgrep is not installed: compared with a memchr scan on all cores instead");
    }
    println!(
        "{name:<16} {:>8.1} ms   load and check takes {:.1} times as long (budget 8)",
        millis(other),
        ratio(ours, other)
    );
    println!("peak memory      {:>8.1} MB   (budget 60 MB)", memory as f64 / 1024.0);
    within_budget &= ratio(ours, other) <= 8.0 && memory <= 60 * 1024;
    println!("{}", if within_budget { "all budgets met" } else { "budget exceeded" });
    Ok(within_budget)
}

/// Does the work of `podlens lint` without printing; returns the number of findings.
fn check(tree: &Path) -> usize {
    let loaded = load::load(Request { directory: tree, paths: &[], root: Some(tree), stdin_name: None, stdin: None });
    let snapshot = loaded.workspace.snapshot();
    let resolver = Resolver::new(&snapshot, None);
    let sources = Texts { loaded: &loaded, snapshot: &snapshot };
    let levels = SettingsLevels(&snapshot);
    let found =
        loaded.reported.par_iter().map(|path| rules::check(&snapshot, &resolver, path, &sources, &levels).len());
    found.sum()
}

struct Texts<'l> {
    loaded: &'l Loaded,
    snapshot: &'l podlens::workspace::Snapshot,
}

impl TextProvider for Texts<'_> {
    fn parsed_text(&self, path: &str) -> Option<Arc<ParsedText>> {
        Some(Arc::new(ParsedText::new(self.snapshot.file(path)?, self.loaded.text(path)?)))
    }
}

fn child(tree: &Path) -> Result<(usize, u64)> {
    let output = Command::new(env::current_exe()?).env(CHILD, tree).output()?;
    let printed = String::from_utf8(output.stdout)?;
    let (found, memory) = printed.trim().split_once(' ').ok_or("the child process printed nothing")?;
    Ok((found.parse()?, memory.parse()?))
}

/// The peak memory of this process in KiB; 0 on systems without `/proc`.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

fn parse_all(tree: &Path) {
    for path in files(tree) {
        let text = fs::read_to_string(path).unwrap_or_default();
        granit_parser::Parser::new_from_str(&text).for_each(drop);
    }
}

fn scan_all(tree: &Path) -> usize {
    let counts = files(tree).into_par_iter().map(|path| {
        let bytes = fs::read(path).unwrap_or_default();
        memchr::memmem::find_iter(&bytes, b"$(").count()
    });
    counts.sum()
}

fn files(tree: &Path) -> Vec<PathBuf> {
    ignore::Walk::new(tree).flatten().map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect()
}

fn binary() -> Option<PathBuf> {
    let target = env::current_exe().ok()?.ancestors().nth(2)?.to_owned();
    Some(target.join("podlens")).filter(|path| path.is_file())
}

fn run(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.code() != Some(2))
}

fn best(work: impl FnMut()) -> Duration {
    best_of(ROUNDS, work)
}

fn best_of(rounds: usize, mut work: impl FnMut()) -> Duration {
    let mut once = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(|_| once()).min().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

/// Generates a directory like a monorepo: applications with a few manifests each, and large CRDs. Returns its size.
fn generate(tree: &Path) -> Result<usize> {
    let mut bytes = 0;
    let mut write = |path: String, text: String| -> Result<()> {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap_or(tree))?;
        bytes += text.len();
        Ok(fs::write(path, text)?)
    };
    write("podlens.yaml".into(), "kubernetes: \"1.35\"\n".into())?;
    for file in 0..FILES {
        let app = file / 8;
        let directory = format!("team-{}/app-{app}", app % 25);
        match file % 8 {
            0 => write(format!("{directory}/deployment.yaml"), deployment(app))?,
            1 => write(format!("{directory}/service.yaml"), service(app))?,
            2 => write(format!("{directory}/config.yaml"), config(app))?,
            3 => write(format!("{directory}/rbac.yaml"), rbac(app))?,
            4 => write(format!("{directory}/ingress.yaml"), ingress(app))?,
            5 => write(format!("{directory}/monitoring.yaml"), rule(app))?,
            6 => write(format!("{directory}/job.yaml"), job(app))?,
            _ => write(format!("{directory}/crds/crd.yaml"), crd(app))?,
        }
    }
    Ok(bytes)
}

fn deployment(app: usize) -> String {
    let mut env = String::new();
    for at in 0..12 {
        let _ = write!(env, "            - name: SETTING_{at}\n              value: value-{at}-of-{app}\n");
    }
    let typo = if app.is_multiple_of(50) { "$(DB_HSOT)" } else { "$(DB_HOST)" };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{app}\n  namespace: team-{team}\n  labels:\n    \
         app.kubernetes.io/name: app-{app}\n    app.kubernetes.io/part-of: shop\nspec:\n  replicas: 3\n  selector:\n    \
         matchLabels:\n      app: app-{app}\n  template:\n    metadata:\n      labels:\n        app: app-{app}\n    spec:\n      \
         serviceAccountName: app-{app}\n      containers:\n        - name: app\n          image: example.org/app-{app}:1.2.3\n          \
         args:\n            - --db=postgres://{typo}:$(DB_PORT)/app\n            - --level=$(LOG_LEVEL)\n          \
         envFrom:\n            - configMapRef:\n                name: app-{app}\n          env:\n            \
         - name: DB_HOST\n              value: db-{app}\n            - name: DB_PORT\n              value: \"5432\"\n{env}          \
         ports:\n            - name: http\n              containerPort: 8080\n          readinessProbe:\n            httpGet:\n              \
         path: /ready\n              port: http\n          resources:\n            requests:\n              cpu: 100m\n              \
         memory: 128Mi\n            limits:\n              memory: 256Mi\n",
        team = app % 25
    )
}

fn service(app: usize) -> String {
    format!(
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: app-{app}\n  namespace: team-{}\nspec:\n  selector:\n    app: \
         app-{app}\n  ports:\n    - name: http\n      port: 80\n      targetPort: http\n",
        app % 25
    )
}

fn config(app: usize) -> String {
    let mut data = String::new();
    for at in 0..20 {
        let _ = writeln!(data, "  KEY_{at}: \"value {at} of application {app}\"");
    }
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app-{app}\n  namespace: team-{}\ndata:\n  LOG_LEVEL: info\n{data}  \
         run.sh: |\n    #!/bin/sh\n    exec serve --now=$(date +%s)\n",
        app % 25
    )
}

fn rbac(app: usize) -> String {
    let mut text = format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: app-{app}\n");
    for kind in ["Role", "ClusterRole"] {
        let _ = write!(
            text,
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: app-{app}\nrules:\n"
        );
        for group in ["\"\"", "apps", "batch", "networking.k8s.io", "policy"] {
            let _ = write!(
                text,
                "  - apiGroups: [{group}]\n    resources:\n      - pods\n      - deployments\n      - configmaps\n    verbs:\n      \
                 - get\n      - list\n      - watch\n"
            );
        }
    }
    text
}

fn ingress(app: usize) -> String {
    format!(
        "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: app-{app}\n  annotations:\n    \
         example.org/rewrite: /$1\nspec:\n  rules:\n    - host: app-{app}.example.org\n      http:\n        paths:\n          \
         - path: /(.*)\n            pathType: Prefix\n            backend:\n              service:\n                name: app-{app}\n                \
         port:\n                  name: http\n"
    )
}

fn rule(app: usize) -> String {
    let mut text = format!(
        "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata:\n  name: app-{app}\nspec:\n  groups:\n    - name: app\n      rules:\n"
    );
    for at in 0..15 {
        let _ = write!(
            text,
            "        - alert: Alert{at}\n          expr: rate(http_requests_total{{job=\"app-{app}\", code=~\"5..\"}}[5m]) > 0.{at}\n          \
             for: 10m\n          annotations:\n            summary: \"{{{{ $labels.instance }}}} is unwell\"\n"
        );
    }
    text
}

fn job(app: usize) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata:\n  name: backup-{app}\n  namespace: team-{}\nspec:\n  schedule: \"0 3 * * *\"\n  \
         jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n            \
         - name: backup\n              image: example.org/backup:1\n              command:\n                - sh\n                \
         - -c\n                - |\n                  pg_dump -h \"$HOST\" > /backup/$(date +%F).sql\n                  ls -l \
         /backup\n              env:\n                - name: HOST\n                  value: db-{app}\n",
        app % 25
    )
}

fn crd(app: usize) -> String {
    let mut text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: widgets-{app}.example.org\nspec:\n  \
         group: example.org\n  names:\n    kind: Widget\n    plural: widgets\n  scope: Namespaced\n  versions:\n    - name: v1\n      \
         schema:\n        openAPIV3Schema:\n          properties:\n            spec:\n              properties:\n                \
         containers:\n                  items:\n                    properties:\n"
    );
    // As large as CRDs of real operators: tens of kilobytes, some of them a megabyte.
    for at in 0..if app.is_multiple_of(25) { 4_000 } else { 250 } {
        let _ = write!(
            text,
            "                      field{at}:\n                        description: |-\n                          Variable references \
             $(VAR_NAME) are expanded using the container's environment. If a variable\n                          cannot be \
             resolved, the reference in the input string will be unchanged.\n                        type: string\n"
        );
    }
    text
}
