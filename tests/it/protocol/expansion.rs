//! The expansion of `$(NAME)` over the protocol: the examples of the design.

use super::examples;

#[test]
fn the_examples_of_the_design_equal_the_commands() {
    let compared = examples::check("expansion");
    assert!(compared.examples >= 10 && compared.findings >= 20 && compared.containers >= 10, "{compared:?}");
    assert!(compared.unresolved >= 15, "{compared:?}");
}
