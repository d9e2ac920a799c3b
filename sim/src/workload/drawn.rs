//! Everything about a conversation that the `[workload]` table leaves to chance, each a pure
//! function of (seed, replication, conversation, turn, execute).

use super::hint::Hint;
use super::model::Workload;
use crate::random::{
    Distribution, Purpose, StreamFamily, Weighted, to_count, to_nanos, to_span, unit_exponential,
};
use sandpool_core::{AccountId, ClassId, Span};

/// Most new attempts after refusals of one execute.
pub(crate) const MAX_RETRIES: u32 = 10;

/// A quantity that each entity has one of.
#[derive(Clone, Debug)]
enum Quantity {
    /// The same for all: nothing is drawn.
    Fixed { span: Span, count: u32 },
    /// Exponential, the one distribution that has to be drawn in a few nanoseconds.
    Exponential { mean_nanos: f64, family: StreamFamily },
    /// Anything.
    Drawn { distribution: Distribution, family: StreamFamily },
}

impl Quantity {
    fn new(distribution: &Distribution, family: StreamFamily) -> Self {
        match *distribution {
            Distribution::Constant(value) => {
                Quantity::Fixed { span: to_span(value), count: to_count(value) }
            }
            Distribution::Exponential { mean } => {
                Quantity::Exponential { mean_nanos: mean * 1e9, family }
            }
            _ => Quantity::Drawn { distribution: distribution.clone(), family },
        }
    }

    /// A length of time.
    #[inline]
    fn span(&self, conversation: u64, turn: u32, execute: u32) -> Span {
        match self {
            Quantity::Fixed { span, .. } => *span,
            Quantity::Exponential { mean_nanos, family } => to_nanos(
                mean_nanos * unit_exponential(&mut family.part(conversation, turn, execute)),
            ),
            Quantity::Drawn { distribution, family } => {
                distribution.sample_span(&mut family.part(conversation, turn, execute))
            }
        }
    }

    /// A whole number of at least 1.
    #[inline]
    fn count(&self, conversation: u64, turn: u32) -> u32 {
        match self {
            Quantity::Fixed { count, .. } => *count,
            Quantity::Exponential { mean_nanos, family } => {
                let unit = unit_exponential(&mut family.part(conversation, turn, 0));
                to_count(mean_nanos * 1e-9 * unit)
            }
            Quantity::Drawn { distribution, family } => {
                distribution.sample_count(&mut family.part(conversation, turn, 0))
            }
        }
    }
}

/// The draws of one replication.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    accounts: Weighted,
    account_family: StreamFamily,
    classes: Weighted,
    class_ids: Vec<ClassId>,
    class_family: StreamFamily,
    turns: Quantity,
    think: Quantity,
    needs_code: f64,
    needs_code_family: StreamFamily,
    hint: Hint,
    hint_family: StreamFamily,
    executes: Quantity,
    work_before: Quantity,
    work_between: Quantity,
    work_after: Quantity,
    runs_for: Quantity,
    patience: Option<Quantity>,
    retry_chance: f64,
    retry_pause: Distribution,
    retry_family: StreamFamily,
    close_after: Quantity,
}

impl Drawn {
    /// # Panics
    /// When the weights of accounts or classes cannot be used; [`Workload::validate`] tells.
    pub(crate) fn new(workload: &Workload, seed: u64, replication: u32) -> Self {
        let family = |purpose| StreamFamily::new(seed, replication, purpose);
        let quantity =
            |distribution: &Distribution, purpose| Quantity::new(distribution, family(purpose));
        let weights = |weights: &[f64], what: &str| {
            Weighted::new(weights).unwrap_or_else(|error| panic!("weights of {what}: {error}"))
        };
        let class_weights: Vec<f64> = workload.classes.iter().map(|&(_, w)| w).collect();
        Self {
            accounts: weights(&workload.accounts.weights, "accounts"),
            account_family: family(Purpose::Account),
            classes: weights(&class_weights, "classes"),
            class_ids: workload.classes.iter().map(|&(class, _)| class).collect(),
            class_family: family(Purpose::ClassMix),
            turns: quantity(&workload.turns, Purpose::Turns),
            think: quantity(&workload.think_seconds, Purpose::Think),
            needs_code: workload.needs_code,
            needs_code_family: family(Purpose::NeedsCode),
            hint: Hint::new(workload.hint_quality, workload.needs_code),
            hint_family: family(Purpose::Hint),
            executes: quantity(&workload.executes, Purpose::Executes),
            work_before: quantity(&workload.work_before_seconds, Purpose::WorkBefore),
            work_between: quantity(&workload.work_between_seconds, Purpose::WorkBetween),
            work_after: quantity(&workload.work_after_seconds, Purpose::WorkAfter),
            runs_for: quantity(&workload.execute_seconds, Purpose::ExecuteSeconds),
            patience: workload.patience_seconds.as_ref().map(|d| quantity(d, Purpose::Patience)),
            retry_chance: workload.retry_after_refusal,
            retry_pause: workload.retry_pause_seconds.clone(),
            retry_family: family(Purpose::Retry),
            close_after: quantity(&workload.close_after_seconds, Purpose::CloseAfter),
        }
    }

    pub(crate) fn account_count(&self) -> usize {
        self.accounts.len()
    }

    #[inline]
    pub(crate) fn account(&self, conversation: u64) -> AccountId {
        AccountId(choose(&self.accounts, &self.account_family, conversation) as u32)
    }

    #[inline]
    pub(crate) fn class(&self, conversation: u64) -> ClassId {
        self.class_ids[choose(&self.classes, &self.class_family, conversation)]
    }

    #[inline]
    pub(crate) fn turns(&self, conversation: u64) -> u32 {
        self.turns.count(conversation, 0)
    }

    #[inline]
    pub(crate) fn think(&self, conversation: u64, turn: u32) -> Span {
        self.think.span(conversation, turn, 0)
    }

    /// How many executes a turn runs; 0 when it needs no code.
    #[inline]
    pub(crate) fn executes(&self, conversation: u64, turn: u32) -> u32 {
        let needs_code = self.needs_code >= 1.0
            || (self.needs_code > 0.0
                && self.needs_code_family.part(conversation, turn, 0).chance(self.needs_code));
        if needs_code { self.executes.count(conversation, turn) } else { 0 }
    }

    /// What the caller says about a turn that runs code or not.
    #[inline]
    pub(crate) fn likely_percent(
        &self,
        conversation: u64,
        turn: u32,
        needs_code: bool,
    ) -> Option<u8> {
        self.hint.say(needs_code, || self.hint_family.part(conversation, turn, 0))
    }

    #[inline]
    pub(crate) fn work_before(&self, conversation: u64, turn: u32) -> Span {
        self.work_before.span(conversation, turn, 0)
    }

    /// Agent work between the execute before and this one; zero for the first.
    #[inline]
    pub(crate) fn work_between(&self, conversation: u64, turn: u32, execute: u32) -> Span {
        if execute <= 1 { Span::ZERO } else { self.work_between.span(conversation, turn, execute) }
    }

    #[inline]
    pub(crate) fn work_after(&self, conversation: u64, turn: u32) -> Span {
        self.work_after.span(conversation, turn, 0)
    }

    #[inline]
    pub(crate) fn runs_for(&self, conversation: u64, turn: u32, execute: u32) -> Span {
        self.runs_for.span(conversation, turn, execute)
    }

    #[inline]
    pub(crate) fn patience(&self, conversation: u64, turn: u32, execute: u32) -> Option<Span> {
        self.patience.as_ref().map(|quantity| quantity.span(conversation, turn, execute))
    }

    /// The pause before attempt number `retry` (from 1) after a refusal; `None` gives up.
    pub(crate) fn retry(
        &self,
        conversation: u64,
        turn: u32,
        execute: u32,
        retry: u32,
    ) -> Option<Span> {
        if retry == 0 || retry > MAX_RETRIES {
            return None;
        }
        let mut stream = self.retry_family.part(conversation, turn, execute);
        // Each attempt has a stretch of the stream to itself, longer than any sample takes.
        stream.skip(u64::from(retry) << 32);
        stream.chance(self.retry_chance).then(|| self.retry_pause.sample_span(&mut stream))
    }

    pub(crate) fn close_after(&self, conversation: u64) -> Span {
        self.close_after.span(conversation, 0, 0)
    }
}

/// Chooses by weight, without a stream where there is only one choice.
#[inline]
fn choose(table: &Weighted, family: &StreamFamily, conversation: u64) -> usize {
    if table.len() == 1 { 0 } else { table.sample(&mut family.entity(conversation)) }
}
