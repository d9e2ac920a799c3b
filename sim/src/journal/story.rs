//! The chain of events of one conversation: why it waited, lost its files, was refused.

use super::replay::{Divergence, ReplayedStep, replay};
use super::words;
use crate::engine::{Line, What};
use sandpool_core::{
    ClaimId, Config, Event, EventKind, Id, Reason, SandboxId, Span, Time, WaitReason,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// One thing that happened to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StoryStep {
    /// When, nanoseconds from the start of the run.
    pub at: Time,
    /// The same as hours, minutes and seconds.
    pub clock: String,
    /// What, a sentence without its full stop.
    pub text: String,
}

/// What happened to one conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Story {
    /// Its number.
    pub conversation: u64,
    /// What happened, in order.
    pub steps: Vec<StoryStep>,
    /// It all in one sentence.
    pub summary: String,
}

/// Tells what happened to the conversation of this number; `None` if the journal has none. The
/// reasons of its waits are asked of the scheduler itself, whose state is rebuilt from the journal.
///
/// # Errors
/// When the journal does not rebuild the state.
pub fn story(
    config: &Config,
    journal: &[Line],
    conversation: u64,
) -> Result<Option<Story>, Divergence> {
    let mut teller = Teller::new(conversation, beneficiaries(journal));
    replay(config, journal, |step| teller.hear(step))?;
    Ok(teller.finish())
}

/// For each line by which a conversation lost a sandbox or its admission to another: the line by
/// which the next claim was admitted once the capacity was there, and whose claim that was. The
/// scheduler does not take for one claim: it makes room, and admits in its order.
fn beneficiaries(journal: &[Line]) -> BTreeMap<usize, (u64, Time)> {
    let mut of = BTreeMap::new();
    let mut coming: Vec<(usize, SandboxId)> = Vec::new();
    let mut free: Vec<usize> = Vec::new();
    for (index, line) in journal.iter().enumerate() {
        let What::Event(event) = &line.what else { continue };
        match (event.kind, event.sandbox) {
            (EventKind::SandboxReclaimed, Some(sandbox)) => coming.push((index, sandbox)),
            (EventKind::ClaimRevoked, _) if event.reason == Reason::Revoked => free.push(index),
            (EventKind::SandboxDeleted, Some(sandbox)) => {
                if let Some(place) = coming.iter().position(|&(_, other)| other == sandbox) {
                    free.push(coming.remove(place).0);
                }
            }
            (EventKind::ClaimAdmitted, _) if !free.is_empty() => {
                if let Some(conversation) = event.conversation {
                    of.insert(free.remove(0), (conversation.sequence(), event.at));
                }
            }
            _ => {}
        }
    }
    of
}

/// A wait that is going on.
#[derive(Debug)]
struct Wait {
    claim: ClaimId,
    blocked: bool,
    reason: Option<WaitReason>,
    since: Time,
    /// How long it has waited for each reason, while an execute waited.
    spent: Vec<(WaitReason, Span)>,
}

impl Wait {
    fn spend(&mut self, now: Time) {
        if let (Some(reason), true) = (self.reason, self.blocked) {
            let passed = now.since(self.since);
            match self.spent.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, spent)) => *spent = spent.plus(passed),
                None => self.spent.push((reason, passed)),
            }
        }
        self.since = now;
    }

    fn main_reason(&self) -> Option<WaitReason> {
        self.spent.iter().max_by_key(|(_, spent)| *spent).map(|&(reason, _)| reason)
    }
}

#[derive(Debug, Default)]
struct Teller {
    number: u64,
    beneficiaries: BTreeMap<usize, (u64, Time)>,
    steps: Vec<StoryStep>,
    account: Option<u32>,
    open: bool,
    wait: Option<Wait>,
    /// The start that its claim caused.
    start: Option<SandboxId>,
    turns: u32,
    executes: u32,
    refusals: Vec<Reason>,
    losses: Vec<Reason>,
    waited: Span,
    longest: (Span, Option<WaitReason>),
}

impl Teller {
    fn new(number: u64, beneficiaries: BTreeMap<usize, (u64, Time)>) -> Self {
        Self { number, beneficiaries, ..Self::default() }
    }

    fn say(&mut self, at: Time, text: impl Into<String>) {
        self.steps.push(StoryStep { at, clock: words::clock(at), text: text.into() });
    }

    fn hear(&mut self, step: ReplayedStep<'_>) {
        for (offset, line) in step.lines.iter().enumerate() {
            match &line.what {
                What::Event(event) if self.concerns(event) => {
                    self.event(event, step.first_line + offset);
                }
                What::Crash if self.open => {
                    self.say(
                        line.at,
                        "our server CRASHES: an open turn ends in an error, waits are forgotten",
                    );
                    (self.wait, self.start) = (None, None);
                }
                What::Instance(epoch) if self.open => {
                    self.say(line.at, format!("our server is back, as instance {epoch}"));
                }
                What::Rejection(rejection)
                    if rejection.conversation.map(Id::sequence) == Some(self.number) =>
                {
                    self.say(line.at, format!("a request is turned down: {}", rejection.why));
                }
                _ => {}
            }
        }
        self.look_at_wait(&step);
    }

    /// Whether the event is the conversation's, or about the start that its claim caused.
    fn concerns(&self, event: &Event) -> bool {
        let own_claim = self.wait.as_ref().is_some_and(|wait| event.claim == Some(wait.claim));
        let own_start = event.sandbox.is_some() && event.sandbox == self.start;
        let other = event.conversation.is_some_and(|id| id.sequence() != self.number);
        event.conversation.is_some_and(|id| id.sequence() == self.number)
            || (!other && (own_claim || own_start))
    }

    fn event(&mut self, event: &Event, line: usize) {
        self.account = self.account.or(event.account.map(|account| account.0));
        match event.kind {
            EventKind::ConversationOpened => self.open = true,
            EventKind::ConversationClosed => self.open = false,
            EventKind::TurnBegan => self.turns += 1,
            EventKind::SandboxRequested => {
                self.wait = event.claim.map(|claim| Wait {
                    claim,
                    blocked: event.reason == Reason::Blocked,
                    reason: None,
                    since: event.at,
                    spent: Vec::new(),
                });
            }
            EventKind::ClaimBlocked => {
                if let Some(wait) = &mut self.wait {
                    wait.blocked = true;
                    wait.since = event.at;
                    // The reason is worth saying again: from now on it costs somebody time.
                    wait.reason = None;
                }
            }
            EventKind::SandboxStarting => self.start = event.sandbox,
            EventKind::SandboxBusy => {
                self.executes += 1;
                self.waited = self.waited.plus(event.span);
                self.ends_wait(event);
            }
            EventKind::SandboxUnavailable => {
                self.refusals.push(event.reason);
                self.waited = self.waited.plus(event.span);
                self.ends_wait(event);
            }
            EventKind::ClaimWithdrawn => self.wait = None,
            EventKind::SandboxReplaced => self.losses.push(event.reason),
            _ => {}
        }
        let Some(mut text) = words::event(event) else { return };
        if let Some(&(other, at)) = self.beneficiaries.get(&line) {
            let whose = if other == self.number {
                "this conversation itself".to_owned()
            } else {
                format!("conversation {other}")
            };
            let after = words::length(at.since(event.at));
            text.push_str(&format!(" (next to be given capacity, {after} later: {whose})"));
        }
        self.say(event.at, text);
        if matches!(
            event.kind,
            EventKind::SandboxReady | EventKind::SandboxFailed | EventKind::SandboxDestroying
        ) && event.sandbox == self.start
        {
            self.start = None;
        }
    }

    fn ends_wait(&mut self, event: &Event) {
        let reason = self.wait.take().and_then(|mut wait| {
            wait.spend(event.at);
            wait.main_reason()
        });
        if event.span > self.longest.0 {
            self.longest = (event.span, reason);
        }
    }

    /// Asks the scheduler why the claim waits, and says it when it has changed.
    fn look_at_wait(&mut self, step: &ReplayedStep<'_>) {
        let (Some(scheduler), Some(wait)) = (step.scheduler, &mut self.wait) else { return };
        let Some(explanation) = scheduler.explain(wait.claim) else { return };
        let now = scheduler.now();
        if wait.reason == Some(explanation.reason) {
            return;
        }
        wait.spend(now);
        wait.reason = Some(explanation.reason);
        if explanation.reason != WaitReason::Served {
            let text = words::waits(&explanation);
            self.say(now, text);
        }
    }

    fn finish(self) -> Option<Story> {
        if self.steps.is_empty() {
            return None;
        }
        let summary = self.summary();
        Some(Story { conversation: self.number, steps: self.steps, summary })
    }

    fn summary(&self) -> String {
        let counted = |n: u32, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let mut text = format!("Conversation {}", self.number);
        if let Some(account) = self.account {
            text.push_str(&format!(" of account {account}"));
        }
        text.push_str(&format!(
            " began {} and ran {}; ",
            counted(self.turns, "turn", "turns"),
            counted(self.executes, "execute", "executes")
        ));
        if self.waited == Span::ZERO {
            text.push_str("it never waited");
        } else {
            text.push_str(&format!("it waited {} in all", words::length(self.waited)));
            text.push_str(&format!(", at most {} at a time", words::length(self.longest.0)));
            if let Some(reason) = self.longest.1 {
                text.push_str(&format!(" (mainly because {})", words::wait_reason(reason)));
            }
        }
        let times = |n: usize| match n {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            n => format!("{n} times"),
        };
        let tail = match (self.refusals.len(), self.losses.last()) {
            (0, None) => ", was never refused and lost no files".to_owned(),
            (0, Some(&loss)) => {
                let (n, how) = (times(self.losses.len()), words::loss(loss));
                format!(", was never refused, and lost its files {n} ({how})")
            }
            (n, None) => format!(", was refused {} and lost no files", times(n)),
            (n, Some(&loss)) => {
                let (lost, how) = (times(self.losses.len()), words::loss(loss));
                format!(", was refused {}, and lost its files {lost} ({how})", times(n))
            }
        };
        text + &tail + "."
    }
}

#[cfg(test)]
mod tests {
    use super::super::notable::{Notable, notable};
    use super::super::replay::sample_journal;
    use super::*;

    fn told(pick: impl Fn(&&Notable) -> bool) -> Story {
        let (config, journal) = sample_journal();
        let all = notable(&journal);
        let found = all.iter().find(pick).expect("the sample has one");
        story(&config, &journal, found.conversation).unwrap().unwrap()
    }

    fn has(story: &Story, part: &str) -> bool {
        story.steps.iter().any(|step| step.text.contains(part))
    }

    #[test]
    fn a_long_wait_has_a_reason() {
        let story = told(|n| n.longest_wait > Span::from_secs(5) && n.refusals == 0);
        assert!(has(&story, "after WAITING"), "{story:#?}");
        assert!(has(&story, "waits because"), "{story:#?}");
        assert!(story.summary.contains("mainly because"), "{}", story.summary);
        assert!(story.steps.is_sorted_by_key(|step| step.at));
    }

    #[test]
    fn refusals_and_lost_files_are_told() {
        let refused = told(|n| n.refusals == 1);
        assert!(has(&refused, "is REFUSED after"), "{refused:#?}");
        assert!(refused.summary.contains("was refused once"), "{}", refused.summary);
        let lost = told(|n| n.lost_files > 0);
        assert!(has(&lost, "its files are LOST"), "{lost:#?}");
        assert!(lost.summary.contains("lost its files"), "{}", lost.summary);
    }

    #[test]
    fn what_was_taken_names_who_came_next() {
        let (config, journal) = sample_journal();
        let taken = journal.iter().find_map(|line| match &line.what {
            What::Event(e) if e.kind == EventKind::SandboxReclaimed => e.conversation,
            _ => None,
        });
        let number = taken.expect("the sample reclaims").sequence();
        let story = story(&config, &journal, number).unwrap().unwrap();
        assert!(has(&story, "TAKEN for another claim (next to be given capacity"), "{story:#?}");
    }

    #[test]
    fn a_conversation_that_is_not_there_has_no_story() {
        let (config, journal) = sample_journal();
        assert_eq!(story(&config, &journal, 1_000_000), Ok(None));
    }
}
