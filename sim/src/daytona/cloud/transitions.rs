//! Changes of state that are asked for over the API: which state allows which.

use super::Cloud;
use super::api::Deny;
use super::errands::{Desired, Work};
use crate::daytona::record::{Ending, State};
use sandpool_core::{Dimension, ProviderId, Resources, Time};

impl Cloud {
    /// Starts a stopped or archived sandbox. One that is started stays as it is.
    ///
    /// # Errors
    /// By the state that it is in, and when the quota has no room for it any more.
    pub fn start(&mut self, now: Time, id: ProviderId) -> Result<(), Deny> {
        let record = self.living_mut(id);
        let state = record.state;
        let errands = self.errands_mut(id);
        let pending = errands.work.is_some_and(|work| work != Work::Archive);
        let size = errands.size;
        match state {
            State::Errored | State::BuildFailed => return Err(Deny::Errored),
            _ if pending => return Err(Deny::InProgress),
            State::Started => return Ok(()),
            State::Stopped | State::Archiving | State::Archived => {}
            _ => return Err(Deny::NotValid),
        }
        let wanted = size.minus(self.quota.counted(state, size));
        if let Some(dimension) = self.short_of(now, wanted) {
            return Err(Deny::Full(dimension));
        }
        if state == State::Archiving {
            // The copy is given up; the disk is still where it was.
            self.enter(id, now, State::Stopped);
        }
        let work = if state == State::Archived { Work::Restore } else { Work::Start };
        self.accept_work(id, now, work, Desired::Started);
        Ok(())
    }

    /// Stops a started sandbox, which deletes it if it is ephemeral.
    ///
    /// # Errors
    /// By the state that it is in: stopping what is stopped is an error at Daytona.
    pub fn halt_over_api(&mut self, now: Time, id: ProviderId) -> Result<(), Deny> {
        let record = self.living_mut(id);
        let (state, ephemeral) = (record.state, record.ephemeral);
        let work = self.errands_mut(id).work;
        match state {
            State::Errored | State::BuildFailed => return Err(Deny::Errored),
            _ if work.is_some_and(|work| work != Work::Archive) => return Err(Deny::InProgress),
            State::Started if ephemeral => {
                self.accept_work(id, now, Work::Delete, Desired::Destroyed);
            }
            State::Started => self.accept_work(id, now, Work::Stop, Desired::Stopped),
            _ => return Err(Deny::NotStoppable),
        }
        Ok(())
    }

    /// Deletes a sandbox. One that failed is hidden from now on and kept for a while.
    ///
    /// # Errors
    /// While its state changes, but for one that waits for its image.
    pub fn delete_over_api(&mut self, now: Time, id: ProviderId) -> Result<(), Deny> {
        let state = self.living_mut(id).state;
        let errands = self.errands_mut(id);
        let pending = errands.work.is_some_and(|work| work != Work::Archive);
        if pending && (state != State::PendingBuild || errands.desired == Desired::Destroyed) {
            return Err(Deny::InProgress);
        }
        if matches!(state, State::Errored | State::BuildFailed) {
            errands.desired = Desired::Destroyed;
            errands.updated_at = now;
            self.tell_state(id, now);
            self.look_after(id, now);
            return Ok(());
        }
        if state == State::Archiving {
            self.enter(id, now, State::Stopped);
        }
        self.living_mut(id).ending = Ending::Deleted;
        self.accept_work(id, now, Work::Delete, Desired::Destroyed);
        Ok(())
    }

    /// Archives a stopped sandbox.
    ///
    /// # Errors
    /// By the state that it is in, and for an ephemeral one.
    pub fn archive(&mut self, now: Time, id: ProviderId) -> Result<(), Deny> {
        let record = self.living_mut(id);
        let (state, ephemeral) = (record.state, record.ephemeral);
        let work = self.errands_mut(id).work;
        match state {
            State::Errored | State::BuildFailed => return Err(Deny::Errored),
            State::Stopped if work.is_some_and(|work| work != Work::Archive) => {
                return Err(Deny::InProgress);
            }
            State::Stopped if ephemeral => return Err(Deny::Ephemeral),
            State::Stopped if work.is_none() => {}
            _ => return Err(Deny::NotStopped),
        }
        self.accept_work(id, now, Work::Archive, Desired::Archived);
        Ok(())
    }

    /// Brings a sandbox back whose work failed, if its failure allows that.
    ///
    /// # Errors
    /// By the state that it is in, and when the quota has no room for it.
    pub fn recover(&mut self, now: Time, id: ProviderId, skip_start: bool) -> Result<(), Deny> {
        let state = self.living_mut(id).state;
        let errands = self.errands_mut(id);
        let recoverable = errands.failure.as_ref().is_some_and(|failure| failure.recoverable);
        let size = errands.size;
        if state != State::Errored || !recoverable {
            return Err(Deny::NotRecoverable);
        }
        if !skip_start && let Some(dimension) = self.short_of(now, size) {
            return Err(Deny::Full(dimension));
        }
        self.errands_mut(id).failure = None;
        self.enter(id, now, State::Stopped);
        if skip_start {
            let errands = self.errands_mut(id);
            errands.desired = Desired::Stopped;
            errands.updated_at = now;
            self.living_mut(id).last_activity = now;
            self.tell_state(id, now);
            self.look_after(id, now);
        } else {
            self.accept_work(id, now, Work::Start, Desired::Started);
        }
        Ok(())
    }

    /// Whether a started or stopped sandbox may take another size at all, quota aside.
    /// `disk_named` tells that the request speaks of the disk, which only a stopped sandbox
    /// allows, whatever it says.
    ///
    /// # Errors
    /// By the state that it is in, when nothing changes, and when something shrinks that may not.
    pub fn check_resize(
        &self,
        id: ProviderId,
        size: Resources,
        disk_named: bool,
    ) -> Result<(), Deny> {
        let record = self.living_by_id(id).ok_or(Deny::NotValid)?;
        let errands = record.errands.as_deref().ok_or(Deny::NotValid)?;
        let (state, old) = (record.state, errands.size);
        match state {
            State::Errored | State::BuildFailed => return Err(Deny::Errored),
            _ if errands.work.is_some() => return Err(Deny::InProgress),
            State::Started | State::Stopped => {}
            _ => return Err(Deny::NotValid),
        }
        if state == State::Started {
            if disk_named {
                return Err(Deny::DiskWhileRunning);
            }
            for dimension in [Dimension::Cpu, Dimension::Memory] {
                if size.get(dimension) < old.get(dimension) {
                    return Err(Deny::ShrunkWhileRunning(dimension));
                }
            }
        }
        if size.disk_mb < old.disk_mb {
            return Err(Deny::DiskDecreased);
        }
        if size == old { Err(Deny::NothingChanged) } else { Ok(()) }
    }

    /// Begins to give a sandbox another size, which counts from now on.
    ///
    /// # Errors
    /// As [`Cloud::check_resize`], and when the quota has no room.
    pub fn resize(
        &mut self,
        now: Time,
        id: ProviderId,
        size: Resources,
        disk_named: bool,
    ) -> Result<(), Deny> {
        self.check_resize(id, size, disk_named)?;
        let state = self.living_mut(id).state;
        let old = self.errands_mut(id).size;
        let more = self.quota.counted(state, size).minus(self.quota.counted(state, old));
        if let Some(dimension) = self.short_of(now, more) {
            return Err(Deny::Full(dimension));
        }
        self.set_size(id, size);
        self.errands_mut(id).size_before = Some(old);
        self.accept_work(id, now, Work::Resize, Desired::Resized);
        Ok(())
    }
}
