//! Compares every formula with a table of values from outside the project, where one is at hand.

use super::formulas::{
    cold_start_probability, erlang_a, erlang_b, erlang_c, mean_in_infinite_server,
    mean_wait_single_server, patience_of_fixed_length, queue_of_bounded_length,
    sojourn_quantile_mm1,
};

/// The number after `name=` in a list of parameters such as `c=10 rho=0.5`.
fn parameter(parameters: &str, name: &str) -> f64 {
    let start = parameters
        .match_indices(name)
        .find(|(at, _)| *at == 0 || !parameters.as_bytes()[at - 1].is_ascii_alphanumeric())
        .unwrap_or_else(|| panic!("no {name} in {parameters}"))
        .0
        + name.len();
    let rest = &parameters[start..];
    let end =
        rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().unwrap_or_else(|_| panic!("{name} in {parameters}"))
}

fn value(model: &str, parameters: &str, quantity: &str) -> Option<f64> {
    let number = |name: &str| parameter(parameters, name);
    Some(match model {
        "M/M/c" => {
            let c = number("c=");
            let exact = erlang_c(c as u32, number("rho=") * c, 1.0).ok()?;
            match quantity {
                "P(W>0)" => exact.wait_probability,
                "E[Wq]" => exact.mean_wait_seconds,
                "E[Lq]" => exact.mean_queue,
                "Var[Wq]" => exact.wait_variance,
                "Wq p99" => exact.wait_quantile_seconds(0.99),
                _ => return None,
            }
        }
        "M/M/c/c" => erlang_b(number("c=") as u32, number("a=")).ok()?,
        "M/M/c/K" => {
            let (c, most) = (number("c=") as u32, number("K=") as u32);
            let exact = queue_of_bounded_length(c, most, number("lam="), 1.0).ok()?;
            match quantity {
                "P(block)" => exact.block_probability,
                "E[Lq]" => exact.mean_queue,
                "E[Wq|accepted]" => exact.mean_wait_accepted_seconds,
                _ => return None,
            }
        }
        "M/D/1" if quantity == "P(W=0)" => 1.0 - number("rho="),
        "M/D/1" => mean_wait_single_server(number("rho="), 1.0, 0.0).ok()?,
        "M/G/1 lognormal" => mean_wait_single_server(number("rho="), 1.0, number("cv=")).ok()?,
        "M/E_k/1" => {
            mean_wait_single_server(number("rho="), 1.0, number("k=").sqrt().recip()).ok()?
        }
        "M/M/c+D" => {
            let (c, service) = (number("c=") as u32, number("1/mu="));
            let exact =
                patience_of_fixed_length(c, number("lam="), service, number("tau=")).ok()?;
            match quantity {
                "P(V>0)" => exact.wait_probability,
                "P(abandon)" => exact.abandon_probability,
                "E[W|served]" => exact.mean_wait_served_seconds,
                "E[min(V,tau)]" => exact.mean_time_in_queue_seconds,
                "E[Lq]" => exact.mean_queue,
                "utilisation" => exact.utilisation,
                _ => return None,
            }
        }
        "M/M/c+M (Erlang-A)" => {
            let (c, service) = (number("c=") as u32, number("1/mu="));
            let exact = erlang_a(c, number("lam="), service, number("mean patience=")).ok()?;
            match quantity {
                "P(W>0)" => exact.wait_probability,
                "P(abandon)" => exact.abandon_probability,
                "E[Wq]" => exact.mean_wait_seconds,
                "E[Lq]" => exact.mean_queue,
                _ => return None,
            }
        }
        "M/G/inf" => mean_in_infinite_server(number("lam="), number("E[S]=")).ok()?,
        "M/M/1" => sojourn_quantile_mm1(number("rho="), 1.0, 0.99).ok()?,
        "warm-hit TTL" => cold_start_probability(number("TTL="), number("mean ")).ok()?,
        _ => return None,
    })
}

#[test]
fn every_value_of_an_outside_table() {
    let Some(path) = std::env::var_os("SANDPOOL_ORACLES") else {
        println!("skipped, not verified: SANDPOOL_ORACLES names no table");
        return;
    };
    let mut table = match csv::Reader::from_path(&path) {
        Ok(table) => table,
        Err(error) => panic!("SANDPOOL_ORACLES is set but cannot be read: {error}"),
    };
    let mut compared = 0;
    for row in table.records() {
        let row = row.expect("a row of the table");
        let (model, parameters, quantity) = (&row[0], &row[1], &row[2]);
        let expected: f64 = row[3].parse().expect("a number");
        let found = value(model, parameters, quantity)
            .unwrap_or_else(|| panic!("no formula for {model}, {parameters}, {quantity}"));
        // The table has ten digits.
        let error = (found - expected).abs();
        assert!(
            error <= 6e-10 * expected.abs(),
            "{model}, {parameters}, {quantity}: {found} for {expected}"
        );
        compared += 1;
    }
    assert!(compared >= 1, "an empty table verifies nothing");
    println!("{compared} values agree");
}
