//! What goes wrong at the provider while a server runs.

use crate::rig::{ConnectionError, Daytona};
use sandpool_sim::Stream;
use serde_json::{Value, json};
use std::time::Duration;

/// Asks for faults until it is dropped; gives none back.
pub(super) async fn cause(daytona: &Daytona, luck: &mut Stream, caused: &mut u64) {
    loop {
        tokio::time::sleep(Duration::from_millis(5 + luck.below(60))).await;
        if daytona.control(one(luck)).await.is_ok() {
            *caused += 1;
        }
    }
}

/// Nothing goes wrong any more.
pub(super) async fn end(daytona: &Daytona) -> Result<(), ConnectionError> {
    daytona.control(json!({ "do": "reset" })).await
}

fn one(luck: &mut Stream) -> Value {
    let pick =
        |words: &[&'static str], luck: &mut Stream| words[luck.below(words.len() as u64) as usize];
    let calls = ["create", "get", "list", "delete", "keep_alive", "execute"];
    let verbs = ["create", "delete", "start"];
    match luck.below(100) {
        0..25 => json!({ "do": "lose_answer", "call": pick(&calls, luck) }),
        25..40 => json!({ "do": "lose_request", "call": pick(&calls, luck) }),
        40..60 => json!({ "do": "bad_gateway", "call": pick(&calls, luck) }),
        60..80 => json!({ "do": "fail_next", "verb": pick(&verbs, luck), "message": "chaos" }),
        80..85 => json!({ "do": "kill_all" }),
        85..90 => json!({ "do": "outage", "seconds": 0.1, "silent": luck.chance(0.5) }),
        90..95 => json!({ "do": "other_tenants", "sandboxes": luck.below(3) }),
        _ => json!({ "do": "delay", "verb": pick(&verbs, luck), "ms": luck.below(80) }),
    }
}
