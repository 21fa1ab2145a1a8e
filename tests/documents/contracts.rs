//! The contracts in `docs/contract`: which sections and rules they have.

use std::collections::BTreeSet;
use std::fs;
use std::sync::LazyLock;

use regex::Regex;

use gatehouse_tests::workspace;

/// A heading with a number, as `### 4.10 Renewal` or `## 4. Login`.
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#{2,4} (\d+(?:\.\d+)*)\.? "));
/// A rule by its id: an anchor, the first cell of a row, or a bold beginning.
static RULE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"^(?:<a id="|\| *\**|(?:- |\d+\. )?\*\*)([A-Z]\d{1,2}[a-z]?)(?:"|\**\.? *\||\b)"#)
});

pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is well-formed")
}

/// The rules and sections of one document that can be cited.
pub(crate) struct Contract {
    pub(crate) name: &'static str,
    /// Numbers of sections, in the order of the document.
    pub(crate) sections: Vec<String>,
    pub(crate) rules: BTreeSet<String>,
}

impl Contract {
    pub(crate) fn read(name: &'static str) -> Self {
        let path = workspace().join("docs/contract").join(format!("{name}.md"));
        let text = fs::read_to_string(path).expect("the contract can be read");
        let find = |pattern: &Regex| -> Vec<String> {
            text.lines()
                .filter_map(|line| pattern.captures(line).map(|found| found[1].to_owned()))
                .collect()
        };
        Self {
            name,
            sections: find(&HEADING),
            rules: find(&RULE).into_iter().collect(),
        }
    }

    pub(crate) fn has_section(&self, number: &str) -> bool {
        self.sections.iter().any(|section| section == number)
    }
}

/// All of them.
pub(crate) struct Contracts {
    pub(crate) auth_method: Contract,
    pub(crate) organizations: Contract,
    pub(crate) security: Contract,
}

/// Where `contract` alone means the one of organizations; everywhere else it is the one of the auth method.
const ROOMS_OF_ORGANIZATIONS: [&str; 8] = [
    "components/orgs/",
    "components/orgs-api/",
    "components/gateway/src/organizations/",
    "tests/organizations/",
    "tests/clients/go/",
    "tests/support/histories/src/objects/organization",
    "wit/orgs/",
    "components/gateway/tests/all/organizations/",
];

impl Contracts {
    pub(crate) fn read() -> Self {
        Self {
            auth_method: Contract::read("auth-method"),
            organizations: Contract::read("organizations"),
            security: Contract::read("security"),
        }
    }

    /// The document that a citation in the file at `path` means.
    pub(crate) fn meant(&self, path: &str) -> &Contract {
        let is_of_organizations = ROOMS_OF_ORGANIZATIONS
            .iter()
            .any(|room| path.starts_with(room));
        if is_of_organizations {
            &self.organizations
        } else {
            &self.auth_method
        }
    }

    pub(crate) fn has_rule(&self, id: &str) -> bool {
        [&self.auth_method, &self.organizations, &self.security]
            .iter()
            .any(|contract| contract.rules.contains(id))
    }
}
