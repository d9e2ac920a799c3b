// Drives the simulated Daytona with the official SDK. Wants DAYTONA_API_URL and DAYTONA_API_KEY of
// one that nobody else uses.

import assert from 'node:assert/strict'
import { Daytona } from '@daytonaio/sdk'

const daytona = new Daytona()

async function refused(act, text, status) {
  let result
  try {
    result = await act()
  } catch (error) {
    assert.ok(String(error.message).includes(text), `${text} is not in ${error.message}`)
    if (status !== undefined) assert.equal(error.statusCode, status)
    return
  }
  assert.fail(`an error was expected, not ${JSON.stringify(result)}`)
}

async function gone(id) {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      await daytona.get(id)
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail(`${id} is not gone`)
}

const tests = {
  async life() {
    const sandbox = await daytona.create({ name: 'one', envVars: { A: '1' }, labels: { app: 'ts' } })
    assert.equal(sandbox.state, 'started')
    assert.equal((await daytona.get('one')).id, sandbox.id)
    await refused(() => daytona.create({ name: 'one' }), 'already exists', 409)
    await refused(() => daytona.get('never'), 'not found', 404)
    await sandbox.setLabels({ app: 'other' })
    assert.deepEqual((await daytona.get('one')).labels, { app: 'other' })
    await sandbox.fs.uploadFile(Buffer.from('kept'), 'note.txt')
    await sandbox.stop()
    await refused(() => sandbox.process.executeCommand('true'), 'Is the Sandbox started?', 400)
    await sandbox.start()
    assert.equal((await sandbox.process.executeCommand('cat note.txt; echo $A')).result, 'kept1\n')
    await sandbox.delete()
    await gone(sandbox.id)
  },

  async commands() {
    const sandbox = await daytona.create()
    const ended = await sandbox.process.executeCommand('echo $B; exit 3', undefined, { B: 'x' })
    assert.deepEqual([ended.exitCode, ended.result], [3, 'x\n'])
    assert.equal((await sandbox.process.codeRun('print(1 + 1)')).result, '2\n')
    await refused(
      () => sandbox.process.executeCommand('sleep 30', undefined, undefined, 1),
      'command execution timeout',
      408,
    )
    await sandbox.process.createSession('s')
    const first = await sandbox.process.executeSessionCommand('s', { command: 'X=5; echo out' })
    assert.deepEqual([first.exitCode, first.stdout], [0, 'out\n'])
    const second = await sandbox.process.executeSessionCommand('s', { command: 'echo $X' })
    assert.equal(second.stdout, '5\n')
    await sandbox.process.deleteSession('s')
    await sandbox.delete()
    await gone(sandbox.id)
  },

  async files() {
    const sandbox = await daytona.create()
    await sandbox.fs.createFolder('w', '755')
    await sandbox.fs.uploadFiles([
      { source: Buffer.from('one'), destination: '/home/daytona/w/a' },
      { source: Buffer.from('two!'), destination: 'w/b' },
    ])
    assert.equal((await sandbox.fs.downloadFile('w/a')).toString(), 'one')
    const listed = await sandbox.fs.listFiles('w')
    assert.deepEqual(listed.map((file) => [file.name, file.size]), [['a', 3], ['b', 4]])
    await sandbox.fs.moveFiles('w/a', 'w/c')
    await sandbox.fs.deleteFile('w/c')
    await refused(() => sandbox.fs.downloadFile('w/c'), 'no such file')
    await sandbox.delete()
    await gone(sandbox.id)
  },

  async quota() {
    const sandboxes = []
    for (let count = 0; count < 10; count += 1) sandboxes.push(await daytona.create())
    await refused(() => daytona.create(), 'Total CPU limit exceeded', 400)
    await Promise.all(sandboxes.map((sandbox) => sandbox.delete()))
    await Promise.all(sandboxes.map((sandbox) => gone(sandbox.id)))
  },
}

for (const [name, test] of Object.entries(tests)) {
  console.log(`  ${name}`)
  await test()
}
console.log(`${Object.keys(tests).length} tests passed with the TypeScript SDK`)
process.exit(0)
