//! Downloads against a real HTTP server on this machine. The expected digests were computed with `sha256sum`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use dpgp::data::{
    DataError, Dataset, DatasetCache, DatasetLockFile, DatasetManifest, DatasetStatus, FetchOptions, FileCheckOutcome,
    FileChecksum, SilentProgress, fetch,
};
use tempfile::TempDir;

use crate::support::http_server::{Answer, Server, Site};

/// SHA-256 of [`absolute_path_or_address`].
const SHA: &str = "b190cfdb977dcb0e4cd4138ec367bb41259c5e0b45ee3f493b3ff21d1eea8a1c";
/// SHA-256 of [`wrong_rows`].
const WRONG_SHA: &str = "eb2c1a9d056ac8da8df9f9682ed817a9f6900e9e42997c522bc9d0d0ab8738e2";
/// Size of [`absolute_path_or_address`].
const BYTES: usize = 237_374;

fn rows() -> Vec<u8> {
    (0..12_000_u64).flat_map(|i| format!("row {i:06},{}\n", i * i).into_bytes()).collect()
}

/// The same with one bit of byte 1000 turned.
fn wrong_rows() -> Vec<u8> {
    let mut rows = rows();
    rows[1000] ^= 1;
    rows
}

fn site(path: &'static str, answers: Vec<Answer>) -> Site {
    Site { path, body: rows(), ranges: true, answers }
}

fn without_ranges(answers: Vec<Answer>) -> Site {
    Site { ranges: false, ..site("/a", answers) }
}

/// A dataset of one file, with the digest of [`absolute_path_or_address`].
fn dataset(urls: &[String]) -> Dataset {
    with_stamp(urls, &format!("sha256 = \"{SHA}\"\nbytes = {BYTES}"))
}

/// A dataset of one file without a digest.
fn unknown(urls: &[String]) -> Dataset {
    with_stamp(urls, &format!("sha256 = \"unknown\"\nmax_bytes = {BYTES}"))
}

fn with_stamp(urls: &[String], stamp: &str) -> Dataset {
    let text = format!(
        "[dataset.rows]\ntitle = \"\"\nlicence = \"\"\ncitation = \"\"\nsource = \"a book\"\nformat = \"zip\"\n\
         [[dataset.rows.file]]\npath = \"rows/rows.csv\"\nurls = {urls:?}\n{stamp}\n"
    );
    DatasetManifest::parse(&text, Path::new("test.toml")).unwrap().get("rows").unwrap().clone()
}

/// Temporary folders, and quick retries.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn cache(&self) -> DatasetCache {
        DatasetCache::new(self.directory(), self.folder.path().join("bundled")).with_options(quick())
    }

    fn directory(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn target(&self) -> PathBuf {
        self.directory().join("rows/rows.csv")
    }

    fn part(&self) -> PathBuf {
        self.directory().join("rows/rows.csv.b190cfdb.part")
    }

    fn put(&self, path: &Path, contents: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn mirror(&self, contents: &[u8]) -> PathBuf {
        let mirror = self.folder.path().join("mirror");
        self.put(&mirror.join("rows/rows.csv"), contents);
        mirror
    }

    /// Fetches from the server's `/a`, and `/b` after it.
    fn fetch(&self, server: &Server) -> Result<Vec<PathBuf>, DataError> {
        self.cache().ensure_dataset_files(&dataset(&[server.url("/a"), server.url("/b")]), &SilentProgress)
    }

    /// The names of the files beside the target.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory().join("rows")).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn assert_right(&self, found: &Result<Vec<PathBuf>, DataError>) {
        match found {
            Ok(paths) => assert_eq!(paths, &[self.target()]),
            Err(error) => panic!("{error}"),
        }
        assert!(fs::read(self.target()).unwrap() == rows(), "the file differs");
        assert_eq!(self.names(), ["rows.csv"], "only the file itself may be left");
    }
}

fn quick() -> FetchOptions {
    FetchOptions {
        tries: 3,
        base_delay: Duration::from_millis(2),
        connect_timeout: Duration::from_secs(5),
        read_timeout: Duration::from_millis(400),
        local_urls: true,
    }
}

fn range(start: usize) -> Option<String> {
    Some(format!("bytes={start}-"))
}

#[test]
fn a_whole_file() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None]);
    let agent = concat!("dpgp/", env!("CARGO_PKG_VERSION"));
    assert_eq!(server.requests()[0].user_agent.as_deref(), Some(agent));
}

#[test]
fn a_file_that_is_here_is_not_asked_for_again() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    home.assert_right(&home.fetch(&server));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_broken_download_goes_on_where_it_broke() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![Answer::Cut(100_000)])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(100_000)]);
}

#[test]
fn a_later_run_goes_on_where_the_last_one_broke() {
    let home = Home::new();
    let bad = Server::start(vec![site("/a", vec![Answer::Cut(60_000), Answer::Status(500), Answer::Status(500)])]);
    let error = home.fetch(&bad).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert_eq!(fs::read(home.part()).unwrap().len(), 60_000);
    let good = Server::start(vec![site("/a", vec![])]);
    home.assert_right(&home.fetch(&good));
    assert_eq!(good.ranges(), [range(60_000)]);
}

#[test]
fn a_server_that_ignores_ranges_sends_the_file_again() {
    let (home, server) = (Home::new(), Server::start(vec![without_ranges(vec![Answer::Cut(100_000)])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(100_000)]);
}

#[test]
fn a_file_without_a_length_that_ends_early_is_broken() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![Answer::Endless(50_000)])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(50_000)]);
}

#[test]
fn a_partial_answer_from_another_byte_is_not_used() {
    let answers = vec![Answer::Cut(70_000), Answer::WrongRange];
    let (home, server) = (Home::new(), Server::start(vec![site("/a", answers)]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(70_000), None]);
}

#[test]
fn the_second_url_goes_on_with_the_part_of_the_first() {
    let first = vec![Answer::Cut(80_000), Answer::Status(404)];
    let (home, server) = (Home::new(), Server::start(vec![site("/a", first), site("/b", vec![])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(80_000), range(80_000)]);
}

#[test]
fn a_corrupted_file_shows_both_digests_and_leaves_what_was_there() {
    let server = Server::start(vec![Site { body: wrong_rows(), ..site("/a", vec![]) }]);
    let (home, dataset) = (Home::new(), dataset(&[server.url("/a")]));
    home.put(&home.target(), b"old contents");
    let error = fetch(&dataset.files[0], &home.target(), &quick(), &SilentProgress).unwrap_err();
    let text = error.to_string();
    for part in [SHA, WRONG_SHA, "rows/rows.csv", &server.url("/a")] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(error.exit_code(), 3);
    assert_eq!(fs::read(home.target()).unwrap(), b"old contents");
    assert!(!home.part().exists());
    assert_eq!(server.requests().len(), 1, "the same wrong file is not asked for again");
}

#[test]
fn a_wrong_file_in_the_cache_is_an_error_and_stays() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    home.put(&home.target(), b"old contents");
    let error = home.fetch(&server).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(SHA), "{text}");
    assert!(text.contains("f726aa6fad8d88087929664b2f5cc7095d440fabc943f777697caae8475f7945"), "{text}");
    assert_eq!(error.exit_code(), 3);
    assert_eq!(fs::read(home.target()).unwrap(), b"old contents");
    assert!(server.requests().is_empty());
}

#[test]
fn after_a_corrupted_file_the_second_url_is_used() {
    let wrong = Site { body: wrong_rows(), ..site("/a", vec![]) };
    let (home, server) = (Home::new(), Server::start(vec![wrong, site("/b", vec![])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, None]);
}

#[test]
fn a_shorter_file_is_a_wrong_file() {
    let short = Site { body: b"sorry\n".to_vec(), ..site("/a", vec![]) };
    let (home, server) = (Home::new(), Server::start(vec![short, site("/b", vec![])]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn two_server_errors_are_waited_out() {
    let answers = vec![Answer::Status(500), Answer::Status(503)];
    let (home, server) = (Home::new(), Server::start(vec![site("/a", answers)]));
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn when_all_urls_fail_each_is_named_with_its_reason() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![Answer::Status(500); 3])]));
    let error = home.fetch(&server).unwrap_err();
    let text = error.to_string();
    let (a, b) = (server.url("/a"), server.url("/b"));
    assert!(text.contains(&format!("{a}\n    the server responded with HTTP status 500")), "{text}");
    assert!(text.contains(&format!("{b}\n    the server responded with HTTP status 404")), "{text}");
    assert!(error.is_missing_or_mismatch());
    assert_eq!(server.requests().len(), 4, "three tries, and one for what is not there");
    assert!(!home.target().exists());
}

#[test]
fn nobody_listening_is_an_error() {
    let home = Home::new();
    let error =
        home.cache().ensure_dataset_files(&dataset(&["http://127.0.0.1:1/x".to_owned()]), &SilentProgress).unwrap_err();
    assert!(error.to_string().contains("the connection failed"), "{error}");
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn a_larger_file_is_refused_by_its_announced_length() {
    let mut body = rows();
    body.push(b'!');
    let (home, server) = (Home::new(), Server::start(vec![Site { body, ..site("/a", vec![]) }]));
    let error = home.fetch(&server).unwrap_err();
    assert!(error.to_string().contains("larger than the limit of 237374 bytes"), "{error}");
    assert!(!home.part().exists());
}

#[test]
fn a_larger_file_without_a_length_is_cut_off() {
    let mut body = rows();
    body.extend(rows());
    let large = Site { body, ..site("/a", vec![Answer::Endless(2 * BYTES)]) };
    let (home, server) = (Home::new(), Server::start(vec![large]));
    let error = home.fetch(&server).unwrap_err();
    assert!(error.to_string().contains("larger than the limit of 237374 bytes"), "{error}");
    assert!(!home.part().exists());
}

#[test]
fn a_silent_server_is_left_for_the_next_url() {
    let silence = Duration::from_secs(20);
    let slow = site("/a", vec![Answer::Stall(0, silence), Answer::Stall(1000, silence), Answer::Stall(0, silence)]);
    let (home, server) = (Home::new(), Server::start(vec![slow, site("/b", vec![])]));
    let start = Instant::now();
    home.assert_right(&home.fetch(&server));
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let (all, rest) = (None, range(1000));
    assert_eq!(server.ranges(), [all.clone(), all, rest.clone(), rest]);
}

#[test]
fn a_silent_server_is_named_so() {
    let slow = site("/a", vec![Answer::Stall(0, Duration::from_secs(20)); 3]);
    let (home, server) = (Home::new(), Server::start(vec![slow]));
    let error = home.fetch(&server).unwrap_err();
    assert!(error.to_string().contains("did not answer in time"), "{error}");
}

#[test]
fn redirects_are_followed_but_not_to_unsafe_addresses() {
    let safe = Server::start(vec![site("/a", vec![Answer::Redirect("/c".to_owned())]), site("/c", vec![])]);
    let home = Home::new();
    home.assert_right(&home.fetch(&safe));
    let away = Answer::Redirect("http://example.invalid/".to_owned());
    let unsafe_one = Server::start(vec![site("/a", vec![away])]);
    let error = Home::new().fetch(&unsafe_one).unwrap_err();
    assert!(error.to_string().contains("does not begin with https://"), "{error}");
}

#[test]
fn a_wrong_part_of_the_right_length_or_less_is_dropped() {
    for length in [5_000, BYTES] {
        let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
        home.put(&home.part(), &wrong_rows()[..length]);
        home.assert_right(&home.fetch(&server));
        assert_eq!(server.ranges().last(), Some(&None));
    }
}

#[test]
fn a_part_that_is_too_long_is_dropped() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    home.put(&home.part(), &vec![b'x'; BYTES + 10]);
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None]);
}

#[test]
fn a_part_that_is_whole_needs_no_request() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    home.put(&home.part(), &rows());
    home.assert_right(&home.fetch(&server));
    assert!(server.requests().is_empty());
}

/// The remote file is now shorter than the part: the server answers 416.
#[test]
fn a_range_beyond_the_end_starts_again() {
    let short = Site { body: rows()[..50_000].to_vec(), ..site("/a", vec![]) };
    let (home, server) = (Home::new(), Server::start(vec![short, site("/b", vec![])]));
    home.put(&home.part(), &rows()[..60_000]);
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [range(60_000), None, None]);
}

#[test]
fn offline_says_how_to_get_the_file() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    let cache = home.cache().with_offline(true);
    let error = cache.ensure_dataset_files(&dataset(&[server.url("/a")]), &SilentProgress).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("dpgp data fetch rows") && text.contains("DPGP_MIRROR"), "{text}");
    assert_eq!(error.exit_code(), 3);
    assert!(server.requests().is_empty());
}

#[test]
fn offline_names_the_mirror_that_lacks_the_file() {
    let home = Home::new();
    let mirror = home.mirror(b"");
    fs::remove_file(mirror.join("rows/rows.csv")).unwrap();
    let cache = home.cache().with_offline(true).with_mirror(Some(mirror.clone()));
    let error =
        cache.ensure_dataset_files(&dataset(&["https://example.invalid/a".to_owned()]), &SilentProgress).unwrap_err();
    assert!(error.to_string().contains(mirror.to_str().unwrap()), "{error}");
}

#[test]
fn a_mirror_is_used_in_place() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    let mirror = home.mirror(&rows());
    let cache = home.cache().with_mirror(Some(mirror.clone()));
    let dataset = dataset(&[server.url("/a")]);
    assert_eq!(cache.status(&dataset), DatasetStatus::InMirror);
    assert_eq!(cache.ensure_dataset_files(&dataset, &SilentProgress).unwrap(), [mirror.join("rows/rows.csv")]);
    assert!(!home.directory().exists() && server.requests().is_empty());
}

#[test]
fn a_mirror_with_another_file_is_an_error() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    let cache = home.cache().with_mirror(Some(home.mirror(&wrong_rows())));
    let dataset = dataset(&[server.url("/a")]);
    let error = cache.ensure_dataset_files(&dataset, &SilentProgress).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(SHA) && text.contains(WRONG_SHA) && text.contains("Correct the mirror"), "{text}");
    assert_eq!(error.exit_code(), 3);
    let checks = cache.verify(&dataset).unwrap();
    assert!(matches!(checks[0].outcome, FileCheckOutcome::Mismatch { .. }));
}

#[test]
fn a_mirror_that_is_no_folder_is_an_error() {
    let home = Home::new();
    let cache = home.cache().with_mirror(Some(home.folder.path().join("nowhere")));
    let error =
        cache.ensure_dataset_files(&dataset(&["https://example.invalid/a".to_owned()]), &SilentProgress).unwrap_err();
    assert!(matches!(error, DataError::NoMirror { .. }), "{error}");
}

#[test]
fn a_dataset_without_an_address_says_where_to_put_the_file() {
    let home = Home::new();
    let dataset = dataset(&[]);
    assert_eq!(home.cache().status(&dataset), DatasetStatus::Unobtainable);
    let error = home.cache().ensure_dataset_files(&dataset, &SilentProgress).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("a book") && text.contains(home.target().to_str().unwrap()), "{text}");
    assert_eq!(error.exit_code(), 3);
}

#[test]
fn statuses_by_name_and_size() {
    let home = Home::new();
    let dataset = dataset(&["https://example.invalid/a".to_owned()]);
    assert_eq!(home.cache().status(&dataset), DatasetStatus::Missing);
    home.put(&home.target(), b"old contents");
    assert_eq!(home.cache().status(&dataset), DatasetStatus::Damaged);
    home.put(&home.target(), &rows());
    assert_eq!(home.cache().status(&dataset), DatasetStatus::Present);
}

#[test]
fn an_unknown_digest_is_recorded_once_and_then_held_to() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![])]));
    let (cache, dataset) = (home.cache(), unknown(&[server.url("/a")]));
    home.assert_right(&cache.ensure_dataset_files(&dataset, &SilentProgress));
    let lock = fs::read_to_string(home.directory().join("datasets.lock.toml")).unwrap();
    let entry = format!("[file.\"rows/rows.csv\"]\nsha256 = \"{SHA}\"\nbytes = {BYTES}\n");
    assert!(lock.ends_with(&entry), "{lock}");
    assert_eq!(cache.verify(&dataset).unwrap()[0].outcome, FileCheckOutcome::Right);

    home.put(&home.target(), &wrong_rows());
    let error = cache.ensure_dataset_files(&dataset, &SilentProgress).unwrap_err();
    assert!(error.to_string().contains(SHA) && error.to_string().contains(WRONG_SHA), "{error}");
    assert!(matches!(cache.verify(&dataset).unwrap()[0].outcome, FileCheckOutcome::Mismatch { .. }));
}

#[test]
fn a_later_download_must_agree_with_the_lock_file() {
    let home = Home::new();
    let good = Server::start(vec![site("/a", vec![])]);
    home.assert_right(&home.cache().ensure_dataset_files(&unknown(&[good.url("/a")]), &SilentProgress));
    fs::remove_file(home.target()).unwrap();
    let other = Server::start(vec![Site { body: wrong_rows(), ..site("/a", vec![]) }]);
    let error = home.cache().ensure_dataset_files(&unknown(&[other.url("/a")]), &SilentProgress).unwrap_err();
    assert!(error.to_string().contains(SHA) && error.to_string().contains(WRONG_SHA), "{error}");
    assert!(!home.target().exists());
}

/// Without a digest nothing would show that two halves do not fit, so no download is gone on with.
#[test]
fn an_unknown_digest_is_never_resumed() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![Answer::Cut(100_000)])]));
    home.assert_right(&home.cache().ensure_dataset_files(&unknown(&[server.url("/a")]), &SilentProgress));
    assert_eq!(server.ranges(), [None, None]);
}

#[test]
fn an_unknown_file_that_nobody_recorded_is_unlocked() {
    let home = Home::new();
    home.put(&home.target(), &rows());
    let dataset = unknown(&[]);
    assert!(matches!(home.cache().verify(&dataset).unwrap()[0].outcome, FileCheckOutcome::Unlocked { .. }));
    home.cache().ensure_dataset_files(&dataset, &SilentProgress).unwrap();
    assert_eq!(home.cache().verify(&dataset).unwrap()[0].outcome, FileCheckOutcome::Right);
}

/// Of two processes that bring different files at once, the first to record wins.
#[test]
fn the_first_record_stands() {
    let home = Home::new();
    let stamp = |digest: &str| FileChecksum { digest: digest.parse().unwrap(), bytes: 1 };
    let (first, second) = (stamp(SHA), stamp(WRONG_SHA));
    assert_eq!(DatasetLockFile::record_first_checksum(&home.directory(), "a", first).unwrap(), first);
    assert_eq!(DatasetLockFile::record_first_checksum(&home.directory(), "a", second).unwrap(), first);
    assert_eq!(DatasetLockFile::record_first_checksum(&home.directory(), "b", second).unwrap(), second);
    assert_eq!(DatasetLockFile::read(&home.directory()).unwrap().get("a"), Some(first));
}

#[test]
fn a_spoilt_lock_file_is_named() {
    let home = Home::new();
    home.put(&home.directory().join("datasets.lock.toml"), b"[file.x]\nsha256 = \"no\"\nbytes = 1\n");
    let error = home.cache().ensure_dataset_files(&unknown(&[]), &SilentProgress).unwrap_err();
    assert!(error.to_string().contains("datasets.lock.toml") && error.to_string().contains("64 hex"), "{error}");
    assert_eq!(error.exit_code(), 5);
}

#[test]
fn many_at_once_get_the_right_file() {
    let (home, server) = (Home::new(), Server::start(vec![site("/a", vec![Answer::Cut(100_000)])]));
    std::thread::scope(|scope| {
        let fetchers: Vec<_> = (0..8).map(|_| scope.spawn(|| home.fetch(&server))).collect();
        for fetcher in fetchers {
            fetcher.join().unwrap().unwrap();
        }
    });
    home.assert_right(&home.fetch(&server));
    assert_eq!(server.ranges(), [None, range(100_000)], "one downloads, the others wait for it");
}
