//! Closed forms: what the simulation must come to when everything that it adds is switched off.
//!
//! Notation, as usual: arrivals per second `lambda`, mean service time `1/mu`, servers `c`, offered
//! load `a = lambda/mu`, load per server `rho = a/c`. All times are in seconds. Each function says
//! where its formula comes from; all are arranged so that nothing overflows or cancels, from an
//! empty system to a thousand servers and to several times the load that they can carry.

/// Why a formula has no value.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FormulaError {
    /// A parameter is out of range.
    #[error("{name} is {value}, which is out of range: it must be {needs}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The range.
        needs: &'static str,
    },
    /// More work arrives than the servers can do, and nothing bounds the queue.
    #[error(
        "the load per server is {load}, so the queue grows without end; hint: it must be below 1"
    )]
    Unstable {
        /// The load per server.
        load: f64,
    },
}

/// An M/M/c queue in which everybody waits as long as it takes (Erlang C).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InfinitePatience {
    /// P(W > 0): an arrival has to wait.
    pub wait_probability: f64,
    /// E\[Wq\]: mean wait of all arrivals, seconds.
    pub mean_wait_seconds: f64,
    /// Var\[Wq\], seconds squared.
    pub wait_variance: f64,
    /// E\[Lq\]: mean number waiting.
    pub mean_queue: f64,
    /// Share of the servers' time that is used, 0 to 1.
    pub utilisation: f64,
    /// `c mu - lambda`, per second: how fast the tail of the wait falls.
    decay: f64,
}

impl InfinitePatience {
    /// The `q`-quantile of the wait of all arrivals, seconds: `ln(C / (1-q)) / (c mu - lambda)`,
    /// and 0 where fewer than a share `1-q` wait at all.
    #[must_use]
    pub fn wait_quantile_seconds(&self, q: f64) -> f64 {
        let beyond = 1.0 - q;
        if self.wait_probability <= beyond {
            0.0
        } else {
            (self.wait_probability / beyond).ln() / self.decay
        }
    }
}

/// An M/M/c+D queue: everybody waits at most a fixed time (`sandbox_wait_seconds`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeterministicPatience {
    /// P(V > 0): an arrival has to wait, `V` being the wait that unbounded patience would meet.
    pub wait_probability: f64,
    /// P(V > tau): an arrival leaves without service.
    pub abandon_probability: f64,
    /// E\[W | served\], seconds.
    pub mean_wait_served_seconds: f64,
    /// E\[min(V, tau)\]: mean time in the queue of all arrivals, seconds.
    pub mean_time_in_queue_seconds: f64,
    /// E\[Lq\]: mean number waiting.
    pub mean_queue: f64,
    /// Share of the servers' time that is used, 0 to 1.
    pub utilisation: f64,
}

/// An M/M/c+M queue: patience is exponential (Erlang A, Palm).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialPatience {
    /// P(W > 0): an arrival has to wait.
    pub wait_probability: f64,
    /// An arrival leaves without service.
    pub abandon_probability: f64,
    /// E\[Wq\]: mean time in the queue of all arrivals, the leaving ones included, seconds.
    pub mean_wait_seconds: f64,
    /// E\[Lq\]: mean number waiting.
    pub mean_queue: f64,
    /// Share of the servers' time that is used, 0 to 1.
    pub utilisation: f64,
}

/// An M/M/c/K queue: an arrival that finds `K` in the system is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedQueue {
    /// An arrival is refused.
    pub block_probability: f64,
    /// E\[Lq\]: mean number waiting.
    pub mean_queue: f64,
    /// E\[Wq | accepted\], seconds.
    pub mean_wait_accepted_seconds: f64,
    /// Share of the servers' time that is used, 0 to 1.
    pub utilisation: f64,
}

fn positive(name: &'static str, value: f64) -> Result<f64, FormulaError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(FormulaError::OutOfRange { name, value, needs: "above zero and finite" })
    }
}

fn at_least_one(servers: u32) -> Result<f64, FormulaError> {
    if servers > 0 {
        Ok(f64::from(servers))
    } else {
        Err(FormulaError::OutOfRange { name: "servers", value: 0.0, needs: "at least 1" })
    }
}

/// Blocking probability of `servers` without a queue at the given offered load (M/G/c/c).
///
/// The recursion `B(0) = 1`, `B(k) = a B(k-1) / (k + a B(k-1))` (Cooper, "Introduction to Queueing
/// Theory", 2nd ed., section 3.3), in which every term is positive. Insensitive to the service
/// distribution.
///
/// # Errors
/// When the load is not above zero and finite.
pub fn erlang_b(servers: u32, offered_load: f64) -> Result<f64, FormulaError> {
    positive("offered load", offered_load)?;
    Ok((1..=servers).fold(1.0, |blocking, k| {
        let busy = offered_load * blocking;
        busy / (f64::from(k) + busy)
    }))
}

/// M/M/c with infinite patience.
///
/// `C = B / (1 - rho (1 - B))` from Erlang B; given that an arrival waits, its wait is exponential
/// with rate `c mu - lambda` (Cooper, section 3.4).
///
/// # Errors
/// When a parameter is not above zero and finite, or the load per server is 1 or more.
pub fn erlang_c(
    servers: u32,
    arrivals_per_second: f64,
    mean_service_seconds: f64,
) -> Result<InfinitePatience, FormulaError> {
    let c = at_least_one(servers)?;
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    let load = lambda * service;
    let rho = load / c;
    if rho >= 1.0 {
        return Err(FormulaError::Unstable { load: rho });
    }
    let blocking = erlang_b(servers, load)?;
    let waits = blocking / (1.0 - rho * (1.0 - blocking));
    let decay = c / service - lambda;
    Ok(InfinitePatience {
        wait_probability: waits,
        mean_wait_seconds: waits / decay,
        wait_variance: waits * (2.0 - waits) / (decay * decay),
        mean_queue: lambda * waits / decay,
        utilisation: rho,
        decay,
    })
}

/// M/M/c+D: patience is always `patience_seconds`.
///
/// The virtual wait `V` has an atom at zero and the density `lambda p e^(-(c mu - lambda) x)` up
/// to the patience, after which it falls with `c mu` only, `p` being the probability that all but
/// one of the servers are busy (Barrer 1957, "Queuing with impatient customers and ordered
/// service"; Zeltyn and Mandelbaum 2005, "Call centers with impatient customers", section 3). Any
/// load is allowed.
///
/// # Errors
/// When a parameter is not above zero and finite.
pub fn patience_of_fixed_length(
    servers: u32,
    arrivals_per_second: f64,
    mean_service_seconds: f64,
    patience_seconds: f64,
) -> Result<DeterministicPatience, FormulaError> {
    let c = at_least_one(servers)?;
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    let tau = positive("patience", patience_seconds)?;
    let departures = c / service;
    let slope = (departures - lambda) * tau;
    // P(V = 0) is p / B(c-1); everything is multiplied by B(c-1)/p, and in overload by e^slope as
    // well, so that no factor leaves the range.
    let blocking_without_one = erlang_b(servers - 1, lambda * service)?;
    let scale = slope.min(0.0).exp();
    let none = scale;
    let density = lambda * blocking_without_one;
    let within = density * tau * scaled_moment_0(slope);
    let beyond = density * (-slope.max(0.0)).exp() / departures;
    let total = none + within + beyond;
    let wait_within = density * tau * tau * scaled_moment_1(slope) / total;
    let abandon_probability = beyond / total;
    let served = (none + within) / total;
    let mean_time_in_queue_seconds = wait_within + tau * abandon_probability;
    Ok(DeterministicPatience {
        wait_probability: (within + beyond) / total,
        abandon_probability,
        mean_wait_served_seconds: wait_within / served,
        mean_time_in_queue_seconds,
        mean_queue: lambda * mean_time_in_queue_seconds,
        utilisation: lambda * served / departures,
    })
}

/// The integral of `e^(-y u)` over `u` from 0 to 1, times `e^(min(y, 0))`.
fn scaled_moment_0(y: f64) -> f64 {
    // (1 - e^-|y|) / |y| on either side, by symmetry of the scaled integral.
    let size = y.abs();
    if size == 0.0 { 1.0 } else { -(-size).exp_m1() / size }
}

/// The integral of `u e^(-y u)` over `u` from 0 to 1, times `e^(min(y, 0))`.
fn scaled_moment_1(y: f64) -> f64 {
    if y.abs() < 0.5 {
        // The closed form cancels near zero; the series is sum of (-y)^k / (k! (k+2)).
        let (mut term, mut sum) = (1.0, 0.0);
        for k in 0..20 {
            sum += term / f64::from(k + 2);
            term *= -y / f64::from(k + 1);
        }
        sum * y.min(0.0).exp()
    } else if y > 0.0 {
        (1.0 - (1.0 + y) * (-y).exp()) / (y * y)
    } else {
        (y.exp() - (1.0 + y)) / (y * y)
    }
}

/// M/M/c+M: patience is exponential.
///
/// The birth-death chain with departure rate `c mu + j/patience` when `j` wait, summed upwards
/// from `c` in the system; the part below comes from Erlang B (Palm 1957; Mandelbaum and Zeltyn
/// 2007, "Service engineering in action: the Palm/Erlang-A queue"). Any load is allowed.
///
/// # Errors
/// When a parameter is not above zero and finite.
pub fn erlang_a(
    servers: u32,
    arrivals_per_second: f64,
    mean_service_seconds: f64,
    mean_patience_seconds: f64,
) -> Result<ExponentialPatience, FormulaError> {
    let c = at_least_one(servers)?;
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    let leave = 1.0 / positive("mean patience", mean_patience_seconds)?;
    let departures = c / service;
    let blocking = erlang_b(servers, lambda * service)?;
    let queue = upward_sum(blocking, None, |waiting| lambda / (departures + waiting * leave));
    let mean_queue = queue.mean;
    let abandon_probability = leave * mean_queue / lambda;
    Ok(ExponentialPatience {
        wait_probability: queue.all_busy,
        abandon_probability,
        mean_wait_seconds: mean_queue / lambda,
        mean_queue,
        utilisation: lambda * (1.0 - abandon_probability) / departures,
    })
}

/// M/M/c/K: at most `most_in_system` are in the system, the served ones included.
///
/// The birth-death chain, summed upwards from `c` in the system; the part below comes from Erlang
/// B (Gross and Harris, "Fundamentals of Queueing Theory", 4th ed., section 2.5). With
/// `most_in_system = servers` it is Erlang B. Any load is allowed.
///
/// # Errors
/// When a parameter is not above zero and finite, or fewer fit into the system than there are
/// servers.
pub fn queue_of_bounded_length(
    servers: u32,
    most_in_system: u32,
    arrivals_per_second: f64,
    mean_service_seconds: f64,
) -> Result<BoundedQueue, FormulaError> {
    let c = at_least_one(servers)?;
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    let Some(places) = most_in_system.checked_sub(servers) else {
        return Err(FormulaError::OutOfRange {
            name: "most in system",
            value: f64::from(most_in_system),
            needs: "at least the number of servers",
        });
    };
    let rho = lambda * service / c;
    let blocking = erlang_b(servers, lambda * service)?;
    let queue = upward_sum(blocking, Some(places), |_| rho);
    let accepted = 1.0 - queue.last;
    Ok(BoundedQueue {
        block_probability: queue.last,
        mean_queue: queue.mean,
        mean_wait_accepted_seconds: queue.mean / (lambda * accepted),
        utilisation: rho * accepted,
    })
}

/// What a birth-death chain comes to above its servers.
struct Upward {
    /// Probability that all servers are busy.
    all_busy: f64,
    /// Mean number waiting.
    mean: f64,
    /// Probability of the last state that was summed.
    last: f64,
}

/// Sums the chain upwards from "all servers busy, nobody waits", given Erlang B of its lower part
/// and the ratio of the probability that `j` wait to that of `j-1`: up to `most` waiting, or else
/// until what is left no longer changes the sums.
fn upward_sum(blocking: f64, most: Option<u32>, ratio: impl Fn(f64) -> f64) -> Upward {
    // Probabilities relative to each other, Erlang B being the share of "all busy, nobody waits"
    // in the lower part. Everything is scaled down together when a term grows large.
    let (mut term, mut above, mut weighted) = (blocking, blocking, 0.0);
    let mut below = 1.0 - blocking;
    let mut waiting = 0;
    while term > 0.0 && most != Some(waiting) {
        waiting += 1;
        let (count, step) = (f64::from(waiting), ratio(f64::from(waiting)));
        term *= step;
        above += term;
        weighted += count * term;
        if term > 1e200 {
            for sum in [&mut term, &mut above, &mut weighted, &mut below] {
                *sum *= 1e-200;
            }
        }
        // The rest of an endless chain is below a geometric series with this ratio.
        let rest = 1.0 - step;
        if most.is_none() && rest > 0.0 && count * term < 1e-17 * rest * rest * weighted {
            break;
        }
    }
    let total = below + above;
    let reached_last = most == Some(waiting);
    Upward {
        all_busy: above / total,
        mean: weighted / total,
        last: if reached_last { term / total } else { 0.0 },
    }
}

/// Mean wait in an M/G/1 queue, seconds: `lambda E[S^2] / (2 (1 - rho))`, with the second moment
/// written as `E[S]^2 (1 + cv^2)` (Pollaczek 1930, Khinchine 1932). `service_cv` is the service
/// time's coefficient of variation: 0 deterministic, `1/sqrt(k)` Erlang-k, 1 exponential,
/// `sqrt(e^(sigma^2) - 1)` lognormal. An arrival finds the server free with probability `1 - rho`.
///
/// # Errors
/// When a parameter is out of range, or the load is 1 or more.
pub fn mean_wait_single_server(
    arrivals_per_second: f64,
    mean_service_seconds: f64,
    service_cv: f64,
) -> Result<f64, FormulaError> {
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    if !(service_cv.is_finite() && service_cv >= 0.0) {
        return Err(FormulaError::OutOfRange {
            name: "coefficient of variation",
            value: service_cv,
            needs: "zero or more and finite",
        });
    }
    let rho = lambda * service;
    if rho >= 1.0 {
        return Err(FormulaError::Unstable { load: rho });
    }
    Ok(rho * service * (1.0 + service_cv * service_cv) / (2.0 * (1.0 - rho)))
}

/// The `q`-quantile of the time in an M/M/1 system, wait and service, seconds: it is exponential
/// with rate `mu - lambda` (Gross and Harris, section 2.2).
///
/// # Errors
/// When a parameter is out of range, or the load is 1 or more.
pub fn sojourn_quantile_mm1(
    arrivals_per_second: f64,
    mean_service_seconds: f64,
    q: f64,
) -> Result<f64, FormulaError> {
    let lambda = positive("arrivals per second", arrivals_per_second)?;
    let service = positive("mean service time", mean_service_seconds)?;
    if !(0.0..1.0).contains(&q) {
        return Err(FormulaError::OutOfRange { name: "q", value: q, needs: "from 0 to below 1" });
    }
    let rho = lambda * service;
    if rho >= 1.0 {
        return Err(FormulaError::Unstable { load: rho });
    }
    Ok(-(1.0 - q).ln() * service / (1.0 - rho))
}

/// Mean, and variance, of the number in service when servers never run out (M/G/inf): it is
/// Poisson with mean `lambda E[S]` whatever the service distribution (Cooper, section 3.1).
///
/// # Errors
/// When a parameter is not above zero and finite.
pub fn mean_in_infinite_server(
    arrivals_per_second: f64,
    mean_service_seconds: f64,
) -> Result<f64, FormulaError> {
    Ok(positive("arrivals per second", arrivals_per_second)?
        * positive("mean service time", mean_service_seconds)?)
}

/// P(cold): the next use finds the sandbox ended, when gaps are exponential with `mean_gap_seconds`
/// and an idle sandbox is kept for `keep_seconds`: `e^(-keep/gap)`, the tail of the exponential.
///
/// # Errors
/// When the mean gap is not above zero and finite, or the time kept is negative or not a number.
pub fn cold_start_probability(
    keep_seconds: f64,
    mean_gap_seconds: f64,
) -> Result<f64, FormulaError> {
    let gap = positive("mean gap", mean_gap_seconds)?;
    if keep_seconds >= 0.0 {
        Ok((-keep_seconds / gap).exp())
    } else {
        Err(FormulaError::OutOfRange {
            name: "time kept",
            value: keep_seconds,
            needs: "zero or more",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(found: f64, expected: f64, tolerance: f64) {
        let error = (found - expected).abs() / expected.abs().max(1e-300);
        assert!(error <= tolerance, "{found} for {expected}: relative error {error:e}");
    }

    /// The stationary distribution of a birth-death chain, by plain summation from zero in
    /// logarithms: a second method that shares nothing with the recursions above.
    fn birth_death(lambda: f64, states: usize, departures: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut logs = vec![0.0_f64];
        for n in 1..states {
            logs.push(logs[n - 1] + lambda.ln() - departures(n).ln());
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
        logs.iter().map(|log| (log - largest).exp() / total).collect()
    }

    fn mean_waiting(distribution: &[f64], servers: u32) -> f64 {
        let c = servers as usize;
        distribution.iter().enumerate().skip(c).map(|(n, p)| (n - c) as f64 * p).sum()
    }

    fn many_servers(servers: u32, service: f64) -> impl Fn(usize) -> f64 {
        move |n| n.min(servers as usize) as f64 / service
    }

    const LOADS: [(u32, f64); 10] = [
        (1, 0.5),
        (5, 3.0),
        (10, 5.0),
        (10, 8.0),
        (10, 9.5),
        (10, 11.0),
        (50, 45.0),
        (100, 80.0),
        (100, 95.0),
        (100, 110.0),
    ];

    #[test]
    fn erlang_b_is_the_chain_without_a_queue() {
        for (c, a) in LOADS {
            let chain = birth_death(a, c as usize + 1, |n| n as f64);
            assert_close(erlang_b(c, a).unwrap(), chain[c as usize], 1e-11);
        }
        assert_close(erlang_b(1, 0.5).unwrap(), 1.0 / 3.0, 1e-15);
        assert_eq!(erlang_b(0, 2.0), Ok(1.0));
        assert_close(erlang_b(10, 9.5).unwrap(), 0.191_379_158_3, 1e-9);
    }

    #[test]
    fn erlang_c_is_the_endless_chain() {
        for c in [1_u32, 10, 100] {
            for rho in [0.5, 0.8, 0.95] {
                let lambda = rho * f64::from(c);
                let found = erlang_c(c, lambda, 1.0).unwrap();
                let chain = birth_death(lambda, 3000, many_servers(c, 1.0));
                let waits: f64 = chain[c as usize..].iter().sum();
                assert_close(found.wait_probability, waits, 1e-10);
                assert_close(found.mean_queue, mean_waiting(&chain, c), 1e-10);
                assert_close(found.mean_wait_seconds * lambda, found.mean_queue, 1e-12);
                // Given k ahead, the wait is a sum of k + 1 exponentials of rate c.
                let second: f64 = chain[c as usize..]
                    .iter()
                    .enumerate()
                    .map(|(k, p)| p * (k + 1) as f64 * (k + 2) as f64 / f64::from(c * c))
                    .sum();
                let variance = second - found.mean_wait_seconds.powi(2);
                assert_close(found.wait_variance, variance, 1e-9);
            }
        }
        let one = erlang_c(1, 0.8, 1.0).unwrap();
        assert_close(one.mean_wait_seconds, 4.0, 1e-14);
        assert_close(one.wait_quantile_seconds(0.99), 80_f64.ln() / 0.2, 1e-12);
        assert_eq!(one.wait_quantile_seconds(0.2), 0.0);
        assert_eq!(erlang_c(100, 50.0, 1.0).unwrap().wait_quantile_seconds(0.99), 0.0);
    }

    const DETERMINISTIC: [(f64, f64, u32, f64); 9] = [
        (1.1, 10.0, 10, 30.0),
        (1.0, 10.0, 10, 30.0),
        (0.95, 10.0, 10, 30.0),
        (0.8, 10.0, 10, 30.0),
        (1.5, 10.0, 10, 30.0),
        (0.05, 50.0, 1, 30.0),
        (9.5, 10.0, 100, 30.0),
        (11.0, 10.0, 100, 30.0),
        (0.2, 60.0, 10, 30.0),
    ];

    #[test]
    fn fixed_patience_is_the_integral_of_its_density() {
        // Simpson's rule over the density within the patience, and the exact tail beyond it.
        for (lambda, service, c, tau) in DETERMINISTIC {
            let found = patience_of_fixed_length(c, lambda, service, tau).unwrap();
            let departures = f64::from(c) / service;
            let below = birth_death(lambda, c as usize, |n| n as f64 / service);
            let last = below[c as usize - 1];
            let density = |x: f64| lambda * last * ((lambda - departures) * x).exp();
            let steps = 20_000;
            let width = tau / f64::from(steps);
            let (mut within, mut weighted) = (0.0, 0.0);
            for i in 0..=steps {
                let x = f64::from(i) * width;
                let weight = match i {
                    0 => 1.0,
                    i if i == steps => 1.0,
                    i if i % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                within += weight * density(x) * width / 3.0;
                weighted += weight * x * density(x) * width / 3.0;
            }
            let beyond = density(tau) / departures;
            let total = 1.0 + within + beyond;
            assert_close(found.wait_probability, (within + beyond) / total, 1e-9);
            assert_close(found.abandon_probability, beyond / total, 1e-9);
            assert_close(found.mean_wait_served_seconds, weighted / (1.0 + within), 1e-9);
            let bounded = (weighted + tau * beyond) / total;
            assert_close(found.mean_time_in_queue_seconds, bounded, 1e-9);
            assert_close(found.mean_queue, lambda * bounded, 1e-9);
            assert_close(found.utilisation, lambda * (1.0 + within) / total / departures, 1e-9);
        }
    }

    #[test]
    fn fixed_patience_keeps_the_balance_of_work() {
        // Busy servers, counted from the states below c, must be what the served ones bring.
        for (lambda, service, c, tau) in DETERMINISTIC {
            let found = patience_of_fixed_length(c, lambda, service, tau).unwrap();
            let below = birth_death(lambda, c as usize, |n| n as f64 / service);
            let partly: f64 = below.iter().enumerate().map(|(n, p)| n as f64 * p).sum();
            let none = 1.0 - found.wait_probability;
            let busy = (none * partly + found.wait_probability * f64::from(c)) / f64::from(c);
            assert_close(found.utilisation, busy, 1e-10);
        }
    }

    #[test]
    fn the_first_set_has_its_known_values() {
        let found = patience_of_fixed_length(10, 1.1, 10.0, 30.0).unwrap();
        assert_close(found.abandon_probability, 0.093_948_402_36, 1e-9);
        assert_close(found.mean_wait_served_seconds, 21.254_222_25, 1e-9);
        assert_close(found.wait_probability, 0.986_658_270_7, 1e-9);
    }

    #[test]
    fn fixed_patience_stays_finite_at_the_ends() {
        let overload = patience_of_fixed_length(1000, 50_000.0, 1.0, 3600.0).unwrap();
        assert_close(overload.abandon_probability, 0.98, 1e-9);
        assert_close(overload.utilisation, 1.0, 1e-9);
        assert_close(overload.mean_wait_served_seconds, 3600.0, 1e-3);
        let empty = patience_of_fixed_length(1000, 1e-3, 1.0, 30.0).unwrap();
        assert_eq!((empty.wait_probability, empty.abandon_probability), (0.0, 0.0));
        // Endless patience is Erlang C.
        let long = patience_of_fixed_length(10, 0.8, 10.0, 1e6).unwrap();
        let endless = erlang_c(10, 0.8, 10.0).unwrap();
        assert_close(long.mean_wait_served_seconds, endless.mean_wait_seconds, 1e-12);
        // No patience is Erlang B.
        let none = patience_of_fixed_length(10, 0.8, 10.0, 1e-9).unwrap();
        assert_close(none.abandon_probability, erlang_b(10, 8.0).unwrap(), 1e-8);
    }

    #[test]
    fn the_integrals_have_no_seam() {
        for y in [1e-12_f64, 1e-3, 0.4999, 0.5001, 3.0] {
            for y in [y, -y] {
                let steps = 2000;
                let scale = y.min(0.0).exp();
                let middle = |i: i32| (f64::from(i) + 0.5) / f64::from(steps);
                let m0: f64 = (0..steps).map(|i| (-y * middle(i)).exp()).sum();
                let m1: f64 = (0..steps).map(|i| middle(i) * (-y * middle(i)).exp()).sum();
                assert_close(scaled_moment_0(y), scale * m0 / f64::from(steps), 1e-6);
                assert_close(scaled_moment_1(y), scale * m1 / f64::from(steps), 1e-6);
            }
        }
        assert_close(scaled_moment_1(0.499_999_999), scaled_moment_1(0.500_000_001), 1e-8);
        assert_close(scaled_moment_1(-0.499_999_999), scaled_moment_1(-0.500_000_001), 1e-8);
    }

    #[test]
    fn erlang_a_is_its_chain() {
        for (lambda, c, patience) in [
            (1.1, 10_u32, 30.0),
            (1.0, 10, 30.0),
            (11.0, 100, 30.0),
            (0.3, 1, 5.0),
            (5.0, 10, 30.0),
        ] {
            let service = 10.0;
            let found = erlang_a(c, lambda, service, patience).unwrap();
            let chain = birth_death(lambda, 4000, |n| {
                let waiting = n.saturating_sub(c as usize) as f64;
                many_servers(c, service)(n) + waiting / patience
            });
            let waits: f64 = chain[c as usize..].iter().sum();
            let queue = mean_waiting(&chain, c);
            assert_close(found.wait_probability, waits, 1e-10);
            assert_close(found.mean_queue, queue, 1e-10);
            assert_close(found.abandon_probability, queue / patience / lambda, 1e-10);
            assert_close(found.mean_wait_seconds, queue / lambda, 1e-10);
            let busy: f64 =
                chain.iter().enumerate().map(|(n, p)| n.min(c as usize) as f64 * p).sum();
            assert_close(found.utilisation, busy / f64::from(c), 1e-10);
        }
        let overload = erlang_a(10, 100.0, 10.0, 30.0).unwrap();
        assert_close(overload.abandon_probability, 0.99, 1e-9);
        assert_eq!(erlang_a(1000, 1e-3, 1.0, 30.0).unwrap().wait_probability, 0.0);
    }

    #[test]
    fn a_bounded_queue_is_its_chain() {
        for (c, k, lambda) in [
            (10_u32, 20_u32, 9.5),
            (10, 20, 11.0),
            (10, 40, 11.0),
            (1, 10, 0.9),
            (1, 10, 1.0),
            (3, 400, 1.0),
            (10, 2000, 40.0),
        ] {
            let found = queue_of_bounded_length(c, k, lambda, 1.0).unwrap();
            let chain = birth_death(lambda, k as usize + 1, many_servers(c, 1.0));
            let queue = mean_waiting(&chain, c);
            assert_close(found.mean_queue, queue, 1e-9);
            let block = chain[k as usize];
            assert!((found.block_probability - block).abs() <= 1e-10 * block + 1e-200);
            assert_close(found.mean_wait_accepted_seconds, queue / (lambda * (1.0 - block)), 1e-9);
        }
        let no_queue = queue_of_bounded_length(10, 10, 9.5, 1.0).unwrap();
        assert_close(no_queue.block_probability, erlang_b(10, 9.5).unwrap(), 1e-13);
        assert_eq!(no_queue.mean_queue, 0.0);
        assert!(queue_of_bounded_length(10, 9, 1.0, 1.0).is_err());
    }

    #[test]
    fn a_single_server_with_general_service() {
        // Exponential service is M/M/1; deterministic service halves it; Erlang-2 lies between.
        for rho in [0.5, 0.8, 0.95] {
            let exponential = erlang_c(1, rho, 1.0).unwrap().mean_wait_seconds;
            assert_close(mean_wait_single_server(rho, 1.0, 1.0).unwrap(), exponential, 1e-12);
            assert_close(mean_wait_single_server(rho, 1.0, 0.0).unwrap(), exponential / 2.0, 1e-12);
            let erlang_2 = mean_wait_single_server(rho, 1.0, 0.5_f64.sqrt()).unwrap();
            assert_close(erlang_2, exponential * 0.75, 1e-12);
        }
        assert_close(mean_wait_single_server(0.95, 1.0, 3.0).unwrap(), 95.0, 1e-12);
        assert_close(sojourn_quantile_mm1(0.8, 1.0, 0.99).unwrap(), 23.025_850_93, 1e-9);
    }

    #[test]
    fn infinite_servers_and_keeping_alive() {
        let chain = birth_death(0.2, 400, |n| n as f64 / 60.0);
        let mean: f64 = chain.iter().enumerate().map(|(n, p)| n as f64 * p).sum();
        assert_close(mean_in_infinite_server(0.2, 60.0).unwrap(), mean, 1e-10);
        assert_close(cold_start_probability(300.0, 60.0).unwrap(), 0.006_737_946_999, 1e-9);
        assert_eq!(cold_start_probability(0.0, 60.0), Ok(1.0));
        assert_eq!(cold_start_probability(f64::INFINITY, 60.0), Ok(0.0));
    }

    #[test]
    fn every_system_keeps_its_bounds() {
        let seed = 2_026;
        println!("seed {seed}");
        let mut random = crate::stats::test_random::SplitMix64(seed);
        for _ in 0..2000 {
            let c = 1 + (random.next() % 200) as u32;
            let service = 10_f64.powf(4.0 * random.uniform() - 2.0);
            let load = f64::from(c) * 10_f64.powf(3.0 * random.uniform() - 2.0);
            let (lambda, patience) =
                (load / service, service * 10_f64.powf(6.0 * random.uniform() - 3.0));
            let set = format!("c={c} lambda={lambda} service={service} patience={patience}");
            let fixed = patience_of_fixed_length(c, lambda, service, patience).unwrap();
            let random_patience = erlang_a(c, lambda, service, patience).unwrap();
            let refused = erlang_b(c, load).unwrap();
            // Who may wait is lost less often than who may not, and never less than what is too much.
            let least = (1.0 - f64::from(c) / load).max(0.0);
            for lost in [fixed.abandon_probability, random_patience.abandon_probability] {
                assert!(lost >= least - 1e-9 && lost <= refused + 1e-9, "{lost} {refused} {set}");
            }
            for waits in [fixed.wait_probability, random_patience.wait_probability] {
                assert!((0.0..=1.0 + 1e-12).contains(&waits), "{waits} {set}");
            }
            for busy in [fixed.utilisation, random_patience.utilisation] {
                assert!((0.0..=1.0 + 1e-9).contains(&busy), "{busy} {set}");
            }
            assert!(fixed.mean_wait_served_seconds <= patience * (1.0 + 1e-12), "{set}");
            assert!(fixed.mean_time_in_queue_seconds <= patience * (1.0 + 1e-12), "{set}");
            let bounded = queue_of_bounded_length(c, c + 50, lambda, service).unwrap();
            let block = bounded.block_probability;
            assert!(block >= least - 1e-9 && block <= refused + 1e-9, "{block} {set}");
            assert!((0.0..=50.0 + 1e-9).contains(&bounded.mean_queue), "{set}");
        }
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        assert!(matches!(erlang_c(10, 1.0, 10.0), Err(FormulaError::Unstable { load: 1.0 })));
        let error = erlang_b(3, -1.0).unwrap_err().to_string();
        assert!(error.contains("offered load is -1"), "{error}");
        assert!(patience_of_fixed_length(0, 1.0, 1.0, 1.0).is_err());
        assert!(erlang_a(1, 1.0, f64::NAN, 1.0).is_err());
        assert!(mean_wait_single_server(0.5, 1.0, -1.0).is_err());
        assert!(mean_wait_single_server(1.0, 1.0, 1.0).is_err());
        assert!(cold_start_probability(f64::NAN, 1.0).is_err());
        assert!(sojourn_quantile_mm1(0.5, 1.0, 1.0).is_err());
    }
}
