/**
 * `npm run mutate -- PATH [PATH...]`: puts small faults (mutants) into the files of these folders, one at a time, in a copy
 * of the project, and counts those that the tests notice. Exits with 1 if they notice less than 85 % in one of the paths.
 *
 * Options: `--sample N` tries N mutants of each path, the same ones for the same `--seed` (default 1); `--tests PATH` runs
 * the tests of this folder or file (default `test/connect`; may be repeated); `--long` runs the long ones of a folder as well.
 */
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createVitest, type Vitest } from 'vitest/node'
import { tempDir } from '../support/env.ts'
import { copyProject } from '../support/project.ts'
import config from '../vitest.config.ts'
import longConfig from '../vitest.long.config.ts'
import { instrument, type Mutant } from './mutants.ts'
import type { Plan, Reached } from './runner.ts'

const MIN_SCORE = 85
/**
 * A mutant is tried with so many of the tests that reach it; if it survives, with more, and in the end with all. First come
 * the quick tests that reach little else: they are the most likely to be about it.
 */
const ROUNDS = [8, 30, Number.POSITIVE_INFINITY]

const USAGE = 'npm run mutate -- PATH [PATH...] [--sample N] [--seed N] [--tests PATH] [--long]'
const { values, paths } = readArguments()

// Without its projects: each file has a process of its own here, as what a mutant leaves behind must not reach the next one.
const { projects: _projects, ...settings } = config.test ?? {}
const startedAt = performance.now()
const project = copyProject()
const work = tempDir()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
process.once('exit', () => {
  project.remove()
  work.remove()
})
// What a mutant writes into the folder of the process goes with the copy.
process.chdir(project.dir)
const planFile = join(work.dir, 'plan.json')
process.env.MUTATION_PLAN = planFile
const mutants = paths.flatMap((path, index) => mutantsOf(path, index))
if (mutants.length === 0) refuse(`There is nothing to change in ${paths.join(', ')}.`)
console.log(`${mutants.length} mutants`)
process.exit(report(mutants, await findKilled(mutants)) ? 0 : 1)

type Listed = Mutant & { path: string }

function refuse(problem: string): never {
  console.error(problem)
  process.exit(2)
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        sample: { type: 'string' },
        seed: { type: 'string', default: '1' },
        tests: { type: 'string', multiple: true, default: ['test/connect'] },
        long: { type: 'boolean', default: false },
      },
    })
    if (positionals.length === 0) refuse(USAGE)
    for (const number of [values.sample ?? '1', values.seed])
      if (!/^[1-9]\d*$/.test(number)) refuse(`${number} must be a number. ${USAGE}`)
    return {
      values: { ...values, tests: values.tests.map((path) => inProject(path)) },
      paths: positionals.map((path) => inProject(path, /(^|\/)[^.]*$|\.ts$/)),
    }
  } catch (error) {
    return refuse(`${(error as Error).message} ${USAGE}`)
  }
}

/** A folder or a file of the project, relative to its root. */
function inProject(path: string, pattern = /./): string {
  const inside = relative(process.cwd(), resolve(path))
  if (inside.startsWith('..') || !existsSync(inside) || !pattern.test(inside))
    refuse(`${path} must be a folder or a TypeScript file of this project.`)
  return inside
}

/** Puts the mutants of a path into the copy, and lists them. */
function mutantsOf(path: string, index: number): Listed[] {
  const files = statSync(path).isDirectory() ? globSync(`${path}/**/*.ts`).sort() : [path]
  /** The ids of each path are apart, so that the sample of a path does not depend on the others. */
  const firstId = index * 100_000 + 1
  const find = (isWanted?: (id: number) => boolean) => {
    let nextId = firstId
    return files.map((file) => {
      const found = instrument(file, readFileSync(file, 'utf8'), nextId, isWanted)
      nextId += found.count
      return { file, ...found }
    })
  }
  const all = find().flatMap((found) => found.mutants.map(({ id }) => id))
  const wanted = new Set(values.sample === undefined ? all : sample(all, Number(values.sample)))
  return find((id) => wanted.has(id)).flatMap(({ file, code, mutants }) => {
    writeFileSync(join(project.dir, file), code)
    return mutants.map((mutant) => ({ ...mutant, path }))
  })
}

/** Picks `count` of the ids, the same ones for the same seed. */
function sample(ids: number[], count: number): number[] {
  let random = Number(values.seed)
  const keyed = ids.map((id) => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    return { id, key: random }
  })
  return keyed
    .sort((a, b) => a.key - b.key)
    .slice(0, count)
    .map(({ id }) => id)
}

async function findKilled(mutants: Listed[]): Promise<Set<number>> {
  const reached = await findReached()
  const killed = new Set<number>()
  const [killedFile, suspectsFile] = [join(work.dir, 'killed'), join(work.dir, 'suspects')]
  for (const file of [killedFile, suspectsFile]) writeFileSync(file, '')
  for (const { file, test, passed } of reached)
    if (!passed)
      console.log(`${relative(project.dir, file)}: a test fails without mutants and is not used (${test})`)
  const usable = reached.filter(({ test, passed }) => test !== undefined && passed)
  usable.sort((a, b) => a.ms * a.mutants.length - b.ms * b.mutants.length)
  let from = 0
  for (const to of ROUNDS) {
    const tests: Extract<Plan, { phase: 'kill' }>['tests'] = {}
    const files = new Set<string>()
    for (const { id } of mutants.filter(({ id }) => !killed.has(id)))
      for (const { file, test = '', ms } of usable
        .filter((each) => each.mutants.includes(id))
        .slice(from, to)) {
        tests[test] ??= { ms, mutants: [] }
        tests[test].mutants.push(id)
        files.add(file)
      }
    if (files.size > 0) await runTests({ phase: 'kill', killedFile, suspectsFile, tests }, [...files])
    for (const id of readFileSync(killedFile, 'utf8').split(' ')) killed.add(Number(id))
    note(
      `${mutants.filter(({ id }) => killed.has(id)).length} killed after ${Number.isFinite(to) ? `${to} tests` : 'all tests'} of each`,
    )
    from = to
  }
  // What only runs while a file is loaded, or in a hook of all its tests, is tried with the mutant from the start; so are
  // the suspects.
  const inTests = new Set(reached.flatMap(({ test, mutants }) => (test === undefined ? [] : mutants)))
  const failing = new Set(reached.filter(({ passed }) => !passed).map(({ file }) => file))
  const suspects = readFileSync(suspectsFile, 'utf8').split('\n').filter(Boolean)
  for (const { id } of mutants.filter(({ id }) => !killed.has(id))) {
    const files = suspects
      .filter((line) => line.startsWith(`${id} `))
      .map((line) => line.slice(line.indexOf(' ') + 1))
    if (!inTests.has(id))
      files.push(...reached.filter(({ mutants }) => mutants.includes(id)).map(({ file }) => file))
    const usableFiles = [...new Set(files)].filter((file) => !failing.has(file))
    if (usableFiles.length > 0 && !(await runTests({ phase: 'whole', active: id }, usableFiles)))
      killed.add(id)
  }
  note('done')
  return killed
}

/** Runs all tests once, and resolves to what each of them reaches. */
async function findReached(): Promise<Reached[]> {
  const reachFile = join(work.dir, 'reached')
  writeFileSync(reachFile, '')
  const suffix = values.long ? '*.test.ts' : '!(*.long).test.ts'
  const patterns = values.tests.map((path) => (statSync(path).isFile() ? path : `${path}/**/${suffix}`))
  const files = patterns.flatMap((pattern) => globSync(pattern)).map((file) => join(project.dir, file))
  // Without a file, vitest would run all tests.
  if (files.length === 0) refuse(`There are no tests in ${values.tests.join(', ')}.`)
  await runTests({ phase: 'reach', reachFile }, files)
  const lines = readFileSync(reachFile, 'utf8').split('\n').filter(Boolean)
  if (lines.length === 0) throw new Error(`No test ran in ${values.tests.join(', ')}.`)
  note(`the tests run without mutants`)
  return lines.map((line) => JSON.parse(line))
}

/** Runs test files. Resolves to whether all tests passed. */
async function runTests(plan: Plan, files: string[]): Promise<boolean> {
  writeFileSync(planFile, JSON.stringify(plan))
  const vitest: Vitest = await createVitest('test', {
    ...settings,
    config: false,
    root: project.dir,
    watch: false,
    include: ['test/**/*.test.ts'],
    exclude: [],
    runner: join(import.meta.dirname, 'runner.ts'),
    reporters: [{}],
    bail: plan.phase === 'whole' ? 1 : 0,
    dangerouslyIgnoreUnhandledErrors: true,
    maxWorkers: 4,
    ...(values.long && { env: longConfig.test?.env ?? {}, testTimeout: longConfig.test?.testTimeout ?? 0 }),
  })
  try {
    const { testModules } = await vitest.runTestSpecifications(
      await vitest.globTestSpecifications(files),
      true,
    )
    return testModules.every((module) => module.ok())
  } finally {
    await vitest.close()
  }
}

function note(what: string): void {
  console.log(`${Math.round((performance.now() - startedAt) / 1000)} s: ${what}`)
}

/** Prints a table of the files, and the mutants that survived. Returns whether every path has the score that it must have. */
function report(mutants: Listed[], killed: Set<number>): boolean {
  const row = (name: string, of: Listed[]) => {
    const dead = of.filter(({ id }) => killed.has(id)).length
    const score = of.length === 0 ? 100 : (100 * dead) / of.length
    const cells = [of.length, dead, of.length - dead].map((count) => String(count).padStart(9))
    console.log(`${name.padEnd(56)}${cells.join('')}${score.toFixed(1).padStart(9)}`)
    return score
  }
  console.log(`\n${''.padEnd(56)}  mutants   killed survived  score %`)
  const scores = paths.map((path) => {
    const own = mutants.filter((mutant) => mutant.path === path)
    for (const [file, each] of Map.groupBy(own, ({ file }) => file)) if (file !== path) row(file, each)
    return row(path, own)
  })
  console.log('')
  for (const { id, file, line, original, mutant } of mutants)
    if (!killed.has(id)) console.log(`${file}:${line} ${original} -> ${mutant}`)
  return scores.every((score) => score >= MIN_SCORE)
}
