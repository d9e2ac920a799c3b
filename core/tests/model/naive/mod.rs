//! The naive model: what the scheduler's inputs and outputs amount to, kept in plain lists that
//! are scanned and summed anew each time. It decides nothing itself; it says of each decision
//! whether it was allowed, and after each step whether one is missing.

mod admission;
mod events;
mod inputs;
mod overdue;
mod rest;
mod rules;

use sandpool_core::{
    AccountId, ClaimId, ClassId, Config, ConversationId, ExecuteId, Resources, SandboxId,
    SandboxName, SandboxState, Span, Time, TurnId,
};

/// `Ok`, or a sentence that says what went wrong.
pub(crate) type Checked = Result<(), String>;

/// Returns a violation unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+));
        }
    };
}
pub(crate) use ensure;

/// How far an execute is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not answered yet.
    Waiting,
    /// Told to go ahead.
    Running,
    /// Reported unreachable; its sandbox is being probed.
    Unresolved,
}

#[derive(Clone, Debug)]
pub(crate) struct Execute {
    pub(crate) id: ExecuteId,
    pub(crate) progress: Progress,
    pub(crate) asked_at: Time,
    pub(crate) busy_at: Time,
    pub(crate) patience: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) id: TurnId,
    pub(crate) class: ClassId,
    pub(crate) active_at: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct Conversation {
    pub(crate) id: ConversationId,
    pub(crate) account: AccountId,
    pub(crate) turn: Option<Turn>,
    /// The class that its last turn asked for.
    pub(crate) wants: ClassId,
    pub(crate) last_turn: u32,
    pub(crate) execute: Option<Execute>,
    pub(crate) last_execute: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Without capacity.
    Waiting,
    /// May take capacity, has no sandbox.
    Admitted,
    /// Has a sandbox.
    Bound,
}

#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) id: ClaimId,
    pub(crate) conversation: ConversationId,
    pub(crate) account: AccountId,
    pub(crate) class: ClassId,
    pub(crate) made_at: Time,
    pub(crate) standing: Standing,
    pub(crate) blocked_at: Option<Time>,
    /// Counts blockings: who blocked first has the smaller number.
    pub(crate) blocked_order: u64,
    pub(crate) admitted_at: Time,
    /// By then it has a sandbox or an answer.
    pub(crate) start_by: Time,
    /// Counts admissions.
    pub(crate) admitted_order: u64,
    /// Times that a claim that blocked later was admitted before this one.
    pub(crate) overtaken: i64,
    /// Starts that failed on its behalf.
    pub(crate) failures: i64,
    /// The class of the sandbox that its conversation has given up for it.
    pub(crate) gave_up: Option<ClassId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Sandbox {
    pub(crate) id: SandboxId,
    pub(crate) class: ClassId,
    pub(crate) state: SandboxState,
    pub(crate) since: Time,
    pub(crate) born_at: Time,
    /// Time in each state so far, in the order of [`SandboxState::ALL`].
    pub(crate) spent: [Span; SandboxState::ALL.len()],
    pub(crate) conversation: Option<ConversationId>,
    /// Who ever used it.
    pub(crate) user: Option<ConversationId>,
    pub(crate) last_used_at: Time,
    /// The end of its conversation's last turn, whether it was used in it or not.
    pub(crate) turn_ended_at: Time,
    /// The turn of its last command.
    pub(crate) used_in: Option<TurnId>,
    pub(crate) creates: u32,
    /// Taken over from an earlier instance or found.
    pub(crate) discovered: bool,
    /// Not wanted any more: it serves nobody, whatever becomes of its start.
    pub(crate) doomed: bool,
    /// Its start is the trial of an open breaker.
    pub(crate) is_trial: bool,
    pub(crate) destroying_at: Option<Time>,
}

impl Sandbox {
    pub(crate) fn new(id: SandboxId, class: ClassId, now: Time) -> Self {
        Self {
            id,
            class,
            state: SandboxState::New,
            since: now,
            born_at: now,
            spent: [Span::ZERO; SandboxState::ALL.len()],
            conversation: None,
            user: None,
            last_used_at: now,
            turn_ended_at: now,
            used_in: None,
            creates: 0,
            discovered: false,
            doomed: false,
            is_trial: false,
            destroying_at: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing may be created or admitted yet.
    Recovering,
    Serving,
    Draining,
    Drained,
}

/// Everything the model knows.
#[derive(Clone, Debug)]
pub(crate) struct Naive {
    pub(crate) config: Config,
    /// The settings so far: a shorter time counts for what begins after it is set.
    pub(crate) earlier_configs: Vec<Config>,
    pub(crate) now: Time,
    pub(crate) phase: Phase,
    pub(crate) told_recovered: bool,
    pub(crate) leaves_sandboxes: bool,
    /// What the store mapped to a conversation, before the provider's inventory is known.
    pub(crate) restored: Vec<(ConversationId, SandboxName)>,
    pub(crate) limit: Resources,
    /// The limit in force when the step under way is over.
    pub(crate) limit_after: Resources,
    pub(crate) is_lowered: bool,
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) claims: Vec<Claim>,
    pub(crate) sandboxes: Vec<Sandbox>,
    /// No create before this instant, by the provider's wish.
    pub(crate) paused_until: Time,
    /// Creates may be held back until this instant: the pause, or the back-off if that is longer.
    pub(crate) may_pause_until: Time,
    /// Classes whose breaker is open, and until when nothing of them is tried.
    pub(crate) broken: Vec<(ClassId, Time)>,
    pub(crate) next_sequence: u64,
    pub(crate) orders: u64,
    /// What the step under way has answered: (conversation, execute).
    pub(crate) answered: Vec<(ConversationId, ExecuteId)>,
    /// Warm targets by class before the step under way.
    pub(crate) warm_targets: Vec<i64>,
    /// Whether a blocked claim has waited since the step before.
    pub(crate) had_blocked: bool,
    /// Conversations in which the step under way was asked to cancel.
    pub(crate) cancelled: Vec<ConversationId>,
    /// Whether the provider said full in the step under way.
    pub(crate) said_full: bool,
    /// Blocked claims that waited before the step under way.
    pub(crate) waiting_before: i64,
}

impl Naive {
    pub(crate) fn new(config: Config, now: Time) -> Self {
        Self {
            limit: config.max,
            limit_after: config.max,
            warm_targets: vec![0; config.classes.len()],
            had_blocked: false,
            config,
            earlier_configs: Vec::new(),
            now,
            phase: Phase::Recovering,
            told_recovered: false,
            leaves_sandboxes: false,
            restored: Vec::new(),
            is_lowered: false,
            conversations: Vec::new(),
            claims: Vec::new(),
            sandboxes: Vec::new(),
            paused_until: Time::ZERO,
            may_pause_until: Time::ZERO,
            broken: Vec::new(),
            next_sequence: 1,
            orders: 0,
            answered: Vec::new(),
            cancelled: Vec::new(),
            waiting_before: 0,
            said_full: false,
        }
    }

    pub(crate) fn conversation(&self, id: ConversationId) -> Option<&Conversation> {
        self.conversations.iter().find(|conversation| conversation.id == id)
    }

    pub(crate) fn conversation_mut(&mut self, id: ConversationId) -> Option<&mut Conversation> {
        self.conversations.iter_mut().find(|conversation| conversation.id == id)
    }

    pub(crate) fn claim(&self, id: ClaimId) -> Result<&Claim, String> {
        self.claims.iter().find(|claim| claim.id == id).ok_or(format!("claim {id} does not exist"))
    }

    pub(crate) fn claim_mut(&mut self, id: ClaimId) -> Result<&mut Claim, String> {
        let found = self.claims.iter_mut().find(|claim| claim.id == id);
        found.ok_or(format!("claim {id} does not exist"))
    }

    pub(crate) fn claim_of(&self, conversation: ConversationId) -> Option<&Claim> {
        self.claims.iter().find(|claim| claim.conversation == conversation)
    }

    pub(crate) fn sandbox(&self, id: SandboxId) -> Option<&Sandbox> {
        self.sandboxes.iter().find(|sandbox| sandbox.id == id)
    }

    pub(crate) fn sandbox_mut(&mut self, id: SandboxId) -> Option<&mut Sandbox> {
        self.sandboxes.iter_mut().find(|sandbox| sandbox.id == id)
    }

    pub(crate) fn sandbox_of(&self, conversation: ConversationId) -> Option<&Sandbox> {
        self.sandboxes.iter().find(|sandbox| sandbox.conversation == Some(conversation))
    }

    /// The longest time that a setting ever had.
    pub(crate) fn longest(&self, time: fn(&Config) -> Span) -> Span {
        let earlier = self.earlier_configs.iter().map(time).max().unwrap_or(Span::ZERO);
        earlier.max(time(&self.config))
    }

    pub(crate) fn resources(&self, class: ClassId) -> Resources {
        self.config.classes[usize::from(class.0)].resources
    }

    pub(crate) fn in_state(&self, class: ClassId, accept: fn(SandboxState) -> bool) -> i64 {
        let matches = |sandbox: &&Sandbox| sandbox.class == class && accept(sandbox.state);
        self.sandboxes.iter().filter(matches).count() as i64
    }
}
