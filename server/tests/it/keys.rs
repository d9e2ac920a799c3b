//! API keys with a store behind them.

use sandpool_server::{
    Account, ApiKey, AuthError, Batch, NewApiKey, SqliteOptions, SqliteStore, Store, Write,
    authenticate,
};

#[tokio::test]
async fn a_key_opens_its_account_until_it_is_revoked_and_is_kept_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let keys = [ApiKey::generate().unwrap(), ApiKey::generate().unwrap()];
    for (number, key) in (0..).zip(&keys) {
        let account = Account { number, name: format!("account {number}"), added_ms: 1 };
        let key = NewApiKey {
            id: format!("key_{number}"),
            account: number,
            hash: key.hash(),
            label: String::new(),
            added_ms: 1,
        };
        let writes = vec![Write::AddAccount(account), Write::AddKey(key)];
        store.commit(Batch::new(writes)).await.unwrap();
    }
    for (number, key) in (0..).zip(&keys) {
        assert_eq!(authenticate(&store, key.reveal()).await, Ok(number));
    }
    let unknown = ApiKey::generate().unwrap();
    for wrong in ["", "sp_", unknown.reveal(), &keys[0].reveal()[..45]] {
        assert_eq!(authenticate(&store, wrong).await, Err(AuthError::Invalid));
    }
    let revoke = Write::RevokeKey { account: 0, id: "key_0".to_owned(), at_ms: 2 };
    store.commit(Batch::new(vec![revoke])).await.unwrap();
    assert_eq!(authenticate(&store, keys[0].reveal()).await, Err(AuthError::Invalid));
    assert_eq!(authenticate(&store, keys[1].reveal()).await, Ok(1));
    drop(store);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for key in &keys {
            let secret = &key.reveal().as_bytes()[3..];
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }
}
