//! `sysbench.rand` and its histogram.

use dyno_script::Entry;

use crate::support::{Bench, config, printed, printed_by};

const NUMBERS: &str = "
    function go()
      local r = sysbench.rand
      print(r.default(1, 1000), r.uniform(1, 1000), r.gaussian(1, 1000), r.special(1, 1000), r.pareto(1, 1000),
        r.zipfian(1, 1000), r.unique(), r.uniform_double(), r.uniform_uint64(), r.string('#@-'), r.varstring(3, 9))
    end
    sysbench.cmdline.commands = { go = { go } }";

#[test]
fn a_seed_makes_every_number_repeat() {
    let numbers = |seed| {
        let mut config = config(NUMBERS);
        config.seed = seed;
        printed_by(Bench::with(config))
    };
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
}

#[test]
fn tasks_draw_from_generators_of_their_own_whatever_their_order() {
    let script = "function event() print(sysbench.rand.uniform(1, 1e9)) end";
    let draws = |order: &[usize]| {
        let mut bench = Bench::new(script);
        let tasks = [bench.spawn(0), bench.spawn(1)];
        let mut draws = [Vec::new(), Vec::new()];
        for &tid in order {
            bench.run(tasks[tid], dyno_script::Entry::Event).unwrap();
            draws[tid].push(bench.host.printed.pop().unwrap());
        }
        draws
    };
    let turns = draws(&[0, 1, 0, 1, 0, 1]);
    assert_eq!(turns, draws(&[1, 1, 1, 0, 0, 0]));
    assert_ne!(turns[0], turns[1]);
}

#[test]
fn numbers_keep_to_their_ranges_and_types() {
    let lines = printed(
        "local function all(draw, good)
           for n = 1, 2000 do
             local x = draw()
             if not good(x) then return x end
           end
           return true
         end
         local function within(low, high)
           return function(x) return x >= low and x <= high and x == math.floor(x) end
         end
         local r = sysbench.rand
         for _, name in ipairs({ 'default', 'uniform', 'gaussian', 'special', 'pareto', 'zipfian' }) do
           print(name, all(function() return r[name](5, 9) end, within(5, 9)))
         end
         print(all(r.unique, within(0, 2 ^ 32 - 1)), all(r.uniform_double, function(x) return x >= 0 and x < 1 end))
         print(ffi.istype('uint64_t', r.uniform_uint64()))
         print(all(function() return r.string('a#@') end, function(s) return s:match('^a%d%l$') end))
         print(all(function() return r.varstring(2, 5) end, function(s) return s:match('^[0-z][0-z][0-z]?[0-z]?[0-z]?$') end))
         print(r.varstring(0, 0) == '', r.string('') == '')",
    );
    assert_eq!(
        lines,
        [
            "default\ttrue",
            "uniform\ttrue",
            "gaussian\ttrue",
            "special\ttrue",
            "pareto\ttrue",
            "zipfian\ttrue",
            "true\ttrue",
            "true",
            "true",
            "true",
            "true\ttrue"
        ]
    );
}

#[test]
fn default_follows_rand_type() {
    let script = "
        function go()
          local low = 0
          for n = 1, 10000 do if sysbench.rand.default(1, 100) <= 20 then low = low + 1 end end
          print(low > 7500 and 'pareto' or low > 1500 and low < 2500 and 'uniform' or low < 300 and 'special')
        end
        sysbench.cmdline.commands = { go = { go } }";
    for shape in ["pareto", "uniform", "special"] {
        let mut config = config(script);
        config.globals.insert("rand-type".into(), shape.into());
        assert_eq!(printed_by(Bench::with(config)), [shape]);
    }
    assert_eq!(printed_by(Bench::new(script)), ["special"]);
}

#[test]
fn an_unknown_rand_type_is_refused() {
    let mut config = config(NUMBERS);
    config.globals.insert("rand-type".into(), "zipf".into());
    let error = dyno_script::Runtime::new(config).unwrap_err().to_string();
    assert_eq!(
        error,
        "option --rand-type takes one of uniform, gaussian, special, pareto, zipfian, not 'zipf'"
    );
}

#[test]
fn unique_numbers_are_shared_by_the_runtimes_of_a_run() {
    let script =
        "function go() print(sysbench.rand.unique()) end sysbench.cmdline.commands = { go = { go } }";
    let shared = config(script);
    let lines: std::collections::BTreeSet<_> =
        (0..3).flat_map(|_| printed_by(Bench::with(shared.clone()))).collect();
    assert_eq!(lines.len(), 3);
}

/// The values and the picture are those of sysbench 1.0.20 for the same numbers.
#[test]
fn histograms_are_drawn_as_sysbench_draws_them() {
    let lines = printed(
        "local h = sysbench.histogram.new(10, 1, 1000)
         for i = 1, 100 do h:update(i * i % 977) end
         h:print()",
    );
    assert_eq!(
        lines,
        [
            "       value  ------------- distribution ------------- count",
            "       1.000 |*                                        1",
            "       4.642 |*                                        1",
            "      10.000 |*                                        1",
            "      21.544 |*****                                    4",
            "      46.416 |*********                                8",
            "     100.000 |*********                                8",
            "     215.443 |*********************                    18",
            "     464.159 |**************************************** 35",
            "    1000.000 |***************************              24"
        ]
    );
}

/// Parameters near the limits of their ranges, and parameters outside of their ranges.
#[test]
fn parameters_of_distributions_are_refused_where_no_number_stays_in_its_range() {
    let with = |name: &str, value: &str, kind: &str| {
        let globals = [("rand_type", kind), (name, value)];
        let globals = globals.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let source = "function event()
            for _ = 1, 1000 do
              local number = sysbench.rand.default(1, 10)
              if not (number >= 1 and number <= 10) then error('out of range: ' .. number) end
            end
          end";
        dyno_script::Config { globals, ..config(source) }
    };
    for (name, value, kind) in [
        ("rand_pareto_h", "1e-300", "pareto"),
        ("rand_pareto_h", "0.9999999999999999", "pareto"),
        ("rand_zipfian_exp", "0", "zipfian"),
        ("rand_zipfian_exp", "100", "zipfian"),
        ("rand_spec_pct", "0", "special"),
        ("rand_spec_res", "100", "special"),
        ("rand_spec_iter", "1", "gaussian"),
    ] {
        let mut bench = Bench::with(with(name, value, kind));
        let task = bench.spawn(0);
        bench.run(task, Entry::Event).unwrap_or_else(|error| panic!("{name} = {value}: {error}"));
    }
    for (name, value) in [
        ("rand_pareto_h", "0"),
        ("rand_pareto_h", "1"),
        ("rand_pareto_h", "nan"),
        ("rand_zipfian_exp", "-1"),
        ("rand_spec_pct", "101"),
        ("rand_spec_res", "-5"),
        ("rand_spec_iter", "0"),
    ] {
        let error = dyno_script::Runtime::new(with(name, value, "uniform")).unwrap_err().to_string();
        let option = name.replace('_', "-");
        assert!(error.starts_with(&format!("option --{option} takes ")) && error.contains(value), "{error}");
    }
}
