import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FlowRecords } from '../../../src/connect/authorization/flow-records.ts'
import {
  aged,
  arrived,
  claimed,
  confirmed,
  ended,
  FLOW_MS,
  type Flow,
  type FlowRecord,
  flowOf,
  NO_FLOWS,
  questionOf,
  started,
  withFlow,
} from '../../../src/connect/authorization/flows.ts'
import { platform } from '../../../src/connect/index.ts'
import { openSqlite } from '../../../src/connect/stores.ts'
import { newKey } from '../../support/vault.ts'

const NOW = 1_800_000_000_000

/** Fresh values of a transition. `name`: the name of the flow that may begin. Its state and its verifier contain this name. */
const fresh = (name = 'fresh', now = NOW) => ({
  now,
  id: name,
  state: `state of ${name}`,
  codeVerifier: `verifier of ${name}`,
})

/** The record after a button was pressed. */
const afterPress = (record: FlowRecord, name: string, expected: string | undefined, now = NOW) =>
  withFlow(record, started(fresh(name, now), expected), name)
/** The record after buttons were pressed, each with the business to reconnect, if any: flow-0, flow-1 and so on. */
const pressed = (...buttons: (string | undefined)[]): FlowRecord =>
  buttons.reduce<FlowRecord>(
    (record, expected, index) => afterPress(record, `flow-${index}`, expected),
    NO_FLOWS,
  )
/** The record after a bxcontext has arrived. */
const afterArrival = (record: FlowRecord, bxcontext: string, name?: string, now?: number) =>
  withFlow(record, arrived(record, bxcontext, fresh(name, now)))
/** One flow whose consent page was opened. */
const consenting = () => afterArrival(pressed(undefined), 'a')
const claim = (record: FlowRecord, state = 'state of flow-0', now = NOW, visit = 'first') =>
  claimed(record, state, visit, { now, exchangeMs: 45_000 })
/** The record after the callback was opened. */
const afterClaim = (record: FlowRecord, now = NOW) =>
  withFlow(record, claim(record, 'state of flow-0', now) as Flow)
/** The record after its last button's flow has ended. */
const afterEnd = (record: FlowRecord, outcome: Parameters<typeof ended>[1] = { connected: 'a' }) =>
  withFlow(record, ended(flowOf(record, record.last) as Flow, outcome))

const planted = expect.objectContaining({ code: 'missing_authorization_request' })

describe('a bxcontext belongs to the flow that the last button began', () => {
  test.each([
    ['Connect', [undefined], 'a', { id: 'flow-0', phase: 'consenting' }],
    ['Connect twice', [undefined, undefined], 'a', { id: 'flow-1', phase: 'consenting' }],
    ['Reconnect a', ['a'], 'a', { id: 'flow-0', phase: 'consenting' }],
    ['Reconnect a', ['a'], 'b', { id: 'flow-0', phase: 'confirming', expected: 'a' }],
    ['Connect, then Reconnect a', [undefined, 'a'], 'b', { id: 'flow-1', phase: 'confirming' }],
    ['Reconnect a, then Reconnect b', ['a', 'b'], 'a', { id: 'flow-1', phase: 'confirming' }],
    ['Reconnect a, then Connect', ['a', undefined], 'a', { id: 'flow-1', phase: 'consenting' }],
  ])('after %s (%j), %s', (_buttons, buttons, bxcontext, flow) => {
    expect(arrived(pressed(...buttons), bxcontext, fresh())).toMatchObject(flow)
  })

  test('and is refused without one, and once that flow has ended, whatever other flows wait for', () => {
    const over = afterEnd(pressed(undefined, undefined))
    for (const record of [NO_FLOWS, afterEnd(consenting()), over])
      expect(() => arrived(record, 'b', fresh())).toThrow(planted)
  })
})

describe('a bxcontext for a flow that has gone on', () => {
  const question = () => afterArrival(pressed('a'), 'b')
  const atConsent = () => afterArrival(pressed('a'), 'a')

  test.each([
    ['asks', question()],
    ['asks for consent', atConsent()],
    ['exchanges its code', afterClaim(atConsent())],
  ])('begins a second one of the same intent while the first %s', (_phase, record) => {
    const again = arrived(record, 'a', fresh('second', NOW + 1))
    expect(again).toMatchObject({
      id: 'second',
      phase: 'consenting',
      expected: 'a',
      state: 'state of second',
    })
    expect(again.expiresAt).toBe(NOW + 1 + FLOW_MS)
    expect(arrived(record, 'c', fresh('second'))).toMatchObject({ phase: 'confirming', expected: 'a' })
    expect(withFlow(record, again)).toMatchObject({ flows: [record.flows[0], again], last: 'flow-0' })
  })

  test('has its own state: both may finish, in any order', () => {
    const both = afterArrival(consenting(), 'b', 'second')
    expect(claim(both, 'state of second')).toMatchObject({ id: 'second', bxcontext: 'b' })
    expect(claim(both)).toMatchObject({ id: 'flow-0', bxcontext: 'a' })
    expect(claim(afterEnd(both), 'state of second')).toMatchObject({ phase: 'exchanging', bxcontext: 'b' })
  })
})

describe('a question', () => {
  const asked = () => afterArrival(pressed('a'), 'b')
  const answer = (record: FlowRecord, name?: string) =>
    withFlow(record, confirmed(record, 'flow-0', fresh(name)))

  test('may be answered again by who goes back, and each answer has its own consent', () => {
    const answered = answer(asked())
    expect(questionOf(answered, 'flow-0')).toEqual(questionOf(asked(), 'flow-0'))
    const twice = answer(answered, 'second')
    expect(claim(twice)).toMatchObject({ id: 'flow-0', bxcontext: 'b' })
    expect(claim(twice, 'state of second')).toMatchObject({ id: 'second', bxcontext: 'b', expected: 'a' })
  })

  test('is over once its flow has ended, and there is none in a flow that got what it expected', () => {
    for (const record of [afterEnd(answer(asked())), afterArrival(pressed('a'), 'a'), consenting(), NO_FLOWS])
      expect(() => questionOf(record, 'flow-0')).toThrow(planted)
  })
})

describe('a callback', () => {
  test('has the flow for its first visit, and its outcome for the others', () => {
    const record = afterClaim(consenting())
    expect(record.flows).toMatchObject([{ phase: 'exchanging', visit: 'first' }])
    expect(claim(record, 'state of flow-0', NOW, 'second')).toBe(record.flows[0])
    const over = afterEnd(record, { failed: 'consent_denied' })
    expect(claim(over)).toMatchObject({ phase: 'ended', outcome: { failed: 'consent_denied' } })
  })

  test('in the last second keeps its flow until the exchange is over', () => {
    const record = afterClaim(consenting(), NOW + FLOW_MS - 1)
    expect(aged(record, NOW + FLOW_MS + 40_000)).toEqual(record)
  })
})

describe('a user who takes longer than 15 minutes', () => {
  const late = NOW + FLOW_MS
  const tooLate = expect.objectContaining({ code: 'consent_expired', expected: 'a', flowId: 'flow-0' })

  test('is told so, with the business to reconnect, whichever step comes next', () => {
    const consented = aged(afterArrival(pressed('a'), 'a'), late)
    expect(claim(consented)).toMatchObject({ expected: 'a', outcome: { failed: 'consent_expired' } })
    expect(() => arrived(aged(pressed('a'), late), 'a', fresh())).toThrow(tooLate)
    expect(() => arrived(consented, 'a', fresh())).toThrow(tooLate)
    const asked = aged(afterArrival(pressed('a'), 'b'), late)
    expect(() => questionOf(asked, 'flow-0')).toThrow(tooLate)
  })
})

test('an exchange whose process ended is known as not finished', () => {
  const later = aged(afterClaim(consenting()), NOW + 45_000)
  expect(claim(later)).toMatchObject({ phase: 'ended', outcome: { failed: 'exchange_incomplete' } })
})

test('a flow that has ended has no secret', () => {
  for (const record of [
    aged(consenting(), NOW + FLOW_MS),
    afterEnd(consenting()),
    afterEnd(afterClaim(consenting())),
  ])
    expect(JSON.stringify(record)).not.toContain('verifier')
})

/** The events of a browser session, in any number of tabs. */
type Happening =
  | { press: string | undefined }
  | { arrive: string }
  | { answer: number }
  | { open: number }
  | { end: number }
  | { wait: number }
const business = fc.constantFrom('a', 'b', 'c')
const which = fc.nat(30)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ press: fc.option(business, { nil: undefined }) }),
  { weight: 4, arbitrary: fc.record({ arrive: business }) },
  fc.record({ answer: which }),
  fc.record({ open: which }),
  fc.record({ end: which }),
  fc.record({ wait: fc.integer({ min: 0, max: FLOW_MS }) }),
)

/** A session, with its pages and its record. */
class Session {
  record = NO_FLOWS
  now = NOW
  /** The button that was pressed last, and the business that it named. */
  button: { id: string; expected: string | undefined; at: number } | null = null
  /** For each state, the business that the consent page asks about, and the businesses that earlier buttons and questions named. */
  readonly consents = new Map<string, { id: string; bxcontext: string; agreed: (string | undefined)[] }>()
  readonly questions: { id: string; bxcontext: string; expected: string }[] = []
  #count = 0

  happen(what: Happening): void {
    const name = `flow-${this.#count++}`
    this.record = aged(this.record, this.now)
    if ('wait' in what) this.now += what.wait
    else if ('press' in what) {
      this.button = { id: name, expected: what.press, at: this.now }
      this.record = afterPress(this.record, name, what.press, this.now)
    } else if ('arrive' in what) this.#arrive(what.arrive, name)
    else if ('answer' in what) this.#answer(what.answer, name)
    else this.#visit(what, name)
  }

  #arrive(bxcontext: string, name: string): void {
    const last = flowOf(this.record, this.button?.id ?? null)
    if (!last || last.phase === 'ended') {
      expect(() => arrived(this.record, bxcontext, fresh(name, this.now))).toThrow()
      return
    }
    const flow = arrived(this.record, bxcontext, fresh(name, this.now))
    expect(flow).toMatchObject({ bxcontext, expected: this.button?.expected })
    this.record = withFlow(this.record, flow)
    if (flow.phase === 'confirming') this.questions.push(flow)
    else this.consents.set(flow.state, { id: flow.id, bxcontext, agreed: [this.button?.expected] })
  }

  #answer(index: number, name: string): void {
    const question = this.questions[index % this.questions.length]
    if (!question) return
    const flow = flowOf(this.record, question.id)
    if (!flow || flow.phase === 'ended') return
    const consent = confirmed(this.record, question.id, fresh(name, this.now))
    // The business on the page, and not a business that arrived later.
    expect(consent).toMatchObject({ bxcontext: question.bxcontext, expected: question.expected })
    this.record = withFlow(this.record, consent)
    this.consents.set(consent.state, {
      id: consent.id,
      bxcontext: question.bxcontext,
      agreed: [question.expected, question.bxcontext],
    })
  }

  #visit(what: { open: number } | { end: number }, visit: string): void {
    const states = [...this.consents]
    const [state, consent] = states[('open' in what ? what.open : what.end) % states.length] ?? []
    if (!state || !consent) return
    const flow = claimed(this.record, state, visit, { now: this.now, exchangeMs: 45_000 })
    if (!flow) return void expect(flowOf(this.record, consent.id)).toBeUndefined()
    // A state never belongs to two flows, and never changes to another business.
    expect(flow.id).toBe(consent.id)
    if (flow.phase === 'exchanging') {
      expect(flow.bxcontext).toBe(consent.bxcontext)
      const [expected] = consent.agreed
      expect(expected === undefined || consent.agreed.includes(flow.bxcontext)).toBe(true)
    }
    const next = 'end' in what ? ended(flow, { failed: 'consent_denied' }) : flow
    this.record = withFlow(this.record, next)
  }
}

test('whatever happens in any tabs, an account is connected only if the last button or an answer named it, and no consent changes another', () => {
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
      const session = new Session()
      for (const one of happenings) {
        session.happen(one)
        const { flows, last } = session.record
        expect(last).toBe(session.button?.id ?? null)
        expect(flows.length).toBeLessThanOrEqual(20)
        if (session.button && session.now < session.button.at + FLOW_MS)
          expect(flowOf(session.record, last)).toBeDefined()
        const states = flows.flatMap((flow) => ('state' in flow && flow.state ? [flow.state] : []))
        expect(new Set(states).size).toBe(states.length)
      }
    }),
    { numRuns: 300 },
  )
})

test('of more than 20 flows the oldest go, and never the one of the last button', () => {
  const arrivals = Array.from({ length: 25 }, (_, index) => `second-${index}`)
  const full = arrivals.reduce((record, name) => afterArrival(record, 'b', name), pressed('a', undefined))
  expect(full.flows).toHaveLength(20)
  expect(full.flows.map(({ id }) => id)).toEqual(['flow-1', ...arrivals.slice(-19)])
  expect(arrived(full, 'b', fresh('next'))).toMatchObject({ id: 'next', phase: 'consenting' })
})

test('an exchange that ends after the user has signed out stores no flow again', async () => {
  const records = new FlowRecords(platform, openSqlite({ file: ':memory:' }), [newKey()])
  const browser = { userId: 'ann', session: 'session' }
  await records.start(browser)
  const { state } = await records.arrive(browser, 'a')
  const flow = await records.claim(browser, state)
  if (flow?.phase !== 'exchanging') throw new Error('the flow was not claimed')
  await records.forget(browser)
  await records.end(browser, flow, { connected: 'a' })
  expect(await records.read(browser)).toEqual(NO_FLOWS)
})

test('flows that cannot be decrypted count as none, so the user starts again', async () => {
  const store = openSqlite({ file: ':memory:' })
  const browser = { userId: 'ann', session: 'session' }
  await new FlowRecords(platform, store, [newKey()]).start(browser)
  const afterRotation = new FlowRecords(platform, store, [newKey('other')])
  expect(await afterRotation.read(browser)).toEqual(NO_FLOWS)
  const { id } = await afterRotation.start(browser)
  expect((await afterRotation.read(browser)).flows).toMatchObject([{ id }])
})
