//! What really exists at the provider, and answers that are true to it: right, wrong, late or
//! none at all, but never a lie about what exists.

use sandpool_core::{
    ClassId, Failure, FoundState, Inventory, InventoryItem, Operation, ProviderId, Reply,
    SandboxName, Span, Time, Verb,
};

/// One sandbox that really exists.
#[derive(Clone, Debug)]
pub(crate) struct Real {
    pub(crate) name: SandboxName,
    pub(crate) provider: ProviderId,
    pub(crate) class: ClassId,
    pub(crate) state: FoundState,
}

/// An operation that has not been answered.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) operation: Operation,
    /// When it will be answered by itself; `None`: never.
    pub(crate) due: Option<Time>,
    pub(crate) flavour: u8,
    pub(crate) order: u64,
    /// A create may still succeed until then.
    alive_until: Time,
}

/// How this history's provider is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Temper {
    /// Mixes the luck of every operation.
    pub(crate) salt: u64,
    /// Operations that go wrong in some way, percent.
    pub(crate) trouble_percent: u8,
    /// Operations that are not answered by themselves, percent.
    pub(crate) silent_percent: u8,
    /// The longest answer, milliseconds.
    pub(crate) latency_ms_max: u64,
}

/// The provider.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    pub(crate) temper: Temper,
    pub(crate) real: Vec<Real>,
    pub(crate) asked: Vec<Asked>,
    /// Creates whose answer was lost and that still come into being.
    coming: Vec<(Time, SandboxName, ClassId)>,
    /// What a lagging list shows.
    snapshot: Vec<Real>,
    orders: u64,
    /// How often each question was asked.
    times_asked: Vec<((Verb, SandboxName), u64)>,
    next_provider: u64,
}

/// A well mixed 64-bit hash (the finalizer of SplitMix64; Steele, Lea and Flood 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Provider {
    pub(crate) fn new(temper: Temper) -> Self {
        Self {
            temper,
            real: Vec::new(),
            asked: Vec::new(),
            coming: Vec::new(),
            snapshot: Vec::new(),
            orders: 0,
            times_asked: Vec::new(),
            next_provider: 1,
        }
    }

    /// Takes an operation in. `limbo_hold` bounds how long a create may take, as the settings
    /// promise ("longer than the provider's longest create").
    pub(crate) fn submit(&mut self, now: Time, operation: Operation, limbo_hold: Span) {
        self.orders += 1;
        // The luck of a question hangs on the question and not on what was asked before, so that a
        // history stays the same when something else is left out of it.
        let key = (operation.verb, operation.name);
        let place = match self.times_asked.iter().position(|&(known, _)| known == key) {
            Some(place) => place,
            None => {
                self.times_asked.push((key, 0));
                self.times_asked.len() - 1
            }
        };
        self.times_asked[place].1 += 1;
        let nth = self.times_asked[place].1;
        let question = (operation.verb as u64) << 32 ^ operation.name.sequence;
        let luck = mix(self.temper.salt ^ mix(question ^ mix(nth)));
        let trouble = luck % 100 < u64::from(self.temper.trouble_percent);
        let silent = (luck >> 8) % 100 < u64::from(self.temper.silent_percent);
        let latency_ms = (luck >> 16) % (self.temper.latency_ms_max + 1);
        let flavour = if trouble { 1 + ((luck >> 40) % 254) as u8 } else { 0 };
        let due = (!silent).then(|| now.plus(Span::from_millis(latency_ms)));
        let longest = Span::from_nanos(limbo_hold.as_nanos() / 10 * 9);
        let alive_until = now.plus(longest);
        self.asked.push(Asked { operation, due, flavour, order: self.orders, alive_until });
    }

    /// From now on everything works.
    pub(crate) fn heal(&mut self) {
        self.temper.trouble_percent = 0;
        self.temper.silent_percent = 0;
        // Quicker than any time-out.
        self.temper.latency_ms_max = self.temper.latency_ms_max.min(300);
        for asked in &mut self.asked {
            asked.flavour = 0;
        }
    }

    /// When something happens here by itself next.
    pub(crate) fn next_at(&self) -> Option<Time> {
        let answers = self.asked.iter().filter_map(|asked| asked.due);
        answers.chain(self.coming.iter().map(|&(at, ..)| at)).min()
    }

    /// Brings into being what is due; returns the place of an operation that is to be answered.
    pub(crate) fn due(&mut self, now: Time) -> Option<usize> {
        while let Some(place) = self.coming.iter().position(|&(at, ..)| at <= now) {
            let (_, name, class) = self.coming.remove(place);
            self.make(name, class, FoundState::Running);
        }
        let due = |asked: &Asked| asked.due.is_some_and(|at| at <= now);
        let first =
            self.asked.iter().filter(|asked| due(asked)).min_by_key(|a| (a.due, a.order))?;
        let order = first.order;
        self.asked.iter().position(|asked| asked.order == order)
    }

    /// A sandbox dies and nobody says so.
    pub(crate) fn die(&mut self, pick: u8) -> Option<SandboxName> {
        if self.real.is_empty() {
            return None;
        }
        let place = usize::from(pick) % self.real.len();
        let name = self.real[place].name;
        if pick.is_multiple_of(2) {
            self.real.remove(place);
        } else {
            self.real[place].state = FoundState::Errored;
        }
        Some(name)
    }

    fn make(&mut self, name: SandboxName, class: ClassId, state: FoundState) -> ProviderId {
        assert!(!self.real.iter().any(|real| real.name == name), "name {name} used twice");
        let provider = ProviderId(self.next_provider);
        self.next_provider += 1;
        self.real.push(Real { name, provider, class, state });
        provider
    }

    fn place_of(&self, operation: &Operation) -> Option<usize> {
        self.real.iter().position(|real| match operation.provider {
            Some(provider) => real.provider == provider,
            None => real.name == operation.name,
        })
    }

    /// Answers one operation. `None`: it is done (or not) and no answer comes.
    pub(crate) fn answer(
        &mut self,
        now: Time,
        place: usize,
        flavour: u8,
    ) -> (Operation, Option<Reply>) {
        let asked = self.asked.remove(place);
        let reply = match asked.operation.verb {
            Verb::Create => self.create(now, &asked, flavour),
            Verb::Destroy => self.destroy(&asked.operation, flavour),
            Verb::Find => self.find(&asked.operation, flavour),
            Verb::FindAll => self.find_all(flavour),
            Verb::Prepare => self.prepare(&asked.operation, flavour),
            Verb::Probe | Verb::KeepAlive => self.alive(&asked.operation, flavour),
            Verb::Relabel => self.relabel(&asked.operation, flavour),
        };
        if self.snapshot.is_empty() || flavour.is_multiple_of(3) {
            self.snapshot = self.real.clone();
        }
        (asked.operation, reply)
    }

    fn create(&mut self, now: Time, asked: &Asked, flavour: u8) -> Option<Reply> {
        let Operation { name, class, .. } = asked.operation;
        if self.real.iter().any(|real| real.name == name) {
            return Some(Reply::Failed(Failure::NameExists));
        }
        // A create that is out of its time for good can only fail.
        let flavour = if now > asked.alive_until { 9 } else { flavour };
        let failed = |failure| Some(Reply::Failed(failure));
        match flavour % 16 {
            1 => failed(Failure::Full { dimension: None }),
            2 => failed(Failure::RateLimited {
                retry_after: Span::from_millis(u64::from(flavour) * 20),
            }),
            3 => failed(Failure::Rejected),
            // The name belongs to somebody whose labels are not ours.
            4 => failed(Failure::NameExists),
            5 => {
                self.make(name, class, FoundState::Errored);
                failed(Failure::Errored)
            }
            6 => failed(Failure::Errored),
            7 => failed(Failure::Unavailable),
            8 => {
                self.make(name, class, FoundState::Running);
                failed(Failure::Lost)
            }
            9 => failed(Failure::Lost),
            10 => {
                self.coming.push((asked.alive_until, name, class));
                failed(Failure::Lost)
            }
            11 => failed(Failure::Conflict),
            12 => {
                self.make(name, class, FoundState::Running);
                None
            }
            13 => None,
            14 => {
                self.coming.push((asked.alive_until, name, class));
                None
            }
            _ => Some(Reply::Created { provider: self.make(name, class, FoundState::Running) }),
        }
    }

    fn destroy(&mut self, operation: &Operation, flavour: u8) -> Option<Reply> {
        let place = self.place_of(operation);
        let gone = matches!(flavour % 10, 0 | 1 | 8 | 9);
        if let (Some(place), true) = (place, gone) {
            self.real.remove(place);
        }
        match flavour % 10 {
            1 | 2 => Some(Reply::Failed(Failure::Lost)),
            3 => Some(Reply::Failed(Failure::Unavailable)),
            4 => Some(Reply::Failed(Failure::Conflict)),
            5 => Some(Reply::Failed(Failure::RateLimited { retry_after: Span::from_secs(1) })),
            6 => None,
            7 => Some(Reply::Failed(Failure::Errored)),
            8 => None,
            _ => Some(Reply::Destroyed),
        }
    }

    fn find(&self, operation: &Operation, flavour: u8) -> Option<Reply> {
        let truth = match self.place_of(operation) {
            Some(place) => {
                let real = &self.real[place];
                Reply::Found { provider: real.provider, state: real.state }
            }
            None => Reply::Absent,
        };
        general_trouble(flavour, truth)
    }

    fn find_all(&self, flavour: u8) -> Option<Reply> {
        let item = |real: &Real| InventoryItem {
            provider: real.provider,
            name: Some(real.name),
            class: real.class,
            state: real.state,
        };
        let all: Vec<InventoryItem> = self.real.iter().map(item).collect();
        let reply = match flavour % 12 {
            8 => Inventory { complete: false, items: all.into_iter().step_by(2).collect() },
            9 => Inventory { complete: false, items: Vec::new() },
            10 => Inventory { complete: true, items: self.snapshot.iter().map(item).collect() },
            // What a provider does that has just lost its index: everything seems gone.
            11 => Inventory { complete: true, items: Vec::new() },
            _ => Inventory { complete: true, items: all },
        };
        general_trouble(flavour % 12, Reply::Inventory(reply))
    }

    fn prepare(&self, operation: &Operation, flavour: u8) -> Option<Reply> {
        let usable =
            self.place_of(operation).is_some_and(|at| self.real[at].state == FoundState::Running);
        match (usable, flavour % 12) {
            (true, 8) => Some(Reply::Failed(Failure::Rejected)),
            (true, _) => general_trouble(flavour % 12, Reply::Prepared),
            (false, _) => general_trouble(flavour % 12, Reply::Gone),
        }
    }

    fn alive(&self, operation: &Operation, flavour: u8) -> Option<Reply> {
        let usable =
            self.place_of(operation).is_some_and(|at| self.real[at].state == FoundState::Running);
        let truth =
            if usable { Reply::Alive { quiet: flavour.is_multiple_of(2) } } else { Reply::Gone };
        general_trouble(flavour % 12, truth)
    }

    fn relabel(&self, operation: &Operation, flavour: u8) -> Option<Reply> {
        match self.place_of(operation) {
            Some(_) => general_trouble(flavour, Reply::Relabelled),
            None => Some(Reply::Failed(Failure::Errored)),
        }
    }
}

/// What can go wrong with any question.
fn general_trouble(flavour: u8, truth: Reply) -> Option<Reply> {
    match flavour % 12 {
        1 => Some(Reply::Failed(Failure::Lost)),
        2 => Some(Reply::Failed(Failure::Unavailable)),
        3 => Some(Reply::Failed(Failure::Conflict)),
        4 => Some(Reply::Failed(Failure::RateLimited { retry_after: Span::from_secs(1) })),
        5 => Some(Reply::Failed(Failure::Errored)),
        6 => None,
        _ => Some(truth),
    }
}
