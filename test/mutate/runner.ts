/**
 * Runs each test once for every mutant that it reaches, in one process: `mutate.ts` puts all mutants into the code behind a
 * switch, and starting a process for each one would take most of the time.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type RunnerTask, type RunnerTestCase, TestRunner, type TestTryOptions } from 'vitest'

/** What `mutate.ts` wants from a run, in the file that MUTATION_PLAN names. */
export type Plan =
  /** Run each test once, and write down what it reaches. */
  | { phase: 'reach'; reachFile: string }
  /** Run each of these tests for each of its mutants, unless another one has killed it. `ms`: how long the test takes. */
  | {
      phase: 'kill'
      killedFile: string
      suspectsFile: string
      tests: Record<string, { ms: number; mutants: number[] }>
    }
  /** Run the tests with one mutant that is active from the start. */
  | { phase: 'whole'; active: number }

/** A line of `reachFile`. Without a test: what the file reaches when it is loaded, and in its hooks. */
export interface Reached {
  file: string
  test?: string
  ms: number
  passed: boolean
  mutants: number[]
}

const plan: Plan = JSON.parse(readFileSync(process.env.MUTATION_PLAN ?? '', 'utf8'))
const state = { active: plan.phase === 'whole' ? plan.active : 0, reached: new Set<number>(), calls: 0 }
Object.assign(globalThis, { mutation: state })

/** How long a test with a mutant may take, in ms: so many times what it took without, and some more. */
const limitMs = (ms: number) => 4 * ms + 4_000
/** More repetitions than a test has mutants; the last one skips the rest. */
const MANY = 1_000_000

export default class MutationRunner extends TestRunner {
  private startedAt = 0
  private todo: number[] = []
  /** The mutants with which the test failed. It must pass without them in the end, before they count as killed. */
  private suspects: number[] = []
  private ms = 0

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test)
    if (plan.phase !== 'kill' || test.type !== 'test') return
    const { ms = 0, mutants = [] } = plan.tests[test.id] ?? {}
    this.ms = ms
    this.todo = mutants.filter((id) => !isKilled(id))
    this.suspects = []
    if (this.todo.length === 0) test.mode = 'skip'
    else test.repeats = MANY
  }

  override onBeforeTryTask(test: RunnerTask, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options)
    if (plan.phase === 'reach') this.writeReached(test.file.filepath, undefined, true)
    this.startedAt = performance.now()
    if (plan.phase === 'kill') this.chooseMutant(test as RunnerTestCase)
  }

  private chooseMutant(test: RunnerTestCase): void {
    this.todo = this.todo.filter((id) => !isKilled(id))
    state.calls = 0
    state.active = this.todo.shift() ?? 0
    if (state.active === 0 && this.suspects.length === 0) test.context.skip()
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const work = TestRunner.getTestFn(test)()
    if (plan.phase === 'kill') await within(limitMs(this.ms), work)
    else await work
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options)
    const passed = test.result?.state !== 'fail'
    if (plan.phase === 'reach') this.writeReached(test.file.filepath, test.id, passed)
    if (plan.phase === 'kill') this.judge(passed, test.file.filepath)
    if (!test.result) return
    // Vitest would send all of them to the main process, again and again.
    delete test.result.errors
    test.result.attempts = []
  }

  /**
   * A test that fails without a mutant proves nothing: an earlier mutant may have left something behind. Those with which it
   * failed are tried again, each in a process of its own (`suspectsFile`: a line for each with its number and the file).
   */
  private judge(passed: boolean, file: string): void {
    if (plan.phase !== 'kill') return
    if (state.active !== 0) {
      if (!passed) this.suspects.push(state.active)
    } else {
      if (passed && this.suspects.length > 0) appendFileSync(plan.killedFile, `${this.suspects.join(' ')} `)
      if (!passed) for (const id of this.suspects) appendFileSync(plan.suspectsFile, `${id} ${file}\n`)
      this.suspects = []
    }
    state.active = 0
  }

  override onAfterRunFiles(files: { filepath: string }[]): void {
    super.onAfterRunFiles(files as never)
    for (const { filepath } of files) if (plan.phase === 'reach') this.writeReached(filepath, undefined, true)
  }

  private writeReached(file: string, test: string | undefined, passed: boolean): void {
    if (plan.phase !== 'reach') return
    const mutants = [...state.reached]
    state.reached.clear()
    if (test === undefined && mutants.length === 0) return
    const line: Reached = {
      file,
      ...(test && { test }),
      ms: performance.now() - this.startedAt,
      passed,
      mutants,
    }
    appendFileSync(plan.reachFile, `${JSON.stringify(line)}\n`)
  }
}

/** Whether this or another process has killed it by now. */
function isKilled(id: number): boolean {
  if (plan.phase !== 'kill' || !existsSync(plan.killedFile)) return false
  return ` ${readFileSync(plan.killedFile, 'utf8')}`.includes(` ${id} `)
}

async function within(ms: number, work: unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the test takes too long')), ms)
  })
  await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
