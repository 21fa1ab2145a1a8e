//! One simulation: what its seed makes it do, and what it finds.

use std::collections::BTreeMap;
use std::fmt::Display;

use gatehouse_access::{
    AccessService, CreateError, CreateRequest, Failure, Issued, LeaseTree as _, Lifetime,
    LoginError, LoginGrant, Logins as _, LookupError, MountRequest, Mounts as _, Operation, Parent,
    PrefixError, Refusal, RenewError, Renewal as _, Request, Requests as _, Revalidated,
    Revocation as _, RevokeError, System as _, Tidying as _, TokenCreation as _, TokenLookup as _,
    TokenParameters, TokenReference,
};
use gatehouse_ports::Clock;
use gatehouse_ports::doubles::SeededRandom;

use super::model::{Model, Origin, Standing, Token};
use super::ports::{Bug, Dice, SetClock, WeatherStore};

/// Operations of one simulation.
pub const STEPS: usize = 60;
/// The second at which a simulation begins.
const START: u64 = 1_700_000_000;
/// Most tokens above one.
const DEPTH: usize = 6;
const ROOT: &str = "root-for-tests";

/// A line for each step.
pub type Trace = Vec<String>;

#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub why: String,
    pub trace: Trace,
}

type Service<'a> = AccessService<&'a WeatherStore<'a>, &'a SetClock, &'a SeededRandom>;

struct World<'a> {
    clock: &'a SetClock,
    store: &'a WeatherStore<'a>,
    random: &'a SeededRandom,
    bug: Bug,
    /// Two instances over one store.
    instances: [Service<'a>; 2],
    dice: Dice,
    model: Model,
    /// How many identifiers were chosen; none is chosen twice.
    chosen: u64,
    /// Tokens that may be there though their requests failed.
    ghosts: usize,
    /// The seconds that a planted bug keeps the clock behind the true time.
    behind: i64,
    trace: Trace,
}

/// Runs the simulation of `seed` to its end or to the first thing that does not hold.
pub fn simulate(seed: u64, bug: Bug) -> Result<Trace, Violation> {
    let clock = SetClock::at_seconds(START);
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

/// How a request ended that nothing forbids to end so.
enum Outcome<T> {
    Done(T),
    /// The token was not accepted.
    Refused,
    /// The store failed.
    Failed,
}

fn unexpected<T>(what: &str, error: impl Display) -> Result<Outcome<T>, String> {
    Err(format!("{what}: {error}"))
}

const fn is_weather(failure: &Failure) -> bool {
    matches!(failure, Failure::Unavailable(_) | Failure::Contended)
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
    fn now(&self) -> u64 {
        let shown = self.clock.now_seconds();
        shown.saturating_add_signed(self.behind)
    }

    fn instance(&mut self) -> usize {
        self.dice.place(self.instances.len())
    }

    /// Any token; more often a younger one.
    fn any(&mut self) -> usize {
        let count = self.model.tokens.len();
        let first = if self.dice.chance(60) {
            count.saturating_sub(8)
        } else {
            0
        };
        first + self.dice.place(count - first)
    }

    fn learn(&mut self, token: usize, accepted: bool, from: u64) -> Result<(), String> {
        let span = (from, self.now());
        self.model.observe(token, accepted, span)
    }

    fn keep(&mut self, issued: &Issued, origin: Origin, parent: Option<usize>, longest: u64) {
        let grant = &issued.grant;
        let end = self.now() + grant.lease_duration;
        self.model.tokens.push(Token {
            text: issued.client_token.expose().to_owned(),
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

    fn uses(&mut self) -> u64 {
        if self.dice.chance(30) {
            1 + self.dice.below(3)
        } else {
            0
        }
    }

    fn log_in(&mut self) -> Result<String, String> {
        let (ttl, longest) = (20 + self.dice.below(300), 400 + self.dice.below(600));
        let num_uses = self.uses();
        let alias = self.dice.below(4);
        let instance = self.instance();
        let unanswered = self.store.unanswered();
        let request = Request {
            token: None,
            operation: Operation::Update,
            path: "auth/gcp/login".into(),
            source_address: None,
            wrap_ttl: None,
            parameters: None,
        };
        let mount = match self.instances[instance].admit(&request) {
            Ok(admission) => admission.mount.ok_or("a login without a mount")?,
            Err(Refusal::Failure(failure)) if is_weather(&failure) => {
                return Ok(format!("login: failed {failure}"));
            }
            Err(refusal) => return Err(format!("login: {refusal}")),
        };
        let grant = LoginGrant {
            mount_id: mount.id,
            mount_path: mount.path,
            role: "dev".to_owned(),
            alias_name: alias.to_string(),
            metadata: BTreeMap::new().into_iter().collect(),
            display_name: "dev".to_owned(),
            group_aliases: None,
            parameters: TokenParameters {
                lifetime: Lifetime {
                    ttl,
                    max_ttl: longest,
                    ..Lifetime::default()
                },
                num_uses,
                ..TokenParameters::default()
            },
            renewal_state: vec![1],
            source_address: None,
        };
        match self.instances[instance].issue_login(&grant) {
            Ok(issued) => {
                let longest = self.now() + longest;
                self.keep(&issued, Origin::Login, None, longest);
                let made = self.model.tokens.len() - 1;
                let accessor = &self.model.tokens[made].accessor;
                Ok(format!("login: made {made} by {instance}: {accessor}"))
            }
            Err(LoginError::Failure(failure)) if is_weather(&failure) => {
                self.ghosts += usize::from(self.store.unanswered() != unanswered);
                Ok(format!("login: failed {failure}"))
            }
            Err(error) => Err(format!("login: {error}")),
        }
    }

    fn create(&mut self) -> Result<String, String> {
        let parent = self.any();
        let is_limited = self.model.tokens[parent].uses.is_some();
        let by_root = self.dice.chance(25) || is_limited || self.model.chain(parent).len() > DEPTH;
        let orphan = self.dice.chance(15);
        let (ttl, longest) = (10 + self.dice.below(300), 200 + self.dice.below(800));
        let num_uses = self.uses();
        let instance = self.instance();
        // Such a token has its record elsewhere than one that was generated.
        let id = self.dice.chance(20).then(|| {
            self.chosen += 1;
            format!("chosen-{}", self.chosen)
        });
        let request = CreateRequest {
            id,
            policies: Some(vec!["default".to_owned()]),
            no_parent: orphan,
            ttl: Some(ttl.cast_signed()),
            explicit_max_ttl: Some(longest.cast_signed()),
            num_uses: Some(num_uses.cast_signed()),
            ..CreateRequest::default()
        };
        let text = if by_root {
            ROOT.to_owned()
        } else {
            self.model.tokens[parent].text.clone()
        };
        let by = Parent {
            token: text.clone(),
            sudo: true,
            limited_uses: false,
            orphan_path: false,
        };
        let unanswered = self.store.unanswered();
        let from = self.now();
        let outcome = match self.instances[instance].create_token(&by, &request) {
            Ok(issued) => Outcome::Done(issued),
            Err(CreateError::InvalidToken) => Outcome::Refused,
            Err(CreateError::Failure(failure)) if is_weather(&failure) => Outcome::Failed,
            Err(error) => unexpected("child", error)?,
        };
        match outcome {
            Outcome::Done(issued) => {
                if !by_root {
                    self.learn(parent, true, from)?;
                }
                let longest = self.now() + longest;
                let above = Some(parent).filter(|_| !by_root && !orphan);
                self.keep(&issued, Origin::Creation, above, longest);
                let made = self.model.tokens.len() - 1;
                Ok(format!("child: made {made} of {above:?} by {instance}"))
            }
            Outcome::Refused if by_root => Err("the root token was refused".to_owned()),
            Outcome::Refused => {
                self.learn(parent, false, from)?;
                Ok(format!("child: refused to {parent} by {instance}"))
            }
            Outcome::Failed => {
                self.ghosts += usize::from(self.store.unanswered() != unanswered);
                Ok(format!("child: failed by {instance}"))
            }
        }
    }

    fn use_once(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let text = self.model.tokens[token].text.clone();
        let request = Request {
            token: Some(text.clone()),
            operation: Operation::Read,
            path: "auth/token/lookup-self".into(),
            source_address: None,
            wrap_ttl: None,
            parameters: None,
        };
        let from = self.now();
        let accepted = match self.instances[instance].admit(&request) {
            Ok(_) => true,
            Err(Refusal::InvalidToken) => false,
            Err(Refusal::Failure(failure)) if is_weather(&failure) => {
                if let Some((fewest, _)) = &mut self.model.tokens[token].uses {
                    *fewest = fewest.saturating_sub(1);
                }
                return Ok(format!("use: failed of {token} by {instance}: {failure}"));
            }
            Err(refusal) => return Err(format!("use of {token}: {refusal}")),
        };
        self.learn(token, accepted, from)?;
        if accepted && let Some((fewest, most)) = &mut self.model.tokens[token].uses {
            (*fewest, *most) = (fewest.saturating_sub(1), *most - 1);
        }
        let said = if accepted { "accepted" } else { "refused" };
        Ok(format!("use: {said} of {token} by {instance}"))
    }

    fn renew(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let increment = 10 + self.dice.below(400);
        let Token { text, origin, .. } = &self.model.tokens[token];
        let (text, origin) = (text.clone(), *origin);
        // A login's longest life comes from its role at every renewal.
        let fresh = Revalidated {
            lifetime: Lifetime {
                max_ttl: 400,
                ..Lifetime::default()
            },
            group_aliases: None,
        };
        let fresh = Some(&fresh).filter(|_| origin == Origin::Login);
        let from = self.now();
        let renewed = self.instances[instance].renew_token(
            &TokenReference::Id(text.clone()),
            increment,
            fresh,
        );
        match renewed {
            Ok(grant) => {
                self.learn(token, true, from)?;
                let end = self.now() + grant.lease_duration;
                let token_record = &mut self.model.tokens[token];
                if end > token_record.longest {
                    return Err(format!("token {token} was renewed beyond its longest life"));
                }
                token_record.ends = (end.saturating_sub(1), end);
                Ok(format!("renew: accepted of {token} by {instance} to {end}"))
            }
            Err(RenewError::UnknownToken) => {
                self.learn(token, false, from)?;
                Ok(format!("renew: refused of {token} by {instance}"))
            }
            Err(RenewError::PastMaxTtl) => {
                self.learn(token, true, from)?;
                Ok(format!("renew: past the end of {token} by {instance}"))
            }
            Err(RenewError::Failure(failure)) if is_weather(&failure) => {
                let longest = self.model.tokens[token].longest;
                self.model.tokens[token].ends = (0, longest);
                Ok(format!("renew: failed of {token} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("renewing {token}: {error}")),
        }
    }

    fn revoke(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let by_accessor = self.dice.chance(50);
        let Token { text, accessor, .. } = &self.model.tokens[token];
        let reference = if by_accessor {
            &TokenReference::Accessor(accessor.into())
        } else {
            &TokenReference::Id(text.into())
        };
        let ended = self.instances[instance].revoke_token(reference);
        let now = self.now();
        match ended {
            Ok(true) => {
                self.model.end(true, |place, _| place == token);
                Ok(format!("revoke: ended {token} by {instance}"))
            }
            // One whose time is over is no token, and is not touched.
            Ok(false) => {
                self.learn(token, false, now)?;
                Ok(format!("revoke: nothing of {token} by {instance}"))
            }
            Err(RevokeError::Failure(failure)) if is_weather(&failure) => {
                self.model.end(false, |place, _| place == token);
                Ok(format!(
                    "revoke: failed of {token} by {instance}: {failure}"
                ))
            }
            Err(error) => Err(format!("revoking {token}: {error}")),
        }
    }

    fn revoke_alone(&mut self) -> Result<String, String> {
        let token = self.any();
        let instance = self.instance();
        let text = self.model.tokens[token].text.clone();
        let from = self.now();
        match self.instances[instance].revoke_token_alone(&TokenReference::Id(text.clone())) {
            Ok(true) => {
                self.learn(token, true, from)?;
                self.model.leave_children(token, true);
                self.model.end(true, |place, _| place == token);
                Ok(format!("alone: ended {token} by {instance}"))
            }
            Ok(false) => {
                self.learn(token, false, from)?;
                Ok(format!("alone: nothing of {token} by {instance}"))
            }
            Err(RevokeError::Failure(failure)) if is_weather(&failure) => {
                self.model.leave_children(token, false);
                self.model.end(false, |place, _| place == token);
                Ok(format!("alone: failed of {token} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("revoking {token} alone: {error}")),
        }
    }

    fn revoke_prefix(&mut self) -> Result<String, String> {
        let instance = self.instance();
        let (prefix, origin) = match self.dice.below(3) {
            0 => ("auth/gcp", Origin::Login),
            1 => ("auth/gcp/login", Origin::Login),
            _ => ("auth/token/create", Origin::Creation),
        };
        match self.instances[instance].revoke_prefix(prefix) {
            Ok(()) => {
                self.model.end(true, |_, token| token.origin == origin);
                Ok(format!("prefix: ended {prefix} by {instance}"))
            }
            Err(PrefixError::Failure(failure)) if is_weather(&failure) => {
                self.model.end(false, |_, token| token.origin == origin);
                Ok(format!("prefix: failed {prefix} by {instance}: {failure}"))
            }
            Err(error) => Err(format!("revoking below {prefix}: {error}")),
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
            self.clock.set_seconds(to);
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
