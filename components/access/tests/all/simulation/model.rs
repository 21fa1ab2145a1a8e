//! The plain model that a simulation is compared with: what must be accepted, what must be refused, and what cannot be known.

use gatehouse_access::TokenView;

/// Knowledge of one token apart from the time and from its parents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Lives,
    /// A request that would end it failed, or its end came and the clock was set back.
    Unknown,
    Ended,
}

/// Where a token came from, which a revocation by prefix names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Login,
    Creation,
}

#[derive(Debug)]
pub struct Token {
    pub text: String,
    pub accessor: String,
    pub origin: Origin,
    pub parent: Option<usize>,
    /// True if its parent was revoked alone, with an unknown outcome.
    pub loose: bool,
    pub standing: Standing,
    /// The earliest and the latest second at which it may end.
    pub ends: (u64, u64),
    /// No renewal takes it beyond this second.
    pub longest: u64,
    /// The fewest and the most uses that may be left; `None` without a limit.
    pub uses: Option<(u64, u64)>,
}

impl Token {
    /// Compares the view of the token with the values that the model allows, narrows those to the values shown, and returns the token's end.
    pub fn settle(&mut self, view: &TokenView) -> Result<u64, String> {
        let end = view.expire_time.ok_or("a token without an end")?;
        if end > self.ends.1 || end > self.longest || end < self.ends.0 {
            return Err(format!(
                "{} ends at {end}, and must end within {:?}",
                self.accessor, self.ends
            ));
        }
        self.ends = (end, end);
        if let Some((fewest, most)) = &mut self.uses {
            if !(*fewest..=*most).contains(&view.num_uses) {
                return Err(format!("{} has {} uses left", self.accessor, view.num_uses));
            }
            (*fewest, *most) = (view.num_uses, view.num_uses);
        }
        Ok(end)
    }
}

#[derive(Debug, Default)]
pub struct Model {
    pub tokens: Vec<Token>,
}

impl Model {
    /// The token and the ancestors that its validity rests on.
    pub fn chain(&self, token: usize) -> Vec<usize> {
        let mut chain = vec![token];
        while let Some(parent) = chain.last().and_then(|last| self.tokens[*last].parent)
            && !self.tokens[*chain.last().unwrap()].loose
        {
            chain.push(parent);
        }
        chain
    }

    pub fn is_past(&self, token: usize, now: u64) -> bool {
        let chain = self.chain(token);
        chain.iter().any(|it| now >= self.tokens[*it].ends.1)
    }

    pub fn must_be_refused(&self, token: usize, now: u64) -> bool {
        let is_over = |it: &usize| {
            let token = &self.tokens[*it];
            token.standing == Standing::Ended || token.uses.is_some_and(|(_, most)| most == 0)
        };
        self.is_past(token, now) || self.chain(token).iter().any(is_over)
    }

    pub fn must_be_accepted(&self, token: usize, now: u64) -> bool {
        self.chain(token).iter().all(|it| {
            let token = &self.tokens[*it];
            token.standing == Standing::Lives
                && !token.loose
                && now < token.ends.0
                && token.uses.is_none_or(|(fewest, _)| fewest > 0)
        })
    }

    /// Compares an answer about a token with the model, and updates the model. The answer was given between the two times.
    pub fn observe(
        &mut self,
        token: usize,
        accepted: bool,
        (from, to): (u64, u64),
    ) -> Result<(), String> {
        if accepted {
            if self.must_be_refused(token, from) {
                return Err(format!("token {token} was accepted and must not be"));
            }
            for it in self.chain(token) {
                self.tokens[it].standing = Standing::Lives;
            }
            return Ok(());
        }
        if self.must_be_accepted(token, to) {
            return Err(format!("token {token} was refused and must not be"));
        }
        // Time is not the reason for the refusal, so the token stays refused.
        let chain = self.chain(token);
        let in_time = |it: &usize| to < self.tokens[*it].ends.0 && !self.tokens[*it].loose;
        if chain.iter().all(in_time) {
            self.tokens[token].standing = Standing::Ended;
        }
        Ok(())
    }

    /// Ends, or perhaps ends, the tokens that `covered` names.
    pub fn end(&mut self, certainly: bool, covered: impl Fn(usize, &Token) -> bool) {
        for (place, token) in self.tokens.iter_mut().enumerate() {
            if covered(place, token) && token.standing != Standing::Ended {
                token.standing = if certainly {
                    Standing::Ended
                } else {
                    Standing::Unknown
                };
            }
        }
    }

    /// Marks the tokens that may be removed by this time, and may stay gone although the clock is set back.
    pub fn pass(&mut self, now: u64) {
        let is_late = |it: &usize| now >= self.tokens[*it].ends.0;
        let tokens = 0..self.tokens.len();
        let late: Vec<usize> = tokens
            .filter(|token| self.chain(*token).iter().any(is_late))
            .collect();
        self.end(false, |place, _| late.contains(&place));
    }

    /// The effect of the end of `token` alone on its children.
    pub fn leave_children(&mut self, token: usize, certainly: bool) {
        for child in &mut self.tokens {
            if child.parent == Some(token) {
                if certainly && !child.loose {
                    child.parent = None;
                } else {
                    child.loose = true;
                }
            }
        }
    }
}
