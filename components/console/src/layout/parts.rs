//! The parts that pages are made of: forms and their fields, tables, facts and notices.

use maud::{Markup, html};

use crate::session::Session;

/// The hidden field that every form carries.
pub fn key(session: &Session) -> Markup {
    html! { input type="hidden" name="form_key" value=(session.form_key()); }
}

/// A form that posts to `action`.
pub fn form(session: &Session, action: &str, fields: Markup, button: &str) -> Markup {
    html! {
        form method="post" action=(action) autocomplete="off" {
            (key(session))
            (fields)
            p { button { (button) } }
        }
    }
}

/// A form that searches the list at `action`. Where the list belongs to one object, the hidden field `kept` names that object.
pub fn search(action: &str, kept: Option<(&str, &str)>, help: &str, searched: &str) -> Markup {
    html! {
        form method="get" action=(action) role="search" {
            @if let Some((name, value)) = kept { input type="hidden" name=(name) value=(value); }
            (input("q", "Search", help, searched))
            p { button { "Search" } }
        }
    }
}

/// A form of one button, with hidden fields.
pub fn button(session: &Session, action: &str, fields: &[(&str, &str)], text: &str) -> Markup {
    html! {
        form class="inline" method="post" action=(action) {
            (key(session))
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button class="dangerous" { (text) }
        }
    }
}

/// A text field of one line.
pub fn input(name: &str, label: &str, help: &str, value: &str) -> Markup {
    one_line("text", name, label, help, value)
}

/// A text field of one line whose content the browser hides.
pub fn secret(name: &str, label: &str, help: &str) -> Markup {
    one_line("password", name, label, help, "")
}

fn one_line(kind: &str, name: &str, label: &str, help: &str, value: &str) -> Markup {
    labelled(name, label, help, &|about| {
        html! {
            input id=(name) name=(name) type=(kind) value=(value) autocomplete="off" spellcheck="false" aria-describedby=[about];
        }
    })
}

/// A text field of several lines.
pub fn area(name: &str, label: &str, help: &str, value: &str, rows: u8) -> Markup {
    labelled(name, label, help, &|about| {
        html! {
            // HTML parsers drop the first line end of a text area.
            textarea id=(name) name=(name) rows=(rows) spellcheck="false" aria-describedby=[about] { "\n" (value) }
        }
    })
}

/// A choice of one of `options`.
pub fn select(name: &str, label: &str, help: &str, options: &[&str], value: &str) -> Markup {
    labelled(name, label, help, &|about| {
        html! {
            select id=(name) name=(name) aria-describedby=[about] {
                @for option in options {
                    option value=(option) selected[*option == value] { @if option.is_empty() { "(no choice)" } @else { (option) } }
                }
            }
        }
    })
}

/// A field below its label and above its help. `control` makes the field; it takes the identifier of the help, if there is any.
fn labelled(
    name: &str,
    label: &str,
    help: &str,
    control: &dyn Fn(Option<&str>) -> Markup,
) -> Markup {
    let about = about(name, help);
    html! {
        p class="field" {
            label for=(name) { (label) }
            (control(about.as_deref()))
            @if let Some(about) = &about { span class="help" id=(about) { (help) } }
        }
    }
}

/// A checkbox.
pub fn tick(name: &str, label: &str, help: &str, is_on: bool) -> Markup {
    let about = about(name, help);
    html! {
        p class="field" {
            label { input type="checkbox" name=(name) value="yes" checked[is_on] aria-describedby=[about.as_deref()]; " " (label) }
            @if let Some(about) = &about { span class="help" id=(about) { (help) } }
        }
    }
}

/// The identifier of the help of a field; `None` where it has none.
fn about(name: &str, help: &str) -> Option<String> {
    (!help.is_empty()).then(|| format!("{name}-help"))
}

/// The table called `name`. The first cell of a row is its header. Without rows, the text `empty` is shown in place of the table. A table that is
/// wider than the screen scrolls by itself.
pub fn table(name: &str, heads: &[&str], rows: &[Vec<Markup>], empty: &str) -> Markup {
    html! {
        @if rows.is_empty() {
            p { (empty) }
        } @else {
            div class="table" role="region" aria-label=(name) tabindex="0" { table {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { @for row in rows { tr {
                    @for (place, cell) in row.iter().enumerate() {
                        @if place == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                    }
                } } }
            } }
        }
    }
}

/// Names with their values, without the pairs whose value is empty.
pub fn facts<'n>(pairs: impl IntoIterator<Item = (&'n str, String)>) -> Markup {
    let pairs = pairs.into_iter().filter(|(_, value)| !value.is_empty());
    html! {
        dl { @for (name, value) in pairs { dt { (name.replace('_', " ")) } dd { (value) } } }
    }
}

/// A text that a screen reader reads out when the page loads.
pub fn notice(text: &str) -> Markup {
    html! { p class="notice" role="status" { (text) } }
}
