import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readFile } from '../read-support.ts'
import { REAL_FILES } from './all.ts'
import { contentOf } from './real-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'connect-test-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

test('there are at least 45 real price files', () => {
  expect(new Set(REAL_FILES.map(({ file }) => file)).size).toBe(REAL_FILES.length)
  expect(REAL_FILES.length).toBeGreaterThanOrEqual(45)
})

describe('exactly the right items come of', () => {
  test.each(REAL_FILES.map((file) => [file.file, file] as const))('%s', async (name, file) => {
    const { questions = [], choices = {}, items, problems = [] } = file
    const path = join(dir, name)
    writeFileSync(path, contentOf(file))
    const asked = await readFile(path)
    expect(asked.questions).toEqual(questions)
    if (questions.length > 0) expect(asked.items).toEqual([])
    const answered = questions.length > 0 || file.choices ? await readFile(path, choices) : asked
    expect(answered.questions).toEqual([])
    expect(answered.items).toEqual(items)
    expect(answered.problems.map((problem) => Number.parseInt(problem, 10))).toEqual(problems)
    expect(answered.validRows).toBe(items.length)
  })
})
