//! Hovers on services: the service that a pod waits for, and the consumers of a service.

use crate::build::BuiltObject;
use crate::ide::Analysis;
use crate::ide::features::hover::objects::title;
use crate::ide::features::hover::{code, limited, text};
use crate::ide::shared::describe::{location_link, workload_title};
use crate::ide::shared::markup::{Block, Inline, Markup};
use crate::ide::shared::named_objects::{name_location, objects_named};
use crate::ide::shared::service_usage::{Consumer, consumers};
use crate::ide::shared::symbol::DefinedObject;
use crate::k8s::{ObjectData, Text};
use crate::resolve::OriginKind;
use crate::syntax::has_placeholder;

/// The hover on a service in `serviceDependencies`.
pub(super) fn dependency(analysis: &Analysis<'_>, object: BuiltObject<'_>, name: &Text) -> Option<Markup> {
    if has_placeholder(&name.value) {
        return None;
    }
    let found = objects_named(OriginKind::Service, &name.value, object);
    let mut blocks = vec![title(analysis, object, OriginKind::Service, &name.value, &found)];
    let line = "The pod starts when this service exists. It gets variables of the service only through links.";
    blocks.push(Block::Paragraph(vec![text(line)]));
    if let Some(ObjectData::Service(service)) = found.first().map(|it| &it.object.model.data) {
        let address = service.cluster_ip.as_ref().map(|it| vec![text("cluster IP "), code(it.value.to_string())]);
        let ports = service.ports.iter().filter_map(|it| {
            let protocol = it.protocol.as_ref().map_or("TCP", |it| &it.value);
            let mut line = vec![text("port "), code(it.port?.to_string()), text(&format!(" {protocol}"))];
            if let Some(name) = &it.name {
                line.extend([text(", named "), code(name.value.to_string())]);
            }
            Some(line)
        });
        let lines: Vec<Vec<Inline>> = address.into_iter().chain(ports).collect();
        if !lines.is_empty() {
            blocks.push(Block::List(limited(lines)));
        }
    }
    Some(Markup { blocks })
}

/// The consumers of a service, and its unused variables.
pub(super) fn consumer_blocks(analysis: &Analysis<'_>, object: BuiltObject<'_>) -> Vec<Block> {
    let of = DefinedObject { object, kind: OriginKind::Service };
    let consumers = consumers(analysis, &of);
    if consumers.all.is_empty() {
        return vec![Block::Paragraph(vec![text("No workload in this workspace uses it.")])];
    }
    let lines = consumers.all.iter().map(|it| line(analysis, object.file, it));
    let mut blocks =
        vec![Block::Paragraph(vec![text("Used in this workspace by:")]), Block::List(limited(lines.collect()))];
    match consumers.unused.len() {
        0 => {}
        number if number == consumers.variables => {
            blocks.push(Block::Paragraph(vec![text("No manifest in this workspace uses its variables.")]));
        }
        _ => {
            let mut line = vec![text("No manifest in this workspace uses ")];
            for (at, name) in consumers.unused.iter().take(6).enumerate() {
                line.extend((at > 0).then(|| text(", ")));
                line.push(code(name.clone()));
            }
            let more = consumers.unused.len().saturating_sub(6);
            line.push(text(&if more > 0 { format!(" and {more} more.") } else { ".".into() }));
            blocks.push(Block::Paragraph(line));
        }
    }
    blocks
}

fn line(analysis: &Analysis<'_>, from: &str, consumer: &Consumer<'_>) -> Vec<Inline> {
    let mut line = vec![code(workload_title(consumer.object)), text(", ")];
    line.push(location_link(analysis, from, &name_location(consumer.object)));
    let variables = match consumer.variables.len() {
        0 => None,
        1 => Some("uses 1 variable".to_owned()),
        number => Some(format!("uses {number} variables")),
    };
    let links = consumer.links.then(|| "links it".to_owned());
    let waits = consumer.waits.then(|| "waits for it".to_owned());
    let all: Vec<String> = links.into_iter().chain(waits).chain(variables).collect();
    line.push(text(&format!(": {}", all.join(", "))));
    line
}
