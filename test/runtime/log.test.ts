import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tempDir } from '../support/env.ts'
import { run } from '../support/process.ts'

const LOG = fileURLToPath(new URL('../../src/runtime/log.ts', import.meta.url))

/** Runs a script that logs 5,000 lines to `stdout`, and then runs `end`. */
async function logged(end: string, stdout?: string) {
  const { write, remove } = tempDir()
  const lines = 'for (let line = 0; line < 5_000; line++) log.info(String(line))'
  // The script is JavaScript, because Node would first compile a new TypeScript file.
  const script = write(
    `import { createLog } from ${JSON.stringify(LOG)}\nconst log = createLog('info')\n${lines}\n${end}`,
    'script.mjs',
  )
  const program = run(script, {}, stdout === undefined ? {} : { stdout })
  const exited = await program.exited
  remove()
  return { exited, output: program.output() }
}

test('the log has each line at once, so a process that is killed loses none', async () => {
  const { output } = await logged(`process.kill(process.pid, 'SIGKILL')`)
  const messages = output.split('\n').flatMap((line) => (line ? [JSON.parse(line).msg] : []))
  expect(messages).toEqual(Array.from({ length: 5_000 }, (_, line) => String(line)))
})

// /dev/full, a disk that is always full, exists on Linux only.
test.skipIf(process.platform !== 'linux')(
  'a log that is written to a full disk loses lines and nothing else',
  async () => {
    expect(await logged(`process.stderr.write('went on')`, '/dev/full')).toEqual({
      exited: 0,
      output: 'went on',
    })
  },
)
