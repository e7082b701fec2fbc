import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { copyProject } from '../support/project.ts'

let copy: ReturnType<typeof copyProject>
beforeAll(() => {
  copy = copyProject()
})
afterAll(() => copy.remove())

describe.each([
  ['src/features/broken/index.ts', 'src/start.cjs'],
  ['src/sandbox/features/broken/index.ts', 'src/cli/sandbox.ts'],
])('a broken %s is named in one line by %s', (file, program) => {
  afterEach(() => rmSync(join(copy.dir, file, '..'), { recursive: true }))

  test.each([
    ['export default {', 'cannot be loaded: '],
    ["import './nothing.ts'", 'cannot be loaded: Cannot find module'],
    ['export const broken = {}', 'must export a feature'],
  ])('%s', async (code, problem) => {
    mkdirSync(join(copy.dir, file, '..'))
    writeFileSync(join(copy.dir, file), code)
    const output = await copy.program(program).catch((error: Error) => error.message)
    const lines = output.split('\n').filter((line) => line.trim() !== '')
    expect(lines.slice(1)).toEqual([expect.stringContaining(`${file} ${problem}`)])
  })
})

test('a feature that needs one that is not there says so', async () => {
  const file = 'src/features/broken/index.ts'
  mkdirSync(join(copy.dir, file, '..'))
  writeFileSync(join(copy.dir, file), "export default { title: 'Broken', order: 1, needs: ['nothing'] }")
  await expect(copy.program('src/start.cjs')).rejects.toThrow(
    `${file} needs the feature nothing, which is not there`,
  )
})
