//! One simulation: what its seed makes it do, and what it finds.

use std::fmt::Display;

use gatehouse_access::{
    AccessService, Issued, LookupError, MountRequest, Mounts as _, ServiceError, System as _,
    Tidying as _, TokenLookup as _, TokenReference,
};
use gatehouse_ports::Clock;
use gatehouse_ports::doubles::{ManualClock, SeededRandom};

use super::model::{Model, Origin, Standing, Token};
use super::ports::{Bug, Dice, WeatherStore};

/// Operations of one simulation.
pub const STEPS: usize = 60;
/// The second at which a simulation begins.
const START: u64 = 1_700_000_000;
pub const ROOT: &str = "root-for-tests";

/// A line for each step.
pub type Trace = Vec<String>;

#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub why: String,
    pub trace: Trace,
}

pub type Service<'a> = AccessService<&'a WeatherStore<'a>, &'a ManualClock, &'a SeededRandom>;

/// The capability in its weather, beside the model of what must hold.
pub struct World<'a> {
    pub clock: &'a ManualClock,
    pub store: &'a WeatherStore<'a>,
    pub random: &'a SeededRandom,
    pub bug: Bug,
    /// Two instances over one store.
    pub instances: [Service<'a>; 2],
    pub dice: Dice,
    pub model: Model,
    /// How many identifiers were chosen; none is chosen twice.
    pub chosen: u64,
    /// Tokens that may be there though their requests failed.
    pub ghosts: usize,
    /// The seconds that a planted bug keeps the clock behind the true time.
    pub behind: i64,
    pub trace: Trace,
}

/// Runs the simulation of `seed` to its end or to the first thing that does not hold.
pub fn simulate(seed: u64, bug: Bug) -> Result<Trace, Violation> {
    let clock = ManualClock::at_seconds(START);
    let store = WeatherStore::new(&clock, seed ^ 0x5706, bug);
    let random = SeededRandom::new(seed);
    let instance = || AccessService::new(&store, &clock, &random);
    let mut world = World {
        clock: &clock,
        store: &store,
        random: &random,
        bug,
        instances: [instance(), instance()],
        dice: Dice::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)),
        model: Model::default(),
        chosen: 0,
        ghosts: 0,
        behind: 0,
        trace: Trace::new(),
    };
    match world.run() {
        Ok(()) => Ok(world.trace),
        Err(why) => Err(Violation {
            why,
            trace: world.trace,
        }),
    }
}

pub const fn is_weather(failure: &ServiceError) -> bool {
    matches!(
        failure,
        ServiceError::Unavailable(_) | ServiceError::Contended
    )
}

impl<'a> World<'a> {
    fn run(&mut self) -> Result<(), String> {
        self.begin()?;
        for _ in 0..STEPS {
            self.model.pass(self.now());
            let storm = self.dice.chance(40);
            self.store.set_storm(storm);
            let (commits, unanswered) = (self.store.commits(), self.store.unanswered());
            let said = self.step()?;
            self.store.set_storm(false);
            self.model.pass(self.now());
            let untouched = self.store.commits() == commits;
            let answered = self.store.unanswered() == unanswered;
            self.trace.push(format!(
                "{} {said} [{} {} {:016x}]",
                self.clock.now_milliseconds(),
                if storm { "storm" } else { "calm" },
                self.store.commits(),
                self.store.digest(),
            ));
            // A login writes its entity and its token together, a child is one commit, and so is a renewal.
            let single = ["login", "child", "renew", "use"];
            let failed = said.contains(": failed") || said.contains(": refused");
            if failed && answered && !untouched && single.iter().any(|it| said.starts_with(it)) {
                return Err(format!("{said}: a failed request left something"));
            }
            if self.dice.chance(30) && !self.model.tokens.is_empty() {
                let token = self.dice.place(self.model.tokens.len());
                self.look(token)?;
            }
        }
        self.end()
    }

    fn begin(&self) -> Result<(), String> {
        let access = &self.instances[0];
        let told = |error: &dyn Display| format!("beginning: {error}");
        access.initialize(Some(ROOT)).map_err(|it| told(&it))?;
        let request = MountRequest {
            mount_type: "gcp".to_owned(),
            ..MountRequest::default()
        };
        access.enable_mount("gcp", &request).map_err(|it| told(&it))
    }

    /// Looks at every token by both instances, before and after maintenance, and at the list of accessors.
    fn end(&mut self) -> Result<(), String> {
        for _ in 0..2 {
            for token in 0..self.model.tokens.len() {
                self.look(token)?;
            }
            for instance in &self.instances {
                instance.tidy_tokens().map_err(|it| it.to_string())?;
                instance.maintain().map_err(|it| it.to_string())?;
            }
        }
        let now = self.now();
        let listed = self.instances[0].list_accessors(None, 10_000);
        let listed = listed.map_err(|it| it.to_string())?.keys;
        let mut unknown = listed.len();
        for (place, token) in self.model.tokens.iter().enumerate() {
            let is_listed = listed.contains(&token.accessor);
            unknown -= usize::from(is_listed);
            if is_listed && self.model.must_be_refused(place, now) {
                return Err(format!("the accessor of token {place} is listed"));
            }
            if !is_listed && self.model.must_be_accepted(place, now) {
                return Err(format!("the accessor of token {place} is not listed"));
            }
        }
        // The root token has an accessor too.
        if unknown > self.ghosts + 1 {
            return Err(format!("{unknown} accessors of tokens that were not made"));
        }
        self.trace.push(format!(
            "end: {} listed [{:016x}]",
            listed.len(),
            self.store.digest()
        ));
        Ok(())
    }

    fn step(&mut self) -> Result<String, String> {
        if self.model.tokens.is_empty() {
            return self.log_in();
        }
        match self.dice.below(100) {
            0..12 => self.log_in(),
            12..32 => self.create(),
            32..48 => self.use_once(),
            48..60 => self.renew(),
            60..68 => self.revoke(),
            68..72 => self.revoke_alone(),
            72..74 => self.revoke_prefix(),
            74..86 => Ok(self.move_clock()),
            86..94 => self.maintain(),
            _ => Ok(self.restart()),
        }
    }

    /// The true time, by which the model goes.
    pub fn now(&self) -> u64 {
        let shown = self.clock.now_seconds();
        shown.saturating_add_signed(self.behind)
    }

    pub fn instance(&mut self) -> usize {
        self.dice.place(self.instances.len())
    }

    /// Any token; more often a younger one.
    pub fn any(&mut self) -> usize {
        let count = self.model.tokens.len();
        let first = if self.dice.chance(60) {
            count.saturating_sub(8)
        } else {
            0
        };
        first + self.dice.place(count - first)
    }

    pub fn learn(&mut self, token: usize, accepted: bool, from: u64) -> Result<(), String> {
        let span = (from, self.now());
        self.model.observe(token, accepted, span)
    }

    pub fn keep(&mut self, issued: &Issued, origin: Origin, parent: Option<usize>, longest: u64) {
        let grant = &issued.grant;
        let end = self.now() + grant.lease_duration;
        self.model.tokens.push(Token {
            text: issued.client_token.clone(),
            accessor: grant.accessor.clone(),
            origin,
            parent,
            loose: false,
            standing: Standing::Lives,
            // A pause between two attempts moves the clock by less than a second.
            ends: (end.saturating_sub(1), end),
            longest: longest + 1,
            uses: (grant.num_uses > 0).then_some((grant.num_uses, grant.num_uses)),
        });
    }

    pub fn uses(&mut self) -> u64 {
        if self.dice.chance(30) {
            1 + self.dice.below(3)
        } else {
            0
        }
    }

    fn move_clock(&mut self) -> String {
        let now = self.now();
        let (to, said) = if self.dice.chance(25) {
            (now - self.dice.below(120), "back")
        } else {
            (now + 1 + self.dice.below(150), "on")
        };
        if self.bug == Bug::StaleClock && self.dice.chance(50) {
            self.behind += to.cast_signed() - now.cast_signed();
        } else {
            self.clock.set_milliseconds(to * 1000);
            self.behind = 0;
        }
        format!("clock: {said} to {to}")
    }

    fn maintain(&mut self) -> Result<String, String> {
        let instance = self.instance();
        let access = &self.instances[instance];
        let done = if self.dice.chance(30) {
            access.tidy_tokens().map(|_| ())
        } else {
            access.maintain()
        };
        match done {
            Ok(()) => Ok(format!("maintain: done by {instance}")),
            Err(failure) if is_weather(&failure) => {
                Ok(format!("maintain: failed by {instance}: {failure}"))
            }
            Err(failure) => Err(format!("maintenance: {failure}")),
        }
    }

    fn restart(&mut self) -> String {
        let instance = self.instance();
        self.instances[instance] = AccessService::new(self.store, self.clock, self.random);
        format!("restart of {instance}")
    }

    /// Looks a token up in calm weather, by its text and by its accessor, at both instances; all have to say the same.
    fn look(&mut self, token: usize) -> Result<(), String> {
        let Token { text, accessor, .. } = &self.model.tokens[token];
        let references = [
            &TokenReference::Id(text.into()),
            &TokenReference::Accessor(accessor.into()),
        ];
        let mut found = Vec::new();
        for instance in &self.instances {
            for reference in references {
                found.push(match instance.lookup_token(reference) {
                    Ok(view) => Some(view),
                    Err(LookupError::UnknownToken) => None,
                    Err(error) => return Err(format!("looking at {token}: {error}")),
                });
            }
        }
        let first = found.swap_remove(0);
        if found.iter().any(|other| *other != first) {
            return Err(format!("token {token} is not the same everywhere"));
        }
        let now = self.now();
        self.model.observe(token, first.is_some(), (now, now))?;
        let Some(view) = first else {
            self.trace.push(format!("look: refused of {token}"));
            return Ok(());
        };
        let end = self.model.tokens[token].settle(&view)?;
        self.trace
            .push(format!("look: accepted of {token} to {end}"));
        Ok(())
    }
}
