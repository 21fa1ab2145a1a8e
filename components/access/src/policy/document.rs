//! A policy text as nested statements, whichever of HCL and JSON it is written in.

use std::fmt;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::{Body, Structure};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::api::PolicyError;

/// A key with its value. Repeated keys are repeated statements: a later one never hides an earlier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// As written.
    pub(super) key: String,
    /// Where it stands, counted from 1.
    pub(super) line: u32,
    /// What it holds.
    pub(super) value: Value,
}

/// What a statement holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A string without interpolation.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A block or an object.
    Statements(Vec<Statement>),
    /// Anything else; no key of a policy takes it.
    Other,
}

/// The statements of `text`.
pub(super) fn read(text: &str) -> Result<Vec<Statement>, PolicyError> {
    if text.trim_start().starts_with('{') {
        read_json(text)
    } else {
        read_hcl(text)
    }
}

fn read_hcl(text: &str) -> Result<Vec<Statement>, PolicyError> {
    let body = hcl_edit::parser::parse_body(text).map_err(|error| {
        let (line, column) = (error.location().line(), error.location().column());
        PolicyError::Syntax(format!("line {line}, column {column}: {}", error.message()))
    })?;
    Ok(body_statements(text, &body))
}

fn line_at(text: &str, offset: usize) -> u32 {
    let breaks = text
        .bytes()
        .take(offset)
        .filter(|byte| *byte == b'\n')
        .count();
    u32::try_from(breaks).unwrap_or(u32::MAX).saturating_add(1)
}

fn body_statements(text: &str, body: &Body) -> Vec<Statement> {
    body.iter()
        .map(|structure| match structure {
            Structure::Attribute(attribute) => Statement {
                key: attribute.key.as_str().to_owned(),
                line: line_of(text, attribute.key.span()),
                value: expression_value(text, &attribute.value),
            },
            Structure::Block(block) => {
                let line = line_of(text, block.ident.span());
                // `path "x" { .. }` says the same as `path = { x = { .. } }`.
                let value = block.labels.iter().rev().fold(
                    Value::Statements(body_statements(text, &block.body)),
                    |value, label| {
                        let key = label.as_str().to_owned();
                        Value::Statements(vec![Statement { key, line, value }])
                    },
                );
                Statement {
                    key: block.ident.as_str().to_owned(),
                    line,
                    value,
                }
            }
        })
        .collect()
}

fn line_of(text: &str, span: Option<std::ops::Range<usize>>) -> u32 {
    line_at(text, span.map_or(0, |span| span.start))
}

fn expression_value(text: &str, expression: &Expression) -> Value {
    match expression {
        Expression::String(string) => Value::Text(string.as_str().to_owned()),
        Expression::HeredocTemplate(heredoc) => heredoc
            .template
            .as_single_element()
            .and_then(|element| element.as_literal())
            .map_or(Value::Other, |literal| Value::Text(literal.to_string())),
        Expression::Array(array) => Value::List(
            array
                .iter()
                .map(|element| expression_value(text, element))
                .collect(),
        ),
        Expression::Object(object) => {
            let statements = object.iter().map(|(key, value)| {
                let (name, span) = match key {
                    ObjectKey::Ident(ident) => (Some(ident.as_str()), ident.span()),
                    ObjectKey::Expression(expression) => (expression.as_str(), expression.span()),
                };
                Some(Statement {
                    key: name?.to_owned(),
                    line: line_of(text, span),
                    value: expression_value(text, value.expr()),
                })
            });
            statements
                .collect::<Option<Vec<_>>>()
                .map_or(Value::Other, Value::Statements)
        }
        _ => Value::Other,
    }
}

fn read_json(text: &str) -> Result<Vec<Statement>, PolicyError> {
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        PolicyError::Syntax(format!("line {line}, column {column}: malformed JSON"))
    })?;
    let Value::Statements(mut statements) = value else {
        return Err(PolicyError::Syntax(
            "line 1, column 1: not an object".to_owned(),
        ));
    };
    number_lines(text, &mut statements);
    Ok(statements)
}

/// JSON is read without positions; a key's line is that of its first appearance.
fn number_lines(text: &str, statements: &mut [Statement]) {
    for statement in statements {
        let quoted = serde_json::Value::String(statement.key.clone()).to_string();
        statement.line = line_at(text, text.find(&quoted).unwrap_or(0));
        number_lines_within(text, &mut statement.value);
    }
}

fn number_lines_within(text: &str, value: &mut Value) {
    match value {
        Value::Statements(statements) => number_lines(text, statements),
        Value::List(values) => {
            for value in values {
                number_lines_within(text, value);
            }
        }
        Value::Text(_) | Value::Other => {}
    }
}

/// Reads JSON without losing repeated keys, which the usual map type would.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON value")
            }

            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = sequence.next_element()? {
                    values.push(value);
                }
                Ok(Value::List(values))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut statements = Vec::new();
                while let Some((key, value)) = map.next_entry()? {
                    let line = 1;
                    statements.push(Statement { key, line, value });
                }
                Ok(Value::Statements(statements))
            }
        }

        deserializer.deserialize_any(ValueVisitor)
    }
}
