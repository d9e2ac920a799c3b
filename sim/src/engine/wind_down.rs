//! After the measured time: our server shuts down, with every fault still on, and whatever the
//! provider has then is leaked.

use super::world::{World, check};
use sandpool_core::{Input, Span, Time};

/// How long a shutdown at the end may take in virtual time before what is left counts as leaked.
const WIND_DOWN: Span = Span::from_secs(4 * 3_600);
impl World<'_> {
    /// Shuts down and gives how many sandboxes the provider still has then.
    pub(super) fn wind_down(&mut self) -> u64 {
        self.next = None;
        self.crashes.stop();
        if self.driver.is_none() {
            self.start_server();
        }
        // Users are gone: only our server and the provider go on.
        for slot in 0..self.clients.len() as u32 {
            self.agenda.cancel(slot);
        }
        let bound = self.now.plus(WIND_DOWN);
        let recovery = self.now.plus(Span::from_secs(600));
        while self.driver.as_ref().is_some_and(|driver| driver.scheduler().is_recovering()) {
            let Some(at) = self.next_of_server() else { break };
            if at > recovery {
                break;
            }
            self.advance_server(at);
        }
        self.tell(Input::Drain { leave_sandboxes: false });
        loop {
            let drained =
                self.driver.as_ref().is_some_and(|driver| driver.scheduler().is_drained());
            let Some(at) = self.next_of_server() else { break };
            if drained || at > bound {
                break;
            }
            self.advance_server(at);
        }
        self.machine().cloud().living() as u64
    }

    fn next_of_server(&self) -> Option<Time> {
        let scheduler = self.driver.as_ref()?.next_deadline().map(|deadline| deadline.at);
        let provider = self.machine().next_at();
        [scheduler, provider].into_iter().flatten().min()
    }

    fn advance_server(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.set_clock(at);
        self.machine_mut().advance(at);
        self.deliver_quietly();
        if let Some(driver) = &mut self.driver {
            driver.timeout(&mut self.watch);
        }
        self.deliver_quietly();
    }

    fn deliver_quietly(&mut self) {
        if let Some(driver) = &mut self.driver {
            while let Some((op, reply)) = driver.provider_mut().poll() {
                driver.input(Input::Reply { op, reply }, &mut self.watch);
                if self.options.check_invariants {
                    check(driver.scheduler(), self.options);
                }
            }
        }
        self.watch.answers.clear();
    }
}
