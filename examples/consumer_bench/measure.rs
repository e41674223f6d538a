//! What the process has used so far, as Linux tells.

use std::fs;
use std::time::Duration;

use crate::Result;

/// Processor time of all threads, in steps of 10 ms.
pub(crate) fn cpu() -> Result<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The second field, the name, is in parentheses and may hold blanks.
    let (_, rest) = stat.rsplit_once(')').ok_or("/proc/self/stat is odd")?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |place: usize| -> Result<u64> {
        let field = fields.get(place).ok_or("/proc/self/stat is short")?;
        Ok(field.parse()?)
    };
    Ok(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// Resident memory in bytes.
pub(crate) fn resident() -> Result<usize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or("/proc/self/status has no VmRSS")?;
    let kilobytes: usize = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kilobytes * 1024)
}

/// How often the threads have gone to sleep so far: each time somebody has to wake them.
pub(crate) fn sleeps() -> Result<usize> {
    let mut sleeps = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let status = fs::read_to_string(thread?.path().join("status"))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))
            .ok_or("the thread's status is odd")?;
        sleeps += line.trim().parse::<usize>()?;
    }
    Ok(sleeps)
}
