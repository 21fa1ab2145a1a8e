use proptest::prelude::*;

use super::*;

/// Writes statements in one of the many ways in which they can be written.
struct Printer<'s> {
    text: String,
    dialect: Dialect,
    /// Choices, used one after another.
    style: std::iter::Cycle<std::slice::Iter<'s, u8>>,
}

impl Printer<'_> {
    fn choose<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        let choice = usize::from(*self.style.next().unwrap_or(&0));
        choices[choice % choices.len()]
    }

    fn gap(&mut self) {
        let gap = match self.dialect {
            Dialect::Hcl => self.choose(&[
                " ", "\n", "\t", "\r\n", " # }\n", " // \"\n", "/* { */", "\n\n",
            ]),
            Dialect::Json => self.choose(&["", " ", "\n", "\r\n\t"]),
        };
        self.text += gap;
    }

    fn sign(&mut self, sign: &str) {
        self.text += sign;
        self.gap();
    }

    fn string(&mut self, text: &str) {
        if self.dialect == Dialect::Json {
            self.text += &serde_json::Value::from(text).to_string();
            return;
        }
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' => self.text += "\\\"",
                '\\' => self.text += "\\\\",
                '\n' => {
                    let escape = self.choose(&["\\n", "\\u000a", "\\x0A", "\\012"]);
                    self.text += escape;
                }
                '$' => {
                    let escape = self.choose(&["\\u0024", "\\U00000024", "\\044"]);
                    self.text += escape;
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }

    fn name(&mut self, name: &str) {
        let bare = name.chars().all(|it| it.is_ascii_lowercase()) && !name.is_empty();
        let is_word = bare && !matches!(name, "true" | "false");
        if self.dialect == Dialect::Hcl && is_word && self.choose(&["bare", "quoted"]) == "bare" {
            self.text += name;
        } else {
            self.string(name);
        }
        self.gap();
    }

    fn statements(&mut self, statements: &[Statement]) {
        for (at, statement) in statements.iter().enumerate() {
            self.name(&statement.key);
            for label in &statement.labels {
                self.name(label);
            }
            let is_block = matches!(statement.value, Value::Statements(_));
            let hcl = self.dialect == Dialect::Hcl;
            let assigned = statement.labels.is_empty() && self.choose(&["a", "b"]) == "a";
            if !hcl {
                self.sign(":");
            } else if !is_block || assigned {
                self.sign("=");
            }
            self.value(&statement.value);
            self.gap();
            if hcl {
                let comma = self.choose(&["", ","]);
                self.text += comma;
                self.text += "\n";
            } else if at + 1 < statements.len() || self.choose(&["", ","]) == "," {
                self.sign(",");
            }
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Text(text) => self.string(text),
            Value::Number(digits) => self.text += digits,
            Value::Boolean(truth) => self.text += if *truth { "true" } else { "false" },
            Value::Null => self.text += "null",
            Value::List(values) => {
                self.sign("[");
                for (at, value) in values.iter().enumerate() {
                    self.value(value);
                    self.gap();
                    if at + 1 < values.len() || self.choose(&["", ","]) == "," {
                        self.sign(",");
                    }
                }
                self.text += "]";
            }
            Value::Statements(statements) => {
                self.sign("{");
                self.statements(statements);
                self.text += "}";
            }
        }
    }
}

fn printed(statements: &[Statement], dialect: Dialect, style: &[u8]) -> String {
    let mut printer = Printer {
        text: String::new(),
        dialect,
        style: style.iter().cycle(),
    };
    printer.gap();
    match dialect {
        Dialect::Hcl => printer.statements(statements),
        Dialect::Json => printer.value(&Value::Statements(statements.to_vec())),
    }
    printer.gap();
    printer.text
}

/// The same without lines.
fn bare(statements: Vec<Statement>) -> Vec<Statement> {
    let statement = |statement: Statement| Statement {
        line: 0,
        value: bare_value(statement.value),
        ..statement
    };
    statements.into_iter().map(statement).collect()
}

fn bare_value(value: Value) -> Value {
    match value {
        Value::Statements(inner) => Value::Statements(bare(inner)),
        Value::List(values) => Value::List(values.into_iter().map(bare_value).collect()),
        other => other,
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[^\u{0}]{0,6}",
        Just("a${b".to_owned()),
        Just("true".to_owned()),
    ]
}

fn document(dialect: Dialect) -> impl Strategy<Value = Vec<Statement>> {
    let numbers = match dialect {
        Dialect::Hcl => vec!["0", "-1", "1.5", "0x1F", "017", "1e5", ".5", "1."],
        Dialect::Json => vec!["0", "-1", "1.5", "1e5", "123456789012345678901234567890"],
    };
    let number = prop::sample::select(numbers).prop_map(|it| Value::Number(it.to_owned()));
    let literal = prop_oneof![
        text().prop_map(Value::Text),
        number,
        any::<bool>().prop_map(Value::Boolean),
    ];
    let value = literal.prop_recursive(3, 24, 4, move |value| {
        let statement = statement(value.clone(), dialect);
        prop_oneof![
            prop::collection::vec(value, 0..4).prop_map(Value::List),
            prop::collection::vec(statement, 0..4).prop_map(Value::Statements),
        ]
    });
    prop::collection::vec(statement(value, dialect), 0..5)
}

fn statement(
    value: impl Strategy<Value = Value>,
    dialect: Dialect,
) -> impl Strategy<Value = Statement> {
    let labels = match dialect {
        Dialect::Hcl => 0..3,
        Dialect::Json => 0..1,
    };
    (text(), prop::collection::vec(text(), labels), value).prop_map(|(key, labels, value)| {
        Statement {
            // Paths are read in a way of their own.
            key: if key == PATH { "key".to_owned() } else { key },
            // An assignment has none.
            labels: if matches!(value, Value::Statements(_)) {
                labels
            } else {
                Vec::new()
            },
            line: 0,
            value,
        }
    })
}

proptest! {
    #[test]
    fn whatever_is_printed_as_hcl_is_read_back(
        document in document(Dialect::Hcl), style in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let text = printed(&document, Dialect::Hcl, &style);
        prop_assert_eq!(read(&text).map(bare), Ok(document), "{}", text);
    }

    #[test]
    fn whatever_is_printed_as_json_is_read_back(
        document in document(Dialect::Json), style in prop::collection::vec(any::<u8>(), 1..64),
    ) {
        let text = printed(&document, Dialect::Json, &style);
        prop_assert_eq!(read(&text).map(bare), Ok(document), "{}", text);
    }
}

fn only_text(text: &str) -> String {
    match read(&format!("key = {text}\n")).unwrap().remove(0).value {
        Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn heredocs_hold_whole_lines() {
    for (written, value) in [
        ("<<E\na\n  b\nE", "a\n  b\n"),
        ("<<E\r\na\r\nE\r", "a\r\n"),
        ("<<E\nE", ""),
        ("<<E\na\n  E", "a\n"),
        ("<<-E\n  a\n    b\n  E", "a\n  b\n"),
        ("<<-E\n a\n  b\n  E", " a\n  b\n"),
        ("<<E\nEE\nE", "EE\n"),
        ("<<E\n${\"}\nE", "${\"}\n"),
    ] {
        assert_eq!(only_text(written), value, "{written:?}");
    }
}

#[test]
fn interpolations_are_plain_text() {
    for (written, value) in [
        (r#""${a}""#, "${a}"),
        (r#""${"a\n"}b""#, "${\"a\\n\"}b"),
        (r#""${ {x} }\n""#, "${ {x} }\n"),
        (r#""%{a}""#, "%{a}"),
        (r#""$${a}""#, "$${a}"),
        (r#""$a{}""#, "$a{}"),
    ] {
        assert_eq!(only_text(written), value, "{written}");
    }
}

#[test]
fn statements_know_their_lines() {
    let text = "a = 1\n/*\n*/ b \"c\"\n{\n d = \"${\n}\" e = [\n] }\nf = <<E\nx\nE\ng = 2";
    let read = read(text).unwrap();
    let lines: Vec<_> = read.iter().map(|it| (it.key.as_str(), it.line)).collect();
    assert_eq!(lines, [("a", 1), ("b", 3), ("f", 8), ("g", 11)]);
    let Value::Statements(inner) = &read[1].value else {
        panic!("{read:?}");
    };
    assert_eq!((inner[0].line, inner[1].line), (5, 6));
}
