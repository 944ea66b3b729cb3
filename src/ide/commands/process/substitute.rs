//! References to parameters in one object, replaced (T3.1 to T3.14).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use memchr::memmem;

use crate::ide::commands::process::json::{Json, ScalarVisitor};
use crate::ide::commands::process::parameter_values::FinalValue;
use crate::ide::commands::process::quirks::Quirk;
use crate::resolve::ParameterType as Type;
use crate::syntax::{ReferenceForm, parameter_references};

/// Replaces references to parameters, and collects quirks and errors.
#[derive(Debug)]
pub(super) struct Substitution<'v> {
    pub(super) values: &'v HashMap<Arc<str>, FinalValue>,
    /// Whether `$(P)` is a reference.
    pub(super) proposed: bool,
    pub(super) quirks: Vec<Quirk>,
    pub(super) errors: Vec<String>,
}

impl<'v> Substitution<'v> {
    pub(super) fn new(values: &'v HashMap<Arc<str>, FinalValue>, proposed: bool) -> Self {
        Self { values, proposed, quirks: Vec::new(), errors: Vec::new() }
    }

    /// A text with its references replaced, as a string.
    pub(super) fn string<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        match self.whole(text) {
            Some((_, it)) => it.value.to_string().into(),
            None => self.inside(text),
        }
    }

    /// The parameter of a text that is exactly one reference, in a form that may give a value other than a string.
    fn whole(&self, text: &str) -> Option<(ReferenceForm, &'v FinalValue)> {
        let is_candidate = text.starts_with("${{") || self.proposed && text.starts_with("$(");
        let found = is_candidate.then(|| parameter_references(text, self.proposed).into_iter().next()).flatten()?;
        let is_whole = found.range == (0..text.len()) && found.form != ReferenceForm::Text;
        self.values.get(&text[found.name]).filter(|_| is_whole).map(|it| (found.form, it))
    }

    /// Replaces references inside a text. As in `oc process`, each reference is replaced at the first occurrence of its
    /// text in the result so far. That is the reference itself, unless an inserted value contains the same text.
    fn inside<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let mut references = parameter_references(text, self.proposed);
        references.retain(|it| it.form != ReferenceForm::Raw);
        let mut out = String::new();
        let mut at = 0;
        for (index, reference) in references.iter().enumerate() {
            let Some(parameter) = self.values.get(&text[reference.name.clone()]) else { continue };
            out.push_str(&text[at..reference.range.start]);
            let written = &text[reference.range.clone()];
            if memmem::find(out.as_bytes(), written.as_bytes()).is_some() {
                out.push_str(&text[reference.range.start..]);
                self.quirks.push(Quirk::InsertedReference);
                let rest = references[index..].iter().map(|it| (&text[it.range.clone()], &text[it.name.clone()]));
                return self.replace_first(out, rest).into();
            }
            out.push_str(&parameter.value);
            at = reference.range.end;
        }
        if at == 0 {
            return text.into();
        }
        out.push_str(&text[at..]);
        out.into()
    }

    fn replace_first<'n>(&self, mut out: String, rest: impl Iterator<Item = (&'n str, &'n str)>) -> String {
        for (written, name) in rest {
            if let Some(parameter) = self.values.get(name) {
                out = out.replacen(written, &parameter.value, 1);
            }
        }
        out
    }

    /// A value decoded as JSON; a text that is not JSON is a string.
    fn decoded<'t>(&mut self, value: &str) -> Option<Json<'t>> {
        let Ok(decoded) = serde_json::from_str::<serde_json::Value>(value) else {
            return Some(Json::Text(value.to_owned().into()));
        };
        let mut lossy = false;
        let json = Json::decoded(decoded, &mut lossy);
        if lossy {
            self.quirks.push(Quirk::LostDigits);
        }
        (json != Json::Null).then_some(json)
    }
}

impl<'t> ScalarVisitor<'t> for Substitution<'_> {
    fn value(&mut self, text: &'t str) -> Option<Json<'t>> {
        match self.whole(text) {
            Some((ReferenceForm::Raw, it)) => {
                let json = self.decoded(&it.value);
                if json.is_none() {
                    self.quirks.push(Quirk::NullRemoves);
                }
                json
            }
            Some((_, it)) => Some(match it.type_ {
                Some(Type::Int) if !it.value.is_empty() => {
                    it.value.parse().map_or_else(|_| Json::Text(it.value.to_string().into()), Json::Int)
                }
                Some(Type::Bool) if !it.value.is_empty() => Json::Bool(&*it.value == "true"),
                _ => Json::Text(it.value.to_string().into()),
            }),
            None => Some(Json::Text(self.inside(text))),
        }
    }

    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        if let Some((ReferenceForm::Raw, it)) = self.whole(&text) {
            match self.decoded(&it.value) {
                Some(Json::Text(key)) => return key,
                _ => {
                    let message = format!("the key `{text}` becomes a value that is not a string");
                    self.errors.push(message);
                    return text;
                }
            }
        }
        match text {
            Cow::Borrowed(text) => self.string(text),
            Cow::Owned(text) => Cow::Owned(self.string(&text).into_owned()),
        }
    }

    fn lost_item(&mut self) {
        self.errors.push("a list item becomes `null`, which is not allowed".into());
    }

    fn same_keys(&mut self, _: &str) {
        self.quirks.push(Quirk::SameKeys);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &[(&str, &str)]) -> HashMap<Arc<str>, FinalValue> {
        list.iter().map(|(name, value)| ((*name).into(), FinalValue { value: (*value).into(), type_: None })).collect()
    }

    #[test]
    fn references_are_replaced() {
        let values = values(&[
            ("A", "a"),
            ("N", "3"),
            ("B", "${A}"),
            ("E", ""),
            ("PAIR", "{A}"),
            ("null", "null"),
            ("BIG", "9007199254740993"),
            ("Q", "\"q\""),
            ("F", "1.50"),
            ("MAP", "{\"b\":1,\"a\":[true]}"),
            ("PAD", " 7 "),
        ]);
        let shown = |text: &'static str, proposed: bool| {
            let mut it = Substitution::new(&values, proposed);
            match it.value(text) {
                Some(json) => serde_json::to_string(&json).expect("JSON"),
                None => "removed".to_owned(),
            }
        };
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
            ("${{N}}\n", r#""${{N}}\n""#),
            ("${{NOPE}}", r#""${{NOPE}}""#),
            ("${{A}}", r#""a""#),
            ("${{E}}", r#""""#),
            ("${{Q}}", r#""q""#),
            ("${{F}}", "1.5"),
            ("${{PAD}}", "7"),
            ("${{BIG}}", "9007199254740992"),
            ("${{MAP}}", r#"{"a":[true],"b":1}"#),
            ("${{null}}", "removed"),
            ("${null}", r#""null""#),
            // An inserted value is not processed again, but its text is found first.
            ("${B}", r#""${A}""#),
            ("${B}-${A}", r#""a-${A}""#),
            ("$${PAIR}|${A}", r#""a|${A}""#),
            ("${A}-${B}", r#""a-${A}""#),
        ] {
            assert_eq!(shown(text, false), expected, "{text}");
        }
        for (text, expected) in [("$(A)", r#""a""#), ("x$(A)${A}$(NOPE)", r#""xaa$(NOPE)""#), ("$$(A)", r#""$$(A)""#)] {
            assert_eq!(shown(text, true), expected, "{text}");
        }
    }

    #[test]
    fn types_of_the_proposal() {
        let mut values = values(&[("N", "3"), ("B", "true"), ("S", "3")]);
        for (name, type_) in [("N", Type::Int), ("B", Type::Bool), ("S", Type::String)] {
            values.get_mut(name).expect("a value").type_ = Some(type_);
        }
        let mut it = Substitution::new(&values, true);
        assert_eq!(it.value("$(N)"), Some(Json::Int(3)));
        assert_eq!(it.value("$(B)"), Some(Json::Bool(true)));
        assert_eq!(it.value("$(S)"), Some(Json::Text("3".into())));
        assert_eq!(it.value("x$(N)"), Some(Json::Text("x3".into())));
        assert_eq!(it.value("${N}"), Some(Json::Text("3".into())));
        assert_eq!(it.key("$(N)".into()), "3");
    }

    #[test]
    fn crashes_of_oc_are_errors() {
        let values = values(&[("N", "3"), ("A", "a"), ("null", "null")]);
        let mut it = Substitution::new(&values, false);
        assert_eq!(it.key("${{A}}".into()), "a");
        assert!(it.errors.is_empty());
        it.key("${{N}}".into());
        it.key("${{null}}".into());
        assert_eq!(it.errors.len(), 2, "{:?}", it.errors);
    }
}
