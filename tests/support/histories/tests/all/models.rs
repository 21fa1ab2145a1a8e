//! Histories that the models of tokens allow, and mistakes that they find.

use std::time::Duration;

use gatehouse_histories::{
    Call, Counted, Ending, Family, FamilyOutcome, Model, UseOf, UsesLeft, WithFamily, WithWrapped,
    Wrapped, WrappedOutcome, check,
};

/// Calls at these times; those without an outcome were lost.
fn holds<M: Model>(
    model: &M,
    calls: impl IntoIterator<Item = (u64, u64, M::Operation, Option<M::Outcome>)>,
) -> bool {
    let history = calls
        .into_iter()
        .map(|(invoked, returned, operation, outcome)| Call {
            invoked: Duration::from_nanos(invoked),
            operation,
            ending: outcome.map_or(Ending::Unknown, |outcome| {
                Ending::Returned(Duration::from_nanos(returned), outcome)
            }),
        });
    check(model, history.collect()).is_ok()
}

mod counted {
    use super::{Counted, UseOf, UsesLeft, holds};
    use UseOf::{Look, Renew, Revoke, Use};
    use UsesLeft::{Done, Gone, Left};

    #[test]
    fn t4_of_two_uses_at_one_time_each_is_counted() {
        let both = |first, second| {
            let uses = [(0, 9, Use, Some(first)), (0, 9, Use, Some(second))];
            holds(&Counted(2), uses)
        };
        assert!(both(Left(1), Left(0)) && both(Left(0), Left(1)));
        // A lost update: both took the same use.
        assert!(!both(Left(1), Left(1)) && !both(Left(0), Left(0)));
    }

    #[test]
    fn t4_one_use_too_many_is_found() {
        let three = |last| {
            let uses = [(0, 9, Left(1)), (0, 9, Left(0)), (0, 9, last)];
            holds(
                &Counted(2),
                uses.map(|(from, to, left)| (from, to, Use, Some(left))),
            )
        };
        assert!(three(Gone));
        assert!(!three(Left(0)) && !three(Left(1)));
    }

    #[test]
    fn t4_a_use_may_be_refused_only_when_all_were_taken_or_may_have_been() {
        let refused = (5, 6, Use, Some(Gone));
        assert!(!holds(&Counted(1), [refused]));
        assert!(holds(&Counted(1), [(0, 1, Use, None), refused]));
        assert!(!holds(&Counted(2), [(0, 1, Use, None), refused]));
        assert!(!holds(&Counted(1), [refused, (7, 8, Use, None)]));
    }

    #[test]
    fn t4_a_renewal_gives_no_use_back() {
        let renewed = |left| {
            let calls = [
                (0, 1, Use, Some(Left(1))),
                (0, 5, Renew, Some(Done)),
                (6, 7, Look, Some(Left(left))),
            ];
            holds(&Counted(2), calls)
        };
        assert!(renewed(1));
        assert!(!renewed(2));
    }

    #[test]
    fn t5_a_stale_read_after_an_acknowledged_revocation_is_found() {
        let used = |from| {
            let calls = [(0, 10, Revoke, Some(Done)), (from, 12, Use, Some(Left(4)))];
            holds(&Counted(5), calls)
        };
        assert!(used(9));
        assert!(!used(11));
        let twice = [(0, 9, Revoke, Some(Done)), (0, 9, Revoke, Some(Done))];
        assert!(!holds(&Counted(5), twice));
    }
}

mod family {
    use super::{Family, FamilyOutcome, WithFamily, holds};
    use FamilyOutcome::{Done, Gone, Made};
    use WithFamily::{Create, Renew, Revoke, RevokeParent, RevokeParentAlone, RevokeSelf, Use};

    const CREATED: (u64, u64, WithFamily, Option<FamilyOutcome>) = (0, 1, Create, Some(Made(0)));

    #[test]
    fn t5_a_child_ends_with_its_parent_and_not_before() {
        let after = |revocation, outcome| {
            let calls = [
                CREATED,
                (2, 3, revocation, Some(Done)),
                (4, 5, Use(0), Some(outcome)),
            ];
            holds(&Family, calls)
        };
        assert!(after(RevokeParent, Gone) && !after(RevokeParent, Done));
        assert!(after(RevokeParentAlone, Done) && !after(RevokeParentAlone, Gone));
        assert!(after(Revoke(0), Gone) && !after(Revoke(0), Done));
        assert!(!holds(&Family, [CREATED, (2, 3, Use(0), Some(Gone))]));
    }

    #[test]
    fn t5_a_renewal_never_revives() {
        let calls = |renewed, used| {
            [
                CREATED,
                (2, 9, RevokeSelf(0), Some(Done)),
                (2, 9, Renew(0), Some(renewed)),
                (10, 11, Use(0), Some(used)),
            ]
        };
        assert!(holds(&Family, calls(Done, Gone)) && holds(&Family, calls(Gone, Gone)));
        assert!(!holds(&Family, calls(Done, Done)));
    }

    #[test]
    fn t5_no_child_is_made_under_a_revoked_parent() {
        let made = |from| {
            [
                (0, 5, RevokeParent, Some(Done)),
                (from, 9, Create, Some(Made(0))),
            ]
        };
        assert!(holds(&Family, made(4)));
        assert!(!holds(&Family, made(6)));
        let survivor = [
            (0, 5, RevokeParent, Some(Done)),
            (4, 9, Create, Some(Made(0))),
            (10, 11, Use(0), Some(Done)),
        ];
        assert!(!holds(&Family, survivor));
    }

    #[test]
    fn t5_of_several_revocations_one_wins_whichever_they_are() {
        for first in [RevokeParent, RevokeParentAlone] {
            for second in [RevokeParent, RevokeParentAlone] {
                let both = |outcome| [(0, 9, first, Some(Done)), (0, 9, second, Some(outcome))];
                assert!(holds(&Family, both(Gone)));
                assert!(!holds(&Family, both(Done)));
            }
        }
    }

    #[test]
    fn t5_of_several_revocations_of_a_child_one_wins_but_for_those_that_find_it_ended_already() {
        let both = |first, second| {
            let calls = [
                CREATED,
                (2, 9, first, Some(Done)),
                (2, 9, second, Some(Done)),
            ];
            holds(&Family, calls)
        };
        assert!(!both(Revoke(0), Revoke(0)));
        assert!(both(RevokeSelf(0), RevokeSelf(0)) && both(RevokeSelf(0), Revoke(0)));
        assert!(both(RevokeParent, Revoke(0)));
        let refused = [
            CREATED,
            (2, 9, RevokeParent, Some(Done)),
            (3, 4, RevokeSelf(0), Some(Gone)),
            (5, 6, Revoke(0), Some(Done)),
        ];
        assert!(holds(&Family, refused));
        let thrice = [
            CREATED,
            (2, 9, RevokeParent, Some(Done)),
            (2, 9, Revoke(0), Some(Done)),
            (2, 9, Revoke(0), Some(Done)),
        ];
        assert!(!holds(&Family, thrice));
    }

    #[test]
    fn t5_a_revocation_whose_answer_was_lost_is_whole_or_not_at_all() {
        let calls = |first, second| {
            [
                CREATED,
                (2, 3, Create, Some(Made(1))),
                (4, 5, RevokeParent, None),
                (6, 7, Use(0), Some(first)),
                (8, 9, Use(1), Some(second)),
            ]
        };
        assert!(holds(&Family, calls(Done, Done)) && holds(&Family, calls(Done, Gone)));
        assert!(holds(&Family, calls(Gone, Gone)));
        assert!(!holds(&Family, calls(Gone, Done)));
    }
}

mod wrapped {
    use super::{WithWrapped, Wrapped, WrappedOutcome, holds};
    use WithWrapped::{Look, Rewrap, Unwrap};
    use WrappedOutcome::{Done, Gone, Moved};

    #[test]
    fn contract_1_8_of_two_who_unwrap_one_wins() {
        let both = |first, second| {
            let calls = [
                (0, 9, Unwrap(0), Some(first)),
                (0, 9, Unwrap(0), Some(second)),
            ];
            holds(&Wrapped, calls)
        };
        assert!(both(Done, Gone) && both(Gone, Done));
        assert!(!both(Done, Done) && !both(Gone, Gone));
    }

    #[test]
    fn contract_1_8_a_response_moves_to_one_token() {
        let moved = |old, new| {
            let calls = [
                (0, 5, Rewrap(0), Some(Moved(1))),
                (6, 7, Unwrap(0), Some(old)),
                (8, 9, Unwrap(1), Some(new)),
            ];
            holds(&Wrapped, calls)
        };
        assert!(moved(Gone, Done));
        assert!(!moved(Done, Done) && !moved(Done, Gone) && !moved(Gone, Gone));
        let twice = [
            (0, 9, Rewrap(0), Some(Moved(1))),
            (0, 9, Rewrap(0), Some(Moved(2))),
        ];
        assert!(!holds(&Wrapped, twice));
    }

    #[test]
    fn contract_1_8_a_look_takes_nothing_and_a_lost_unwrapping_may_have() {
        let lost = |seen| {
            let calls = [
                (0, 1, Look(0), Some(Done)),
                (2, 3, Unwrap(0), None),
                (4, 5, Look(0), Some(seen)),
            ];
            holds(&Wrapped, calls)
        };
        assert!(lost(Done) && lost(Gone));
    }
}
