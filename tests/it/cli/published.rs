//! Numbers that others published with noise of a known variance.

use dpgp::number::Positive;
use dpgp::privacy::RoundedGaussian;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::support::cli::{Project, Run};
use crate::support::shipped::root;

const OPTIONS: [&str; 7] = ["predict", "--from", "n.csv", "--inputs", "age", "--target", "count"];

fn predict(project: &Project, more: &[&str]) -> Run {
    project.dpgp(&[&OPTIONS[..], more].concat())
}

/// Columns of a table by their names.
fn columns<const N: usize>(table: &str, names: [&str; N]) -> Vec<[f64; N]> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let places = names.map(|name| headings.iter().position(|heading| heading == name).unwrap());
    reader.records().map(|row| row.map(|row| places.map(|place| row[place].parse().unwrap())).unwrap()).collect()
}

/// Residents by year of age, with noise as large as the counts differ: the estimates err by far less, and their intervals hold.
#[test]
fn ages_are_estimated_from_noisy_counts() {
    let exact = std::fs::read_to_string(root().join("data/census2011/ages_E00172420.csv")).unwrap();
    let exact: Vec<f64> = columns(&exact, ["count"]).iter().map(|[count]| *count).collect();
    let law = RoundedGaussian::new(Positive::new(5.0).unwrap()).unwrap();
    let (mut squares, mut noises, mut covered, mut all) = (0.0, 0.0, 0.0, 0.0);
    for seed in 0..8 {
        let whole: Vec<i128> = exact.iter().map(|count| *count as i128).collect();
        let noisy = law.add_noise(&whole, &mut Pcg64::seed_from_u64(seed));
        let rows = noisy.iter().enumerate().map(|(age, count)| format!("{age},{count},25\n"));
        let project = Project::new();
        project.write("n.csv", &format!("age,count,v\n{}", rows.collect::<String>()));
        let noise = if seed % 2 == 0 { "discrete-gaussian=5" } else { "variance=v" };
        let table = predict(&project, &["--noise", noise, "--grid", "auto"]).expect(0).out;
        let found = columns(&table, ["private_mean", "gp_sd", "noise_sd"]);
        for (([mean, model, noise], exact), noisy) in found.into_iter().zip(&exact).zip(&noisy) {
            squares += (mean - exact).powi(2);
            noises += (*noisy as f64 - exact).powi(2);
            covered += f64::from((mean - exact).abs() <= 1.645 * model.hypot(noise));
            all += 1.0;
        }
    }
    let ratio = f64::sqrt(squares / noises);
    assert!(ratio <= 0.7, "the estimates err by {ratio} of the noise");
    assert!((0.87..=0.94).contains(&(covered / all)), "{} of 90 % intervals hold", covered / all);
}

/// Only what is published is read, and the map says whose guarantee covers it.
#[test]
fn estimates_between_published_numbers() {
    let project = Project::new();
    project.write("n.csv", "age,count,sd\n0,10,1\n10,20,1\n20,31,1\n30,39,1\n40,52,9\n");
    let run = predict(&project, &["--noise", "sd=sd", "--grid", "age=0..40:9", "--out", "p.csv", "--map", "p.html"])
        .expect(0);
    assert!(run.out.contains("whose guarantee covers them: the guarantee of the publisher"), "{}", run.out);
    assert!(!project.path("p.csv.certificate.json").exists());
    let [mean] = columns(&project.read("p.csv"), ["private_mean"])[3];
    assert!((22.0..29.0).contains(&mean), "{mean} at 15");
    let page = project.read("p.html");
    assert!(page.contains("Computed only from published numbers with noise"), "no statement on the map");

    for (more, says) in [
        (&["--noise", "uniform=1"][..], "expected gaussian=SD"),
        (&["--noise", "laplace=0"], "must be greater than 0"),
        (&["--noise", "sd=spread"], "there is no column \"spread\""),
        (&["--noise", "sd=age"], "is named twice"),
        (
            &["--noise", "gaussian=1", "--kernel", "eq-ard = { variance = 1.0, lengthscales = [1.0, 2.0] }"],
            "the kernel has",
        ),
    ] {
        let said = predict(&project, &[more, &["--grid", "auto"]].concat()).expect(2).err;
        assert!(said.contains(says), "{said}");
    }
    project.write("n.csv", "age,count,sd\n0,10,-1\n");
    let said = predict(&project, &["--noise", "sd=sd", "--grid", "auto"]).expect(2).err;
    assert!(said.contains("n.csv: row 1 has a negative noise variance or sd"), "{said}");
    let without = project.dpgp(&["predict", "--from", "n.csv", "--grid", "auto"]).expect(2).err;
    assert!(without.contains("add --inputs, --target and --noise"), "{without}");
    project.write("n.csv", &format!("age,count\n{}", (0..2_001).map(|i| format!("{i},1\n")).collect::<String>()));
    let said = predict(&project, &["--noise", "gaussian=1", "--grid", "auto"]).expect(2).err;
    assert!(said.contains("it has 2001 rows; at most 2000 can be used"), "{said}");
}

/// Released predictions are smooth, and none of their noise is independent: they are no release to predict from, nor numbers with noise.
#[test]
fn predictions_are_no_release() {
    let project = Project::empty();
    project.write("p.csv", "x,private_mean,noise_sd\n1,2,0.5\n2,3,0.5\n");
    project.write("p.csv.certificate.json", "{}");
    for line in [
        "predict --from p.csv --grid x=1.5",
        "predict --from p.csv --grid x=1.5 --inputs x --target private_mean --noise sd=noise_sd",
        "predict --from p.csv.certificate.json --grid x=1.5",
    ] {
        let run = project.dpgp(&line.split(' ').collect::<Vec<_>>()).expect(2);
        assert!(run.err.contains("holds predictions at fixed points"), "{line}: {}", run.err);
    }
}
