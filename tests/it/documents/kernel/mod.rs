//! The kernel that the page on extensions adds is compiled as it is printed, and has the values that the page states.

mod quadratic;

use nalgebra::DMatrix;

use crate::support::shipped::shipped;
use dpgp_gp::kernel::{Kernel, SpecKernel};
use quadratic::Quadratic;

#[test]
fn the_page_prints_the_file() {
    let file = shipped("tests/it/documents/kernel/quadratic.rs");
    assert!(shipped("docs/extend.md").contains(&format!("```rust,ignore\n{file}```")));
}

#[test]
fn the_kernel_is_read_and_has_its_values() {
    let table: Quadratic = toml::from_str("variance = 2.0\nlengthscale = 2.0").unwrap();
    let kernel = table.build_kernel(&DMatrix::zeros(0, 2));
    let (zero, place) = ([0.0, 0.0], [1.0, -2.0]);
    let values = [kernel.value(&zero, &place), kernel.variance(&place)];
    assert_eq!(values, [2.0, 10.125]);
    let printed = "assert_eq!(values(\"quadratic = { variance = 2.0, lengthscale = 2.0 }\"), [2.0, 10.125]);";
    assert!(shipped("docs/extend.md").contains(printed));
    let wrong = toml::from_str::<Quadratic>("variance = 2.0\nlengthscale = -0.5").unwrap_err();
    assert!(wrong.message().contains("must be greater than 0 and finite, found -0.5"));
    let example = toml::from_str::<toml::Table>(&format!("kernel = {}", Quadratic::EXAMPLE)).unwrap();
    assert!(example["kernel"].clone().try_into::<Quadratic>().is_ok());
}
