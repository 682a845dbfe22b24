//! Options: declared by the script, converted to the declared type.

use std::collections::BTreeMap;

use dyno_script::{OptionKind, OptionSpec, Runtime, ScriptError};

use crate::support::{Bench, config, printed_by};

/// Each kind of option with and without a default, and a command that prints their types and values.
const SCRIPT: &str = "
    sysbench.cmdline.options = {
      bool = { 'a bool', false }, bool_on = { 'another', true },
      bool_unset = { 'unset', nil, sysbench.cmdline.ARG_BOOL },
      number = { 'a number', 5 }, number_unset = { 'unset', nil, sysbench.cmdline.ARG_INT },
      text = { 'a text', 'x' }, text_unset = { 'unset' },
      list = { 'a list', { 'p', 'q' } }, list_unset = { 'unset', nil, sysbench.cmdline.ARG_LIST },
      ['size-of-it'] = { 'a size', '4K', sysbench.cmdline.ARG_SIZE },
      file_unset = { 'a file', nil, sysbench.cmdline.ARG_FILE },
    }
    local function show(value)
      if type(value) == 'table' then value = '{' .. table.concat(value, '|') .. '}' end
      return type(value) .. ' ' .. tostring(value)
    end
    sysbench.cmdline.commands = { go = { function()
      for _, name in ipairs({ 'bool', 'bool_on', 'bool_unset', 'number', 'number_unset', 'text', 'text_unset',
          'list', 'list_unset', 'size_of_it', 'file_unset' }) do
        print(name, show(sysbench.opt[name]))
      end
    end }, usage = { function() sysbench.cmdline.print_test_options() end } }";

fn options<const N: usize>(given: [(&str, &str); N]) -> BTreeMap<String, String> {
    given.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[test]
fn defaults_have_the_type_that_they_are_declared_with() {
    assert_eq!(
        printed_by(Bench::new(SCRIPT)),
        [
            "bool\tboolean false",
            "bool_on\tboolean true",
            "bool_unset\tboolean true",
            "number\tnumber 5",
            "number_unset\tnumber 0",
            "text\tstring x",
            "text_unset\tstring ",
            "list\tstring {p|q}",
            "list_unset\tstring {}",
            "size_of_it\tnumber 4096",
            "file_unset\tnil nil"
        ]
    );
}

#[test]
fn given_values_have_it_too_and_dashes_are_underscores() {
    let mut config = config(SCRIPT);
    config.options = options([
        ("bool", "on"),
        ("bool-on", "off"),
        ("number", "5.5"),
        ("number-unset", "-3"),
        ("text", ""),
        ("list", "1,2,3"),
        ("size_of_it", "1M"),
        ("file_unset", "/tmp/x"),
    ]);
    let lines = printed_by(Bench::with(config));
    let given =
        ["bool\tboolean true", "bool_on\tboolean false", "number\tnumber 5.5", "number_unset\tnumber -3"];
    assert!(given.iter().all(|line| lines.contains(&(*line).to_owned())), "{lines:?}");
    let given =
        ["text\tstring ", "list\tstring {1|2|3}", "size_of_it\tnumber 1048576", "file_unset\tstring /tmp/x"];
    assert!(given.iter().all(|line| lines.contains(&(*line).to_owned())), "{lines:?}");
}

#[test]
fn declarations_are_told_in_order() {
    let bench = Bench::new(SCRIPT);
    let info = bench.runtime.info();
    assert!(!info.any_options);
    assert_eq!(
        info.options[0],
        OptionSpec {
            name: "bool".into(),
            description: "a bool".into(),
            default: Some("off".into()),
            kind: OptionKind::Bool
        }
    );
    let names: Vec<&str> = info.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names.len(), 11);
    assert!(names.is_sorted());
}

#[test]
fn a_value_of_the_wrong_kind_is_refused_with_what_would_be_right() {
    let refused = |name: &str, value: &str| {
        let mut config = config(SCRIPT);
        config.options = options([(name, value)]);
        Runtime::new(config).expect_err("a refusal").to_string()
    };
    assert_eq!(refused("number", "abc"), "option --number takes a number, not 'abc'");
    assert_eq!(refused("bool", "maybe"), "option --bool takes on or off, not 'maybe'");
    assert_eq!(refused("number-unset", "2.5"), "option --number_unset takes a whole number, not '2.5'");
    assert_eq!(refused("size-of-it", "12Q"), "option --size_of_it takes a size such as 64K or 1G, not '12Q'");
}

#[test]
fn a_script_s_own_check_can_refuse_a_value() {
    let mut config = config(
        "sysbench.cmdline.options = { n = { 'even', 2, validate = function(n) print('n', n) return n % 2 == 0 end } }
         print('top')",
    );
    assert_eq!(Runtime::new(config.clone()).unwrap().printed(), ["top"]);
    config.options = options([("n", "3")]);
    let refused = Runtime::new(config).unwrap_err();
    assert_eq!(refused.error, ScriptError::OptionRefused { option: "n".into(), value: "3".into() });
    assert_eq!(refused.printed, ["top", "n\t3"]);
}

#[test]
fn a_wrong_declaration_names_the_option() {
    let error = Runtime::new(config("sysbench.cmdline.options = { n = 5 }")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "test.lua: sysbench.cmdline.options.n must be a table {description, default, type}"
    );
}

#[test]
fn general_options_are_there_under_their_types_and_as_globals() {
    let mut config = config(
        "function prepare()
           local opt = sysbench.opt
           print(opt.threads, opt.num_threads, opt.time, opt.debug, opt.db_driver, opt.mysql_password == '')
           print(table.concat(opt.mysql_host, '|'), table.concat(opt.mysql_ignore_errors, '|'), #opt.mysql_socket)
           print(opt.rand_type, opt.rand_zipfian_exp, opt.thread_stack_size, opt.db_ps_mode)
           print(threads, num_threads, mysql_table_engine)
         end
         sysbench.cmdline.commands = { go = { prepare } }",
    );
    config.threads = 16;
    config.globals = options([("mysql-host", "a,b"), ("time", "60"), ("rand-type", "uniform")]);
    assert_eq!(
        printed_by(Bench::with(config)),
        [
            "16\t16\t60\tfalse\tmysql\ttrue",
            "a|b\t1213|1020|1205\t0",
            "uniform\t0.8\t65536\tauto",
            "16\t16\tinnodb"
        ]
    );
}

#[test]
fn an_option_does_not_hide_what_lua_has_under_its_name() {
    let mut config = config("function go() print(type(io.open), sysbench.opt.io, x) end");
    config.globals = options([("io", "epoll"), ("x", "1")]);
    assert_eq!(printed_by(Bench::with(config)), ["function\tepoll\t1"]);
}

#[test]
fn a_script_that_declares_nothing_takes_any_option_as_text() {
    let mut config = config(
        "function go() print(type(oltp_table_size), oltp_table_size + 1, sysbench.opt.oltp_table_size) end
         sysbench.cmdline.commands = { go = { go } }",
    );
    config.options = options([("oltp-table-size", "100")]);
    let bench = Bench::with(config);
    assert!(bench.runtime.info().any_options);
    assert_eq!(printed_by(bench), ["string\t101\t100"]);
}

#[test]
fn usage_is_printed_as_sysbench_prints_it() {
    let mut bench = Bench::new(SCRIPT);
    let task = bench.spawn(0);
    bench.run(task, dyno_script::Entry::Command("usage")).unwrap();
    let expected = [
        "test.lua options:",
        "  --bool[=on|off]           a bool [off]",
        "  --bool_on[=on|off]        another [on]",
        "  --bool_unset[=on|off]     unset",
        "  --file_unset=FILENAME     a file",
        "  --list=[LIST,...]         a list [p,q]",
        "  --list_unset=[LIST,...]   unset",
        "  --number=N                a number [5]",
        "  --number_unset=N          unset",
        "  --size-of-it=SIZE         a size [4K]",
        "  --text=STRING             a text [x]",
        "  --text_unset=STRING       unset",
        "",
    ];
    let squeezed = |lines: &[String]| -> Vec<String> {
        lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    };
    assert_eq!(squeezed(&bench.host.printed), squeezed(&expected.map(str::to_owned)));
}
