//! What a route is: a path, what may be done there, and what is said with it.

/// A path and what may be done there.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Route {
    /// Below the root of its family; `{name}` stands for what a caller chooses.
    pub(in crate::vault) path: &'static str,
    /// What it is for, in a sentence.
    pub(in crate::vault) about: &'static str,
    pub(in crate::vault) needs: Needs,
    /// Whether a write of something new needs `create` instead of `update`.
    pub(in crate::vault) creates: bool,
    /// What the path's `{name}`s stand for, in their order.
    pub(in crate::vault) captures: &'static [Field],
    pub(in crate::vault) operations: &'static [Operation],
}

/// What a caller needs beside what the operation says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Needs {
    /// Not even a token.
    Nothing,
    Token,
    /// A token whose policies grant `sudo`.
    Sudo,
}

/// What a request may do at a path.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Operation {
    pub(in crate::vault) verb: Verb,
    /// By which generated clients call it; never changes.
    pub(in crate::vault) id: &'static str,
    pub(in crate::vault) summary: &'static str,
    pub(in crate::vault) query: &'static [Field],
    pub(in crate::vault) body: &'static [Field],
    pub(in crate::vault) answer: Answer,
}

/// How a request says what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Verb {
    Get,
    Head,
    /// GET with `list=true`, which every HTTP library can send.
    List,
    Post,
    Delete,
}

/// What a success looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vault) enum Answer {
    /// An envelope.
    Envelope,
    /// An envelope with keys; 404 where there are none.
    Keys,
    /// Nothing.
    Nothing,
    /// An envelope, or nothing where there is nothing to say.
    EnvelopeOrNothing,
    /// There is no success: clients know the path, and every request there is refused.
    Refusal,
    /// An envelope, at once or before the work is done.
    Accepted,
    /// A JSON object of its own.
    Document,
    /// The same, and the status says how the server is.
    Status,
    /// A JSON object of its own or text, whichever the caller asks for.
    DocumentOrText,
    /// Text.
    Text,
}

/// Something that a caller says by name.
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) struct Field {
    pub(in crate::vault) name: &'static str,
    pub(in crate::vault) kind: Kind,
    pub(in crate::vault) about: &'static str,
    pub(in crate::vault) required: bool,
    /// Whether another field says the same by a newer name.
    pub(in crate::vault) deprecated: bool,
    /// Whether it may be `null` in an answer.
    pub(in crate::vault) nullable: bool,
}

/// The type of a field (contract 1.4).
#[derive(Debug, Clone, Copy)]
pub(in crate::vault) enum Kind {
    Text,
    /// One of some words.
    Choice(&'static [&'static str]),
    Boolean,
    Integer,
    /// Whole seconds, or a text such as `24h`.
    Seconds,
    /// Texts, or one text with commas.
    List,
    /// Texts by name.
    Map,
    Object(&'static [Field]),
    /// Part of a path, slashes and all.
    Path,
}

/// A path that needs a token.
pub(super) const fn route(
    path: &'static str,
    about: &'static str,
    operations: &'static [Operation],
) -> Route {
    Route {
        path,
        about,
        needs: Needs::Token,
        creates: false,
        captures: &[],
        operations,
    }
}

impl Route {
    /// The same with these captures.
    pub(super) const fn capturing(self, captures: &'static [Field]) -> Self {
        Self { captures, ..self }
    }

    /// The same for callers with `sudo`.
    pub(super) const fn sudo(self) -> Self {
        Self {
            needs: Needs::Sudo,
            ..self
        }
    }

    /// The same for everybody.
    pub(super) const fn open(self) -> Self {
        Self {
            needs: Needs::Nothing,
            ..self
        }
    }

    /// The same where creating and updating are told apart.
    pub(super) const fn creating(self) -> Self {
        Self {
            creates: true,
            ..self
        }
    }

    /// How many segments of `path` are this route's own words; `None` where the route is not that of `path`.
    pub(super) fn likeness(&self, path: &str) -> Option<usize> {
        let template: Vec<&str> = self.path.trim_end_matches('/').split('/').collect();
        let path: Vec<&str> = path.split('/').collect();
        self.matched(&template, &path)
    }

    fn matched(&self, template: &[&str], path: &[&str]) -> Option<usize> {
        let (word, template) = match template.split_first() {
            Some(split) => split,
            None => return path.is_empty().then_some(0),
        };
        let (segment, rest) = path.split_first()?;
        let Some(name) = captured(word) else {
            return (word == segment)
                .then(|| self.matched(template, rest))?
                .map(|own| own + 1);
        };
        let here = self.matched(template, rest);
        if here.is_some() || !self.spans_segments(name) {
            return here;
        }
        (1..=rest.len()).find_map(|more| self.matched(template, rest.get(more..)?))
    }

    fn spans_segments(&self, name: &str) -> bool {
        self.captures
            .iter()
            .any(|capture| capture.name == name && matches!(capture.kind, Kind::Path))
    }
}

/// The name within the braces.
pub(super) fn captured(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

const fn operation(
    verb: Verb,
    id: &'static str,
    summary: &'static str,
    answer: Answer,
) -> Operation {
    Operation {
        verb,
        id,
        summary,
        query: &[],
        body: &[],
        answer,
    }
}

/// Answered with data.
pub(super) const fn read(id: &'static str, summary: &'static str) -> Operation {
    operation(Verb::Get, id, summary, Answer::Envelope)
}

/// Answered with keys.
pub(super) const fn list(id: &'static str, summary: &'static str) -> Operation {
    operation(Verb::List, id, summary, Answer::Keys)
}

/// Answered with nothing.
pub(super) const fn delete(id: &'static str, summary: &'static str) -> Operation {
    operation(Verb::Delete, id, summary, Answer::Nothing)
}

/// Answered with nothing.
pub(super) const fn write(
    id: &'static str,
    summary: &'static str,
    body: &'static [Field],
) -> Operation {
    Operation {
        body,
        ..operation(Verb::Post, id, summary, Answer::Nothing)
    }
}

/// A write that is answered with data.
pub(super) const fn ask(
    id: &'static str,
    summary: &'static str,
    body: &'static [Field],
) -> Operation {
    write(id, summary, body).answering(Answer::Envelope)
}

impl Operation {
    /// The same with another answer.
    pub(super) const fn answering(self, answer: Answer) -> Self {
        Self { answer, ..self }
    }

    /// The same with these fields in its query.
    pub(super) const fn querying(self, query: &'static [Field]) -> Self {
        Self { query, ..self }
    }

    /// The same by HEAD.
    pub(super) const fn head(self) -> Self {
        Self {
            verb: Verb::Head,
            ..self
        }
    }
}

const fn field(name: &'static str, kind: Kind, about: &'static str) -> Field {
    Field {
        name,
        kind,
        about,
        required: false,
        deprecated: false,
        nullable: false,
    }
}

macro_rules! fields_of_kinds {
    ($($(#[$documentation:meta])* $name:ident => $kind:ident;)*) => {$(
        $(#[$documentation])*
        pub(super) const fn $name(name: &'static str, about: &'static str) -> Field {
            field(name, Kind::$kind, about)
        }
    )*};
}

fields_of_kinds! {
    /// A text.
    text => Text;
    /// A truth value.
    boolean => Boolean;
    /// An integer.
    integer => Integer;
    /// Whole seconds.
    seconds => Seconds;
    /// Texts.
    texts => List;
    /// Texts by name.
    map => Map;
    /// The part of a path that may hold slashes.
    path => Path;
}

/// One of some words.
pub(super) const fn choice(
    name: &'static str,
    words: &'static [&'static str],
    about: &'static str,
) -> Field {
    field(name, Kind::Choice(words), about)
}

/// An object with fields of its own.
pub(super) const fn object(
    name: &'static str,
    fields: &'static [Field],
    about: &'static str,
) -> Field {
    field(name, Kind::Object(fields), about)
}

impl Field {
    /// The same, without which there is a refusal.
    pub(super) const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// The same, an old name for what another field says.
    pub(super) const fn deprecated(self) -> Self {
        Self {
            deprecated: true,
            ..self
        }
    }
    /// The same, which may be `null`.
    pub(super) const fn nullable(self) -> Self {
        Self {
            nullable: true,
            ..self
        }
    }
}
