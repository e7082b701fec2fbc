import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openProject } from '../../src/cli/project.ts'
import { removeFeatures } from '../../src/cli/removal.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { copyProject } from '../support/project.ts'

const features = await loadFeatures()

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

  test('refuses if a marker has no end, and changes nothing', async () => {
    const [feature] = features
    if (!feature) return
    const file = join(copy.dir, 'docs/unfinished.md')
    writeFileSync(file, `# Notes\n\n<!-- feature: ${feature.name} -->\ntext\n`)
    await expect(copy.removeFeatures(feature.name, '--with-dependents')).rejects.toThrow(
      /docs\/unfinished\.md: a "feature" marker has no end/,
    )
    rmSync(file)
    expect(existsSync(join(copy.dir, 'src/features', feature.name))).toBe(true)
  })

  test('cuts out the parts of a feature, and nothing of another whose name starts alike', () => {
    const [feature] = features
    if (!feature) return
    const own = copyProject()
    const other = `<!-- feature: ${feature.name}-too -->\nother\n<!-- end of feature -->\n`
    const notes = `# Notes\n\n\nText.\n\n${other}`
    writeFileSync(
      join(own.dir, 'docs/notes.md'),
      `${notes}<!-- feature: ${feature.name} -->\ngone\n<!-- end of feature -->\n`,
    )
    removeFeatures(openProject(own.dir), [feature.name])
    expect(readFileSync(join(own.dir, 'docs/notes.md'), 'utf8')).toBe(notes)
    own.remove()
  })

  test('names the file that has changes which are not committed', async () => {
    const own = copyProject()
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: own.dir })
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'all')
    const [feature] = features.filter(({ name }) => !features.some(({ needs = [] }) => needs.includes(name)))
    if (!feature) return own.remove()
    const file = `src/features/${feature.name}/index.ts`
    appendFileSync(join(own.dir, file), '// Mine.\n')
    await expect(own.removeFeatures(feature.name)).rejects.toThrow(`not committed (${file})`)
    own.remove()
  })

  test('names the features if the name is unknown', async () => {
    await expect(copy.removeFeatures('nothing')).rejects.toThrow(/There is no feature "nothing"/)
  })
})
