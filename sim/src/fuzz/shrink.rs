//! Makes a failure small: pieces are left out, and time and traffic cut, while the same checker
//! still objects.

use super::{Failure, FuzzRecipe, search};

/// The smallest recipe that was found in at most `tries` runs, and how it fails.
#[must_use]
pub fn shrink(recipe: &FuzzRecipe, failure: &Failure, tries: u32) -> (FuzzRecipe, Failure) {
    let (mut best, mut how) = (recipe.clone(), failure.clone());
    let mut left = tries;
    loop {
        let mut is_smaller = false;
        for candidate in smaller(&best) {
            if left == 0 {
                return (best, how);
            }
            left -= 1;
            if let Some(found) = search(&candidate).failure
                && found.checker == how.checker
            {
                (best, how) = (candidate, found);
                is_smaller = true;
                break;
            }
        }
        if !is_smaller {
            return (best, how);
        }
    }
}

/// Recipes that are smaller by one step, the largest steps first.
fn smaller(recipe: &FuzzRecipe) -> Vec<FuzzRecipe> {
    let mut candidates = Vec::new();
    if recipe.minutes > 1 {
        candidates.push(FuzzRecipe { minutes: recipe.minutes / 2, ..recipe.clone() });
    }
    if recipe.per_hour > 1 {
        candidates.push(FuzzRecipe { per_hour: recipe.per_hour / 2, ..recipe.clone() });
    }
    let count = recipe.pieces.len();
    let mut size = count / 2;
    while size > 0 {
        for from in (0..count).step_by(size) {
            let mut pieces = recipe.pieces.clone();
            pieces.drain(from..(from + size).min(count));
            candidates.push(FuzzRecipe { pieces, ..recipe.clone() });
        }
        size /= 2;
    }
    candidates
}
