//! The picture of a schedule: a bar for each wave. The length of a bar is the number of bootstraps.

use super::schedule::Wave;
use crate::id::Id;
use std::fmt::Write as _;

/// The most bars. More waves are put together, so that the picture stays small.
const BARS: usize = 200;
/// Width of the picture and of its left margin.
const WIDTH: f64 = 800.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 44.0;

/// Draws waves. Done bootstraps are filled, and others are an outline.
pub(super) fn svg(id: Id, state: &str, waves: &[Wave]) -> String {
    let together = waves.len().div_ceil(BARS).max(1);
    let groups: Vec<&[Wave]> = waves.chunks(together).collect();
    let bootstraps = |waves: &[Wave]| waves.iter().map(|wave| wave.bootstraps).sum::<u64>();
    let done = |waves: &[Wave]| waves.iter().map(|wave| wave.done).sum::<u64>();
    let longest = groups.iter().map(|group| bootstraps(group)).max().unwrap_or(0).max(1);
    let ended = waves.iter().filter(|wave| wave.measured_ms.is_some()).count();
    let measured: f64 = waves.iter().filter_map(|wave| wave.measured_ms).sum();
    let row = if groups.len() > 40 { 6.0 } else { 18.0 };
    let height = TOP + row * groups.len() as f64 + 16.0;
    let describes = format!(
        "{ended} of {} waves and {} of {} bootstraps are done, in {measured:.0} ms. The longest bar has {longest} bootstraps.",
        waves.len(),
        done(waves),
        bootstraps(waves),
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" viewBox=\"0 0 {WIDTH} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title id=\"title\">Schedule of job {id} ({state})</title>\n\
         <desc id=\"desc\">{describes}</desc>\n<rect width=\"{WIDTH}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"18\" fill=\"#222222\">{describes}</text>\n"
    );
    let (mut y, mut first) = (TOP, 1);
    for group in groups {
        let (all, done) = (bootstraps(group), done(group));
        let length = |count: u64| (WIDTH - LEFT - 12.0) * count as f64 / longest as f64;
        let last = first + group.len() - 1;
        let name = if first == last { format!("wave {first}") } else { format!("waves {first} to {last}") };
        let bar = row * 0.8;
        let _ = writeln!(
            svg,
            "<g><title>{name}: {done} of {all} bootstraps done</title><rect x=\"{LEFT}\" y=\"{y:.0}\" width=\"{:.1}\" \
             height=\"{bar:.1}\" fill=\"#ffffff\" stroke=\"#4c78a8\"/><rect x=\"{LEFT}\" y=\"{y:.0}\" width=\"{:.1}\" height=\"{bar:.1}\" \
             fill=\"#4c78a8\"/></g>",
            length(all),
            length(done),
        );
        if row > 10.0 {
            let _ = writeln!(svg, "<text x=\"8\" y=\"{:.0}\" fill=\"#222222\">{name}</text>", y + 12.0);
        }
        y += row;
        first = last + 1;
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_any_length_are_small() {
        for count in [0, 1, 40, 201, 100_000] {
            let wave = |at: u64| Wave {
                bootstraps: u64::MAX >> 20,
                done: if at.is_multiple_of(2) { u64::MAX >> 20 } else { 0 },
                measured_ms: at.is_multiple_of(2).then_some(1e9),
                ..Wave::default()
            };
            let waves: Vec<Wave> = (0..count).map(wave).collect();
            let svg = svg(Id::new(), "running", &waves);
            assert!(svg.len() < 100_000, "{count}: {}", svg.len());
            assert!(svg.contains("role=\"img\"") && svg.contains("<title ") && svg.contains("<desc "));
            assert!(!svg.contains("<script") && svg.matches("<g>").count() <= BARS, "{count}");
        }
    }
}
