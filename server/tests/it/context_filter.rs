//! What of a history goes to the model.

use proptest::prelude::*;
use sandpool_server::{
    Account, Batch, BytesOverFour, ContextRules, ConversationKey, Message, MessageKind,
    NewConversation, Selection, SqliteOptions, SqliteStore, Store, StoreError, TokenEstimate,
    Write, load_context, select_context,
};

fn message(sequence: u64, kind: MessageKind, call: Option<&str>, text: &str) -> Message {
    Message { sequence, turn: 1, kind, call: call.map(str::to_owned), at_ms: 0, text: text.into() }
}

fn select(messages: &[Message], budget: u64, output_bytes: usize) -> Selection {
    let rules = ContextRules { tool_output_bytes: output_bytes };
    select_context(messages, budget, rules, &BytesOverFour)
}

fn sequences(selection: &Selection) -> Vec<u64> {
    selection.messages.iter().map(|selected| selected.message.sequence).collect()
}

#[test]
fn the_newest_come_first_and_the_history_has_no_hole() {
    let sizes = [4, 4, 40, 4, 4];
    let messages: Vec<_> = (1..)
        .zip(sizes)
        .map(|(sequence, size)| message(sequence, MessageKind::User, None, &"x".repeat(size)))
        .collect();
    // The third takes 10 tokens; the first two would fit but are older than it.
    assert_eq!(sequences(&select(&messages, 11, 64)), [4, 5]);
    assert_eq!(sequences(&select(&messages, 12, 64)), [3, 4, 5]);
    assert_eq!(sequences(&select(&messages, 14, 64)), [1, 2, 3, 4, 5]);
    let none = select(&messages, 0, 64);
    assert_eq!((none.messages.len(), none.tokens, none.left_out), (0, 0, 5));
    assert_eq!(select(&[], 10, 64), Selection::default());
}

#[test]
fn a_notice_outlives_older_talk() {
    let messages = [
        message(1, MessageKind::Notice, None, "files lost"),
        message(2, MessageKind::User, None, &"x".repeat(400)),
        message(3, MessageKind::User, None, "go on"),
    ];
    let selection = select(&messages, 10, 64);
    assert_eq!((sequences(&selection), selection.left_out), (vec![1, 3], 1));
}

#[test]
fn a_call_and_its_results_stay_together_and_names_may_come_again() {
    let messages = [
        message(1, MessageKind::ToolCall, Some("call"), &"a".repeat(400)),
        message(2, MessageKind::ToolResult, Some("call"), "old"),
        message(3, MessageKind::ToolCall, Some("call"), "b"),
        message(4, MessageKind::ToolResult, Some("call"), "new"),
        message(5, MessageKind::ToolResult, Some("gone"), "its call is not there"),
    ];
    assert_eq!(sequences(&select(&messages, 50, 64)), [3, 4]);
    assert_eq!(sequences(&select(&messages, 500, 64)), [1, 2, 3, 4]);
    assert_eq!(sequences(&select(&messages, 1, 64)), [0; 0]);
}

#[test]
fn only_tool_output_is_shortened() {
    let long = "y".repeat(1_000);
    let messages = [
        message(1, MessageKind::ToolCall, Some("c"), &long),
        message(2, MessageKind::ToolResult, Some("c"), &long),
        message(3, MessageKind::User, None, &long),
    ];
    let selection = select(&messages, 10_000, 200);
    let shortened: Vec<_> = selection.messages.iter().map(|got| got.shortened).collect();
    assert_eq!(shortened, [false, true, false]);
    for (got, given) in selection.messages.iter().zip(&messages) {
        if got.shortened {
            assert!((190..=200).contains(&got.message.text.len()), "{}", got.message.text.len());
        } else {
            assert_eq!(&got.message, given);
        }
    }
    assert!(selection.messages[1].message.text.contains(" bytes left out ..."));
}

fn histories() -> impl Strategy<Value = Vec<Message>> {
    let one = (0..MessageKind::ALL.len(), proptest::option::of(0..4_u8), "[a-z\u{e9}]{0,300}");
    proptest::collection::vec(one, 0..30).prop_map(|parts| {
        (1..)
            .zip(parts)
            .map(|(sequence, (kind, call, text))| {
                let call = call.map(|call| call.to_string());
                message(sequence, MessageKind::ALL[kind], call.as_deref(), &text)
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn what_always_holds(history in histories(), budget in 0_u64..1_500, output in 0_usize..200) {
        let selection = select(&history, budget, output);
        let again = select(&history, budget, output);
        prop_assert_eq!(&selection, &again, "deterministic");

        // Within the budget, by a count of its own.
        let texts = selection.messages.iter().map(|got| got.message.text.as_str());
        let counted: u64 = texts.map(|text| BytesOverFour.tokens(text)).sum();
        prop_assert_eq!(counted, selection.tokens);
        prop_assert!(counted <= budget, "{} of {}", counted, budget);

        // In order, and everything is either in or counted as left out.
        let kept = sequences(&selection);
        prop_assert!(kept.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(kept.len() + selection.left_out, history.len());

        // Selecting from a selection leaves nothing more out and shortens nothing more.
        let selected: Vec<_> =
            selection.messages.iter().map(|got| got.message.clone()).collect();
        let twice = select(&selected, budget, output);
        let texts: Vec<_> = twice.messages.into_iter().map(|got| got.message).collect();
        prop_assert_eq!(texts, selected, "idempotent");

        // A result is in exactly if its call is: the nearest one before it of its name.
        for (at, result) in history.iter().enumerate() {
            if result.kind == MessageKind::ToolResult {
                let call = history[..at].iter().rev().find(|earlier| {
                    earlier.kind == MessageKind::ToolCall
                        && earlier.call.is_some()
                        && earlier.call == result.call
                });
                let has_call = call.is_some_and(|call| kept.contains(&call.sequence));
                prop_assert_eq!(kept.contains(&result.sequence), has_call);
            }
        }

        // The newest message is in if it fits at all, and so are the notices if they fit beside it.
        if let Some(newest) = history.last().filter(|newest| newest.kind != MessageKind::ToolResult) {
            let newest_tokens = BytesOverFour.tokens(&newest.text);
            prop_assert_eq!(kept.contains(&newest.sequence), newest_tokens <= budget);
            let older = &history[..history.len() - 1];
            let notices = older.iter().filter(|older| older.kind == MessageKind::Notice);
            let together: u64 =
                notices.clone().map(|notice| BytesOverFour.tokens(&notice.text)).sum();
            if newest_tokens + together <= budget {
                for notice in notices {
                    prop_assert!(kept.contains(&notice.sequence), "notice {}", notice.sequence);
                }
            }
        }
    }
}

/// Reading page by page from a store selects the same as having the whole history at hand.
#[tokio::test]
async fn loading_selects_what_the_whole_history_would() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let account = Account { number: 0, name: "a".to_owned(), added_ms: 0 };
    store.commit(Batch::new(vec![Write::AddAccount(account)])).await.unwrap();
    let mut runner = TestRunner::deterministic();
    let mut read_less = 0;
    for number in 1..=24 {
        let count = [0, 1, 99, 100, 101, 350][number as usize % 6];
        let history: Vec<Message> = (0..)
            .flat_map(|_| histories().new_tree(&mut runner).unwrap().current())
            .take(count)
            .zip(1..)
            .map(|(message, sequence)| Message { sequence, ..message })
            .collect();
        let key = ConversationKey::from_bytes(u128::from(number).to_be_bytes());
        let new = NewConversation { number, key: key.clone(), account: 0, opened_ms: 0 };
        let append = |message: &Message| Write::AppendMessage {
            conversation: number,
            message: message.clone(),
        };
        let writes = std::iter::once(Write::OpenConversation(new));
        let writes = writes.chain(history.iter().map(append)).collect();
        store.commit(Batch::new(writes)).await.unwrap();
        for budget in [0, 40, 1_000, 5_000, 10_000, u64::MAX] {
            let rules = ContextRules { tool_output_bytes: 100 };
            let loaded =
                load_context(&store, 0, &key, budget, rules, &BytesOverFour).await.unwrap();
            assert_eq!(loaded, select(&history, budget, 100), "{count} messages, budget {budget}");
            read_less += usize::from(loaded.left_out > 0 && count > 100);
        }
    }
    assert!(read_less > 8, "hardly a history was longer than its budget");
    let unknown = ConversationKey::from_bytes([9; 16]);
    let rules = ContextRules::default();
    let refused = load_context(&store, 0, &unknown, 10, rules, &BytesOverFour).await;
    assert_eq!(refused, Err(StoreError::NotFound));
}
