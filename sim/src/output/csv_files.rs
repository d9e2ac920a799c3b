//! The results as CSV files, one table each, in long form: one row per number, so that any tool can
//! filter and pivot them.

use super::folder::OutputFile;
use super::results::{Bin, Results};

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {file}: {source}")]
pub struct CsvError {
    /// The file.
    pub file: &'static str,
    /// What went wrong.
    pub source: csv::Error,
}

/// Numbers are the shortest decimal that reads back as the same bits, never with an exponent;
/// what has no value is an empty field.
fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// Every CSV file of the results: `measures.csv`, `differences.csv`, `exposed_wait_cdf.csv`,
/// `cost_by_cause.csv` and `over_time.csv`. Each begins with a header row; lines end with a newline.
///
/// # Errors
/// When a table cannot be made.
pub fn csv_files(results: &Results) -> Result<Vec<OutputFile>, CsvError> {
    Ok(vec![
        measures(results)?,
        differences(results)?,
        exposed_wait_cdf(results)?,
        cost_by_cause(results)?,
        over_time(results)?,
    ])
}

fn table(
    file: &'static str,
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Result<OutputFile, CsvError> {
    let failed = |source| CsvError { file, source };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(header).map_err(failed)?;
    for row in rows {
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(error.into_error().into()))?;
    Ok(OutputFile::new(file, bytes))
}

fn measures(results: &Results) -> Result<OutputFile, CsvError> {
    let header = ["variant", "measure", "unit", "better", "n", "mean", "half_width", "low", "high"];
    let rows = results.variants.iter().flat_map(|variant| {
        variant.measures.iter().map(|measure| {
            vec![
                variant.name.clone(),
                measure.name.clone(),
                measure.unit.name().to_owned(),
                measure.better.name().to_owned(),
                measure.n.to_string(),
                number(measure.mean),
                number(measure.half_width),
                number(measure.low),
                number(measure.high),
            ]
        })
    });
    table("measures.csv", &header, rows)
}

fn differences(results: &Results) -> Result<OutputFile, CsvError> {
    let header = [
        "variant",
        "base",
        "measure",
        "unit",
        "better",
        "n",
        "mean",
        "half_width",
        "low",
        "high",
        "verdict",
    ];
    let rows = results.differences.iter().map(|difference| {
        vec![
            difference.variant.clone(),
            difference.base.clone(),
            difference.measure.clone(),
            difference.unit.name().to_owned(),
            difference.better.name().to_owned(),
            difference.n.to_string(),
            number(difference.mean),
            number(difference.half_width),
            number(difference.low),
            number(difference.high),
            difference.verdict.name().to_owned(),
        ]
    });
    table("differences.csv", &header, rows)
}

fn exposed_wait_cdf(results: &Results) -> Result<OutputFile, CsvError> {
    let rows = results.variants.iter().flat_map(|variant| {
        variant.exposed_wait_cdf.iter().map(|point| {
            vec![variant.name.clone(), number(Some(point.seconds)), number(Some(point.share))]
        })
    });
    table("exposed_wait_cdf.csv", &["variant", "seconds", "share"], rows)
}

fn cost_by_cause(results: &Results) -> Result<OutputFile, CsvError> {
    let header =
        ["variant", "cause", "dollars_per_hour", "low_dollars_per_hour", "high_dollars_per_hour"];
    let rows = results.variants.iter().flat_map(|variant| {
        variant.cost_by_cause.iter().map(|cost| {
            vec![
                variant.name.clone(),
                cost.cause.name().to_owned(),
                number(cost.mean),
                number(cost.low),
                number(cost.high),
            ]
        })
    });
    table("cost_by_cause.csv", &header, rows)
}

fn over_time(results: &Results) -> Result<OutputFile, CsvError> {
    let header: Vec<&str> = std::iter::once("variant").chain(Bin::NAMES).collect();
    let rows = results.variants.iter().flat_map(|variant| {
        variant.over_time.iter().map(|bin| {
            let numbers = bin.numbers().into_iter().map(|value| number(Some(value)));
            std::iter::once(variant.name.clone()).chain(numbers).collect()
        })
    });
    table("over_time.csv", &header, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::measures::MEASURES;
    use crate::output::summary::sample_results;

    fn read(file: &OutputFile) -> Vec<Vec<String>> {
        csv::Reader::from_reader(file.bytes())
            .records()
            .map(|row| row.unwrap().iter().map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn every_table_has_its_rows() {
        let results = sample_results();
        let files = csv_files(&results).unwrap();
        let names: Vec<&str> = files.iter().map(OutputFile::name).collect();
        assert_eq!(
            names,
            [
                "measures.csv",
                "differences.csv",
                "exposed_wait_cdf.csv",
                "cost_by_cause.csv",
                "over_time.csv"
            ]
        );
        let rows: Vec<usize> = files.iter().map(|file| read(file).len()).collect();
        let points: usize = results.variants.iter().map(|v| v.exposed_wait_cdf.len()).sum();
        assert_eq!(rows, [2 * MEASURES.len(), MEASURES.len(), points, 12, 4]);
    }

    #[test]
    fn numbers_read_back_as_the_same_bits_and_gaps_are_empty() {
        let results = sample_results();
        let rows = read(&csv_files(&results).unwrap()[0]);
        for (row, measure) in rows.iter().zip(&results.variants[0].measures) {
            assert_eq!(row[1], measure.name);
            assert_eq!(row[5].parse().ok(), measure.mean);
            assert_eq!(row[7].parse().ok(), measure.low);
        }
        assert!(rows.iter().any(|row| row[5].is_empty()));
        assert_eq!(number(Some(1e-7)), "0.0000001");
    }

    #[test]
    fn odd_names_survive() {
        let mut results = sample_results();
        results.variants[0].name = "a, \"b\"\nc".to_owned();
        let rows = read(&csv_files(&results).unwrap()[0]);
        assert_eq!(rows[0][0], "a, \"b\"\nc");
    }
}
