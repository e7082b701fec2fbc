import type { Assumption } from '../../../connect/index.ts'
import type { Finding } from '../../../web/kit.ts'
import { type Contract, placeOf } from '../../contracts.ts'

interface Observation {
  /** `warning`: the platform differs, and the app works. `failure`: the app does not work. */
  status: 'not seen' | 'ok' | 'warning' | 'failure'
  seen: string[]
}

const RANK: Record<Observation['status'], number> = { 'not seen': 0, ok: 1, warning: 2, failure: 2 }

export type Comparisons = ReturnType<typeof createComparisons>

/**
 * Compares the platform with the assumptions of the contracts. Several observations may concern one assumption: it is confirmed
 * only if none of them differs. Findings describe what was seen by names, types, statuses, error codes, and numbers such as lengths
 * and the seconds of `expires_in`. They have no other value of the platform.
 */
export function createComparisons(contracts: readonly Contract[]) {
  const observations = new Map<string, Observation>()
  const hidden: string[] = []

  function add(id: string, status: Observation['status'], text: string): void {
    if (!contracts.some(({ assumptions }) => assumptions.some((known) => known.id === id)))
      throw new Error(`no contract has the assumption ${id}`)
    const before = observations.get(id)
    if (before && RANK[before.status] > RANK[status]) return
    const shown = hidden.reduce((rest, value) => rest.replaceAll(value, '(a value)'), text)
    // Only the latest reason why something was not seen counts.
    const isMore = before !== undefined && status !== 'not seen' && RANK[before.status] === RANK[status]
    const seen = isMore ? [...new Set([...before.seen, shown])] : [shown]
    observations.set(id, { status: isMore && before.status === 'failure' ? 'failure' : status, seen })
  }

  const confirm = (id: string, seen: string): void => add(id, 'ok', seen)
  /** `copes`: whether the app works nevertheless. */
  const differ = (id: string, seen: string, copes: boolean): void =>
    add(id, copes ? 'warning' : 'failure', seen)
  return {
    confirm,
    differ,
    /** Confirms the assumption, or says what differs. */
    compare: (id: string, isAsAssumed: boolean, seen: string, copes: boolean): void =>
      isAsAssumed ? confirm(id, seen) : differ(id, seen, copes),
    /** `how`: how another run could see it. */
    notSeen: (id: string, how: string): void => add(id, 'not seen', how),
    /** Keeps these values out of every finding, in case the platform uses them as names. */
    hide(...values: (string | null | undefined)[]): void {
      for (const value of values) if (value && value.length > 3) hidden.push(value)
    },
    /** A finding for each assumption of all contracts, the most important ones first. */
    findings: (): Finding[] =>
      contracts
        .flatMap((contract) => contract.assumptions.map((assumption) => ({ contract, assumption })))
        .toSorted((one, other) => one.assumption.importance - other.assumption.importance)
        .map(({ contract, assumption }) => toFinding(contract, assumption, observations.get(assumption.id))),
  }
}

const NOT_REACHED = 'The check ended before this point, or got no usable answer. Run it again.'

/** The text of the assumption comes from its contract, and the finding adds what was seen. */
function toFinding(contract: Contract, assumption: Assumption, observation?: Observation): Finding {
  const { id, topic, assumed, setting, cure, otherwise } = assumption
  if (!observation)
    return otherwise
      ? { id, status: 'not checked', text: `${topic}: ${otherwise}` }
      : { id, status: 'not seen', text: `${topic}: ${NOT_REACHED}` }
  const { status } = observation
  const seen = `${topic}: ${observation.seen.join('; ')}`
  if (status === 'not seen' || status === 'ok') return { id, status, text: seen }
  const places = [setting, `\`${placeOf(contract, assumption)}\``].filter(Boolean).join(', ')
  const works = status === 'warning' ? 'The app works' : 'The app does not work'
  const text = `${seen}. ${works}. Assumed: ${assumed} What to do: ${cure} (${places})`
  const [, first] = /`(\w+)`/.exec(setting ?? '') ?? []
  return { id, status, text, ...(first !== undefined && { setting: first }) }
}
