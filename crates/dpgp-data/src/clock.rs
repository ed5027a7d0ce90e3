//! Time stamps of trips.

/// The hours since Monday 0:00 of a local time: `2016-06-01 00:00:37`, `6/1/2016 00:00:37` (month first) or without
/// seconds. None if the text is no such time.
///
/// ```
/// use dpgp_data::hour_of_week;
/// assert_eq!(hour_of_week("2017-07-17 06:30:00"), Some(6.5), "a Monday");
/// assert_eq!(hour_of_week("8/2/2015 23:00"), Some(24.0 * 6.0 + 23.0), "a Sunday");
/// assert_eq!(hour_of_week("2017-02-30 00:00:00"), None);
/// ```
pub fn hour_of_week(text: &str) -> Option<f64> {
    let (date, time) = text.split_once(' ')?;
    let day = weekday(date)?;
    let mut parts = time.split(':').map(|part| part.parse::<u32>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    if hour > 23 || minute > 59 || second > 60 || parts.next().is_some() {
        return None;
    }
    let seconds = 60 * (60 * (24 * day + hour) + minute) + second;
    Some(f64::from(seconds) / 3600.0)
}

/// The day of the week, Monday 0.
fn weekday(date: &str) -> Option<u32> {
    let parts: Option<Vec<i64>> = date.split(['-', '/']).map(|part| part.parse().ok()).collect();
    let (year, month, day) = match (&parts?[..], date.contains('-'), date.contains('/')) {
        (&[year, month, day], true, false) => (year, month, day),
        (&[month, day, year], false, true) => (year, month, day),
        _ => return None,
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = usize::try_from(month - 1).ok().and_then(|m| lengths.get(m))?;
    if !(1..=*length).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    // Days since 1 January of the year 1, a Monday.
    let before = year - 1;
    let passed: i64 = lengths[..(month - 1) as usize].iter().sum();
    let days = 365 * before + before / 4 - before / 100 + before / 400 + passed + day - 1;
    u32::try_from(days % 7).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn week_days_of_the_calendar() {
        for (date, day) in
            [("2000-01-01", 5), ("2015-08-01", 5), ("6/1/2016", 2), ("2016-02-29", 0), ("1970-01-01", 3)]
        {
            assert_eq!(weekday(date), Some(day), "{date}");
        }
        for broken in ["2016-13-01", "2015-02-29", "1/0/2016", "yesterday", "2016-01"] {
            assert_eq!(weekday(broken), None, "{broken}");
        }
        for broken in ["2016-01-01", "2016-01-01 24:00:00", "2016-01-01 1", "2016-01-01 1:2:3:4"] {
            assert_eq!(hour_of_week(broken), None, "{broken}");
        }
    }
}
