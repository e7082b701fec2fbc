import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Running, startAll } from '../support/app.ts'
import { tempDir } from '../support/env.ts'

const docs = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8')
const [, section = ''] = docs.split('## A typed client')
const [, commands = '', code = ''] = /```sh\n([\s\S]*?)```[\s\S]*?```ts\n([\s\S]*?)```/.exec(section) ?? []
const { dir, remove } = tempDir()

const exec = promisify(execFile)
const shell = (command: string) => exec('sh', ['-c', command], { cwd: dir })

let app: Running
beforeAll(async () => {
  app = await startAll()
})
afterAll(async () => {
  remove()
  await app.close()
})

/** Throws with the compiler's output. */
async function compile(source: string): Promise<void> {
  writeFileSync(join(dir, 'client.ts'), source)
  await shell('npx tsc --noEmit --strict --module nodenext --allowImportingTsExtensions client.ts')
}

test('the typed client of docs/http-api.md compiles, and refuses a field that the API does not have', async () => {
  writeFileSync(join(dir, 'package.json'), '{ "name": "client", "private": true, "type": "module" }')
  for (const command of commands.trim().split('\n'))
    await shell(command.replace('http://localhost:3000', app.url))
  await compile(code)
  await expect(compile(code.replace('status }', 'statuses }'))).rejects.toThrow()
  await expect(compile(code.replace("'/connections'", "'/connexions'"))).rejects.toThrow()
})
