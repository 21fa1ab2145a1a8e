//! The part about tokens, and about what is recorded of everything.

/// Defines `Cross` for the types of `tokens` and `audit-trail`.
#[doc(hidden)]
#[macro_export]
macro_rules! crossings_of_tokens {
    () => {
        $crate::crossing_cases!(tokens::TokenOwner {
            User(id),
            Team(team),
            TeamNamed(team),
            Organization(id),
            AuditTrail(id),
            AgentPool(pool),
        });
        $crate::crossing_record!(tokens::AgentPoolReference { id, organization });
        $crate::crossing_cases!(tokens::TokenCreator { User(id), Team(id), Organization(id), Workload });
        $crate::crossing_record!(tokens::ApiToken {
            id,
            owner,
            created_at,
            last_used_at,
            expires_at,
            description,
            created_by,
        });
        $crate::crossing_record!(tokens::IssuedToken { token, secret });
        $crate::crossing_record!(tokens::TokenRequest { description, expires_at });
        $crate::crossing_record!(tokens::TeamToken { token, team_name });
        $crate::crossing_cases!(tokens::IssueError {
            NoOwner,
            Invalid(issues),
            TooMany,
            TooManyOfOrganization,
            Failed(failure),
        });
        $crate::crossing_cases!(tokens::TokenKind {
            Organization,
            Team,
            User,
            AuditTrail,
            Metrics,
        });
        $crate::crossing_record!(tokens::LifetimePolicy {
            id,
            kind,
            maximum,
            created_at,
            updated_at,
        });
        $crate::crossing_record!(tokens::LifetimeChange { token_type, maximum });
        $crate::crossing_cases!(tokens::LifetimeError { NotFound, Invalid(issues), Failed(failure) });

        $crate::crossing_cases!(audit_trail::Resource {
            Organization,
            AuthenticationToken,
            OrganizationUser,
            Team,
            AgentPool,
            DataRetentionPolicy,
            TokenLifetimes,
            Subscription,
            User,
            GeneralSettings,
        });
        $crate::crossing_cases!(audit_trail::Operation { Create, Update, Destroy, Show });
        $crate::crossing_record!(audit_trail::Event {
            id,
            occurred_at,
            organization,
            actor_id,
            actor_name,
            request_id,
            client_request_id,
            resource,
            resource_id,
            operation,
        });
        $crate::crossing_record!(audit_trail::EventPage { events, total });
    };
}
