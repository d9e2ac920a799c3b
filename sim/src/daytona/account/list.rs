//! Lists: pages by cursor, filters, sort orders (Daytona v0.190.0,
//! sandbox-typeorm-search.adapter.ts and list-sandboxes-query.dto.ts).
//!
//! Where the profile lets lists lag, every item is shown as it was some time ago.

use super::Account;
use super::answer::{Outcome, Refused};
use super::credentials::Identity;
use super::row::Row;
use super::settings::instant_of;
use super::view::{Item, item};
use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use sandpool_core::{Span, Time};
use serde_json::{Value, json};
use std::cmp::Ordering;

/// Most items on a page.
const MOST: u64 = 200;

/// States that a list can be asked for.
const STATES: [&str; 21] = [
    "creating",
    "restoring",
    "destroying",
    "started",
    "stopped",
    "starting",
    "stopping",
    "error",
    "build_failed",
    "pending_build",
    "building_snapshot",
    "unknown",
    "pulling_snapshot",
    "archived",
    "archiving",
    "resizing",
    "snapshotting",
    "forking",
    "pausing",
    "paused",
    "resuming",
];

/// By what a list is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Name,
    Cpu,
    Memory,
    Disk,
    LastActivity,
    CreatedAt,
}

const SORTS: [(&str, Sort); 6] = [
    ("name", Sort::Name),
    ("cpu", Sort::Cpu),
    ("memoryGib", Sort::Memory),
    ("diskGib", Sort::Disk),
    ("lastActivityAt", Sort::LastActivity),
    ("createdAt", Sort::CreatedAt),
];

/// The value that an item is sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SortValue {
    Number(i64),
    Text(String),
}

impl Sort {
    fn value(self, item: &Item) -> SortValue {
        match self {
            Sort::Name => SortValue::Text(item.name.clone()),
            Sort::Cpu => SortValue::Number(item.cpu),
            Sort::Memory => SortValue::Number(item.memory_gib),
            Sort::Disk => SortValue::Number(item.disk_gib),
            Sort::LastActivity => SortValue::Number(item.activity_ms),
            Sort::CreatedAt => SortValue::Number(item.created_ms),
        }
    }

    /// The value in a cursor, if it is one of this sort.
    fn read(self, value: &Value) -> Option<SortValue> {
        match (self, value) {
            (Sort::Name, Value::String(text)) => Some(SortValue::Text(text.clone())),
            (Sort::Name, _) => None,
            (_, value) => value.as_i64().map(SortValue::Number),
        }
    }
}

/// Where the next page begins: after this item.
struct Cursor {
    value: SortValue,
    id: String,
}

impl Account {
    pub(super) fn list(
        &mut self,
        identity: &Identity,
        query: &[(String, String)],
    ) -> Result<Outcome, Refused> {
        let query = Query(query);
        let limit = query.limit()?;
        let sort = query.sort()?;
        let descending = query.order()?;
        let filter = Filter::read(&query)?;
        let cursor = match query.one("cursor") {
            None => CursorRead::None,
            Some(text) => read_cursor(text, sort)?,
        };
        let mut items: Vec<Item> = match cursor {
            CursorRead::Nowhere => Vec::new(),
            _ if !identity.owns_sandboxes() => Vec::new(),
            _ => self.listed().into_iter().filter(|item| filter.keeps(item)).collect(),
        };
        let order = |a: &Item, b: &Item| {
            let order = (sort.value(a), &a.id).cmp(&(sort.value(b), &b.id));
            if descending { order.reverse() } else { order }
        };
        items.sort_by(order);
        if let CursorRead::After(cursor) = &cursor {
            items.retain(|item| {
                let order = (sort.value(item), item.id.as_str())
                    .cmp(&(cursor.value.clone(), cursor.id.as_str()));
                order == if descending { Ordering::Less } else { Ordering::Greater }
            });
        }
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| {
            let value = match sort.value(last) {
                SortValue::Number(number) => json!(number),
                SortValue::Text(text) => json!(text),
            };
            STANDARD.encode(json!({ "sortValue": value, "id": last.id }).to_string())
        });
        let items: Vec<Value> = items.into_iter().map(|item| item.json).collect();
        Ok(Outcome::ok(json!({ "items": items, "nextCursor": next })))
    }

    /// Every sandbox as this list has it, which may be how it was a while ago.
    pub(super) fn listed(&mut self) -> Vec<Item> {
        self.lists += 1;
        let lag = self.settings.profile.list_lag;
        if lag == Span::ZERO {
            let seen = |(id, row): (_, &Row)| {
                self.cloud.see(id).map(|seen| item(row, &seen, &self.settings))
            };
            return self.rows.iter().filter_map(|(id, row)| seen((*id, row))).collect();
        }
        let rows = self.rows.values().chain(self.fading.iter().map(|(_, row)| row));
        rows.filter_map(|row| {
            let age = self.cloud.list_age(row.number, self.lists);
            let then = Time::from_nanos(self.now.as_nanos().checked_sub(age.as_nanos())?);
            let mut past = row.history.iter().rev();
            past.find(|(since, _)| *since <= then).map(|(_, item)| item.clone())
        })
        .collect()
    }
}

/// What the query of a list says.
pub(super) struct Query<'a>(pub(super) &'a [(String, String)]);

impl Query<'_> {
    pub(super) fn one(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a parameter that may be repeated, with or without brackets.
    fn all(&self, name: &str) -> Vec<&str> {
        let bracketed = format!("{name}[]");
        let named = |key: &str| key == name || key == bracketed;
        self.0.iter().filter(|(key, _)| named(key)).map(|(_, value)| value.as_str()).collect()
    }

    pub(super) fn limit(&self) -> Result<usize, Refused> {
        self.whole("limit", 1, Some(MOST)).map(|limit| limit.unwrap_or(100) as usize)
    }

    /// A whole number within bounds, with the validator's texts for everything else.
    pub(super) fn whole(
        &self,
        name: &str,
        least: u64,
        most: Option<u64>,
    ) -> Result<Option<u64>, Refused> {
        let Some(text) = self.one(name) else { return Ok(None) };
        let number = if text.is_empty() { None } else { text.parse::<f64>().ok() };
        let mut faults = Vec::new();
        if number.is_none_or(|number| number.fract() != 0.0) {
            faults.push(format!("{name} must be an integer number"));
        }
        if number.is_none_or(|number| number < least as f64) {
            faults.push(format!("{name} must not be less than {least}"));
        }
        if let Some(most) = most
            && number.is_none_or(|number| number > most as f64)
        {
            faults.push(format!("{name} must not be greater than {most}"));
        }
        match number {
            Some(number) if faults.is_empty() => Ok(Some(number as u64)),
            _ => Err(Refused::bad(faults.join(", "))),
        }
    }

    fn sort(&self) -> Result<Sort, Refused> {
        let Some(text) = self.one("sort") else { return Ok(Sort::LastActivity) };
        let found = SORTS.iter().find(|(name, _)| *name == text).map(|&(_, sort)| sort);
        found.ok_or_else(|| {
            let names = SORTS.map(|(name, _)| name).join(", ");
            Refused::bad(format!("sort must be one of the following values: {names}"))
        })
    }

    /// Whether the order is descending, as it is by default.
    fn order(&self) -> Result<bool, Refused> {
        match self.one("order") {
            None | Some("desc") => Ok(true),
            Some("asc") => Ok(false),
            Some(_) => Err(Refused::bad("order must be one of the following values: asc, desc")),
        }
    }

    fn flag(&self, name: &str) -> Option<bool> {
        match self.one(name) {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        }
    }

    /// The labels that every item must have.
    pub(super) fn labels(&self) -> Result<Option<Value>, Refused> {
        let named = |key: &str| key == "labels" || key.starts_with("labels[");
        let mut given = self.0.iter().filter(|(key, _)| named(key));
        let Some((key, text)) = given.next() else { return Ok(None) };
        if key != "labels" || given.next().is_some() {
            return Err(Refused::bad("labels must be a string"));
        }
        if text.is_empty() {
            return Ok(None);
        }
        let labels: Value =
            serde_json::from_str(text).map_err(|_| Refused::bad("Invalid labels JSON format"))?;
        match labels {
            Value::Null => Ok(None),
            Value::Object(_) => Ok(Some(labels)),
            // The database compares with these and fails.
            _ => Err(Refused::unexpected()),
        }
    }

    fn instant(&self, name: &str) -> Result<Option<i64>, Refused> {
        let Some(text) = self.one(name) else { return Ok(None) };
        let instant = instant_of(text);
        instant.map(Some).ok_or_else(|| Refused::bad(format!("{name} must be a Date instance")))
    }
}

/// Which items a list keeps.
pub(super) struct Filter {
    id: Option<String>,
    name: Option<String>,
    labels: Option<Value>,
    states: Vec<String>,
    snapshots: Vec<String>,
    regions: Vec<String>,
    classes: Vec<String>,
    cpu: (Option<u64>, Option<u64>),
    memory: (Option<u64>, Option<u64>),
    disk: (Option<u64>, Option<u64>),
    public: Option<bool>,
    recoverable: Option<bool>,
    created: (Option<i64>, Option<i64>),
    event: (Option<i64>, Option<i64>),
    with_hidden: bool,
}

impl Filter {
    pub(super) fn read(query: &Query<'_>) -> Result<Self, Refused> {
        let states = query.all("states");
        if states.iter().any(|state| !STATES.contains(state)) {
            return Err(Refused::bad(format!(
                "each value must be one of the following values: {}",
                STATES.join(", ")
            )));
        }
        let owned = |values: Vec<&str>| values.into_iter().map(str::to_owned).collect();
        let bounds = |least: &str, most: &str| {
            Ok::<_, Refused>((query.whole(least, 0, None)?, query.whole(most, 0, None)?))
        };
        let text = |name: &str| query.one(name).filter(|text| !text.is_empty());
        Ok(Self {
            id: text("id").map(str::to_lowercase),
            name: text("name").map(str::to_lowercase),
            labels: query.labels()?,
            states: owned(states),
            snapshots: owned(query.all("snapshots")),
            regions: owned(query.all("regionIds")),
            classes: owned(query.all("sandboxClasses")),
            cpu: bounds("minCpu", "maxCpu")?,
            memory: bounds("minMemoryGiB", "maxMemoryGiB")?,
            disk: bounds("minDiskGiB", "maxDiskGiB")?,
            public: query.flag("isPublic"),
            recoverable: query.flag("isRecoverable"),
            created: (query.instant("createdAtAfter")?, query.instant("createdAtBefore")?),
            event: (query.instant("lastEventAfter")?, query.instant("lastEventBefore")?),
            with_hidden: query.flag("includeErroredDeleted").unwrap_or(false),
        })
    }

    pub(super) fn keeps(&self, item: &Item) -> bool {
        let begins = |pattern: &Option<String>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| like_prefix(pattern, &text.to_lowercase()))
        };
        let among = |values: &[String], value: &str| {
            values.is_empty() || values.iter().any(|wanted| wanted == value)
        };
        let within = |(least, most): (Option<u64>, Option<u64>), value: i64| {
            least.is_none_or(|least| value >= least as i64)
                && most.is_none_or(|most| value <= most as i64)
        };
        let between = |(after, before): (Option<i64>, Option<i64>), value: i64| {
            after.is_none_or(|after| value >= after) && before.is_none_or(|before| value <= before)
        };
        (self.with_hidden || !item.is_hidden())
            && begins(&self.id, &item.id)
            && begins(&self.name, &item.name)
            && self.labels.as_ref().is_none_or(|labels| contains(&item.labels, labels))
            // The stored state is looked at, which is not always the one that is shown.
            && among(&self.states, item.stored)
            && among(&self.snapshots, item.snapshot.as_deref().unwrap_or_default())
            && among(&self.regions, item.json["target"].as_str().unwrap_or_default())
            && among(&self.classes, "container")
            && within(self.cpu, item.cpu)
            && within(self.memory, item.memory_gib)
            && within(self.disk, item.disk_gib)
            && self.public.is_none_or(|public| public == item.public)
            && self.recoverable.is_none_or(|recoverable| recoverable == item.recoverable)
            && between(self.created, item.created_ms)
            && between(self.event, item.activity_ms)
    }
}

/// Whether one JSON value contains another, as the database has it: every pair of an object, every
/// element of a list, everything else by value and type.
pub(super) fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|own| contains(own, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            part.iter().all(|value| whole.iter().any(|own| contains(own, value)))
        }
        (whole, part) => whole == part,
    }
}

/// Whether a text begins like a pattern in which `%` stands for anything and `_` for one character.
fn like_prefix(pattern: &str, text: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => true,
        Some('%') => {
            let rest = rest.as_str();
            text.char_indices().any(|(at, _)| like_prefix(rest, &text[at..]))
                || like_prefix(rest, "")
        }
        Some(wanted) => {
            let mut text = text.chars();
            text.next().is_some_and(|c| wanted == '_' || wanted == c)
                && like_prefix(rest.as_str(), text.as_str())
        }
    }
}

enum CursorRead {
    None,
    After(Cursor),
    /// It decodes, but says nothing: a page of nothing.
    Nowhere,
}

fn read_cursor(text: &str, sort: Sort) -> Result<CursorRead, Refused> {
    // Padding is not insisted on.
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&base64::alphabet::STANDARD, config);
    let invalid = || Refused::bad(format!("Invalid cursor provided: {text}"));
    let bytes = engine.decode(text).map_err(|_| invalid())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| invalid())?;
    let position = value.get("sortValue").and_then(|value| sort.read(value));
    let id = value.get("id").and_then(Value::as_str);
    Ok(match (position, id) {
        (Some(value), Some(id)) => CursorRead::After(Cursor { value, id: id.to_owned() }),
        _ => CursorRead::Nowhere,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_beginning_with_wildcards() {
        for (pattern, text, matches) in [
            ("", "anything", true),
            ("ab", "abc", true),
            ("ab", "xab", false),
            ("%ab", "xxab-", true),
            ("a_c", "abcd", true),
            ("a_c", "ac", false),
            ("a%", "a", true),
        ] {
            assert_eq!(like_prefix(pattern, text), matches, "{pattern} {text}");
        }
    }

    #[test]
    fn containment_is_by_value_type_and_depth() {
        let whole = json!({"a": "1", "b": {"c": 2, "d": 3}, "l": [1, 2, 3]});
        for (part, inside) in [
            (json!({}), true),
            (json!({"a": "1"}), true),
            (json!({"a": 1}), false),
            (json!({"b": {"c": 2}}), true),
            (json!({"b": {"c": 3}}), false),
            (json!({"l": [3, 1]}), true),
            (json!({"x": null}), false),
        ] {
            assert_eq!(contains(&whole, &part), inside, "{part}");
        }
    }
}
