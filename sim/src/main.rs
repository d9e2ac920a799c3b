//! The `sandpool-sim` command.

mod cli;

fn main() -> std::process::ExitCode {
    cli::command_line()
}
