//! The answer to a commit, on its way.

use super::StoreError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Says that a batch is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// How many batches shared the sync, this one counted.
    pub shared_by: usize,
}

/// Comes true when the batch is safe on the disk, or is an error.
#[must_use = "a batch is safe only once its answer has come"]
#[derive(Debug)]
pub struct Committing(oneshot::Receiver<Result<Receipt, StoreError>>);

/// Where the answer is given. Dropped without one, it answers [`StoreError::Stopped`].
#[derive(Debug)]
pub(crate) struct Answer(oneshot::Sender<Result<Receipt, StoreError>>);

impl Committing {
    pub(crate) fn channel() -> (Answer, Self) {
        let (sender, receiver) = oneshot::channel();
        (Answer(sender), Self(receiver))
    }
}

impl Answer {
    /// Nobody may be listening any more; the batch is kept all the same.
    pub(crate) fn give(self, answer: Result<Receipt, StoreError>) {
        let _ = self.0.send(answer);
    }
}

impl Future for Committing {
    type Output = Result<Receipt, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|got| got.unwrap_or(Err(StoreError::Stopped)))
    }
}
