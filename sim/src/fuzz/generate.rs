//! A scenario from one number: pieces that can be left out one by one when a failure is made small.

use crate::random::{Purpose, Stream};
use std::fmt::Write;

/// One setting, or a group of settings that make sense only together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The table it stands in, as it is written between brackets; empty for the top.
    pub table: &'static str,
    /// Lines of it.
    pub lines: Vec<String>,
}

/// What a scenario is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FuzzRecipe {
    /// Where it comes from.
    pub seed: u64,
    /// Simulated minutes.
    pub minutes: u64,
    /// Conversations an hour.
    pub per_hour: u64,
    /// Everything else.
    pub pieces: Vec<Piece>,
}

impl FuzzRecipe {
    /// The recipe of a seed. The same seed gives the same one, for ever in one version.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        let mut draw = Draw { luck: Stream::new(seed, 0, Purpose::Fuzz, 0), pieces: Vec::new() };
        draw.limits();
        draw.policies();
        draw.times();
        draw.classes();
        draw.workload();
        draw.provider();
        draw.crashes();
        let minutes = draw.between(10, 90);
        let per_hour = draw.between(20, 400);
        Self { seed, minutes, per_hour, pieces: draw.pieces }
    }

    /// The scenario as a file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "seed = {}\nduration = \"{}m\"", self.seed >> 1, self.minutes);
        let mut tables: Vec<&str> = self.pieces.iter().map(|piece| piece.table).collect();
        tables.dedup();
        let mut written: Vec<&str> = Vec::new();
        for table in tables {
            // Lists of tables are written again and again, other tables once.
            let is_list = table.starts_with('[');
            if written.contains(&table) && !is_list {
                continue;
            }
            written.push(table);
            for piece in self.pieces.iter().filter(|piece| piece.table == table && is_list) {
                let _ = writeln!(text, "\n[{table}]\n{}", piece.lines.join("\n"));
            }
            if !is_list {
                let _ = writeln!(text, "\n[{table}]");
                for piece in self.pieces.iter().filter(|piece| piece.table == table) {
                    let _ = writeln!(text, "{}", piece.lines.join("\n"));
                }
            }
        }
        let _ = writeln!(text, "\n[workload.arrivals.poisson]\nper_hour = {}", self.per_hour);
        text
    }
}

struct Draw {
    luck: Stream,
    pieces: Vec<Piece>,
}

impl Draw {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.luck.below(most - least + 1)
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.luck.below(words.len() as u64) as usize]
    }

    fn put(&mut self, table: &'static str, line: String) {
        self.pieces.push(Piece { table, lines: vec![line] });
    }

    fn maybe(&mut self, chance: f64, table: &'static str, line: impl FnOnce(&mut Self) -> String) {
        if self.luck.chance(chance) {
            let line = line(self);
            self.put(table, line);
        }
    }

    fn limits(&mut self) {
        let slots = self.between(1, 12);
        self.put("server", format!("max_sandboxes = {slots}"));
        self.maybe(0.5, "server", |it| format!("max_memory_gb = {}", it.between(1, 14)));
        self.maybe(0.2, "server", |it| format!("max_cpu = {}", it.between(1, 14)));
        self.maybe(0.2, "server", |it| format!("max_disk_gb = {}", it.between(3, 40)));
        self.maybe(0.8, "server", |it| format!("max_sandboxes_per_account = {}", it.between(1, 6)));
        self.maybe(0.2, "server", |it| format!("max_memory_gb_per_account = {}", it.between(1, 8)));
        self.maybe(0.8, "server", |it| format!("borrow_keep_free = {}", it.between(0, 4)));
        self.maybe(0.8, "server", |it| format!("warm_sandboxes = {}", it.between(0, 4)));
        self.maybe(0.3, "server", |it| format!("max_waiting = {}", it.between(0, 6)));
        self.maybe(0.4, "server", |it| format!("max_overtakes = {}", it.between(0, 4)));
        self.maybe(0.4, "server", |it| format!("max_starting = {}", it.between(1, 5)));
        self.maybe(0.4, "server", |it| format!("max_start_attempts = {}", it.between(1, 4)));
    }

    fn policies(&mut self) {
        for (key, words) in [
            ("start_policy", &["on_turn", "on_execute", "likely"][..]),
            ("warm_policy", &["fixed", "demand", "forecast"]),
            ("queue_policy", &["fifo", "fewest_held"]),
            ("reclaim_policy", &["borrowed_first", "lru", "cost_aware"]),
            ("idle_policy", &["fixed", "pressure"]),
            ("recovery", &["destroy", "adopt"]),
        ] {
            self.maybe(0.7, "server", |it| format!("{key} = \"{}\"", it.pick(words)));
        }
    }

    fn times(&mut self) {
        // Short ones, so that a short run meets each of them often.
        for (key, least, most) in [
            ("sandbox_wait_seconds", 0, 60),
            ("idle_seconds", 0, 300),
            ("reclaim_idle_seconds", 0, 60),
            ("turn_timeout_seconds", 20, 600),
            ("warm_surplus_seconds", 0, 120),
            ("warm_max_age_seconds", 30, 1_200),
            ("idle_pressure_seconds", 0, 60),
            ("reconcile_seconds", 5, 120),
            ("orphan_grace_seconds", 0, 120),
            ("operation_timeout_seconds", 2, 30),
            ("full_hold_seconds", 0, 120),
            ("breaker_open_seconds", 1, 60),
            ("drain_grace_seconds", 0, 60),
            ("breaker_failures", 1, 6),
            ("keep_alive_seconds", 5, 300),
        ] {
            self.maybe(0.5, "server", |it| format!("{key} = {}", it.between(least, most)));
        }
        if self.luck.chance(0.5) {
            let start = self.between(5, 90);
            let hold = start + self.between(0, 120);
            self.pieces.push(Piece {
                table: "server",
                lines: vec![
                    format!("start_timeout_seconds = {start}"),
                    format!("limbo_hold_seconds = {hold}"),
                ],
            });
        }
    }

    fn classes(&mut self) {
        if !self.luck.chance(0.4) {
            return;
        }
        let (memory, warm) = (self.between(1, 6), self.between(0, 2));
        let prepare = self.luck.chance(0.7);
        self.put("classes.default", "memory_gb = 1".to_owned());
        self.pieces.push(Piece {
            table: "classes.large",
            lines: vec![
                format!("memory_gb = {memory}"),
                format!("warm_sandboxes = {warm}"),
                format!("prepare = {prepare}"),
            ],
        });
        let share = self.between(1, 5);
        self.put("workload.class_mix", format!("default = 5\nlarge = {share}"));
    }

    fn workload(&mut self) {
        self.maybe(0.9, "workload", |it| {
            format!("turns = {{ geometric = {{ mean = {} }} }}", it.between(1, 6))
        });
        self.maybe(0.9, "workload", |it| {
            format!("think_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 240))
        });
        self.maybe(0.9, "workload", |it| {
            format!("executes = {{ geometric = {{ mean = {} }} }}", it.between(1, 6))
        });
        self.maybe(0.5, "workload", |it| format!("needs_code = 0.{}", it.between(1, 9)));
        self.maybe(0.3, "workload", |it| format!("hint_quality = 0.{}", it.between(1, 9)));
        self.maybe(0.5, "workload", |it| {
            format!("execute_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 60))
        });
        self.maybe(0.3, "workload", |it| {
            format!("patience_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 60))
        });
        self.maybe(0.5, "workload", |_| "retry_after_refusal = 0.5".to_owned());
        self.maybe(0.5, "workload", |it| {
            format!("close_after_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 900))
        });
        self.maybe(0.8, "workload.accounts", |it| format!("count = {}", it.between(1, 6)));
    }

    fn provider(&mut self) {
        self.maybe(0.5, "provider", |it| {
            format!("create_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 30))
        });
        self.maybe(0.5, "provider", |it| {
            format!("delete_seconds = {{ exponential = {{ mean = {} }} }}", it.between(1, 30))
        });
        self.maybe(0.3, "provider", |it| format!("list_partial = 0.{}", it.between(1, 5)));
        self.maybe(0.2, "provider", |it| format!("stuck_creating = 0.0{}", it.between(1, 9)));
        self.maybe(0.2, "provider", |it| format!("stuck_destroying = 0.0{}", it.between(1, 9)));
        self.maybe(0.4, "provider", |it| {
            format!("stuck_seconds = {{ exponential = {{ mean = {} }} }}", it.between(10, 900))
        });
        self.maybe(0.3, "provider", |it| format!("deaths_per_hour = {}", it.between(1, 20)));
        if self.luck.chance(0.2) {
            let (often, share) = (self.between(1, 10), self.between(1, 9));
            self.put("provider", format!("group_deaths_per_hour = {often}"));
            self.put("provider", format!("group_death_share = 0.{share}"));
        }
        self.maybe(0.2, "provider", |it| format!("creates_per_minute = {}", it.between(1, 20)));
        self.maybe(0.2, "provider", |it| format!("lifecycle_per_minute = {}", it.between(2, 40)));
        let is_stormy = self.luck.chance(0.7);
        for verb in
            ["create", "prepare", "destroy", "probe", "find", "find_all", "keep_alive", "relabel"]
        {
            for fault in ["unavailable", "errored", "lost_request", "lost_answer", "rejected"] {
                let makes_sense = match fault {
                    "errored" => matches!(verb, "create" | "prepare" | "destroy"),
                    "rejected" => matches!(verb, "create" | "prepare"),
                    _ => true,
                };
                if is_stormy && makes_sense && self.luck.chance(0.3) {
                    let chance = self.between(1, 15);
                    self.put(
                        "provider.faults",
                        format!("{verb}.{fault} = {}", chance as f64 / 100.0),
                    );
                }
            }
        }
        self.maybe(0.4, "provider.quota", |it| format!("max_memory_gb = {}", it.between(1, 14)));
        self.maybe(0.2, "provider.quota", |it| format!("max_sandboxes = {}", it.between(1, 12)));
        if self.luck.chance(0.2) {
            let step = self.between(30, 600);
            self.put(
                "provider.other_tenants",
                "sandboxes = { values = [0, 1, 1, 2, 3, 5] }".to_owned(),
            );
            self.put(
                "provider.other_tenants",
                format!("step_seconds = {{ exponential = {{ mean = {step} }} }}"),
            );
        }
        for _ in 0..self.between(0, 2) {
            let (start, long) = (self.between(1, 60), self.between(10, 600));
            let silent = self.luck.chance(0.5);
            self.pieces.push(Piece {
                table: "[provider.outage]",
                lines: vec![
                    format!("start = \"{start}m\""),
                    format!("duration = \"{long}s\""),
                    format!("silent = {silent}"),
                ],
            });
        }
    }

    fn crashes(&mut self) {
        if self.luck.chance(0.5) {
            let (often, down) = (self.between(1, 30), self.between(1, 300));
            self.put("server_crashes", format!("per_hour = {often}"));
            self.put("server_crashes", format!("restart_after = \"{down}s\""));
            // The server's store knows every name that it ever gave and looks each of them up after
            // a restart. The simulated server's does not: a list that is late over a restart would
            // hide a sandbox from it.
            self.put("provider", "list_lag_seconds = 0".to_owned());
        } else {
            self.maybe(0.5, "provider", |it| format!("list_lag_seconds = {}", it.between(0, 60)));
        }
    }
}
