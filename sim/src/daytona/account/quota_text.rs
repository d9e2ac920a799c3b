//! The texts of quota refusals, which are all that tells them apart (Daytona v0.190.0,
//! sandbox.service.ts and organization-usage.service.ts).

use super::answer::Refused;
use super::settings::{AccountSettings, DASHBOARD_URL};
use sandpool_core::Dimension;

const PER_SANDBOX: &str = "Need higher resource limits per-sandbox? Contact us at \
                           support@daytona.io and let us know about your use case.";

/// Refuses a sandbox that is larger than any may be: cpu first, then memory, then disk. Sizes in
/// vCPUs and GiB.
pub(super) fn check_largest(
    settings: &AccountSettings,
    cpu: f64,
    memory_gib: f64,
    disk_gib: f64,
) -> Result<(), Refused> {
    let largest = settings.largest;
    for (what, unit, wanted, most) in [
        ("CPU", "", cpu, largest.cpu),
        ("Memory", "GB", memory_gib, largest.memory_gib),
        ("Disk", "GB", disk_gib, largest.disk_gib),
    ] {
        if wanted > f64::from(most) {
            return Err(Refused::bad(format!(
                "{what} request {wanted}{unit} exceeds maximum allowed per sandbox \
                 ({most}{unit}).\n{PER_SANDBOX}"
            )));
        }
    }
    Ok(())
}

/// The refusal when the organization's quota has no room in a dimension.
pub(super) fn full(dimension: Dimension, quota: sandpool_core::Resources) -> Refused {
    let upgrade = format!(
        "To increase concurrency limits, upgrade your organization's Tier by visiting \
         {DASHBOARD_URL}/limits."
    );
    let text = match dimension {
        Dimension::Cpu => {
            let limit = quota.cpu_milli / 1000;
            format!("Total CPU limit exceeded. Maximum allowed: {limit}.\n{upgrade}")
        }
        Dimension::Memory => {
            let limit = quota.memory_mb / 1024;
            format!("Total memory limit exceeded. Maximum allowed: {limit}GiB.\n{upgrade}")
        }
        Dimension::Disk => {
            let limit = quota.disk_mb / 1024;
            format!(
                "Total disk limit exceeded. Maximum allowed: {limit}GiB.\nConsider archiving \
                 your unused Sandboxes to free up available storage.\n{upgrade}"
            )
        }
        // Daytona limits resources alone; a scenario may limit the number of sandboxes as well.
        Dimension::Slots => {
            format!("Sandbox resource limit reached ({}), please try again later.", quota.slots)
        }
    };
    Refused::bad(text)
}

/// The refusal of any gpu: the quota of gpus is zero.
pub(super) fn no_gpu() -> Refused {
    Refused::bad(format!(
        "Total GPU limit exceeded. Maximum allowed: 0.\nTo increase concurrency limits, upgrade \
         your organization's Tier by visiting {DASHBOARD_URL}/limits."
    ))
}
