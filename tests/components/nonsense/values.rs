//! Values of any type: the ends of what it allows, what parsers stumble over, and now and then something sensible, so that a call gets
//! further than its first check.

use std::sync::LazyLock;

use fastrand::Rng;
use wasmtime::component::{Type, Val};

/// Bytes that all texts and lists of one call may come to, so that it stays within what an instance may hold.
const BYTES_PER_CALL: usize = 4 << 20;

/// Texts with which things go wrong.
static BAD: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut bad: Vec<String> = [
        "",
        "\0",
        "a\0b",
        " ",
        "\n",
        "/",
        "//",
        ".",
        "..",
        "../../etc",
        "*",
        "+",
        "*/*",
        "%",
        "%00",
        "%zz",
        "{{",
        "{{identity.entity.id}}",
        "é",
        "\u{202e}nimda",
        "\u{feff}",
        "\u{10ffff}",
        "ǅ",
        "İ",
        "ß",
        "-1",
        "+0",
        "0x10",
        "1e999",
        "18446744073709551616",
        "99999999999999999999d",
        "9223372036854775807s",
        "-9223372036854775808",
        "1h-1s",
        "NaN",
        "null",
        "[]",
        "{}",
        "{",
        "\"",
        "'",
        "a:b:c",
        ":",
        "::",
        "::1",
        "::ffff:1.2.3.4/129",
        "0.0.0.0/0",
        "1.2.3.4/33",
        "999.1.1.1",
        "[::1]:80",
        "fe80::1%eth0",
        "http://",
        "https://a@b",
        "https://[::1",
        "file:///etc/passwd",
        "HTTPS://EXAMPLE.COM:99999/",
        "https://example.com/../..",
        "a@b",
        "@",
        "a@@b",
        "60 24 32 13 8",
        "* * 30 2 *",
        "*/0 * * * *",
        "a.b.c",
        "..",
        "e30.e30.e30",
        "eyJhbGciOiJub25lIn0.e30.",
        "-----BEGIN PRIVATE KEY-----",
        "hvs.",
        "hvb.AAAA",
        "s.x",
        "RFC3339",
        "2026-13-45T25:61:61Z",
        "9999-12-31T23:59:59Z",
        "-0001-01-01T00:00:00Z",
    ]
    .map(str::to_owned)
    .into();
    bad.extend([
        "a".repeat(256),
        "/".repeat(600),
        "é".repeat(5_000),
        "[".repeat(20_000),
        "{\"a\":".repeat(20_000),
        "(".repeat(20_000),
        "path \"a\" { ".repeat(5_000),
        format!(
            "path \"{}\" {{ capabilities = [\"read\"] }}",
            "+/".repeat(10_000)
        ),
        "{{identity.entity.metadata.".repeat(5_000),
        "9".repeat(4_000),
        "\0".repeat(65_536),
        "x".repeat(1 << 20),
    ]);
    bad
});

/// Texts that mean something somewhere.
const GOOD: [&str; 34] = [
    "m1",
    "dev",
    "gcp",
    "gcp/",
    "root",
    "default",
    "token/",
    "auth/gcp/",
    "iam",
    "gce",
    "role_id",
    "service",
    "batch",
    "read",
    "list",
    "admin",
    "owners",
    "org-1",
    "acme",
    "dev@p1.iam.gserviceaccount.com",
    "dev@example.com",
    "10.0.0.0/8",
    "127.0.0.1",
    "https://example.com",
    "https://gate.example.com:8200",
    "1h",
    "3600",
    "0 3 * * SAT",
    "path \"secret/*\" { capabilities = [\"read\"] }",
    "team:web",
    "user-1",
    "2027-01-01T00:00:00Z",
    "vault/dev",
    "{\"a\":1}",
];

/// Numbers at which sums and products go wrong.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    60,
    255,
    1000,
    1001,
    3600,
    32 * 24 * 3600,
    (1 << 31) - 1,
    (1 << 32) - 1,
    253_402_300_800,
    (1 << 53) + 1,
    (1 << 63) - 1,
    1 << 63,
    u64::MAX,
];

/// How a call is made up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mood {
    /// Nothing in it: empty texts and lists, no options, first cases, zeros.
    Empty,
    /// Everything in it, as large as it gets: last cases.
    Full,
    /// Anything.
    Random,
    /// Anything, most of it sensible.
    Plausible,
}

/// Makes up the parameters of one call.
pub struct Speaker {
    mood: Mood,
    random: Rng,
    room: usize,
}

impl Speaker {
    /// The arguments of call number `round` of the function `name`, the same at every run.
    pub fn new(round: u64, name: &str) -> Self {
        let seed = name.bytes().fold(round, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let mood = match round {
            0 => Mood::Empty,
            1 => Mood::Full,
            round if round % 2 == 0 => Mood::Random,
            _ => Mood::Plausible,
        };
        Self {
            mood,
            random: Rng::with_seed(seed),
            room: BYTES_PER_CALL,
        }
    }

    /// A value of type `ty` for what is called `name`.
    pub fn value(&mut self, name: &str, ty: &Type) -> Val {
        match ty {
            Type::Bool => Val::Bool(self.below(2) == 1),
            Type::S8 => Val::S8(self.number() as i8),
            Type::U8 => Val::U8(self.number() as u8),
            Type::S16 => Val::S16(self.number() as i16),
            Type::U16 => Val::U16(self.number() as u16),
            Type::S32 => Val::S32(self.number() as i32),
            Type::U32 => Val::U32(self.number() as u32),
            Type::S64 => Val::S64(self.number() as i64),
            Type::U64 => Val::U64(self.number()),
            Type::Float32 => Val::Float32(self.number() as f32),
            Type::Float64 => Val::Float64(f64::from_bits(self.number())),
            Type::Char => Val::Char(['\0', 'a', '\u{10ffff}'][self.below(3)]),
            Type::String => Val::String(self.text(name)),
            Type::List(list) if list.ty() == Type::U8 => {
                let bytes = self.text(name).into_bytes();
                Val::List(bytes.into_iter().map(Val::U8).collect())
            }
            Type::List(list) => {
                let length = self.length();
                Val::List((0..length).map(|_| self.value(name, &list.ty())).collect())
            }
            Type::Record(record) => Val::Record(
                record
                    .fields()
                    .map(|field| (field.name.to_owned(), self.value(field.name, &field.ty)))
                    .collect(),
            ),
            Type::Tuple(tuple) => {
                Val::Tuple(tuple.types().map(|ty| self.value(name, &ty)).collect())
            }
            Type::Variant(variant) => {
                let cases: Vec<_> = variant.cases().collect();
                let case = &cases[self.below(cases.len())];
                let held = case.ty.as_ref().map(|ty| Box::new(self.value(name, ty)));
                Val::Variant(case.name.to_owned(), held)
            }
            Type::Enum(names) => {
                let names: Vec<_> = names.names().collect();
                Val::Enum(names[self.below(names.len())].to_owned())
            }
            Type::Option(option) => {
                let held = self.below(2) == 1;
                Val::Option(held.then(|| Box::new(self.value(name, &option.ty()))))
            }
            Type::Result(result) => {
                let mut held = |ty: Option<Type>| ty.map(|ty| Box::new(self.value(name, &ty)));
                Val::Result(Ok(held(result.ok())))
            }
            Type::Flags(flags) => {
                let all: Vec<String> = flags.names().map(str::to_owned).collect();
                Val::Flags(all.into_iter().filter(|_| self.below(2) == 1).collect())
            }
            other => panic!("{name}: a type of which there was none before: {other:?}"),
        }
    }

    /// Which of `count` possibilities.
    fn below(&mut self, count: usize) -> usize {
        match self.mood {
            Mood::Empty => 0,
            Mood::Full => count - 1,
            Mood::Random | Mood::Plausible => self.random.usize(..count),
        }
    }

    fn number(&mut self) -> u64 {
        match self.mood {
            Mood::Plausible if self.random.u8(..4) > 0 => self.random.u64(..7200),
            _ => NUMBERS[self.below(NUMBERS.len())],
        }
    }

    fn length(&mut self) -> usize {
        match self.mood {
            Mood::Empty => 0,
            Mood::Full => 20,
            Mood::Random => [0, 1, 2, 3, 40][self.random.usize(..5)],
            Mood::Plausible => self.random.usize(..3),
        }
    }

    fn text(&mut self, name: &str) -> String {
        let text = match self.mood {
            Mood::Plausible if self.random.u8(..8) > 0 => self.sensible(name),
            _ => BAD[self.below(BAD.len())].clone(),
        };
        match self.room.checked_sub(text.len()) {
            Some(room) => {
                self.room = room;
                text
            }
            None => String::new(),
        }
    }

    /// A value that could stand in a field of this name, or in some other one.
    fn sensible(&mut self, name: &str) -> String {
        match name {
            "mount" | "id" | "mount-id" if self.random.bool() => "m1".to_owned(),
            "path" if self.random.bool() => "gcp/".to_owned(),
            "name" | "role" if self.random.bool() => "dev".to_owned(),
            _ => GOOD[self.random.usize(..GOOD.len())].to_owned(),
        }
    }
}
