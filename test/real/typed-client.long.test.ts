import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fileOf } from '../../src/cli/programs.ts'
import { type Running, startAll } from '../support/app.ts'
import { ROOT, read } from '../support/documents.ts'
import { tempDir } from '../support/env.ts'

const [, section = ''] = read('docs/http-api.md').split('## A typed client')
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

/** Throws with the compiler's output. It is the compiler of this project, which is faster than that of the folder. */
async function compile(source: string): Promise<void> {
  writeFileSync(join(dir, 'client.ts'), source)
  const options =
    '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --allowImportingTsExtensions'
  await exec(process.execPath, [fileOf(ROOT, 'tsc'), ...options.split(' '), 'client.ts'], { cwd: dir })
}

test('the typed client of docs/http-api.md compiles, and refuses a field and a path that the API does not have', async () => {
  writeFileSync(join(dir, 'package.json'), '{ "name": "client", "private": true, "type": "module" }')
  for (const command of commands.trim().split('\n'))
    await shell(command.replace('http://localhost:3000', app.url))
  await compile(code)
  await expect(compile(code.replace('status }', 'statuses }'))).rejects.toThrow()
  await expect(compile(code.replace("'/connections'", "'/connexions'"))).rejects.toThrow()
})
