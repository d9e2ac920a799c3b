//! Lists are late and sometimes incomplete.

use super::*;
use sandpool_core::{FoundState, Inventory};

fn list(caller: &mut Caller) -> Inventory {
    match caller.call(Verb::FindAll, 0) {
        Reply::Inventory(inventory) => inventory,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_lag_a_list_tells_the_truth() {
    let mut caller = Caller::new(steady());
    let running = caller.started(1);
    let doomed = caller.started(2);
    caller.ask_id(Verb::Destroy, doomed);
    caller.ask_with(Verb::Create, 3, |operation| operation.class = ClassId(1));
    let inventory = list(&mut caller);
    assert!(inventory.complete);
    let seen: Vec<_> =
        inventory.items.iter().map(|item| (item.name, item.class.0, item.state)).collect();
    assert_eq!(
        seen,
        [
            (Some(name(1)), 0, FoundState::Running),
            // A sandbox that is being destroyed has been renamed.
            (None, 0, FoundState::Destroying),
            (Some(name(3)), 1, FoundState::Starting),
        ]
    );
    assert_eq!(inventory.items[0].provider, running);
    caller.wait_until(60.0);
    assert_eq!(list(&mut caller).items.len(), 2);
}

#[test]
fn within_the_lag_lists_show_the_past_and_flap_and_then_they_agree() {
    let mut profile = Profile::instant();
    profile.list_lag = Span::from_secs(3);
    let mut caller = Caller::new(profile);
    caller.wait_until(100.0);
    let provider = caller.started(1);
    let present = |caller: &mut Caller, from: f64| -> Vec<bool> {
        (0..30)
            .map(|step| {
                caller.wait_until(from + f64::from(step) * 0.1);
                !list(caller).items.is_empty()
            })
            .collect()
    };
    let seen = present(&mut caller, 100.0);
    assert!(!seen[0] && seen.contains(&true), "it appears within the lag: {seen:?}");
    assert!(
        seen.windows(2).any(|pair| pair == [true, false]),
        "it is there and then not there: {seen:?}"
    );
    assert!(present(&mut caller, 103.0).iter().all(|&there| there));
    caller.wait_until(200.0);
    assert_eq!(caller.call_id(Verb::Destroy, provider), Reply::Destroyed);
    assert_eq!(caller.call(Verb::Find, 1), Reply::Absent, "one look-up is authoritative");
    let seen = present(&mut caller, 200.0);
    assert!(seen[0] && seen.contains(&false), "it lingers within the lag: {seen:?}");
    assert!(present(&mut caller, 203.0).iter().all(|&there| !there));
}

#[test]
fn a_partial_list_says_so_and_misses_some() {
    let mut profile = Profile::instant();
    profile.list_partial = 0.5;
    let mut caller = Caller::new(profile);
    for sequence in 1..=20 {
        caller.started(sequence);
    }
    let mut partial = 0;
    for _ in 0..100 {
        let inventory = list(&mut caller);
        assert_eq!(inventory.complete, inventory.items.len() == 20);
        partial += u32::from(!inventory.complete);
    }
    assert!((30..=70).contains(&partial), "{partial} of 100");
}
