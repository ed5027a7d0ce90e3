//! `dpgp predict --from`: predictions from released moments, at no further cost.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::counted::counted;
use super::map_file::NewMap;
use super::options::Format;
use super::output::{complain, print, print_json};
use dpgp_data::whole_text;
use dpgp_gp::kernel::KernelSetting;
use dpgp_number::Positive;
use dpgp_release::{MomentsFile, OtherModel, PublicPoints, ReleaseStatement, write_predictions};

/// The options of predictions from a file.
#[derive(Debug, Args)]
pub struct FromArguments {
    /// Predict from moments that `dpgp stats --release` wrote, instead of rows: nothing is released, and nothing charged
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["spec", "weights", "cell", "preview", "sign", "ledger", "no_ledger",
        "budget_epsilon", "other_people", "allow_caveats", "for_holder"])]
    pub from: Option<PathBuf>,
    /// With --from: another kernel, as a line of a spec
    #[arg(long, value_name = "KERNEL", requires = "from", value_parser = kernel)]
    kernel: Option<KernelSetting>,
    /// With --from: another noise variance, in squared units of the normalised target
    #[arg(long, value_name = "VARIANCE", requires = "from", value_parser = positive)]
    noise_variance: Option<Positive>,
}

impl FromArguments {
    /// Predicts at public points.
    pub fn predict(
        &self,
        from: &Path,
        at: PublicPoints<'_>,
        out: Option<&Path>,
        map: Option<NewMap>,
        format: Format,
    ) -> Result<(), CliError> {
        let file = MomentsFile::read(from)?;
        let guarantee = file.guarantee().to_owned();
        let other = OtherModel { kernel: self.kernel.clone(), noise_variance: self.noise_variance };
        let predictions = file.predict(at, other)?;
        predictions.warnings().iter().for_each(|warning| complain(&format!("warning: {warning}")));
        if let Some(out) = out {
            write_predictions(out, &predictions)?;
        }
        if let Some(map) = map {
            map.write_csv(&predictions.csv()?, statement(from)?)?;
        }
        match (out, format) {
            (Some(out), Format::Json) => print_json(&json!({ "written": out, "guarantee": guarantee })),
            (None, Format::Json) => {
                print_json(&json!({ "guarantee": guarantee, "predictions": predictions.json() }))
            }
            (Some(out), Format::Text) => print(&format!(
                "predictions at {}, written to {}\nnothing was released: they follow from {}, whose guarantee covers them: {guarantee}\n",
                counted(predictions.points(), "point", "points"),
                out.display(),
                from.display()
            )),
            (None, Format::Text) => print(&predictions.csv().map_err(dpgp_release::ReleaseError::from)?),
        }
    }
}

/// What is guaranteed of the file, and so of all that follows from it.
fn statement(from: &Path) -> Result<ReleaseStatement, CliError> {
    let text = whole_text(from).map_err(CliError::io(from))?;
    Ok(ReleaseStatement::of(from, &text, None)?)
}

fn kernel(text: &str) -> Result<KernelSetting, String> {
    toml::from_str(text).map_err(|error| error.message().to_owned())
}

fn positive(text: &str) -> Result<Positive, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Positive::new(number).map_err(|error| error.to_string())
}
