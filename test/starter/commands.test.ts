import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mergeJson } from '../../src/cli/merge-json.ts'
import { slugOf } from '../../src/cli/naming.ts'
import { selectFiles } from '../../src/cli/update-selection.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { command } from '../support/process.ts'
import { copyProject } from '../support/project.ts'

const features = await loadFeatures()

let copy: ReturnType<typeof copyProject>
beforeAll(() => {
  copy = copyProject()
})
afterAll(() => copy.remove())
const exists = (path: string) => existsSync(join(copy.dir, path))

describe('npm run remove-feature', () => {
  const remove = (...args: string[]) => copy.command('remove-feature', ...args)

  test('lists the features with their size', async () => {
    const output = await remove()
    for (const { name } of features)
      expect(output).toMatch(new RegExp(`^${name} +\\d+ files, +\\d+ lines`, 'm'))
  })

  test('refuses to remove a feature that another one needs, and changes nothing', async () => {
    const needed = features.flatMap(({ needs = [] }) => needs)[0]
    if (needed === undefined) return
    await expect(remove(needed)).rejects.toThrow(`needs ${needed}. Remove both`)
    expect(exists(`src/features/${needed}`)).toBe(true)
  })

  test('names the features if the name is unknown', async () => {
    await expect(remove('nothing')).rejects.toThrow(/There is no feature "nothing"/)
  })
})

describe('npm run add-feature', () => {
  const add = (...args: string[]) => copy.command('add-feature', ...args)

  test.each([
    ['a name that is no noun in lower case', ['Orders'], /plural noun in lower case/],
    ['a name that a folder of pages has', ['sandbox'], /is taken \(views\/sandbox\)/],
    ['a name that is an address', ['refresh'], /is taken \(src\/web\/connections\.ts\)/],
    ['a plural that has no certain singular', ['statuses'], /"statuses": add --singular/],
    ['another one', ['movies'], /"movies": add --singular/],
  ])('refuses %s, and changes nothing', async (_what, args, message) => {
    await expect(add(...args)).rejects.toThrow(message)
    expect(exists(`src/features/${args[0]}/contract.ts`)).toBe(false)
  })

  test('refuses the name of a feature, and a path that the sandbox has, and changes nothing', async () => {
    for (const { name } of features.slice(0, 1))
      await expect(add(name)).rejects.toThrow(`is taken (src/features/${name}): choose another name`)
    if (!exists('src/sandbox/features/leads')) return
    await expect(add('customers', '--path', '/leads')).rejects.toThrow(/choose another --path/)
    expect(exists('src/features/customers')).toBe(false)
  })
})

// The commands of one feature stand for those of all.
describe.skipIf(!features.some(({ name }) => name === 'first-party'))('npm run feature', () => {
  const run = (...args: string[]) => command('src/cli/feature.ts', {}, { args })

  test('lists the commands of the features, each with what it does', async () => {
    const { output } = await run()
    expect(output).toMatch(/^ {2}first-party tenants: lists the tenants .*\.$/m)
    expect((await run('first-party')).output).not.toContain('load-prices')
  })

  test('runs a command with its arguments', async () => {
    expect((await run('first-party', 'tenants', '--help')).output).toContain('--demo')
  })

  test('names those that there are if a name is unknown', async () => {
    expect(await run('nothing')).toMatchObject({ code: 1, output: expect.stringContaining('first-party') })
    expect(await run('first-party', 'no')).toMatchObject({
      code: 1,
      output: expect.stringContaining('tenants'),
    })
  })
})

test.each([
  ['Acme Link', 'acme-link'],
  ['Söhne Links', 'sohne-links'],
  ["O'Brien & Sons", 'obrien-sons'],
])('the name %s makes the package %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

describe('an update', () => {
  test('merges package.json by keys: what the product has changed or deleted stays so', () => {
    const base = { dependencies: { a: '1', b: '1', c: '1' }, scripts: { bench: 'x' } }
    const ours = { dependencies: { a: '1', b: '2' }, scripts: {} }
    const theirs = { dependencies: { a: '2', b: '3', c: '2', d: '1' }, scripts: { bench: 'y' } }
    expect(mergeJson(base, ours, theirs)).toEqual({ dependencies: { a: '2', b: '2', d: '1' }, scripts: {} })
  })

  test('leaves out what the product has deleted, what is new in folders that it has deleted, and new features unless they are wanted', () => {
    const files = {
      base: ['src/a.ts', 'src/b.ts', 'test/bench/x.ts', 'src/features/old/index.ts'],
      ours: ['src/a.ts', 'src/features/own/index.ts'],
      theirs: [
        ...['src/a.ts', 'src/b.ts', 'src/c.ts', 'test/bench/x.ts', 'test/bench/y.ts'],
        ...['src/features/old/index.ts', 'test/features/old/new.test.ts'],
        ...['src/features/fresh/index.ts', 'docs/fresh.md', 'src/features/own/index.ts'],
      ],
    }
    const { newFeatures, isLeftOut: leftOut } = selectFiles(files, [])
    expect(newFeatures).toEqual(['fresh'])
    expect(['src/a.ts', 'src/c.ts'].filter(leftOut)).toEqual([])
    const out = ['src/b.ts', 'test/bench/y.ts', 'test/features/old/new.test.ts', 'src/features/own/index.ts']
    expect(out.filter(leftOut)).toEqual(out)
    const fresh = ['src/features/fresh/index.ts', 'docs/fresh.md']
    expect(fresh.filter(leftOut)).toEqual(fresh)
    expect(fresh.filter(selectFiles(files, ['fresh']).isLeftOut)).toEqual([])
    expect(() => selectFiles(files, ['other'])).toThrow(/New are: fresh/)
  })
})
