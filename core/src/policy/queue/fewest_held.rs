//! Whose account holds least, then who has waited longest: an account with one sandbox does not
//! queue behind the tenth claim of another.

use super::WaiterView;

#[inline]
pub(super) const fn key(waiter: &WaiterView) -> (u64, u64) {
    (waiter.held as u64, waiter.order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holding_less_comes_before_having_waited_longer() {
        let heavy = WaiterView { held: 5, order: 1 };
        let light = WaiterView { held: 1, order: 9 };
        let light_and_later = WaiterView { held: 1, order: 10 };
        assert!(key(&light) < key(&heavy));
        assert!(key(&light) < key(&light_and_later));
    }
}
