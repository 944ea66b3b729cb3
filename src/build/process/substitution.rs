//! References to parameters in one object, replaced (T3.1 to T3.14).

use std::sync::Arc;

use crate::build::node::{BuiltContent, BuiltNode, BuiltScalar, ReferenceVisitor, Substituted, replaced_text};
use crate::build::origin::{BuiltBy, BuiltText, Place};
use crate::build::process::json::Json;
use crate::build::process::quirks::Quirk;
use crate::k8s::{FieldType, ParameterType, Parameters, ScalarType};
use crate::syntax::{ReferenceForm, ScalarStyle};

/// Replaces references to parameters, and collects quirks and errors.
#[derive(Debug)]
pub(super) struct Substitution<'p> {
    parameters: &'p Parameters,
    pub(super) quirks: Vec<Quirk>,
    pub(super) errors: Vec<String>,
}

impl<'p> Substitution<'p> {
    pub(super) fn new(parameters: &'p Parameters) -> Self {
        Self { parameters, quirks: Vec::new(), errors: Vec::new() }
    }

    /// A text outside of `objects`, where every reference gives a string.
    pub(super) fn string(&mut self, text: &Arc<str>) -> Arc<str> {
        if let Some((_, name)) = self.parameters.whole_reference(text) {
            return self.parameters.inserted_text(name).unwrap_or_else(|| Arc::clone(text));
        }
        self.inside(text, ScalarStyle::Plain).map_or_else(|| Arc::clone(text), |it| it.text)
    }

    /// A text with the references in it replaced; `None` if it has none.
    fn inside(&mut self, text: &Arc<str>, style: ScalarStyle) -> Option<BuiltScalar> {
        let substituted = self.parameters.substitute(text)?;
        if substituted.inserted_reference {
            self.quirks.push(Quirk::InsertedReference);
        }
        let built = BuiltText { written: Arc::clone(text), style, pieces: substituted.pieces };
        let text = built.pieces.iter().map(|it| &*it.text).collect::<String>().into();
        Some(BuiltScalar { text, is_string: true, written: Some(built) })
    }

    /// The number or boolean that the type of a parameter makes of its value; `None` if it is a string.
    fn typed(&self, name: &str, value: &str) -> Option<Arc<str>> {
        match self.parameters.get(name)?.type_? {
            ParameterType::Int => Some(value.parse::<i64>().ok()?.to_string().into()),
            ParameterType::Bool => value.parse::<bool>().ok().map(|it| it.to_string().into()),
            ParameterType::String | ParameterType::Base64 => None,
        }
    }

    /// The value of a parameter decoded as JSON; a text that is not JSON is a string. `None` for `null`.
    fn decoded(&mut self, name: &str) -> Option<Json<'static>> {
        let value = self.parameters.inserted_text(name)?;
        let is_known = self.parameters.get(name).is_some_and(|it| it.value.known().is_some());
        let decoded = if is_known { serde_json::from_str::<serde_json::Value>(&value).ok() } else { None };
        let Some(decoded) = decoded else { return Some(Json::Text(value.to_string().into())) };
        let mut lossy = false;
        let json = Json::decoded(decoded, &mut lossy);
        if lossy {
            self.quirks.push(Quirk::LostDigits);
        }
        (json != Json::Null).then_some(json)
    }
}

impl ReferenceVisitor for Substitution<'_> {
    fn value(&mut self, text: &Arc<str>, style: ScalarStyle, place: &Place, wanted: Option<ScalarType>) -> Substituted {
        let Some((form, name)) = self.parameters.whole_reference(text) else {
            let scalar = self.inside(text, style);
            return scalar.map_or(Substituted::Unchanged, |it| Substituted::Node(BuiltContent::Scalar(it)));
        };
        let reference = WholeReference { written: text, style, place, name };
        if form == ReferenceForm::Raw {
            return match self.decoded(name) {
                Some(json) => Substituted::Node(reference.content(&json)),
                None => {
                    self.quirks.push(Quirk::NullRemoves);
                    Substituted::Removed
                }
            };
        }
        let Some(value) = self.parameters.inserted_text(name) else { return Substituted::Unchanged };
        // PT2: where a string is wanted, every value stays a string.
        let typed = if wanted == Some(ScalarType::String) { None } else { self.typed(name, &value) };
        let scalar = reference.scalar(typed.as_ref().unwrap_or(&value), typed.is_none());
        Substituted::Node(BuiltContent::Scalar(scalar))
    }

    fn object_type(&self, api_version: &Arc<str>, kind: &Arc<str>) -> FieldType {
        let text = |it| self.parameters.substituted_text(it);
        FieldType::of_kind(&text(api_version), &text(kind))
    }

    fn key(&mut self, text: &Arc<str>, style: ScalarStyle) -> Option<BuiltScalar> {
        let Some((form, name)) = self.parameters.whole_reference(text) else { return self.inside(text, style) };
        let new: Arc<str> = if form == ReferenceForm::Raw {
            match self.decoded(name) {
                Some(Json::Text(key)) => (&*key).into(),
                _ => {
                    self.errors.push(format!("the key `{text}` becomes a value that is not a string"));
                    return None;
                }
            }
        } else {
            self.parameters.inserted_text(name)?
        };
        let written = replaced_text(text, style, &new, name);
        Some(BuiltScalar { text: new, is_string: true, written: Some(written) })
    }

    fn lost_item(&mut self) {
        self.errors.push("a list item becomes `null`, which is not allowed".into());
    }

    fn same_keys(&mut self) {
        self.quirks.push(Quirk::SameKeys);
    }
}

/// A scalar that is exactly one reference.
#[derive(Clone, Copy)]
struct WholeReference<'r> {
    written: &'r Arc<str>,
    style: ScalarStyle,
    place: &'r Place,
    name: &'r str,
}

impl WholeReference<'_> {
    fn scalar(self, text: &Arc<str>, is_string: bool) -> BuiltScalar {
        let written = replaced_text(self.written, self.style, text, self.name);
        BuiltScalar { text: Arc::clone(text), is_string, written: Some(written) }
    }

    /// The value of the parameter as the content of a node. Every part of it comes from the reference.
    fn content(self, json: &Json<'_>) -> BuiltContent {
        let node =
            |json: &Json<'_>| BuiltNode { place: self.place.clone(), by: BuiltBy::Source, content: self.content(json) };
        match json {
            Json::Text(text) => BuiltContent::Scalar(self.scalar(&Arc::from(&**text), true)),
            Json::List(items) => BuiltContent::List(items.iter().map(node).collect()),
            Json::Map(entries) => BuiltContent::Map(
                entries.iter().map(|(key, value)| (node(&Json::Text(key.clone())), Some(node(value)))).collect(),
            ),
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::Float(_) => {
                BuiltContent::Scalar(self.scalar(&json.to_string().into(), false))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::node::BuildLimits;
    use crate::k8s::{ParameterValue, read_template};
    use crate::syntax::parse;

    fn parameters(list: &[(&str, &str, &str)], api_version: &str) -> Parameters {
        let entries = list.iter().map(|(name, _, type_)| match *type_ {
            "" => format!("{{name: {name:?}}}"),
            type_ => format!("{{name: {name:?}, type: {type_}}}"),
        });
        let list_text = entries.collect::<Vec<_>>().join(", ");
        let text = format!("apiVersion: {api_version}\nkind: Template\nobjects: []\nparameters: [{list_text}]\n");
        let tree = parse(&text);
        let (_, _, template) = read_template(tree.documents().next().expect("a document")).expect("a template");
        let given = |value: &str| ParameterValue::Given { value: value.into(), file: None };
        template.exported.with_values(list.iter().map(|(name, value, _)| (Arc::from(*name), given(value))))
    }

    /// The JSON of a mapping with one value after substitution.
    fn shown(parameters: &Parameters, value: &str) -> (String, Vec<String>) {
        let tree = parse(value);
        let root = tree.documents().next().and_then(|it| it.root()).expect("a root");
        let mut built = BuiltNode::from_source(root.to_owned_node());
        let mut substitution = Substitution::new(parameters);
        let mut limits = BuildLimits::strict(value.len());
        built.visit_references(&mut limits, &mut substitution).expect("built");
        let (tree, _) = built.finish(&mut limits).expect("finished");
        (Json::read(tree.node()).expect("JSON").to_string(), substitution.errors)
    }

    const VALUES: &[(&str, &str, &str)] = &[
        ("A", "a", ""),
        ("N", "3", ""),
        ("B", "${A}", ""),
        ("E", "", ""),
        ("PAIR", "{A}", ""),
        ("null", "null", ""),
        ("BIG", "9007199254740993", ""),
        ("Q", "\"q\"", ""),
        ("F", "1.50", ""),
        ("MAP", "{\"b\":1,\"a\":[true]}", ""),
        ("PAD", " 7 ", ""),
    ];

    #[test]
    fn references_are_replaced() {
        let values = parameters(VALUES, "template.openshift.io/v1");
        for (text, expected) in [
            ("${A}", r#""a""#),
            ("x-${A}-${A}y", r#""x-a-ay""#),
            ("${NOPE}${A}", r#""${NOPE}a""#),
            ("${a}", r#""${a}""#),
            ("$${A}", r#""$a""#),
            (r"\${A}", r#""\\a""#),
            ("${A:-x} ${A-b} ${ A }", r#""${A:-x} ${A-b} ${ A }""#),
            ("$(A) $((A))", r#""$(A) $((A))""#),
            ("${{N}}", "3"),
            ("a${{N}}", r#""a${{N}}""#),
            ("${{N}} ", r#""${{N}} ""#),
            ("${{NOPE}}", r#""${{NOPE}}""#),
            ("${{A}}", r#""a""#),
            ("${{E}}", r#""""#),
            ("${{Q}}", r#""q""#),
            ("${{F}}", "1.5"),
            ("${{PAD}}", "7"),
            ("${{BIG}}", "9007199254740992"),
            ("${{MAP}}", r#"{"a":[true],"b":1}"#),
            ("${null}", r#""null""#),
            // An inserted value is not processed again, but its text is found first.
            ("${B}", r#""${A}""#),
            ("${B}-${A}", r#""a-${A}""#),
            ("$${PAIR}|${A}", r#""a|${A}""#),
            ("${A}-${B}", r#""a-${A}""#),
        ] {
            let (found, errors) = shown(&values, &format!("v: '{text}'"));
            assert_eq!((found, errors.len()), (format!("{{\"v\":{expected}}}"), 0), "{text}");
        }
        assert_eq!(shown(&values, "{v: '${{null}}', w: 1}").0, r#"{"w":1}"#, "null removes the key");
        let proposed = parameters(VALUES, "v1");
        for (text, expected) in [("$(A)", r#""a""#), ("x$(A)${A}$(NOPE)", r#""xaa$(NOPE)""#), ("$$(A)", r#""$$(A)""#)] {
            assert_eq!(shown(&proposed, &format!("v: '{text}'")).0, format!("{{\"v\":{expected}}}"), "{text}");
        }
    }

    #[test]
    fn types_of_the_proposal() {
        let values = parameters(&[("N", "3", "int"), ("B", "true", "bool"), ("S", "3", "string")], "v1");
        let text = "{a: $(N), b: $(B), c: $(S), d: x$(N), e: '${N}', $(N): 1}";
        assert_eq!(shown(&values, text).0, r#"{"3":1,"a":3,"b":true,"c":"3","d":"x3","e":"3"}"#);
    }

    #[test]
    fn a_field_that_wants_a_string_gets_one() {
        let values = parameters(
            &[("N", "007", "int"), ("B", "true", "bool"), ("KIND", "ConfigMap", ""), ("K", "data", "")],
            "v1",
        );
        for (object, expected) in [
            ("kind: Pod, spec: {priority: $(N)}", r#""kind":"Pod","spec":{"priority":7}"#),
            ("kind: Pod, spec: {hostNetwork: $(B)}", r#""kind":"Pod","spec":{"hostNetwork":true}"#),
            (
                "kind: Pod, spec: {containers: [{args: [$(N)], env: [{name: $(N), value: $(B)}]}]}",
                r#""kind":"Pod","spec":{"containers":[{"args":["007"],"env":[{"name":"007","value":"true"}]}]}"#,
            ),
            ("kind: $(KIND), $(K): {a.b: $(N)}", r#""data":{"a.b":"007"},"kind":"ConfigMap""#),
            (
                "kind: Any, metadata: {labels: {a: $(B)}}, b: $(N)",
                r#""b":7,"kind":"Any","metadata":{"labels":{"a":"true"}}"#,
            ),
            (
                "kind: List, items: [{apiVersion: v1, kind: Secret, stringData: {a: $(N)}}]",
                r#""items":[{"apiVersion":"v1","kind":"Secret","stringData":{"a":"007"}}],"kind":"List""#,
            ),
        ] {
            let (found, _) = shown(&values, &format!("{{apiVersion: v1, {object}}}"));
            assert_eq!(found, format!(r#"{{"apiVersion":"v1",{expected}}}"#), "{object}");
        }
    }

    #[test]
    fn crashes_of_oc_are_errors() {
        let values = parameters(VALUES, "template.openshift.io/v1");
        assert_eq!(shown(&values, "{'${{A}}': 1}"), (r#"{"a":1}"#.into(), Vec::new()));
        assert_eq!(shown(&values, "{'${{N}}': 1, '${{null}}': 2}").1.len(), 2);
        assert_eq!(shown(&values, "v: ['${{null}}']").1.len(), 1);
    }
}
