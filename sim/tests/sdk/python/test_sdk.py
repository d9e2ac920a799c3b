"""Drives the simulated Daytona with the official SDK, synchronous and asynchronous.

Wants DAYTONA_API_URL and DAYTONA_API_KEY of one that nobody else uses. Every test begins and ends
without sandboxes.
"""

import asyncio
import os
import time

import daytona
from daytona import (
    AsyncDaytona,
    CreateSandboxFromImageParams,
    CreateSandboxFromSnapshotParams,
    Daytona,
    DaytonaConfig,
    FileUpload,
    ListSandboxesQuery,
    Resources,
    SessionExecuteRequest,
)


def params(name=None, **more):
    return CreateSandboxFromSnapshotParams(name=name, **more)


def refused(kind, text, act):
    """`act` must raise an error of just this kind with this in its text."""
    try:
        result = act()
    except daytona.DaytonaError as error:
        assert type(error).__name__ == kind, f"{type(error).__name__} instead of {kind}: {error}"
        assert text in str(error), f"{text!r} is not in {error}"
    else:
        raise AssertionError(f"{kind} was expected, not {result!r}")


async def refused_async(kind, text, act):
    try:
        result = await act
    except daytona.DaytonaError as error:
        assert type(error).__name__ == kind, f"{type(error).__name__} instead of {kind}: {error}"
        assert text in str(error), f"{text!r} is not in {error}"
    else:
        raise AssertionError(f"{kind} was expected, not {result!r}")


# The synchronous client.


def test_create_and_delete(client):
    sandbox = client.create(params("one", env_vars={"A": "1"}, labels={"app": "test"}))
    assert sandbox.state == "started", sandbox.state
    assert (sandbox.cpu, sandbox.memory, sandbox.disk) == (1, 1, 3)
    assert client.get("one").id == client.get(sandbox.id).id == sandbox.id
    sandbox.delete(wait=True)
    refused("DaytonaNotFoundError", "not found", lambda: client.get(sandbox.id))


def test_create_from_image(client):
    resources = Resources(cpu=2, memory=4, disk=8)
    image = CreateSandboxFromImageParams(image="python:3.12-slim", resources=resources)
    sandbox = client.create(image, timeout=60)
    assert (sandbox.cpu, sandbox.memory, sandbox.disk) == (2, 4, 8)
    assert sandbox.process.exec("echo built").result == "built\n"
    sandbox.delete(wait=True)


def test_execute(client):
    sandbox = client.create(params(env_vars={"A": "1"}))
    ended = sandbox.process.exec("echo out $A $B; echo err >&2; exit 3", env={"B": "x"})
    assert (ended.exit_code, ended.result) == (3, "out 1 x\nerr\n"), ended
    ended = sandbox.process.exec("mkdir -p w && cd w && basename $(pwd)")
    assert ended.result == "w\n", ended
    assert sandbox.process.exec("basename $(pwd)", cwd="w").result == "w\n"
    assert sandbox.process.exec("no-such-command").exit_code == 127
    assert sandbox.process.exec("true", cwd="/no/such/directory").exit_code == -1
    # No secret of the server's own environment is there.
    assert "DAYTONA_API_KEY" not in sandbox.process.exec("env").result
    sandbox.delete(wait=True)


def test_code_run(client):
    sandbox = client.create(params())
    ended = sandbox.process.code_run("print(1 + 1)")
    assert (ended.exit_code, ended.result) == (0, "2\n"), ended
    ended = sandbox.process.code_run("raise SystemExit(4)")
    assert ended.exit_code == 4, ended
    arguments = daytona.CodeRunParams(argv=["a b", "c"], env={"X": "y"})
    code = "import os, sys\nprint(sys.argv[1:], os.environ['X'])"
    assert sandbox.process.code_run(code, arguments).result == "['a b', 'c'] y\n"
    sandbox.delete(wait=True)


def test_time_out(client):
    sandbox = client.create(params())
    begun = time.monotonic()
    kind, text = "DaytonaProcessExecutionTimeoutError", "command execution timeout"
    refused(kind, text, lambda: sandbox.process.exec("sleep 30 & sleep 30", timeout=1))
    try:
        sandbox.process.code_run("import time\ntime.sleep(30)", timeout=1)
    except Exception as error:
        # This version of the SDK does not turn the errors of code_run into its own.
        assert "PROCESS_EXECUTION_TIMEOUT" in str(error), error
    else:
        raise AssertionError("the code was not timed out")
    assert time.monotonic() - begun < 10
    # The whole process group is gone, and the sandbox is of use.
    assert sandbox.process.exec("pgrep -u $(id -u) -f '^sleep 30$' || echo none").result == "none\n"
    sandbox.delete(wait=True)


def test_files(client):
    sandbox = client.create(params())
    files = sandbox.fs
    files.create_folder("/home/daytona/w", "755")
    files.upload_file(b"hello", "/home/daytona/w/a.txt")
    binary = bytes(range(256)) * 4096
    files.upload_files(
        [FileUpload(source=binary, destination="w/b.bin"), FileUpload(source=b"", destination="w/c")]
    )
    assert files.download_file("w/a.txt") == b"hello"
    assert files.download_file("/home/daytona/w/b.bin") == binary
    listed = files.list_files("/home/daytona/w")
    assert [(file.name, file.size) for file in listed] == [("a.txt", 5), ("b.bin", 1048576), ("c", 0)]
    assert sandbox.process.exec("cat w/a.txt").result == "hello"
    info = files.get_file_info("w/a.txt")
    assert (info.is_dir, info.size, info.permissions) == (False, 5, "0644"), info
    files.move_files("w/a.txt", "w/d.txt")
    refused("DaytonaFileNotFoundError", "no such file", lambda: files.download_file("w/a.txt"))
    files.delete_file("w/d.txt")
    refused("DaytonaFileNotFoundError", "no such file", lambda: files.get_file_info("w/d.txt"))
    refused("DaytonaFileNotFoundError", "no such file", lambda: files.list_files("/nowhere"))
    refused("DaytonaBadRequestError", "recursive", lambda: files.delete_file("w"))
    files.delete_file("w", recursive=True)
    assert files.list_files(".") == []
    sandbox.delete(wait=True)


def test_one_sandbox_does_not_see_the_files_of_another(client):
    one, other = client.create(params()), client.create(params())
    one.fs.upload_file(b"mine", "secret.txt")
    home = one.get_user_home_dir()
    for path in ["secret.txt", "/home/daytona/secret.txt", f"{home}/secret.txt", f"../{one.id}/secret.txt"]:
        refused("DaytonaFileNotFoundError", "no such file", lambda: other.fs.download_file(path))
    other.process.exec(f"ln -s {home}/secret.txt link")
    refused("DaytonaFileAccessDeniedError", "", lambda: other.fs.download_file("link"))
    one.delete(wait=True)
    other.delete(wait=True)


def test_sessions(client):
    sandbox = client.create(params())
    process = sandbox.process
    process.create_session("s")
    refused("DaytonaConflictError", "exists", lambda: process.create_session("s"))
    run = lambda text, **more: process.execute_session_command(
        "s", SessionExecuteRequest(command=text, **more)
    )
    ended = run("mkdir w; cd w; X=5; echo out; echo err >&2; false")
    assert (ended.exit_code, ended.stdout, ended.stderr) == (1, "out\n", "err\n"), ended
    assert run("basename $(pwd); echo $X").output == "w\n5\n"
    waiting = run("read line; echo got $line", run_async=True)
    assert process.get_session_command("s", waiting.cmd_id).exit_code is None
    process.send_session_command_input("s", waiting.cmd_id, "it\n")
    until = time.monotonic() + 10
    while process.get_session_command("s", waiting.cmd_id).exit_code is None:
        assert time.monotonic() < until, "the command did not end"
        time.sleep(0.02)
    assert process.get_session_command_logs("s", waiting.cmd_id).stdout == "got it\n"
    assert len(process.get_session("s").commands) == 3
    assert [session.session_id for session in process.list_sessions()] == ["s"]
    process.delete_session("s")
    refused("DaytonaNotFoundError", "session not found", lambda: process.get_session("s"))
    sandbox.delete(wait=True)


def test_labels_and_lists(client):
    sandboxes = [client.create(params(labels={"turn": str(turn)})) for turn in range(3)]
    found = list(client.list(ListSandboxesQuery(labels={"turn": "1"})))
    assert [sandbox.id for sandbox in found] == [sandboxes[1].id]
    assert len(list(client.list(ListSandboxesQuery(limit=1)))) == 3
    sandboxes[2].set_labels({"turn": "1"})
    assert client.get(sandboxes[2].id).labels == {"turn": "1"}
    found = list(client.list(ListSandboxesQuery(labels={"turn": "1"})))
    assert {sandbox.id for sandbox in found} == {sandboxes[1].id, sandboxes[2].id}
    for sandbox in sandboxes:
        sandbox.delete(wait=True)


def test_stop_and_start(client):
    sandbox = client.create(params())
    sandbox.fs.upload_file(b"kept", "note.txt")
    sandbox.process.exec("sleep 300 >/dev/null 2>&1 &")
    sandbox.stop()
    assert client.get(sandbox.id).state == "stopped"
    text = "Is the Sandbox started?"
    refused("DaytonaBadRequestError", text, lambda: sandbox.process.exec("true"))
    sandbox.start()
    assert sandbox.fs.download_file("note.txt") == b"kept"
    assert sandbox.process.exec("pgrep -f '^sleep 300$' || echo none").result == "none\n"
    sandbox.delete(wait=True)
    refused("DaytonaNotFoundError", "not found", lambda: sandbox.process.exec("true"))


def test_names(client):
    sandbox = client.create(params("taken"))
    refused("DaytonaConflictError", "already exists", lambda: client.create(params("taken")))
    refused("DaytonaNotFoundError", "not found", lambda: client.get("never"))
    sandbox.delete(wait=True)
    again = client.create(params("taken"))
    assert again.id != sandbox.id
    again.delete(wait=True)


def test_quota(client):
    sandboxes = [client.create(params()) for _ in range(10)]
    text = "Total CPU limit exceeded"
    refused("DaytonaBadRequestError", text, lambda: client.create(params()))
    sandboxes.pop().delete(wait=True)
    sandboxes.append(client.create(params()))
    for sandbox in sandboxes:
        sandbox.delete(wait=True)


def test_wrong_key(client):
    wrong = Daytona(DaytonaConfig(api_key="dtn_wrong", api_url=os.environ["DAYTONA_API_URL"]))
    refused("DaytonaAuthenticationError", "", lambda: wrong.create(params()))


# The asynchronous client.


async def async_life(client):
    sandbox = await client.create(params("async", env_vars={"A": "1"}, labels={"app": "async"}))
    ended = await sandbox.process.exec("echo $A; exit 3")
    assert (ended.exit_code, ended.result) == (3, "1\n"), ended
    assert (await sandbox.process.code_run("print(6 * 7)")).result == "42\n"
    await sandbox.fs.upload_file(b"hello", "/home/daytona/x/a.txt")
    assert await sandbox.fs.download_file("x/a.txt") == b"hello"
    assert [file.name for file in await sandbox.fs.list_files("x")] == ["a.txt"]
    found = [found.id async for found in client.list(ListSandboxesQuery(labels={"app": "async"}))]
    assert found == [sandbox.id], found
    kind = "DaytonaProcessExecutionTimeoutError"
    await refused_async(kind, "timeout", sandbox.process.exec("sleep 30", timeout=1))
    await refused_async("DaytonaFileNotFoundError", "no such", sandbox.fs.download_file("nope"))
    await refused_async("DaytonaConflictError", "exists", client.create(params("async")))
    await refused_async("DaytonaNotFoundError", "not found", client.get("never"))
    await sandbox.set_labels({"app": "other"})
    await sandbox.stop()
    await sandbox.start()
    assert (await sandbox.process.exec("cat x/a.txt")).result == "hello"
    await sandbox.delete()


async def async_quota(client):
    created = await asyncio.gather(
        *(client.create(params()) for _ in range(12)), return_exceptions=True
    )
    sandboxes = [one for one in created if not isinstance(one, Exception)]
    errors = [one for one in created if isinstance(one, Exception)]
    assert len(sandboxes) == 10, created
    for error in errors:
        assert "Total CPU limit exceeded" in str(error), error
    outputs = await asyncio.gather(*(one.process.exec(f"echo {one.id}") for one in sandboxes))
    assert [output.result.strip() for output in outputs] == [one.id for one in sandboxes]
    await asyncio.gather(*(one.delete() for one in sandboxes))


async def in_async_client(act):
    async with AsyncDaytona() as client:
        await act(client)
        await wait_until_empty_async(client)


async def wait_until_empty_async(client):
    until = time.monotonic() + 10
    while [one async for one in client.list()]:
        assert time.monotonic() < until, "sandboxes are left"
        await asyncio.sleep(0.1)


def wait_until_empty(client):
    until = time.monotonic() + 10
    while list(client.list()):
        assert time.monotonic() < until, "sandboxes are left"
        time.sleep(0.1)


def main():
    version = __import__("importlib.metadata").metadata.version("daytona")
    begun = time.monotonic()
    client = Daytona()
    count = 0
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            print(f"  {name}", flush=True)
            test(client)
            wait_until_empty(client)
            count += 1
    for test in [async_life, async_quota]:
        print(f"  {test.__name__}", flush=True)
        asyncio.run(in_async_client(test))
        count += 1
    print(f"{count} tests passed with daytona {version} in {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    main()
