//! `dpgp new --data` with the columns that the user names.

use crate::support::cli::Project;

/// Three columns of numbers before the target, one behind it, and one of words.
fn project() -> Project {
    let project = Project::empty();
    project.write("trips.csv", "lon,lat,hour,minutes,weekday,bike\n1,2,3,4,5,red\n2,3,4,5,6,blue\n");
    project
}

/// The spec that is written.
fn spec(project: &Project, arguments: &[&str]) -> String {
    project.remove("study.toml");
    project.dpgp(&[&["new", "study", "--data", "trips.csv"], arguments].concat()).expect(0);
    project.read("study.toml")
}

#[test]
fn named_columns_are_taken_and_what_is_chosen_is_said() {
    let project = project();
    let all = spec(&project, &[]);
    assert!(all.contains("inputs = [\"lon\", \"lat\", \"hour\", \"minutes\"]\ntarget = \"weekday\"\n"), "{all}");
    assert!(all.contains("# Chosen by default: the last numeric column as the target, the others"), "{all}");
    let target = spec(&project, &["--target", "minutes"]);
    assert!(target.contains("inputs = [\"lon\", \"lat\", \"hour\", \"weekday\"]\ntarget = \"minutes\"\n"), "{target}");
    assert!(target.contains("# Chosen by default: all other numeric columns as the inputs"), "{target}");
    let inputs = spec(&project, &["--inputs", "weekday,lon"]);
    assert!(inputs.contains("inputs = [\"weekday\", \"lon\"]\ntarget = \"minutes\"\n"), "{inputs}");
    assert!(inputs.contains("# Chosen by default: the last numeric column that is not an input"), "{inputs}");
    let both = spec(&project, &["--target", "minutes", "--inputs", "lat,lon"]);
    assert!(both.contains("inputs = [\"lat\", \"lon\"]\ntarget = \"minutes\"\n"), "{both}");
    assert!(!both.contains("by default") && both.contains("Unused numeric columns: \"hour\", \"weekday\"."), "{both}");
}

/// Identifiers are no inputs by default.
#[test]
fn identifiers_are_not_inputs_by_default() {
    let project = Project::empty();
    project.write("visits.csv", "patient_id,age,bmi,systolic\n1,40,22,120\n1,40,23,130\n2,50,24,140\n");
    let new = |more: &[&str]| {
        project.remove("study.toml");
        project.dpgp(&[&["new", "study", "--data", "visits.csv"], more].concat()).expect(0).out
    };
    let told = new(&[]);
    assert!(told.contains("target \"systolic\", predicted from \"age\", \"bmi\" ("), "{told}");
    assert!(told.contains("\"patient_id\" looks like an identifier, so it is not used"), "{told}");
    assert!(told.contains("use --person patient_id --rows-per-person N"), "{told}");
    new(&["--inputs", "patient_id,age"]);
    assert!(project.read("study.toml").contains("inputs = [\"patient_id\", \"age\"]"));
    let told = new(&["--person", "patient_id", "--rows-per-person", "2"]);
    assert!(!told.contains("looks like an identifier"), "{told}");
    project.write("visits.csv", "age,bmi,TOTAL_PAID\n40,22,120\n40,23,130\n50,24,140\n");
    assert!(new(&[]).contains("target \"TOTAL_PAID\", predicted from \"age\", \"bmi\""));
    // Dates have no categories.
    project.write("visits.csv", "visited,age,cost\n2026-01-31,40,120\n2026-02-01,41,130\n");
    assert!(new(&[]).contains("column \"visited\": in line 2 the cell is a date or a time; use a number of days"));
    assert!(!project.read("study.toml").contains("encode"));
    let refused = project.dpgp(&["new", "dates", "--data", "visits.csv", "--inputs", "visited"]).expect(2).err;
    assert!(refused.contains("a date or a time") && !refused.contains("categor"), "{refused}");
    // Where nothing else is left, it is used.
    project.write("visits.csv", "CustomerId,cost\n1,40\n3,50\n");
    assert!(new(&[]).contains("target \"cost\", predicted from \"CustomerId\""));
}

/// Whole records of five inputs get a function of each; of two that are named, one of both, with a lengthscale for each. With public
/// inputs three are many.
#[test]
fn the_kernel_suits_the_inputs_that_are_named() {
    let project = Project::empty();
    project.write("trips.csv", "a,b,c,d,e,y\n1,2,3,4,5,6\n");
    let all = spec(&project, &["--private-inputs"]);
    assert!(all.contains("[model.kernel.additive]"), "{all}");
    let two = spec(&project, &["--private-inputs", "--inputs", "b,d"]);
    assert!(two.contains("[model.kernel.matern]\nsmoothness = \"3/2\"") && !two.contains("additive"), "{two}");
    assert_eq!(two.matches("    nan,   # \"").count(), 2, "{two}");
    let one = spec(&project, &["--private-inputs", "--inputs", "d"]);
    assert!(one.contains("[model.kernel.matern]\n") && one.contains("    nan,   # \"d\""), "{one}");
    let one = spec(&project, &["--inputs", "d"]);
    assert!(one.contains("[model.kernel.eq]\n") && one.contains("\nlengthscale = nan"), "{one}");
    let three = spec(&project, &["--inputs", "a,b,c"]);
    assert!(three.contains("[model.kernel.additive]") && three.contains("example ((high - low) / 4)^2 / 3"), "{three}");
    let public = spec(&project, &["--inputs", "b,d"]);
    assert!(public.contains("[model.kernel.eq-ard]\n") && !public.contains("additive"), "{public}");
}

#[test]
fn columns_that_cannot_be_taken_are_refused_with_those_that_can() {
    let project = project();
    let numbers = "numeric columns: \"lon\", \"lat\", \"hour\", \"minutes\", \"weekday\"; text columns: \"bike\"";
    for (arguments, message) in [
        (&["--target", "minuts"][..], "no column \"minuts\" (did you mean \"minutes\"?)"),
        (&["--inputs", "lat,zebra"], "no column \"zebra\";"),
        (&["--inputs", "bike"], "the column \"bike\" is not numeric"),
        (&["--target", "bike"], "the column \"bike\" is not numeric"),
    ] {
        let run = project.dpgp(&[&["new", "--data", "trips.csv"], arguments].concat()).expect(2);
        assert!(run.err.contains(message) && run.err.contains(numbers), "{}", run.err);
    }
    for (arguments, message) in [
        (&["--target", "lat", "--inputs", "lat"][..], "\"lat\" is named twice"),
        (&["--inputs", "lat,lat"], "\"lat\" is named twice"),
        (&["--inputs", "lon,lat,hour,minutes,weekday"], "no numeric column is left for the target"),
        (&["--inputs", ""], "a column name is empty"),
    ] {
        let run = project.dpgp(&[&["new", "--data", "trips.csv"], arguments].concat()).expect(2);
        assert!(run.err.contains(message), "{}", run.err);
    }
    project.write("header.csv", "x,y\n");
    let run = project.dpgp(&["new", "--data", "header.csv"]).expect(2);
    assert!(run.err.contains("header.csv has no rows below its header"), "{}", run.err);
    project.dpgp(&["new", "mine", "--target", "a"]).expect(2);
    assert!(!project.path("trips.toml").exists() && !project.path("mine.toml").exists());
    // Columns of a file without a header go by the names that they get.
    project.write("bare.csv", "1,2,3\n4,5,6\n");
    project.dpgp(&["new", "--data", "bare.csv", "--no-header", "--target", "column1"]).expect(0);
    assert!(project.read("bare.toml").contains("inputs = [\"column2\", \"column3\"]\ntarget = \"column1\"\n"));
}

/// A hundred numbers to be filled in are counted, and not listed.
#[test]
fn many_numbers_to_be_filled_in_are_counted() {
    let project = Project::empty();
    let names: Vec<String> = (0..12).map(|number| format!("x{number}")).collect();
    project.write("wide.csv", &format!("{}\n{}\n", names.join(","), ["1"; 12].join(",")));
    project.dpgp(&["new", "--data", "wide.csv"]).expect(0);
    let run = project.dpgp(&["run", "wide.toml"]).expect(2);
    // Two bounds, the noise variance, variance and lengthscale of eleven functions, and the change; the error is about the first of them.
    assert!(run.err.contains("fill in 25 more numbers, from line "), "{}", run.err);
}
