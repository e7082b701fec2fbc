import { StoreUnavailableError } from '../../src/connect/errors.ts'
import { type Key, type KeyValueStore, openSqlite } from '../../src/connect/stores.ts'

/** When an operation fails: before it takes effect, or after it, so that its answer is lost. */
export type Moment = 'before' | 'after'
/** Decides for each operation whether it fails. */
export type Rule = (operation: string, kind: string) => Moment | undefined

const OPERATIONS = ['get', 'getCached', 'set', 'compareAndSet', 'delete', 'list', 'page', 'ofOwner'] as const

/** A store in memory. A rule decides which operations fail. */
export function createFaultyStore(now: () => number = Date.now) {
  const inner = openSqlite({ file: ':memory:', now })
  let rule: Rule = () => undefined
  let count = 0
  const faulty = (name: string, operation: (...args: unknown[]) => Promise<unknown>) =>
    async function failByRule(...args: unknown[]) {
      count++
      const first = args[0] as Key | string
      const moment = rule(name, typeof first === 'string' ? first : first.kind)
      if (moment === 'before') throw new StoreUnavailableError('a fault')
      const result = await operation(...args)
      if (moment === 'after') throw new StoreUnavailableError('a fault')
      return result
    }
  const operations = OPERATIONS.map((name) => [name, faulty(name, inner[name].bind(inner) as never)])
  return {
    store: { ...inner, ...Object.fromEntries(operations) } as KeyValueStore,
    failBy: (next: Rule) => {
      rule = next
    },
    /** Only operation number `failing` from now on fails. Resets the count. */
    failOnce: (failing: number, moment: Moment) => {
      count = 0
      rule = () => (count === failing ? moment : undefined)
    },
    /** The first operation of this kind fails. */
    failFirst: (operation: string, kind: string, moment: Moment = 'before') => {
      let isOver = false
      rule = (name, kindOfKey) => {
        if (isOver || name !== operation || kindOfKey !== kind) return undefined
        isOver = true
        return moment
      }
    },
    heal: () => {
      rule = () => undefined
    },
    /** The number of operations so far. */
    count: () => count,
  }
}

/**
 * Runs `scenario` without a fault, and then once for each of its operations and each moment with that operation failing.
 * `scenario` resolves to the number of operations.
 */
export async function forEachFault(
  scenario: (failing: number, moment: Moment) => Promise<number>,
): Promise<void> {
  const operations = await scenario(0, 'before')
  const faults = Array.from({ length: operations }, (_, index) => index + 1)
  await Promise.all(faults.flatMap((failing) => [scenario(failing, 'before'), scenario(failing, 'after')]))
}
