//! Events and reasons as people say them.

use sandpool_core::{
    Dimension, Event, EventKind, Explanation, Id, Reason, SandboxId, Span, Time, WaitReason,
};

/// An instant of a run: `1:02:03.456`.
pub(super) fn clock(at: Time) -> String {
    let millis = at.as_nanos() / 1_000_000;
    let (seconds, millis) = (millis / 1_000, millis % 1_000);
    format!("{}:{:02}:{:02}.{millis:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// A length of time, with the unit that suits it.
pub(super) fn length(span: Span) -> String {
    let seconds = span.as_secs_f64();
    if span.is_unbounded() {
        "without bound".to_owned()
    } else if seconds >= 7_200.0 {
        format!("{:.1} h", seconds / 3_600.0)
    } else if seconds >= 120.0 {
        format!("{:.1} min", seconds / 60.0)
    } else if seconds >= 0.1 || span == Span::ZERO {
        format!("{seconds:.1} s")
    } else {
        format!("{:.1} ms", seconds * 1_000.0)
    }
}

fn dimension(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Slots => "sandboxes",
        Dimension::Memory => "memory",
        Dimension::Cpu => "processors",
        Dimension::Disk => "disk",
    }
}

/// Why a claim waits, a clause that follows "because".
pub(super) fn wait_reason(reason: WaitReason) -> String {
    match reason {
        WaitReason::Served => "it is served".to_owned(),
        WaitReason::Starting => "its sandbox is starting".to_owned(),
        WaitReason::StartPermits => "all start permits are in use".to_owned(),
        WaitReason::StartPaused => {
            "starts pause after failures or at the provider's wish".to_owned()
        }
        WaitReason::LimitLowered => "the limit was lowered below what is in use".to_owned(),
        WaitReason::Capacity(Dimension::Slots) => "all sandboxes are in use".to_owned(),
        WaitReason::Capacity(short) => format!("not enough {} is free", dimension(short)),
        WaitReason::Reserve => {
            "its account is beyond its share and must leave the reserve free".to_owned()
        }
        WaitReason::HeldForOlder => "capacity is held for an older claim".to_owned(),
        WaitReason::Pledged => "what is free is on its way to blocked claims".to_owned(),
        WaitReason::Recovering => {
            "the server has just started and looks for what exists".to_owned()
        }
    }
}

/// A wait and what is known about it, a whole sentence.
pub(super) fn waits(explanation: &Explanation) -> String {
    let mut text = format!("waits because {}", wait_reason(explanation.reason));
    match explanation.position {
        Some(0) => text.push_str("; it is next in line"),
        Some(1) => text.push_str("; one claim is before it"),
        Some(n) => text.push_str(&format!("; {n} claims are before it")),
        None => {}
    }
    if let Some(estimate) = explanation.estimate.filter(|&estimate| estimate > Span::ZERO) {
        text.push_str(&format!("; estimate {}", length(estimate)));
    }
    if let Some(left) = explanation.patience_left {
        text.push_str(&format!("; gives up in {}", length(left)));
    }
    text
}

/// Why something happened, a clause.
fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::None => "for no stated reason",
        Reason::Requested => "on request",
        Reason::TurnEnded => "the turn ended",
        Reason::TurnTimeout => "the turn was without activity for too long",
        Reason::ConversationClosed => "the conversation was closed",
        Reason::Cancelled => "cancelled by the caller",
        Reason::Full => "all sandboxes were in use until its patience ended",
        Reason::CouldNotStart => "no sandbox could be started in time or in the attempts allowed",
        Reason::NeverFits => "it can never fit the limits",
        Reason::QueueTooLong => "too many claims wait",
        Reason::ShuttingDown => "the server shuts down",
        Reason::Speculative => "ahead of need",
        Reason::Blocked => "an execute needs it",
        Reason::Warm => "for the warm pool",
        Reason::WarmHit => "it was ready",
        Reason::ColdStart => "it had to be started",
        Reason::IdleTimeout => "it was idle for too long",
        Reason::Reclaimed => "it was taken for another claim",
        Reason::Evicted => "it was evicted from the warm pool for another claim",
        Reason::Revoked => "it was not used yet and went to a claim that an execute waits for",
        Reason::WarmSurplus => "more were warm than wanted",
        Reason::WarmAge => "it was warm for too long",
        Reason::Swapped => "the turn needs another class",
        Reason::Died => "it died",
        Reason::StartTimeout => "the start took too long",
        Reason::ProviderFull => "the provider said that its quota is used up",
        Reason::RateLimited => "the provider said that there were too many requests",
        Reason::Rejected => "the provider refused the request",
        Reason::NameExists => "the name was taken",
        Reason::Errored => "the provider tried and failed",
        Reason::Unavailable => "the provider could not be reached",
        Reason::AnswerLost => "the provider's answer was lost",
        Reason::PrepareFailed => "preparing it failed",
        Reason::Absent => "it is not there",
        Reason::Recovery => "the server had crashed",
        Reason::Orphan => "nobody owned it",
        Reason::UnknownAtProvider => "the provider lists what the ledger does not have",
        Reason::MissingAtProvider => "the ledger has what the provider does not list",
        Reason::Completed => "completed",
        Reason::TimedOut => "stopped at its time limit",
        Reason::Unreachable => "the sandbox could not be reached",
        Reason::Alive => "the sandbox lives after all",
    }
}

/// How a file loss came about, a clause.
pub(super) fn loss(of: Reason) -> &'static str {
    match of {
        Reason::IdleTimeout => "its sandbox had ended after being idle for too long",
        Reason::Reclaimed => "its idle sandbox had been taken for another claim",
        Reason::Died => "its sandbox had died",
        Reason::Recovery => "the server had crashed",
        other => reason(other),
    }
}

/// What happened to the conversation, a sentence without its subject where that is the
/// conversation; `None` for what tells a reader nothing.
pub(super) fn event(event: &Event) -> Option<String> {
    let sandbox = event.sandbox.map_or(0, SandboxId::sequence);
    let (span, why) = (length(event.span), reason(event.reason));
    let execute = event.execute;
    Some(match event.kind {
        EventKind::ConversationOpened => "the conversation is opened".to_owned(),
        EventKind::ConversationClosed => "the conversation is closed".to_owned(),
        EventKind::TurnBegan => format!("turn {} begins", event.turn),
        EventKind::TurnEnded if event.reason == Reason::Requested => {
            format!("turn {} ends", event.turn)
        }
        EventKind::TurnEnded => format!("turn {} ends: {why}", event.turn),
        EventKind::SandboxRequested if event.reason == Reason::Speculative => {
            "a sandbox is asked for ahead of need".to_owned()
        }
        EventKind::SandboxRequested => format!("execute {execute} needs a sandbox"),
        EventKind::ClaimBlocked => format!("execute {execute} waits for the sandbox from now on"),
        EventKind::ClaimAdmitted if event.span == Span::ZERO => {
            "capacity is granted at once".to_owned()
        }
        EventKind::ClaimAdmitted => format!("capacity is granted after {span}"),
        EventKind::ClaimRevoked => format!("the capacity is taken back: {why}"),
        EventKind::ClaimWithdrawn => format!("the request is withdrawn: {why}"),
        EventKind::SandboxUnavailable => {
            format!("execute {execute} is REFUSED after {span}: {why}")
        }
        EventKind::SandboxStarting => format!("sandbox {sandbox} starts"),
        EventKind::SandboxCreated => format!("sandbox {sandbox} is created after {span}"),
        EventKind::SandboxReady => format!("sandbox {sandbox} is ready after {span}"),
        EventKind::SandboxAssigned => format!("sandbox {sandbox} is bound to it: {why}"),
        EventKind::SandboxReleased => {
            format!("sandbox {sandbox} goes back to the warm pool unused: {why}")
        }
        EventKind::SandboxBusy if event.span == Span::ZERO => {
            format!("execute {execute} runs at once in sandbox {sandbox}")
        }
        EventKind::SandboxBusy => {
            format!("execute {execute} runs in sandbox {sandbox} after WAITING {span}")
        }
        EventKind::ExecuteEnded => format!("execute {execute} ends after {span}: {why}"),
        EventKind::SandboxReclaimed => {
            format!("idle sandbox {sandbox} is TAKEN for another claim")
        }
        EventKind::SandboxDied => format!("sandbox {sandbox} is found DEAD"),
        EventKind::SandboxReplaced => {
            format!("its files are LOST: {}; it goes on in sandbox {sandbox}", loss(event.reason))
        }
        EventKind::SandboxLimbo => format!("whether sandbox {sandbox} exists is unknown: {why}"),
        EventKind::SandboxFailed => format!("starting sandbox {sandbox} FAILS after {span}: {why}"),
        // Told already, by whoever took it.
        EventKind::SandboxDestroying if event.reason == Reason::Reclaimed => return None,
        EventKind::SandboxDestroying => format!("sandbox {sandbox} is being deleted: {why}"),
        EventKind::SandboxStuck => format!("deleting sandbox {sandbox} is stuck; it is tried on"),
        EventKind::SandboxAdopted => format!("sandbox {sandbox} is taken over: {why}"),
        EventKind::IllegalTransition => format!("an illegal change of sandbox {sandbox}: a bug"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_lengths_read_well() {
        assert_eq!(clock(Time::from_nanos(3_723_456_700_000)), "1:02:03.456");
        for (millis, text) in
            [(0, "0.0 s"), (50, "50.0 ms"), (11_230, "11.2 s"), (150_000, "2.5 min")]
        {
            assert_eq!(length(Span::from_millis(millis)), text);
        }
        assert_eq!(length(Span::from_secs(9_000)), "2.5 h");
    }

    #[test]
    fn a_wait_says_what_is_known() {
        let explanation = Explanation {
            reason: WaitReason::Capacity(Dimension::Memory),
            position: Some(2),
            estimate: Some(Span::from_secs(4)),
            waited: Span::ZERO,
            patience_left: Some(Span::from_secs(30)),
        };
        assert_eq!(
            waits(&explanation),
            "waits because not enough memory is free; 2 claims are before it; estimate 4.0 s; \
             gives up in 30.0 s"
        );
    }
}
