//! The `sandpool-sim` command.

fn main() -> std::process::ExitCode {
    sandpool_sim::command_line()
}
