//! Each rule of the client against a stand-in that answers with Daytona's own bodies.

mod creating;
mod deleting;
mod inside;
mod looking;
mod stand_in;

use crate::provider::Target;
use sandpool_core::{ClassId, SandboxName};

const NAME: SandboxName = SandboxName { epoch: 1, sequence: 7 };
const CLASS: ClassId = ClassId(0);

fn by_name() -> Target {
    Target { provider: None, name: NAME }
}
