//! The core workloads of YCSB: what they read and write, and the popularity of records.

use dyno_load::{Address, Job, Protocol, Target};
use dyno_testing::dyno_test;

use super::{EVENTS, Subject, on_each_database};
use crate::bench::{job_on, run, with_options};

/// Lua code that makes a script's prepared statements print their kind and their number of rows.
const TELL: &str = r#"
local real = require
function require(name)
  local module = real(name)
  if name ~= "sql.prepared" then
    return module
  end
  return function(con, sql, ...)
    local it = module(con, sql, ...)
    local statement = it.statement
    it.statement = { execute = function()
      local result = statement:execute()
      print((sql:find("LIMIT") and "SCAN" or sql:match("^%u+")) .. " " .. (result and result.nrows or 0))
    end }
    return it
  end
end
"#;

const SMALL: [(&str, &str); 3] = [("recordcount", "500"), ("fieldlength", "20"), ("maxscanlength", "10")];

#[dyno_test(on_each_database)]
fn ycsb_reads_what_is_there(subject: &Subject) {
    let ycsb = |command: &str| with_options(subject.builtin("ycsb", command, TELL), &SMALL);
    run(ycsb("prepare")).success();
    let kinds: [(&str, &[&str]); 6] = [
        ("a", &["SELECT", "UPDATE"]),
        ("b", &["SELECT", "UPDATE"]),
        ("c", &["SELECT"]),
        ("D", &["SELECT", "INSERT"]),
        ("e", &["SCAN", "INSERT"]),
        ("f", &["SELECT", "UPDATE"]),
    ];
    // Each workload runs twice, to check that the second run does not insert the same records as the first.
    for (core, expected) in kinds.into_iter().chain(kinds) {
        let mut operations = with_options(ycsb("run"), &[("core", core)]);
        (operations.connections, operations.events) = (4, Some(EVENTS));
        let story = run(operations);
        let lines: Vec<&str> = story.printed.iter().flat_map(|text| text.lines()).map(str::trim).collect();
        for line in &lines {
            let (kind, rows) = line.split_once(' ').expect("a kind and a number");
            let rows: u64 = rows.parse().expect("a number");
            assert!(expected.contains(&kind), "{core}: {line}");
            let fits = match kind {
                "SELECT" => rows == 1,
                "SCAN" => (1..=10).contains(&rows),
                _ => rows == 0,
            };
            assert!(fits, "{core}: {line}");
        }
        for kind in expected {
            assert!(lines.iter().any(|line| line.starts_with(kind)), "{core}: no {kind}");
        }
        let counts = story.success().counts;
        assert_eq!((counts.events, counts.errors), (EVENTS, 0), "{core}");
    }
    checksums(subject, &|| ycsb("check"));
    let failure = run(with_options(ycsb("run"), &[("core", "g")])).failure.expect("a refusal");
    assert!(failure.contains("core is one of a to f, not g"), "{failure}");
    run(ycsb("cleanup")).success();
}

/// Checks that the workload's command `check` finds missing records, and fields with values that no client has written
/// there.
fn checksums(subject: &Subject, check: &dyn Fn() -> Job) {
    let violation = |job: Job| run(job).failure.expect("a violation");
    run(check()).success();
    let other = violation(with_options(check(), &[("fieldlength", "21")]));
    assert!(other.contains("ycsb: fields that are not as they were written: "), "{other}");
    subject.ask("UPDATE usertable SET field1 = field0, field3 = NULL WHERE ycsb_key = 'user0000000007'");
    let wrong = violation(check());
    assert!(wrong.contains(": 2, the first is field1 of user0000000007"), "{wrong}");
    subject.ask("DELETE FROM usertable WHERE ycsb_key <= 'user0000000007'");
    subject.ask("DELETE FROM usertable WHERE ycsb_key > 'user0000000499'");
    let fewer = violation(check());
    assert!(fewer.contains("ycsb: 492 records, of 500"), "{fewer}");
}

/// Draws numbers, and compares the share of each rank r with r^-0.99 divided by the sum over all ranks.
#[dyno_test]
fn popularity_falls_with_the_rank() {
    let source = "
        function event()
          local draw, n, of = require('ycsb.zipf').of(0.99), 1000, {}
          for _ = 1, 200000 do
            local number = draw(n)
            of[number] = (of[number] or 0) + 1
          end
          local sum = 0
          for rank = 1, n do sum = sum + rank ^ -0.99 end
          for _, rank in ipairs({ 1, 2, 3, 10, 100, 1000 }) do
            local expected = 200000 * rank ^ -0.99 / sum
            assert(math.abs((of[rank] or 0) - expected) < 5 * math.sqrt(expected),
              rank .. ': ' .. (of[rank] or 0) .. ' in place of ' .. expected)
          end
        end";
    let folder = tempfile::tempdir().expect("a folder");
    let file = Address::File(folder.path().join("test.db"));
    let mut job = job_on(Target::new(Protocol::Sqlite, vec![file]), "zipf", source, "run");
    job.events = Some(1);
    run(job).success();
}
