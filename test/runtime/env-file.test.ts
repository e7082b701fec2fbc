import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tempDir } from '../support/env.ts'
import { command } from '../support/process.ts'

let folder: ReturnType<typeof tempDir>
beforeEach(() => {
  folder = tempDir()
})
afterEach(() => folder.remove())

test('the first line of an .env that begins with a byte order mark counts like any other', async () => {
  writeFileSync(join(folder.dir, '.env'), '\uFEFFDATA_DIR=of-this-file\r\nLOG_LEVEL=info\r\n')
  const { output } = await command('src/cli/backup.ts', {}, { args: ['copy'], cwd: folder.dir })
  expect(output).toContain('DATA_DIR: there is no of-this-file')
})
