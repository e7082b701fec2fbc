import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { features } from '../../src/features/index.ts'
import { copyProject } from '../support/project.ts'

let copy: ReturnType<typeof copyProject>
beforeAll(() => {
  copy = copyProject()
})
afterAll(() => copy.remove())

describe('npm run remove-feature', () => {
  test('lists the features with their size', async () => {
    const output = await copy.removeFeatures()
    for (const { name } of features)
      expect(output).toMatch(new RegExp(`^${name} +\\d+ files, +\\d+ lines`, 'm'))
  })

  test('refuses to remove a feature that another one needs, and changes nothing', async () => {
    const dependent = features.find(({ needs = [] }) => needs.length > 0)
    if (!dependent) return
    const list = readFileSync(join(copy.dir, 'src/features/index.ts'), 'utf8')
    const [needed = ''] = dependent.needs ?? []
    const refused = copy.removeFeatures(needed)
    await expect(refused).rejects.toThrow(/needs .*--with-dependents/)
    expect(readFileSync(join(copy.dir, 'src/features/index.ts'), 'utf8')).toBe(list)
    expect(existsSync(join(copy.dir, 'src/features', needed))).toBe(true)
  })

  test('names the features if the name is unknown', async () => {
    await expect(copy.removeFeatures('nothing')).rejects.toThrow(/There is no feature "nothing"/)
  })
})
