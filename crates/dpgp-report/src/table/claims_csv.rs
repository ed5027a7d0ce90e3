//! `claims.csv`: every claim with its outcome.

use super::claims::ClaimOutcome;
use dpgp_data::csv_cell;

/// The claims of an experiment as CSV text, a row each: whose statement it is, where the paper says it, its sentence, the statement in
/// words, the outcome, the pair of numbers that decides with the standard error of their difference, and the cell of the first.
///
/// # Errors
/// The CSV writer's error; none is expected when writing to memory.
pub fn claims_csv(claims: &[ClaimOutcome]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for claim in claims {
        writer.serialize(neutral(claim))?;
    }
    let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The texts as cells of CSV.
fn neutral(claim: &ClaimOutcome) -> ClaimOutcome {
    let [place, quote, text, at] =
        [&claim.place, &claim.quote, &claim.text, &claim.at].map(|text| csv_cell(text).into_owned());
    ClaimOutcome { place, quote, text, at, ..claim.clone() }
}

/// Reads them back, as cells.
///
/// # Errors
/// The CSV reader's error if the text is no such table.
pub fn read_claims(text: &str) -> Result<Vec<ClaimOutcome>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::claims::Outcome;
    use dpgp_spec::ClaimOwner;

    #[test]
    fn claims_are_read_back_as_they_were() {
        let claim = ClaimOutcome {
            from: ClaimOwner::Paper,
            place: "Section 4, Table 1".to_owned(),
            quote: "a \"sentence\", with commas".to_owned(),
            text: "a is below b".to_owned(),
            outcome: Outcome::Undecided,
            left: Some(0.1 + 0.2),
            right: Some(1e-300),
            error: None,
            at: "epsilon = 1".to_owned(),
        };
        let text = claims_csv(std::slice::from_ref(&claim)).unwrap();
        assert!(text.starts_with("from,place,quote,text,outcome,left,right,error,at\n"));
        assert_eq!(read_claims(&text).unwrap(), [claim]);
    }
}
