//! The option values of a run, for its scripts and its random numbers.

use std::collections::BTreeMap;

use crate::data::random::{Distributions, Shape};
use crate::error::ScriptError;
use crate::lua::Stack;
use crate::settings::config::Config;
use crate::settings::general::{general_option, general_options};
use crate::settings::info::ScriptInfo;
use crate::settings::options::Value;

/// Values by their names in scripts, which have underscores instead of dashes.
#[derive(Debug)]
pub(crate) struct Values(BTreeMap<String, Value>);

impl Values {
    /// The values of sysbench's general options.
    pub(crate) fn general(config: &Config) -> Result<Self, ScriptError> {
        let given = underscored(&config.globals);
        for (name, value) in &given {
            if let Some(option) = general_option(name) {
                option.check(value)?;
            }
        }
        let mut values = as_text(&given);
        for option in general_options() {
            let value = option.value(given.get(&option.name).copied())?;
            values.insert(option.name, value);
        }
        // The option is a flag in sysbench 1.0.20, and one of several words in sysbench's main branch.
        let ssl = match given.get("mysql_ssl").copied().unwrap_or("off") {
            "on" => Value::Bool(true),
            "off" => Value::Bool(false),
            word => Value::Text(word.to_owned()),
        };
        values.insert("mysql_ssl".into(), ssl);
        values.insert("db_driver".into(), Value::Text(config.driver.clone()));
        for name in ["threads", "num_threads"] {
            values.insert(name.into(), Value::Number(f64::from(config.threads)));
        }
        Ok(Self(values))
    }

    /// Adds a script's own options. A script without declarations gets the user's options as text.
    pub(crate) fn add_script(
        &mut self,
        options: &BTreeMap<String, String>,
        info: &ScriptInfo,
    ) -> Result<(), ScriptError> {
        let given = underscored(options);
        if info.any_options {
            self.0.extend(as_text(&given));
        }
        for option in &info.options {
            self.0.insert(option.name.clone(), option.value(given.get(&option.name).copied())?);
        }
        Ok(())
    }

    /// Pushes a table of the values.
    pub(crate) fn push(&self, stack: Stack) {
        stack.push_table(0, self.0.len() as i32);
        for (name, value) in &self.0 {
            push_value(stack, value);
            stack.set_field(-2, name);
        }
    }

    /// The distributions of random numbers, with the default and the parameters that the `--rand-…` options give.
    pub(crate) fn distributions(&self) -> Distributions {
        let default = match self.0.get("rand_type") {
            Some(Value::Text(name)) => Shape::named(name),
            _ => None,
        };
        let number = |name: &str| match self.0.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0.0,
        };
        Distributions {
            default: default.unwrap_or(Shape::Special),
            iterations: number("rand_spec_iter").max(1.0) as u32,
            special_percent: number("rand_spec_pct"),
            special_share_percent: number("rand_spec_res"),
            pareto_h: number("rand_pareto_h"),
            zipfian_exponent: number("rand_zipfian_exp"),
            ..Distributions::default()
        }
    }

    /// The value of an option as text, for messages.
    pub(crate) fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            None | Some(Value::Nil) => String::new(),
            Some(Value::Bool(value)) => if *value { "on" } else { "off" }.to_owned(),
            Some(Value::Number(value)) => value.to_string(),
            Some(Value::Text(value)) => value.clone(),
            Some(Value::List(value)) => value.join(","),
        }
    }
}

fn underscored(given: &BTreeMap<String, String>) -> BTreeMap<String, &str> {
    given.iter().map(|(name, text)| (name.replace('-', "_"), text.as_str())).collect()
}

fn as_text(given: &BTreeMap<String, &str>) -> BTreeMap<String, Value> {
    given.iter().map(|(name, &text)| (name.clone(), Value::Text(text.to_owned()))).collect()
}

fn push_value(stack: Stack, value: &Value) {
    match value {
        Value::Nil => stack.push_nil(),
        Value::Bool(value) => stack.push_bool(*value),
        Value::Number(value) => stack.push_number(*value),
        Value::Text(value) => stack.push_bytes(value.as_bytes()),
        Value::List(values) => {
            stack.push_table(values.len() as i32, 0);
            for (n, value) in (1..).zip(values) {
                stack.push_bytes(value.as_bytes());
                stack.set_element(-2, n);
            }
        }
    }
}
