//! The time for which a document may be used, by what the answer says about itself (contract 8.2).

use gatehouse_ports::HttpResponse;

/// Seconds that any document is used at least, also one that asks not to be stored.
const SHORTEST: u64 = 60;
/// Seconds when the answer does not say.
const USUAL: u64 = 3600;
/// Seconds that Google's own document of keys is used at most without asking again.
pub(super) const LONGEST_GOOGLE: u64 = 6 * 3600;
/// Milliseconds beyond its life during which it is used while Google cannot be reached.
pub(super) const STALE_GOOGLE: u64 = 3600 * 1000;
/// Seconds that an account's document is used at most: its keys can be removed at any time.
pub(super) const LONGEST_ACCOUNT: u64 = 15 * 60;

/// Seconds from now during which the document in `answer` is fresh, at most `longest`.
pub(super) fn lifetime(answer: &HttpResponse, longest: u64) -> u64 {
    let mut maximum_age = None;
    for (_, value) in answer
        .headers
        .iter()
        .filter(|(name, _)| name == "cache-control")
    {
        for directive in value.split(',') {
            let directive = directive.trim().to_ascii_lowercase();
            if directive == "no-store" || directive == "no-cache" {
                return SHORTEST;
            }
            if let Some(seconds) = directive.strip_prefix("max-age=") {
                maximum_age = seconds.trim_matches('"').parse::<u64>().ok();
            }
        }
    }
    let age = answer
        .header("age")
        .and_then(|age| age.trim().parse::<u64>().ok())
        .unwrap_or(0);
    maximum_age
        .map_or(USUAL, |maximum| maximum.saturating_sub(age))
        .clamp(SHORTEST, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lifetime_of(headers: &[(&str, &str)], longest: u64) -> u64 {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let answer = HttpResponse {
            status: 200,
            headers: headers.iter().map(owned).collect(),
            body: Vec::new(),
        };
        lifetime(&answer, longest)
    }

    #[test]
    fn contract_8_2_max_age_minus_age_within_bounds() {
        let day = 86_400;
        assert_eq!(
            lifetime_of(
                &[("cache-control", "public, max-age=5000, must-revalidate")],
                day
            ),
            5000
        );
        assert_eq!(
            lifetime_of(&[("cache-control", "max-age=5000"), ("age", "1000")], day),
            4000
        );
        assert_eq!(
            lifetime_of(&[("cache-control", "max-age=5000"), ("age", "6000")], day),
            60
        );
        assert_eq!(lifetime_of(&[("cache-control", "max-age=0")], day), 60);
        assert_eq!(
            lifetime_of(&[("cache-control", "Max-Age=999999")], 900),
            900
        );
        assert_eq!(lifetime_of(&[], day), 3600);
        assert_eq!(lifetime_of(&[], 900), 900);
        assert_eq!(lifetime_of(&[("cache-control", "max-age=x")], day), 3600);
        assert_eq!(
            lifetime_of(&[("cache-control", "max-age=5000, no-store")], day),
            60
        );
    }
}
