//! Schedules in the five fields of cron, in UTC (contract 2.2).

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::civil::{DateTime, datetime};
use jiff::tz::TimeZone;

use crate::ScheduleError;

/// Minute, hour, day of the month, month, day of the week.
const FIELDS: usize = 5;

/// The minutes at which something is to happen.
pub(crate) struct Schedule(Cron);

impl Schedule {
    /// The schedule in `text`.
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        if fields.len() != FIELDS {
            return Err(ScheduleError::FieldCount);
        }
        let schedule = match read(&fields) {
            Some(cron) => Self(cron),
            None => return Err(ScheduleError::Field(first_unreadable(&fields))),
        };
        let some_time = datetime(2024, 1, 1, 0, 0, 0, 0);
        match schedule.0.find_next_occurrence(&some_time, true) {
            Ok(_) => Ok(schedule),
            Err(_) => Err(ScheduleError::Never),
        }
    }

    /// The last time of the schedule that is not after `now`, both in seconds since 1970.
    pub(crate) fn latest(&self, now: u64) -> Option<u64> {
        let found = self.0.find_previous_occurrence(&date(now)?, true);
        seconds(found.ok()?)
    }

    /// The first time of the schedule after `time`, both in seconds since 1970.
    pub(crate) fn first_after(&self, time: u64) -> Option<u64> {
        let found = self.0.find_next_occurrence(&date(time)?, false);
        seconds(found.ok()?)
    }
}

fn date(seconds: u64) -> Option<DateTime> {
    let time = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(TimeZone::UTC.to_datetime(time))
}

fn seconds(date: DateTime) -> Option<u64> {
    let time = date.to_zoned(TimeZone::UTC).ok()?;
    u64::try_from(time.timestamp().as_second()).ok()
}

fn read(fields: &[&str]) -> Option<Cron> {
    // The parser knows more than cron: names for whole schedules, and both days required at once.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"*,-/?#".contains(&byte);
    if !fields.iter().all(|field| field.bytes().all(plain)) {
        return None;
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(&fields.join(" ")).ok()
}

/// Counted from 1: the first that cannot be read even among fields that say nothing.
fn first_unreadable(fields: &[&str]) -> u8 {
    let is_readable = |position: usize, field: &str| {
        let mut alone = ["*"; FIELDS];
        if let Some(place) = alone.get_mut(position) {
            *place = field;
        }
        read(&alone).is_some()
    };
    let position = fields
        .iter()
        .enumerate()
        .position(|(position, field)| !is_readable(position, field));
    u8::try_from(position.map_or(FIELDS, |position| position + 1)).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> u64 {
        let time: Timestamp = text.parse().unwrap();
        u64::try_from(time.as_second()).unwrap()
    }

    fn shown(seconds: Option<u64>) -> String {
        Timestamp::from_second(i64::try_from(seconds.unwrap()).unwrap())
            .unwrap()
            .to_string()
    }

    fn latest(schedule: &str, now: &str) -> String {
        shown(Schedule::parse(schedule).unwrap().latest(read(now)))
    }

    #[test]
    fn contract_2_2_the_next_time_is_after_the_given_one() {
        for (schedule, time, expected) in [
            ("* * * * *", "2027-01-01T10:20:30Z", "2027-01-01T10:21:00Z"),
            ("0 0 * * *", "2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z"),
            ("0 0 * * *", "2026-12-31T23:59:59Z", "2027-01-01T00:00:00Z"),
            (
                "0 2 * * sun",
                "2027-01-01T10:20:30Z",
                "2027-01-03T02:00:00Z",
            ),
            ("0 0 29 2 *", "2027-01-01T10:20:30Z", "2028-02-29T00:00:00Z"),
        ] {
            let found = Schedule::parse(schedule).unwrap().first_after(read(time));
            assert_eq!(shown(found), expected, "{schedule} after {time}");
        }
    }

    #[test]
    fn contract_2_2_five_fields_of_cron_in_utc() {
        // The first of January 2027 is a Friday.
        for (schedule, now, expected) in [
            ("* * * * *", "2027-01-01T10:20:30Z", "2027-01-01T10:20:00Z"),
            ("0 0 * * *", "2027-01-01T10:20:30Z", "2027-01-01T00:00:00Z"),
            ("0 0 * * *", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("1 0 * * *", "2027-01-01T00:00:59Z", "2026-12-31T00:01:00Z"),
            ("0 2 * * 0", "2027-01-01T10:20:30Z", "2026-12-27T02:00:00Z"),
            ("0 2 * * 7", "2027-01-01T10:20:30Z", "2026-12-27T02:00:00Z"),
            (
                "0 2 * * sun",
                "2027-01-01T10:20:30Z",
                "2026-12-27T02:00:00Z",
            ),
            (
                "*/15 9-17 * * mon-fri",
                "2027-01-03T10:20:30Z",
                "2027-01-01T17:45:00Z",
            ),
            ("0 0 29 2 *", "2027-01-01T10:20:30Z", "2024-02-29T00:00:00Z"),
            (
                "0 0 1 jan,jul *",
                "2026-12-31T10:20:30Z",
                "2026-07-01T00:00:00Z",
            ),
            // Either day is enough when both are restricted, as cron has it.
            ("0 0 13 * 5", "2027-01-14T00:00:00Z", "2027-01-13T00:00:00Z"),
        ] {
            assert_eq!(latest(schedule, now), expected, "{schedule} at {now}");
        }
    }

    #[test]
    fn contract_2_2_what_cron_does_not_know_is_refused() {
        for (schedule, flaw) in [
            ("", ScheduleError::FieldCount),
            ("* * * *", ScheduleError::FieldCount),
            ("* * * * * *", ScheduleError::FieldCount),
            ("@daily", ScheduleError::FieldCount),
            ("@daily * * * *", ScheduleError::Field(1)),
            ("60 * * * *", ScheduleError::Field(1)),
            ("-1 * * * *", ScheduleError::Field(1)),
            ("99999999999999999999 * * * *", ScheduleError::Field(1)),
            ("*/0 * * * *", ScheduleError::Field(1)),
            ("* 24 * * *", ScheduleError::Field(2)),
            ("* 5-1-2 * * *", ScheduleError::Field(2)),
            ("* * 0 * *", ScheduleError::Field(3)),
            ("* * 32 * *", ScheduleError::Field(3)),
            ("* * * 13 *", ScheduleError::Field(4)),
            ("* * * foo *", ScheduleError::Field(4)),
            ("* * * * 8", ScheduleError::Field(5)),
            ("* * * * +1", ScheduleError::Field(5)),
            ("* * * * é", ScheduleError::Field(5)),
            ("0 0 30 2 *", ScheduleError::Never),
            ("0 0 31 4,6 *", ScheduleError::Never),
        ] {
            assert_eq!(Schedule::parse(schedule).err(), Some(flaw), "{schedule:?}");
        }
    }
}
