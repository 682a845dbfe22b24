//! Help, completions and manual pages: the names that they must contain, and those that they must not.

use std::fs;
use std::process::Command;

use dyno_testing::dyno_test;

use crate::bench::{Bench, Ended};

/// Commands and options that only Dyno itself uses, so users must not see them.
const INNER: [&str; 5] = ["crash-client", "spread-id", "deliver", "dyno drive", "dyno task"];

/// The names of the subcommands that the help of a command lists.
fn commands(bench: &Bench, of: &[&str]) -> Vec<String> {
    let help = bench.dyno(&[of, &["--help"]].concat()).with(0).stdout;
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
        let name =
            line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.split_whitespace().next()?;
        (name != "help").then(|| name.to_owned())
    });
    names.collect()
}

/// Every command line that has help.
fn all_commands(bench: &Bench) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    for name in commands(bench, &[]) {
        let below = commands(bench, &[&name]).into_iter().map(|below| vec![name.clone(), below]);
        all.push(vec![name.clone()]);
        all.extend(below.collect::<Vec<_>>());
    }
    all
}

#[dyno_test]
fn a_paragraph_is_wrapped_once_at_any_width() {
    let bench = Bench::new();
    let mut breaks = 0;
    for words in all_commands(&bench).into_iter().filter(|words| *words != ["sysbench"]) {
        for width in [60, 80, 100] {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = bench.command(&[&words[..], &["--help"]].concat());
            command.env("COLUMNS", width.to_string());
            let help = Ended::from(command.output().unwrap()).with(0).stdout;
            let lines: Vec<&str> = help.lines().collect();
            // Lines that are not indented are paragraphs.
            let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
            for two in lines.windows(2).filter(|two| two.iter().all(|line| is_text(line))) {
                breaks += 1;
                let next = two[1].split(' ').next().unwrap();
                let is_full = two[0].chars().count() + 1 + next.chars().count() > width;
                assert!(is_full, "{words:?} at {width}: `{}` ends before `{next}`", two[0]);
            }
        }
    }
    assert!(breaks > 50, "{breaks}");
}

#[dyno_test]
fn completions_name_all_commands_and_no_inner_one() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.dyno(&["completions", shell]).with(0).stdout;
        for name in ["quickstart", "compare", "--quantity", "bisect", "prune"] {
            assert!(script.contains(name.trim_start_matches("--")), "{shell}: {name}");
        }
        for name in INNER.iter().map(|name| name.trim_start_matches("dyno ")).chain(["crash-client"]) {
            let is_named = script
                .split(|letter: char| !letter.is_alphanumeric() && letter != '-')
                .any(|word| word == name);
            assert!(!is_named, "{shell}: {name}");
        }
    }
    bench.dyno(&["completions", "tcsh"]).with(2);
}

#[dyno_test]
fn a_shell_completes_commands_and_options() {
    let bench = Bench::new();
    bench.write("dyno.bash", &bench.dyno(&["completions", "bash"]).stdout);
    let complete = |line: &str| {
        let script = format!(
            "source ./dyno.bash; COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             _dyno dyno \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; echo \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["-c", &script]).current_dir(bench.path("")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("dyno quick"), "quickstart");
    assert_eq!(complete("dyno compare --quan"), "--quantity");
    assert_eq!(complete("dyno dri"), "");
}

#[dyno_test]
fn manual_pages_are_there_for_all_commands_and_no_inner_one() {
    let bench = Bench::new();
    let page = bench.dyno(&["man"]).with(0).stdout;
    assert!(page.contains(".TH dyno 1") && page.contains("quickstart"), "{page}");
    fs::create_dir(bench.path("man1")).unwrap();
    bench.dyno(&["man", "--dir", "man1"]).with(0);
    for words in all_commands(&bench) {
        let name = [vec!["dyno".to_owned()], words].concat().join("-");
        let text = fs::read_to_string(bench.path("man1").join(format!("{name}.1")));
        assert!(text.is_ok_and(|text| text.contains(".TH ")), "{name}");
    }
    for entry in fs::read_dir(bench.path("man1")).unwrap().map(Result::unwrap) {
        let text = fs::read_to_string(entry.path()).unwrap().replace("\\-", "-");
        for name in INNER {
            assert!(!text.contains(name), "{}: {name}", entry.path().display());
        }
    }
    let missing = bench.dyno(&["man", "--dir", "none"]).with(1);
    assert!(missing.stderr.starts_with("error: cannot write into none"), "{}", missing.stderr);
}

#[dyno_test]
fn errors_suggest_no_inner_command_and_no_inner_option() {
    let bench = Bench::new();
    for (arguments, tip) in [
        (&["driv"][..], None),
        (&["crash-clien"], Some("crash")),
        (&["run", "quickstart", "--spread-i", "x"], None),
        (&["run", "quickstart", "--round", "3"], Some("--rounds")),
        (&["run", "quickstart", "--delivr", "x"], None),
    ] {
        let refused = bench.dyno(arguments).with(2);
        let (_, told) = refused.stderr.split_once('\n').unwrap();
        for name in INNER.iter().copied().chain(["--deliver", "--node ", "drive"]) {
            assert!(!told.contains(name), "{arguments:?} names {name}: {}", refused.stderr);
        }
        assert!(tip.is_none_or(|tip| told.contains(tip)), "{arguments:?}: {}", refused.stderr);
    }
    // Users who know the hidden commands still get help.
    assert!(bench.dyno(&["task", "--help"]).with(0).stdout.contains("--spread-id"));
    assert!(bench.dyno(&["task", "plan.toml"]).with(2).stderr.contains("--deliver"));
}
