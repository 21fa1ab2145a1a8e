//! Lists that bind roles.

/// Stands for every service account; a list that has it may have no other entry.
pub(crate) const ANY_ACCOUNT: &str = "*";

/// The entries, trimmed, without empty ones, each once, sorted (contract 1.4).
pub(super) fn bound<T: AsRef<str>>(entries: &[T]) -> Vec<String> {
    let mut entries: Vec<String> = entries
        .iter()
        .map(|entry| entry.as_ref().trim())
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect();
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// The same, with links to resources reduced to the resources' names.
pub(super) fn resource_names(entries: &[String]) -> Vec<String> {
    let names: Vec<&str> = entries.iter().map(|entry| resource_name(entry)).collect();
    bound(&names)
}

fn resource_name(entry: &str) -> &str {
    let entry = entry.trim();
    let path = entry.trim_end_matches('/');
    match path.rsplit('/').next() {
        // An entry of nothing but slashes stays as it is: a bound that no caller meets must not become no bound.
        None | Some("") => entry,
        Some(name) => name,
    }
}

#[cfg(test)]
mod tests {
    use super::resource_names;

    #[test]
    fn contract_3_2_links_are_reduced_to_the_last_segment() {
        let entries = [
            "us-central1-b",
            " https://www.googleapis.com/compute/v1/projects/p/zones/us-central1-a ",
            "projects/p/zones/us-central1-a",
            "zones/us-central1-c/",
            "",
            "//",
        ];
        assert_eq!(
            resource_names(&entries.map(str::to_owned)),
            ["//", "us-central1-a", "us-central1-b", "us-central1-c"]
        );
    }
}
