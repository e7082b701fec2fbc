import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { protectDataDir } from '../../src/runtime/data-dir.ts'
import { tempDir } from '../support/env.ts'

let dir: string
let remove: () => void
beforeEach(() => {
  ;({ dir, remove } = tempDir())
})
afterEach(() => remove())

const modeOf = (...path: string[]) => statSync(join(dir, ...path)).mode & 0o777

test('DATA_DIR is closed to other users at the start, and with it what the app keeps there', () => {
  chmodSync(dir, 0o755)
  mkdirSync(join(dir, 'imports'))
  for (const name of ['store.sqlite', 'store.sqlite-wal', 'secrets.json', join('imports', 'a.csv')])
    writeFileSync(join(dir, name), '')
  protectDataDir(dir)
  expect(modeOf()).toBe(0o700)
})

test('a folder that does not exist is made', () => {
  protectDataDir(join(dir, 'new', 'data'))
  expect(modeOf('new', 'data')).toBe(0o700)
})

test('an open folder that holds files of others is not changed: the start ends with what to do', () => {
  chmodSync(dir, 0o755)
  writeFileSync(join(dir, 'letter.txt'), '')
  expect(() => protectDataDir(dir)).toThrow(/^DATA_DIR: .*letter\.txt.*chmod 700/)
  expect(modeOf()).toBe(0o755)
})

test('a closed folder that holds files of others is used, and they are left alone', () => {
  writeFileSync(join(dir, 'letter.txt'), '')
  chmodSync(join(dir, 'letter.txt'), 0o644)
  protectDataDir(dir)
  expect(modeOf('letter.txt')).toBe(0o644)
})
