//! `POST /process/code-run`: runs Python, JavaScript or TypeScript with this machine's own
//! interpreters.

use super::Toolbox;
use super::entered::Entered;
use super::error::DaemonError;
use super::execute::{checked, run, time_limit};
use super::request::JsonBody;
use crate::daytona_api::exec::{Command, Run};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Deserialize)]
pub(super) struct Body {
    #[serde(default)]
    code: String,
    #[serde(default)]
    language: String,
    argv: Option<Vec<String>>,
    envs: Option<BTreeMap<String, String>>,
    /// Seconds; none, zero and less are no limit.
    timeout: Option<i64>,
}

pub(super) async fn code_run(
    State(toolbox): State<Arc<Toolbox>>,
    entered: Entered,
    JsonBody(body): JsonBody<Body>,
) -> Result<Response, DaemonError> {
    if body.code.is_empty() {
        return Err(DaemonError::bad_request("code is required"));
    }
    let Some(script) = script(&body.language) else {
        let message = format!("unsupported language: {}", body.language);
        return Err(DaemonError::bad_request(message));
    };
    let command = Command {
        run: Run::WithInput {
            script: script.to_owned(),
            arguments: body.argv.unwrap_or_default(),
            input: body.code,
        },
        working_directory: None,
        env: checked(body.envs)?,
        time_limit: time_limit(body.timeout),
    };
    match run(&toolbox, &entered, command).await {
        Ok((exit_code, result)) => {
            let artifacts = json!({ "charts": [] });
            let answer = json!({ "exitCode": exit_code, "result": result, "artifacts": artifacts });
            Ok(Json(answer).into_response())
        }
        Err(refused) => refused,
    }
}

/// What the shell does with code that it is given on its standard input.
fn script(language: &str) -> Option<&'static str> {
    Some(match language {
        "python" => r#"exec python3 -u - "$@""#,
        "javascript" => r#"exec node - "$@""#,
        // Node of version 22.6 or later reads TypeScript itself, but only from a file.
        "typescript" => {
            r#"file=$(mktemp "$TMPDIR/code-run-XXXXXX") && mv "$file" "$file.ts" && cat >"$file.ts"
            if command -v tsx >/dev/null; then tsx "$file.ts" "$@"
            else node --no-warnings --experimental-strip-types "$file.ts" "$@"; fi
            code=$?; rm -f "$file.ts"; exit $code"#
        }
        _ => return None,
    })
}
