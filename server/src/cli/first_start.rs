//! The first start on an empty store: an operator, a first account, and a key for each.

use crate::api::new_key_id;
use crate::keys::ApiKey;
use crate::store::{Account, Batch, NewApiKey, Recovery, Store, Write};

/// The keys that were made, shown this once.
pub(super) struct FirstKeys {
    pub(super) operator: ApiKey,
    pub(super) account: ApiKey,
}

/// Makes the operator (account 0) and an account `default` (1) if the store has none.
pub(super) async fn first_start(
    store: &dyn Store,
    recovery: &Recovery,
) -> Result<Option<FirstKeys>, String> {
    if !recovery.accounts.is_empty() {
        return Ok(None);
    }
    let told = |error: &dyn std::fmt::Display| error.to_string();
    let operator = ApiKey::generate().map_err(|error| told(&error))?;
    let account = ApiKey::generate().map_err(|error| told(&error))?;
    let added_ms = crate::clock::wall_clock_ms();
    let add = |number: u32, name: &str, key: &ApiKey| {
        [
            Write::AddAccount(Account { number, name: name.to_owned(), added_ms }),
            Write::AddKey(NewApiKey {
                id: new_key_id(key),
                account: number,
                hash: key.hash(),
                label: "made at the first start".to_owned(),
                added_ms,
            }),
        ]
    };
    let writes = add(0, "operator", &operator).into_iter().chain(add(1, "default", &account));
    let committed = store.commit(Batch::new(writes.collect())).await;
    committed.map_err(|error| told(&error))?;
    Ok(Some(FirstKeys { operator, account }))
}
