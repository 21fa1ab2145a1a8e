//! The schedule by which a stored key is replaced: the fields of a write (contract 2.2).

use crate::rotation::Schedule;
use crate::{ConfigChanges, ConfigError, RotationSettings};

/// The settings after `changes`. A schedule and a period exclude each other, so the one that is written last clears the other.
pub(super) fn settings_after(
    mut settings: RotationSettings,
    changes: &ConfigChanges,
) -> Result<RotationSettings, ConfigError> {
    let schedule = changes.rotation_schedule.as_deref().map(str::trim);
    let schedules = schedule.is_some_and(|schedule| !schedule.is_empty());
    let counts = changes.rotation_period.is_some_and(|period| period > 0);
    let has_window = changes.rotation_window.is_some_and(|window| window > 0);
    if schedules && counts {
        return Err(ConfigError::RotationTwice);
    }
    if has_window && counts {
        return Err(ConfigError::WindowWithPeriod);
    }
    if has_window && !schedules {
        return Err(ConfigError::WindowWithoutSchedule);
    }
    if let Some(schedule) = schedule {
        if schedules {
            Schedule::parse(schedule).map_err(ConfigError::RotationSchedule)?;
            settings.period = 0;
        } else {
            settings.window = 0;
        }
        schedule.clone_into(&mut settings.schedule);
    }
    if let Some(period) = changes.rotation_period {
        settings.period = period;
        if counts {
            settings.schedule.clear();
            settings.window = 0;
        }
    }
    if let Some(window) = changes.rotation_window {
        settings.window = window;
    }
    if let Some(policy) = &changes.rotation_policy {
        settings.policy.clone_from(policy);
    }
    if let Some(disabled) = changes.disable_automated_rotation {
        settings.disabled = disabled;
    }
    Ok(settings)
}
