//! Sentences of certificates of earlier versions, and their present wording.
//!
//! A check compares the sentences of a certificate with those that follow from its guarantee. Published
//! certificates keep their old sentences, so these are translated before the comparison. The digest is
//! computed from the file as it is.

use serde_json::Value;

/// A part of a sentence before, and now.
const EARLIER: [(&str, &str); 30] = [
    (", which rows are those of one person (", ", the person of each row ("),
    (", which rows lack an input and are left out,", ", the set of rows dropped because they lack an input,"),
    (
        " points gp_sd is nearly what it is without any row, for the function or for one of a sum: rows are many \
         lengthscales away, or what is released of them tells little, and predictions fall back to the mean of the \
         prior",
        " points, gp_sd is nearly the prior standard deviation (of the function or, for a sum, of one of its terms). \
         The rows are many lengthscales away from these points, or the release carries little information about the \
         rows. Predictions there fall back to the prior mean",
    ),
    (
        "by the lengthscales of the kernel the function hardly changes over the box along ",
        "with these lengthscales, the function hardly changes over the box along ",
    ),
    (
        ": where it does all the same, far more places lie outside of their intervals than these say",
        ": if it does vary there, far more points than stated lie outside their intervals",
    ),
    (
        "standard deviation of the function under the model; public: it depends on inputs and settings alone",
        "standard deviation of the function under the model; public: it depends only on inputs and settings",
    ),
    (
        "what the privacy noise adds to the standard deviation of the posterior, from the noisy sums",
        "standard deviation that the privacy noise adds to the posterior (as a sum of squares), from the noisy sums",
    ),
    (
        "the hyperparameters, the bounds and all other settings of the spec, which are taken as public: chosen by a \
         look at the targets, they leak",
        "the hyperparameters, the bounds and all other settings of the spec, which are assumed to be public: if you \
         chose them by looking at private data, they reveal something about it",
    ),
    ("the points of the grid, which are taken as public", "the points of the grid, which are assumed to be public"),
    (
        "the number of rows of the file, which is taken as public: a record is replaced by another, which filters \
         may keep or drop",
        "the number of rows of the file, which is assumed to be public: neighbours replace one record with another, \
         which filters may keep or drop",
    ),
    (
        "the number of rows of the file, which is taken as public: a record is replaced by another, which filters \
         and missing cells may keep or drop",
        "the number of rows of the file, which is assumed to be public: neighbours replace one record with another, \
         which may be kept, or dropped by filters or for missing cells",
    ),
    (
        " and the columns that rows are filtered by, which are taken as public",
        " and the columns that rows are filtered by, which are assumed to be public",
    ),
    (
        "what several rows of one person tell together: one row is protected, and `data.person` of a spec names the \
         column that says whose rows they are",
        "several rows of one person together: the guarantee is about one row (to protect persons, set `data.person` \
         in the spec to the column that identifies them)",
    ),
    ("a person who stands under several names in the column ", "a person with several names in the column "),
    (": each name is protected as a person of its own", ": each name is protected as a separate person"),
    (
        "other releases about the same data: this one was made without a ledger (--no-ledger), so that nothing \
         counts them, and they add up",
        "other releases about the same data: this one was made without a ledger (--no-ledger), so nothing adds up \
         their privacy losses",
    ),
    (
        "Intervals follow from the kernel and from the waves that were released: whether the function varies faster \
         than those, the release cannot tell; where it does, more places lie outside of their intervals than these \
         say",
        "Intervals rely on the kernel and on the released sums. The release cannot show whether the function varies \
         faster than these sums can resolve. If it does, more points than stated lie outside their intervals",
    ),
    (
        "on the released waves. The release cannot show whether the function varies faster than these waves.",
        "on the released sums. The release cannot show whether the function varies faster than these sums can \
         resolve.",
    ),
    (" as it is has such a delta", " unchanged has such a delta"),
    (": what somebody believes of what it hides may become e^", ": the protected data can make any conclusion e^"),
    (
        " times as likely by this release, which hides hardly anything",
        " times as likely, so this release hides hardly anything",
    ),
    ("the design is certified to lie within ", "the noise design is only certified to lie within "),
    (
        " of the best one only (relative; nats for log-det): it holds what it claims, with more noise than may be \
         needed; a larger rank_tolerance, like 1e-8, leaves out directions that rounding hides",
        " of the best one (relative; nats for log-det). The guarantee holds, but the noise may be larger than \
         needed. A larger rank_tolerance, such as 1e-8, omits directions that rounding hides",
    ),
    (
        " points too little is known: gp_sd and noise_sd together leave more than half of the variance over the \
         points. Noise hides the function, or no rows lie there, or the model is far off: are the ends of the map \
         those of these inputs, in their order, and are the lengthscales and the noise variance about right?",
        " points, too little is known: gp_sd and noise_sd together leave more than half of the variance across the \
         points unexplained. Noise hides the function, no rows lie there, or the model is wrong. Check the ends of \
         the map, the order of the inputs, the lengthscales and the noise variance",
    ),
    (
        "round(N(0, sd^2)) on each of the whole numbers that are released, rounded exactly, from the randomness of \
         the operating system; no floating-point number meets private data before it has its noise",
        "round(N(0, sd^2)) on each released whole number, rounded exactly, with randomness from the operating \
         system; no floating-point number meets private data before the noise is added",
    ),
    (
        "gp_sd and noise_sd together leave more than half of the variance over the points.",
        "gp_sd and noise_sd together leave more than half of the variance across the points unexplained.",
    ),
    (
        " points, gp_sd is nearly that of the prior (of the function, or of one term of a sum). Rows are many \
         lengthscales away, or the release carries little information about them. Predictions fall back to the prior \
         mean",
        " points, gp_sd is nearly the prior standard deviation (of the function or, for a sum, of one of its terms). \
         The rows are many lengthscales away from these points, or the release carries little information about the \
         rows. Predictions there fall back to the prior mean",
    ),
    (
        "two sets of values for the targets of one person, each at most ",
        "two sets of values for one person's targets, with the two values of each target at most ",
    ),
    (", which rows belong to one person (", ", the person of each row ("),
    (", which rows were dropped because they lack an input,", ", the set of rows dropped because they lack an input,"),
];

/// Rewrites the sentences of an earlier version in a certificate in the present wording.
pub(super) fn in_current_wording(certificate: &Value) -> Value {
    match certificate {
        Value::String(text) => Value::String(replace_earlier_wording(text)),
        Value::Array(list) => list.iter().map(in_current_wording).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), in_current_wording(value))).collect(),
        other => other.clone(),
    }
}

fn replace_earlier_wording(text: &str) -> String {
    EARLIER.iter().fold(text.to_owned(), |text, (before, now)| text.replace(before, now))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A sentence of today holds no part of an earlier one, so that rewording changes nothing in it.
    #[test]
    fn sentences_of_today_stay() {
        for (before, now) in EARLIER {
            assert_eq!(replace_earlier_wording(before), now);
            assert_eq!(replace_earlier_wording(now), now);
        }
    }

    #[test]
    fn sentences_are_reworded_wherever_they_stand() {
        let before = json!({ "not_covered": ["the points of the grid, which are taken as public"], "mu": 0.5 });
        let now = json!({ "not_covered": ["the points of the grid, which are assumed to be public"], "mu": 0.5 });
        assert_eq!(in_current_wording(&before), now);
    }
}
