//! An open page.

use std::path::Path;
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::pipe::Pipe;

/// The pause between two evaluations of a condition.
const POLL: Duration = Duration::from_millis(30);
/// The number of evaluations after which a condition counts as failed. Without this limit, a broken test would wait
/// for ever.
const POLLS_MAX: u32 = 2_000;

/// The colour scheme that the browser reports to the page as preferred (`prefers-color-scheme`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

#[derive(Debug)]
pub struct Page<'a> {
    pipe: &'a mut Pipe,
    session: String,
}

impl<'a> Page<'a> {
    pub(crate) fn open(pipe: &'a mut Pipe, address: &str, width: u32, height: u32, scheme: Scheme) -> Self {
        let target = pipe.call(None, "Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        let session = pipe.call(None, "Target.attachToTarget", &attached)["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        let mut page = Self { pipe, session };
        for domain in ["Page", "Runtime", "Network", "Log"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        page.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if scheme == Scheme::Dark { "dark" } else { "light" };
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        page.call("Emulation.setEmulatedMedia", &features);
        page.call("Page.navigate", &json!({ "url": address }));
        let session = page.session.clone();
        page.pipe.wait_for(&session, "Page.loadEventFired");
        page
    }

    /// Returns the value of a JavaScript expression. If the value is a promise, returns the value to which it
    /// resolves.
    ///
    /// # Panics
    /// The expression throws an exception. The panic message contains the exception.
    pub fn eval(&mut self, expression: &str) -> Value {
        self.try_eval(expression).unwrap_or_else(|thrown| panic!("{expression}: {thrown}"))
    }

    fn try_eval(&mut self, expression: &str) -> Result<Value, Value> {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.pipe.try_call(Some(&self.session), "Runtime.evaluate", &parameters)?;
        match answer.get_mut("exceptionDetails") {
            Some(thrown) => Err(thrown.take()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Returns the text that is the value of an expression.
    ///
    /// # Panics
    /// The expression throws, or its value is not text.
    pub fn text(&mut self, expression: &str) -> String {
        let value = self.eval(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// Waits until an expression is true. An exception counts as false, because a page that reloads is empty for a
    /// moment.
    ///
    /// # Panics
    /// The expression does not become true within a minute.
    pub fn wait_until(&mut self, expression: &str) {
        for _ in 0..POLLS_MAX {
            if self.try_eval(expression) == Ok(Value::Bool(true)) {
                return;
            }
            thread::sleep(POLL);
        }
        panic!("never: {expression}; {:?}", self.complaints());
    }

    /// Presses a key, by its name in DOM events (`Escape`, `ArrowDown`).
    pub fn press(&mut self, key: &str) {
        // The key code 27 makes the browser do its own action for Escape, such as closing a dialog. Without this
        // code, only the page gets the key.
        let number = if key == "Escape" { 27 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": number });
            self.call("Input.dispatchKeyEvent", &event);
        }
    }

    /// Returns the problems that the browser reported for this page: uncaught exceptions, errors and warnings on the
    /// console, and the entries of the browser's log.
    pub fn complaints(&mut self) -> Vec<String> {
        self.eval("0"); // When this call returns, all earlier events have arrived.
        let complaint = |event: &Value| {
            let parameters = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(parameters["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled"
                    if parameters["type"] == "error" || parameters["type"] == "warning" =>
                {
                    Some(parameters["args"].to_string())
                }
                "Log.entryAdded" => Some(parameters["entry"]["text"].to_string()),
                _ => None,
            }
        };
        self.pipe.events(&self.session).filter_map(complaint).collect()
    }

    /// Returns the addresses that the page requested; the first is the page itself. Addresses that need no network
    /// (`data:`, `blob:`) are left out.
    pub fn requests(&mut self) -> Vec<String> {
        self.eval("0");
        let requests =
            self.pipe.events(&self.session).filter(|event| event["method"] == "Network.requestWillBeSent");
        let addresses = requests.filter_map(|event| event["params"]["request"]["url"].as_str());
        addresses
            .filter(|address| !address.starts_with("data:") && !address.starts_with("blob:"))
            .map(str::to_owned)
            .collect()
    }

    /// Takes a screenshot of the window, or of the whole page if `is_whole`. Returns it as PNG.
    ///
    /// # Panics
    /// The browser returns no picture.
    pub fn picture(&mut self, is_whole: bool) -> Vec<u8> {
        let parameters = json!({ "format": "png", "captureBeyondViewport": is_whole });
        let mut answer = if is_whole {
            let size = self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"].take();
            let clip =
                json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
            self.call(
                "Page.captureScreenshot",
                &json!({ "format": "png", "captureBeyondViewport": true, "clip": clip }),
            )
        } else {
            self.call("Page.captureScreenshot", &parameters)
        };
        let text = answer["data"].take();
        base64::engine::general_purpose::STANDARD.decode(text.as_str().expect("a picture")).expect("base64")
    }

    /// Writes a screenshot, for people to look at, into the folder that `DYNO_SCREENSHOTS` names. Does nothing if
    /// this variable is not set.
    ///
    /// # Panics
    /// The folder cannot be written.
    pub fn keep_picture(&mut self, name: &str, is_whole: bool) {
        if let Some(folder) = std::env::var_os("DYNO_SCREENSHOTS") {
            let picture = self.picture(is_whole);
            std::fs::write(Path::new(&folder).join(name).with_extension("png"), picture)
                .expect("a folder for pictures");
        }
    }

    fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let session = self.session.clone();
        self.pipe.call(Some(&session), method, parameters)
    }
}
