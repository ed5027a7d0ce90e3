//! A headless browser, driven over the WebDriver protocol.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// The most that a script or a page may take, on a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(300);

/// A browser with one window; it ends with the test.
pub struct Browser {
    driver: Child,
    session: String,
    client: reqwest::blocking::Client,
    _profile: tempfile::TempDir,
}

/// A driver that waits for us.
struct Listening {
    driver: Child,
    port: u16,
}

impl Listening {
    /// None where no driver is installed. The port that one has chosen may be taken before it listens there: then another is tried.
    fn start() -> Option<Self> {
        for _ in 0..10 {
            let mut driver = Command::new("chromedriver")
                .arg("--port=0")
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .inspect_err(|_| println!("skipped: no chromedriver"))
                .ok()?;
            let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
            let started = lines.find_map(|line| {
                let line = line.unwrap();
                let port = line.strip_prefix("ChromeDriver was started successfully on port ")?;
                port.trim_end_matches('.').parse::<u16>().ok()
            });
            if let Some(port) = started {
                // What else it says is read, so that it never waits for us.
                std::thread::spawn(move || lines.for_each(drop));
                return Some(Self { driver, port });
            }
            let _ = driver.wait();
        }
        panic!("chromedriver does not start");
    }
}

impl Browser {
    /// None where no browser is installed.
    pub fn start() -> Option<Self> {
        let Listening { driver, port } = Listening::start()?;
        let profile = tempfile::tempdir().unwrap();
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::blocking::Client::builder().no_proxy().timeout(PATIENCE).build().unwrap();
        let mut browser =
            Self { driver, session: format!("http://127.0.0.1:{port}/session"), client, _profile: profile };
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
            &profile,
        ];
        let patience = PATIENCE.as_millis() as u64;
        let capabilities = json!({ "capabilities": { "alwaysMatch": {
            "timeouts": { "script": patience, "pageLoad": patience },
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        }}});
        let session = browser.call("", &capabilities);
        browser.session = format!("{}/{}", browser.session, session["sessionId"].as_str().unwrap());
        Some(browser)
    }

    fn call(&self, command: &str, body: &Value) -> Value {
        let request = self.client.post(format!("{}{command}", self.session));
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().unwrap();
        let answer: Value = serde_json::from_str(&answer.text().unwrap()).unwrap();
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{command}: {value:#}");
        value
    }

    pub fn open(&self, path: &Path) {
        self.call("/url", &json!({ "url": format!("file://{}", path.display()) }));
    }

    /// What a function body returns.
    pub fn run(&self, script: &str) -> Value {
        self.call("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Messages of the console.
    pub fn console(&self) -> Vec<Value> {
        self.call("/se/log", &json!({ "type": "browser" })).as_array().unwrap().clone()
    }

    /// Sets what the page is told of the reader's device.
    pub fn emulate(&self, command: &str, parameters: Value) {
        self.call("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.client.delete(&self.session).send();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
