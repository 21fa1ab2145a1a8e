//! `name=value&...` texts: query strings and form bodies.

use std::borrow::Cow;
use std::collections::HashMap;

/// The decoded pairs of a query string or form body, in the order written. This never fails: as in browsers, text that cannot be decoded is kept as
/// it is.
pub fn pairs(text: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text.as_bytes())
}

/// The first value of `name`; empty if the name has no value.
#[must_use]
pub fn first<'a>(text: &'a str, name: &str) -> Option<Cow<'a, str>> {
    pairs(text)
        .find(|(found, _)| found == name)
        .map(|(_, value)| value)
}

/// The items of the list called `name`, in the order written, including empty ones. The list may be separated by commas (`names=a,b`), repeated, or
/// repeated with brackets (`names[]=a`).
pub fn list<'t>(text: &'t str, name: &str) -> impl Iterator<Item = String> + use<'t> {
    let bracketed = format!("{name}[]");
    let name = name.to_owned();
    pairs(text)
        .filter(move |(found, _)| *found == name || *found == bracketed)
        .flat_map(|(_, value)| value.split(',').map(str::to_owned).collect::<Vec<_>>())
}

/// The pairs grouped by name: names in the order of their first appearance, values in the order written.
#[must_use]
pub fn gathered(text: &str) -> Vec<(Cow<'_, str>, Vec<Cow<'_, str>>)> {
    let mut fields: Vec<(Cow<'_, str>, Vec<Cow<'_, str>>)> = Vec::new();
    // A body can hold half a million names, so a lookup must not search all of them.
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    for (name, value) in pairs(text) {
        let place = *places.entry(name).or_insert_with_key(|name| {
            fields.push((name.clone(), Vec::new()));
            fields.len() - 1
        });
        if let Some((_, values)) = fields.get_mut(place) {
            values.push(value);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_decoded_and_gathered_by_name() {
        let fields = gathered("a=1&b=x+y%2Cz&a=2&c");
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, values)| (name.as_ref(), values.join("|")))
            .collect();
        let expected = [
            ("a", "1|2".to_owned()),
            ("b", "x y,z".to_owned()),
            ("c", String::new()),
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn first_finds_a_name_without_value() {
        assert_eq!(first("list", "list").as_deref(), Some(""));
        assert_eq!(
            first("x=1&list=true&list=no", "list").as_deref(),
            Some("true")
        );
        assert_eq!(first("", "list"), None);
    }

    #[test]
    fn contract_1_1_a_list_is_joined_repeated_or_bracketed() {
        for query in [
            "filter[names]=a,b&x=1",
            "filter[names]=a&filter[names]=b",
            "filter[names][]=a&x=1&filter[names][]=b",
            "filter%5Bnames%5D%5B%5D=a%2Cb",
            "filter%5Bnames%5D=a&filter[names][]=b",
        ] {
            let items: Vec<_> = list(query, "filter[names]").collect();
            assert_eq!(items, ["a", "b"], "{query}");
        }
        assert_eq!(list("include", "include").collect::<Vec<_>>(), [""]);
        assert_eq!(list("includes=a&q=b", "include").count(), 0);
    }
}
