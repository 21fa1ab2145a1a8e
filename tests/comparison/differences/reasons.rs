//! Why answers differ, where several rows have one reason.

pub const STRICT_CLIENTS: &str =
    "contract 6.2 and D32: members that newer servers have and strict clients need";
pub const OWN_FACTS: &str = "contract 6.2 and D33: facts about this server";
pub const PARSING: &str = "contract 1.3, rule 3, and D34: what cannot be parsed is refused with a text that repeats nothing of it";
pub const CONVERSION: &str = "contract 1.4 and D35: a field that cannot be converted is named, in the words that are usual for it";
pub const ORDER: &str = "contract 1.6 and D36: token and policy come before the fields";
pub const BAD_TOKEN: &str =
    "contract 1.7 and D37: current daemons look for `invalid token` to decide to log in anew";
pub const ROOT_TOKEN: &str =
    "contract 5.5 and D38: the first token is made by initialization, not by another token";
pub const NO_DEFAULT: &str = "contract 5.4 and D39: `no_default_policy` leaves out what would be added, not what was asked for";
pub const REMAINING_USES: &str = "contract 5.5 and D40: uses are those that remain";
pub const POLICY_MEMBERS: &str = "contract 5.6 and D41: a policy is read as its name and its text";
pub const POLICY_TEXTS: &str =
    "contract 5.6 and D42: the reason is said once, and the path is not said before it";
pub const CONVERTED: &str =
    "contract 5.6 and D43: a name in capitals is stored in small letters, with a warning";
pub const SAME_ALIAS: &str =
    "contract 7.2 and D44: an alias that is written as it is changes nothing";
pub const MOUNT_OBJECT: &str = "contract 6.3 and D45: the mount object of newer servers";
pub const SECRETS: &str =
    "contract 6.1 and D46: `sys/mounts` is optional, and there are no secrets engines here";
pub const OLD_SPELLINGS: &str =
    "contract 5.6 and D47: paths that older clients send, which the reference has given up";
pub const LISTS: &str = "contract 7.2 and D20: an empty list is a list, never null";
pub const UNSENT: &str = "contract 7.2 and D20: what was not sent stays as it is";
pub const ALIAS_OBJECT: &str =
    "contract 7.2 and D48: an alias has the same members wherever it stands";
pub const LISTED: &str = "contract 7.2 and D49: the facts in a list";
pub const STORAGE_ONLY: &str =
    "contract 1.6 and D50: 500 is for failures of the server, not for bad input";
pub const REDIRECTION: &str = "contract 1.1, rule 4, and D51: the client is sent to the cleaned path; nobody reads the page that says so";
pub const CONTENT_TYPE: &str = "contract 1.2 and D52: every answer is of the type application/json, with a list of errors where it is one";
pub const LIST_OPERATION: &str =
    "contract 1.6 and D53: where a path exists and its list does not, it is 405";
