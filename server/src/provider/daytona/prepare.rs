//! Prepare: the class's steps, through the toolbox.

use super::Daytona;
use super::client::gone;
use crate::provider::{ProviderError, Target, prepare};
use sandpool_core::ClassId;

pub(super) async fn prepare(
    daytona: &Daytona,
    target: Target,
    class: ClassId,
) -> Result<(), ProviderError> {
    let steps = &daytona.template(class)?.prepare;
    if steps.is_empty() {
        return Ok(());
    }
    let Some(id) = daytona.resolve(target).await? else {
        return Err(gone(&daytona.options.pool.write(target.name)));
    };
    prepare::run(daytona, daytona.ids.number_of(&id), steps).await
}
