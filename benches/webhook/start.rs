//! From the start of the process to its first answer, the certificate being there.

use crate::common::median;

use super::process::{Place, Program};
use super::reviews::Review;

/// The median of so many starts, in milliseconds.
pub(crate) async fn measure(
    place: &Place,
    program: Program,
    review: &Review,
    starts: usize,
) -> Result<f64, String> {
    let request = review.request(program);
    let mut times = Vec::new();
    for _ in 0..starts {
        let process = place.start(program)?;
        let mut connection = process.connect(&place.caller).await?;
        let answer = connection.ask(&request).await;
        answer.map_err(|error| error.to_string())?;
        times.push(process.begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(times))
}
