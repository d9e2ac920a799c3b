//! Puts down what must not be lost: turns what goes into the scheduler and what comes out of it
//! into writes, and keeps the counters that the store verifies.

use crate::clock::InstanceClock;
use crate::store::{
    Batch, EventRecord, JournalLine, Message, MessageKind, NewConversation, OpenRequest,
    SandboxRef, Write,
};
use sandpool_core::{
    AccountId, Actor, ClassId, Config, ConversationId, Event, EventKind, ExecuteId, Id, Reason,
    SandboxId, SandboxName, SandboxState, SandboxView, Span, Time, TurnId, Used,
};
use sandpool_sim::What;
use std::collections::{BTreeMap, BTreeSet};

/// Counters of one open conversation, and what the store has as its sandbox.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    last_message: u64,
    last_event: u64,
    bound: Option<SandboxId>,
}

/// A sandbox, and the provider's own text for it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) view: SandboxView,
    pub(super) provider_id: Option<String>,
}

/// What is to be written, and the counters.
#[derive(Debug)]
pub(super) struct Scribe {
    writes: Vec<Write>,
    epoch: u32,
    clock: InstanceClock,
    classes: Vec<String>,
    last_event: u64,
    last_journal: u64,
    counters: Vec<Counters>,
    /// Sandboxes that may exist: when one is gone, the scheduler has forgotten its name.
    names: BTreeMap<SandboxId, SandboxName>,
    /// Sandboxes that earlier instances left and nobody has taken over: those that the provider
    /// does not have either are forgotten when that is known.
    left_over: Vec<SandboxName>,
    /// Whether what is told is what an earlier instance has told already.
    is_recovering: bool,
    /// Whether something that is about to happen must not happen before the writes are safe.
    is_urgent: bool,
}

impl Scribe {
    pub(super) fn new(
        epoch: u32,
        clock: InstanceClock,
        config: &Config,
        last_event: u64,
        last_journal: u64,
    ) -> Self {
        let mut scribe = Self {
            writes: vec![Write::BeginEpoch { epoch }],
            epoch,
            clock,
            classes: Vec::new(),
            last_event,
            last_journal,
            counters: Vec::new(),
            names: BTreeMap::new(),
            left_over: Vec::new(),
            is_recovering: true,
            is_urgent: true,
        };
        scribe.classes_are(config);
        scribe.journal(Time::ZERO, &What::Instance(epoch));
        scribe
    }

    /// The classes by name: numbers may mean something else in another configuration.
    pub(super) fn classes_are(&mut self, config: &Config) {
        self.classes = config.classes.iter().map(|class| class.name.clone()).collect();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.writes.is_empty()
    }

    pub(super) fn last_event(&self) -> u64 {
        self.last_event
    }

    pub(super) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    pub(super) fn take(&mut self) -> Batch {
        self.is_urgent = false;
        Batch::new(std::mem::take(&mut self.writes))
    }

    /// The earlier instances' conversations are all open again.
    pub(super) fn recovered(&mut self) {
        self.is_recovering = false;
    }

    /// Writes that somebody outside wants in the same batch.
    pub(super) fn write(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// A request under an idempotency key that an earlier instance began and never answered. Whether
    /// it was carried out is not known, so it is not carried out again.
    pub(super) fn interrupted(&mut self, request: &OpenRequest) {
        let body = r#"{"code":"internal","message":"the server stopped while it worked on this request; whether it was carried out is not known","hint":"look at the conversation's events, and use a new idempotency key"}"#;
        self.writes.push(Write::FinishIdempotent {
            account: request.account,
            key: request.key.clone(),
            status: 500,
            body: body.as_bytes().to_vec(),
        });
    }

    /// A sandbox of an earlier instance that nobody takes over: it is no conversation's any more.
    pub(super) fn left_over(&mut self, sandbox: &SandboxRef, at_ms: i64) {
        self.left_over.push(sandbox.name);
        if sandbox.conversation.is_some() {
            let freed = SandboxRef { conversation: None, at_ms, ..sandbox.clone() };
            self.writes.push(Write::PutSandbox(freed));
        }
    }

    /// A conversation that was opened before, with its counters.
    pub(super) fn remember(&mut self, id: ConversationId, last_message: u64, last_event: u64) {
        if self.counters.len() <= id.index() {
            self.counters.resize_with(id.index() + 1, Counters::default);
        }
        self.counters[id.index()] = Counters { last_message, last_event, bound: None };
    }

    pub(super) fn open(&mut self, id: ConversationId, conversation: NewConversation) {
        self.remember(id, 0, 0);
        self.writes.push(Write::OpenConversation(conversation));
    }

    /// Adds a message and gives its sequence.
    pub(super) fn append(
        &mut self,
        id: ConversationId,
        turn: u64,
        kind: MessageKind,
        call: Option<String>,
        text: String,
    ) -> u64 {
        let at_ms = self.clock.wall_clock_ms();
        let counters = &mut self.counters[id.index()];
        counters.last_message += 1;
        let sequence = counters.last_message;
        self.writes.push(Write::AppendMessage {
            conversation: id.sequence(),
            message: Message { sequence, turn, kind, call, at_ms, text },
        });
        sequence
    }

    pub(super) fn journal(&mut self, at: Time, what: &What) {
        self.last_journal += 1;
        let kind = match what {
            What::Instance(_) => "instance",
            What::Input(_) => "input",
            What::Timeout => "timeout",
            What::Rejection(_) => "rejection",
            What::Operation(_) => "operation",
            What::Event(_) => "event",
            What::Crash => "crash",
        };
        self.writes.push(Write::AppendJournal(JournalLine {
            sequence: self.last_journal,
            epoch: self.epoch,
            at_ns: at.as_nanos(),
            kind: kind.to_owned(),
            body: as_json(what).into_bytes(),
        }));
    }

    /// What an event means for the store, `sandbox` being its sandbox after it. The event itself
    /// is kept, too.
    pub(super) fn event(&mut self, event: &Event, sandbox: Option<&Named>) {
        let at_ms = self.clock.wall_clock_at_ms(event.at);
        match event.kind {
            // It was told when it was opened for the first time.
            EventKind::ConversationOpened if self.is_recovering => return,
            EventKind::ConversationClosed => {
                self.record(event, at_ms);
                if let Some(id) = event.conversation {
                    let conversation = id.sequence();
                    self.writes.push(Write::CloseConversation { conversation, at_ms });
                }
                return;
            }
            EventKind::TurnBegan => {
                if let Some(id) = event.conversation {
                    self.writes.push(Write::BeginTurn {
                        conversation: id.sequence(),
                        turn: u64::from(event.turn.0),
                        class: self.class_name(event.class.0),
                        at_ms,
                    });
                }
            }
            EventKind::TurnEnded => {
                if let Some(id) = event.conversation {
                    self.writes.push(Write::EndTurn {
                        conversation: id.sequence(),
                        turn: u64::from(event.turn.0),
                        reason: event.reason.name().to_owned(),
                        at_ms,
                    });
                }
            }
            EventKind::SandboxBusy if event.execute != ExecuteId(0) => {
                if let Some(id) = event.conversation {
                    self.first_use(id, sandbox, at_ms);
                    self.writes.push(Write::StartExecute {
                        conversation: id.sequence(),
                        turn: u64::from(event.turn.0),
                        execute: u64::from(event.execute.0),
                        at_ms,
                    });
                }
            }
            EventKind::SandboxReplaced => {
                if let Some(id) = event.conversation {
                    self.files_lost(id, None);
                    self.append(
                        id,
                        u64::from(event.turn.0),
                        MessageKind::Notice,
                        None,
                        files_lost_notice(event.reason),
                    );
                }
            }
            EventKind::SandboxStarting => {
                // It may exist from now on, and nothing is created before that is safe.
                self.put(sandbox, None, at_ms);
                self.is_urgent = true;
            }
            EventKind::OrphanFound | EventKind::SandboxAdopted => self.put(sandbox, None, at_ms),
            EventKind::SandboxCreated => self.put(sandbox, None, at_ms),
            EventKind::SandboxDied | EventKind::SandboxDestroying => {
                if let Some(id) = event.conversation
                    && let Some(counters) = self.counters.get_mut(id.index())
                    && counters.bound.is_some()
                    && counters.bound == event.sandbox
                {
                    counters.bound = None;
                    self.files_lost(id, Some(event.reason));
                }
                self.put(sandbox, None, at_ms);
            }
            EventKind::RecoveryEnded => {
                // The inventory was complete, and each name was looked for: what it has of them is
                // in the books by now.
                let known: BTreeSet<SandboxName> = self.names.values().copied().collect();
                let gone = std::mem::take(&mut self.left_over).into_iter();
                let gone = gone.filter(|name| !known.contains(name));
                self.writes.extend(gone.map(|name| Write::RemoveSandbox { name }));
            }
            EventKind::SandboxDeleted => {
                if let Some(name) = event.sandbox.and_then(|id| self.names.remove(&id)) {
                    self.writes.push(Write::RemoveSandbox { name });
                }
            }
            _ => {}
        }
        self.record(event, at_ms);
    }

    /// The end of an execute, or of a turn (`execute` 0), that the last instance did not see. The
    /// event bears no sequence of the scheduler's, who never heard of either.
    pub(super) fn cut_off(
        &mut self,
        id: ConversationId,
        account: Option<AccountId>,
        turn: TurnId,
        execute: ExecuteId,
        at: Time,
    ) {
        let is_execute = execute != ExecuteId(0);
        let event = Event {
            sequence: 0,
            at,
            kind: if is_execute { EventKind::ExecuteEnded } else { EventKind::TurnEnded },
            reason: Reason::Recovery,
            actor: Actor::Scheduler,
            state: SandboxState::Dead,
            class: ClassId(0),
            account,
            conversation: Some(id),
            turn,
            execute,
            claim: None,
            sandbox: None,
            span: Span::ZERO,
            used: Used::default(),
        };
        self.record(&event, self.clock.wall_clock_at_ms(at));
    }

    /// The result of an execute. Whoever was cut off has none.
    pub(super) fn finish_execute(
        &mut self,
        id: ConversationId,
        execute: ExecuteId,
        outcome: &str,
        result: String,
        at: Time,
    ) {
        self.writes.push(Write::FinishExecute {
            conversation: id.sequence(),
            execute: u64::from(execute.0),
            outcome: outcome.to_owned(),
            result,
            at_ms: self.clock.wall_clock_at_ms(at),
        });
    }

    /// What was in the conversation's sandbox is gone, or (`None`) it was told so. Kept with what
    /// it follows from, so that no restart comes between.
    pub(super) fn files_lost(&mut self, id: ConversationId, reason: Option<Reason>) {
        self.writes.push(Write::SetFilesLost { conversation: id.sequence(), reason });
    }

    /// Whether the store has this sandbox as the conversation's.
    pub(super) fn is_bound(&self, id: ConversationId, sandbox: SandboxId) -> bool {
        self.counters.get(id.index()).is_some_and(|counters| counters.bound == Some(sandbox))
    }

    /// The store has this sandbox as the conversation's from an earlier instance.
    pub(super) fn was_bound(&mut self, id: ConversationId, sandbox: SandboxId) {
        self.counters[id.index()].bound = Some(sandbox);
    }

    fn first_use(&mut self, id: ConversationId, sandbox: Option<&Named>, at_ms: i64) {
        let Some(Named { view, .. }) = sandbox else { return };
        let counters = &mut self.counters[id.index()];
        if counters.bound == Some(view.id) {
            return;
        }
        counters.bound = Some(view.id);
        self.put(sandbox, Some(id.sequence()), at_ms);
        // The next instance must know whose it is before anything is put into it.
        self.is_urgent = true;
    }

    fn put(&mut self, sandbox: Option<&Named>, conversation: Option<u64>, at_ms: i64) {
        let Some(named) = sandbox else { return };
        let view = &named.view;
        self.names.insert(view.id, view.name);
        // An adopted one is its conversation's already.
        let bound = view.conversation.filter(|_| {
            view.is_used && matches!(view.state, SandboxState::Idle | SandboxState::Busy)
        });
        self.writes.push(Write::PutSandbox(SandboxRef {
            name: view.name,
            class: self.class_name(view.class.0),
            provider_id: named.provider_id.clone(),
            conversation: conversation.or(bound.map(Id::sequence)),
            state: view.state,
            at_ms,
        }));
    }

    fn record(&mut self, event: &Event, at_ms: i64) {
        self.last_event += 1;
        let conversation = event.conversation.and_then(|id| {
            let counters = self.counters.get_mut(id.index())?;
            counters.last_event += 1;
            Some((id.sequence(), counters.last_event))
        });
        self.writes.push(Write::AppendEvent(EventRecord {
            sequence: self.last_event,
            account: event.account.map(|account| account.0),
            conversation,
            kind: event.kind.name().to_owned(),
            at_ms,
            body: as_json(event),
        }));
    }

    fn class_name(&self, index: u16) -> String {
        self.classes.get(usize::from(index)).cloned().unwrap_or_default()
    }
}

/// What a model is told when the files of a conversation are gone.
fn files_lost_notice(reason: Reason) -> String {
    format!(
        "The sandbox of this conversation is a new one ({}): files and processes of earlier turns \
         are gone.",
        reason.name()
    )
}

/// The scheduler's words as JSON. They are numbers, names and lists: nothing in them can fail.
fn as_json(what: &impl serde::Serialize) -> String {
    serde_json::to_string(what).expect("the scheduler's words are JSON")
}
