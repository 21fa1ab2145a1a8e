//! A policy text as nested statements, whichever of HCL 1 and JSON it is written in.
//!
//! Policies are written in the first version of HCL. Libraries exist for the second one only, which is another language: it
//! refuses a brace on the next line, several attributes on one line, quoted keys and commas between members, and it gives `${`
//! and `%{` a meaning, all of which policies in the field rest on. Hence this reader, which knows no more than what policies
//! need. It takes each character once, and its recursion ends at [`MAXIMUM_DEPTH`].

use super::lexer::{Dialect, Lexer, Position, Token};
use crate::api::PolicyError;

/// Most blocks, objects and lists within each other.
const MAXIMUM_DEPTH: usize = 32;
/// Most statements of one text, at all levels together.
const MAXIMUM_STATEMENTS: usize = 16_384;

/// The key of rules.
pub(super) const PATH: &str = "path";

/// A key with its value. Repeated keys are repeated statements: a later one never hides an earlier.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// As written, quotes removed.
    pub(super) key: String,
    /// The label between the key and the value: the `"x"` of `path "x" { .. }`.
    pub(super) labels: Vec<String>,
    /// Where it stands, counted from 1.
    pub(super) line: u32,
    /// Its value.
    pub(super) value: Value,
}

/// The value of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A string; nothing in it is interpolated.
    Text(String),
    /// A number as it is written.
    Number(String),
    Boolean(bool),
    /// JSON only.
    Null,
    List(Vec<Value>),
    /// A block or an object.
    Statements(Vec<Statement>),
}

/// The statements of the policy `text`.
pub(super) fn read(text: &str) -> Result<Vec<Statement>, PolicyError> {
    if text.contains('\0') {
        return Err(PolicyError::Syntax(
            "the text holds a zero character".to_owned(),
        ));
    }
    if !text.trim_start().starts_with('{') {
        return Reader::new(text, Dialect::Hcl).statements(&Token::End, 0);
    }
    match read_json(text)? {
        Value::Statements(statements) => Ok(statements.into_iter().flat_map(labelled).collect()),
        _ => Ok(Vec::new()),
    }
}

/// The one value of the JSON `text`.
pub(super) fn read_json(text: &str) -> Result<Value, PolicyError> {
    let mut reader = Reader::new(text, Dialect::Json);
    let value = reader.value(0)?;
    reader.expect(&Token::End, "the text ends after its value")?;
    Ok(value)
}

/// `{"path":{"x":{..}}}` says `path "x" { .. }`. Generators write lists of such objects too, of one each or of several.
fn labelled(statement: Statement) -> Vec<Statement> {
    let is_object = |value: &Value| matches!(value, Value::Statements(_));
    match statement.value {
        Value::List(objects) if statement.key == PATH && objects.iter().all(is_object) => {
            let one = |value| Statement {
                key: statement.key.clone(),
                labels: Vec::new(),
                line: statement.line,
                value,
            };
            objects.into_iter().map(one).flat_map(labelled).collect()
        }
        Value::Statements(inner)
            if statement.key == PATH && inner.iter().all(Statement::is_block) =>
        {
            inner
                .into_iter()
                .map(|inner| Statement {
                    key: statement.key.clone(),
                    labels: vec![inner.key],
                    line: inner.line,
                    value: inner.value,
                })
                .collect()
        }
        _ => vec![statement],
    }
}

impl Statement {
    const fn is_block(&self) -> bool {
        matches!(self.value, Value::Statements(_))
    }
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    ahead: Option<(Token, Position)>,
    statements: usize,
}

impl<'t> Reader<'t> {
    const fn new(text: &'t str, dialect: Dialect) -> Self {
        Self {
            lexer: Lexer::new(text, dialect),
            ahead: None,
            statements: 0,
        }
    }

    fn next(&mut self) -> Result<(Token, Position), PolicyError> {
        match self.ahead.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    /// Takes the next token if it is `wanted`.
    fn skip(&mut self, wanted: &Token) -> Result<bool, PolicyError> {
        let (token, position) = self.next()?;
        let found = token == *wanted;
        if !found {
            self.ahead = Some((token, position));
        }
        Ok(found)
    }

    fn expect(&mut self, wanted: &Token, reason: &str) -> Result<(), PolicyError> {
        let (token, position) = self.next()?;
        if token == *wanted {
            Ok(())
        } else {
            Err(position.refuse(&format!("{reason}, got {}", token.name())))
        }
    }

    /// The statements up to `end`, which is taken. A comma may follow each; in JSON it separates them.
    fn statements(&mut self, end: &Token, depth: usize) -> Result<Vec<Statement>, PolicyError> {
        let mut statements = Vec::new();
        while !self.skip(end)? {
            statements.push(self.statement(depth)?);
            let separated = self.skip(&Token::Comma)?;
            if self.lexer.dialect() == Dialect::Json && !separated {
                self.expect(end, "members are separated by commas")?;
                break;
            }
        }
        Ok(statements)
    }

    fn statement(&mut self, depth: usize) -> Result<Statement, PolicyError> {
        let (token, position) = self.next()?;
        self.statements += 1;
        if self.statements > MAXIMUM_STATEMENTS {
            let reason = format!("more than {MAXIMUM_STATEMENTS} statements");
            return Err(position.refuse(&reason));
        }
        let key = match token {
            Token::Word(key) | Token::Text(key) => key,
            other => {
                let reason = format!("expected a key, got {}", other.name());
                return Err(position.refuse(&reason));
            }
        };
        let mut labels = Vec::new();
        let value = loop {
            let (token, position) = self.next()?;
            match token {
                Token::Assign if labels.is_empty() => break self.value(depth)?,
                Token::OpenBrace if self.lexer.dialect() == Dialect::Hcl => {
                    break self.block(position, depth)?;
                }
                Token::Word(label) | Token::Text(label) if self.lexer.dialect() == Dialect::Hcl => {
                    labels.push(label);
                }
                other => {
                    let name = other.name();
                    let reason = format!("expected a block or an assignment, got {name}");
                    return Err(position.refuse(&reason));
                }
            }
        };
        Ok(Statement {
            key,
            labels,
            line: position.line,
            value,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Value, PolicyError> {
        let (token, position) = self.next()?;
        match token {
            Token::Text(text) | Token::Heredoc(text) => Ok(Value::Text(text)),
            Token::Number(digits) => Ok(Value::Number(digits)),
            Token::Boolean(truth) => Ok(Value::Boolean(truth)),
            Token::Null => Ok(Value::Null),
            Token::OpenBrace => self.block(position, depth),
            Token::OpenBracket => self.list(position, depth),
            other => Err(position.refuse(&format!("expected a value, got {}", other.name()))),
        }
    }

    /// The statements behind a brace.
    fn block(&mut self, position: Position, depth: usize) -> Result<Value, PolicyError> {
        let statements = self.statements(&Token::CloseBrace, deeper(position, depth)?)?;
        Ok(Value::Statements(statements))
    }

    /// The elements behind a bracket. Commas may be repeated, and stand at either end.
    fn list(&mut self, position: Position, depth: usize) -> Result<Value, PolicyError> {
        let depth = deeper(position, depth)?;
        let mut values = Vec::new();
        loop {
            while self.skip(&Token::Comma)? {}
            if self.skip(&Token::CloseBracket)? {
                break;
            }
            values.push(self.value(depth)?);
            if !self.skip(&Token::Comma)? {
                self.expect(&Token::CloseBracket, "expected a comma or the list's end")?;
                break;
            }
        }
        Ok(Value::List(values))
    }
}

fn deeper(position: Position, depth: usize) -> Result<usize, PolicyError> {
    if depth < MAXIMUM_DEPTH {
        Ok(depth + 1)
    } else {
        let reason = format!("more than {MAXIMUM_DEPTH} levels of nesting");
        Err(position.refuse(&reason))
    }
}

#[cfg(test)]
mod tests;
