import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { tempDir } from '../support/env.ts'
import { run } from '../support/process.ts'

const LOG = fileURLToPath(new URL('../../src/runtime/log.ts', import.meta.url))

/** Runs a script that has a `log`, and returns the messages that it logged. */
async function messagesOf(script: string): Promise<string[]> {
  const { dir, remove } = tempDir()
  const file = join(dir, 'script.ts')
  writeFileSync(
    file,
    `import { createLog } from ${JSON.stringify(LOG)}\nconst log = createLog('info')\n${script}`,
  )
  const program = run(file)
  await program.exited
  remove()
  return program
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line).msg)
}

describe('the log', () => {
  test.each([
    ['ends by itself', ''],
    ['exits', 'process.exit(3)'],
    ['ends by an exception', `setImmediate(() => { throw new Error('of the script') })`],
    ['ends by a rejected promise', `Promise.reject(new Error('of the script'))`],
  ])('loses no line of a process that %s', async (_how, end) => {
    const messages = await messagesOf(
      `for (let line = 0; line < 5_000; line++) log.info(String(line))\n${end}`,
    )
    expect(messages).toEqual(Array.from({ length: 5_000 }, (_, line) => String(line)))
  })

  test('has each line at once, even if the process is killed', async () => {
    const script = `log.info('one')\nlog.warn('two')\nlog.info('three')\nprocess.kill(process.pid, 'SIGKILL')`
    expect(await messagesOf(script)).toEqual(['one', 'two', 'three'])
  })
})
