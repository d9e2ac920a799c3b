//! Reading a trace: every mistake is found in one go.

use super::error::{TraceErrors, TraceMistake, TraceProblem};
use super::table::{DrawnColumn, Recorded, RecordedTurn, Trace};
use crate::random::to_span;
use sandpool_core::{ClassId, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest time that a column may hold, seconds (about 31 years); more is a date, not a duration.
const MAX_SECONDS: f64 = 1e9;
/// Most executes of one turn.
const MAX_STEPS: f64 = 1e6;

/// How to read a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceOptions {
    /// Names of the scenario's classes by [`ClassId`], for the `class` column.
    pub class_names: Vec<String>,
    /// Leaves out conversations whose turns contradict each other (the same turn twice, or turns
    /// that arrive out of order) instead of refusing the file.
    pub leave_out_conflicts: bool,
}

impl Trace {
    /// Reads a trace from a file.
    ///
    /// # Errors
    /// Every mistake in the file, up to 20 with their lines.
    pub fn load(path: &Path, options: &TraceOptions) -> Result<Trace, TraceErrors> {
        let bytes = std::fs::read(path).map_err(|error| {
            TraceErrors::one(None, TraceProblem::Unreadable(format!("{}: {error}", path.display())))
        })?;
        Trace::parse(&bytes, options)
    }

    /// Reads a trace from the text of a CSV file.
    ///
    /// # Errors
    /// Every mistake in the text, up to 20 with their lines.
    pub fn parse(text: &[u8], options: &TraceOptions) -> Result<Trace, TraceErrors> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut mistakes = Vec::new();
        let rows = read_rows(text, options, &mut mistakes)?;
        let no_rows = rows.rows.is_empty() && mistakes.is_empty();
        let trace = assemble(rows, options, &mut mistakes);
        if !mistakes.is_empty() {
            return Err(TraceErrors::new(mistakes));
        }
        if no_rows {
            return Err(TraceErrors::one(None, TraceProblem::NoRows));
        }
        if trace.conversations.is_empty() {
            return Err(TraceErrors::one(None, TraceProblem::NothingLeft));
        }
        Ok(trace)
    }
}

/// A column with a meaning, in the order of [`Columns`].
#[derive(Clone, Copy)]
enum Column {
    Conversation,
    Turn,
    Arrival,
    Account,
    Class,
    Think,
    Steps,
    ToolSteps,
    Exec,
    Work,
    Llm,
    ToolGap,
}

const COLUMNS: [(Column, &str); 12] = [
    (Column::Conversation, "conversation"),
    (Column::Turn, "turn"),
    (Column::Arrival, "arrival_s"),
    (Column::Account, "account"),
    (Column::Class, "class"),
    (Column::Think, "think_s"),
    (Column::Steps, "steps"),
    (Column::ToolSteps, "tool_steps"),
    (Column::Exec, "exec_s"),
    (Column::Work, "work_s"),
    (Column::Llm, "llm_s"),
    (Column::ToolGap, "tool_gap_s"),
];

/// Where each column stands in the file.
#[derive(Default)]
struct Columns {
    places: [Option<usize>; COLUMNS.len()],
    count: usize,
}

impl Columns {
    fn from_header(header: &csv::StringRecord) -> Result<Columns, TraceErrors> {
        let mut columns = Columns { count: header.len(), ..Columns::default() };
        for (place, name) in header.iter().enumerate() {
            let Some(&(column, known)) = COLUMNS.iter().find(|(_, known)| *known == name) else {
                continue;
            };
            if columns.places[column as usize].replace(place).is_some() {
                return Err(TraceErrors::one(Some(1), TraceProblem::RepeatedColumn(known)));
            }
        }
        let missing: Vec<&'static str> = COLUMNS[..3]
            .iter()
            .filter(|(column, _)| columns.places[*column as usize].is_none())
            .map(|&(_, name)| name)
            .collect();
        if missing.is_empty() {
            return Ok(columns);
        }
        let other_separator =
            header.len() == 1 && header.iter().any(|name| name.contains([';', '\t', '|']));
        Err(TraceErrors::one(Some(1), TraceProblem::MissingColumns { missing, other_separator }))
    }

    fn has(&self, column: Column) -> bool {
        self.places[column as usize].is_some()
    }
}

/// Names by number, numbered in order of appearance.
#[derive(Default)]
struct Names {
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    conversations: Names,
    accounts: Names,
}

/// One row whose fields are all usable.
struct Row {
    line: u64,
    conversation: u32,
    turn: u32,
    arrival: Span,
    account: Option<u32>,
    class: Option<ClassId>,
    recorded: RecordedTurn,
}

/// Reads every row; stops only where there is nothing to go on with.
fn read_rows(
    text: &[u8],
    options: &TraceOptions,
    mistakes: &mut Vec<TraceMistake>,
) -> Result<Rows, TraceErrors> {
    // Rows of any length are let through, so that all of them are looked at.
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut lines = Lines { text, place: 0, line: 1 };
    let mut columns: Option<Columns> = None;
    let mut rows = Rows::default();
    let mut record = csv::ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                return Err(TraceErrors::one(None, TraceProblem::Unreadable(error.to_string())));
            }
        }
        let line = lines.line_of(record.position().map_or(0, csv::Position::byte) as usize);
        let Ok(record) = csv::StringRecord::from_byte_record(record.clone()) else {
            if columns.is_none() {
                return Err(TraceErrors::one(Some(line), TraceProblem::NotUtf8));
            }
            mistakes.push(TraceMistake { line: Some(line), problem: TraceProblem::NotUtf8 });
            continue;
        };
        match &columns {
            None => columns = Some(Columns::from_header(&record)?),
            Some(columns) => {
                let mut row = RowReader { columns, record: &record, line, mistakes, bad: false };
                if let Some(row) = row.read(&mut rows, options) {
                    rows.rows.push(row);
                }
            }
        }
    }
    if columns.is_none() {
        return Err(TraceErrors::one(None, TraceProblem::Empty));
    }
    Ok(rows)
}

/// Counts lines. The reader's own count is that of the place where it began to look for a row,
/// which is the end of the line before and may be several empty lines off.
struct Lines<'a> {
    text: &'a [u8],
    place: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first row at or after this byte; bytes must not go backwards.
    fn line_of(&mut self, byte: usize) -> u64 {
        let blank = |c: &&u8| matches!(c, b'\r' | b'\n');
        let start = byte + self.text[byte..].iter().take_while(blank).count();
        let passed = &self.text[self.place..start];
        self.line += passed.iter().filter(|&&c| c == b'\n').count() as u64;
        self.place = start;
        self.line
    }
}

/// Reads one row and notes what is wrong with it.
struct RowReader<'a> {
    columns: &'a Columns,
    record: &'a csv::StringRecord,
    line: u64,
    mistakes: &'a mut Vec<TraceMistake>,
    bad: bool,
}

impl<'a> RowReader<'a> {
    fn read(&mut self, rows: &mut Rows, options: &TraceOptions) -> Option<Row> {
        let (found, expected) = (self.record.len(), self.columns.count);
        if found != expected {
            self.note(TraceProblem::FieldCount { found, expected });
            return None;
        }
        let conversation = self.text(Column::Conversation);
        if conversation.is_none() {
            self.note(TraceProblem::EmptyField { column: "conversation" });
        }
        let turn = self.required(Column::Turn, Self::count);
        let arrival = self.required(Column::Arrival, Self::seconds);
        let account = self.text(Column::Account);
        if account.is_none() && self.columns.has(Column::Account) {
            self.note(TraceProblem::EmptyField { column: "account" });
        }
        let class = self.class(options);
        let steps =
            if self.columns.has(Column::ToolSteps) { Column::ToolSteps } else { Column::Steps };
        let recorded = RecordedTurn {
            since_start: Span::ZERO,
            think: self.seconds(Column::Think),
            executes: self.count(steps),
            runs_for: self.seconds(Column::Exec),
            work_before: self.seconds(Column::Work),
            agent_work: self.seconds(Column::Llm),
            tool_time: self.seconds(Column::ToolGap),
        };
        if self.bad {
            return None;
        }
        Some(Row {
            line: self.line,
            conversation: rows.conversations.number(conversation?),
            turn: turn?,
            arrival: arrival?,
            account: account.map(|name| rows.accounts.number(name)),
            class,
            recorded,
        })
    }

    fn note(&mut self, problem: TraceProblem) {
        self.bad = true;
        self.mistakes.push(TraceMistake { line: Some(self.line), problem });
    }

    /// A field that is filled in.
    fn text(&self, column: Column) -> Option<&'a str> {
        let place = self.columns.places[column as usize]?;
        self.record.get(place).filter(|text| !text.is_empty())
    }

    fn required<T>(
        &mut self,
        column: Column,
        read: impl FnOnce(&mut Self, Column) -> Option<T>,
    ) -> Option<T> {
        if self.text(column).is_none() {
            self.note(TraceProblem::EmptyField { column: name(column) });
        }
        read(self, column)
    }

    fn seconds(&mut self, column: Column) -> Option<Span> {
        let range = "a number of seconds from 0 to 1e9";
        self.number(column, range, |v| (0.0..=MAX_SECONDS).contains(&v)).map(to_span)
    }

    fn count(&mut self, column: Column) -> Option<u32> {
        let range = "a whole number from 0 to 1,000,000";
        self.number(column, range, |v| (0.0..=MAX_STEPS).contains(&v) && v.fract() == 0.0)
            .map(|v| v as u32)
    }

    fn number(
        &mut self,
        column: Column,
        range: &'static str,
        allowed: impl FnOnce(f64) -> bool,
    ) -> Option<f64> {
        let text = self.text(column)?;
        let column = name(column);
        match text.parse::<f64>() {
            Ok(value) if allowed(value) => return Some(value),
            Ok(_) => self.note(TraceProblem::OutOfRange { column, text: text.to_owned(), range }),
            Err(_) => {
                // A quotation mark that is never closed makes the rest of the file one field.
                let text = text.chars().take(40).collect();
                self.note(TraceProblem::NotANumber { column, text });
            }
        }
        None
    }

    fn class(&mut self, options: &TraceOptions) -> Option<ClassId> {
        let class = self.text(Column::Class)?;
        match options.class_names.iter().position(|known| known == class) {
            Some(index) => Some(ClassId(index as u16)),
            None => {
                let (class, known) = (class.to_owned(), options.class_names.clone());
                self.note(TraceProblem::UnknownClass { class, known });
                None
            }
        }
    }
}

fn name(column: Column) -> &'static str {
    COLUMNS[column as usize].1
}

/// Puts the rows together as conversations, and checks what no single row can tell.
fn assemble(rows: Rows, options: &TraceOptions, mistakes: &mut Vec<TraceMistake>) -> Trace {
    let Rows { mut rows, conversations: names, accounts } = rows;
    // Conversations may be interleaved in the file; a stable sort keeps rows of the same turn in
    // the file's order.
    rows.sort_by_key(|row| (row.conversation, row.turn));
    let mut conversations = Vec::with_capacity(names.names.len());
    let mut turns = Vec::with_capacity(rows.len());
    let mut left_out = 0;
    let mut names = names.names.into_iter();
    for group in rows.chunk_by(|a, b| a.conversation == b.conversation) {
        let (first, name) = (&group[0], names.next().unwrap_or_default());
        let conflicts = conflicts(group, &name);
        if !conflicts.is_empty() && options.leave_out_conflicts {
            left_out += 1;
            continue;
        }
        mistakes.extend(conflicts);
        mistakes.extend(changes(group, &name));
        conversations.push(Recorded {
            name,
            starts_after: first.arrival,
            first_turn: turns.len(),
            turn_count: group.len() as u32,
            account: first.account,
            class: first.class,
        });
        turns.extend(group.iter().map(|row| RecordedTurn {
            since_start: row.arrival.minus(first.arrival),
            ..row.recorded
        }));
    }
    let drawn_columns = drawn_columns(&conversations, &turns);
    Trace { conversations, turns, accounts: accounts.names, drawn_columns, left_out }
}

/// Turns that occur twice or arrive out of order.
fn conflicts(group: &[Row], name: &str) -> Vec<TraceMistake> {
    let conflict = |pair: &[Row]| {
        let (before, row) = (&pair[0], &pair[1]);
        let conversation = name.to_owned();
        let problem = if row.turn == before.turn {
            TraceProblem::RepeatedTurn { conversation, turn: row.turn, earlier_line: before.line }
        } else if row.arrival < before.arrival {
            TraceProblem::ArrivesTooEarly {
                conversation,
                turn: row.turn,
                earlier_turn: before.turn,
                earlier_line: before.line,
            }
        } else {
            return None;
        };
        Some(TraceMistake { line: Some(row.line), problem })
    };
    group.windows(2).filter_map(conflict).collect()
}

/// Rows that give a conversation another account or class than its first turn.
fn changes(group: &[Row], name: &str) -> Vec<TraceMistake> {
    let first = &group[0];
    let mut mistakes = Vec::new();
    for row in &group[1..] {
        let differs =
            [("account", row.account != first.account), ("class", row.class != first.class)];
        for (column, _) in differs.into_iter().filter(|(_, differs)| *differs) {
            let (conversation, earlier_line) = (name.to_owned(), first.line);
            let problem = TraceProblem::Changes { column, conversation, earlier_line };
            mistakes.push(TraceMistake { line: Some(row.line), problem });
        }
    }
    mistakes
}

/// What the rows leave open, and what stands in for it.
fn drawn_columns(conversations: &[Recorded], turns: &[RecordedTurn]) -> Vec<DrawnColumn> {
    let of_conversations = |lacks: &dyn Fn(&Recorded) -> bool| {
        conversations.iter().filter(|c| lacks(c)).map(|c| c.turn_count as usize).sum::<usize>()
    };
    let of_turns =
        |lacks: &dyn Fn(&RecordedTurn) -> bool| turns.iter().filter(|turn| lacks(turn)).count();
    let runs_code = |turn: &RecordedTurn| turn.executes != Some(0);
    // The first turn of a conversation has no turn before it to think after.
    let thinks = conversations
        .iter()
        .flat_map(|c| turns[c.first_turn..c.first_turn + c.turn_count as usize].iter().skip(1));
    [
        ("account", of_conversations(&|c| c.account.is_none()), "workload.accounts"),
        ("class", of_conversations(&|c| c.class.is_none()), "workload.class_mix"),
        (
            "think_s",
            thinks.filter(|turn| turn.think.is_none()).count(),
            "the time between arrivals less the length of the turn",
        ),
        (
            "steps",
            of_turns(&|turn| turn.executes.is_none()),
            "workload.needs_code and workload.executes",
        ),
        (
            "exec_s",
            of_turns(&|turn| {
                runs_code(turn) && turn.runs_for.is_none() && turn.tool_time.is_none()
            }),
            "workload.execute_seconds",
        ),
        (
            "exec_s",
            of_turns(&|turn| {
                runs_code(turn) && turn.runs_for.is_none() && turn.tool_time.is_some()
            }),
            "workload.execute_seconds, at most the turn's tool_gap_s by its executes",
        ),
        (
            "work_s",
            of_turns(&|turn| turn.work_before.is_none() && turn.agent_work.is_none()),
            "workload.work_before_seconds, work_between_seconds and work_after_seconds",
        ),
        (
            "llm_s",
            of_turns(&|turn| turn.work_before.is_some() && turn.agent_work.is_none()),
            "workload.work_between_seconds and work_after_seconds",
        ),
    ]
    .into_iter()
    .filter(|&(_, rows, _)| rows > 0)
    .map(|(column, rows, instead)| DrawnColumn { column, rows, of: turns.len(), instead })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Trace, TraceErrors> {
        let class_names = vec!["default".to_owned(), "large".to_owned()];
        Trace::parse(text.as_bytes(), &TraceOptions { class_names, leave_out_conflicts: false })
    }

    fn mistakes(text: &str) -> String {
        parse(text).expect_err("the trace is bad").to_string()
    }

    #[test]
    fn rows_may_be_interleaved_and_columns_in_any_order() {
        let text = "arrival_s,note,turn,conversation,account,class,think_s,steps,exec_s\n\
                    5,x,0,b,ann,,,2,0.5\n\
                    7,y,1,a,bob,large,,0,\n\
                    9.5,z,1,b,ann,,3,1,\n";
        let trace = parse(text).unwrap();
        assert_eq!((trace.conversation_count(), trace.turn_count()), (2, 3));
        assert_eq!(trace.accounts(), ["ann", "bob"]);
        assert_eq!(trace.last_arrival(), Span::from_millis(9500));
        let [b, a] = &trace.conversations[..] else { panic!("two conversations") };
        assert_eq!((b.name.as_str(), b.starts_after), ("b", Span::from_secs(5)));
        assert_eq!((b.turn_count, b.account, b.class), (2, Some(0), None));
        assert_eq!((a.turn_count, a.account, a.class), (1, Some(1), Some(ClassId(1))));
        let second = trace.turns[b.first_turn + 1];
        assert_eq!(second.since_start, Span::from_millis(4500));
        assert_eq!((second.think, second.executes), (Some(Span::from_secs(3)), Some(1)));
        assert_eq!(second.runs_for, None);
    }

    #[test]
    fn the_report_learns_what_was_not_recorded() {
        let columns = |text: &str| -> Vec<String> {
            parse(text).unwrap().drawn_columns().iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            columns("conversation,turn,arrival_s\n1,1,0\n1,2,9\n"),
            [
                "account: workload.accounts",
                "class: workload.class_mix",
                "think_s in 1 of 2 rows: the time between arrivals less the length of the turn",
                "steps: workload.needs_code and workload.executes",
                "exec_s: workload.execute_seconds",
                "work_s: workload.work_before_seconds, work_between_seconds and work_after_seconds",
            ]
        );
        let text = "conversation,turn,arrival_s,account,class,think_s,steps,tool_steps,llm_s,exec_s\n\
                    1,1,0,a,default,0,2,1,4,0.5\n1,2,9,a,default,3,1,0,2,\n";
        assert_eq!(columns(text), [] as [&str; 0]);
    }

    #[test]
    fn tool_steps_count_executes_where_both_are_there() {
        let trace = parse("conversation,turn,arrival_s,steps,tool_steps\n1,1,0,4,3\n").unwrap();
        assert_eq!(trace.turns[0].executes, Some(3));
        let trace = parse("conversation,turn,arrival_s,steps\n1,1,0,4\n").unwrap();
        assert_eq!(trace.turns[0].executes, Some(4));
    }

    #[test]
    fn every_mistake_comes_with_its_line_at_once() {
        let text = "conversation,turn,arrival_s,account,class,steps\r\n\
                    1,1,abc,a,default,1\r\n\
                    \r\n\
                    1,2,-1,a,default,1\r\n\
                    1,3,NaN,a,default,1\r\n\
                    1,4,inf,a,default,1\r\n\
                    ,5,1,,default,1\r\n\
                    1,1.5,1,a,huge,1\r\n\
                    1,7,1\r\n\
                    2,1,5,a,default,1\r\n\
                    2,1,6,b,large,1\r\n\
                    2,2,4,a,default,2e9\r\n\
                    2,3,4,a,default,1\r\n";
        assert_eq!(
            mistakes(text),
            r#"line 2: arrival_s is "abc", not a number
line 4: arrival_s is -1, not a number of seconds from 0 to 1e9
  hint: seconds from the start of the trace or of the conversation
line 5: arrival_s is NaN, not a number of seconds from 0 to 1e9
  hint: seconds from the start of the trace or of the conversation
line 6: arrival_s is inf, not a number of seconds from 0 to 1e9
  hint: seconds from the start of the trace or of the conversation
line 7: conversation is empty
line 7: account is empty
  hint: fill in every account, or leave the column out to draw them all
line 8: turn is 1.5, not a whole number from 0 to 1,000,000
line 8: class "huge" is not one of the scenario's: default, large
line 9: 3 fields where the header has 6
line 11: turn 1 of conversation 2 was on line 10 already
  hint: number the turns of a conversation in order of arrival, or leave such conversations out
line 11: account of conversation 2 differs from line 10
  hint: a conversation belongs to one account and uses one class
line 11: class of conversation 2 differs from line 10
  hint: a conversation belongs to one account and uses one class
line 12: steps is 2e9, not a whole number from 0 to 1,000,000
line 13: turn 3 of conversation 2 arrives before turn 1 on line 11
  hint: number the turns of a conversation in order of arrival, or leave such conversations out"#
        );
    }

    #[test]
    fn a_long_list_is_cut_at_twenty() {
        let rows: String = (0..50).map(|n| format!("1,{n},x\n")).collect();
        let errors = parse(&format!("conversation,turn,arrival_s\n{rows}")).unwrap_err();
        assert_eq!((errors.mistakes.len(), errors.more), (20, 30));
        assert_eq!(errors.mistakes[19].line, Some(21));
        assert!(errors.to_string().ends_with("\nand 30 more"));
    }

    #[test]
    fn files_without_rows_or_columns_are_told_apart() {
        for empty in ["", "\n\n", "\u{feff}"] {
            assert!(mistakes(empty).starts_with("the trace is empty"), "{empty:?}");
        }
        let header_only = mistakes("conversation,turn,arrival_s\n");
        assert!(header_only.starts_with("the trace has a header and no rows"), "{header_only}");
        assert_eq!(
            mistakes("arrival_s,input_tokens\n1,2\n").lines().next(),
            Some("line 1: the header lacks conversation, turn")
        );
        let separator = mistakes("conversation;turn;arrival_s\n1;1;0\n");
        assert!(separator.ends_with("hint: columns are separated by commas"), "{separator}");
        assert_eq!(
            mistakes("turn,conversation,turn,arrival_s\n"),
            "line 1: the header names column turn twice"
        );
        let missing = Trace::load(Path::new("no/such/trace.csv"), &TraceOptions::default());
        assert!(missing.unwrap_err().to_string().starts_with("cannot read the trace: no/such"));
    }

    #[test]
    fn text_that_is_not_utf8_is_a_mistake_of_its_line() {
        let text = b"conversation,turn,arrival_s\n1,1,0\n\xff,1,0\n";
        let errors = Trace::parse(text, &TraceOptions::default()).unwrap_err();
        assert_eq!(errors.to_string(), "line 3: not UTF-8 text");
        let errors = Trace::parse(b"\xff\n1,1\n", &TraceOptions::default()).unwrap_err();
        assert_eq!(errors.to_string(), "line 1: not UTF-8 text");
    }

    #[test]
    fn a_byte_order_mark_and_quotes_do_no_harm() {
        let trace = parse("\u{feff}conversation,turn,arrival_s\n\"a, b\",1.0, 2.5 \n").unwrap();
        assert_eq!(trace.conversations[0].name, "a, b");
        assert_eq!(trace.conversations[0].starts_after, Span::from_millis(2500));
        // A quotation mark that is never closed swallows the rest; it must not pass unseen.
        assert!(parse("conversation,turn,arrival_s\n1,1,0\n\"2,1,0\n3,1,0\n").is_err());
    }

    #[test]
    fn conflicting_conversations_can_be_left_out() {
        let text = "conversation,turn,arrival_s\n1,1,0\n1,1,4\n2,1,0\n2,2,5\n3,2,1\n3,1,2\n";
        assert_eq!(parse(text).unwrap_err().mistakes.len(), 2);
        let options = TraceOptions { leave_out_conflicts: true, ..TraceOptions::default() };
        let trace = Trace::parse(text.as_bytes(), &options).unwrap();
        assert_eq!((trace.conversation_count(), trace.turn_count(), trace.left_out()), (1, 2, 2));
        assert_eq!(trace.conversations[0].name, "2");
        let nothing = Trace::parse(b"conversation,turn,arrival_s\n1,1,0\n1,1,4\n", &options);
        assert!(nothing.unwrap_err().to_string().starts_with("every conversation"));
    }

    #[test]
    fn traces_that_count_from_each_conversation_are_recognised() {
        let relative = parse("conversation,turn,arrival_s\n1,1,0\n1,2,4\n2,1,0\n").unwrap();
        assert!(relative.starts_at_zero_throughout());
        let absolute = parse("conversation,turn,arrival_s\n1,1,0\n1,2,4\n2,1,3\n").unwrap();
        assert!(!absolute.starts_at_zero_throughout());
    }
}
