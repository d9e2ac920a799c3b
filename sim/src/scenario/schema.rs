//! A JSON Schema of the scenario file, from the same declarations by which it is read. Editors use
//! it to complete keys; the reader itself checks more than a schema can say.

use super::distribution::DISTRIBUTION;
use super::file::SCENARIO;
use super::reader::toml_value;
use super::shape::{Fallback, KeyDoc, Kind, Shape};
use serde_json::{Map, Value, json};

/// The pattern of a length of time with its unit.
const DURATION: &str = r"^\s*([0-9.]+\s*(ms|s|m|h|d)\s*)+$";

/// The JSON Schema (draft 2020-12) of a scenario file.
#[must_use]
pub fn schema() -> Value {
    let mut root = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sandpool scenario",
    });
    extend(&mut root, of_shape(&SCENARIO));
    let mut definition = json!({ "description": DISTRIBUTION.doc });
    let forms = of_shape(&DISTRIBUTION);
    extend(&mut definition, json!({ "anyOf": [{ "type": "number", "minimum": 0 }, forms] }));
    extend(&mut root, json!({ "$defs": { "distribution": definition } }));
    root
}

fn extend(target: &mut Value, more: Value) {
    if let (Value::Object(target), Value::Object(more)) = (target, more) {
        target.extend(more);
    }
}

fn of_shape(shape: &Shape) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in shape.keys() {
        properties.insert(key.name.to_owned(), of_key(key));
        if matches!(key.default, Fallback::Required) {
            required.push(key.name);
        }
    }
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if shape.path == "variant" {
        // Besides its own keys a variant takes paths in quotes.
        extend(
            &mut schema,
            json!({ "patternProperties": { r"^[a-z_]+\.": {} }, "additionalProperties": false }),
        );
        // What a variant overrides need not be complete.
        strip_required(&mut schema);
    }
    if !required.is_empty() {
        extend(&mut schema, json!({ "required": required }));
    }
    schema
}

fn strip_required(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") {
                fields.remove("required");
            }
            fields.values_mut().for_each(strip_required);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_required),
        _ => {}
    }
}

fn of_key(key: &KeyDoc) -> Value {
    let mut description = key.doc.to_owned();
    if let Some(zero) = key.zero {
        description.push_str(&format!(" 0: {zero}."));
    }
    if let Fallback::Unset(meaning) = key.default
        && !meaning.is_empty()
    {
        description.push_str(&format!(" Default: {meaning}."));
    }
    let mut schema = of_kind(&key.kind);
    extend(&mut schema, json!({ "description": description }));
    if let Fallback::Is(text) = &key.default {
        let default = serde_json::to_value(toml_value(text).to_toml()).unwrap_or(Value::Null);
        extend(&mut schema, json!({ "default": default }));
    }
    schema
}

fn of_kind(kind: &Kind) -> Value {
    let or_unlimited = |schema: Value, unlimited: bool| {
        if unlimited { json!({ "anyOf": [schema, { "const": "unlimited" }] }) } else { schema }
    };
    match *kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Count { min, max, unlimited } => {
            or_unlimited(json!({ "type": "integer", "minimum": min, "maximum": max }), unlimited)
        }
        Kind::Number { min, max, unlimited, .. } => {
            or_unlimited(json!({ "type": "number", "minimum": min, "maximum": max }), unlimited)
        }
        Kind::Duration => json!({ "type": "string", "pattern": DURATION }),
        Kind::WarmUp => {
            json!({ "anyOf": [{ "const": "mser5" }, { "type": "string", "pattern": DURATION }] })
        }
        Kind::Durations => {
            json!({ "type": "array", "items": { "type": "string", "pattern": DURATION } })
        }
        Kind::Numbers { min, max, .. } => json!({
            "type": "array",
            "minItems": 1,
            "items": { "type": "number", "minimum": min, "maximum": max },
        }),
        Kind::Distribution { .. } => json!({ "$ref": "#/$defs/distribution" }),
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::CountByClass { min, max } => {
            let count = json!({ "type": "integer", "minimum": min, "maximum": max });
            json!({ "anyOf": [count, { "type": "object", "additionalProperties": count }] })
        }
        Kind::Prepare => json!({ "type": ["boolean", "object"] }),
        // A mixture holds distributions, whose shape is the one being described.
        Kind::Tables(shape) if shape.path == "DISTRIBUTION.mixture" => json!({
            "type": "array",
            "minItems": 1,
            "items": { "type": "object", "required": ["weight"] },
        }),
        Kind::Table(shape) => of_shape(shape),
        Kind::Tables(shape) => json!({ "type": "array", "items": of_shape(shape) }),
        Kind::Named { value, .. } => {
            json!({ "type": "object", "additionalProperties": of_kind(value) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandpool_core::KEYS;

    #[test]
    fn every_policy_key_is_in_the_schema_with_its_default() {
        let schema = schema();
        let server = &schema["properties"]["server"]["properties"];
        for key in KEYS {
            assert!(server[key.name].is_object(), "{}", key.name);
            assert!(!server[key.name]["default"].is_null(), "{}", key.name);
            let in_variant = &schema["properties"]["variant"]["items"]["properties"]["server"];
            assert!(in_variant["properties"][key.name].is_object(), "{}", key.name);
        }
        assert_eq!(server["idle_seconds"]["default"], json!(900));
        assert_eq!(server["start_policy"]["enum"][0], json!("on_turn"));
        assert_eq!(server.as_object().unwrap().len(), KEYS.len());
    }

    #[test]
    fn every_key_of_every_shape_is_in_the_schema() {
        let text = schema().to_string();
        for shape in super::super::reference::shapes() {
            for key in shape.keys() {
                assert!(text.contains(&format!("\"{}\"", key.name)), "{}.{}", shape.path, key.name);
            }
        }
    }

    #[test]
    fn only_the_traffic_is_required() {
        let schema = schema();
        assert_eq!(schema["required"], json!(["workload"]));
        assert_eq!(schema["properties"]["workload"]["required"], json!(["arrivals"]));
        let variant = &schema["properties"]["variant"]["items"];
        assert_eq!(variant["required"], json!(["name"]));
        assert!(variant["properties"]["workload"].get("required").is_none());
    }
}
