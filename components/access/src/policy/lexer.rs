//! From the bytes of a policy to tokens, in either dialect.

use crate::api::PolicyError;

/// The language of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// HCL 1.
    Hcl,
    /// JSON, which HCL 1 takes in its place.
    Json,
}

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u32,
    /// In characters.
    column: u32,
}

impl Position {
    /// The refusal of what stands here.
    pub(super) fn refuse(self, reason: &str) -> PolicyError {
        let Self { line, column } = self;
        PolicyError::Syntax(format!("At {line}:{column}: {reason}"))
    }
}

/// The smallest part of a text that means something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare word.
    Word(String),
    /// A string, decoded.
    Text(String),
    /// Whole lines, which are a value and never a key.
    Heredoc(String),
    /// A number as it is written.
    Number(String),
    Boolean(bool),
    /// JSON only.
    Null,
    /// `=`, or in JSON `:`.
    Assign,
    Comma,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    /// The end of the text.
    End,
}

impl Token {
    /// Its name in refusals.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Word(_) => "a word",
            Self::Text(_) => "a string",
            Self::Heredoc(_) => "a heredoc",
            Self::Number(_) => "a number",
            Self::Boolean(_) => "a boolean",
            Self::Null => "null",
            Self::Assign => "an assignment",
            Self::Comma => "a comma",
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::End => "the end of the text",
        }
    }
}

/// Reads a text from its beginning to its end, each character once.
pub(super) struct Lexer<'t> {
    rest: &'t str,
    position: Position,
    dialect: Dialect,
}

impl<'t> Lexer<'t> {
    pub(super) const fn new(text: &'t str, dialect: Dialect) -> Self {
        Self {
            rest: text,
            position: Position { line: 1, column: 1 },
            dialect,
        }
    }

    pub(super) const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The next token and where it begins; at the end of the text again and again [`Token::End`].
    pub(super) fn next(&mut self) -> Result<(Token, Position), PolicyError> {
        self.skip_blanks()?;
        let start = self.position;
        let Some(first) = self.rest.chars().next() else {
            return Ok((Token::End, start));
        };
        let hcl = self.dialect == Dialect::Hcl;
        let sign = match first {
            '{' => Token::OpenBrace,
            '}' => Token::CloseBrace,
            '[' => Token::OpenBracket,
            ']' => Token::CloseBracket,
            ',' => Token::Comma,
            '=' if hcl => Token::Assign,
            ':' if !hcl => Token::Assign,
            '"' if hcl => return Ok((self.hcl_string()?, start)),
            '"' => return Ok((self.json_string()?, start)),
            '<' if hcl => return Ok((self.heredoc()?, start)),
            '0'..='9' | '-' | '.' => return Ok((self.number()?, start)),
            first if is_letter(first) => return Ok((self.word()?, start)),
            _ => return Err(start.refuse("illegal character")),
        };
        self.advance(1);
        Ok((sign, start))
    }

    /// Takes the next `bytes`, which end at a character.
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for character in taken.chars() {
            if character == '\n' {
                self.position.line = self.position.line.saturating_add(1);
                self.position.column = 1;
            } else {
                self.position.column = self.position.column.saturating_add(1);
            }
        }
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|character| !belongs(character));
        self.advance(end.unwrap_or(self.rest.len()))
    }

    fn skip_blanks(&mut self) -> Result<(), PolicyError> {
        loop {
            self.take_while(|character| matches!(character, ' ' | '\t' | '\r' | '\n'));
            if self.dialect == Dialect::Json {
                return Ok(());
            }
            if self.rest.starts_with('#') || self.rest.starts_with("//") {
                self.take_while(|character| character != '\n');
            } else if self.rest.starts_with("/*") {
                let end = self.rest.get(2..).and_then(|rest| rest.find("*/"));
                let end = end.ok_or_else(|| self.position.refuse("comment not terminated"))?;
                self.advance(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Result<Token, PolicyError> {
        let start = self.position;
        let word = self.take_while(|character| {
            is_letter(character) || character.is_numeric() || matches!(character, '-' | '.')
        });
        match (word, self.dialect) {
            ("true", _) => Ok(Token::Boolean(true)),
            ("false", _) => Ok(Token::Boolean(false)),
            ("null", Dialect::Json) => Ok(Token::Null),
            (word, Dialect::Hcl) => Ok(Token::Word(word.to_owned())),
            (_, Dialect::Json) => Err(start.refuse("JSON has no words but true, false and null")),
        }
    }

    /// A number, which ends where it can no longer be one: a word may follow at once.
    fn number(&mut self) -> Result<Token, PolicyError> {
        let start = self.position;
        let length = number_length(self.rest);
        let digits = self.advance(length.max(1));
        let is_number = match self.dialect {
            Dialect::Hcl => length > 0,
            Dialect::Json => serde_json::from_str::<serde_json::Number>(digits).is_ok(),
        };
        if is_number {
            Ok(Token::Number(digits.to_owned()))
        } else {
            Err(start.refuse("malformed number"))
        }
    }

    fn json_string(&mut self) -> Result<Token, PolicyError> {
        let start = self.position;
        let mut escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let quoted = match end {
            Some(end) => self.advance(end + 2),
            None => return Err(start.refuse("string not terminated")),
        };
        serde_json::from_str(quoted)
            .map(Token::Text)
            .map_err(|_| start.refuse("malformed string"))
    }

    /// A string in double quotes. The text between `${` and its `}` is taken as it is, quotes and line breaks included.
    fn hcl_string(&mut self) -> Result<Token, PolicyError> {
        let start = self.position;
        self.advance(1);
        let mut text = Vec::new();
        let mut braces = 0_usize;
        loop {
            let Some(next) = self.rest.chars().next() else {
                return Err(start.refuse("string not terminated"));
            };
            match next {
                '\n' if braces == 0 => return Err(self.position.refuse("string not terminated")),
                '"' if braces == 0 => {
                    self.advance(1);
                    break;
                }
                '\\' if braces == 0 => {
                    self.escape(&mut text)?;
                    continue;
                }
                '$' if braces == 0 && self.rest.starts_with("${") => {
                    braces = 1;
                    text.extend_from_slice(self.advance(2).as_bytes());
                    continue;
                }
                '{' if braces > 0 => braces += 1,
                '}' if braces > 0 => braces -= 1,
                _ => {}
            }
            text.extend_from_slice(self.advance(next.len_utf8()).as_bytes());
        }
        String::from_utf8(text)
            .map(Token::Text)
            .map_err(|_| start.refuse("the escapes give no text"))
    }

    /// One escape sequence. Octal and hexadecimal ones of two and three digits are bytes, the others characters.
    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), PolicyError> {
        let start = self.position;
        let illegal = || start.refuse("illegal escape");
        let kind = self.rest.chars().nth(1).ok_or_else(illegal)?;
        let simple = match kind {
            'a' => Some(7),
            'b' => Some(8),
            'f' => Some(12),
            'n' => Some(b'\n'),
            'r' => Some(b'\r'),
            't' => Some(b'\t'),
            'v' => Some(11),
            '\\' => Some(b'\\'),
            '"' => Some(b'"'),
            _ => None,
        };
        if let Some(byte) = simple {
            self.advance(2);
            text.push(byte);
            return Ok(());
        }
        let (lead, count, radix) = match kind {
            '0'..='7' => (1, 3, 8),
            'x' => (2, 2, 16),
            'u' => (2, 4, 16),
            'U' => (2, 8, 16),
            _ => return Err(illegal()),
        };
        let digits = self.rest.get(lead..lead + count).ok_or_else(illegal)?;
        if !digits.chars().all(|digit| digit.is_digit(radix)) {
            return Err(illegal());
        }
        let code = u32::from_str_radix(digits, radix).map_err(|_| illegal())?;
        self.advance(lead + count);
        if matches!(kind, 'u' | 'U') {
            let character = char::from_u32(code).ok_or_else(illegal)?;
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            text.push(u8::try_from(code).map_err(|_| illegal())?);
        }
        Ok(())
    }

    /// `<<NAME` and whole lines up to one that holds the name alone. After `<<-` the indentation of that last line is taken from
    /// all lines, if all have it.
    fn heredoc(&mut self) -> Result<Token, PolicyError> {
        let start = self.position;
        if !self.rest.starts_with("<<") {
            return Err(start.refuse("a heredoc begins with <<"));
        }
        self.advance(2);
        let indented = self.rest.starts_with('-');
        self.advance(usize::from(indented));
        let name = self.take_while(|character| is_letter(character) || character.is_numeric());
        if name.is_empty() {
            return Err(self.position.refuse("a heredoc needs a name"));
        }
        let line_end = ["\n", "\r\n"]
            .into_iter()
            .find(|line_end| self.rest.starts_with(line_end))
            .ok_or_else(|| self.position.refuse("a heredoc begins on the next line"))?;
        self.advance(line_end.len());
        let mut length = 0;
        for line in self.rest.split_inclusive('\n') {
            let Some(last) = line.strip_suffix('\n') else {
                break;
            };
            if last.trim_start().trim_end_matches('\r') == name {
                let body = self.advance(length);
                // The line break after the name is left: it ends the statement, if anything does.
                self.advance(last.len());
                let indentation = last.len() - last.trim_start().len();
                let indentation = last.get(..indentation).filter(|_| indented);
                return Ok(Token::Heredoc(unindented(body, indentation)));
            }
            length += line.len();
        }
        Err(start.refuse("heredoc not terminated"))
    }
}

fn unindented(body: &str, indentation: Option<&str>) -> String {
    let lines: Option<Vec<&str>> = indentation.and_then(|indentation| {
        body.split_inclusive('\n')
            .map(|line| line.strip_prefix(indentation))
            .collect()
    });
    lines.map_or_else(|| body.to_owned(), |lines| lines.concat())
}

fn is_letter(character: char) -> bool {
    character == '_' || character.is_alphabetic()
}

/// How many bytes at the beginning of `text` are a number: an integer, decimal or hexadecimal, or a decimal fraction.
fn number_length(text: &str) -> usize {
    let from = |start: usize| text.get(start..).unwrap_or_default();
    let digits = |start: usize| {
        let rest = from(start).bytes();
        start + rest.take_while(u8::is_ascii_digit).count()
    };
    let start = usize::from(text.starts_with('-'));
    if from(start).starts_with("0x") || from(start).starts_with("0X") {
        let rest = from(start + 2).bytes();
        let count = rest.take_while(u8::is_ascii_hexdigit).count();
        return if count == 0 { 0 } else { start + 2 + count };
    }
    let mut end = digits(start);
    let mut any = end > start;
    if from(end).starts_with('.') {
        let fraction = digits(end + 1);
        any |= fraction > end + 1;
        end = fraction;
    }
    if !any {
        return 0;
    }
    if from(end).starts_with(['e', 'E']) {
        let sign = usize::from(from(end + 1).starts_with(['-', '+']));
        let exponent = digits(end + 1 + sign);
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    end
}
