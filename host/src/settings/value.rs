//! The value of a setting as it is written: in the configuration file as a TOML value, elsewhere as text.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use gatehouse_access::RootTokenHash;
use ipnet::IpNet;
use jiff::SignedDuration;
use toml::Value;
use url::Url;

use super::kind::SettingKind;

/// A type that a setting can have.
pub(super) trait SettingValue: Sized {
    /// The values that may be written, in words that follow "expected".
    const EXPECTED: &'static str;
    /// The same, for descriptions of the settings.
    const KIND: &'static SettingKind;

    /// False where a value of another form may be a secret that was put there by mistake, which no message may show.
    const SHOWS_MISTAKES: bool = true;

    /// Reads the text of an environment variable or a flag, or a TOML string.
    fn from_text(text: &str) -> Option<Self>;

    /// Reads a TOML value.
    fn from_toml(value: &Value) -> Option<Self> {
        Self::from_text(value.as_str()?)
    }

    /// The value as it could stand in the configuration file.
    fn to_text(&self) -> String;
}

impl SettingValue for bool {
    const EXPECTED: &'static str = "true or false";
    const KIND: &'static SettingKind = &SettingKind::Boolean;

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        value.as_bool()
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for String {
    const EXPECTED: &'static str = "a text that is not empty";
    const KIND: &'static SettingKind = &SettingKind::Text;

    fn from_text(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| text.trim().to_owned())
    }

    fn to_text(&self) -> String {
        format!("{self:?}")
    }
}

impl SettingValue for RootTokenHash {
    const EXPECTED: &'static str =
        "\"sha256:\" and 64 hexadecimal digits, as `gatehouse operator root-token` prints it";
    const KIND: &'static SettingKind = &SettingKind::Text;

    // An operator may have put the token itself in the place of its hash.
    const SHOWS_MISTAKES: bool = false;

    fn from_text(text: &str) -> Option<Self> {
        Self::from_text(text)
    }

    fn to_text(&self) -> String {
        format!("\"{self}\"")
    }
}

impl SettingValue for PathBuf {
    const EXPECTED: &'static str = "a path";
    const KIND: &'static SettingKind = &SettingKind::Path;

    fn from_text(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::from(text))
    }

    fn to_text(&self) -> String {
        format!("{:?}", self.display().to_string())
    }
}

impl SettingValue for SocketAddr {
    const EXPECTED: &'static str =
        "an address with a port, such as \"127.0.0.1:8200\" or \"[::1]:8200\"";
    const KIND: &'static SettingKind = &SettingKind::Address;

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn to_text(&self) -> String {
        format!("\"{self}\"")
    }
}

impl SettingValue for IpNet {
    const EXPECTED: &'static str =
        "an address or a network, such as \"10.0.0.7\" or \"10.0.0.0/8\"";
    const KIND: &'static SettingKind = &SettingKind::Network;

    fn from_text(text: &str) -> Option<Self> {
        text.parse()
            .ok()
            .or_else(|| text.parse::<IpAddr>().ok().map(Self::from))
    }

    fn to_text(&self) -> String {
        format!("\"{self}\"")
    }
}

impl SettingValue for Url {
    const EXPECTED: &'static str =
        "an absolute URL, such as \"https://oauth2.googleapis.com/token\"";
    const KIND: &'static SettingKind = &SettingKind::Url;

    fn from_text(text: &str) -> Option<Self> {
        Self::parse(text).ok().filter(Self::has_host)
    }

    fn to_text(&self) -> String {
        format!("\"{self}\"")
    }
}

impl SettingValue for Duration {
    const EXPECTED: &'static str =
        "a time longer than zero, such as \"10s\", \"500ms\" or \"1m 30s\"";
    const KIND: &'static SettingKind = &SettingKind::Time;

    fn from_text(text: &str) -> Option<Self> {
        let parsed = match text.trim().parse::<u64>() {
            Ok(seconds) => Self::from_secs(seconds),
            Err(_) => Self::try_from(text.parse::<SignedDuration>().ok()?).ok()?,
        };
        (!parsed.is_zero()).then_some(parsed)
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(seconds) => u64::try_from(*seconds)
                .ok()
                .filter(|seconds| *seconds > 0)
                .map(Self::from_secs),
            other => Self::from_text(other.as_str()?),
        }
    }

    fn to_text(&self) -> String {
        if self.subsec_millis() == 0 {
            format!("\"{}s\"", self.as_secs())
        } else {
            format!("\"{}ms\"", self.as_millis())
        }
    }
}

/// A time between two runs of something; `None` where it never runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval(pub(super) Option<Duration>);

impl SettingValue for Interval {
    const EXPECTED: &'static str = "a time such as \"60s\", or 0 for never";
    const KIND: &'static SettingKind = &SettingKind::Interval;

    fn from_text(text: &str) -> Option<Self> {
        match text.trim() {
            "0" => Some(Self(None)),
            text => Duration::from_text(text).map(|interval| Self(Some(interval))),
        }
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(0) => Some(Self(None)),
            other => Duration::from_toml(other).map(|interval| Self(Some(interval))),
        }
    }

    fn to_text(&self) -> String {
        self.0
            .map_or_else(|| "0".to_owned(), |interval| interval.to_text())
    }
}

/// A setting with a default that the word `none` switches off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OrNone<T>(pub(super) Option<T>);

/// The word that stands for [`OrNone`] without a value.
const NONE: &str = "none";

impl<T: SettingValue> SettingValue for OrNone<T> {
    const EXPECTED: &'static str = "a value that is not empty; \"none\" stands for nothing";
    const KIND: &'static SettingKind = &SettingKind::OrNone(T::KIND);

    fn from_text(text: &str) -> Option<Self> {
        if text.trim() == NONE {
            return Some(Self(None));
        }
        T::from_text(text).map(|value| Self(Some(value)))
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value.as_str() {
            Some(text) => Self::from_text(text),
            None => T::from_toml(value).map(|value| Self(Some(value))),
        }
    }

    fn to_text(&self) -> String {
        self.0
            .as_ref()
            .map_or_else(|| format!("{NONE:?}"), T::to_text)
    }
}

/// A number of things, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count(pub(super) usize);

impl SettingValue for Count {
    const EXPECTED: &'static str = "a whole number above zero";
    const KIND: &'static SettingKind = &SettingKind::Count;

    fn from_text(text: &str) -> Option<Self> {
        text.trim()
            .parse()
            .ok()
            .filter(|count| *count > 0)
            .map(Self)
    }

    fn from_toml(value: &Value) -> Option<Self> {
        usize::try_from(value.as_integer()?)
            .ok()
            .filter(|count| *count > 0)
            .map(Self)
    }

    fn to_text(&self) -> String {
        self.0.to_string()
    }
}

/// A number of bytes, at least one.
#[derive(Debug, Clone, Copy)]
pub(super) struct ByteSize(pub(super) usize);

const BINARY_UNITS: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl SettingValue for ByteSize {
    const EXPECTED: &'static str =
        "a size above zero, such as \"1 MiB\", \"16 KiB\" or a number of bytes";
    const KIND: &'static SettingKind = &SettingKind::Size;

    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let (digits, unit) = BINARY_UNITS
            .iter()
            .find_map(|(name, bytes)| Some((text.strip_suffix(name)?, *bytes)))
            .unwrap_or((text, 1));
        Count::from_text(digits)?.0.checked_mul(unit).map(Self)
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(_) => Count::from_toml(value).map(|count| Self(count.0)),
            other => Self::from_text(other.as_str()?),
        }
    }

    fn to_text(&self) -> String {
        BINARY_UNITS
            .iter()
            .find(|(_, bytes)| self.0.is_multiple_of(*bytes))
            .map_or_else(
                || self.0.to_string(),
                |(name, bytes)| format!("\"{} {name}\"", self.0 / bytes),
            )
    }
}

impl<T: SettingValue> SettingValue for Vec<T> {
    const EXPECTED: &'static str = T::EXPECTED;
    const KIND: &'static SettingKind = &SettingKind::List(T::KIND);

    fn from_text(text: &str) -> Option<Self> {
        text.split(',')
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(T::from_text)
            .collect()
    }

    fn from_toml(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => items.iter().map(T::from_toml).collect(),
            other => Self::from_text(other.as_str()?),
        }
    }

    fn to_text(&self) -> String {
        let items: Vec<String> = self.iter().map(T::to_text).collect();
        format!("[{}]", items.join(", "))
    }
}

/// Gives an enum of unit variants the texts by which settings name them.
macro_rules! named_choices {
    ($choice:ty, $expected:literal, $($variant:ident = $name:literal),+ $(,)?) => {
        impl SettingValue for $choice {
            const EXPECTED: &'static str = $expected;
            const KIND: &'static crate::settings::SettingKind =
                &crate::settings::SettingKind::Choice(&[$($name),+]);

            fn from_text(text: &str) -> Option<Self> {
                match text {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn to_text(&self) -> String {
                format!("{:?}", self.name())
            }
        }

        impl $choice {
            /// The word for it in the configuration.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}
pub(super) use named_choices;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_or_are_seconds_and_are_never_zero() {
        assert_eq!(Duration::from_text("10s"), Some(Duration::from_secs(10)));
        assert_eq!(Duration::from_text("1m 30s"), Some(Duration::from_secs(90)));
        assert_eq!(
            Duration::from_text("250ms"),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            Duration::from_toml(&Value::Integer(7)),
            Some(Duration::from_secs(7))
        );
        for refused in ["0", "0s", "-1s", "soon", ""] {
            assert_eq!(Duration::from_text(refused), None, "{refused:?}");
        }
    }

    #[test]
    fn sizes_have_binary_units_or_are_bytes_and_are_never_zero() {
        let size = |text| ByteSize::from_text(text).map(|size| size.0);
        assert_eq!(size("16 KiB"), Some(16 * 1024));
        assert_eq!(size("1MiB"), Some(1 << 20));
        assert_eq!(size("4096"), Some(4096));
        for refused in ["0", "1 MB", "-1", "KiB", "99999999999999999999 GiB"] {
            assert_eq!(size(refused), None, "{refused:?}");
        }
        assert_eq!(ByteSize(1 << 20).to_text(), "\"1 MiB\"");
        assert_eq!(ByteSize(1000).to_text(), "1000");
    }

    #[test]
    fn an_interval_of_zero_means_never() {
        for text in ["0", "60s", "500ms"] {
            let interval = Interval::from_text(text).unwrap();
            assert_eq!(interval.to_text().trim_matches('"'), text);
        }
        assert_eq!(
            Interval::from_toml(&Value::Integer(0)),
            Some(Interval(None))
        );
        assert_eq!(Interval::from_text("-1s"), None);
        assert_eq!(Interval::from_text("never"), None);
    }

    #[test]
    fn the_word_none_stands_for_nothing() {
        let some = OrNone(Some("host".to_owned()));
        for (text, value) in [("host", some), ("none", OrNone(None))] {
            assert_eq!(OrNone::from_text(text).as_ref(), Some(&value));
            assert_eq!(value.to_text(), format!("{text:?}"));
        }
        assert_eq!(OrNone::<String>::from_text(" "), None);
        let five = OrNone(Some(Count(5)));
        assert_eq!(OrNone::from_toml(&Value::Integer(5)).as_ref(), Some(&five));
        assert_eq!(OrNone::from_text("5").as_ref(), Some(&five));
        assert_eq!(OrNone::<Count>::from_toml(&Value::Integer(0)), None);
        let none = Value::String("none".into());
        assert_eq!(OrNone::<Count>::from_toml(&none), Some(OrNone(None)));
    }

    #[test]
    fn lists_are_arrays_in_the_file_and_comma_separated_elsewhere() {
        let networks = Vec::<IpNet>::from_text("10.0.0.7, 192.168.0.0/16").unwrap();
        assert_eq!(networks.to_text(), "[\"10.0.0.7/32\", \"192.168.0.0/16\"]");
        assert_eq!(Vec::<IpNet>::from_text(""), Some(Vec::new()));
        let array = Value::Array(vec![Value::String("::1".into())]);
        assert_eq!(Vec::<IpNet>::from_toml(&array).unwrap().len(), 1);
        assert_eq!(Vec::<IpNet>::from_text("10.0.0.7,nowhere"), None);
    }
}
