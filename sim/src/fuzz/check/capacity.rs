//! What may exist is counted from the events alone; a start is decided only where it fits.

use super::Violation;
use crate::engine::{Line, What};
use crate::scenario::Variant;
use sandpool_core::{ClassId, EventKind, Resources, SandboxId};
use std::collections::BTreeMap;

pub(super) fn check(variant: &Variant, journal: &[Line]) -> Result<(), Violation> {
    let config = &variant.server;
    let size = |class: ClassId| config.classes[usize::from(class.0)].resources;
    let mut there: BTreeMap<SandboxId, ClassId> = BTreeMap::new();
    for (number, line) in journal.iter().enumerate() {
        let event = match &line.what {
            What::Instance(_) => {
                there.clear();
                continue;
            }
            What::Event(event) => event,
            _ => continue,
        };
        let Some(sandbox) = event.sandbox else { continue };
        if event.kind == EventKind::SandboxDeleted {
            if there.remove(&sandbox).is_none() {
                let text = format!("sandbox {sandbox} is deleted and did not exist");
                return Err(Violation::at(number, text));
            }
            continue;
        }
        there.insert(sandbox, event.class);
        if event.kind != EventKind::SandboxStarting {
            continue;
        }
        let used = there.values().fold(Resources::default(), |used, &class| used.plus(size(class)));
        let limit = config.max;
        let over = [
            ("slots", used.slots, limit.slots),
            ("memory", used.memory_mb, limit.memory_mb),
            ("cpu", used.cpu_milli, limit.cpu_milli),
            ("disk", used.disk_mb, limit.disk_mb),
        ]
        .into_iter()
        .find(|&(_, used, limit)| used > limit);
        if let Some((dimension, used, limit)) = over {
            let text =
                format!("sandbox {sandbox} starts with {used} of {limit} {dimension} in use");
            return Err(Violation::at(number, text));
        }
    }
    Ok(())
}
