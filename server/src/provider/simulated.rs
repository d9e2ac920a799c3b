//! A simulated provider within the process: the simulator's own machine under tokio's clock, which
//! a test may pause. Commands run nothing: a script says how each one ends, and when.

use super::{
    Alive, CommandOutcome, CommandRequest, FileContent, FileEntry, Found, PrepareSteps,
    ProviderError, Relabelling, SandboxProvider, Target, prepare,
};
use async_trait::async_trait;
use sandpool_core::{
    ClassId, Failure, Id, Inventory, OpId, Operation, ProviderId, Reply, SandboxName, Time, Verb,
};
use sandpool_sim::{Machine, Usability};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until};

/// How a command ends, and after how long. One that takes longer than it may is timed out then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scripted {
    /// How long it runs.
    pub takes: Duration,
    /// Its exit code.
    pub exit_code: i32,
    /// What it writes.
    pub output: String,
}

impl Scripted {
    /// Succeeds with this output, at once.
    #[must_use]
    pub fn output(output: impl Into<String>) -> Self {
        Self { takes: Duration::ZERO, exit_code: 0, output: output.into() }
    }
}

type Script = dyn Fn(ProviderId, &CommandRequest) -> Scripted + Send + Sync;

/// The simulated provider. Cheap to clone; the clones are one provider.
#[derive(Clone)]
pub struct Simulated {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Something was submitted: the next instant may be earlier than the one slept towards.
    submitted: Arc<Notify>,
    /// The machine's instant zero.
    began: Instant,
    script: Box<Script>,
    prepare: Vec<PrepareSteps>,
}

struct State {
    machine: Machine,
    next_op: u64,
    /// The instance at work; the machine takes it from what is submitted.
    epoch: u32,
    waiting: BTreeMap<OpId, oneshot::Sender<Reply>>,
    files: BTreeMap<(ProviderId, String), Vec<u8>>,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").finish_non_exhaustive()
    }
}

impl Simulated {
    /// A provider around a machine at its beginning. `script` says how commands end. Must be
    /// called within a tokio runtime, on which the machine is kept going until this is dropped.
    pub fn new(
        machine: Machine,
        script: impl Fn(ProviderId, &CommandRequest) -> Scripted + Send + Sync + 'static,
    ) -> Self {
        Self::with_prepare(machine, Vec::new(), script)
    }

    /// The same with the prepare steps of each class, which are run as scripted commands once the
    /// machine's own prepare time is over.
    pub fn with_prepare(
        machine: Machine,
        prepare: Vec<PrepareSteps>,
        script: impl Fn(ProviderId, &CommandRequest) -> Scripted + Send + Sync + 'static,
    ) -> Self {
        let state = State {
            machine,
            next_op: 1,
            epoch: 0,
            waiting: BTreeMap::new(),
            files: BTreeMap::new(),
        };
        let submitted = Arc::new(Notify::new());
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            submitted: Arc::clone(&submitted),
            began: Instant::now(),
            script: Box::new(script),
            prepare,
        });
        tokio::spawn(keep_going(Arc::downgrade(&shared), submitted));
        Self { shared }
    }

    /// The machine as it is now, to look at or to make something happen.
    pub fn with_machine<T>(&self, look: impl FnOnce(Time, &mut Machine) -> T) -> T {
        let mut state = self.shared.lock();
        let now = self.shared.now();
        state.machine.advance(now);
        let seen = look(now, &mut state.machine);
        drop(state);
        self.shared.submitted.notify_one();
        seen
    }

    /// Submits one of the scheduler's operations. An answer that the machine loses never comes.
    async fn ask(
        &self,
        verb: Verb,
        target: Target,
        class: ClassId,
        conversation: Option<sandpool_core::ConversationId>,
    ) -> Result<Reply, ProviderError> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            let op = OpId::new(state.next_op, 0);
            state.next_op += 1;
            state.waiting.insert(op, sender);
            let Target { provider, name } = target;
            if verb == Verb::Create {
                state.epoch = name.epoch;
            }
            let operation =
                Operation { op, verb, sandbox: None, name, provider, class, conversation };
            state.machine.submit(self.shared.now(), operation);
        }
        self.shared.submitted.notify_one();
        let reply = receiver.await.map_err(|_| ProviderError::Lost {
            detail: "the simulated provider has ended".to_owned(),
        })?;
        match reply {
            Reply::Failed(failure) => Err(error_of(failure)),
            Reply::Gone => Err(gone()),
            reply => Ok(reply),
        }
    }

    /// Whether the sandbox can be used at this instant.
    fn check_usable(&self, provider: ProviderId) -> Result<(), ProviderError> {
        match self.with_machine(|now, machine| machine.usable(now, provider)) {
            Usability::Yes => Ok(()),
            Usability::Gone => Err(gone()),
            Usability::Unreachable => {
                Err(ProviderError::Unavailable { detail: "the sandbox does not answer".to_owned() })
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        let nanos = self.began.elapsed().as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Lets happen what is due and hands out the answers; when to come again.
    fn advance(&self) -> Option<Instant> {
        let mut state = self.lock();
        let now = self.now();
        state.machine.advance(now);
        while let Some((op, reply)) = state.machine.poll() {
            if let Some(sender) = state.waiting.remove(&op) {
                // A caller that has gone away wants no answer.
                let _ = sender.send(reply);
            }
        }
        let at = state.machine.next_at().filter(|at| *at != Time::MAX)?;
        // Tokio sleeps in whole milliseconds, rounded up: late by less than one.
        self.began.checked_add(Duration::from_nanos(at.as_nanos()))
    }
}

/// Advances the machine whenever something is due, until nobody holds the provider any more.
async fn keep_going(shared: Weak<Shared>, submitted: Arc<Notify>) {
    loop {
        // Not held while asleep: the last holder who drops the provider ends this task.
        let Some(next) = shared.upgrade().map(|shared| shared.advance()) else { return };
        match next {
            Some(at) => {
                tokio::select! {
                    () = sleep_until(at) => {}
                    () = submitted.notified() => {}
                }
            }
            None => submitted.notified().await,
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.submitted.notify_one();
    }
}

#[async_trait]
impl SandboxProvider for Simulated {
    fn text_of(&self, provider: ProviderId) -> Option<String> {
        Some(format!("simulated-{provider}"))
    }

    fn number_of(&self, text: &str) -> ProviderId {
        let number = text.strip_prefix("simulated-").and_then(|number| number.parse().ok());
        // What this provider never named is no sandbox of it.
        ProviderId(number.unwrap_or(u64::MAX))
    }

    async fn create(&self, name: SandboxName, class: ClassId) -> Result<ProviderId, ProviderError> {
        let target = Target { provider: None, name };
        match self.ask(Verb::Create, target, class, None).await? {
            Reply::Created { provider } => Ok(provider),
            other => Err(unexpected(&other)),
        }
    }

    async fn prepare(&self, target: Target, class: ClassId) -> Result<(), ProviderError> {
        self.ask(Verb::Prepare, target, class, None).await?;
        match (self.shared.prepare.get(usize::from(class.0)), target.provider) {
            (Some(steps), Some(provider)) => prepare::run(self, provider, steps).await,
            _ => Ok(()),
        }
    }

    async fn destroy(&self, target: Target) -> Result<(), ProviderError> {
        self.ask(Verb::Destroy, target, ClassId(0), None).await?;
        if let Some(provider) = target.provider {
            self.shared.lock().files.retain(|(owner, _), _| *owner != provider);
        }
        Ok(())
    }

    async fn probe(&self, target: Target) -> Result<Alive, ProviderError> {
        match self.ask(Verb::Probe, target, ClassId(0), None).await? {
            Reply::Alive { quiet } => Ok(Alive { quiet }),
            other => Err(unexpected(&other)),
        }
    }

    async fn keep_alive(&self, target: Target) -> Result<Alive, ProviderError> {
        match self.ask(Verb::KeepAlive, target, ClassId(0), None).await? {
            Reply::Alive { quiet } => Ok(Alive { quiet }),
            other => Err(unexpected(&other)),
        }
    }

    async fn find(&self, name: SandboxName) -> Result<Option<Found>, ProviderError> {
        match self.ask(Verb::Find, Target { provider: None, name }, ClassId(0), None).await? {
            Reply::Found { provider, state } => Ok(Some(Found { provider, state })),
            Reply::Absent => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    async fn find_all(&self) -> Result<Inventory, ProviderError> {
        let name = SandboxName { epoch: self.shared.lock().epoch, sequence: 0 };
        match self.ask(Verb::FindAll, Target { provider: None, name }, ClassId(0), None).await? {
            Reply::Inventory(inventory) => Ok(inventory),
            other => Err(unexpected(&other)),
        }
    }

    async fn relabel(&self, target: Target, labels: Relabelling) -> Result<(), ProviderError> {
        self.shared.lock().epoch = labels.epoch;
        self.ask(Verb::Relabel, target, labels.class, labels.conversation).await?;
        Ok(())
    }

    async fn execute(
        &self,
        provider: ProviderId,
        command: &CommandRequest,
    ) -> Result<CommandOutcome, ProviderError> {
        self.check_usable(provider)?;
        let _under_way = UnderWay::begin(self, provider);
        let scripted = (self.shared.script)(provider, command);
        sleep(scripted.takes.min(command.timeout)).await;
        match self.check_usable(provider) {
            Ok(()) if scripted.takes > command.timeout => Ok(CommandOutcome::TimedOut),
            Ok(()) => Ok(CommandOutcome::Completed {
                exit_code: scripted.exit_code,
                output: scripted.output,
            }),
            Err(gone @ ProviderError::Gone { .. }) => Err(gone),
            Err(error) => Err(ProviderError::Lost { detail: error.to_string() }),
        }
    }

    async fn write_files(
        &self,
        provider: ProviderId,
        files: &[FileContent],
    ) -> Result<(), ProviderError> {
        self.check_usable(provider)?;
        let mut state = self.shared.lock();
        for file in files {
            state.files.insert((provider, file.path.clone()), file.content.clone());
        }
        Ok(())
    }

    async fn read_file(&self, provider: ProviderId, path: &str) -> Result<Vec<u8>, ProviderError> {
        self.check_usable(provider)?;
        let state = self.shared.lock();
        let content = state.files.get(&(provider, path.to_owned()));
        content.cloned().ok_or_else(|| ProviderError::NoSuchFile { path: path.to_owned() })
    }

    async fn list_files(
        &self,
        provider: ProviderId,
        path: &str,
    ) -> Result<Vec<FileEntry>, ProviderError> {
        self.check_usable(provider)?;
        let folder = format!("{}/", path.trim_end_matches('/'));
        let mut entries: BTreeMap<String, FileEntry> = BTreeMap::new();
        for ((owner, file), content) in &self.shared.lock().files {
            let Some(rest) = file.strip_prefix(&folder).filter(|_| *owner == provider) else {
                continue;
            };
            let (name, is_folder) =
                rest.split_once('/').map_or((rest, false), |(top, _)| (top, true));
            let size_bytes = if is_folder { 0 } else { content.len() as u64 };
            let entry = FileEntry { name: name.to_owned(), is_folder, size_bytes };
            entries.insert(name.to_owned(), entry);
        }
        Ok(entries.into_values().collect())
    }

    async fn delete_file(
        &self,
        provider: ProviderId,
        path: &str,
        recursive: bool,
    ) -> Result<(), ProviderError> {
        self.check_usable(provider)?;
        let below = format!("{}/", path.trim_end_matches('/'));
        let mut state = self.shared.lock();
        let before = state.files.len();
        state.files.retain(|(owner, file), _| {
            *owner != provider || !(file == path || (recursive && file.starts_with(&below)))
        });
        if state.files.len() == before {
            return Err(ProviderError::NoSuchFile { path: path.to_owned() });
        }
        Ok(())
    }
}

/// A command under way in the machine; it ends there when its caller goes away, too.
struct UnderWay<'a> {
    simulated: &'a Simulated,
    provider: ProviderId,
}

impl<'a> UnderWay<'a> {
    fn begin(simulated: &'a Simulated, provider: ProviderId) -> Self {
        simulated.with_machine(|now, machine| machine.execute_begun(now, provider));
        Self { simulated, provider }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let provider = self.provider;
        self.simulated.with_machine(|now, machine| machine.execute_ended(now, provider));
    }
}

fn error_of(failure: Failure) -> ProviderError {
    let detail = "so says the simulated provider".to_owned();
    match failure {
        Failure::Full { dimension } => ProviderError::Full { dimension, detail },
        Failure::RateLimited { retry_after } => {
            ProviderError::RateLimited { retry_after: Duration::from_nanos(retry_after.as_nanos()) }
        }
        Failure::Rejected => ProviderError::Rejected { detail },
        Failure::NameExists => ProviderError::NameExists,
        Failure::Errored => ProviderError::Errored { detail },
        Failure::Unavailable => ProviderError::Unavailable { detail },
        Failure::Lost => ProviderError::Lost { detail },
        Failure::Conflict => ProviderError::Conflict { detail },
    }
}

fn gone() -> ProviderError {
    ProviderError::Gone { detail: "so says the simulated provider".to_owned() }
}

fn unexpected(reply: &Reply) -> ProviderError {
    ProviderError::Lost { detail: format!("the simulated provider answered {reply:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sandpool_core::{Class, FoundState};
    use sandpool_sim::Profile;

    fn target(provider: Option<ProviderId>) -> Target {
        Target { provider, name: SandboxName { epoch: 1, sequence: 1 } }
    }

    fn simulated(takes: Duration) -> Simulated {
        let machine = Machine::new(&Profile::default(), &[Class::default()], 1, 0);
        Simulated::new(machine, move |_, command| Scripted {
            takes,
            ..Scripted::output(format!("ran {}", command.text()))
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_sandbox_lives_from_create_to_destroy_in_virtual_time() {
        let simulated = simulated(Duration::from_secs(60));
        let began = Instant::now();
        let provider = simulated.create(target(None).name, ClassId(0)).await.unwrap();
        assert!(began.elapsed() > Duration::ZERO, "a start takes time");
        let target = target(Some(provider));
        simulated.prepare(target, ClassId(0)).await.unwrap();
        let found = simulated.find(target.name).await.unwrap().unwrap();
        assert_eq!((found.provider, found.state), (provider, FoundState::Running));
        assert_eq!(simulated.number_of(&simulated.text_of(provider).unwrap()), provider);

        let command = CommandRequest::new("x", Duration::from_secs(90));
        let running = {
            let simulated = simulated.clone();
            tokio::spawn(async move { simulated.execute(provider, &command).await })
        };
        sleep(Duration::from_secs(1)).await;
        assert_eq!(simulated.probe(target).await, Ok(Alive { quiet: false }));
        let output = "ran x".to_owned();
        let ended = CommandOutcome::Completed { exit_code: 0, output };
        assert_eq!(running.await.unwrap(), Ok(ended));
        assert_eq!(simulated.probe(target).await, Ok(Alive { quiet: true }));
        let short = CommandRequest::new("x", Duration::from_secs(5));
        assert_eq!(simulated.execute(provider, &short).await, Ok(CommandOutcome::TimedOut));

        simulated.destroy(target).await.unwrap();
        let dead = simulated.execute(provider, &short).await;
        assert!(matches!(dead, Err(ProviderError::Gone { .. })), "{dead:?}");
        assert_eq!(simulated.find(target.name).await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn files_stay_until_the_sandbox_goes() {
        let simulated = simulated(Duration::ZERO);
        let provider = simulated.create(target(None).name, ClassId(0)).await.unwrap();
        for path in ["/w/a", "/w/deep/b"] {
            let file = FileContent { path: path.to_owned(), content: b"12".to_vec() };
            simulated.write_file(provider, file).await.unwrap();
        }
        let listed = simulated.list_files(provider, "/w").await.unwrap();
        let seen: Vec<_> = listed.iter().map(|e| (e.name.as_str(), e.is_folder)).collect();
        assert_eq!(seen, [("a", false), ("deep", true)]);
        simulated.delete_file(provider, "/w/deep", true).await.unwrap();
        let missing = simulated.read_file(provider, "/w/deep/b").await;
        assert!(matches!(missing, Err(ProviderError::NoSuchFile { .. })), "{missing:?}");
        assert_eq!(simulated.read_file(provider, "/w/a").await.unwrap(), b"12");
        simulated.destroy(target(Some(provider))).await.unwrap();
        assert!(simulated.read_file(provider, "/w/a").await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_dropped_provider_leaves_no_task_behind() {
        let simulated = simulated(Duration::ZERO);
        let shared = Arc::downgrade(&simulated.shared);
        simulated.create(target(None).name, ClassId(0)).await.unwrap();
        drop(simulated);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(shared.strong_count(), 0);
        assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
    }
}
