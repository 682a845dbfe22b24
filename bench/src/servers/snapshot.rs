//! Compares the time to save and to restore a snapshot with the time that `cp` takes to copy the same folder.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use dyno_engine::{Cache, SnapshotParts, Snapshots};

#[derive(Args)]
pub(crate) struct Options {
    /// Size of the data in MB.
    #[arg(long, default_value_t = 1024)]
    megabytes: u64,
    /// Number of files of the data.
    #[arg(long, default_value_t = 16)]
    files: u64,
    /// Measurements of each kind. The table shows medians.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The working folder. The benchmark measures the disk that this folder is on.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let folder = options.folder.join(format!("dyno-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(options, &folder);
    fs::remove_dir_all(&folder)?;
    measured
}

fn measure(options: &Options, folder: &Path) -> anyhow::Result<()> {
    let data = folder.join("data");
    make_data(&data, options)?;
    let snapshots = Snapshots::of(&Cache::new(folder.join("cache")));
    let parts = SnapshotParts::default().with("data set", "benchmark");
    let (mut saves, mut restores, mut copies) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..options.rounds {
        eprintln!("round {} of {}", round + 1, options.rounds);
        let copy = folder.join("copy");
        // The time of the copy ends when its data is on the disk, as with Dyno's snapshots.
        copies.push(
            timed(|| {
                let status = Command::new("cp").arg("-a").arg(&data).arg(&copy).status()?;
                anyhow::ensure!(status.success(), "cp failed");
                anyhow::ensure!(Command::new("sync").arg("-f").arg(&copy).status()?.success(), "sync failed");
                Ok(())
            })?
            .1,
        );
        fs::remove_dir_all(&copy)?;
        let (snapshot, seconds_to_save) = timed(|| Ok(snapshots.save(&parts, "benchmark", &data)?))?;
        saves.push(seconds_to_save);
        restores.push(timed(|| Ok(snapshot.restore(&copy)?))?.1);
        fs::remove_dir_all(&copy)?;
        drop(snapshot);
        snapshots.remove(&parts.key())?;
    }
    print(options, &[("cp -a, sync", copies), ("save", saves), ("restore", restores)]);
    Ok(())
}

fn print(options: &Options, rows: &[(&str, Vec<f64>)]) {
    let median = |times: &[f64]| dyno_stats::median(times).unwrap_or(f64::NAN);
    let base = median(&rows[0].1);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["", "seconds", "MB/s", "ratio of rates"]);
    for (name, times) in rows {
        let seconds = median(times);
        table.add_row([
            (*name).to_owned(),
            format!("{seconds:.2}"),
            format!("{:.0}", options.megabytes as f64 / seconds),
            format!("{:.2}", base / seconds),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{} MB in {} files, medians of {}", options.megabytes, options.files, options.rounds);
    println!("{table}");
}

fn make_data(data: &Path, options: &Options) -> anyhow::Result<()> {
    fs::create_dir_all(data)?;
    let block: Vec<u8> =
        (0..1_u32 << 20).map(|place| (place.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for file in 0..options.files {
        let mut file = File::create(data.join(format!("table-{file}")))?;
        for _ in 0..options.megabytes / options.files {
            file.write_all(&block)?;
        }
        file.sync_all()?;
    }
    Ok(())
}

fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    let began = Instant::now();
    let done = work()?;
    Ok((done, began.elapsed().as_secs_f64()))
}
