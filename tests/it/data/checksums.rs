//! Parquet files of other programs, whose pages and notes say more than the values.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dpgp::data::{ColumnKind, Table, describe_columns};

/// By pyarrow: x = 1, 2, 3, 4 and y = 10, 20, 30, 40, each page with its CRC-32; plain pages of version 1.
const PLAIN: &str = "UEFSMRUAFUwVTBWbxYWxDxwVCBUAFQYVBhwAAAACAAAACAEAAAAAAADwPwAAAAAAAABAAAAAAAAACEAAAAAAAAAQQBUAFUwVTBW13oj/AxwVCB\
    UAFQYVBhwAAAACAAAACAEAAAAAAAAkQAAAAAAAADRAAAAAAAAAPkAAAAAAAABEQBUEGTw1ABgGc2NoZW1hFQQAFQolAhgBeAAVCiUCGAF5ABYI\
    GRwZLCYAHBUKGSUGABkYAXgVABYIFn4WfiYISRwVABUAFQIAPCkGGSYACAAAACYAHBUKGSUGABkYAXkVABYIFn4WfiaGAUkcFQAVABUCADwpBh\
    kmAAgAAAAW/AEWCCYIFvwBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZLBwAABwAAACyAAAAUEFSMQ==";
/// The same with dictionaries, Snappy and pages of version 2.
const SNAPPY: &str = "UEFSMRUEFUAVPBXO3/O6CTwVCBUAEgAAIAAABQEE8D8FB0gAAEAAAAAAAAAIQAAAAAAAABBAFQYVDBUMFffWndUBTBUIFQAVCBUQFQQVABIcAA\
    AACAECA+QAFQQVQBU0FZLiy48HPBUIFQASAAAgAAAFAQQkQAUHBAA0DQgkPkAAAAAAAABEQBUGFQwVDBX31p3VAUwVCBUAFQgVEBUEFQASHAAA\
    AAgBAgPkABUEGTw1ABgGc2NoZW1hFQQAFQolAhgBeAAVCiUCGAF5ABYIGRwZLCYIHBUKGTUABhAZGAF4FQIWCBawARasASZsJggpLBUEFQAVAg\
    AVABUQFQIAPCkGGSYACAAAACYAHBUKGTUABhAZGAF5FQIWCBawARakASaQAia0ASksFQQVABUCABUAFRAVAgA8KQYZJgAIAAAAFuACFggmCBbQ\
    AgAoIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNpb24gMjYuMC4xGSwcAAAcAAAAywAAAFBBUjE=";
/// Where in these files the contents of pages stand, of which the CRC is: found in Python, by `zlib.crc32` and the lengths in the headers.
const PLAIN_BODIES: [Range<usize>; 2] = [29..67, 92..130];
const SNAPPY_BODIES: [Range<usize>; 4] = [24..54, 84..90, 110..136, 166..172];

/// By pyarrow: x = 1, 2 as numbers, trip = 6 s, 7 s as spans of time, which Parquet calls INT64.
const SPANS: &str = "UEFSMRUAFSwVLCwVBBUAFQYVBhwAAAACAAAABAEAAAAAAADwPwAAAAAAAABAFQAVLBUsLBUEFQAVBhUGHAAAAAIAAAAEAQYAAAAAAAAABwAAAA\
    AAAAAVBBk8NQAYBnNjaGVtYRUEABUKJQIYAXgAFQQlAhgEdHJpcAAWBBkcGSwmABwVChklBgAZGAF4FQAWBBZSFlImCEkcFQAVABUCADwpBhkm\
    AAQAAAAmABwVBBklBgAZGAR0cmlwFQAWBBZSFlImWkkcFQAVABUCADwpBhkmAAQAAAAWpAEWBCYIFqQBABkcGAxBUlJPVzpzY2hlbWEY4AEvLy\
    8vLzZBQUFBQVFBQUFBQUFBS0FBd0FCZ0FGQUFnQUNnQUFBQUFCQkFBTUFBQUFDQUFJQUFBQUJBQUlBQUFBQkFBQUFBSUFBQUJFQUFBQUJBQUFB\
    TlQvLy84QUFBRVNFQUFBQUJnQUFBQUVBQUFBQUFBQUFBUUFBQUIwY21sd0FBQUFBTXIvLy84QUFBQUFFQUFVQUFnQUJnQUhBQXdBQUFBUUFCQU\
    FBQUFBQUFFREVBQUFBQmdBQUFBRUFBQUFBQUFBQUFFQUFBQjRBQVlBQ0FBR0FBWUFBQUFBQUFJQQAYIHBhcnF1ZXQtY3BwLWFycm93IHZlcnNp\
    b24gMjYuMC4xGSwcAAAcAAAAqwEAAFBBUjE=";

/// What is read of a file with these bytes; none for an error.
fn read(bytes: &[u8]) -> Option<[Vec<f64>; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    std::fs::write(&path, bytes).unwrap();
    let table = Table::read_parquet(&path, &["x", "y"]).ok()?;
    Some([table.numeric_column("x").ok()?, table.numeric_column("y").ok()?])
}

/// One bit of a page makes another number, or another row of a dictionary: the CRC of the page tells.
#[test]
fn a_page_that_does_not_have_its_checksum_is_refused() {
    for (text, bodies) in [(PLAIN, &PLAIN_BODIES[..]), (SNAPPY, &SNAPPY_BODIES)] {
        let good = STANDARD.decode(text).unwrap();
        let values = [vec![1.0, 2.0, 3.0, 4.0], vec![10.0, 20.0, 30.0, 40.0]];
        assert_eq!(read(&good), Some(values.clone()));
        for place in bodies.iter().cloned().flatten() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[place] ^= 1 << bit;
                assert_eq!(read(&bad), None, "byte {place}, bit {bit}");
            }
        }
    }
}

#[test]
fn spans_of_time_are_no_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    std::fs::write(&path, STANDARD.decode(SPANS).unwrap()).unwrap();
    let kinds: Vec<_> = describe_columns(&path).unwrap().into_iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnKind::Numbers, ColumnKind::Times]);
    let error = Table::read_parquet(&path, &["trip"]).unwrap_err().to_string();
    assert!(error.contains("\"trip\" holds dates or times (INT64 (DURATION))"), "{error}");
    assert!(Table::read_parquet(&path, &["x"]).is_ok());
}
